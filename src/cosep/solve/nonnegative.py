"""Nonnegative least squares for many right-hand sides at once.

Notation
--------
M : data, m x n; A : m x r; V : n x r; M ~ A V'
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.quadratic import orthant_active_set, orthant_descent
from cosep.matrix.local import LocalMatrix
from cosep.utils.blas import one_blas_thread
from cosep.utils.threads import for_each, slices
from cosep.utils.types import Array, Indices

# Stopping rule of coordinate descent inside an alternation: KKT residual, and largest number of sweeps.
INNER_TOL = 1e-3
INNER_SWEEPS = 100
# Weights that are solved for in one piece.
PIECE_ENTRIES = 16_384
# Columns of norm one whose Gram matrix has a smaller eigenvalue depend on each other.
DEPENDENT_TOL = 1e-12
# What is added to the diagonal then, once for the first column and up to twice for the last.
RIDGE = 1e-6


def column_weights(M: LocalMatrix, cols: Indices, scale: Array | None = None) -> Array:
    """Solve ``min_V ||M - M(:,cols) V||_F`` over ``V >= 0`` exactly: every column as a mix of the selected ones.

    ``scale`` are factors of the rows of M in the norm.
    """
    return coefficients(M.T, M.take(cols=cols).T, scale).T


@one_blas_thread
def coefficients(M: LocalMatrix, H: Array, scale: Array | None = None, products: Array | None = None) -> Array:
    """Solve ``min_U ||(M - U H) diag(scale)||_F`` over ``U >= 0`` exactly, each row on its own.

    Factors of the rows of M do not matter here.

    Parameters
    ----------
    M : LocalMatrix
    H : ndarray of shape (r, n)
    scale : ndarray of shape (n,), optional
        Factors of the columns. Default: ones.
    products : ndarray, optional
        ``M @ (H * scale**2).T``, if it is known.
    """
    scaled, targets = (H, H) if scale is None else (H * scale, H * scale**2)
    products = M.dot(targets.T) if products is None else products
    return nonnegative(scaled.T, products, np.zeros((M.shape[0], len(H))), exact=True)


@one_blas_thread
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


@one_blas_thread
def nonnegative_of(G: Array, B: Array, V: Array, *, exact: bool = False) -> Array:
    """Solve the same problem given ``G = A'A``, if A is not available."""
    norms = np.sqrt(np.diagonal(G))
    norms[norms == 0] = 1.0
    return _solved(G / norms / norms[:, None], norms, B, V, exact=exact)


def _solved(G: Array, norms: Array, B: Array, V: Array, *, exact: bool) -> Array:
    """Solve for the weights of columns of norm one, from V, and scale them back.

    The rows are independent problems. They are solved in pieces, which threads share; temporary arrays are small.
    """
    solved = np.empty_like(V)
    ridge = ridge_of(G) if exact else np.zeros(len(G))
    raised = G + np.diag(ridge)

    def solve(some: slice) -> None:
        scaled, targets = V[some] * norms, B[some] / norms
        # A start near the solution makes the active-set method faster.
        orthant_descent(G, targets, scaled, INNER_TOL, INNER_SWEEPS)
        if exact:
            orthant_active_set(raised, targets, scaled)
        if exact and ridge.any():
            # Again from the solution instead of zero: the ridge then changes it by its square only.
            orthant_active_set(raised, targets + ridge * scaled, scaled)
        np.divide(scaled, norms, out=solved[some])

    for_each(solve, slices(len(V), PIECE_ENTRIES // max(V.shape[1], 1)))
    return solved


def ridge_of(G: Array) -> Array:
    """Return what to add to the diagonal of the Gram matrix of columns of norm one that depend on each other.

    There are then many best weights, and rounding would choose among them: for example, more rows than columns selected
    make the components of the rows dependent. The ridge chooses those with the smallest norm, in which earlier columns
    count less, so that these get larger weights than columns that could replace them.
    """
    r = len(G)
    return np.asarray(RIDGE * (1.0 + np.arange(r) / r)) if dependent_grams(G[None])[0] else np.zeros(r)


def dependent_grams(G: Array) -> NDArray[np.bool_]:
    """Return which of some Gram matrices are of columns that depend on each other, whatever their norms are."""
    count, r, _ = G.shape
    if count == 0 or r == 0:
        return np.zeros(count, dtype=bool)
    norms = np.sqrt(np.einsum("tii->ti", G))
    norms[norms == 0] = 1.0
    return np.asarray(np.linalg.eigvalsh(G / norms[:, :, None] / norms[:, None])[:, 0] <= DEPENDENT_TOL)
