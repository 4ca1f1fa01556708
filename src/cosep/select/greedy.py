"""A matrix enters, the columns whose span takes away most of the residual leave.

Notation
--------
M : data; Q : orthonormal basis of the columns chosen so far; E = M - Q Q'M the residual, never formed
f, g : ``f_j = ||E'e_j||^2`` and ``g_j = ||e_j||^2``, so that f_j / g_j is what choosing column j takes off ||E||^2
u : new vector of the basis; w = E'u
"""

from typing import Any

import numpy as np

from cosep.factorization import Selection
from cosep.matrix.checks import as_matrix, check_count, check_number
from cosep.matrix.gram import GramMatrix
from cosep.matrix.local import Array
from cosep.select.pool import Pool, check_pool
from cosep.select.spa import orthogonal, warn_if_fewer
from cosep.select.turns import one_by_one


def greedy(X: Any, r: int, *, tol: float = 1e-9, pool: Pool | None = None) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j ||E'e_j||^2 / ||e_j||^2``, ``E = X - projection on those chosen``.

    Greedy column subset selection: of all columns, the one chosen lowers ``||X - projection||_F^2`` most. By the
    recursions of A. K. Farahat, A. Elgohary, A. Ghodsi and M. S. Kamel, Knowl. Inf. Syst. 35, 285-310, 2013,
    doi:10.1007/s10115-012-0538-1, in O(nnz + (m + n) r) a step after one pass over X'X.

    Representatives by least squares, not the corners of a cone: of a separable matrix it need not find the planted
    columns, though r columns of a matrix of rank r always span it.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        How many columns.
    tol : float
        A column whose squared residual has fallen to this share of its squared norm is never chosen; when all have,
        the choice ends with a warning and fewer than r columns.
    pool : Pool, optional
        Which columns may be chosen, and which must be; these come first.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the relative error ``||E||_F / ||X||_F`` after each.

    Notes
    -----
    Among columns that tie within 1e-6 the one with the largest norm wins, then the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import greedy
    >>> greedy(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    tol = max(check_number(tol, "tol", 0.0, 1.0), 1e-12)
    positions = check_pool(pool, r, M.shape[1])
    original = M.squared_norms()
    total = max(float(original.sum()), np.finfo(np.float64).tiny)
    gram = GramMatrix(M)
    f, g = np.ldexp(gram.squared_norms(), 2 * (gram.exponent - 2 * M.exponent)), original
    Q = np.zeros((M.shape[0], 0))

    def merits() -> Array:
        # f_j >= g_j^2, and f_j may be too small for a float.
        return np.where(g > tol * original, np.maximum(np.divide(f, g, out=np.zeros_like(g), where=g > 0), g), 0.0)

    def add(j: int) -> tuple[float, bool]:
        nonlocal f, g, Q
        column = M.take(cols=np.array([j]))[:, 0]
        u = orthogonal(column, Q)
        length = float(np.linalg.norm(u))
        explained = length**2 <= tol * float(column @ column)
        if not explained:
            u /= length
            w = M.cross(u)
            E_w = orthogonal(M.dot(w), Q)
            # E'E loses w w'.
            f = np.maximum(f - 2.0 * w * M.cross(E_w) + w**2 * float(w @ w), 0.0)
            g = np.maximum(g - w**2, 0.0)
            Q = np.column_stack([Q, u])
        return float(np.sqrt(g.sum() / total)), explained

    chosen, history = one_by_one(r, positions, original, merits, add)
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, chosen, n_iter=len(chosen), history=tuple(history))
