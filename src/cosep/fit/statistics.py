"""The first pass over blocks: sums of columns, and the rows drawn for the sample."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.row_uniforms import uniforms
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import inverse
from cosep.utils.types import Array, Indices


class Draw(NamedTuple):
    """How rows are drawn.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    max_drawn : int
        Largest number of rows.
    row_power : float
        The power of the sums of rows that the norm of the model divides them by.
    weights : ndarray or None
        Weights of all rows; None for ones.
    """

    seed: int
    max_drawn: int
    row_power: float = 0.0
    weights: Array | None = None


class Statistics(NamedTuple):
    """What the first pass finds.

    Attributes
    ----------
    col_sums : ndarray of shape (n,)
        Weighted sums of the columns.
    n_filled : float
        The number of rows that are not zero: the sum of their weights.
    largest : float
        The largest entry.
    max_drawn : int
        Largest number of drawn rows.
    priorities : ndarray
        The largest priorities of rows, in descending order; see `cosep.fit.sampling`.
    drawn : ndarray of int
        Positions of these rows.
    sizes : ndarray
        Their squared norms, as far as the norm of the model is known before the first pass, times their weights.
    stored : ndarray of int
        How many entries are stored of each of them.
    col_counts : ndarray of shape (n,)
        The number of nonzero entries of each column: the sum of the weights of their rows.
    row_squares : float
        The weighted sum of the squared numbers of nonzero entries of the rows.
    """

    col_sums: Array
    n_filled: float
    largest: float
    max_drawn: int
    priorities: Array
    drawn: Indices
    sizes: Array
    stored: Indices
    col_counts: Array
    row_squares: float

    @property
    def has_all(self) -> bool:
        """Whether the drawn rows are all rows that are not zero."""
        return len(self.drawn) < self.max_drawn

    def merge(self, others: Sequence[Self]) -> "Statistics":
        """Add the statistics of the following rows."""
        parts = [self, *others]
        priorities, drawn, sizes, stored = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("priorities", "drawn", "sizes", "stored")
        )
        order = np.lexsort((drawn, -priorities))[: self.max_drawn]
        return Statistics(
            _sum([part.col_sums for part in parts]),
            sum(part.n_filled for part in parts),
            max(part.largest for part in parts),
            self.max_drawn,
            priorities[order],
            drawn[order],
            sizes[order],
            stored[order],
            _sum([part.col_counts for part in parts]),
            sum(part.row_squares for part in parts),
        )

    def with_fewer(self, max_drawn: int) -> "Statistics":
        """Return the same statistics with at most this many drawn rows."""
        return self._replace(
            max_drawn=max_drawn,
            priorities=self.priorities[:max_drawn],
            drawn=self.drawn[:max_drawn],
            sizes=self.sizes[:max_drawn],
            stored=self.stored[:max_drawn],
        )


def _sum(arrays: Sequence[Array]) -> Array:
    """Add arrays in order; an overflow is reported later, from the largest entry."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sum(arrays, axis=0))


def statistics(draw: Draw, block: LocalMatrix, start: int) -> Statistics:
    """Return the statistics of one block."""
    m = block.shape[0]
    weights = np.ones(m) if draw.weights is None else draw.weights[start : start + m]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        col_sums, row_sums = block.cross(weights), block.T.sums()
        sizes = weights * block.T.squared_norms() * inverse(row_sums) ** (2.0 * draw.row_power)
        priorities = sizes / uniforms(np.arange(start, start + m), draw.seed)
    row_counts, col_counts = block.counts(weights)
    filled = np.flatnonzero(sizes)
    n_filled = float(weights[row_sums > 0].sum())
    if len(filled) > draw.max_drawn:
        filled = filled[np.argpartition(-priorities[filled], draw.max_drawn - 1)[: draw.max_drawn]]
    order = filled[np.lexsort((filled, -priorities[filled]))]
    return Statistics(
        col_sums,
        n_filled,
        block.largest(),
        draw.max_drawn,
        priorities[order],
        order + start,
        sizes[order],
        block.stored_per_row()[order],
        col_counts,
        float(weights @ row_counts**2),
    )
