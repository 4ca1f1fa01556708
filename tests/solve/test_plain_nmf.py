"""Alternating least squares with extrapolation: a low error, feasible, and swapped factors for the transpose."""

import numpy as np
import pytest

from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.solve.alternation import Budget
from cosep.solve.plain_nmf import extrapolated

RANDOM = np.random.default_rng(31)
BUDGET = Budget("test", 200, 1e-7)


def relative_error(X, W, V):
    return np.linalg.norm(X - W @ V.T) / np.linalg.norm(X)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (25, 25)])
def test_the_error_is_that_of_accelerated_hals(shape):
    X = RANDOM.poisson(RANDOM.gamma(0.5, size=(shape[0], 4)) @ RANDOM.gamma(0.5, size=(4, shape[1]))).astype(float)
    W, V = extrapolated(as_matrix(X), 4, BUDGET)
    assert min(W.min(), V.min()) >= 0
    assert relative_error(X, W, V) <= 1.02 * ahals(X, 4).relative_error(X)


@pytest.mark.parametrize("shape", [(30, 20), (25, 25)])
def test_the_factors_of_the_transpose_are_swapped(shape):
    X = RANDOM.gamma(0.5, size=shape)
    W, V = extrapolated(as_matrix(X), 3, BUDGET)
    V_T, W_T = extrapolated(as_matrix(X.T), 3, BUDGET)
    np.testing.assert_array_equal(W, W_T)
    np.testing.assert_array_equal(V, V_T)


def test_a_rank_above_that_of_the_matrix_leaves_components_empty():
    X = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
    W, V = extrapolated(as_matrix(X), 3, BUDGET)
    np.testing.assert_allclose(W @ V.T, X, atol=1e-6)
    assert (W.any(axis=0) & V.any(axis=0)).sum() == 1


def test_a_start_that_is_far_better_is_taken_and_another_is_not():
    X = np.kron(np.eye(3), np.ones((4, 3)))
    W, V = np.kron(np.eye(3), np.ones((4, 1))), np.kron(np.eye(3), np.ones((3, 1)))
    taken = extrapolated(as_matrix(X), 3, Budget("test", 1, 0.0), [(W, V)])
    np.testing.assert_allclose(taken[0] @ taken[1].T, X, atol=1e-9)
    generic = RANDOM.gamma(0.5, size=(30, 20))
    alone = extrapolated(as_matrix(generic), 3, BUDGET)
    bad = np.ones((30, 3)), np.ones((20, 3))
    for here, there in zip(extrapolated(as_matrix(generic), 3, BUDGET, [bad]), alone, strict=True):
        np.testing.assert_array_equal(here, there)


def test_nothing_comes_of_nothing():
    W, V = extrapolated(as_matrix(np.zeros((4, 3))), 2, BUDGET)
    assert not W.any()
    assert not V.any()
