"""A matrix and a rank enter, the factors that alternating least squares with extrapolation finds leave.

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

# A start of one's own must have this share of the squared error of that by singular vectors.
FAR_BETTER = 0.5
# Half squared errors, relative to the squared norm, that differ by less are equal up to rounding.
ROUNDING = 1e-12


def extrapolated(
    M: LocalMatrix, r: int, budget: Budget, starts: Sequence[tuple[Array, Array]] = ()
) -> tuple[Array, Array]:
    """Lower ``||M - W V'||_F`` over ``W, V >= 0`` from the nonnegative parts of the leading singular vectors.

    Or from one of the given pairs W and V, if that has half the squared error or less to begin with: of data in blocks
    the singular vectors may be any mixtures of the blocks.

    The factors of the transpose are these, swapped: the taller of the two is factored, of a square matrix and its
    transpose the one with the more uneven rows. (Of a symmetric matrix nothing tells the two apart.)
    """
    (m, n), rows, cols = M.shape, M.T.squared_norms(), M.squared_norms()
    uneven = float(rows @ rows), float(cols @ cols)
    if m < n or (m == n and uneven[0] < (1.0 - TIE_TOL) * uneven[1]):
        # Of starts that tie the first is taken, so that their order is swapped too.
        V, W = extrapolated(M.T, r, budget, [(V, W) for W, V in reversed(starts)])
        return W, V
    W, H = svd_start(M, r)
    size = float(np.vdot(H @ H.T, W.T @ W))
    if size > 0:
        W = W * (float(np.vdot(M.dot(H.T), W)) / size)
    V, least = H.T, FAR_BETTER * _error(M, W, H.T)
    for pair in starts:
        if (error := _error(M, *pair)) < least - ROUNDING:
            (W, V), least = pair, error
    W, H, _ = refit(M, np.eye(r), W, V.T, budget)
    return W, H.T


def _error(M: LocalMatrix, W: Array, V: Array) -> float:
    return half_squared_error(max(M.squared_norm(), np.finfo(np.float64).tiny), W, M.cross(W), V)
