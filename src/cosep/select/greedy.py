"""Greedy column subset selection: columns that lower the error of projection most.

Notation
--------
M : data; Q : orthonormal basis of the columns chosen so far; E = M - Q Q'M the residual, never formed
f, g : ``f_j = ||E'e_j||^2`` and ``g_j = ||e_j||^2``, so that choosing column j lowers ||E||^2 by f_j / g_j
u : new vector of the basis; w = E'u
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_count, check_number
from cosep.matrix.filled import filled
from cosep.matrix.gram import GramMatrix
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import MERIT_TIE_TOL, Positions, one_by_one
from cosep.solve.successive_projections import orthogonal
from cosep.utils.types import Array, Indices

# Rounding error of the recursions for f, relative to f at their start.
ROUNDING = 1e-13


def greedy(X: Any, r: int, *, tol: float = 1e-9, pool: Pool | None = None) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j ||E'e_j||^2 / ||e_j||^2``, ``E = X - projection on those chosen``.

    Greedy column subset selection: of all columns, the one chosen lowers ``||X - projection||_F^2`` most. It uses the
    recursions of A. K. Farahat, A. Elgohary, A. Ghodsi and M. S. Kamel, Knowl. Inf. Syst. 35, 285-310, 2013,
    doi:10.1007/s10115-012-0538-1, and takes O(nnz + (m + n) r) per step after one pass over X'X.

    The columns are representatives in the sense of least squares, not the corners of a cone: for a separable matrix
    they need not be the columns that generate it, but r columns of a matrix of rank r always span it.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    tol : float
        A column is not chosen if its squared residual is at most this share of its squared norm. If this holds for all
        columns, the result has fewer than r columns, with a warning.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the relative error ``||E||_F / ||X||_F`` after each.

    Notes
    -----
    Among columns that tie within 1e-6 the one with the largest norm wins, then the lowest index. If the
    recursions have lost too many digits to compare the best columns, f and g of these are computed from E.

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
    part = filled(M, cols=positions.include)
    chosen, history = greedy_columns(part.M, r, positions.within(part.cols), tol)
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(chosen), history=tuple(history))


def greedy_columns(M: LocalMatrix, r: int, positions: Positions, tol: float = 1e-9) -> tuple[Indices, list[float]]:
    """Choose columns as `greedy` does; also return the relative error after each."""
    original = M.squared_norms()
    total = max(float(original.sum()), np.finfo(np.float64).tiny)
    gram = GramMatrix(M.mantissa)
    f, g = gram.in_units(gram.squared_norms(), 2), original.copy()
    # f when it was last computed from E itself: its rounding error is relative to this.
    known = f.copy()
    Q = np.zeros((M.shape[0], 0))

    def merits() -> Array:
        while True:
            left = g > tol * original
            ratios, errors = (np.divide(above, g, out=np.zeros_like(g), where=left) for above in (f, ROUNDING * known))
            # f_j >= g_j^2, and f_j may be too small for a float.
            values = np.where(left, np.maximum(ratios, g), 0.0)
            doubtful = np.flatnonzero((values + errors >= values.max()) & (errors > MERIT_TIE_TOL / 4 * values))
            if len(doubtful) == 0:
                return values
            f[doubtful], g[doubtful] = residual_products(M, Q, doubtful)
            known[doubtful] = f[doubtful]

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

    return one_by_one(r, positions, original, merits, add)


def residual_products(M: LocalMatrix, Q: Array, columns: Indices) -> tuple[Array, Array]:
    """Return f and g of some columns from their residuals, without the cancellation of the recursions."""
    f, g = np.zeros(len(columns)), np.zeros(len(columns))
    size = max(1, BLOCK_ENTRIES // max(M.shape))
    M_Q = M.cross(Q)
    for start in range(0, len(columns), size):
        some = slice(start, start + size)
        E = orthogonal(M.take(cols=columns[some]), Q)
        products = M.cross(E) - M_Q @ (Q.T @ E)
        f[some], g[some] = np.einsum("ij,ij->j", products, products), np.einsum("ij,ij->j", E, E)
    return f, g
