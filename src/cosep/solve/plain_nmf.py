"""Plain nonnegative matrix factorization by alternating least squares with extrapolation.

Notation
--------
M : data, m x n
W, V : nonnegative factors, m x r and n x r; M ~ W V'
"""

from collections.abc import Sequence

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.alternation import Budget, half_squared_error, refit
from cosep.solve.svd_start import svd_start
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array

# A given start is used if its squared error is below this share of that of the start by singular vectors.
MAX_START_RATIO = 0.5
# Half squared errors, relative to the squared norm, that differ by less are equal.
EQUAL_ERROR_TOL = 1e-12


def extrapolated(
    M: LocalMatrix, r: int, budget: Budget, starts: Sequence[tuple[Array, Array]] = ()
) -> tuple[Array, Array]:
    """Lower ``||M - W V'||_F`` over ``W, V >= 0`` from the nonnegative parts of the leading singular vectors.

    The start is one of the given pairs W and V instead if its squared error is at most half as large: for block
    diagonal data the singular vectors may be arbitrary mixtures of the blocks.

    The factors of the transpose are the same, swapped: the taller of the two matrices is factored, and of a square
    matrix and its transpose the one with the more uneven rows (for a symmetric matrix there is no difference).
    """
    (m, n), rows, cols = M.shape, M.T.squared_norms(), M.squared_norms()
    uneven = float(rows @ rows), float(cols @ cols)
    if m < n or (m == n and uneven[0] < (1.0 - TIE_TOL) * uneven[1]):
        # The first of tied starts wins, so that their order is reversed too.
        V, W = extrapolated(M.T, r, budget, [(V, W) for W, V in reversed(starts)])
        return W, V
    W, H = svd_start(M, r)
    size = float(np.vdot(H @ H.T, W.T @ W))
    if size > 0:
        W = W * (float(np.vdot(M.dot(H.T), W)) / size)
    V, least = H.T, MAX_START_RATIO * _error(M, W, H.T)
    for pair in starts:
        if (error := _error(M, *pair)) < least - EQUAL_ERROR_TOL:
            (W, V), least = pair, error
    W, H, _ = refit(M, np.eye(r), W, V.T, budget)
    return W, H.T


def _error(M: LocalMatrix, W: Array, V: Array) -> float:
    return half_squared_error(max(M.squared_norm(), np.finfo(np.float64).tiny), W, M.cross(W), V)
