"""Results in the floating-point type of the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.types import Array


def narrow(part: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the array in the data type of X, or unchanged if its values are out of the range of that type."""
    largest, range_of = max(part.max(initial=0.0), -part.min(initial=0.0)), np.finfo(dtype)
    fits = largest == 0 or range_of.tiny <= largest <= range_of.max
    return part.astype(dtype, copy=False) if fits else part


def stored(part: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array rounded as by `narrow`, as float64.

    One factor is solved for after the other one was rounded, so that it fits the stored one. Where components depend on
    each other, rounding to float32 afterwards would change their weights by several percent.
    """
    return part if dtype == np.float64 else narrow(part, dtype).astype(np.float64)
