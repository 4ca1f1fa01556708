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


def test_copies_of_rows_count_as_if_they_were_there():
    for m in (3, 8):
        X, copies = RANDOM.gamma(0.5, size=(m, 6)), RANDOM.integers(1, 4, m).astype(float)
        whole = extrapolated(as_matrix(np.repeat(X, copies.astype(int), axis=0)), 2, BUDGET)
        short = extrapolated(as_matrix(np.sqrt(copies)[:, None] * X), 2, BUDGET, copies)
        np.testing.assert_allclose(short[1], whole[1], rtol=1e-6, atol=1e-9)


def test_nothing_comes_of_nothing():
    W, V = extrapolated(as_matrix(np.zeros((4, 3))), 2, BUDGET)
    assert not W.any()
    assert not V.any()
