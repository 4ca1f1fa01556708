"""Checks of the parameter ``preselect``: how many candidate rows and columns to select from."""

from typing import Any

from cosep.matrix.checks import check_positive
from cosep.utils.messages import shown


def check_preselect_pair(value: Any, n_rows: int, n_cols: int) -> tuple[int | None, int | None]:
    """Return how many candidate rows and columns to preselect, to select ``n_rows`` and ``n_cols`` from."""
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        msg = f"preselect={shown(value)} must be None, a whole number, or a pair of these for rows and columns."
        raise ValueError(msg)
    return check_preselect(pair[0], n_rows, "n_rows"), check_preselect(pair[1], n_cols, "n_cols")


def check_preselect(value: Any, selected: int, size_name: str) -> int | None:
    """Return how many candidates to preselect, to select ``selected`` from; None for all."""
    if value is None:
        return None
    count = check_positive(value, "preselect")
    if count < selected:
        msg = f"preselect={value} must be at least {size_name}={selected}; preselect more, or select fewer."
        raise ValueError(msg)
    return count
