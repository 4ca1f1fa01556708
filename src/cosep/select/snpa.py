"""SNPA, the successive nonnegative projection algorithm: columns farthest from the hull of those chosen before.

Notation
--------
M : data, by default with columns divided by their sums
A : the columns chosen so far; V : the weights, one row for each column of M, of its nearest point in conv(0, A)
"""

from typing import Any

import numpy as np

from cosep.kernels.quadratic import simplex_descent
from cosep.matrix.checks import check_count, check_number, check_switch
from cosep.matrix.filled import filled
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import one_by_one
from cosep.solve.successive_projections import spa_weights

# Stopping rule for the nearest points: KKT residual, and number of exchanges per chosen column.
NEAREST_TOL, NEAREST_STEPS = 1e-10, 1000


def snpa(X: Any, r: int, *, normalize: bool = True, tol: float = 1e-9, pool: Pool | None = None) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j min_v ||m_j - A v||`` over ``v >= 0, sum(v) <= 1``, A those chosen.

    Like `spa`, with the nearest point of the convex hull of the origin and the chosen columns instead of the projection
    on their span: more robust, and able to choose more columns than the rank of X. N. Gillis, SIAM J. Imaging
    Sci. 7, 1420-1450, 2014, doi:10.1137/130946782, with f the squared norm.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    normalize : bool
        Divide each column by its sum for the choice (default); see `spa`.
    tol : float
        Stop, with a warning and fewer than r columns, when the largest squared residual over the largest squared
        norm falls to this value: the columns chosen explain everything.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the residual norm of each, relative to the first.

    Notes
    -----
    Ties as in `spa`. All-zero columns are never chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import snpa
    >>> snpa(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    tol = check_number(tol, "tol", 0.0, 1.0)
    normalize = check_switch(normalize, "normalize")
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    M, (m, n) = part.M, part.M.shape
    weights = spa_weights(M, normalize=normalize)
    original = M.squared_norms()
    norms = original * weights**2
    longest = float(norms.max())
    residuals = norms
    A, B, V = np.zeros((m, 0)), np.zeros((n, 0)), np.zeros((n, 0))

    def add(j: int) -> tuple[float, bool]:
        nonlocal A, B, V, residuals
        column = M.take(cols=np.array([j]))[:, 0] * weights[j]
        length = float(np.linalg.norm(column - A @ V[j]))
        explained = length <= 1e-14 * float(np.linalg.norm(column)) or length**2 <= tol * longest
        if not explained:
            A, B = np.column_stack([A, column]), np.column_stack([B, weights * M.cross(column)])
            V = np.column_stack([V, np.zeros(n)])
            G = A.T @ A
            simplex_descent(G, B, V, NEAREST_TOL, NEAREST_STEPS * len(G))
            residuals = np.maximum(norms + np.einsum("jk,jk->j", V @ G - 2.0 * B, V), 0.0)
        return length / float(np.sqrt(longest)) if longest > 0 else 0.0, explained

    chosen, history = one_by_one(r, positions.within(part.cols), original, lambda: residuals, add)
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(chosen), history=tuple(history))
