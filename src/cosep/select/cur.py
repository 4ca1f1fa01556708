"""Rows and columns for a CUR decomposition of a matrix with entries of any sign.

Notation
--------
M : data; V : its leading singular vectors on the side that is chosen from
K1, K2 : the chosen rows and columns; C = M(:,K2), R = M(K1,:)
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from cosep.matrix.checks import check_choice
from cosep.matrix.filled import filled
from cosep.matrix.leading import leading_triplets
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import all_positions, largest, one_by_one, raise_nothing_to_select
from cosep.solve.successive_projections import orthogonal, pursue
from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Indices

# Up to this length of the shorter side, all singular vectors are computed at once.
SHORT_SIDE = 1000
# Singular values, and residuals of columns, below this share of the largest are zero.
RANK_TOL = 1e-7
# Smallest relative gain in volume of an exchange, and largest number of sweeps over both sides.
MIN_VOLUME_GAIN, MAX_SWEEPS = 1e-2, 100


def cur(X: Any, n_rows: int, n_cols: int, *, method: str = "leverage") -> Selection:
    """Choose rows and columns for ``X ~ C U R``, ``C = X(:,cols)``, ``R = X(rows,:)``; X may have any sign.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Number of rows and of columns to select; ``method="cross"`` needs as many rows as columns.
    method : {"leverage", "deim", "cross"}
        "leverage" (default): the largest leverage scores, ``||V(j,:)||^2`` with V as many leading singular vectors as
        are to be chosen, without those that the chosen ones span (M. W. Mahoney and P. Drineas, Proc. Natl. Acad.
        Sci. 106, 697-702, 2009, doi:10.1073/pnas.0803205106, who draw at random with these scores; the largest:
        D. Papailiopoulos, A. Kyrillidis and C. Boutsidis, KDD 2014, doi:10.1145/2623330.2623698).
        "deim": discrete empirical interpolation, one index for each leading singular vector, where its interpolation
        at the earlier indices has the largest error (D. C. Sorensen and M. Embree, SIAM J. Sci. Comput. 38,
        A1454-A1482, 2016, doi:10.1137/140978430).
        "cross": rows and columns whose crossing has a volume ``|det X(rows,cols)|`` that no exchange of one row or one
        column raises by more than 1 % (S. A. Goreinov et al., How to find a good submatrix, in Matrix Methods: Theory,
        Algorithms and Applications, 247-256, 2010, doi:10.1142/9789812836021_0015), from the columns that `spa` picks.

    Returns
    -------
    Selection
        Fewer than asked for, with a warning, where the rank of X is smaller. ``history`` holds, for "leverage", the
        scores of the chosen rows and columns; for "cross", the logarithm of the volume after each sweep.

    Notes
    -----
    Everything is deterministic. Ties go to the longer row or column, then to the lower index. If X has rank r and as
    many rows and columns are asked for, ``C U R`` is X itself, to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import cur
    >>> chosen = cur(np.diag([3.0, -2.0, 1.0]), 2, 2, method="deim")
    >>> chosen.row_indices, chosen.col_indices
    (array([0, 1]), array([0, 1]))
    """
    M = as_matrix(X, signed=True)
    n_rows, n_cols = check_sizes(M, n_rows, n_cols)
    select = METHODS[check_choice(method, "method", METHODS)]
    if M.squared_norm() == 0:
        raise_nothing_to_select()
    part = filled(M)
    rows, cols, history = select(part.M, n_rows, n_cols)
    warn_if_fewer(rows, n_rows, "rows")
    warn_if_fewer(cols, n_cols, "columns")
    return restore_selection(part, Selection(rows, cols, history=history))


Choice = tuple[Indices, Indices, tuple[Any, ...]]


def by_leverage(M: LocalMatrix, n_rows: int, n_cols: int) -> Choice:
    """Choose the largest leverage scores on each side."""
    U, V = leading(M, max(n_rows, n_cols))
    rows, row_scores = _largest_independent(M.T, U[:, :n_rows], n_rows)
    cols, col_scores = _largest_independent(M, V[:, :n_cols], n_cols)
    return rows, cols, (tuple(row_scores), tuple(col_scores))


def by_deim(M: LocalMatrix, n_rows: int, n_cols: int) -> Choice:
    """Choose one index for each singular vector on each side."""
    U, V = leading(M, max(n_rows, n_cols))
    rows, cols = interpolation_indices(U[:, :n_rows]), interpolation_indices(V[:, :n_cols])
    return rows, cols, ()


def by_cross(M: LocalMatrix, n_rows: int, n_cols: int) -> Choice:
    """Choose alternately the rows of largest volume in the columns and the columns of largest volume in the rows."""
    if n_rows != n_cols:
        msg = (
            f"method='cross' chooses as many rows as columns, got n_rows={n_rows} and n_cols={n_cols}; ask for equal "
            "numbers, or use method='leverage' or 'deim'."
        )
        raise ValueError(msg)
    cols = pursue(M, n_cols, np.ones(M.shape[1]), tol=RANK_TOL**2)[0]
    C = M.take(cols=cols)
    rows = largest_volume(C, scipy.linalg.qr(C.T, mode="r", pivoting=True)[1][: len(cols)])
    volumes = [_volume(M, rows, cols)]
    for _ in range(MAX_SWEEPS):
        cols = largest_volume(M.take(rows=rows).T, cols)
        rows = largest_volume(M.take(cols=cols), rows)
        volumes.append(_volume(M, rows, cols))
        if volumes[-1] <= volumes[-2]:
            break
    return rows, cols, tuple(volumes)


METHODS: dict[str, Callable[[LocalMatrix, int, int], Choice]] = {
    "leverage": by_leverage,
    "deim": by_deim,
    "cross": by_cross,
}


def leading(M: LocalMatrix, k: int) -> tuple[Array, Array]:
    """Return the k leading left and right singular vectors, fewer if the rank is smaller."""
    m, n = M.shape
    if m < n:
        V, U = leading(M.T, k)
        return U, V
    if n <= SHORT_SIDE:
        values, right = np.linalg.svd(M.gram_root())[1:]
        values, V = values[:k], right[:k].T
    else:
        _, values, V = leading_triplets(M, k)
    V = V[:, values > RANK_TOL * values[0]]
    return scipy.linalg.qr(M.dot(V), mode="economic")[0], V


def interpolation_indices(V: Array) -> Indices:
    """Return, for each column of V, the row where its interpolation at the earlier indices has the largest error."""
    chosen: list[int] = []
    for k in range(V.shape[1]):
        missed = V[:, k]
        if chosen:
            missed = missed - V[:, :k] @ np.linalg.solve(V[chosen, :k], V[chosen, k])
        missed = missed**2
        missed[chosen] = 0.0
        chosen.append(largest(missed, np.ones(len(V))))
    return np.array(chosen, dtype=np.intp)


def largest_volume(A: Array, rows: Indices) -> Indices:
    """Exchange chosen rows of a tall matrix until no exchange of one row raises their volume by `MIN_VOLUME_GAIN`."""
    rows = rows.copy()
    Q = scipy.linalg.qr(A, mode="economic")[0]
    while True:
        B = np.linalg.solve(Q[rows].T, Q.T).T
        i, k = np.unravel_index(first_largest(np.abs(B).ravel()), B.shape)
        if abs(B[i, k]) <= 1.0 + MIN_VOLUME_GAIN:
            return rows
        rows[k] = i


def _largest_independent(M: LocalMatrix, V: Array, r: int) -> tuple[Indices, list[float]]:
    """Choose r columns by the largest ``||V(j,:)||^2``, without those that the chosen ones span."""
    scores = np.einsum("jk,jk->j", V, V)
    original = M.squared_norms()
    residuals = original
    Q = np.zeros((M.shape[0], 0))

    def add(j: int) -> tuple[float, bool]:
        nonlocal Q, residuals
        column = M.take(cols=np.array([j]))[:, 0]
        u = orthogonal(column, Q)
        length = float(np.linalg.norm(u))
        if length > RANK_TOL * float(np.linalg.norm(column)):
            Q = np.column_stack([Q, u / length])
            residuals = np.maximum(residuals - M.cross(Q[:, -1]) ** 2, 0.0)
        return float(scores[j]), False

    return one_by_one(
        r,
        all_positions(M.shape[1]),
        original,
        lambda: np.where(residuals > 1e-12 * original, scores, 0.0),
        add,
    )


def _volume(M: LocalMatrix, rows: Indices, cols: Indices) -> float:
    """``log |det M(rows, cols)|``."""
    return float(np.linalg.slogdet(M.take(rows, cols))[1])
