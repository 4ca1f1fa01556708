"""A matrix enters, rows and columns that themselves explain it leave.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
U : the weights that explain all rows by the chosen ones; S = M(K1,K2) the core
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import as_matrix, check_callback, check_nonzero, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes, warn_if_degenerate
from cosep.select.pool import Pool, Positions, check_pool
from cosep.select.pursuit import TIE, largest, several_largest
from cosep.select.rays import distinct
from cosep.select.spa import pursue, spa_weights, warn_if_fewer
from cosep.solve.alternation import Budget, half_squared_error
from cosep.solve.nonnegative import nonnegative
from cosep.solve.plain_nmf import extrapolated
from cosep.utils.ties import TIE_TOL, descending, first_largest
from cosep.utils.types import Array, Callback, Indices

# Accuracy of the factorization whose components the first choice stands for.
TOPICS_TOL, TOPICS_ITER = 3e-4, 100
# What the error of the core counts beside those of rows and columns.
CORE = 1.0
# Columns that are tried in the place of one.
RIVALS = 4
# A round of exchanges that gains a smaller share of the errors is the last.
WORTHWHILE = 1e-3
# Sums of squared errors that differ by less are equal up to rounding.
ROUNDING = 1e-12


class Side(NamedTuple):
    """Chosen columns, the weights of all columns, and what is left, ``||M - A V'||^2 / ||M||^2``."""

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

    U and V are the best nonnegative weights of the first two terms, ``S = X(rows, cols)``: the three errors are those
    of rows, columns and core on their own, nothing being refitted. On a co-separable matrix all three can be zero.

    The first choice of a side is that of SPA, or the real rows (columns) most like the components of a nonnegative
    factorization, whichever has the smaller error. Then every chosen row and column is tried against its four
    strongest rivals, with the others as they are, and what lowers the sum is kept, until a round gains less than a
    thousandth of it.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Size of the core.
    max_iter : int
        Rounds of exchanges at the most.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        Called as ``callback("topics", iteration, most, relative error)`` while topics are sought, and as
        ``callback("select", round, max_iter, relative error of the core)`` after the first choice and each round.

    Returns
    -------
    Selection
        ``history`` holds the relative errors of rows, columns and core for the first choice and each round.

    Notes
    -----
    Deterministic. All-zero rows and columns change nothing. Of rows that are multiples of each other the longest stands
    for all, of those the first; likewise of columns. Transposing X swaps rows and columns.

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
        sums = [pair[0].error + pair[1].error + CORE * error for pair, error in zip(pairs, cores, strict=True)]
        best = int(first_largest(-np.array(sums)))
        if sums[best] >= (1.0 - WORTHWHILE) * (rows.error + cols.error + CORE * core) - ROUNDING:
            break
        (rows, cols), core = pairs[best], cores[best]
        history.append(_roots(rows.error, cols.error, core))
    chosen = _best_first(M.T, rows, pools[0]), _best_first(M, cols, pools[1])
    warn_if_fewer(chosen[0], n_rows, "rows")
    warn_if_fewer(chosen[1], n_cols, "columns")
    warn_if_degenerate(M, *chosen)
    return restore_selection(part, Selection(*chosen, n_iter=len(history) - 1, history=tuple(history)))


def exchange(M: LocalMatrix, positions: Positions, cols: Side, rows: Side) -> Side:
    """Try every chosen column against its rivals: those most like what the others leave of the data it explains."""
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
    for k, rivals, M_D in _products(M, [several_largest(column, RIVALS) for column in likeness.T], chosen):
        S_D = H[:, rivals]
        others = np.arange(r) != k
        rest = V[:, others]
        P = np.maximum(M_D - rest @ M_D[chosen[others]], 0.0) / norms[rivals]
        squares = np.einsum("ij,ij->j", P, P)
        lengths = np.diagonal(M_D[rivals])
        core = np.einsum("ij,ij->j", S_D, M_U.T @ P - U_U @ S[:, others] @ (rest.T @ P))
        # By so much do the errors of columns and core fall, compared with a weight of zero.
        gains = squares * lengths + CORE * (2.0 * core - np.einsum("ij,ij->j", S_D, U_U @ S_D) * squares)
        gains[np.isin(rivals, chosen[others])] = -np.inf
        best = int(first_largest(gains))
        if k < len(positions.include) or gains[best] - gains[0] <= TIE * abs(gains[0]):
            best = 0
        chosen[k], V[:, k], S[:, k] = rivals[best], P[:, best], S_D[:, best]
    return cols if np.array_equal(chosen, cols.chosen) else side_of(M, chosen, V)


def _products(M: LocalMatrix, rivals: list[Indices], chosen: Indices) -> Iterator[tuple[int, Indices, Array]]:
    """Yield each position, its column and that column's rivals, and ``M'`` times these, found for several at once."""
    columns = [np.append(column, others) for column, others in zip(chosen.copy(), rivals, strict=True)]
    size = max(1, BLOCK_ENTRIES // (M.shape[1] * (1 + RIVALS)))
    for start in range(0, len(columns), size):
        block = columns[start : start + size]
        products = np.split(M.gram(np.concatenate(block)), np.cumsum([len(one) for one in block])[:-1], axis=1)
        for k, product in enumerate(products, start):
            yield k, columns[k], product


def side_of(M: LocalMatrix, chosen: Indices, near: Array | None = None) -> Side:
    """Return how well the chosen columns explain all; weights near the best ones make it quicker."""
    A = M.take(cols=chosen)
    B = M.cross(A)
    V = nonnegative(A, B, np.zeros((M.shape[1], len(chosen))) if near is None else near, exact=True)
    return Side(chosen, V, max(2.0 * half_squared_error(M.squared_norm(), A, B, V), 0.0))


def core_error(M: LocalMatrix, rows: Side, cols: Side) -> float:
    """``||M - U S V'||^2 / ||M||^2`` with the weights of both sides."""
    W = rows.V @ M.take(rows.chosen, cols.chosen)
    return max(2.0 * half_squared_error(M.squared_norm(), W, M.cross(W), cols.V), 0.0)


def first_choice(M: LocalMatrix, r: int, positions: Positions, topics: Array) -> Side:
    """Return the columns that SPA picks or those most like the topics, whichever explain more."""
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


def fill_up(M: LocalMatrix, chosen: Indices, r: int, positions: Positions) -> Side:
    """Add the column of which most is left, until there are r or nothing is."""
    norms = M.squared_norms()
    side = side_of(M, chosen)
    while len(side.chosen) < r:
        explained = np.einsum("ij,ij->i", M.cross(M.take(cols=side.chosen)), side.V)
        left = np.where(positions.allowed, norms - explained, 0.0)
        left[side.chosen] = 0.0
        if left.max() <= TIE_TOL * norms.max():
            break
        side = side_of(M, np.append(side.chosen, largest(left, norms)))
    return side


def _best_first(M: LocalMatrix, side: Side, positions: Positions) -> Indices:
    """Return the chosen columns, those that must be included and then those that explain most in front."""
    explained = np.linalg.norm(side.V, axis=0) * np.sqrt(M.squared_norms()[side.chosen])
    given = len(positions.include)
    free = given + np.argsort(side.chosen[given:])
    return np.concatenate([side.chosen[:given], side.chosen[free[descending(explained[free])]]])


def _roots(*errors: float) -> tuple[float, ...]:
    return tuple(float(np.sqrt(error)) for error in errors)
