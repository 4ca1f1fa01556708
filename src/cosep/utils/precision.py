"""Results in the floating-point type of the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.types import Array


def narrow(part: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the array in the type of the data, unless its range is too small; the same array if it has that type."""
    largest, range_of = max(part.max(initial=0.0), -part.min(initial=0.0)), np.finfo(dtype)
    fits = largest == 0 or range_of.tiny <= largest <= range_of.max
    return part.astype(dtype, copy=False) if fits else part


def stored(part: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array as `narrow` rounds it, in float64 again.

    A factor that is solved for after the other one was rounded fits what is kept of that one. Where components depend
    on each other, rounding these to float32 afterwards would change their weights by several percent.
    """
    return part if dtype == np.float64 else narrow(part, dtype).astype(np.float64)
