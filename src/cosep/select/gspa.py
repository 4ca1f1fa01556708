"""GSPA, generalized SPA: rows and columns that explain a matrix together, chosen by successive projections.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
R = (I - U U') M (I - V V') : the residual, never formed; U and V are orthonormal
u : new vector of the basis of the side that was chosen from; w = R'u
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_count, check_number, check_switch
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import Positions, one_by_one
from cosep.solve.successive_projections import orthogonal, spa_weights
from cosep.utils.messages import shown
from cosep.utils.types import Array, Indices


def gspa(
    X: Any,
    r: int | None = None,
    *,
    n_rows: int | None = None,
    n_cols: int | None = None,
    normalize: bool = True,
    tol: float = 1e-9,
) -> Selection:
    """Choose rows and columns for ``X ~ P1 X(K1,:) + X(:,K2) P2``, each time the largest row or column of the residual.

    Rows and columns have different lengths and are compared by the root mean square of their entries, without those in
    all-zero rows and columns. The direction of the chosen one is then removed: a column from all columns,
    ``R <- (I - u u') R``, a row from all rows, ``R <- R (I - v v')``. GSPA of J. Pan and N. Gillis, IEEE Trans.
    Pattern Anal. Mach. Intell. 43, 1546-1561, 2021, doi:10.1109/TPAMI.2019.2956046; the root mean square is our
    reading, which gives the splits printed by Pan and Ng (2023) where the norm does not. This is a heuristic: on an
    exactly generalized separable matrix it usually, but not always, finds the rows and columns.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int, optional
        Number of rows and columns together; their sizes decide how many of each. One side may get none.
    n_rows, n_cols : int, optional
        Number of rows and of columns, instead of ``r``; together with r, the largest numbers. One of them may be 0.
    normalize : bool
        Divide by the mean of the row or column in X for the choice (default), as `spa` divides by the sum. Otherwise
        large rows and columns come first, as in the published experiments on documents.
    tol : float
        Stop, with a warning and fewer than asked for, when the largest mean square over that of the first falls to
        this value: the rows and columns chosen explain everything.

    Returns
    -------
    Selection
        Best first on each side; a side without any is None. ``history`` holds the root mean square of each in the order
        chosen, relative to the first.

    Notes
    -----
    Among rows and columns that tie within 1e-6 the one with the largest norm wins, then columns before rows, then the
    lowest index. An all-zero row or column is never chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import gspa
    >>> X = np.outer([1, 0.5, 1, 0.2], [0, 4, 1, 0]) + np.outer([0, 1, 5, 2], [1, 0, 1, 1])
    >>> chosen = gspa(X, n_rows=1, n_cols=1)
    >>> chosen.row_indices, chosen.col_indices
    (array([0]), array([0]))
    """
    M = as_matrix(X)
    split = check_split(M.shape, r, n_rows, n_cols)
    tol = check_number(tol, "tol", 0.0, 1.0)
    normalize = check_switch(normalize, "normalize")
    part = filled(M)
    rows, cols, residuals = pursue_either(part.M, split, normalize=normalize, tol=tol)
    warn_if_fewer(np.concatenate([rows, cols]), split.total, "rows and columns")
    return either(part.rows[rows], part.cols[cols], n_iter=len(residuals), history=tuple(residuals))


class Split(NamedTuple):
    """Largest number of rows, of columns, and of both together."""

    rows: int
    cols: int
    total: int


def check_split(shape: tuple[int, int], r: Any, n_rows: Any, n_cols: Any, *, name: str = "r") -> Split:
    """Return the split from the number of both together, from the numbers of each side, or from all three."""
    m, n = shape
    if r is None and (n_rows is None or n_cols is None):
        msg = (
            f"Give {name}, the number of rows and columns in all, or both n_rows and n_cols; got {name}=None, "
            f"n_rows={shown(n_rows)} and n_cols={shown(n_cols)}."
        )
        raise ValueError(msg)
    rows = m if n_rows is None else check_count(n_rows, "n_rows", m, "n_samples", least=0)
    cols = n if n_cols is None else check_count(n_cols, "n_cols", n, "n_features", least=0)
    if rows + cols == 0:
        msg = "n_rows=0 and n_cols=0 select nothing; one of them must be at least 1."
        raise ValueError(msg)
    limit = f"{'n_samples' if n_rows is None else 'n_rows'} + {'n_features' if n_cols is None else 'n_cols'}"
    total = rows + cols if r is None else check_count(r, name, rows + cols, limit)
    return Split(min(rows, total), min(cols, total), total)


def pursue_either(
    M: LocalMatrix,
    split: Split,
    *,
    normalize: bool = True,
    tol: float = 1e-9,
    rows: Indices | None = None,
    cols: Indices | None = None,
) -> tuple[Indices, Indices, list[float]]:
    """Choose as many rows and columns as the split allows; the given ones come first."""
    m, n = M.shape
    sides = (M, M.T)
    most = (split.cols, split.rows)
    weights = [_weights(side, normalize=normalize) for side in sides]
    norms = [side.squared_norms() for side in sides]
    sizes = np.concatenate(norms)
    longest = max(float((norms[s] * weights[s] ** 2).max()) for s in (0, 1))
    bases = [np.zeros((m, 0)), np.zeros((n, 0))]
    counts = [0, 0]

    def merits() -> Array:
        left = [norms[s] * weights[s] ** 2 * (counts[s] < most[s]) for s in (0, 1)]
        return np.concatenate(left)

    def add(k: int) -> tuple[float, bool]:
        s, j = (0, k) if k < n else (1, k - n)
        D, own, other = sides[s], bases[s], bases[1 - s]
        column = D.take(cols=np.array([j]))[:, 0] * weights[s][j]
        u = orthogonal(column - D.dot(other @ other[j]) * weights[s][j], own)
        length = float(np.linalg.norm(u))
        explained = length <= 1e-14 * float(np.linalg.norm(column)) or length**2 <= tol * longest
        counts[s] += 1
        if not explained:
            u /= length
            w = orthogonal(D.cross(u), other)
            R_w = orthogonal(D.dot(w), own)
            norms[s] = np.maximum(norms[s] - w**2, 0.0)
            norms[1 - s] = np.maximum(norms[1 - s] - 2.0 * u * R_w + u**2 * float(w @ w), 0.0)
            bases[s] = np.column_stack([own, u])
        return length / float(np.sqrt(longest)) if longest > 0 else 0.0, explained

    given = [np.zeros(0, dtype=np.intp) if side is None else side for side in (cols, rows)]
    positions = Positions(np.ones(m + n, dtype=bool), np.concatenate([given[0], n + given[1]]), np.ones(m + n))
    chosen, residuals = one_by_one(split.total, positions, sizes, merits, add)
    return chosen[chosen >= n] - n, chosen[chosen < n], residuals


def _weights(M: LocalMatrix, *, normalize: bool) -> Array:
    """Return factors from the norm of a column to its root mean square, divided by its mean if ``normalize``."""
    m = M.shape[0]
    return spa_weights(M) * np.sqrt(m) if normalize else np.full(M.shape[1], 1.0 / np.sqrt(m))


def either(rows: Indices, cols: Indices, **kept: Any) -> Selection:
    """Return the selection; a side without any row or column is None."""
    return Selection(rows if len(rows) else None, cols if len(cols) else None, **kept)
