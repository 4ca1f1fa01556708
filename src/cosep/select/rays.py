"""Rays: groups of columns that are multiples of each other, and one column for each."""

from typing import NamedTuple

import numpy as np

from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.solve.pursuit import Positions, raise_nothing_to_select
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Indices

# Up to this many columns, an n x n factor is small (32 MB).
SMALL_FACTOR_COLUMNS = 2000


class Rays(NamedTuple):
    """One column for each ray.

    Attributes
    ----------
    leaders : ndarray of int
        Positions of these columns in the data.
    B : LocalMatrix
        The columns, scaled to the squared norm of all columns of their ray.
    w, p : ndarray
        Their sums and prices.
    of : ndarray of int
        The ray of every column of the data; -1 for an all-zero column.
    """

    leaders: Indices
    B: LocalMatrix
    w: Array
    p: Array
    of: Indices


def distinct_rays(M: LocalMatrix, price: Array, sizes: Array) -> Rays:
    """Merge the proportional columns of M, and drop the zero ones.

    The column of a ray, chosen by `leading`, has the sum of the squared norms of all its columns, so that it counts as
    much as all of them in a least-squares fit.
    """
    sums = M.sums()
    nonzero = np.flatnonzero(sums > 0)
    if not np.isfinite(price[nonzero]).any():
        raise_nothing_to_select()
    m, n = M.shape
    # The dense R factor of a tall sparse matrix with few columns is smaller; small matrices are treated as dense ones.
    stays_sparse = M.is_sparse and m * n > BLOCK_ENTRIES and not n < min(m, SMALL_FACTOR_COLUMNS)
    B = M.columns(nonzero) if stays_sparse else LocalMatrix(M.gram_root()[:, nonzero])
    w, p = sums[nonzero], price[nonzero]
    leaders, group = leading(B, (-p, w, sizes[nonzero]))
    together = np.sqrt(np.bincount(group, w**2))[group[leaders]]
    of = np.full(M.shape[1], -1)
    of[nonzero] = np.argsort(group[leaders])[group]
    merged = B.columns(leaders).scaled(np.ones(B.shape[0]), together / w[leaders])
    return Rays(nonzero[leaders], merged, together, p[leaders], of)


def distinct(M: LocalMatrix, positions: Positions, copies: Array | None = None) -> Positions:
    """Allow only the longest column of every ray (the first of equally long ones), and those to be included.

    A column of M may stand for several ``copies`` of a shorter one, whose squared norm then decides.
    """
    counts = 1.0 if copies is None else copies
    norms = M.squared_norms() / counts
    candidates = np.flatnonzero(positions.allowed & (norms > 0))
    allowed = np.zeros(len(norms), dtype=bool)
    if len(candidates):
        allowed[candidates[leading(M.columns(candidates), (norms[candidates],))[0]]] = True
    allowed[positions.include] = True
    return Positions(allowed, positions.include, norms, counts)


def leading(B: LocalMatrix, merits: tuple[Array, ...]) -> tuple[Indices, Indices]:
    """Return one nonzero column for each ray, and the number of the ray of every column.

    It is the column with the largest first merit; of equal ones, up to rounding, the one with the largest second merit
    and so on, then the first.
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
    """Return a number for each column, the same for columns that are equal up to rounding after normalisation.

    Columns are sorted by one generic linear combination of their entries, so that equal columns are neighbours; only
    neighbours with about the same combination are compared.
    """
    m, n = B.shape
    lengths = np.sqrt(B.squared_norms())
    combinations = B.cross(np.cos(np.arange(m))) / lengths
    order = np.argsort(combinations, kind="stable")
    fresh = np.diff(combinations[order]) > m * TIE_TOL
    close = np.flatnonzero(~fresh)
    first, second = (B.columns(order[at]).scaled(np.ones(m), 1.0 / lengths[order[at]]) for at in (close, close + 1))
    fresh[close] = first.largest_differences(second) > TIE_TOL
    group = np.empty(n, dtype=np.intp)
    group[order] = np.concatenate([[0], np.cumsum(fresh)])
    return group
