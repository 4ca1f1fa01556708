"""Tri-symmetric NMF: planted anchors and topics, and a slow version that stores the co-occurrence."""

import numpy as np
import pytest

from cosep import Pool, SelectionWarning, spa
from cosep.matrix.gram import GramMatrix
from cosep.matrix.validation import as_matrix
from cosep.nmf.trisymmetric import trisymmetric
from oracles import checked_nnls

RANDOM = np.random.default_rng(15)


def corpus(seed):
    """Return documents, topics that sum to one, the anchors, and the product of topics in documents and topics."""
    random = np.random.default_rng(seed)
    r, n = int(random.integers(2, 7)), int(random.integers(15, 60))
    topics = random.gamma(0.5, size=(r, n)) + 0.01
    anchors = random.permutation(n)[:r]
    topics[:, anchors] = np.diag(random.uniform(0.2, 1.0, size=r))
    topics /= topics.sum(axis=1, keepdims=True)
    weights = random.gamma(0.5, size=(80, r))
    return weights @ topics, topics, anchors, weights.T @ weights


@pytest.mark.parametrize("seed", range(10))
def test_planted_anchors_topics_and_their_products_are_found_without_noise(seed):
    X, topics, anchors, product = corpus(seed)
    fit = trisymmetric(X, len(anchors))
    found = fit.selection.col_indices
    np.testing.assert_array_equal(found, fit.selection.row_indices)
    assert set(found) == set(anchors)
    order = [int(np.flatnonzero(anchors == j)[0]) for j in found]
    np.testing.assert_allclose(fit.col_factor, topics[order], atol=1e-6)
    np.testing.assert_allclose(fit.core, product[np.ix_(order, order)], rtol=1e-3, atol=1e-5 * product.max())
    assert fit.relative_error(X.T @ X) < 1e-5


def test_each_anchor_belongs_to_its_own_topic_alone():
    fit = trisymmetric(RANDOM.poisson(0.7, size=(40, 25)), 4)
    at_anchors = fit.col_factor[:, fit.selection.col_indices]
    np.testing.assert_allclose(at_anchors, np.diag(np.diagonal(at_anchors)), atol=1e-12)
    np.testing.assert_array_equal(fit.col_labels[fit.selection.col_indices], np.arange(4))
    np.testing.assert_allclose(fit.col_factor.sum(axis=1), 1.0)


def test_it_agrees_with_a_version_that_stores_the_co_occurrence():
    X = RANDOM.poisson(0.7, size=(40, 25)).astype(float)
    A = X.T @ X
    anchors = spa(A, 4).col_indices
    fit = trisymmetric(X, 4)
    np.testing.assert_array_equal(fit.selection.col_indices, anchors)
    V = np.column_stack([checked_nnls(A[:, anchors], a)[0] for a in A])
    np.testing.assert_allclose(fit.col_factor, V / V.sum(axis=1, keepdims=True), atol=1e-9)
    W = fit.row_factor
    best = checked_nnls(np.kron(W, W), A.ravel())[0].reshape(4, 4)
    np.testing.assert_allclose(fit.core, best, atol=1e-3 * best.max())
    np.testing.assert_array_equal(fit.core, fit.core.T)
    error = np.linalg.norm(A - W @ fit.core @ W.T) / np.linalg.norm(A)
    assert fit.meta["objective"][-1] == pytest.approx(0.5 * error**2, rel=1e-9)
    assert fit.meta["converged"]


def test_permuting_columns_permutes_anchors_and_topics():
    X = RANDOM.poisson(0.7, size=(40, 25)).astype(float)
    rows, cols = RANDOM.permutation(40), RANDOM.permutation(25)
    fit, moved = trisymmetric(X, 4), trisymmetric(X[rows][:, cols], 4)
    np.testing.assert_array_equal(cols[moved.selection.col_indices], fit.selection.col_indices)
    np.testing.assert_allclose(moved.col_factor, fit.col_factor[:, cols], atol=1e-9)


def test_only_candidates_become_anchors():
    X = RANDOM.poisson(0.7, size=(40, 25)).astype(float)
    fit = trisymmetric(X, 3, pool=Pool(candidates=range(10), include=[7]))
    assert fit.selection.col_indices[0] == 7
    assert set(fit.selection.col_indices) <= set(range(10))


def test_too_little_rank_gives_fewer_topics_and_a_warning():
    X = np.outer(RANDOM.uniform(1, 2, size=9), RANDOM.uniform(1, 2, size=7))
    with pytest.warns(SelectionWarning, match="Only 1 of the 3 anchor columns"):
        fit = trisymmetric(X, 3)
    assert fit.core.shape == (1, 1)
    assert fit.relative_error(GramMatrix(as_matrix(X))) < 1e-7
