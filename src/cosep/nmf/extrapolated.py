"""A matrix and a rank enter, the factors that alternating least squares with extrapolation finds leave.

Notation
--------
M : data, m x n
W, V : nonnegative factors, m x r and n x r; M ~ W V'
"""

import numpy as np

from cosep.matrix.local import Array, LocalMatrix
from cosep.mixing import Budget, refit
from cosep.nmf.start import svd_start


def extrapolated(M: LocalMatrix, r: int, budget: Budget) -> tuple[Array, Array]:
    """Lower ``||M - W V'||_F`` over ``W, V >= 0`` from the nonnegative parts of the leading singular vectors.

    The factors of the transpose are these, swapped: the taller of the two is factored, of a square matrix and its
    transpose the one with the more uneven rows.
    """
    (m, n), rows, cols = M.shape, M.T.squared_norms(), M.squared_norms()
    if (m, float(rows @ rows)) < (n, float(cols @ cols)):
        V, W = extrapolated(M.T, r, budget)
        return W, V
    W, H = svd_start(M, r)
    size = float(np.vdot(H @ H.T, W.T @ W))
    if size > 0:
        W = W * (float(np.vdot(M.dot(H.T), W)) / size)
    W, H, _ = refit(M, np.eye(r), W, H, budget)
    return W, H.T
