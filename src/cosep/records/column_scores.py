"""ColumnScores: how well columns were predicted from the selected ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.display import Readable, View, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.types import Array, Indices


@dataclass(frozen=True, eq=False, repr=False)
class ColumnScores(Readable):
    """How well every column was predicted from the selected ones, in given rows.

    Attributes
    ----------
    r2 : ndarray of shape (n,)
        ``1 - (error)^2`` for each column: 1 is exact, 0 as good as the mean of the column in these rows, a worse
        prediction is negative. nan for the selected columns, and for those that are constant in these rows.
    error : ndarray of shape (n,)
        The root of the mean squared error in units of the column's spread, its standard deviation in these rows.
    spread : ndarray of shape (n,)
        In the units of the data.
    col_names : ndarray of str or None
    """

    r2: Array
    error: Array
    spread: Array
    col_names: NDArray[Any] | None = None

    @property
    def scored(self) -> Indices:
        """Positions of the columns that have a score."""
        return np.flatnonzero(~np.isnan(self.r2))

    @property
    def mean(self) -> float:
        """The mean R^2 of the scored columns."""
        return float(np.mean(self.r2[self.scored]))

    @property
    def median(self) -> float:
        """The median R^2 of the scored columns."""
        return float(np.median(self.r2[self.scored]))

    @property
    def unpredictable(self) -> NDArray[Any]:
        """Columns that were predicted no better than by their mean: their names, or positions if there are none."""
        found = self.scored[self.r2[self.scored] <= 0]
        return found if self.col_names is None else np.asarray(self.col_names)[found]

    def _view(self) -> View:
        worst = self.scored[np.argsort(self.r2[self.scored], kind="stable")]
        columns = {
            "column": names_at(worst, self.col_names, "column"),
            "R^2": self.r2[worst],
            "error": self.error[worst],
            "spread": self.spread[worst],
        }
        known = f"{len(worst):,} columns, {len(self.unpredictable):,} of them no better than their mean"
        means = (f"R^2: mean {self.mean:.3f}, median {self.median:.3f}",) if len(worst) else ()
        return View(f"ColumnScores of {known}", means, (grid_of("predicted worst first", columns),))
