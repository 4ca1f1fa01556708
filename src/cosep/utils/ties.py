"""Choices among numbers that rounding has touched: those that agree to a tolerance are tied, and the first one wins.

The same data in another order of memory, as a sparse matrix, in blocks or in other units gives the same numbers up to
rounding, so that every choice of a largest one must go through this file.
"""

from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from cosep.utils.types import Array, Indices

# Numbers within this share of the largest one are equal up to rounding.
SAME = 1e-9
# Shares, between 0 and 1, that agree in this many digits are equal up to rounding.
SHARE_DIGITS = 9


def near_largest(values: Array, tol: float = SAME, *, scale: float | None = None) -> NDArray[np.bool_]:
    """Tell which values are within ``tol`` of the largest one, along the last axis.

    ``tol`` is relative to the largest value, or to ``scale``.
    """
    most = values.max(axis=-1, keepdims=True)
    return np.asarray(values >= most - tol * (np.abs(most) if scale is None else scale))


def first_largest(values: Array, tol: float = SAME, *, scale: float | None = None) -> Any:
    """Return where the largest value is along the last axis; of those that tie, the first."""
    return near_largest(values, tol, scale=scale).argmax(axis=-1)


def descending(values: Array, tol: float = SAME) -> Indices:
    """Return the positions of the values, largest first; of those that tie, the first.

    A value ties with the largest one that is left if it is within ``tol`` times the largest of all.
    """
    order = np.argsort(-values, kind="stable")
    falling = -values[order]
    reach = tol * float(np.abs(values).max(initial=0.0))
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(falling, falling[start] + reach, side="right"))
        order[start:stop].sort()
        start = stop
    return order


def assigned_components(shares: Array) -> Indices:
    """Return a component for each row, all different, such that the rows have most part in theirs.

    Shares that agree up to rounding are made equal first, so that ties are always decided in the same way.
    """
    relative = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    assigned = scipy.optimize.linear_sum_assignment(np.round(relative, SHARE_DIGITS), maximize=True)[1]
    return np.asarray(assigned, dtype=np.intp)
