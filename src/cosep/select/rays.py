"""A matrix enters; one column for each ray leaves, a ray being all columns that are multiples of each other."""

from typing import NamedTuple

import numpy as np

from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.select.pool import Positions
from cosep.select.pursuit import refuse_nothing
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Indices

# Columns of a matrix whose n x n factor is small: 32 MB.
FEW = 2000


class Rays(NamedTuple):
    """One column for each ray: its index in the data, the block of them, weights, prices; and the ray of each column.

    The ray of an all-zero column is -1.
    """

    leaders: Indices
    B: LocalMatrix
    w: Array
    p: Array
    of: Indices


def distinct_rays(M: LocalMatrix, price: Array, sizes: Array) -> Rays:
    """Merge the proportional columns of M, and drop the zero ones.

    Proportional columns ask for the same answer, so that of a group weighs as much as all of them: its squared norm
    is the sum of theirs. Who stands for the group is told by `leading`.
    """
    sums = M.sums()
    nonzero = np.flatnonzero(sums > 0)
    if not np.isfinite(price[nonzero]).any():
        refuse_nothing()
    m, n = M.shape
    # A tall sparse matrix of few columns is lighter as its dense R factor; a small one gets the answer of a dense one.
    stays_sparse = M.is_sparse and m * n > BLOCK_ENTRIES and not n < min(m, FEW)
    B = M.columns(nonzero) if stays_sparse else LocalMatrix(M.gram_root()[:, nonzero])
    w, p = sums[nonzero], price[nonzero]
    leaders, group = leading(B, (-p, w, sizes[nonzero]))
    together = np.sqrt(np.bincount(group, w**2))[group[leaders]]
    of = np.full(M.shape[1], -1)
    of[nonzero] = np.argsort(group[leaders])[group]
    merged = B.columns(leaders).scaled(np.ones(B.shape[0]), together / w[leaders])
    return Rays(nonzero[leaders], merged, together, p[leaders], of)


def distinct(M: LocalMatrix, positions: Positions) -> Positions:
    """Allow only the longest column of every ray, the first of them if several are, and those to be included."""
    norms = M.squared_norms()
    open_ones = np.flatnonzero(positions.allowed & (norms > 0))
    allowed = np.zeros(len(norms), dtype=bool)
    if len(open_ones):
        allowed[open_ones[leading(M.columns(open_ones), (norms[open_ones],))[0]]] = True
    allowed[positions.include] = True
    return Positions(allowed, positions.include, norms)


def leading(B: LocalMatrix, merits: tuple[Array, ...]) -> tuple[Indices, Indices]:
    """Return, of nonzero columns, the one that stands for each ray, and the number of the ray of every column.

    It is the one with the largest first merit, of those the one with the largest second, and so on, of those the
    first. Merits count as equal up to rounding.
    """
    group = _groups(B)
    best = np.ones(len(group), dtype=bool)
    for merit in merits:
        most = np.full(group.max() + 1, -np.inf)
        np.maximum.at(most, group[best], merit[best])
        best &= (merit == most[group]) | (merit >= (1.0 - TIE_TOL) * np.abs(most[group]))
    candidates = np.flatnonzero(best)
    return np.sort(candidates[np.unique(group[candidates], return_index=True)[1]]), group


def _groups(B: LocalMatrix) -> Indices:
    """Return a number for each column, the same for those that agree to `TIE_TOL` once they have length one.

    Sorted by one generic mixture of their entries equal columns are neighbours, and only neighbours with about the
    same mixture are compared.
    """
    m, n = B.shape
    lengths = np.sqrt(B.squared_norms())
    mixtures = B.cross(np.cos(np.arange(m))) / lengths
    order = np.argsort(mixtures, kind="stable")
    fresh = np.diff(mixtures[order]) > m * TIE_TOL
    close = np.flatnonzero(~fresh)
    first, second = (
        B.columns(order[at]).scaled(np.ones(m), 1.0 / lengths[order[at]]).values for at in (close, close + 1)
    )
    apart = abs(first - second).max(axis=0)
    fresh[close] = (apart.toarray().ravel() if B.is_sparse else apart) > TIE_TOL
    group = np.empty(n, dtype=np.intp)
    group[order] = np.concatenate([[0], np.cumsum(fresh)])
    return group
