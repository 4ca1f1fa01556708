"""Faithful selection: rows and columns that explain a matrix themselves, without refitted factors.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
U : the weights that explain all rows by the chosen ones; S = M(K1,K2) the core
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_callback, check_nonzero, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.pool import Pool, check_pool
from cosep.select.rays import distinct
from cosep.select.warn import warn_if_degenerate, warn_if_fewer
from cosep.solve.alternation import Budget, half_squared_error
from cosep.solve.nonnegative import nonnegative
from cosep.solve.plain_nmf import extrapolated
from cosep.solve.pursuit import MERIT_TIE_TOL, Positions, largest, several_largest
from cosep.solve.successive_projections import pursue, spa_weights
from cosep.utils.ties import TIE_TOL, descending, first_largest
from cosep.utils.types import Array, Callback, Indices

# Stopping rule of the nonnegative factorization whose components (topics) the first choice represents.
TOPICS_TOL, TOPICS_ITER = 3e-4, 100
# Weight of the error of the core relative to those of rows and columns.
CORE_WEIGHT = 1.0
# Number of columns that are tried in place of a chosen one.
N_RIVALS = 4
# The exchanges stop when a round lowers the sum of errors by a smaller share.
MIN_GAIN = 1e-3
# Sums of squared errors that differ by less are equal.
EQUAL_ERROR_TOL = 1e-12


class ColumnChoice(NamedTuple):
    """Chosen columns, and how well they explain all columns.

    Attributes
    ----------
    chosen : ndarray of int
    V : ndarray
        Nonnegative weights of the chosen columns in all columns.
    error : float
        ``||M - A V'||^2 / ||M||^2``.
    """

    chosen: Indices
    V: Array
    error: float


def faithful(
    X: Any,
    n_rows: int,
    n_cols: int,
    *,
    max_iter: int = 20,
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose rows and columns with a small ``||X - U X(rows,:)||^2 + ||X - X(:,cols) V'||^2 + ||X - U S V'||^2``.

    U and V are the best nonnegative weights of the first two terms, and ``S = X(rows, cols)``: the three errors are
    those of rows, columns and core on their own, without refitting. On a co-separable matrix all three can be zero.

    The first choice of a side is that of SPA, or the rows (columns) most similar to the components of a nonnegative
    factorization, whichever has the smaller error. Then each chosen row and column is compared with the four strongest
    candidates to replace it, the others being fixed, and an exchange that lowers the sum is kept. This is repeated
    until a round lowers the sum by less than a thousandth.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Size of the core.
    max_iter : int
        Largest number of rounds of exchanges.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        Called as ``callback("topics", iteration, max_iter, relative error)`` during the nonnegative factorization, and
        as ``callback("select", round, max_iter, relative error of the core)`` after the first choice and each round.

    Returns
    -------
    Selection
        ``history`` holds the relative errors of rows, columns and core for the first choice and each round.

    Notes
    -----
    The result is deterministic and does not depend on all-zero rows and columns. Of rows that are multiples of each
    other only the longest can be chosen, the first of equally long ones; likewise for columns. Transposing X swaps rows
    and columns.

    Examples
    --------
    >>> from cosep import faithful
    >>> from cosep.datasets import make_coseparable
    >>> from cosep.metrics import index_accuracy
    >>> X, truth = make_coseparable(30, 20, 4, 4, random_state=0)
    >>> index_accuracy(faithful(X, 4, 4), truth)
    1.0
    """
    M = as_matrix(X)
    n_rows, n_cols = check_sizes(M, n_rows, n_cols)
    max_iter = check_positive(max_iter)
    check_callback(callback)
    check_nonzero(M)
    of_rows = check_pool(row_pool, n_rows, M.shape[0], side="row_pool", size="n_rows")
    of_cols = check_pool(col_pool, n_cols, M.shape[1], side="col_pool", size="n_cols")
    part = filled(M, of_rows.include, of_cols.include)
    M = part.M
    pools = distinct(M.T, of_rows.within(part.rows)), distinct(M, of_cols.within(part.cols))
    W, V = extrapolated(M, max(n_rows, n_cols), Budget("topics", TOPICS_ITER, TOPICS_TOL, callback))
    rows, cols = first_choice(M.T, n_rows, pools[0], V), first_choice(M, n_cols, pools[1], W)
    core = core_error(M, rows, cols)
    history = [_roots(rows.error, cols.error, core)]
    for step in range(max_iter):
        if callback is not None:
            callback("select", step, max_iter, history[-1][2])
        others = exchange(M.T, pools[0], rows, cols), exchange(M, pools[1], cols, rows)
        if others[0] is rows and others[1] is cols:
            break
        pairs = [(rows, others[1]), (others[0], cols), others]
        cores = [core_error(M, *pair) for pair in pairs]
        sums = [pair[0].error + pair[1].error + CORE_WEIGHT * error for pair, error in zip(pairs, cores, strict=True)]
        best = int(first_largest(-np.array(sums)))
        if sums[best] >= (1.0 - MIN_GAIN) * (rows.error + cols.error + CORE_WEIGHT * core) - EQUAL_ERROR_TOL:
            break
        (rows, cols), core = pairs[best], cores[best]
        history.append(_roots(rows.error, cols.error, core))
    chosen = _best_first(M.T, rows, pools[0]), _best_first(M, cols, pools[1])
    warn_if_fewer(chosen[0], n_rows, "rows")
    warn_if_fewer(chosen[1], n_cols, "columns")
    warn_if_degenerate(M, *chosen)
    return restore_selection(part, Selection(*chosen, n_iter=len(history) - 1, history=tuple(history)))


def exchange(M: LocalMatrix, positions: Positions, cols: ColumnChoice, rows: ColumnChoice) -> ColumnChoice:
    """Compare each chosen column with its rivals, the columns most similar to the data that it alone explains."""
    A, V, U = M.take(cols=cols.chosen), cols.V.copy(), rows.V
    chosen, norms, r = cols.chosen.copy(), M.squared_norms(), len(cols.chosen)
    norms[norms == 0] = np.inf
    M_U, U_U = M.cross(U), U.T @ U
    H = M.take(rows=rows.chosen)
    S = H[:, chosen]
    explains = np.where(V.any(axis=0), V, 1.0)
    left = M.dot(explains) - A @ (V.T @ explains) + A * np.einsum("ij,ij->j", V, explains)
    likeness = M.cross(np.maximum(left, 0.0)) / np.sqrt(norms)[:, None]
    likeness[~positions.allowed] = 0.0
    likeness[chosen] = 0.0
    for k, rivals, M_D in _products(M, [several_largest(column, N_RIVALS) for column in likeness.T], chosen):
        S_D = H[:, rivals]
        others = np.arange(r) != k
        rest = V[:, others]
        P = np.maximum(M_D - rest @ M_D[chosen[others]], 0.0) / norms[rivals]
        squares = np.einsum("ij,ij->j", P, P)
        lengths = np.diagonal(M_D[rivals])
        core = np.einsum("ij,ij->j", S_D, M_U.T @ P - U_U @ S[:, others] @ (rest.T @ P))
        # Decrease of the errors of columns and core, compared with a weight of zero.
        gains = squares * lengths + CORE_WEIGHT * (2.0 * core - np.einsum("ij,ij->j", S_D, U_U @ S_D) * squares)
        gains[np.isin(rivals, chosen[others])] = -np.inf
        best = int(first_largest(gains))
        if k < len(positions.include) or gains[best] - gains[0] <= MERIT_TIE_TOL * abs(gains[0]):
            best = 0
        chosen[k], V[:, k], S[:, k] = rivals[best], P[:, best], S_D[:, best]
    return cols if np.array_equal(chosen, cols.chosen) else explained_by(M, chosen, V)


def _products(M: LocalMatrix, rivals: list[Indices], chosen: Indices) -> Iterator[tuple[int, Indices, Array]]:
    """Yield each position, its column with the rivals, and ``M'`` times these, computed for several at once."""
    columns = [np.append(column, others) for column, others in zip(chosen.copy(), rivals, strict=True)]
    size = max(1, BLOCK_ENTRIES // (M.shape[1] * (1 + N_RIVALS)))
    for start in range(0, len(columns), size):
        block = columns[start : start + size]
        products = np.split(M.gram(np.concatenate(block)), np.cumsum([len(one) for one in block])[:-1], axis=1)
        for k, product in enumerate(products, start):
            yield k, columns[k], product


def explained_by(M: LocalMatrix, chosen: Indices, near: Array | None = None) -> ColumnChoice:
    """Return how well the chosen columns explain all; a good start ``near`` for the weights saves time."""
    A = M.take(cols=chosen)
    B = M.cross(A)
    V = nonnegative(A, B, np.zeros((M.shape[1], len(chosen))) if near is None else near, exact=True)
    return ColumnChoice(chosen, V, max(2.0 * half_squared_error(M.squared_norm(), A, B, V), 0.0))


def core_error(M: LocalMatrix, rows: ColumnChoice, cols: ColumnChoice) -> float:
    """``||M - U S V'||^2 / ||M||^2`` with the weights of both sides."""
    W = rows.V @ M.take(rows.chosen, cols.chosen)
    return max(2.0 * half_squared_error(M.squared_norm(), W, M.cross(W), cols.V), 0.0)


def first_choice(M: LocalMatrix, r: int, positions: Positions, topics: Array) -> ColumnChoice:
    """Return the columns that SPA chooses or those most similar to the topics, whichever explain more."""
    norms, lengths = M.squared_norms(), np.linalg.norm(topics, axis=0)
    likeness = M.cross(topics) / np.sqrt(np.where(norms > 0, norms, np.inf))[:, None] / np.where(lengths, lengths, 1.0)
    likeness[~positions.allowed] = 0.0
    chosen = positions.include.tolist()
    for k in descending(likeness.max(axis=0)):
        likeness[chosen, k] = 0.0
        if len(chosen) < r and likeness[:, k].any():
            chosen.append(largest(likeness[:, k], norms))
    choices = pursue(M, r, spa_weights(M), positions=positions)[0], np.array(chosen, dtype=np.intp)
    extreme, typical = (fill_up(M, choice, r, positions) for choice in choices)
    return typical if typical.error < extreme.error - TIE_TOL else extreme


def fill_up(M: LocalMatrix, chosen: Indices, r: int, positions: Positions) -> ColumnChoice:
    """Add the column with the largest residual until there are r, or until nothing is left to explain."""
    norms = M.squared_norms()
    choice = explained_by(M, chosen)
    while len(choice.chosen) < r:
        explained = np.einsum("ij,ij->i", M.cross(M.take(cols=choice.chosen)), choice.V)
        left = np.where(positions.allowed, norms - explained, 0.0)
        left[choice.chosen] = 0.0
        if left.max() <= TIE_TOL * norms.max():
            break
        choice = explained_by(M, np.append(choice.chosen, largest(left, norms)))
    return choice


def _best_first(M: LocalMatrix, choice: ColumnChoice, positions: Positions) -> Indices:
    """Return the chosen columns: first those that must be included, then the others by how much they explain."""
    explained = np.linalg.norm(choice.V, axis=0) * np.sqrt(M.squared_norms()[choice.chosen])
    given = len(positions.include)
    free = given + np.argsort(choice.chosen[given:])
    return np.concatenate([choice.chosen[:given], choice.chosen[free[descending(explained[free])]]])


def _roots(*errors: float) -> tuple[float, ...]:
    return tuple(float(np.sqrt(error)) for error in errors)
