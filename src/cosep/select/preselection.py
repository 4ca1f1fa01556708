"""A matrix enters; a few of its columns leave, each standing for a cluster of them.

Notation
--------
C : the columns of one cluster, m x c
U, s, V : its two leading singular triplets
W : the two extreme columns of its rank-two approximation, m x 2
x : share of the first of them in each column of C
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import as_matrix, check_callback, check_count, check_indices
from cosep.matrix.filled import filled
from cosep.matrix.leading import leading_triplets
from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import coefficients
from cosep.solve.pursuit import raise_nothing_to_select
from cosep.solve.successive_projections import pursue
from cosep.utils.ties import SHARE_DIGITS, first_largest, near_largest
from cosep.utils.types import Array, Callback, Indices

# Cosines this close are a tie; directions whose squared sine is below it are one.
SAME = 1e-12
# Where a cluster may be split, and half the width of the window that should be empty there.
THRESHOLDS = np.arange(101) / 100
WINDOW = 0.05


@dataclass(frozen=True, eq=False)
class Preselection:
    """Columns that stand for clusters of columns.

    Parameters
    ----------
    representatives : ndarray of int
        The column that stands for each cluster, in ascending order.
    labels : ndarray of int
        The cluster of every column, as a position in ``representatives``; -1 for an all-zero column.
    weights : ndarray
        Square root of the size of each cluster: what its representative is to be multiplied by, for a least-squares fit
        to the representatives to count every column.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import preselect
    >>> kept = preselect(np.array([[1.0, 2.0, 0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 5.0, 0.0]]), 2)
    >>> kept.representatives, kept.labels
    (array([0, 3]), array([ 0,  0, -1,  1,  0]))
    >>> kept.original([1])
    array([3])
    """

    representatives: Indices
    labels: Indices
    weights: Array

    def original(self, positions: Any) -> Indices:
        """Return the columns of the matrix at the given positions among the representatives."""
        count = len(self.representatives)
        return self.representatives[check_indices(positions, "positions", count, "the number of representatives")]


class Cluster(NamedTuple):
    """Columns, the squared largest singular value of them, the one that stands for them, and two parts, if any."""

    members: Indices
    energy: float
    representative: int
    parts: tuple[Indices, Indices] | None


def preselect(X: Any, n: int, *, callback: Callback | None = None) -> Preselection:
    """Split the columns into ``n`` clusters C with small ``sum_C min_{rank 1} ||C - R||_F^2``; one stands for each.

    Hierarchical clustering by rank-two NMF: N. Gillis, D. Kuang and H. Park, IEEE Trans. Geosci. Remote Sens. 53,
    2066-2078, 2015, doi:10.1109/TGRS.2014.2352857. A cluster is approximated by a rank-two matrix, of which SPA picks
    the two extreme columns; the share x of the first in every column is found by nonnegative least squares, and the
    cluster is split at the threshold of x that separates the columns best. The cluster to split is always the one
    where this lowers the sum most. It is represented by the column with the smallest angle to its leading singular
    vector, both with their means removed.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n_features)
    n : int
        How many clusters.
    callback : callable, optional
        Called as ``callback("preselect", clusters, n, relative error)`` after each split, the error being that of
        approximating each cluster by rank one.

    Returns
    -------
    Preselection

    Notes
    -----
    There are fewer than n clusters if there are fewer directions: a cluster whose columns all lie within an angle of
    1e-6 of its leading singular vector is not split. All-zero columns belong to no cluster. Where no threshold parts a
    cluster, the column farthest from that vector is split off. Of columns that could equally represent a cluster, the
    one with the smallest angle without removal of means does, of those the first.

    A representative is typical of its cluster, while separable methods look for extreme columns: preselecting few of
    them loses the ones that such a method would find. Of the rows and columns planted in 20 noiseless 300 x 200
    matrices (`make_coseparable`), 16 a side kept 50 % of those of co-(4, 4)-separable ones, 32 kept 78 %, 100 kept
    99 %; of those of co-(10, 10)-separable ones 20 kept 94 %, 80 kept all. Factors from what SPA chose among the rest
    still explained more than 0.95 of each matrix (measured once). Where exactness matters, preselect many, or none.

    Time is O(nnz log n) while the clusters stay balanced; a cluster at a time is copied. All-zero rows do not count:
    means are taken over the others.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import preselect
    >>> X = np.array([[5.0, 4.0, 6.0, 0.0, 1.0], [0.0, 1.0, 0.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    >>> kept = preselect(X, 2)
    >>> kept.representatives, kept.labels, kept.weights.round(3)
    (array([2, 4]), array([0, 0, 0, 1, 1]), array([1.732, 1.414]))
    """
    M = as_matrix(X)
    n = check_count(n, "n", M.shape[1], "n_features")
    check_callback(callback)
    part = filled(M)
    M = part.M.columns(np.arange(part.M.shape[1]))
    squares = M.squared_norms()
    nonzero = np.flatnonzero(squares > 0)
    if len(nonzero) == 0:
        raise_nothing_to_select()
    fresh: tuple[Cluster, ...] = (_cluster(M, nonzero),)
    leaves = {int(nonzero[0]): fresh[0]}
    queue: list[tuple[float, int, tuple[Cluster, ...]]] = []
    while len(leaves) < n:
        for leaf in fresh:
            if leaf.parts is not None:
                children = tuple(_cluster(M, part) for part in leaf.parts)
                gain = sum(child.energy for child in children) - leaf.energy
                heappush(queue, (-gain, int(leaf.members[0]), children))
        if not queue:
            break
        _, first, fresh = heappop(queue)
        del leaves[first]
        leaves |= {int(child.members[0]): child for child in fresh}
        if callback is not None:
            explained = sum(leaf.energy for leaf in leaves.values()) / float(squares.sum())
            callback("preselect", len(leaves), n, float(np.sqrt(max(1.0 - explained, 0.0))))
    clusters = sorted(leaves.values(), key=lambda leaf: leaf.representative)
    labels = np.full(M.shape[1], -1)
    for number, leaf in enumerate(clusters):
        labels[leaf.members] = number
    representatives = part.cols[[leaf.representative for leaf in clusters]]
    return Preselection(
        representatives, part.of_cols(labels, -1), np.sqrt([float(len(leaf.members)) for leaf in clusters])
    )


def _cluster(M: LocalMatrix, members: Indices) -> Cluster:
    C = M.columns(members)
    U, s, V = leading_triplets(C, 2)
    first = split(C, U, s, V)
    parts = None if first is None else (members[first], members[~first])
    return Cluster(members, float(s[0] ** 2), int(members[representative(C, np.abs(U[:, 0]))]), parts)


def split(C: LocalMatrix, U: Array, s: Array, V: Array) -> NDArray[np.bool_] | None:
    """Tell which columns belong to the first of two parts; None if all have one direction."""
    squared_sines = 1.0 - C.cross(U[:, 0]) ** 2 / C.squared_norms()
    if squared_sines.max() <= SAME:
        return None
    plane = s[:, None] * V.T
    extremes = pursue(LocalMatrix(plane), 2, np.ones(C.shape[1]), tol=0.0)[0]
    W = np.maximum(U @ plane[:, extremes], 0.0)
    weights = coefficients(C.T, W.T)
    total = weights.sum(axis=1)
    # Rounded, so that a share on a threshold is on it however the matrix is stored.
    x = np.round(np.divide(weights[:, 0], total, out=np.zeros(len(total)), where=total > 0), SHARE_DIGITS)
    at = threshold(x)
    for first in (x >= at, x > at):
        if first.any() and not first.all():
            return np.asarray(first)
    return np.asarray(np.arange(len(x)) == first_largest(squared_sines))


def threshold(x: Array) -> float:
    """``argmin -log(F (1 - F)) + exp(G)``, F the share of x up to the threshold, G the density of x around it."""
    x = np.sort(x)
    low, high = np.maximum(THRESHOLDS - WINDOW, 0.0), np.minimum(THRESHOLDS + WINDOW, 1.0)
    F = np.searchsorted(x, THRESHOLDS, side="right") / len(x)
    G = (np.searchsorted(x, high, side="right") - np.searchsorted(x, low, side="left")) / len(x) / (high - low)
    with np.errstate(divide="ignore"):
        return float(THRESHOLDS[np.argmin(np.exp(G) - np.log(F * (1.0 - F)))])


def representative(C: LocalMatrix, u: Array) -> int:
    """Return the column with the largest correlation with u, of those the one with the largest cosine."""
    m, sums, squares, inner = C.shape[0], C.sums(), C.squared_norms(), C.cross(u)
    variances = squares - sums**2 / m
    varies = variances > SAME * squares
    scale = float(np.linalg.norm(u - u.mean()))
    correlation = np.full(len(sums), -1.0)
    np.divide(
        inner - sums * u.mean(), scale * np.sqrt(np.abs(variances)), out=correlation, where=varies & (scale > SAME)
    )
    tied = near_largest(correlation, SAME, scale=1.0)
    cosine = np.where(tied, inner / np.sqrt(squares), -1.0)
    return int(first_largest(cosine, SAME, scale=1.0))
