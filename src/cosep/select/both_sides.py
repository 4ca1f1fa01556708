"""A selector of columns enters, a selector of rows and columns leaves."""

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from cosep.matrix.checks import as_matrix, check_callback, check_count, check_indices, takes
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection, SelectionWarning
from cosep.select.pool import Pool, check_pool
from cosep.select.spa import warn_if_fewer
from cosep.utils.messages import shown
from cosep.utils.types import Callback, Indices
from cosep.utils.warn import warn


def both_sides(selector: Callable[..., Selection]) -> Callable[..., Selection]:
    """Return ``(X, n_rows, n_cols) -> Selection``: the selector on the transpose of X, and on X, independently.

    ``both_sides(spa)`` is SPA+ of Pan and Ng (2023). A ``row_pool``, a ``col_pool`` and further options go to the
    selector, a ``random_state`` to one that draws random numbers; a ``callback`` is called as
    ``callback("select", step, 2, nan)`` after each side.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import both_sides, spa
    >>> chosen = both_sides(spa)(np.diag([3.0, 2.0, 1.0]), 2, 2)
    >>> chosen.row_indices, chosen.col_indices
    (array([0, 1]), array([0, 1]))
    """
    if not takes(selector, "X", 1):
        msg = f"selector={shown(selector)} must be a function (X, r) -> Selection, such as cosep.spa."
        raise ValueError(msg)
    try:
        draws = "random_state" in signature(selector).parameters
    except ValueError:
        draws = False

    def select(
        X: Any,
        n_rows: int,
        n_cols: int,
        *,
        row_pool: Pool | None = None,
        col_pool: Pool | None = None,
        random_state: Any = None,
        callback: Callback | None = None,
        **options: Any,
    ) -> Selection:
        M = as_matrix(X)
        if random_state is not None and draws:
            options["random_state"] = random_state
        n_rows, n_cols = check_sizes(M, n_rows, n_cols)
        check_callback(callback)
        check_pool(row_pool, n_rows, M.shape[0], side="row_pool", size="n_rows")
        check_pool(col_pool, n_cols, M.shape[1], side="col_pool", size="n_cols")
        sides = ((M.T, n_rows, row_pool), (M, n_cols, col_pool))
        chosen = []
        for step, (side, r, pool) in enumerate(sides, start=1):
            with warnings.catch_warnings():
                # The selector speaks of columns on both sides; what it has to say is said below.
                warnings.simplefilter("ignore", SelectionWarning)
                chosen.append(
                    _of_columns(selector(side.values, r, **_with_pool(options, pool)), selector, side.shape[1])
                )
            if callback is not None:
                callback("select", step, 2, np.nan)
        by_rows, by_cols = chosen
        gaps = [side.gap for side in (by_rows, by_cols) if side.gap is not None]
        warn_if_fewer(by_rows.col_indices, n_rows, "rows")
        warn_if_fewer(by_cols.col_indices, n_cols, "columns")
        warn_if_degenerate(M, by_rows.col_indices, by_cols.col_indices)
        return Selection(
            by_rows.col_indices,
            by_cols.col_indices,
            gap=max(gaps, default=None),
            n_iter=(by_rows.n_iter or 0) + (by_cols.n_iter or 0),
            history=(by_rows.history, by_cols.history),
        )

    return select


def _of_columns(selection: Any, selector: Callable[..., Selection], n: int) -> Selection:
    """Refuse what is no choice of columns."""
    if not isinstance(selection, Selection) or selection.col_indices is None:
        msg = f"selector={shown(selector)} must return a Selection with col_indices, got {shown(selection)}."
        raise ValueError(msg)
    check_indices(selection.col_indices, f"col_indices of selector={shown(selector)}", n, "n")
    return selection


def _with_pool(options: dict[str, Any], pool: Pool | None) -> dict[str, Any]:
    """Return the options, with the pool if there is one: a selector of one's own need not know about pools."""
    return options if pool is None else {**options, "pool": pool}


def check_sizes(M: LocalMatrix, n_rows: Any, n_cols: Any) -> tuple[int, int]:
    """Return both sizes of the core as ints that the matrix can provide."""
    return check_count(n_rows, "n_rows", M.shape[0], "n_samples"), check_count(
        n_cols, "n_cols", M.shape[1], "n_features"
    )


def warn_if_degenerate(M: LocalMatrix, rows: Indices | None, cols: Indices | None) -> None:
    """Say which selected rows or columns are all zero within the core: nothing can be explained through them."""
    core = M.take(rows, cols)
    empty_rows, empty_cols = int((~core.any(axis=1)).sum()), int((~core.any(axis=0)).sum())
    if empty_rows or empty_cols:
        warn(
            f"The core is degenerate: {empty_rows} of the selected rows and {empty_cols} of the selected columns are "
            "all zero in it and explain nothing. Ask for fewer, or select by another method or on scaled data.",
            SelectionWarning,
        )
