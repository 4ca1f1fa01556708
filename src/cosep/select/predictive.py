"""Predictive selection: columns from which all others are predicted best, and rows that are faithful given these."""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.faithful import faithful
from cosep.select.pool import Pool
from cosep.select.predictive_columns import predictive_columns
from cosep.utils.types import Callback


def predictive(
    X: Any,
    n_rows: int,
    n_cols: int,
    *,
    sample_weight: Any = None,
    constant: Any = None,
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose columns by `predictive_columns`, then the rows that `faithful` chooses for these columns.

    For panels: to measure a few columns of new rows, and predict the rest by ``CoSeparableNMF.complete``.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        How many rows and columns to select.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as. Default: 1.
    constant : array-like of shape (m,), optional
        See `predictive_columns`; `CoSeparableNMF` passes the factors of the rows in its norm.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        See `faithful`.

    Returns
    -------
    Selection
        ``history`` is that of the columns.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable
    >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.005, random_state=0)
    >>> model = CoSeparableNMF(4, 4, method="predictive").fit(X[:40])
    >>> model.completion_score(X[40:]) > 0.8
    True
    """
    M = as_matrix(X)
    n_rows, n_cols = check_sizes(M, n_rows, n_cols)
    check_callback(callback)
    by_cols = predictive_columns(M, n_cols, sample_weight=sample_weight, constant=constant, pool=col_pool)
    cols = np.asarray(by_cols.col_indices)
    found = faithful(
        M,
        n_rows,
        len(cols),
        sample_weight=sample_weight,
        row_pool=row_pool,
        col_pool=Pool(include=cols),
        callback=callback,
    )
    n_iter = (found.n_iter or 0) + (by_cols.n_iter or 0)
    return Selection(found.row_indices, cols, n_iter=n_iter, history=by_cols.history)
