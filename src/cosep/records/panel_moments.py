"""PanelMoments: means, spreads and correlations that the prediction of all columns from the selected ones needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.types import Array

# The arrays of the record, and their dimensions.
MOMENTS = {"means": 1, "spreads": 1, "correlations": 2, "largest": 1}


@dataclass(frozen=True, eq=False)
class PanelMoments:
    """Moments of the columns of a matrix, over its rows; a row of weight w counts as w rows.

    They are enough to predict every column from the selected ones by least squares, with an intercept.

    Attributes
    ----------
    n_counted : float
        The number of rows: the sum of their weights.
    means, spreads : ndarray of shape (n,)
        Means and standard deviations of all columns, in the units of the data.
    correlations : ndarray of shape (n, n_cols)
        Of every column with each selected one; 0 for columns that are constant.
    largest : ndarray of shape (n_cols,)
        The largest entry of each selected column.
    """

    n_counted: float
    means: Array
    spreads: Array
    correlations: Array
    largest: Array

    def __post_init__(self) -> None:
        parts: dict[str, NDArray[Any]] = {name: np.asarray(getattr(self, name)) for name in MOMENTS}
        for name, part in parts.items():
            smallest = -1.0 if name == "correlations" else 0.0
            known = part.ndim == MOMENTS[name] and part.dtype.kind == "f" and bool(np.isfinite(part).all())
            if not known or (part < smallest).any():
                msg = f"{name} of PanelMoments must be an array of finite numbers of at least {smallest:g}."
                raise ValueError(msg)
            object.__setattr__(self, name, part.astype(np.float64, copy=False))
        n, r = parts["correlations"].shape
        sizes = {"means": n, "spreads": n, "largest": r}
        if any(len(parts[name]) != size for name, size in sizes.items()) or not self.n_counted > 0:
            msg = "PanelMoments must have n means and spreads, n x r correlations, r largest entries, and rows."
            raise ValueError(msg)

    def check_size(self, n: int, n_cols: int) -> None:
        """Raise ValueError if these are not the moments of n columns and n_cols selected ones."""
        if self.correlations.shape != (n, n_cols):
            msg = f"panel has correlations of shape {self.correlations.shape}, but must have {(n, n_cols)}."
            raise ValueError(msg)
