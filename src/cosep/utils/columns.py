"""Checks of columns of numbers, of tables of such columns and of lists of names that a user passes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.messages import shown

# Whole numbers up to this one are exact as floats.
LARGEST_WHOLE = 2**53


def check_column(values: Any, name: str, size: int | None = None, *, least: float | None = None) -> NDArray[np.float64]:
    """Return a list of numbers as an array of ``size`` floats; with ``least``, of whole numbers >= ``least``."""
    column = flat(values)
    kept = np.zeros(0)
    try:
        kept = np.asarray(column, dtype=np.float64)
        good = column is not None and column.dtype.kind in "fiubO"
    except Exception:  # noqa: BLE001 - a value of the user may raise anything
        good = False
    if not good or (size is not None and len(kept) != size):
        msg = f"{name} must be a list of {'' if size is None else f'{size} '}numbers, got {shown(values)}."
        raise ValueError(msg)
    if least is not None and not ((kept >= least) & (kept <= LARGEST_WHOLE) & (kept == np.floor(kept))).all():
        msg = f"{name} must be whole numbers of at least {least:g}, got {shown(values)}."
        raise ValueError(msg)
    return kept


def check_table(table: Any, name: str, columns: Mapping[str, float | None]) -> dict[str, NDArray[Any]]:
    """Return columns of a table as float arrays of equal length, or as int arrays where a least value is given."""
    kept: dict[str, NDArray[Any]] = {}
    for column, least in columns.items():
        try:
            values = table[column]
        except Exception as error:
            msg = f"{name} must be a table with the columns {', '.join(columns)}, got {shown(table)}."
            raise ValueError(msg) from error
        size = len(next(iter(kept.values()))) if kept else None
        kept[column] = check_column(values, f"{name}[{column!r}]", size, least=least)
        if least is not None:
            kept[column] = kept[column].astype(np.intp)
    return kept


def check_names(names: Any, name: str, least: int) -> NDArray[Any] | None:
    """Return a list of at least ``least`` names as an array, or None for None."""
    if names is None:
        return None
    kept = flat(names)
    if kept is None or len(kept) < least:
        msg = f"{name} must be a list of at least {least} names, got {shown(names)}."
        raise ValueError(msg)
    return kept


def flat(values: Any) -> NDArray[Any] | None:
    """Return the values as a one-dimensional array, or None if they are not one."""
    try:
        array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    except Exception:  # noqa: BLE001 - a value of the user may raise anything
        return None
    return array if array.ndim == 1 else None
