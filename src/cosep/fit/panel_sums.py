"""Sums over the rows of a matrix, in memory or in blocks, from which the moments of its columns follow.

Rows count by their sample weights alone, not by the norm of the model: decoders are to be right in the units of the
data, where an error counts alike in all rows. Factors of columns do not matter, because each column is predicted on its
own.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.panel_moments import PanelMoments
from cosep.utils.types import Array, Indices

# A column is constant if its variance is a smaller share of its mean square: that is rounding.
MIN_VARIANCE_SHARE = 1e-13


class PanelSums(NamedTuple):
    """Sums over rows x with weights, and their selected columns c.

    Attributes
    ----------
    n_counted : float
        The sum of the weights.
    sums, squares : ndarray of shape (n,)
        Sums of x and of its squares.
    products : ndarray of shape (n, n_cols)
        Sums of ``x c'``.
    largest : ndarray of shape (n_cols,)
        Largest entries of c in rows that count.
    """

    n_counted: float
    sums: Array
    squares: Array
    products: Array
    largest: Array

    def merge(self, others: Sequence[Self]) -> "PanelSums":
        """Add the sums of the following rows."""
        parts = [self, *others]
        return PanelSums(
            n_counted=sum(part.n_counted for part in parts),
            sums=np.sum([part.sums for part in parts], axis=0),
            squares=np.sum([part.squares for part in parts], axis=0),
            products=np.sum([part.products for part in parts], axis=0),
            largest=np.max([part.largest for part in parts], axis=0),
        )

    def moments(self, cols: Indices) -> PanelMoments:
        """Return the moments of all columns; ``cols`` are the selected ones."""
        means = self.sums / self.n_counted
        variances = self.squares / self.n_counted - means**2
        varies = variances > MIN_VARIANCE_SHARE * self.squares / self.n_counted
        spreads = np.sqrt(np.where(varies, variances, 0.0))
        covariances = self.products / self.n_counted - np.outer(means, means[cols])
        inverse = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=varies)
        correlations = np.clip(covariances * inverse[:, None] * inverse[cols], -1.0, 1.0)
        return PanelMoments(float(self.n_counted), np.maximum(means, 0.0), spreads, correlations, self.largest)


NO_SUMS = PanelSums(0.0, np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros(0))


def panel_sums(M: LocalMatrix, cols: Indices, weights: Array | None = None) -> PanelSums:
    """Return the sums of some rows with these weights; None for ones."""
    C = M.take(cols=cols)
    if weights is None:
        n_counted, squares, weighted = float(len(C)), M.squared_norms(), C
        sums = M.sums()
    else:
        n_counted, weighted = float(weights.sum()), C * weights[:, None]
        squares, sums = M.scaled(np.sqrt(weights), np.ones(M.shape[1])).squared_norms(), M.cross(weights)
        C = C[weights > 0]
    return PanelSums(n_counted, sums, squares, M.cross(weighted), C.max(axis=0, initial=0.0))


def moments_in_memory(M: LocalMatrix, cols: Indices, weights: Array | None) -> PanelMoments:
    """Return the moments of a matrix in memory, in the units of the data."""
    found = panel_sums(M.mantissa, cols, weights).moments(cols)
    means, spreads, largest = (M.in_units(part) for part in (found.means, found.spreads, found.largest))
    return PanelMoments(found.n_counted, means, spreads, found.correlations, largest)
