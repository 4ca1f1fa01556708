"""Types that many signatures share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Progress of a long computation: stage, step, largest number of steps, and the relative error (nan where it is not
# known yet) or, within one solve, the relative duality gap.
Callback = Callable[[str, int, int, float], None]
# Columns of equal length by name: what pandas.DataFrame takes as it is.
Table = dict[str, NDArray[Any]]
