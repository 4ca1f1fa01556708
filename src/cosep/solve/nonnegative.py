"""Nonnegative least squares for many right-hand sides at once.

Notation
--------
M : data, m x n; A : m x r; V : n x r; M ~ A V'
"""

import numpy as np

from cosep.kernels.quadratic import orthant_active_set, orthant_descent
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.utils.types import Array, Indices

# Stopping rule of coordinate descent inside an alternation: KKT residual, and largest number of sweeps.
INNER_TOL = 1e-3
INNER_SWEEPS = 100


def column_weights(M: LocalMatrix, cols: Indices) -> Array:
    """Solve ``min_V ||M - M(:,cols) V||_F`` over ``V >= 0`` exactly: every column as a mix of the selected ones."""
    return coefficients(M.T, M.take(cols=cols).T).T


def coefficients(M: LocalMatrix, H: Array) -> Array:
    """Solve ``min_U ||M - U H||_F`` over ``U >= 0`` exactly, each row on its own."""
    return nonnegative(H.T, M.dot(H.T), np.zeros((M.shape[0], len(H))), exact=True)


def nonnegative(A: Array, B: Array, V: Array, *, exact: bool = False) -> Array:
    """Solve ``min_V ||M - A V'||_F`` over ``V >= 0``, from V, given ``B = M'A``.

    The columns of A are normalised first, so that tolerances do not depend on their scale. If not ``exact``,
    coordinate descent stops at a moderate KKT residual: enough inside an alternation, and never worse than the start.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    unit = A / norms
    G = unit.T @ unit
    del unit  # as large as a factor
    return _solved(G, norms, B, V, exact=exact)


def nonnegative_of(G: Array, B: Array, V: Array, *, exact: bool = False) -> Array:
    """Solve the same problem given ``G = A'A``, if A is not available."""
    norms = np.sqrt(np.diagonal(G))
    norms[norms == 0] = 1.0
    return _solved(G / norms / norms[:, None], norms, B, V, exact=exact)


def _solved(G: Array, norms: Array, B: Array, V: Array, *, exact: bool) -> Array:
    """Solve for the weights of columns of norm one, from V, and scale them back.

    The rows are independent problems and are solved in blocks, so that temporary arrays stay small.
    """
    solved = np.empty_like(V)
    size = max(1, BLOCK_ENTRIES // max(V.shape[1], 1))
    for start in range(0, len(V), size):
        some = slice(start, start + size)
        scaled, targets = V[some] * norms, B[some] / norms
        # A start near the solution makes the active-set method faster.
        orthant_descent(G, targets, scaled, INNER_TOL, INNER_SWEEPS)
        if exact:
            orthant_active_set(G, targets, scaled)
        np.divide(scaled, norms, out=solved[some])
    return solved
