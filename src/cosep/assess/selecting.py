"""Selections from parts of a matrix in the norm of a model, by a method that a user may have passed."""

import warnings
from collections.abc import Callable
from typing import Any

from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import norm_of
from cosep.records.selection import Selection
from cosep.select.method import check_selected, options_for, with_weights
from cosep.utils.types import Array, Indices


def select_from_part(
    M: LocalMatrix,
    part: tuple[Indices, Indices],
    norm: tuple[Any, Array | None],
    select: Callable[..., Selection],
    sizes: tuple[int, int],
    seed: int,
) -> Selection:
    """Return what ``select`` chooses from some rows and columns of M, in the norm of a model of these alone.

    Parameters
    ----------
    M : LocalMatrix
    part : tuple of ndarray of int
        The rows and columns.
    norm : tuple
        The checked ``scaling`` and ``sample_weight`` of all of M.
    select : callable
    sizes : tuple of int
        How many rows and columns to select.
    seed : int
    """
    (rows, cols), (scaling, weights) = part, norm
    if isinstance(scaling, tuple):
        scaling = scaling[0][rows], scaling[1][cols]
    some = M.part(rows, cols)
    counted = None if weights is None else weights[rows]
    norm_of_part = norm_of(some, scaling, counted)._replace(weights=None)
    found = norm_of_part.scaling_of(some)
    A = (some if found is None else found.apply(some)).mantissa
    A, options = with_weights(select, A, norm_of_part.row_factors(some), counted)
    return select_without_warnings(A, select, *sizes, seed, **options)


def select_without_warnings(
    M: LocalMatrix, select: Callable[..., Selection], n_rows: int, n_cols: int, seed: int, **options: Any
) -> Selection:
    """Return the rows and columns that ``select`` chooses. Warnings, such as that it found fewer, are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = select(M.raw, n_rows, n_cols, **options_for(select, random_state=seed), **options)
    return check_selected(chosen, select, ("row_indices", "col_indices"))
