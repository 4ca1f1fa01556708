"""A selector enters, a selector that sees only representatives of the rows and columns leaves."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import as_matrix, check_callback, check_count, check_indices, check_positive, takes
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.preselection import preselect
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import raise_nothing_to_select
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback, Indices

# What a side, the number to select from it, and its pool are called.
ROWS, COLUMNS = ("rows", "n_rows", "row_pool"), ("cols", "n_cols", "col_pool")
ONLY_COLUMNS = ("cols", "r", "pool")
SIZES = {"r", "n_rows", "n_cols"}


class Side(NamedTuple):
    """The columns that a selector sees, what they are multiplied by, how many of them it can choose, and which."""

    indices: Indices
    weights: Array
    most: int
    pool: Pool | None


class Asked(NamedTuple):
    """How many are asked for: as they were named, of rows, of columns; what the sides are called; who splits ``r``."""

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
        How many rows and columns to preselect; None, or as many as there are, keeps all of a side as they are.

    Returns
    -------
    callable
        Takes what the selector takes, and returns positions in X. Where there is a pool, its candidates and the other
        rows (columns) are preselected apart, ``rows`` (``cols``) of each; those that must be included stand for
        themselves. A gap is that of the problem that the selector solved.

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
        asked = _asked(M, sizes, options, selector)
        if not takes(selector, "X", *sizes, **options):
            msg = f"selector={shown(selector)} must take X, {len(asked.by_name)} sizes and the options that are given."
            raise ValueError(msg)
        check_callback(callback)
        by_rows = _shrink(M.T, rows, asked.rows, options.get(asked.row_words[2]), asked.row_words, callback)
        by_cols = _shrink(M, cols, asked.cols, options.get(asked.col_words[2]), asked.col_words, callback)
        pools = ((asked.row_words[2], by_rows.pool), (asked.col_words[2], by_cols.pool))
        granted = _granted(asked, by_rows.most, by_cols.most)
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
        if granted != asked.by_name:
            warn_if_fewer(chosen.row_indices, asked.rows, "rows")
            warn_if_fewer(chosen.col_indices, asked.cols, "columns")
        return replace(
            chosen,
            row_indices=_back(chosen.row_indices, by_rows, "row_indices"),
            col_indices=_back(chosen.col_indices, by_cols, "col_indices"),
        )

    return select


def _parameters(selector: Callable[..., Selection]) -> set[str]:
    """Return the names that a selector takes; none where they cannot be told."""
    try:
        return set(signature(selector).parameters)
    except ValueError:
        return set()


def _asked(
    M: LocalMatrix, sizes: tuple[int | None, ...], options: dict[str, Any], selector: Callable[..., Selection]
) -> Asked:
    """Return how many are asked for, by position or by name; ``r`` counts columns unless the selector can split it."""
    names = {0: (), 1: ("r",), 2: ("n_rows", "n_cols")}.get(len(sizes), ())
    named = {name: options[name] for name in ("r", "n_rows", "n_cols") if name in options}
    by_name = dict(zip(names, sizes, strict=False)) | named
    if len(sizes) > len(names) or not by_name:
        msg = f"sizes={shown(sizes)} must be how many columns to select, or how many rows and how many columns."
        raise ValueError(msg)
    splits = _parameters(selector) >= SIZES
    if "r" in by_name and not splits:
        return Asked(by_name, 0, check_count(by_name["r"], "r", M.shape[1], "n_features"), col_words=ONLY_COLUMNS)
    limits = {"n_rows": (M.shape[0], "n_samples"), "n_cols": (M.shape[1], "n_features")}
    rows, cols = (
        0 if splits and by_name.get(name) is None else check_count(by_name.get(name), name, *limit, least=1 - splits)
        for name, limit in limits.items()
    )
    return Asked(by_name, rows, cols, split=splits)


def _granted(asked: Asked, rows: int, cols: int) -> dict[str, Any]:
    """Return what is asked for, as far as so many rows and columns can provide it."""
    most = {"n_rows": rows, "n_cols": cols, "r": cols + (rows if asked.split else 0)}
    return {name: None if count is None else min(count, most[name]) for name, count in asked.by_name.items()}


def _shrink(
    M: LocalMatrix, n: int | None, r: int, pool: Pool | None, words: tuple[str, str, str], callback: Callback | None
) -> Side:
    """Return what is left of the columns when ``n`` are preselected, of which ``r`` are to be chosen."""
    name, size_name, pool_name = words
    size = M.shape[1]
    positions = check_pool(pool, r, size, side=pool_name, size=size_name)
    free = M.filled_columns()
    if n is None or n >= max(int(free.sum()), 1):
        return Side(np.arange(size), np.ones(size), size, pool)
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
    return Side(left, np.concatenate(weights)[order], len(candidates), kept_pool)


def _block(M: LocalMatrix, rows: Side, cols: Side) -> LocalMatrix:
    """Return the weighted rows and columns that are left."""
    block = M.columns(cols.indices).T.columns(rows.indices).T.scaled(rows.weights, cols.weights)
    if not block.sums().any() and M.sums().any():
        msg = f"The {' x '.join(map(str, block.shape))} rows and columns preselected do not meet; preselect more."
        raise ValueError(msg)
    return block


def _back(positions: Indices | None, side: Side, name: str) -> Indices | None:
    if positions is None:
        return None
    return side.indices[check_indices(positions, f"{name} of the selector", len(side.indices), "the number it saw")]
