"""Models that grow: what is selected stays, first and in order, wherever the data is."""

from functools import partial

import dask.array
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cosep import CoSeparableNMF, Pool, SeparableNMF, both_sides, faithful, make_coseparable, row_blocks, spa
from in_blocks import DATA, lengths_of, local
from selector_names import WITH_POOLS

pytestmark = [
    pytest.mark.filterwarnings("ignore::cosep.SelectionWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
X = make_coseparable(60, 40, 8, 8, noise=0.05, random_state=0)[0]
NAMES = [f"word {j}" for j in range(40)]
FRAME = pd.DataFrame(X, columns=NAMES)


def starts_with(larger, model):
    """Return whether the rows and columns of a model are the first of a larger one."""
    return (
        larger.row_indices_[: model.n_rows_].tolist() == model.row_indices_.tolist()
        and larger.col_indices_[: model.n_cols_].tolist() == model.col_indices_.tolist()
    )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_what_is_selected_stays_in_memory_and_in_blocks(seed, weighted):
    random = np.random.default_rng(seed)
    m, n = random.integers(6, 25, 2)
    A = random.gamma(0.7, size=(m, 4)) @ random.gamma(0.7, size=(4, n)) + 0.3 * random.random((m, n))
    A[np.quantile(A, 0.2) > A] = 0
    sizes = random.integers(1, 4, 2)
    more = sizes + random.integers(0, 3, 2)
    weights = random.choice([0.0, 1.0, 2.5], m) + (np.arange(m) < 3) if weighted else None
    model = CoSeparableNMF(*map(int, sizes)).fit(A, sample_weight=weights)
    for data in (A, row_blocks([A[: m // 2], A[m // 2 :]])):
        larger = model.grow(data, *map(int, more), sample_weight=weights)
        assert starts_with(larger, model)
        assert larger.n_rows_ <= more[0]
        assert larger.row_fidelity_ >= model.row_fidelity_ - 1e-9
        assert larger.col_fidelity_ >= model.col_fidelity_ - 1e-9


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("make", [np.asarray, row_blocks, lambda A: local(A, lengths_of(900, 7))])
def test_larger_data_grows_from_blocks_and_from_memory(name, make):
    data = make(DATA[name])
    model = CoSeparableNMF(3, 3, random_state=0).fit(data)
    assert starts_with(model.grow(data, 6, 5), model)


def test_dask_arrays_grow():
    data = dask.array.from_array(X, chunks=(20, 40))
    model = CoSeparableNMF(3, 3).fit(data)
    larger = model.grow(data, n_rows=6, n_cols=6)
    assert starts_with(larger, model)
    assert larger.row_labels_.compute().shape == (60,)


@pytest.mark.parametrize("method", WITH_POOLS)
@pytest.mark.parametrize("preselect", [None, 20])
def test_every_method_with_pools_grows(method, preselect):
    model = CoSeparableNMF(3, 3, method=method, preselect=preselect, random_state=0).fit(X)
    larger = model.grow(X, 6, 5)
    assert starts_with(larger, model)
    assert (larger.n_rows_, larger.n_cols_) == (6, 5)


def test_growing_is_the_fit_with_pools_and_does_not_change_the_model():
    model = CoSeparableNMF(3, 4, max_iter=7).fit(X)
    before = model.get_params()
    larger = model.grow(X, n_rows=6, n_cols=6)
    pools = {"row_pool": Pool(include=model.row_indices_), "col_pool": Pool(include=model.col_indices_)}
    same = CoSeparableNMF(6, 6, max_iter=7, **pools).fit(X)
    assert type(larger) is CoSeparableNMF
    assert model.get_params() == before
    assert (model.n_rows_, larger.n_rows, larger.max_iter) == (3, 6, 7)
    for other in (same, clone(larger).fit(X)):
        np.testing.assert_array_equal(other.row_indices_, larger.row_indices_)
        np.testing.assert_array_equal(other.col_factor_, larger.col_factor_)
    chosen = faithful(X, 6, 6, row_pool=Pool(include=[5, 1]), col_pool=Pool(include=[7]))
    assert chosen.row_indices[:2].tolist() == [5, 1]


def test_sizes_that_are_left_out_stay():
    model = CoSeparableNMF(3, 4).fit(X)
    larger = model.grow(X, n_cols=7)
    assert larger.core_.shape == (3, 7)
    same = model.grow(X)
    np.testing.assert_allclose(same.row_fidelity_, model.row_fidelity_, atol=1e-12)
    np.testing.assert_array_equal(same.row_labels_, model.row_labels_)


def test_models_grow_again_and_again():
    model = CoSeparableNMF(2, 2).fit(X)
    larger = model.grow(X, 4, 4)
    largest = larger.grow(X, 6, 6)
    assert starts_with(largest, larger)
    assert starts_with(largest, model)


def test_a_pool_of_the_user_stays():
    allowed = NAMES[:20]
    model = CoSeparableNMF(3, 3, col_pool=Pool(allowed, include=["word 7"]), row_pool=Pool(range(30))).fit(FRAME)
    larger = model.grow(FRAME, 6, 6)
    assert starts_with(larger, model)
    assert larger.col_indices_[0] == 7
    assert set(larger.selected_features_) <= set(allowed)
    assert larger.row_indices_.max() < 30
    with pytest.raises(ValueError, match=r"n_cols=25 must be at most the 20 candidates of col_pool"):
        model.grow(FRAME, 6, 25)


def test_rows_may_follow_after_those_of_the_fit():
    model = CoSeparableNMF(3, 3).fit(X[:40])
    assert starts_with(model.grow(X, 6, 6), model)


def test_float32_and_the_smallest_entries_are_the_same_data():
    model = CoSeparableNMF(3, 3).fit(X)
    assert starts_with(model.grow(X.astype(np.float32), 5, 5), model)
    tiny = CoSeparableNMF(3, 3).fit(X * 1e-300)
    assert starts_with(tiny.grow(X * 1e-300, 5, 5), tiny)


@pytest.mark.parametrize("make", [np.asarray, lambda A: row_blocks([A[:20], A[20:]])])
@pytest.mark.parametrize(
    ("change", "sizes", "message"),
    [
        (lambda A: A, (2, 5), r"n_rows=2 must be at least 3, the number that is selected and stays; ask for more"),
        (lambda A: A, (5, 1), r"n_cols=1 must be at least 4"),
        (lambda A: A, (61, 5), r"n_rows=61 must be at most n_samples=60"),
        (lambda A: A, (5, 41), r"n_cols=41 must be at most n_features=40"),
        (lambda A: A, (5.5, 5), r"n_rows=5.5 must be a whole number"),
        (lambda A: A[:, :39], (5, 5), r"X has 39 features, but CoSeparableNMF is expecting 40"),
        (lambda A: A[:25], (5, 5), r"X has 25 rows, but row \d+ is selected; pass the rows of the fit"),
        (lambda A: A[::-1], (5, 5), r"X has other entries in the selected rows .* pool of columns"),
        (lambda A: 1.1 * A, (5, 5), r"X has other entries"),
    ],
)
def test_bad_requests_name_the_parameter_and_say_what_to_do(make, change, sizes, message):
    model = CoSeparableNMF(3, 4).fit(X)
    assert model.row_indices_.max() >= 25
    with pytest.raises(ValueError, match=message):
        model.grow(make(np.ascontiguousarray(change(X))), *sizes)


def test_a_model_must_be_fitted_and_its_columns_have_the_same_names():
    with pytest.raises(NotFittedError, match="not fitted"):
        CoSeparableNMF(3, 3).grow(X, 5, 5)
    model = CoSeparableNMF(3, 3).fit(FRAME)
    with pytest.raises(ValueError, match=r"X: The feature names should match"):
        model.grow(FRAME.rename(columns={"word 3": "another"}), 5, 5)
    with pytest.raises(ValueError, match=r"X: .*order"):
        model.grow(FRAME[NAMES[::-1]], 5, 5)


def without_pools(A, n_rows, n_cols):
    return faithful(A, n_rows, n_cols)


def forgetful(A, n_rows, n_cols, row_pool=None, col_pool=None):  # noqa: ARG001 - it takes pools, and ignores them
    return both_sides(partial(spa, normalize=False))(A, n_rows, n_cols)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("cur", r"method='cur' cannot keep what is selected: it has no parameter row_pool and col_pool"),
        (without_pools, r"has no parameter row_pool and col_pool; call set_params"),
        (forgetful, r"must select row_pool.include first"),
    ],
)
def test_a_method_that_cannot_keep_says_so(method, message):
    model = CoSeparableNMF(3, 3).fit(X).set_params(method=method)
    with pytest.raises(ValueError, match=message):
        model.grow(X, 5, 5)


@pytest.mark.parametrize("axis", ["columns", "rows"])
def test_selections_of_one_side_grow(axis):
    model = SeparableNMF(3, axis=axis, pool=Pool(range(25))).fit(X)
    larger = model.grow(X, 6)
    for side in ("row_indices_", "col_indices_"):
        before, after = getattr(model, side), getattr(larger, side)
        assert (before is None) == (after is None)
        assert before is None or (after[:3].tolist() == before.tolist() and after.max() < 25)
    with pytest.raises(ValueError, match=r"n_components=2 must be at least 3"):
        model.grow(X, 2)
    if axis == "columns":
        assert model.grow(X[::-1], 5).col_indices_[:3].tolist() == model.col_indices_.tolist()
    else:
        with pytest.raises(ValueError, match="X has other entries"):
            model.grow(X[::-1], 5)
