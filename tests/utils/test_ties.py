"""Ties are decided by index: not by rounding, and so not by how, where or in which units a matrix is stored."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cosep import CoSeparableNMF, Selection, greedy, make_coseparable, mix, row_blocks
from cosep.matrix.row_blocks import RowBlocks
from cosep.matrix.validation import as_matrix
from cosep.select import BOTH_SELECTORS
from cosep.solve.alternation import Budget
from cosep.solve.labels import factor_labels
from cosep.solve.plain_nmf import extrapolated
from cosep.utils.ties import assigned_components, descending, first_largest, near_largest

SEEDS = st.integers(0, 2**32 - 1)
BUDGET = Budget("label", 100, 1e-4)
# The convex models have several solutions where columns tie, and cosep.select.fgm finds one of them to 1e-4.
DIRECT = [name for name in BOTH_SELECTORS if name not in {"fgm", "cosfgm"}]


def counts(random):
    """Return small whole numbers: many rows, columns and mixtures of them tie."""
    m, n = random.integers(3, 13, size=2)
    kinds = (
        lambda: random.integers(0, 4, size=(m, n)),
        lambda: random.uniform(size=(m, n)) < 0.4,
        lambda: random.integers(0, 3, size=(m, 3)) @ random.integers(0, 3, size=(3, n)),
    )
    X = kinds[random.integers(3)]().astype(float)
    X[0, 0] = 1.0
    return X


def stored(X, random):
    """Return the same numbers, stored in other ways."""
    cuts = np.array_split(X, random.integers(1, 4))
    return {
        "C order": np.ascontiguousarray(X),
        "Fortran order": np.asfortranarray(X),
        "csr": scipy.sparse.csr_array(X),
        "csc": scipy.sparse.csc_array(X),
        "float32": X.astype(np.float32),
        "blocks": row_blocks(cuts),
        "sparse blocks": row_blocks([scipy.sparse.csr_array(part) for part in cuts]),
    }


def selected(name, X, n_rows, n_cols):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if not isinstance(X, RowBlocks):
            found = BOTH_SELECTORS[name](X, n_rows, n_cols)
            return found.row_indices.tolist(), found.col_indices.tolist()
        model = CoSeparableNMF(n_rows, n_cols, method=name, scaling=None).fit(X)
        return model.row_indices_.tolist(), model.col_indices_.tolist()


def test_of_those_that_agree_to_the_tolerance_the_first_is_the_largest():
    values = np.array([1.0, 3.0 - 1e-12, 3.0, 2.0, 3.0 + 1e-12])
    assert first_largest(values) == 1
    assert first_largest(values, 0.0) == 4
    np.testing.assert_array_equal(near_largest(values), [False, True, True, False, True])
    np.testing.assert_array_equal(
        first_largest(-np.array([[2e-9, 1e-9, 0.0], [1.0, 0.5, 0.5]]), 1e-8, scale=1.0), [0, 1]
    )


def test_descending_sorts_what_ties_by_index_and_nothing_else():
    random = np.random.default_rng(0)
    values = random.integers(0, 5, size=40).astype(float)
    expected = np.lexsort((np.arange(40), -values))
    for _ in range(10):
        np.testing.assert_array_equal(descending(values * (1 + 1e-12 * random.standard_normal(40))), expected)
    # A chain of small steps does not make its ends tie.
    np.testing.assert_array_equal(descending(np.array([1.0, 1.5, 2.0]), 0.4), [1, 2, 0])
    assert descending(np.zeros(0)).size == 0


def test_components_are_assigned_in_one_way_whatever_the_rounding():
    random = np.random.default_rng(1)
    for _ in range(50):
        shares = random.integers(0, 3, size=(4, 4)).astype(float)
        expected = assigned_components(shares)
        assert sorted(expected) == [0, 1, 2, 3]
        for _ in range(5):
            noisy = shares * (1 + 1e-13 * random.standard_normal((4, 4))) * random.uniform(size=(4, 1))
            np.testing.assert_array_equal(assigned_components(noisy), expected)


def test_labels_that_tie_go_to_the_lowest_component():
    factor = np.array([[1.0 - 1e-13, 1.0], [0.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(factor_labels(factor, np.ones(2)), [0, -1, 1])


@pytest.mark.parametrize("name", DIRECT)
@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_the_same_numbers_give_the_same_selection_however_they_are_stored(name, seed):
    random = np.random.default_rng(seed)
    X = counts(random)
    sizes = [int(random.integers(1, min(4, size) + 1)) for size in X.shape]
    expected = selected(name, X, *sizes)
    for kind, data in stored(X, random).items():
        assert selected(name, data, *sizes) == expected, kind


@pytest.mark.parametrize("scaling", ["degree", "rows", "columns"])
@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_the_same_numbers_give_the_same_model_however_they_are_stored(scaling, seed):
    random = np.random.default_rng(seed)
    X = counts(random)
    sizes = [int(random.integers(1, min(4, size) + 1)) for size in X.shape]
    expected = selected_in_norm(scaling, X, *sizes)
    for kind, data in stored(X, random).items():
        assert selected_in_norm(scaling, data, *sizes) == expected, kind


def selected_in_norm(scaling, X, n_rows, n_cols):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = CoSeparableNMF(n_rows, n_cols, method="spa", scaling=scaling).fit(X)
    return model.row_indices_.tolist(), model.col_indices_.tolist()


def nearly_explained(seed, noise=1e-3):
    """Return a matrix of five rows whose fourth column, once chosen, leaves residuals on one line."""
    return make_coseparable(5, 30, 3, 3, noise=noise, random_state=seed)[0]


@pytest.mark.parametrize("seed", range(8))
def test_greedy_tells_a_tie_from_rounding_where_little_is_left(seed):
    # The residuals of m - 1 chosen columns all lie on one line, so that all merits are equal: the longest column wins.
    X = nearly_explained(seed)
    before = greedy(X, 4).col_indices
    Q = np.linalg.qr(X[:, before])[0]
    E = X - Q @ (Q.T @ X)
    open_ones = np.einsum("ij,ij->j", E, E) > 1e-9 * np.einsum("ij,ij->j", X, X)
    assert np.linalg.svd(E)[1][1] < 1e-12 * np.linalg.norm(X)
    expected = int(np.where(open_ones, np.linalg.norm(X, axis=0), 0.0).argmax())
    for data in (X, np.asfortranarray(X), scipy.sparse.csr_array(X), 3.7e-5 * X, 1.1e200 * X):
        np.testing.assert_array_equal(greedy(data, 5).col_indices, [*before, expected])


@pytest.mark.parametrize("seed", range(8))
def test_greedy_lowers_the_error_most_where_little_is_left(seed):
    # By brute force; the recursions alone lose the merits in the square of the largest ones.
    X = make_coseparable(12, 20, 3, 3, noise=1e-4, random_state=seed)[0]
    chosen = greedy(X, 6, tol=0.0).col_indices
    for k in range(1, len(chosen)):
        Q = np.linalg.qr(X[:, chosen[:k]])[0]
        E = X - Q @ (Q.T @ X)
        E -= Q @ (Q.T @ E)
        lengths = np.linalg.norm(E, axis=0)
        open_ones = lengths > 1e-6 * np.linalg.norm(X, axis=0)
        gains = np.where(open_ones, np.linalg.norm(E.T @ E, axis=0) / np.where(open_ones, lengths, 1.0), 0.0)
        assert gains[chosen[k]] >= (1 - 1e-5) * gains.max()


@pytest.mark.parametrize("scaling", [None, "degree"])
@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, factor=st.sampled_from([1e-300, 7e-300, 1e-100, 3.7e-5, 0.3, 3.0, 1.7e155, 1e300]))
@example(seed=4645, factor=7e-300)
@example(seed=4645, factor=0.3)
def test_clusters_are_numbered_alike_in_any_units_and_in_any_order(scaling, seed, factor):
    random = np.random.default_rng(seed)
    X = counts(random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        chosen = BOTH_SELECTORS["spa"](X, *(int(random.integers(1, min(4, size) + 1)) for size in X.shape))
    expected = mix(X, chosen, scaling=scaling)
    for data in (factor * X, scipy.sparse.csr_array(X), scipy.sparse.csc_array(X), np.asfortranarray(X)):
        same_clusters(mix(data, chosen, scaling=scaling), expected)
    rows, cols = (random.permutation(size) for size in X.shape)
    moved = Selection(np.argsort(rows)[chosen.row_indices], np.argsort(cols)[chosen.col_indices])
    found = mix(X[rows][:, cols], moved, scaling=scaling)
    np.testing.assert_array_equal(found.row_labels, expected.row_labels[rows])
    np.testing.assert_array_equal(found.col_labels, expected.col_labels[cols])


def same_clusters(found, expected):
    np.testing.assert_array_equal(found.row_labels, expected.row_labels)
    np.testing.assert_array_equal(found.col_labels, expected.col_labels)


@pytest.mark.parametrize("scaling", [None, "degree"])
@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_the_transpose_are_the_same_swapped(scaling, seed):
    X, truth = make_coseparable(30, 20, 4, 4, random_state=seed)
    same_clusters(mix(X.T.copy(), truth.T, scaling=scaling), mix(X, truth, scaling=scaling).T)


@pytest.mark.parametrize("shape", [(9, 6), (6, 9), (7, 7)])
def test_plain_factors_of_the_transpose_are_the_same_swapped(shape):
    random = np.random.default_rng(5)
    for _ in range(5):
        X = random.integers(0, 5, size=shape).astype(float)
        left, right = extrapolated(as_matrix(X), 2, BUDGET)
        for data in (X.T, (1.0 + 1e-15) * X.T, scipy.sparse.csr_array(X.T)):
            other = extrapolated(as_matrix(data), 2, BUDGET)
            np.testing.assert_allclose(other[0], right, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(other[1], left, rtol=1e-6, atol=1e-9)
