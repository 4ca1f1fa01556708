"""Faithful selection of columns alone: columns that explain all others.

Notation
--------
M : data; A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_count, check_nonzero, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.leading import leading_triplets
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.exchange import exchange
from cosep.select.greedy import greedy_columns
from cosep.select.pool import Pool, check_pool
from cosep.select.rays import distinct
from cosep.select.starts import best_first, first_choices, topics_of
from cosep.select.warn import warn_if_fewer
from cosep.utils.ties import first_largest
from cosep.utils.types import Callback


def faithful_columns(
    X: Any, r: int, *, max_iter: int = 20, pool: Pool | None = None, callback: Callback | None = None
) -> Selection:
    """Choose ``r`` columns with a small ``||X - X(:,cols) V'||^2`` over all nonnegative weights V.

    The same search as that of `faithful`, for one side: the best of three first choices, one of them that of `greedy`,
    then exchanges of one column for another that lower the error, until none does.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    max_iter : int
        Largest number of rounds of exchanges.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.
    callback : callable, optional
        Called as ``callback("topics", iteration, max_iter, relative error)`` during the nonnegative factorization of
        the start, and as ``callback("select", round, max_iter, relative error)`` after the first choice and each round.

    Returns
    -------
    Selection
        ``col_indices``, first those that must be included, then the others by how much they explain; ``history`` holds
        the relative error of the first choice and of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import faithful_columns
    >>> faithful_columns(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    max_iter = check_positive(max_iter)
    check_callback(callback)
    check_nonzero(M)
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    M = part.M
    positions = distinct(M, positions.within(part.cols))
    once = np.ones(M.shape[0]), np.ones(M.shape[1])
    triplets = leading_triplets(M, min(r, *M.shape))
    topics = topics_of(M, r, triplets, callback)[0]
    choices = first_choices(M, r, positions, topics, greedy_columns(M, r, positions)[0], once)
    cols = choices[int(first_largest(-np.array([choice.error for choice in choices]), scale=1.0))]
    history = [float(np.sqrt(cols.error))]
    for step in range(max_iter):
        if callback is not None:
            callback("select", step, max_iter, history[-1])
        others = exchange(M, positions, cols, None)
        if others is cols:
            break
        cols = others
        history.append(float(np.sqrt(cols.error)))
    chosen = best_first(M, cols, positions)
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(history) - 1, history=tuple(history))
