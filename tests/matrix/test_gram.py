"""The Gram matrix that is never stored gives the answers of the one that is."""

import numpy as np

from cosep.matrix.gram import GramMatrix
from cosep.matrix.validation import as_matrix

RANDOM = np.random.default_rng(17)


def test_all_answers_are_those_of_the_product(kind, monkeypatch):
    monkeypatch.setattr("cosep.matrix.gram.BLOCK_ENTRIES", 30)
    X = RANDOM.poisson(0.7, size=(12, 9)).astype(float)
    A = X.T @ X
    B = RANDOM.uniform(size=(9, 2))
    for data in (X, X.astype(np.float32)):
        G = GramMatrix(as_matrix(kind(data)))
        assert G.shape == (9, 9)
        assert G.T is G
        np.testing.assert_allclose(G.dot(B), A @ B)
        np.testing.assert_allclose(G.cross(B), A @ B)
        np.testing.assert_allclose(G.sums(), A.sum(axis=0))
        np.testing.assert_allclose(G.squared_norms(), (A**2).sum(axis=0))
        np.testing.assert_allclose(G.squared_norm(), (A**2).sum())
        np.testing.assert_allclose(np.concatenate([block for _, block in G.dense_blocks()]), A)
        rows, cols = np.array([3, 1]), np.array([0, 8, 2])
        np.testing.assert_allclose(G.take(rows, cols), A[np.ix_(rows, cols)])
        np.testing.assert_allclose(G.take(cols=cols), A[:, cols])
        np.testing.assert_allclose(G.take(rows), A[rows])


def test_norms_are_the_same_whichever_product_they_come_from(kind, monkeypatch):
    X = RANDOM.poisson(0.7, size=(12, 9)).astype(float)
    for data in (X, X.T):
        expected = ((data.T @ data) ** 2).sum(axis=0)
        for cost in (0, np.inf):
            monkeypatch.setattr("cosep.matrix.gram.SPARSE_COST", cost)
            np.testing.assert_allclose(GramMatrix(as_matrix(kind(data))).squared_norms(), expected)


def test_norms_that_are_changed_by_the_caller_stay_as_they_are():
    G = GramMatrix(as_matrix(np.eye(3)))
    G.squared_norms()[:] = 0
    np.testing.assert_array_equal(G.squared_norms(), np.ones(3))
