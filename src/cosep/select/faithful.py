"""Faithful selection: rows and columns that explain a matrix themselves, without refitted factors.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
w : weights of the rows of X; row i of M is sqrt(w_i) times that of X and stands for w_i copies of it
U : the weights that explain all rows by the chosen ones; S = M(K1,K2) the core
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_nonzero, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.leading import leading_triplets
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import check_weights
from cosep.matrix.validation import as_matrix
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.column_choice import ColumnChoice, core_error
from cosep.select.exchange import exchange
from cosep.select.fixed_rows import best_pair
from cosep.select.pool import Pool, check_pool
from cosep.select.rays import distinct
from cosep.select.starts import best_first, first_choices, first_typical, greedy_basis, topics_of
from cosep.select.warn import warn_if_degenerate, warn_if_fewer
from cosep.solve.pursuit import Positions
from cosep.utils.blas import one_blas_thread
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices

# Largest numbers of rounds of exchanges: by default, and near known topics.
MAX_ITER, NEAR_ITER = 20, 1


def faithful(
    X: Any,
    n_rows: int,
    n_cols: int,
    *,
    sample_weight: Any = None,
    max_iter: int = MAX_ITER,
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose rows and columns with a small ``||X - U X(rows,:)||^2 + ||X - X(:,cols) V'||^2 + 0.3 ||X - U S V'||^2``.

    U and V are the best nonnegative weights of the first two terms, and ``S = X(rows, cols)``: the three errors are
    those of rows, columns and core on their own, without refitting. On a co-separable matrix all three can be zero.

    There are three first choices of each side: that of SPA, the rows (columns) most similar to the components of a
    nonnegative factorization, and a greedy basis of the leading singular vectors. From the pair with the smallest sum,
    chosen rows and columns are exchanged for others: a closed form ranks all of them, the most promising exchanges are
    solved exactly, and those that lower the sum are kept. When there are none on either side, exchanges
    that leave fewer rows and columns of the core all zero are tried in the same way, because such a row adds nothing to
    the core. The search ends when nothing lowers the sum.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Size of the core.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as: the choice is that of X with every row repeated so many times. Rows of
        weight 0 do not count and are not chosen, unless they must be. Default: 1.
    max_iter : int
        Largest number of rounds of exchanges, each of both sides.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        Called as ``callback("topics", iteration, max_iter, relative error)`` during the nonnegative factorization, and
        as ``callback("select", round, max_iter, relative error of the core)`` after the first choice and each round.

    Returns
    -------
    Selection
        ``history`` holds the relative errors of rows, columns and core for the first choice and after each change.

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
    weights = check_weights(sample_weight, M.shape[0])
    M = M if weights is None else M.scaled(np.sqrt(weights), np.ones(M.shape[1]))
    check_nonzero(M)
    of_rows = check_pool(row_pool, n_rows, M.shape[0], side="row_pool", size="n_rows")
    of_cols = check_pool(col_pool, n_cols, M.shape[1], side="col_pool", size="n_cols")
    return _found(M, weights, (of_rows, of_cols), max_iter, (n_rows, n_cols), callback=callback)


def faithful_near(
    X: Any, n_rows: int, n_cols: int, *, topics: tuple[Array, Array], sample_weight: Array | None = None
) -> Selection:
    """Choose rows and columns as `faithful` does, from a first choice that is near known topics.

    ``topics`` are those of the columns, as mixes of rows, and those of the rows, as mixes of columns. The columns and
    the rows that are most similar to them are the only first choice, and there is one round of exchanges, which takes a
    third of the time and finds about the same.
    """
    M = as_matrix(X)
    M = M if sample_weight is None else M.scaled(np.sqrt(sample_weight), np.ones(M.shape[1]))
    pools = check_pool(None, n_rows, M.shape[0]), check_pool(None, n_cols, M.shape[1])
    return _found(M, sample_weight, pools, NEAR_ITER, (n_rows, n_cols), topics=topics)


def _found(
    M: LocalMatrix,
    weights: Array | None,
    pools: tuple[Positions, Positions],
    max_iter: int,
    sizes: tuple[int, int],
    *,
    topics: tuple[Array, Array] | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Return the selection from the rows times the roots of their weights."""
    (n_rows, n_cols), (of_rows, of_cols) = sizes, pools
    with one_blas_thread:
        part = filled(M, of_rows.include, of_cols.include)
        M, w = part.M, _copies(weights, part.rows)
        pools = distinct(M.T, of_rows.within(part.rows), w), distinct(M, of_cols.within(part.cols))
        if topics is None:
            rows, cols = _first_pair(M, sizes, pools, w, callback)
        else:
            rows = first_typical(M.T, n_rows, pools[0], topics[1][part.cols], w)
            cols = first_typical(M, n_cols, pools[1], topics[0][part.rows], np.ones(M.shape[1]))
        history = [_roots(M, rows, cols)]
        unchanged, on_rows = 0, rows.error > cols.error - TIE_TOL
        for step in range(2 * max_iter):
            if callback is not None and step % 2 == 0:
                callback("select", step // 2, max_iter, history[-1][2])
            before = rows, cols
            if on_rows:
                rows = exchange(M.T, pools[0], rows, cols)
            else:
                cols = exchange(M, pools[1], cols, rows)
            if unchanged == 1 and rows is before[0] and cols is before[1]:  # neither side has exchanges
                rows = exchange(M.T, pools[0], rows, cols, to_fill=True)
                cols = exchange(M, pools[1], cols, rows, to_fill=True)
                if rows is before[0] and cols is before[1]:
                    break
            unchanged = unchanged + 1 if rows is before[0] and cols is before[1] else 0
            if unchanged == 0:
                history.append(_roots(M, rows, cols))
            on_rows = not on_rows
    chosen = best_first(M.T, rows, pools[0]), best_first(M, cols, pools[1])
    warn_if_fewer(chosen[0], n_rows, "rows")
    warn_if_fewer(chosen[1], n_cols, "columns")
    warn_if_degenerate(M, *chosen)
    return restore_selection(part, Selection(*chosen, n_iter=len(history) - 1, history=tuple(history)))


def _first_pair(
    M: LocalMatrix, sizes: tuple[int, int], pools: tuple[Positions, Positions], w: Array, callback: Callback | None
) -> tuple[ColumnChoice, ColumnChoice]:
    """Return the pair of first choices of rows and columns with the smallest sum of errors."""
    once, triplets = np.ones(M.shape[1]), leading_triplets(M, min(max(sizes), *M.shape))
    W, V = topics_of(M, max(sizes), triplets, callback, w)
    bases = (
        greedy_basis(M.T, sizes[0], pools[0], triplets[0] * triplets[1], w),
        greedy_basis(M, sizes[1], pools[1], triplets[2] * triplets[1], once),
    )
    return best_pair(
        M,
        first_choices(M.T, sizes[0], pools[0], V, bases[0], (once, w)),
        first_choices(M, sizes[1], pools[1], W, bases[1], (w, once)),
    )


def _copies(weights: Array | None, rows: Indices) -> Array:
    """Return how many copies each of some rows stands for; one where a row of weight zero must be chosen."""
    return np.ones(len(rows)) if weights is None else np.where(weights[rows] > 0, weights[rows], 1.0)


def _roots(M: LocalMatrix, rows: ColumnChoice, cols: ColumnChoice) -> tuple[float, ...]:
    """Return the relative errors of rows, columns and core."""
    return tuple(float(np.sqrt(error)) for error in (rows.error, cols.error, core_error(M, rows, cols)))
