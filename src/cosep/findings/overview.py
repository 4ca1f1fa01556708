"""A small picture of a large matrix, with its rows and columns put together by cluster.

Notation
--------
A : data, scaled by the norm of the model
R, C : sums or means over the rows of each line of the picture, and over the columns of each of its columns
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from cosep.findings.tables import clusters_of
from cosep.findings.topics import Topics, by_home, links_of, topics_of
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.utils.types import Array, Indices

# The largest number of lines, and of columns, of the picture.
MOST_LINES = 150


@dataclass(frozen=True, eq=False)
class PictureAxis:
    """The rows, or the columns, in the order of the picture.

    Attributes
    ----------
    members : list of ndarray of int
        The rows averaged in each line of the picture.
    clusters : ndarray of int
        The cluster of each line; of its first member where there are more clusters than lines.
    n_zero : int
        All-zero rows, which are left out.
    """

    members: list[Indices]
    clusters: Indices
    n_zero: int

    @property
    def n_items(self) -> int:
        """How many rows are in the picture."""
        return sum(map(len, self.members))

    @property
    def is_whole(self) -> bool:
        """Whether every line stands for one row."""
        return self.n_items == len(self.members)


@dataclass(frozen=True, eq=False)
class Overview:
    """A matrix averaged to the size of a picture.

    Attributes
    ----------
    values : ndarray
        ``values[p,q]`` is the mean of A over the rows of line p and the columns of column q.
    rows, cols : PictureAxis
        Which rows and columns these are.
    """

    values: Array
    rows: PictureAxis
    cols: PictureAxis


def overview(factorization: Factorization, topics: Topics, M: LocalMatrix) -> Overview:
    """Average A over neighbours in the same cluster, so that it fits on a page and clusters keep their proportions."""
    # Rows that were left out of the fit, whose factor is zero, are shown with the mean factor of the others.
    D, E = (np.where(part > 0, part, part[part > 0].mean()) for part in (topics.row_scale, topics.col_scale))
    A = M.mantissa.scaled(D, E)
    row_labels = clusters_of(factorization, topics)
    col_labels = clusters_of(factorization.T, topics_of(factorization.T))
    rows = _axis(row_labels, np.arange(len(topics.rows)), M.T.sums() == 0)
    sums = A.between(_members(row_labels, len(topics.rows)), _members(col_labels, len(topics.cols)))
    cols = _axis(col_labels, by_home(links_of(sums)), M.sums() == 0)
    return Overview(A.between(_means(rows, M.shape[0]), _means(cols, M.shape[1])), rows, cols)


def _members(labels: Indices, size: int) -> scipy.sparse.csr_array:
    """Return the matrix that sums over the members of each cluster."""
    items = np.flatnonzero((labels >= 0) & (labels < size))
    return scipy.sparse.csr_array((np.ones(len(items)), (labels[items], items)), shape=(size, len(labels)))


def _axis(labels: Indices, order: Indices, is_zero: Indices) -> PictureAxis:
    """Put the items of each cluster side by side, clusters in the given order, items without a cluster last."""
    place = {int(cluster): position for position, cluster in enumerate(order)}
    places = np.array([place.get(int(label), len(order)) for label in labels])
    shown = np.flatnonzero(~is_zero)
    shown = shown[np.argsort(places[shown], kind="stable")]
    present, sizes = np.unique(places[shown], return_counts=True)
    if len(present) > MOST_LINES:
        members = np.array_split(shown, MOST_LINES)
    else:
        members = [
            part
            for group, pieces in zip(np.split(shown, np.cumsum(sizes)[:-1]), _lines_per_cluster(sizes), strict=True)
            for part in np.array_split(group, pieces)
        ]
    clusters = np.append(order, -1)[places[[part[0] for part in members]]]
    return PictureAxis(members, clusters, int(is_zero.sum()))


def _lines_per_cluster(sizes: Indices) -> Indices:
    """Return the number of lines of each cluster: one per item if all fit, else in proportion and at least one."""
    if sizes.sum() <= MOST_LINES:
        return sizes
    return np.asarray(np.clip(sizes * (MOST_LINES / sizes.sum()), 1, sizes), dtype=np.intp)


def _means(axis: PictureAxis, size: int) -> scipy.sparse.csr_array:
    """Return the matrix that takes the mean over the members of each line."""
    lengths = np.array([len(part) for part in axis.members], dtype=np.intp)
    lines = np.repeat(np.arange(len(lengths)), lengths)
    items = np.concatenate(axis.members) if axis.members else np.zeros(0, dtype=np.intp)
    return scipy.sparse.csr_array((1.0 / lengths[lines], (lines, items)), shape=(len(lengths), size))
