"""Passes over rows that predict them from their selected columns, and measure the error of each column."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.column_scores import ColumnScores
from cosep.records.decoder import Decoder
from cosep.utils.types import Array

# A column is constant if its variance is a smaller share of its mean squared difference from the mean in the fit.
ROUNDING = 1e-12


class ScoreSums(NamedTuple):
    """Sums over rows, for the columns that are predicted, in units that do not overflow.

    Attributes
    ----------
    n_rows : int
    deviations, squares : ndarray
        Of the differences of the entries from the mean in the fit, and of their squares.
    errors : ndarray
        Of the squared errors.
    """

    n_rows: int
    deviations: Array
    squares: Array
    errors: Array

    def merge(self, others: Sequence[Self]) -> "ScoreSums":
        """Add the sums of the following rows."""
        parts = [self, *others]
        sums = (np.sum(same, axis=0) for same in list(zip(*parts, strict=True))[1:])
        return ScoreSums(sum(part.n_rows for part in parts), *sums)


class Judged(NamedTuple):
    """A decoder, and a center and a scale of each column that it predicts, for sums without cancellation."""

    decoder: Decoder
    centers: Array
    scales: Array


def judged(decoder: Decoder, means: Array) -> Judged:
    """Return a decoder with the centers and scales of its columns, whose means in the fit are given."""
    cols = decoder.predicted
    spread, center = decoder.spread[cols], means[cols]
    return Judged(decoder, center, np.where(spread > 0, spread, np.where(center > 0, center, 1.0)))


def score_sums(state: Judged, block: LocalMatrix, _start: int) -> ScoreSums:
    """Predict the rows of one block, and sum over them; only a few rows are dense at a time."""
    n_rows, sums = 0, np.zeros((3, len(state.decoder.predicted)))
    for _, rows in block.dense_blocks():
        n_rows += len(rows)
        sums += _sums_of(state, block.in_units(rows))
        del rows  # arrays of this size are the memory that this needs
    return ScoreSums(n_rows, *sums)


def _sums_of(state: Judged, X: Array) -> Array:
    """Return the three sums over a few dense rows, which are overwritten."""
    decoder, cols = state.decoder, state.decoder.predicted
    centers, scales = np.zeros(X.shape[1]), np.ones(X.shape[1])
    centers[cols], scales[cols] = state.centers, state.scales
    with np.errstate(over="ignore", invalid="ignore"):
        off = decoder.predict(X[:, decoder.col_indices])
        off -= X
        off /= scales
        errors = np.einsum("ij,ij->j", off, off)
        del off
        X -= centers
        X /= scales
        sums = np.stack([X.sum(axis=0), np.einsum("ij,ij->j", X, X), errors])
    return np.asarray(sums[:, cols])


def column_scores(state: Judged, found: ScoreSums) -> ColumnScores:
    """Return the scores of all columns from sums over all rows."""
    decoder = state.decoder
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean, squares = found.deviations / found.n_rows, found.squares / found.n_rows
        variance = squares - mean**2
        varies = variance > ROUNDING * squares
        ratios = np.where(varies, found.errors / found.n_rows / variance, np.nan)
        spreads = state.scales * np.sqrt(np.where(varies, variance, 0.0))
    r2, error, spread = (np.full(len(decoder.spread), np.nan) for _ in range(3))
    r2[decoder.predicted], error[decoder.predicted], spread[decoder.predicted] = 1.0 - ratios, np.sqrt(ratios), spreads
    return ColumnScores(r2, error, spread, decoder.col_names)


def block_predictions(decoder: Decoder, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Predict all columns of the rows of one block, which has the selected columns only."""
    return (decoder.predict(block.in_units(block.take())),)
