"""Plain nonnegative matrix factorization by alternating least squares with extrapolation.

Notation
--------
M : data, m x n
W, V : nonnegative factors, m x r and n x r; M ~ W V'
"""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.alternation import Budget, is_wide, refit
from cosep.solve.svd_start import Triplets, svd_start
from cosep.utils.types import Array


def extrapolated(
    M: LocalMatrix, r: int, budget: Budget, copies: Array | None = None, triplets: Triplets | None = None
) -> tuple[Array, Array]:
    """Lower ``||M - W V'||_F`` over ``W, V >= 0`` from the nonnegative parts of the leading singular vectors.

    The factors of the transpose are the same, swapped: the taller of the two matrices is factored, and of a square
    matrix and its transpose the one with the more uneven rows (for a symmetric matrix there is no difference).

    Parameters
    ----------
    M : LocalMatrix
    r : int
        Number of components.
    budget : Budget
    copies : ndarray, optional
        How many copies each row of M stands for: their number decides which matrix is taller, and the row is that of
        one copy times the square root of their number. Default: ones.
    triplets : tuple of ndarray, optional
        U, s and V of M, if the r leading singular triplets are known.
    """
    if is_wide(M, copies):
        V, rest = _factor(M.T, r, budget, None if triplets is None else triplets[::-1])
        return rest.T, V
    W, H = _factor(M, r, budget, triplets)
    return W, H.T


def _factor(M: LocalMatrix, r: int, budget: Budget, triplets: Triplets | None) -> tuple[Array, Array]:
    """Return W and ``H = V'``, found from W first."""
    W, H = svd_start(M, r, triplets)
    size = float(np.vdot(H @ H.T, W.T @ W))
    if size > 0:
        W = W * (float(np.vdot(M.dot(H.T), W)) / size)
    W, H, _ = refit(M, np.eye(r), W, H, budget)
    return W, H
