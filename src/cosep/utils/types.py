"""Types that many signatures share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Progress callback: stage, step, largest number of steps, and the relative error (nan if it is not known yet) or, in a
# convex solve, the relative duality gap.
Callback = Callable[[str, int, int, float], None]
# Columns of equal length by name, as pandas.DataFrame takes them.
Table = dict[str, NDArray[Any]]
