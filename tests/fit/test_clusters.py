"""Clusters: the component with the largest share, for everything that is not zero, whatever the units."""

import numpy as np
import pytest
import scipy.sparse

from cosep import CoSeparableNMF, Selection, clustering_accuracy, mix
from cosep.matrix.scaling import scale


def documents(seed, topics=3, size=40):
    """Return counts of documents of very different lengths, with words of very different frequencies, and labels."""
    random = np.random.default_rng(seed)
    words = random.gamma(0.3, size=(topics, 60)) * 10 ** random.uniform(-1, 1, size=60)
    labels = np.repeat(np.arange(topics), size)
    lengths = 10 ** random.uniform(0.5, 3, size=topics * size)
    return random.poisson(lengths[:, None] * (words / words.sum(axis=1, keepdims=True))[labels]).astype(float), labels


def clusters(X, rows, cols, **options):
    return mix(X, Selection(np.array(rows), np.array(cols)), **{"scaling": "degree", **options})


@pytest.mark.parametrize("scaling", ["degree", "rows", None])
def test_rows_and_columns_belong_to_the_component_with_the_largest_share_in_them(scaling):
    X, _ = documents(0)
    found = clusters(X, [0, 50, 100], [1, 2, 3], scaling=scaling)
    _, norm = scale(X, scaling)
    D, E = (np.ones(len(X)), np.ones(X.shape[1])) if norm is None else (norm.rows, norm.cols)
    P1, S, P2 = found.row_factor, found.core, found.col_factor
    filled = X.any(axis=1), X.any(axis=0)
    np.testing.assert_array_equal(found.row_labels == -1, ~filled[0])
    np.testing.assert_array_equal(found.col_labels == -1, ~filled[1])
    of_rows = D[:, None] * P1 * np.linalg.norm(S @ P2 * E, axis=1)
    of_cols = (E * P2).T * np.linalg.norm(D[:, None] * P1 @ S, axis=0)
    np.testing.assert_array_equal(found.row_labels[filled[0]], of_rows.argmax(axis=1)[filled[0]])
    np.testing.assert_array_equal(found.col_labels[filled[1]], of_cols.argmax(axis=1)[filled[1]])


@pytest.mark.parametrize("seed", range(5))
def test_selected_rows_and_columns_give_their_clusters_their_numbers(seed):
    X, _ = documents(seed)
    model = CoSeparableNMF(3, 3).fit(X)
    assert model.row_labels_[model.row_indices_].tolist() == [0, 1, 2]
    assert model.column_labels_[model.col_indices_].tolist() == [0, 1, 2]


def test_clusters_of_rows_and_columns_go_together():
    X = np.kron(np.eye(3), np.ones((8, 5))) + 0.01
    chooser = lambda *_: Selection(np.array([0, 8, 16]), np.array([12, 2, 7]))  # noqa: E731
    model = CoSeparableNMF(3, 3, method=chooser).fit(X)
    np.testing.assert_array_equal(model.row_labels_, np.repeat([0, 1, 2], 8))
    np.testing.assert_array_equal(model.column_labels_, np.repeat([1, 2, 0], 5))
    np.testing.assert_array_equal(model.rows_, np.repeat(np.eye(3, dtype=bool), 8, axis=1))
    np.testing.assert_array_equal(model.columns_, np.repeat(np.eye(3, dtype=bool), 5, axis=1))


def test_there_may_be_more_clusters_of_rows_than_of_columns():
    X = np.kron(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.ones((8, 5)))
    chooser = lambda *_: Selection(np.array([0, 8, 16]), np.array([0, 5]))  # noqa: E731
    model = CoSeparableNMF(3, 2, method=chooser).fit(X)
    assert [len(set(model.row_labels_[k : k + 8])) for k in (0, 8, 16)] == [1, 1, 1]
    assert model.row_labels_[[0, 8]].tolist() == [0, 1]
    np.testing.assert_array_equal(model.column_labels_, np.repeat([0, 1], 5))
    np.testing.assert_array_equal(model.columns_[:2], np.repeat(np.eye(2, dtype=bool), 5, axis=1))


@pytest.mark.parametrize(("n_rows", "n_cols"), [(6, 2), (2, 6), (5, 1), (1, 5)])
def test_clusters_do_not_depend_on_rounding_where_components_depend_on_each_other(n_rows, n_cols):
    X = np.random.default_rng(0).random((20, 15))
    here = CoSeparableNMF(n_rows, n_cols).fit(X)
    for same in (np.asfortranarray(X), scipy.sparse.csr_array(X), 3.0 * X, 0.7 * X):
        there = CoSeparableNMF(n_rows, n_cols).fit(same)
        np.testing.assert_array_equal(there.row_labels_, here.row_labels_)
        np.testing.assert_array_equal(there.column_labels_, here.column_labels_)


def test_short_documents_are_sorted_as_well_as_long_ones():
    accuracy = []
    for seed in range(5):
        X, labels = documents(seed)
        model = CoSeparableNMF(3, 3).fit(X)
        raw = mix(X, Selection(model.row_indices_, model.col_indices_)).row_labels
        accuracy.append([clustering_accuracy(labels, found) for found in (model.row_labels_, raw)])
    scaled, unscaled = np.mean(accuracy, axis=0)
    assert scaled > 0.85
    assert scaled >= unscaled


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_everything_but_zeros_has_a_label(form):
    X, _ = documents(1)
    X[5], X[:, 7] = 0.0, 0.0
    # A row and a column that have nothing in common with the rest.
    X = np.pad(X, ((0, 1), (0, 1)))
    X[-1, -1] = 1.0
    found = clusters(form(X), [0, 50, 100], [1, 2, 3])
    np.testing.assert_array_equal(np.flatnonzero(found.row_labels < 0), np.flatnonzero(X.sum(axis=1) == 0))
    np.testing.assert_array_equal(np.flatnonzero(found.col_labels < 0), np.flatnonzero(X.sum(axis=0) == 0))


@pytest.mark.parametrize("factor", [3.0, 0.37, 1e-200, 1e200])
def test_labels_do_not_depend_on_the_units(factor):
    X, _ = documents(2)
    here, there = (CoSeparableNMF(3, 3).fit(data) for data in (X, factor * X))
    np.testing.assert_array_equal(here.row_labels_, there.row_labels_)
    np.testing.assert_array_equal(here.column_labels_, there.column_labels_)


def test_labels_follow_the_rows():
    X, _ = documents(3)
    order = np.random.default_rng(3).permutation(len(X))
    here, there = CoSeparableNMF(3, 3).fit(X), CoSeparableNMF(3, 3).fit(X[order])
    assert clustering_accuracy(here.row_labels_[order], there.row_labels_) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_clusters_in_any_units(seed):
    random, k = np.random.default_rng(seed), 12
    X = np.zeros((8 * k, 6 * k))
    for b in range(k):
        X[8 * b : 8 * b + 8, 6 * b : 6 * b + 6] = np.outer(random.random(8) + 0.2, random.random(6) + 0.2)
    p, q = random.permutation(8 * k), random.permutation(6 * k)
    for factor in (1.0, 3.0):
        model = CoSeparableNMF(k, k).fit(factor * X[p][:, q])
        assert clustering_accuracy(p // 8, model.row_labels_) == 1.0
        assert clustering_accuracy(q // 6, model.column_labels_) == 1.0
        np.testing.assert_array_equal(model.row_labels_[model.row_indices_], np.arange(k))


def test_a_symmetric_matrix_has_the_same_labels_however_it_is_stored():
    X = np.triu(np.ones((8, 8)))
    expected = CoSeparableNMF(4, 4).fit(X).row_labels_
    for same in (np.asfortranarray(X), scipy.sparse.csr_array(X), scipy.sparse.csc_array(X)):
        np.testing.assert_array_equal(CoSeparableNMF(4, 4).fit(same).row_labels_, expected)


def test_transposing_swaps_the_labels():
    X, _ = documents(5)
    here, there = CoSeparableNMF(3, 3).fit(X), CoSeparableNMF(3, 3).fit(X.T)
    np.testing.assert_array_equal(here.row_labels_, there.column_labels_)
    np.testing.assert_array_equal(here.column_labels_, there.row_labels_)
