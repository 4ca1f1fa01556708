"""The first pass over blocks: sums and norms of columns, and the rows drawn for the sample."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.row_uniforms import uniforms
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices


class Draw(NamedTuple):
    """How rows are drawn.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    max_drawn : int
        Largest number of rows.
    """

    seed: int
    max_drawn: int


class Statistics(NamedTuple):
    """What the first pass finds.

    Attributes
    ----------
    col_sums, col_squares : ndarray of shape (n,)
        Sums and squared norms of the columns.
    largest : float
        The largest entry.
    max_drawn : int
        Largest number of drawn rows.
    priorities : ndarray
        The largest priorities of rows, in descending order; see `cosep.fit.sampling`.
    drawn : ndarray of int
        Positions of these rows.
    squared_norms : ndarray
        Their squared norms.
    stored : ndarray of int
        How many entries are stored of each of them.
    """

    col_sums: Array
    col_squares: Array
    largest: float
    max_drawn: int
    priorities: Array
    drawn: Indices
    squared_norms: Array
    stored: Indices

    @property
    def has_all(self) -> bool:
        """Whether the drawn rows are all rows that are not zero."""
        return len(self.drawn) < self.max_drawn

    def merge(self, others: Sequence[Self]) -> "Statistics":
        """Add the statistics of the following rows."""
        parts = [self, *others]
        priorities, drawn, squared_norms, stored = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("priorities", "drawn", "squared_norms", "stored")
        )
        order = np.lexsort((drawn, -priorities))[: self.max_drawn]
        return Statistics(
            _sum([part.col_sums for part in parts]),
            _sum([part.col_squares for part in parts]),
            max(part.largest for part in parts),
            self.max_drawn,
            priorities[order],
            drawn[order],
            squared_norms[order],
            stored[order],
        )

    def with_fewer(self, max_drawn: int) -> "Statistics":
        """Return the same statistics with at most this many drawn rows."""
        return self._replace(
            max_drawn=max_drawn,
            priorities=self.priorities[:max_drawn],
            drawn=self.drawn[:max_drawn],
            squared_norms=self.squared_norms[:max_drawn],
            stored=self.stored[:max_drawn],
        )


def _sum(arrays: Sequence[Array]) -> Array:
    """Add arrays in order; an overflow is reported later, from the largest entry."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sum(arrays, axis=0))


def statistics(draw: Draw, block: LocalMatrix, start: int) -> Statistics:
    """Return the statistics of one block."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        col_sums = block.sums()
        squared_norms = block.T.squared_norms()
        priorities = squared_norms / uniforms(np.arange(start, start + len(squared_norms)), draw.seed)
        col_squares = block.squared_norms()
    filled = np.flatnonzero(squared_norms)
    if len(filled) > draw.max_drawn:
        filled = filled[np.argpartition(-priorities[filled], draw.max_drawn - 1)[: draw.max_drawn]]
    order = filled[np.lexsort((filled, -priorities[filled]))]
    return Statistics(
        col_sums,
        col_squares,
        block.largest(),
        draw.max_drawn,
        priorities[order],
        order + start,
        squared_norms[order],
        block.stored_per_row()[order],
    )
