"""One atom exchanged for another: the new weights, and the expected sums that rank exchanges."""

import numpy as np
import pytest

from cosep.kernels.exchange import exchange_atom, expected_sums
from cosep.kernels.quadratic import orthant_active_set

both = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def exact(M, A):
    V = np.zeros((M.shape[1], A.shape[1]))
    orthant_active_set(A.T @ A, M.T @ A, V)
    return V


def core_terms(V, C, Q):
    return np.einsum("ij,ij->i", V @ Q - 2.0 * C, V)


def check_exchanges(kernel, M, A, trials, seed=0):
    """Solve exchanges (k, j) of atom k for column j from the exact weights, and compare them with fits from nothing."""
    random = np.random.default_rng(seed)
    n, r = M.shape[1], A.shape[1]
    C, c = random.random((n, r)), random.random((n, len(trials)))
    roots = random.random((1 + len(trials), r, r))
    Q = roots.transpose(0, 2, 1) @ roots
    V, B = exact(M, A), M.T @ A
    before = np.column_stack([np.einsum("ij,ij->i", B, V), core_terms(V, C, Q[0])])
    rivals = M[:, [j for _, j in trials]]
    g, squares, b = A.T @ rivals, (rivals**2).sum(axis=0), M.T @ rivals
    k, W = np.array([k for k, _ in trials]), np.full((len(trials), n, r), np.nan)
    sums = np.zeros((3, len(trials), 2))
    pieces = ((0, n // 2), (n // 2, n // 2), (n // 2, n))
    for piece, (start, stop) in zip(sums, pieces, strict=True):
        kernel(A.T @ A, B, V, k, g, squares, b, C, c, Q[1:], before, start, stop, piece, W)
    without = np.zeros_like(sums)
    for piece, (start, stop) in zip(without, pieces, strict=True):
        kernel(A.T @ A, B, V, k, g, squares, b, C, c, Q[1:], before, start, stop, piece, np.empty((0, 0, 0)))
    np.testing.assert_array_equal(sums, without)
    for t, (at, j) in enumerate(trials):
        new_A, new_C = A.copy(), C.copy()
        new_A[:, at], new_C[:, at] = M[:, j], c[:, t]
        expected = exact(M, new_A)
        np.testing.assert_allclose(W[t] @ new_A.T, expected @ new_A.T, atol=1e-10)
        more, core = sums.sum(axis=0)[t]
        assert more == pytest.approx(np.sum(M.T @ new_A * W[t]) - before[:, 0].sum(), abs=1e-9)
        assert more == pytest.approx(np.sum(M.T @ new_A * expected) - before[:, 0].sum(), abs=1e-9)
        # Columns that keep their weights keep their terms of the core too: a new Q counts for the others only.
        changed = (V[:, at] > 0) | (b[:, t] - V @ g[:, t] > 0)
        terms = np.where(changed, core_terms(W[t], new_C, Q[1 + t]), before[:, 1])
        assert core == pytest.approx(terms.sum() - before[:, 1].sum(), abs=1e-9)


@both
@pytest.mark.parametrize("seed", range(8))
def test_exchanged_atoms_give_the_weights_and_sums_of_fits_from_nothing(compiled, seed):
    kernel = exchange_atom if compiled else exchange_atom.py_func
    random = np.random.default_rng(seed)
    M = random.poisson(1.0, size=(9, 14)).astype(float)
    check_exchanges(kernel, M, M[:, :4], [(0, 5), (3, 6), (3, 7), (1, 4), (2, 13)], seed)


@pytest.mark.parametrize("seed", range(4))
def test_nearly_dependent_atoms_are_exchanged_by_active_sets(seed):
    random = np.random.default_rng(seed)
    M = random.random((12, 30))
    M[:, 1] = M[:, 0] + 1e-4 * M[:, 1]  # an old atom nearly equal to another one
    M[:, 9] = M[:, 2] + 1e-5 * M[:, 9]  # a new atom nearly equal to an old one
    check_exchanges(exchange_atom, M, M[:, :5], [(0, 9), (1, 10), (2, 9), (4, 9)], seed)


@both
def test_the_expected_sum_is_that_of_the_given_weights(compiled):
    kernel = expected_sums if compiled else expected_sums.py_func
    random = np.random.default_rng(0)
    factors, weights, itself, linear = random.random((4, 6, 3))
    squares, sizes, without = random.random((3, 6)), random.random(3), random.random((2, 3))
    sums = np.full((6, 3), np.nan)
    kernel(factors, weights, itself, squares, sizes, linear, without, 0.5, 0.3, sums)
    cols = (
        without[0] - squares[0][:, None] * factors**2 * sizes - squares[1][:, None] * (itself - factors * weights) ** 2
    )
    core = without[1] - 2.0 * factors * linear + factors**2 * sizes * squares[2][:, None]
    np.testing.assert_allclose(sums, 0.5 + cols + 0.3 * core, rtol=1e-12)
