"""XRAY: extreme rays of the cone of the columns, chosen by the residual of nonnegative fits.

Notation
--------
M : data; A : the columns chosen so far; V : nonnegative weights, one row for each column of M, with M ~ A V'
R = M - A V' : the residual, never formed
p : a positive vector; the columns are compared where they cross the plane p'x = 1
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_choice, check_count, check_number, check_random
from cosep.matrix.filled import filled
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.nonnegative import coefficients
from cosep.solve.pursuit import one_by_one
from cosep.utils.ties import first_largest
from cosep.utils.types import Array


class Fit(NamedTuple):
    """The fit with the columns chosen so far.

    Attributes
    ----------
    A, B, V : ndarray
        The chosen columns, ``M'A``, and the weights.
    residuals : ndarray
        Squared norms of the columns of R.
    """

    A: Array
    B: Array
    V: Array
    residuals: Array


def xray(
    X: Any,
    r: int,
    *,
    criterion: str = "dist",
    tol: float = 1e-9,
    random_state: Any = 0,
    pool: Pool | None = None,
) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j ||max(R'm_j, 0)|| / p'm_j``, R the residual of nonnegative fitting.

    Every step adds an extreme ray of the cone of the columns; the residual ``R = X - A V'``, ``V >= 0``, of the columns
    outside the cone of those chosen so far determines it. A. Kumar, V. Sindhwani and P. Kambadur, Fast conical hull
    algorithms for near-separable non-negative matrix factorization, ICML 2013, PMLR 28(1), 231-239,
    arXiv:1210.1190. Only the positive part counts: otherwise a column could be chosen twice.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    criterion : {"dist", "max"}
        "dist" (default) is the criterion above, which uses all columns of R: O(n nnz) per step. "max" uses the longest
        column only, ``argmax_j max(R_i'm_j, 0) / p'm_j``: O(nnz) per step, for matrices with many columns.
    tol : float
        A column is not chosen if its squared residual is at most this share of its squared norm. If this holds for all
        columns, the result has fewer than r columns, with a warning.
    random_state : int, RandomState instance or None
        Seed for p, with one number from 0.5 to 1.5 for each row that is not all zero. Default: 0.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the relative error ``||R||_F / ||X||_F`` after each.

    Notes
    -----
    Among columns that tie within 1e-6 the one with the largest norm wins, then the lowest index. All-zero columns are
    never chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import xray
    >>> sorted(xray(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices.tolist())
    [0, 1]
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    tol = max(check_number(tol, "tol", 0.0, 1.0), 1e-12)
    criterion_values = CRITERIA[check_choice(criterion, "criterion", CRITERIA)]
    random = check_random(random_state)
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    M, (m, n) = part.M, part.M.shape
    heights = M.cross(random.uniform(0.5, 1.5, size=m))
    heights[heights == 0] = 1.0
    original = M.squared_norms()
    total = max(float(original.sum()), np.finfo(np.float64).tiny)
    fit = Fit(np.zeros((m, 0)), np.zeros((n, 0)), np.zeros((n, 0)), original)

    def merits() -> Array:
        return np.where(fit.residuals > tol * original, criterion_values(M, fit, heights), 0.0)

    def add(j: int) -> tuple[float, bool]:
        nonlocal fit
        explained = not fit.residuals[j] > tol * original[j]
        if not explained:
            A = np.column_stack([fit.A, M.take(cols=np.array([j]))])
            B, V = M.cross(A), coefficients(M.T, A.T)
            squared = original + np.einsum("jk,jk->j", V @ (A.T @ A) - 2.0 * B, V)
            fit = Fit(A, B, V, np.maximum(squared, 0.0))
        return float(np.sqrt(fit.residuals.sum() / total)), explained

    chosen, history = one_by_one(r, positions.within(part.cols), original, merits, add)
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(chosen), history=tuple(history))


def all_residuals(M: LocalMatrix, fit: Fit, heights: Array) -> Array:
    """``||max(R'm_j, 0)|| / p'm_j`` for all j, a block of columns at a time."""
    n = M.shape[1]
    size = max(1, BLOCK_ENTRIES // max(M.shape))
    norms = np.zeros(n)
    for start in range(0, n, size):
        block = np.arange(start, min(start + size, n))
        products = M.cross(M.take(cols=block)) - fit.V @ fit.B[block].T
        norms[block] = np.linalg.norm(np.maximum(products, 0.0) / heights[block], axis=0)
    return norms


def longest_residual(M: LocalMatrix, fit: Fit, heights: Array) -> Array:
    """``max(R_i'm_j, 0) / p'm_j`` for all j, with i the longest column of R."""
    i = int(first_largest(fit.residuals))
    residual = M.take(cols=np.array([i]))[:, 0] - fit.A @ fit.V[i]
    return np.maximum(M.cross(residual), 0.0) / heights


CRITERIA: dict[str, Callable[[LocalMatrix, Fit, Array], Array]] = {"dist": all_residuals, "max": longest_residual}
