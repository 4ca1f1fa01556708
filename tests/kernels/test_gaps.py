"""Least squares for rows with gaps, compiled and as plain Python, against scipy's solver row by row."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array

from cosep.kernels.gaps import listed_sums, orthant_with_gaps, product_at, row_problem


def problem(seed, m=7, n=12, r=4, missing=0.4):
    """Return data, which entries are gaps, components, and a profile."""
    random = np.random.default_rng(seed)
    X, gaps = random.uniform(size=(m, n)), random.uniform(size=(m, n)) < missing
    return X, gaps, random.uniform(size=(n, r)), random.uniform(size=m), random.uniform(size=n)


def listed(mask):
    pattern = csr_array(mask)
    return pattern.indices.astype(np.int32), pattern.indptr.astype(np.int64)


@pytest.mark.parametrize("kernel", [orthant_with_gaps, orthant_with_gaps.py_func], ids=["compiled", "python"])
@pytest.mark.parametrize("lists_gaps", [True, False])
@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
def test_each_row_is_solved_as_by_scipy(kernel, lists_gaps, weight):
    X, gaps, H, a, p = problem(0)
    V, values = np.zeros((len(X), H.shape[1])), np.zeros(len(X))
    B = np.where(gaps, 0.0, X) @ H
    kernel(*listed(gaps if lists_gaps else ~gaps), lists_gaps, H, H.T @ H, B, a, p, p @ H, weight, True, V, values)
    for i, gap in enumerate(gaps):
        scale = np.where(gap, np.sqrt(weight), 1.0)
        target = np.where(gap, a[i] * p, X[i]) * scale
        expected, error = nnls(H * scale[:, None], target)
        np.testing.assert_allclose(V[i], expected, atol=1e-8)
        assert values[i] + target @ target == pytest.approx(error**2, abs=1e-9)


def test_a_row_without_observed_entries_is_zero():
    X, gaps, H, _, p = problem(1)
    gaps[2] = True
    V, values = np.ones((len(X), H.shape[1])), np.zeros(len(X))
    B = np.where(gaps, 0.0, X) @ H
    orthant_with_gaps(*listed(gaps), True, H, H.T @ H, B, np.zeros(len(X)), p, p @ H, 0.0, True, V, values)
    assert not V[2].any()


@pytest.mark.parametrize("kernel", [listed_sums, listed_sums.py_func], ids=["compiled", "python"])
def test_listed_rows_are_summed(kernel):
    _, gaps, H, _, _ = problem(2)
    np.testing.assert_allclose(kernel(*listed(gaps), H), gaps @ H)


@pytest.mark.parametrize("kernel", [product_at, product_at.py_func], ids=["compiled", "python"])
def test_entries_of_a_product_at_listed_positions(kernel):
    _, gaps, H, _, _ = problem(3)
    W = np.random.default_rng(3).uniform(size=(len(gaps), H.shape[1]))
    np.testing.assert_allclose(kernel(*listed(gaps), W, H), (W @ H.T)[gaps])


def test_the_gram_matrix_of_a_row_is_the_same_from_either_list():
    _, gaps, H, _, p = problem(4)
    found = []
    for mask, inside, outside in ((gaps, 0.3, 1.0), (~gaps, 1.0, 0.3)):
        G, b = np.zeros((4, 4)), np.zeros(4)
        row_problem.py_func(np.flatnonzero(mask[0]).astype(np.int32), H, H.T @ H, p, inside, outside, G, b)
        found.append(G)
    weights = np.where(gaps[0], 0.3, 1.0)
    np.testing.assert_allclose(found[0], (H.T * weights) @ H)
    np.testing.assert_allclose(found[1], (H.T * weights) @ H)
