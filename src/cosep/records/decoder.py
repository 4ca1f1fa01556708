"""Decoder: all columns of a row, predicted from the selected ones, with the error of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.display import Readable, View, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.types import Array, Indices


@dataclass(frozen=True, eq=False, repr=False)
class Decoder(Readable):
    """Predicts a row from its selected columns: ``max(0, min(x, limits) @ weights + intercept)``.

    Attributes
    ----------
    name : str
        "ridge", "nonnegative" or "weights"; see `CoSeparableNMF.complete`.
    col_indices : ndarray of int
        The selected columns, which are returned as they are.
    weights : ndarray of shape (n_cols, n)
        In the units of the data.
    intercept : ndarray of shape (n,)
        In the units of the data.
    limits : ndarray of shape (n_cols,)
        Larger entries of the selected columns count as this much.
    error : ndarray of shape (n,)
        The error to expect of each column in a row that was not fitted: the root of the mean squared error in the rows
        of the fit, divided by the share of degrees of freedom that are left, which estimates leaving out each row in
        turn (generalised cross-validation). In the units of the data; 0 for the selected columns, and nan if there
        were too few rows.
    spread : ndarray of shape (n,)
        The standard deviation of each column in the rows of the fit.
    col_names : ndarray of str or None
    """

    name: str
    col_indices: Indices
    weights: Array
    intercept: Array
    limits: Array
    error: Array
    spread: Array
    col_names: NDArray[Any] | None = None

    @property
    def r2(self) -> Array:
        """The R^2 to expect of each column, ``1 - (error / spread)^2``; nan for one that is constant."""
        varies = self.spread > 0
        ratios = np.divide(self.error, self.spread, out=np.full_like(self.error, np.nan), where=varies)
        with np.errstate(over="ignore"):
            return np.asarray(1.0 - ratios**2)

    @property
    def predicted(self) -> Indices:
        """Positions of the columns that are predicted: all but the selected ones."""
        return np.setdiff1d(np.arange(len(self.spread)), self.col_indices)

    @property
    def unpredictable(self) -> NDArray[Any]:
        """Columns that are predicted no better than by their mean: their names, or positions if there are none."""
        found = self.predicted[self.r2[self.predicted] <= 0]
        return found if self.col_names is None else np.asarray(self.col_names)[found]

    def _view(self) -> View:
        at = self.predicted
        columns = {
            "column": names_at(at, self.col_names, "column"),
            "error": self.error[at],
            "spread": self.spread[at],
            "R^2": self.r2[at],
        }
        title = f"Decoder {self.name!r}: {len(at):,} columns predicted from {len(self.col_indices):,}"
        return View(title, (), (grid_of("error to expect in new rows", columns),))

    def predict(self, C: Array, cols: Indices | None = None) -> Array:
        """Return rows from their selected columns: all columns, or those at the given positions.

        Parameters
        ----------
        C : ndarray of shape (m, n_cols)
        cols : ndarray of int, optional
            Positions of columns, without selected ones.
        """
        W, b = (self.weights, self.intercept) if cols is None else (self.weights[:, cols], self.intercept[cols])
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.asarray(np.minimum(C, self.limits) @ W, dtype=np.float64)
            rows += b
            np.maximum(rows, 0.0, out=rows)
        if cols is None:
            rows[:, self.col_indices] = C
        return rows
