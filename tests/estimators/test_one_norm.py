"""One model in one norm: invariances, weights of rows, bounds, and that everything is measured in the same norm."""

import numpy as np
import pytest
import scipy.sparse
import sklearn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from cosep import CoSeparableNMF, Factorization, Pool, SelectionWarning, make_coseparable, row_blocks
from cosep.matrix.scaling import SCALINGS, scale
from cosep.metrics.bounds import fidelity_bound
from cosep.select import BOTH_SELECTORS

pytestmark = [
    pytest.mark.filterwarnings("ignore::cosep.SelectionWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
SEEDS = st.integers(0, 2**32 - 1)
NORMS = [None, *SCALINGS]


def generic(seed, least=4, most=14):
    """Return a matrix without ties, sometimes with zeros, and numbers of rows and columns to select."""
    random = np.random.default_rng(seed)
    m, n = random.integers(least, most + 1, 2)
    X = random.gamma(0.7, size=(m, 4)) @ random.gamma(0.7, size=(4, n)) + 0.3 * random.random((m, n))
    X = np.maximum(X - np.quantile(X, random.choice([0.0, 0.3])), 0.0)
    X[0, 0] += 1.0
    return random, X, int(random.integers(1, 4)), int(random.integers(1, 4))


def pair_for(X, seed=0):
    random = np.random.default_rng(seed)
    return tuple(random.uniform(0.5, 2.0, size) for size in X.shape)


def fitted(X, sizes, scaling="degree", **options):
    return CoSeparableNMF(*sizes, scaling=scaling, **options).fit(X)


def assert_alike(model, other, rows=None, cols=None):
    """Assert that another model has the same selection, clusters and shares; rows and columns of it may be moved."""
    m, n = len(model.row_labels_), len(model.column_labels_)
    rows, cols = np.arange(m) if rows is None else rows, np.arange(n) if cols is None else cols
    np.testing.assert_array_equal(rows[other.row_indices_], model.row_indices_)
    np.testing.assert_array_equal(cols[other.col_indices_], model.col_indices_)
    np.testing.assert_allclose(other.result_.fidelity, model.result_.fidelity, atol=1e-6)
    np.testing.assert_allclose(other.fidelity_bound_, model.fidelity_bound_, atol=1e-9)
    np.testing.assert_array_equal(other.row_labels_, model.row_labels_[rows])
    np.testing.assert_array_equal(other.column_labels_, model.column_labels_[cols])


@pytest.mark.parametrize("scaling", NORMS)
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS, factor=st.sampled_from([1e-200, 3.7e-5, 0.3, 3.0, 1e200]))
def test_units_and_storage_change_nothing(scaling, seed, factor):
    _, X, *sizes = generic(seed)
    X = X + 0.1 if scaling == "sinkhorn" else X  # there need not be a balance where there are zeros
    model = fitted(X, sizes, scaling)
    for same in (factor * X, scipy.sparse.csr_array(X), scipy.sparse.csc_array(factor * X)):
        assert_alike(model, fitted(same, sizes, scaling))


@pytest.mark.parametrize("scaling", NORMS)
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
@example(seed=2751)  # three all-zero rows
def test_the_order_of_rows_and_columns_changes_nothing(scaling, seed):
    random, X, *sizes = generic(seed)
    # Rows with one entry become equal if they are divided by their sums, and the first of equal rows is selected.
    # All-zero rows would become equal if the same number was added to all entries.
    X = X if scaling in (None, "degree") else X + random.uniform(0.05, 0.15, X.shape)
    rows, cols = (random.permutation(size) for size in X.shape)
    assert_alike(fitted(X, sizes, scaling), fitted(X[rows][:, cols], sizes, scaling), rows, cols)


@pytest.mark.parametrize(
    ("scaling", "swapped"), [(None, None), ("degree", "degree"), ("rows", "columns"), ("pair", "pair")]
)
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_transposing_swaps_rows_and_columns(scaling, swapped, seed):
    _, X, n_rows, n_cols = generic(seed)
    pair = pair_for(X, seed)
    model = fitted(X, (n_rows, n_cols), pair if scaling == "pair" else scaling)
    other = fitted(X.T, (n_cols, n_rows), pair[::-1] if swapped == "pair" else swapped)
    np.testing.assert_array_equal(other.row_indices_, model.col_indices_)
    np.testing.assert_array_equal(other.col_indices_, model.row_indices_)
    rows, cols, core, refitted = model.result_.fidelity
    np.testing.assert_allclose(other.result_.fidelity[:3], [cols, rows, core], atol=1e-9)
    assert other.refitted_fidelity_ == pytest.approx(refitted, abs=1e-3)
    # The factors are solved for one after the other, columns first: in 8 of 800 such matrices one label is another.
    for labels, others in ((model.row_labels_, other.column_labels_), (model.column_labels_, other.row_labels_)):
        assert (labels != others).sum() <= 2


@pytest.mark.parametrize(
    ("scaling", "undone"),
    [("rows", "rows"), ("columns", "cols"), ("sinkhorn", "both")],
    ids=["rows", "columns", "both"],
)
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
@example(seed=205)  # balanced to 1e-4, "sinkhorn" selected another row
def test_diagonals_that_the_norm_undoes_change_nothing(scaling, undone, seed):
    random, X, *sizes = generic(seed)
    X = X + 0.1
    D = random.uniform(0.2, 5.0, len(X)) if undone in ("rows", "both") else np.ones(len(X))
    E = random.uniform(0.2, 5.0, X.shape[1]) if undone in ("cols", "both") else np.ones(X.shape[1])
    assert_alike(fitted(X, sizes, scaling), fitted(D[:, None] * X * E, sizes, scaling))


@pytest.mark.parametrize("decades", [20, 60, 100, 140])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_units_of_columns_that_the_norm_undoes_may_be_far_apart(decades, form):
    X = np.random.default_rng(0).random((20, 12))
    units = np.logspace(0, -decades, 12)
    for sizes in ((2, 2), (3, 3), (2, 4), (4, 2)):
        assert_alike(fitted(X, sizes, "columns"), fitted(form(X * units), sizes, "columns"))
        assert_alike(fitted(X.T, sizes, "rows"), fitted(form(X.T * units[:, None]), sizes, "rows"))


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, scaling=st.sampled_from([None, "degree", "rows", "columns", "pair"]))
@example(seed=875652, scaling="rows")  # a row is replaced because it is zero in a selected column
@example(seed=18, scaling="rows")
def test_a_whole_weight_counts_a_row_as_so_many_copies_of_it(seed, scaling):
    random, X, n_rows, n_cols = generic(seed)
    weights = random.integers(0, 4, len(X))
    if (weights > 0).sum() < n_rows or not X[weights > 0].any():
        return
    back, repeated = np.repeat(np.arange(len(X)), weights), np.repeat(X, weights, axis=0)
    pair = pair_for(X, seed)
    norms = (pair, (pair[0][back], pair[1])) if scaling == "pair" else (scaling, scaling)
    sizes = (n_rows, n_cols)
    for weighted, copied in (
        (X, repeated),
        (row_blocks([X[: len(X) // 2], X[len(X) // 2 :]]), row_blocks([repeated])),
    ):
        model = CoSeparableNMF(*sizes, scaling=norms[0]).fit(weighted, sample_weight=weights)
        other = fitted(copied, sizes, norms[1])
        np.testing.assert_array_equal(back[other.row_indices_], model.row_indices_)
        np.testing.assert_array_equal(other.col_indices_, model.col_indices_)
        np.testing.assert_allclose(other.result_.fidelity, model.result_.fidelity, atol=1e-9)
        np.testing.assert_allclose(other.plain_fidelity_, model.plain_fidelity_, atol=1e-9)
        np.testing.assert_allclose(other.fidelity_bound_, model.fidelity_bound_, atol=1e-9)
        np.testing.assert_array_equal(other.row_labels_, model.row_labels_[back])
        np.testing.assert_array_equal(other.column_labels_, model.column_labels_)
        scored = model.score(weighted, sample_weight=weights)
        if scaling != "pair":  # a given pair says nothing about new rows
            assert scored == pytest.approx(model.refitted_fidelity_, abs=1e-9)
    assert (model.row_labels_[X.any(axis=1)] >= 0).all()


@pytest.mark.parametrize("method", [name for name in BOTH_SELECTORS if name != "faithful"])
def test_every_method_takes_weights(method):
    X = make_coseparable(30, 20, 4, 4, noise=0.1, random_state=0)[0]
    weights = np.arange(30) % 4
    model = CoSeparableNMF(4, 4, method=method).fit(X, sample_weight=weights)
    assert (weights[model.row_indices_] > 0).all()
    same = CoSeparableNMF(4, 4, method=method).fit(X, sample_weight=7.0 * np.ones(30))
    np.testing.assert_array_equal(same.row_indices_, CoSeparableNMF(4, 4, method=method).fit(X).row_indices_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), "one number for each of the 6 rows"),
        (-np.ones(6), "finite, at least zero"),
        (np.full(6, np.nan), "finite, at least zero"),
        (np.zeros(6), "not zero for all rows"),
        (["a"] * 6, "one number for each"),
        (np.ones((6, 1)), "one number for each"),
        (np.full(6, 1e290), "zero or between 1e-50 and 1e\\+50"),
        (np.full(6, 1e-320), "zero or between 1e-50 and 1e\\+50"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    """The message says what is expected, in memory and in blocks."""
    X = np.random.default_rng(0).random((6, 5))
    for data in (X, row_blocks([X])):
        with pytest.raises(ValueError, match=f"sample_weight must be .*{message}"):
            CoSeparableNMF(2, 2).fit(data, sample_weight=weights)
    with pytest.raises(ValueError, match=f"sample_weight must be .*{message}"):
        CoSeparableNMF(2, 2).fit(X).score(X, sample_weight=weights)


def test_weights_of_zero_rows_alone_are_refused():
    X = np.random.default_rng(0).random((6, 5))
    X[2] = 0.0
    for data in (X, row_blocks([X])):
        for scaling in ("degree", None, pair_for(X)):
            with pytest.raises(ValueError, match="sample_weight is zero for all rows of X that are not zero"):
                CoSeparableNMF(2, 2, scaling=scaling).fit(data, sample_weight=np.arange(6) == 2)


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ("tfidf", "scaling='tfidf' must be one of"),
        (3, "scaling=3 must be None, one of .* or a pair"),
        ((np.ones(5), np.ones(5)), "5 row factors, but X has 6 rows"),
        ((np.ones(6), np.ones(6)), "6 column factors, but X has 5 columns"),
        ((np.ones(6), np.zeros(5)), "column factors of scaling must be a list of positive"),
        ((np.ones(6), [1, 1, 1, 1, np.inf]), "column factors of scaling must be a list of positive"),
        ((np.ones(6), [1, 1, 1, 1, 1e300]), "must be between 1e-50 and 1e\\+50"),
        ((None, np.ones(5)), "row factors of scaling must be a list of positive"),
    ],
)
def test_wrong_norms_are_refused(scaling, message):
    X = np.random.default_rng(0).random((6, 5))
    for data in (X, row_blocks([X])):
        with pytest.raises(ValueError, match=message):
            CoSeparableNMF(2, 2, scaling=scaling).fit(data)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scaling", [*NORMS, "pair"])
@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_new_rows_are_explained_as_fitted_ones_are(scaling, dtype, seed):
    _, X, *sizes = generic(seed)
    X = X.astype(dtype)
    model = fitted(X, sizes, pair_for(X, seed) if scaling == "pair" else scaling)
    np.testing.assert_allclose(model.transform(X), model.row_factor_, rtol=1e-6, atol=1e-7 * model.row_factor_.max())
    if scaling != "pair":
        assert model.score(X) == pytest.approx(model.refitted_fidelity_, abs=1e-6)


@pytest.mark.parametrize("method", BOTH_SELECTORS)
@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, scaling=st.sampled_from([None, "degree", "rows", "columns"]))
@example(seed=0, scaling="degree")
def test_no_share_exceeds_its_bound(method, seed, scaling):
    _, X, *sizes = generic(seed)
    model = fitted(X, sizes, scaling, method=method, random_state=0)
    A = scale(X, scaling)[0].take()
    squares = np.linalg.svd(A, compute_uv=False) ** 2
    ranks = (*model.core_.shape, *[min(model.core_.shape)] * 2)
    for share, bound, rank in zip(model.result_.fidelity, model.fidelity_bound_, ranks, strict=True):
        assert share <= bound
        assert bound == pytest.approx(min(squares[:rank].sum() / squares.sum(), 1.0), abs=1e-6)
    blocks = fitted(row_blocks([X]), sizes, scaling, method=method, random_state=0)
    for share, bound in zip(blocks.result_.fidelity, blocks.fidelity_bound_, strict=True):
        assert share <= bound


@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_the_bound_of_a_larger_matrix_is_that_of_its_singular_values(shape):
    X = np.random.default_rng(0).gamma(0.3, size=shape)
    for data in (X, scipy.sparse.csr_array(np.where(X > 0.5, X, 0.0))):
        A = scale(data, "degree")[0]
        squares = np.linalg.svd(A.take(), compute_uv=False) ** 2
        found = fidelity_bound(A, 7, 4)
        expected = [squares[:r].sum() / squares.sum() for r in (7, 4, 4, 4)]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert (np.array(found) >= expected).all()


@pytest.mark.parametrize("scaling", [None, *SCALINGS])
@pytest.mark.parametrize("power", [-800, 800])
def test_new_rows_of_other_sizes_count_alike_in_any_units(scaling, power):
    X = make_coseparable(60, 40, 4, 4, noise=0.2, random_state=0)[0]
    Y = X[40:] * np.logspace(-3, -1, 20)[:, None]
    expected = fitted(X[:40], (4, 4), scaling).score(Y)
    model = fitted(np.ldexp(X[:40], power), (4, 4), scaling)
    assert model.score(np.ldexp(Y, power)) == pytest.approx(expected, rel=1e-9)


def test_planted_rows_and_columns_are_found_in_every_norm():
    for seed in range(5):
        X, truth = make_coseparable(60, 40, 5, 5, random_state=seed)
        for scaling in (*NORMS, pair_for(X, seed)):
            model = fitted(X, (5, 5), scaling)
            assert set(model.row_indices_) == set(truth.row_indices)
            assert set(model.col_indices_) == set(truth.col_indices)
            np.testing.assert_allclose(model.result_.fidelity, 1.0, atol=1e-9)


def test_every_result_is_in_the_units_of_the_data():
    X = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)[0] * np.linspace(1, 9, 40)
    for scaling in (*NORMS, pair_for(X)):
        model = fitted(X, (4, 4), scaling)
        np.testing.assert_array_equal(model.core_, X[np.ix_(model.row_indices_, model.col_indices_)])
        products = (
            model.row_factor_ @ model.core_ @ model.col_factor_,
            model.row_weights_ @ X[model.row_indices_],
            X[:, model.col_indices_] @ model.col_weights_,
            model.complete(X[:, model.col_indices_]),
            model.inverse_transform(model.transform(X)),
        )
        for product in products:
            assert np.linalg.norm(X - product) < 0.1 * np.linalg.norm(X)


def test_a_saved_model_keeps_its_norm(tmp_path):
    X = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)[0]
    for scaling in ("degree", None, pair_for(X)):
        record = fitted(X, (4, 4), scaling).factorization_
        record.save(tmp_path / "model.npz")
        again = Factorization.load(tmp_path / "model.npz")
        assert again.fidelity(X) == record.fidelity(X)
        assert (again.scaling is None) == (scaling is None)
        if scaling is not None:
            assert again.scaling.name == record.scaling.name
            np.testing.assert_array_equal(again.scaling.rows, record.scaling.rows)
            np.testing.assert_array_equal(again.scaling.cols, record.scaling.cols)


@pytest.mark.parametrize("scaling", ["degree", None, "rows", "pair"])
def test_a_saved_model_keeps_its_weights(scaling, tmp_path):
    """Shares in the plain norm, of which the diagonals alone say nothing, are the same with the weights."""
    X = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)[0]
    model = CoSeparableNMF(4, 4, scaling=pair_for(X) if scaling == "pair" else scaling)
    record = model.fit(X, sample_weight=np.arange(60) % 3).factorization_
    record.save(tmp_path / "model.npz")
    for same in (Factorization.load(tmp_path / "model.npz"), record.T.T):
        assert same.plain_fidelity(X) == model.plain_fidelity_
        np.testing.assert_array_equal(same.scaling.row_copies, np.arange(60) % 3)
        assert same.scaling.col_copies is None
    assert record.T.plain_fidelity(X.T).refitted == pytest.approx(model.plain_fidelity_.refitted, abs=1e-9)
    if scaling is None:
        assert model.plain_fidelity_ == model.result_.fidelity


def test_given_factors_of_fitted_rows_are_weights_in_the_score():
    X = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)[0]
    d, e = pair_for(X)
    model = fitted(X, (4, 4), (d, e))
    for data in (X, row_blocks([X[:20], X[20:]])):
        assert model.score(data, sample_weight=d**2) == pytest.approx(model.refitted_fidelity_, abs=1e-9)


def test_weights_are_routed_as_scikit_learn_routes_them():
    X = make_coseparable(40, 20, 2, 2, noise=0.1, random_state=0)[0]
    with sklearn.config_context(enable_metadata_routing=True):
        model = CoSeparableNMF(2, 2).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        assert model.get_metadata_routing().fit.requests == {"sample_weight": True}
        assert model.get_metadata_routing().score.requests == {"sample_weight": True}
        search = GridSearchCV(model, {"n_rows": [1, 2]}, cv=2).fit(X, sample_weight=np.arange(40) % 2 + 1.0)
    assert search.best_params_ == {"n_rows": 2}


def test_rows_of_weight_zero_may_be_asked_for():
    X = make_coseparable(20, 15, 3, 3, noise=0.1, random_state=0)[0]
    weights = np.ones(20)
    weights[4] = 0
    model = CoSeparableNMF(3, 3, row_pool=Pool(include=[4])).fit(X, sample_weight=weights)
    assert 4 in model.row_indices_
    assert np.isfinite(model.row_factor_).all()
    with pytest.warns(SelectionWarning, match="Only 1 of the 3 rows"):
        CoSeparableNMF(3, 3).fit(X, sample_weight=(np.arange(20) == 7).astype(float))
