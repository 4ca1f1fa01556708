"""Largest values and orders of values that do not depend on rounding: values within a tolerance tie, the first wins.

The same data in another memory order, as a sparse matrix, in blocks or in other units gives the same numbers only up to
rounding. So every choice of a largest value uses this module.
"""

from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from cosep.utils.types import Array, Indices

# Values within this share of the largest one tie with it.
TIE_TOL = 1e-9
# Shares between 0 and 1 tie if they agree in this many digits.
SHARE_DIGITS = 9


def near_largest(values: Array, tol: float = TIE_TOL, *, scale: float | None = None) -> NDArray[np.bool_]:
    """Return which values are within ``tol`` of the largest one, along the last axis.

    ``tol`` is relative to the largest value or, if given, to ``scale``.
    """
    most = values.max(axis=-1, keepdims=True)
    return np.asarray(values >= most - tol * (np.abs(most) if scale is None else scale))


def first_largest(values: Array, tol: float = TIE_TOL, *, scale: float | None = None) -> Any:
    """Return the index of the largest value along the last axis; the first of those that tie."""
    return near_largest(values, tol, scale=scale).argmax(axis=-1)


def descending(values: Array, tol: float = TIE_TOL) -> Indices:
    """Return the positions of the values, largest first; values that tie keep their order.

    A value ties with the largest remaining one if the difference is within ``tol`` times the largest of all.
    """
    order = np.argsort(-values, kind="stable")
    falling = -values[order]
    reach = tol * float(np.abs(values).max(initial=0.0))
    if (np.diff(falling) > reach).all():
        return order
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(falling, falling[start] + reach, side="right"))
        order[start:stop].sort()
        start = stop
    return order


def assigned_components(shares: Array) -> Indices:
    """Return a different component for each row, such that the sum of the rows' shares in them is largest.

    Shares are rounded first, so that ties are always resolved in the same way.
    """
    relative = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    assigned = scipy.optimize.linear_sum_assignment(np.round(relative, SHARE_DIGITS), maximize=True)[1]
    return np.asarray(assigned, dtype=np.intp)
