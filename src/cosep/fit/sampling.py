"""Priority sampling of rows by their sizes, their squared norms in the norm of the model.

Notation
--------
w_i : size of row i; u_i : a random number in (0, 1) that belongs to row i
w_i / u_i : the priority of row i; the rows with the largest priorities are the sample
"""

from typing import NamedTuple

import numpy as np

from cosep.fit.statistics import Drawn
from cosep.utils.types import Array, Indices


class RowSample(NamedTuple):
    """Sampled rows, which stand for all rows.

    Attributes
    ----------
    indices : ndarray of int
        Positions in ascending order.
    counts : ndarray
        How many rows each one stands for, at least 1.
    """

    indices: Indices
    counts: Array


def draw_sample(found: Drawn, size: int, certain: Indices) -> RowSample:
    """Return the rows that are certain to be in the sample, each counting once, and ``size`` of the drawn rows.

    A sum over all rows of ``w_i f_i`` has the same expected value as the sum over the sample, each term times
    ``max(1, t / w_i)`` with the next priority t: N. Duffield, C. Lund and M. Thorup, J. ACM 54(6), 2007,
    doi:10.1145/1314690.1314696. If the sample has room for all rows, each counts once.
    """
    others = ~np.isin(found.indices, certain)
    priorities, drawn, sizes = found.priorities[others], found.indices[others], found.sizes[others]
    # One more row than is kept must be left for t, also after the certain rows are taken out of the drawn ones.
    kept = size if found.has_all else min(size, max(found.max_drawn - 1 - int((~others).sum()), 0))
    next_priority = priorities[kept] if len(priorities) > kept else 0.0
    indices = np.concatenate([certain, drawn[:kept]])
    counts = np.concatenate([np.ones(len(certain)), np.maximum(1.0, next_priority / sizes[:kept])])
    order = np.argsort(indices)
    return RowSample(indices[order], counts[order])
