"""Larger models that keep the rows and columns that a model has selected."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cosep.matrix.checks import check_count
from cosep.matrix.local import LocalMatrix
from cosep.matrix.observed import Observed
from cosep.matrix.row_blocks import RowBlocks
from cosep.select.method import Method
from cosep.select.pool import Pool, check_is_pool
from cosep.utils.messages import counted, shown
from cosep.utils.types import Indices

# Entries of X that differ by less, relative to the largest of those compared, are the same in float32 and float64.
SAME_ENTRY_TOL = 1e-5

Model = TypeVar("Model", bound=BaseEstimator)


class GrownSide(NamedTuple):
    """The rows or the columns of a model that is to become larger.

    Attributes
    ----------
    size, pool : str
        The names of the parameters with their number, and with their pool.
    asked : int or None
        How many there are to be; None for as many as there are.
    chosen : ndarray of int
        Those that are selected already.
    indices : str
        The name of the attribute with those that are selected.
    limit : int
        How many X has.
    limit_name : str
        What their number is called, "n_samples" or "n_features".
    """

    size: str
    pool: str
    asked: Any
    chosen: Indices
    indices: str
    limit: int
    limit_name: str

    def number(self) -> int:
        """Return how many to select."""
        now = len(self.chosen)
        if self.limit_name == "n_samples" and self.limit <= self.chosen.max():
            msg = (
                f"X has {counted(self.limit, 'row')}, but row {self.chosen.max()} is selected; pass the rows of the "
                "fit in the same order, with new rows after them."
            )
            raise ValueError(msg)
        if self.asked is None:
            return now
        number = check_count(self.asked, self.size, self.limit, self.limit_name)
        if number < now:
            msg = f"{self.size}={number} must be at least {now}, the number that is selected and stays; ask for more."
            raise ValueError(msg)
        return number


def larger_model(model: Model, sides: Sequence[GrownSide], selector: Any, method: Method) -> Model:
    """Return a model that is not fitted, with larger sizes, and pools that include what is selected already."""
    parameters = signature(selector).parameters
    missing = [side.pool for side in sides if side.pool not in parameters]
    if missing:
        msg = (
            f"method={shown(method)} cannot keep what is selected: it has no parameter {' and '.join(missing)}; call "
            "set_params(method=...) with a method that has it, and grow the model again."
        )
        raise ValueError(msg)
    changed: dict[str, Any] = {}
    for side in sides:
        changed[side.size] = side.number()
        pool = getattr(model, side.pool)
        if pool is not None:
            check_is_pool(pool, side.pool)
        changed[side.pool] = Pool(None if pool is None else pool.candidates, side.chosen)
    larger: Model = type(model)(**{**model.get_params(deep=False), **changed})
    return larger


def check_kept(model: Model, sides: Sequence[GrownSide], method: Method) -> Model:
    """Return a fitted model that begins with what was selected before; raise ValueError for another one."""
    for side in sides:
        if not np.array_equal(getattr(model, side.indices)[: len(side.chosen)], side.chosen):
            msg = f"method={shown(method)} must select {side.pool}.include first and in this order; use another method."
            raise ValueError(msg)
    return model


def check_same_entries(
    matrix: LocalMatrix | Observed | RowBlocks, rows: Indices, cols: Any, entries: NDArray[Any]
) -> None:
    """Raise ValueError unless some rows of a matrix have these entries in these columns (None for all)."""
    if not has_same_entries(matrix, rows, cols, entries):
        msg = (
            "X has other entries in the selected rows than the data of the fit; pass the rows of the fit in the same "
            "order, with new rows after them, or fit a new model to other data with a pool of columns."
        )
        raise ValueError(msg)


def has_same_entries(
    matrix: LocalMatrix | Observed | RowBlocks, rows: Indices, cols: Any, entries: NDArray[Any]
) -> bool:
    """Return whether some rows of a matrix have these entries in these columns (None for all), up to rounding."""
    if isinstance(matrix, Observed):
        gaps = matrix.is_gap(rows, np.arange(matrix.shape[1]) if cols is None else cols)
        matrix, entries = matrix.zeroed, np.where(gaps, 0.0, entries)
    some = matrix.rows(rows)
    found = some.in_units(some.take(cols=cols))
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(found - entries).max(initial=0.0)
    return bool(apart <= SAME_ENTRY_TOL * np.abs(entries).max(initial=0.0))
