"""All blocks enter in one pass; sums, norms and a random sample of rows leave.

Notation
--------
w_i : squared norm of row i; u_i : a random number in (0, 1) that belongs to row i, whatever block it is in
w_i / u_i : its priority; the rows with the largest ones are the sample
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices


class Drawing(NamedTuple):
    """How rows are drawn: the seed of their random numbers, and how many at the most."""

    seed: int
    most: int


class Statistics(NamedTuple):
    """What one pass tells of a matrix: sums and squared norms of columns, the largest entry.

    Of the rows with the largest priorities, at most so many, largest first: priorities, positions, squared norms, and
    how many entries are stored of each.
    """

    sums: Array
    squares: Array
    largest: float
    most: int
    priorities: Array
    drawn: Indices
    sizes: Array
    stored: Indices

    def merge(self, others: Sequence[Self]) -> "Statistics":
        """Add following rows."""
        parts = [self, *others]
        priorities, drawn, sizes, stored = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("priorities", "drawn", "sizes", "stored")
        )
        order = np.lexsort((drawn, -priorities))[: self.most]
        return Statistics(
            _sum([part.sums for part in parts]),
            _sum([part.squares for part in parts]),
            max(part.largest for part in parts),
            self.most,
            priorities[order],
            drawn[order],
            sizes[order],
            stored[order],
        )

    def with_fewer(self, most: int) -> "Statistics":
        """Return the same with no more drawn rows than this."""
        return self._replace(
            most=most,
            priorities=self.priorities[:most],
            drawn=self.drawn[:most],
            sizes=self.sizes[:most],
            stored=self.stored[:most],
        )


def _sum(arrays: Sequence[Array]) -> Array:
    """Add in order; what leaves the range of floats is told by the largest entry."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sum(arrays, axis=0))


def statistics(drawing: Drawing, block: LocalMatrix, start: int) -> Statistics:
    """Return the statistics of one block."""
    entries = block.values.data if block.is_sparse else block.values
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        sums = block.sums()
        sizes = block.T.squared_norms()
        priorities = sizes / uniforms(np.arange(start, start + len(sizes)), drawing.seed)
        squares = block.squared_norms()
    filled = np.flatnonzero(sizes)
    if len(filled) > drawing.most:
        filled = filled[np.argpartition(-priorities[filled], drawing.most - 1)[: drawing.most]]
    order = filled[np.lexsort((filled, -priorities[filled]))]
    stored = np.diff(block.values.indptr) if block.is_sparse else np.full(block.shape[0], block.shape[1])
    return Statistics(
        sums,
        squares,
        float(entries.max(initial=0.0)),
        drawing.most,
        priorities[order],
        order + start,
        sizes[order],
        stored[order],
    )


def uniforms(positions: Indices, seed: int) -> Array:
    """Return a number in (0, 1) for each position: always the same one for a seed, and as good as random.

    The mixing function of splitmix64: G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014, doi:10.1145/2660193.2660195.
    """
    z = positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + _mixed(np.array([seed + 1], dtype=np.uint64))
    return np.asarray(((_mixed(z) >> np.uint64(11)) + 0.5) * 2.0**-53)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


class Sample(NamedTuple):
    """Rows that stand for all: positions in ascending order, and by how many rows like itself each counts."""

    indices: Indices
    counts: Array


def sample_of(found: Statistics, size: int, certain: Indices) -> Sample:
    """Return the rows that are certain to be in, each counting for itself, and a sample of the others.

    A sum over all rows of ``w_i f_i`` has the same expected value as the sum over the sample, each term times
    ``max(1, t / w_i)`` with the next priority t: N. Duffield, C. Lund and M. Thorup, J. ACM 54(6), 2007,
    doi:10.1145/1314690.1314696. Where the sample has room for all rows, each counts once.
    """
    others = ~np.isin(found.drawn, certain)
    priorities, drawn, sizes = found.priorities[others], found.drawn[others], found.sizes[others]
    # The rows that are certain take room from what was drawn, so that one more than can be kept may be left.
    kept = min(size, max(found.most - 1 - int((~others).sum()), 0)) if len(found.drawn) == found.most else size
    next_one = priorities[kept] if len(priorities) > kept else 0.0
    indices = np.concatenate([certain, drawn[:kept]])
    counts = np.concatenate([np.ones(len(certain)), np.maximum(1.0, next_one / sizes[:kept])])
    order = np.argsort(indices)
    return Sample(indices[order], counts[order])
