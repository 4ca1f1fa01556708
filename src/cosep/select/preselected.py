"""Selectors that choose from representatives of the rows and columns only."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_callback, check_count, check_indices, check_positive, takes
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.preselection import preselect
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import raise_nothing_to_select
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback, Indices

# Names, in messages and options, of a side, of the number to select from it, and of its pool.
ROWS, COLUMNS = ("rows", "n_rows", "row_pool"), ("cols", "n_cols", "col_pool")
ONLY_COLUMNS = ("cols", "r", "pool")
SIZES = {"r", "n_rows", "n_cols"}


class Preselected(NamedTuple):
    """The columns that a selector sees.

    Attributes
    ----------
    indices : ndarray of int
        Their positions in the data.
    weights : ndarray
        Their factors.
    most : int
        Number of those that may be chosen.
    pool : Pool or None
        The pool in terms of these columns.
    """

    indices: Indices
    weights: Array
    most: int
    pool: Pool | None


class Sizes(NamedTuple):
    """How many rows and columns to select.

    Attributes
    ----------
    by_name : dict
        The sizes as they were passed.
    rows, cols : int
        Number of rows and of columns; 0 if the selector decides.
    row_words, col_words : tuple of str
        Names of the sides, see `ROWS`.
    split : bool
        Whether the selector splits ``r`` between rows and columns.
    """

    by_name: dict[str, Any]
    rows: int
    cols: int
    row_words: tuple[str, str, str] = ROWS
    col_words: tuple[str, str, str] = COLUMNS
    split: bool = False


def preselected(
    selector: Callable[..., Selection], rows: int | None = None, cols: int | None = None
) -> Callable[..., Selection]:
    """Return the selector, run on ``diag(a) X(I,J) diag(b)`` for representatives I, J of the rows and columns of X.

    The representatives are those of `preselect`, a and b the square roots of the sizes of their clusters, as in
    section 5.2 of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023).

    Parameters
    ----------
    selector : callable
        ``(X, n_rows, n_cols) -> Selection`` or ``(X, r) -> Selection``; for methods that split ``r`` between rows and
        columns, both may be given by name instead.
    rows, cols : int or None
        Number of rows and columns to preselect. Default: None, which keeps all of a side, as does their number.

    Returns
    -------
    callable
        Takes the arguments of the selector, and returns positions in X. With a pool, its candidates and the other
        rows (columns) are preselected separately, ``rows`` (``cols``) of each; those that must be included are kept.
        The gap is that of the problem that the selector solved.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import both_sides, preselected, spa
    >>> X = np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((40, 30)))
    >>> chosen = preselected(both_sides(spa), rows=10, cols=10)(X, 3, 3)
    >>> chosen.row_indices, chosen.col_indices
    (array([ 0, 40, 80]), array([ 0, 30, 60]))
    """
    if not callable(selector):
        msg = f"selector={shown(selector)} must be a function that returns a Selection, such as cosep.cosfgm."
        raise ValueError(msg)
    for name, count in (("rows", rows), ("cols", cols)):
        if count is not None:
            check_positive(count, name)
    if rows is None and cols is None:
        return selector

    def select(X: Any, *sizes: int | None, callback: Callback | None = None, **options: Any) -> Selection:
        M = as_matrix(X)
        wanted = _sizes(M, sizes, options, selector)
        if not takes(selector, "X", *sizes, **options):
            msg = f"selector={shown(selector)} must take X, {len(wanted.by_name)} sizes and the options that are given."
            raise ValueError(msg)
        check_callback(callback)
        by_rows = _shrink(M.T, rows, wanted.rows, options.get(wanted.row_words[2]), wanted.row_words, callback)
        by_cols = _shrink(M, cols, wanted.cols, options.get(wanted.col_words[2]), wanted.col_words, callback)
        pools = ((wanted.row_words[2], by_rows.pool), (wanted.col_words[2], by_cols.pool))
        granted = _granted(wanted, by_rows.most, by_cols.most)
        block = _block(M, by_rows, by_cols).raw
        chosen = selector(
            block,
            *list(granted.values())[: len(sizes)],
            **options
            | {name: granted[name] for name in SIZES & options.keys()}
            | {name: pool for name, pool in pools if pool is not None}
            | ({"callback": callback} if callback is not None and "callback" in _parameters(selector) else {}),
        )
        if not isinstance(chosen, Selection):
            msg = f"selector={shown(selector)} must return a Selection, got {shown(chosen)}."
            raise ValueError(msg)
        if granted != wanted.by_name:
            warn_if_fewer(chosen.row_indices, wanted.rows, "rows")
            warn_if_fewer(chosen.col_indices, wanted.cols, "columns")
        return replace(
            chosen,
            row_indices=_back(chosen.row_indices, by_rows, "row_indices"),
            col_indices=_back(chosen.col_indices, by_cols, "col_indices"),
        )

    return select


def _parameters(selector: Callable[..., Selection]) -> set[str]:
    """Return the names of the parameters of a selector; none for a builtin without a signature."""
    try:
        return set(signature(selector).parameters)
    except ValueError:
        return set()


def _sizes(
    M: LocalMatrix, sizes: tuple[int | None, ...], options: dict[str, Any], selector: Callable[..., Selection]
) -> Sizes:
    """Return the sizes passed by position or by name; ``r`` counts columns unless the selector can split it."""
    names = {0: (), 1: ("r",), 2: ("n_rows", "n_cols")}.get(len(sizes), ())
    named = {name: options[name] for name in ("r", "n_rows", "n_cols") if name in options}
    by_name = dict(zip(names, sizes, strict=False)) | named
    if len(sizes) > len(names) or not by_name:
        msg = f"sizes={shown(sizes)} must be how many columns to select, or how many rows and how many columns."
        raise ValueError(msg)
    splits = _parameters(selector) >= SIZES
    if "r" in by_name and not splits:
        return Sizes(by_name, 0, check_count(by_name["r"], "r", M.shape[1], "n_features"), col_words=ONLY_COLUMNS)
    limits = {"n_rows": (M.shape[0], "n_samples"), "n_cols": (M.shape[1], "n_features")}
    rows, cols = (
        0 if splits and by_name.get(name) is None else check_count(by_name.get(name), name, *limit, least=1 - splits)
        for name, limit in limits.items()
    )
    return Sizes(by_name, rows, cols, split=splits)


def _granted(sizes: Sizes, rows: int, cols: int) -> dict[str, Any]:
    """Return the sizes, limited by the number of rows and columns that may be chosen."""
    most = {"n_rows": rows, "n_cols": cols, "r": cols + (rows if sizes.split else 0)}
    return {name: None if count is None else min(count, most[name]) for name, count in sizes.by_name.items()}


def _shrink(
    M: LocalMatrix, n: int | None, r: int, pool: Pool | None, words: tuple[str, str, str], callback: Callback | None
) -> Preselected:
    """Return ``n`` preselected columns, of which ``r`` are to be chosen."""
    name, size_name, pool_name = words
    size = M.shape[1]
    positions = check_pool(pool, r, size, side=pool_name, size=size_name)
    free = M.filled_columns()
    if n is None or n >= max(int(free.sum()), 1):
        return Preselected(np.arange(size), np.ones(size), size, pool)
    if n < r:
        msg = f"{name}={n} to preselect must be at least {size_name}={r}; preselect more, or select fewer."
        raise ValueError(msg)
    free[positions.include] = False
    indices, weights = [positions.include], [np.ones(len(positions.include))]
    for group in (free & positions.allowed, free & ~positions.allowed):
        members = np.flatnonzero(group)
        if len(members):
            kept = preselect(M.columns(members), min(n, len(members)), callback=callback)
            indices.append(members[kept.representatives])
            weights.append(kept.weights)
    left = np.concatenate(indices)
    order = np.argsort(left)
    left = left[order]
    candidates = np.flatnonzero(positions.allowed[left])
    if len(candidates) == 0:
        raise_nothing_to_select()
    kept_pool = None if pool is None else Pool(candidates, np.searchsorted(left, positions.include))
    return Preselected(left, np.concatenate(weights)[order], len(candidates), kept_pool)


def _block(M: LocalMatrix, rows: Preselected, cols: Preselected) -> LocalMatrix:
    """Return the preselected rows and columns with their weights."""
    block = M.columns(cols.indices).T.columns(rows.indices).T.scaled(rows.weights, cols.weights)
    if not block.sums().any() and M.sums().any():
        msg = f"The {' x '.join(map(str, block.shape))} block of preselected rows and columns is zero; preselect more."
        raise ValueError(msg)
    return block


def _back(positions: Indices | None, side: Preselected, name: str) -> Indices | None:
    if positions is None:
        return None
    return side.indices[check_indices(positions, f"{name} of the selector", len(side.indices), "the number it saw")]
