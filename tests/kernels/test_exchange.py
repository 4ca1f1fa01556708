"""One atom exchanged for another: the new weights, and the expected sums that rank exchanges."""

import numpy as np
import pytest

from cosep.kernels.exchange import exchange_atom, expected_sums
from cosep.kernels.quadratic import orthant_active_set

both = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def problem(seed):
    """Return data, atoms, a rival, exact weights, and the terms of a core, which need not belong to any data."""
    random = np.random.default_rng(seed)
    M = random.poisson(1.0, size=(9, 14)).astype(float)
    A, a = M[:, :4], M[:, 4 + seed % 3]
    C, c, root = random.random((14, 4)), random.random(14), random.random((4, 4))
    return M, A, a, C, c, root


def exact(M, A):
    V = np.zeros((M.shape[1], A.shape[1]))
    orthant_active_set(A.T @ A, M.T @ A, V)
    return V


def core_terms(V, C, Q):
    return np.einsum("ij,ij->i", V @ Q - 2.0 * C, V)


@both
@pytest.mark.parametrize("seed", range(8))
def test_an_exchanged_atom_gives_the_weights_and_sums_of_a_fit_from_nothing(compiled, seed):
    kernel = exchange_atom if compiled else exchange_atom.py_func
    M, A, a, C, c, root = problem(seed)
    k, V, B = seed % 4, exact(M, A), M.T @ A
    Q = root.T @ root
    before = np.column_stack([np.einsum("ij,ij->i", B, V), core_terms(V, C, Q)])
    new_A, new_C = A.copy(), C.copy()
    new_A[:, k], new_C[:, k] = a, c
    W, changed = np.full_like(V, np.nan), np.empty(len(V), dtype=bool)
    new = np.column_stack([M.T @ a, c])
    more, core = kernel(new_A.T @ new_A, B, V, k, C, Q, new, before, W, changed)
    found, expected = np.where(changed[:, None], W, V), exact(M, new_A)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert more == pytest.approx(np.sum(M.T @ new_A * expected) - before[:, 0].sum(), abs=1e-9)
    assert core == pytest.approx(core_terms(expected, new_C, Q).sum() - before[:, 1].sum(), abs=1e-9)


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
