"""The order in which selected rows and columns are best added: against brute force, bounds, and the model itself."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import CoSeparableNMF, Factorization, Pool, Selection, SelectionPath, mix, selection_path
from cosep.matrix.scaling import SCALINGS
from oracles import checked_nnls

pytestmark = pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
SEEDS = st.integers(0, 2**32 - 1)
PARTS = ("rows", "cols", "core", "bound")


def generic(seed, most=12):
    """Return a random generator, a matrix without ties, sometimes with zeros, and two numbers to select."""
    random = np.random.default_rng(seed)
    m, n = random.integers(5, most + 1, 2)
    X = random.gamma(0.7, size=(m, 4)) @ random.gamma(0.7, size=(4, n)) + 0.3 * random.random((m, n))
    X = np.maximum(X - np.quantile(X, random.choice([0.0, 0.3])), 0.0)
    X[0, 0] += 1.0
    return random, X, int(random.integers(1, 6)), int(random.integers(1, 6))


def explained(X, cols):
    """Return the share of X that columns explain, one small problem after the other."""
    left = [x - X[:, cols] @ checked_nnls(X[:, cols], x)[0] for x in X.T]
    return 1.0 - float((np.array(left) ** 2).sum() / (X**2).sum())


def best_order(X, chosen):
    """Return the order that trying everything finds, and the shares."""
    order, shares = [], []
    while len(order) < len(chosen):
        gains = {k: explained(X, [*order, k]) for k in chosen if k not in order}
        order.append(max(gains, key=gains.get))
        shares.append(gains[order[-1]])
    return order, shares


def assert_same(path, other, rows=None, cols=None):
    moved = (
        (path.row_indices if rows is None else rows[path.row_indices]),
        (path.col_indices if cols is None else cols[path.col_indices]),
    )
    np.testing.assert_array_equal(moved[0], other.row_indices)
    np.testing.assert_array_equal(moved[1], other.col_indices)
    for part in PARTS:
        np.testing.assert_allclose(getattr(path, part), getattr(other, part), atol=1e-7)


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS)
def test_the_order_is_that_of_trying_everything(seed):
    _, X, n_rows, n_cols = generic(seed, most=8)
    model = CoSeparableNMF(n_rows, n_cols, scaling=None).fit(X)
    path = selection_path(X, model)
    for side, chosen, added, shares in (
        (X, model.col_indices_, path.col_indices, path.cols),
        (X.T, model.row_indices_, path.row_indices, path.rows),
    ):
        order, right = best_order(side, chosen.tolist())
        np.testing.assert_allclose(shares, right, atol=1e-9)
        assert added.tolist() == order or min(np.diff(right), default=1.0) < 1e-7  # nothing is left to gain


@pytest.mark.parametrize("scaling", [None, *SCALINGS])
@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_the_end_of_the_path_is_the_model(scaling, seed):
    random, X, *sizes = generic(seed)
    X = X + 0.1 if scaling == "sinkhorn" else X  # there need not be a balance where there are zeros
    weights = random.choice([0.5, 1.0, 3.0], len(X)) if random.random() < 0.5 else None
    model = CoSeparableNMF(*sizes, scaling=scaling).fit(X, sample_weight=weights)
    path = selection_path(X, model)
    assert sorted(path.row_indices) == sorted(model.row_indices_)
    assert sorted(path.col_indices) == sorted(model.col_indices_)
    ends = path.rows[-1], path.cols[-1], path.core[-1]
    np.testing.assert_allclose(ends, model.result_.fidelity[:3], atol=1e-9)
    bound = model.fidelity_bound_
    shares = path.bound[model.n_rows_ - 1], path.bound[model.n_cols_ - 1], path.bound[min(model.core_.shape) - 1]
    np.testing.assert_allclose(shares, bound[:3], atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS)
def test_shares_never_fall_and_never_exceed_what_is_possible(seed):
    _, X, n_rows, n_cols = generic(seed)
    path = selection_path(X, CoSeparableNMF(n_rows, n_cols).fit(X))
    assert (len(path.rows), len(path.cols)) == (len(path.row_indices), len(path.col_indices))
    assert len(path.core) == len(path.bound) == max(len(path.rows), len(path.cols))
    for shares in (path.rows, path.cols, path.bound):
        assert (np.diff(shares) >= -1e-12).all()
    for shares in (path.rows, path.cols, path.core):
        assert (shares <= path.bound[: len(shares)] + 1e-9).all()


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, factor=st.sampled_from([1e-200, 0.3, 3.0, 1e200]))
def test_units_storage_order_and_transposition_change_nothing(seed, factor):
    random, X, *sizes = generic(seed)
    record = CoSeparableNMF(*sizes).fit(X).factorization_
    rows, cols = (random.permutation(size) for size in X.shape)
    path = selection_path(X, record)
    back = np.argsort(rows), np.argsort(cols)
    moved = Selection(back[0][record.selection.row_indices], back[1][record.selection.col_indices])
    assert_same(path, selection_path(scipy.sparse.csr_array(X), record))
    same = mix(factor * X, record.selection, scaling="degree", max_iter=1)
    assert_same(path, selection_path(factor * X, same))
    other = selection_path(X[rows][:, cols], mix(X[rows][:, cols], moved, scaling="degree", max_iter=1))
    assert_same(other, path, rows, cols)
    turned = selection_path(X.T, record.T)
    assert_same(
        path,
        SelectionPath(turned.col_indices, turned.row_indices, turned.cols, turned.rows, turned.core, turned.bound),
    )


def test_rows_that_depend_on_each_other_or_are_zero_end_at_the_model_too():
    X = np.vstack([np.diag([3.0, 2.0, 1.0]), [[6.0, 0, 0], [3.0, 2.0, 0], [0, 0, 0]]])
    pools = {"row_pool": Pool(include=[0, 3, 4, 5, 1]), "col_pool": Pool(include=[1])}
    model = CoSeparableNMF(6, 3, scaling=None, **pools).fit(X)
    path = selection_path(X, model)
    assert path.row_indices[-1] == 5  # all zero
    ends = path.rows[-1], path.cols[-1], path.core[-1]
    np.testing.assert_allclose(ends, model.result_.fidelity[:3], atol=1e-9)


def test_a_core_counts_all_rows_where_there_are_fewer_than_columns():
    X = generic(3)[1]
    path = selection_path(X, CoSeparableNMF(2, 5, scaling=None).fit(X))
    two = mix(X, Selection(path.row_indices, path.col_indices[:4]), max_iter=1).fidelity(X)
    assert path.core[3] == pytest.approx(two.core, abs=1e-9)


def test_how_many_are_needed_is_the_first_size_that_reaches_the_share():
    path = SelectionPath(np.arange(3), np.arange(4), *map(np.array, ([0.3, 0.5, 0.6], [0.2, 0.3, 0.4, 0.6])),
                         np.array([0.1, 0.35, 0.3, 0.5]), np.array([0.4, 0.5, 0.6, 0.7]))  # fmt: skip
    assert path.n_needed(0.5) == 2  # of 0.6, for three components
    assert path.n_needed(0.9) is None
    assert path.n_needed(0.9, of="all") == 4
    assert path.n_needed(0.8, part="rows") == 2
    assert path.n_needed(part="cols") is None
    assert path.n_needed(0.5, part="cols", of="all") == 2
    assert path.n_needed(0.0) == 1
    nothing = SelectionPath(*[np.zeros(1, int)] * 2, *[np.zeros(1)] * 3, np.ones(1))
    assert nothing.n_needed(of="all") is None


def test_progress_is_reported_until_the_last_size():
    calls = []
    X = generic(1)[1]
    selection_path(X, CoSeparableNMF(3, 4).fit(X), callback=lambda *call: calls.append(call))
    assert [call[1:3] for call in calls if call[0] == "path"] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_bad_requests_name_the_parameter_and_say_what_to_do():
    X = generic(1)[1]
    record = CoSeparableNMF(2, 2).fit(X).factorization_
    path = selection_path(X, record)
    for call, message in (
        (lambda: selection_path(X, 3), "model=3 must be a fitted model"),
        (lambda: selection_path(record, X), "model=ndarray of shape .* X comes first"),
        (lambda: selection_path(X, CoSeparableNMF()), "model=CoSeparableNMF must be .* not fitted"),
        (lambda: selection_path(X, mix(X, Selection(None, [0]))), "model must have selected rows and columns"),
        (lambda: selection_path(X[1:], record), "X has shape .* but the model"),
        (lambda: selection_path(0 * X, record), "X has no nonzero entry"),
        (lambda: path.n_needed(1.5), "share=1.5 must be"),
        (lambda: path.n_needed(part="both"), "part='both' must be one of"),
        (lambda: path.n_needed(of="none"), "of='none' must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert isinstance(record, Factorization)
