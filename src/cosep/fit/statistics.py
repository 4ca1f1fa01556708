"""The first passes over blocks: sums of columns, then rows drawn for the sample by their size in the norm."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.row_uniforms import uniforms
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm
from cosep.utils.types import Array, Indices


class Draw(NamedTuple):
    """How rows are drawn.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    max_drawn : int
        Largest number of rows.
    norm : Norm
        The norm of the model, with the weights of rows.
    """

    seed: int
    max_drawn: int
    norm: Norm


class Drawn(NamedTuple):
    """Rows with the largest priorities; see `cosep.fit.sampling`.

    Attributes
    ----------
    max_drawn : int
        Largest number of drawn rows.
    priorities : ndarray
        The largest priorities, in descending order.
    indices : ndarray of int
        Positions of these rows.
    sizes : ndarray
        Their squared norms, in the norm of the model, times their weights.
    stored : ndarray of int
        How many entries are stored of each of them.
    """

    max_drawn: int
    priorities: Array
    indices: Indices
    sizes: Array
    stored: Indices

    @property
    def has_all(self) -> bool:
        """Whether the drawn rows are all rows that are not zero."""
        return len(self.indices) < self.max_drawn

    def merge(self, others: Sequence[Self]) -> "Drawn":
        """Add the rows drawn from the following rows, and keep those with the largest priorities."""
        priorities, indices, sizes, stored = (
            np.concatenate([part[k] for part in (self, *others)]) for k in range(1, len(self))
        )
        order = np.lexsort((indices, -priorities))[: self.max_drawn]
        return Drawn(self.max_drawn, priorities[order], indices[order], sizes[order], stored[order])

    def fewer(self, max_drawn: int) -> "Drawn":
        """Return at most this many of the rows."""
        _, priorities, indices, sizes, stored = self
        some = slice(max_drawn)
        return Drawn(max_drawn, priorities[some], indices[some], sizes[some], stored[some])


class Statistics(NamedTuple):
    """Sums over all rows.

    Attributes
    ----------
    col_sums : ndarray of shape (n,)
        Weighted sums of the columns.
    n_filled : float
        The number of rows that are not zero: the sum of their weights.
    largest : float
        The largest entry.
    col_counts : ndarray of shape (n,)
        The number of nonzero entries of each column: the sum of the weights of their rows.
    row_squares : float
        The weighted sum of the squared numbers of nonzero entries of the rows.
    drawn : Drawn
    """

    col_sums: Array
    n_filled: float
    largest: float
    col_counts: Array
    row_squares: float
    drawn: Drawn

    def merge(self, others: Sequence[Self]) -> "Statistics":
        """Add the statistics of the following rows."""
        parts = [self, *others]
        return Statistics(
            _sum([part.col_sums for part in parts]),
            sum(part.n_filled for part in parts),
            max(part.largest for part in parts),
            _sum([part.col_counts for part in parts]),
            sum(part.row_squares for part in parts),
            self.drawn.merge([part.drawn for part in others]),
        )


def _sum(arrays: Sequence[Array]) -> Array:
    """Add arrays in order; an overflow is reported later, from the largest entry."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sum(arrays, axis=0))


def statistics(draw: Draw, block: LocalMatrix, start: int) -> Statistics:
    """Return the statistics of one block, and draw rows of it."""
    weights = draw.norm.weights_of(block, slice(start, start + block.shape[0]))
    with np.errstate(over="ignore", invalid="ignore"):
        col_sums, row_sums = block.cross(weights), block.T.sums()
    row_counts, col_counts = block.counts(weights)
    n_filled, row_squares = float(weights[row_sums > 0].sum()), float(weights @ row_counts**2)
    return Statistics(col_sums, n_filled, block.largest(), col_counts, row_squares, drawn_rows(draw, block, start))


def drawn_rows(draw: Draw, block: LocalMatrix, start: int) -> Drawn:
    """Draw rows of one block."""
    m = block.shape[0] if draw.max_drawn else 0
    block, where = block.rows(slice(m)), slice(start, start + m)
    with np.errstate(over="ignore", invalid="ignore"):
        counted = draw.norm.weights_of(block, where) * draw.norm.row_factors(block, where) ** 2
        sizes = counted * block.squared_lengths(draw.norm.cols)
        priorities = sizes / uniforms(np.arange(start, start + m), draw.seed)
    filled = np.flatnonzero(sizes)
    if len(filled) > draw.max_drawn:
        filled = filled[np.argpartition(-priorities[filled], draw.max_drawn - 1)[: draw.max_drawn]]
    order = filled[np.lexsort((filled, -priorities[filled]))]
    return Drawn(draw.max_drawn, priorities[order], order + start, sizes[order], block.stored_per_row()[order])
