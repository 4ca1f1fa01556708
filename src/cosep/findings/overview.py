"""A matrix and its clusters enter; a small picture of it leaves, rows and columns put together by cluster.

Notation
--------
A : data with rows and columns divided by the square roots of their sums
R, C : which row is in which line of the picture, and which column in which column
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from cosep.findings.topics import Topics, by_home, ties_of
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import scale
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.utils.types import Array, Indices

# Lines and columns of the picture at the most.
MOST_LINES = 150


@dataclass(frozen=True, eq=False)
class Side:
    """The rows, or the columns, in the order of the picture.

    Parameters
    ----------
    members : list of ndarray of int
        The rows averaged in each line of the picture.
    clusters : ndarray of int
        The cluster of each line, or of its first member where clusters are too many for lines of their own.
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
    """``values[p,q]``: the mean of A over the rows of line p and the columns of column q."""

    values: Array
    rows: Side
    cols: Side


def overview(factorization: Factorization, topics: Topics, M: LocalMatrix) -> Overview:
    """Average A over neighbours within clusters, which keep their proportions, so that it fits on a page."""
    A = scale(LocalMatrix(M.values), "degree")[0]
    row_labels, col_labels = factorization.row_labels, factorization.col_labels
    if row_labels is None or col_labels is None:
        row_labels = factor_labels(topics.row_weights, np.linalg.norm(A.take(rows=topics.rows), axis=1))
        col_labels = factor_labels(topics.col_weights.T, np.linalg.norm(A.take(cols=topics.cols), axis=0))
    rows = _side(row_labels, np.arange(len(topics.rows)), M.T.sums() == 0)
    between = _product(_members(row_labels, len(topics.rows)), A, _members(col_labels, len(topics.cols)))
    cols = _side(col_labels, by_home(ties_of(between)), M.sums() == 0)
    return Overview(_product(_means(rows, M.shape[0]), A, _means(cols, M.shape[1])), rows, cols)


def _product(R: scipy.sparse.csr_array, A: LocalMatrix, C: scipy.sparse.csr_array) -> Array:
    """``R A C'``, small and dense."""
    product = R @ A.values @ C.T
    return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product, dtype=np.float64)


def _members(labels: Indices, size: int) -> scipy.sparse.csr_array:
    """Return the matrix that sums over the members of each cluster."""
    items = np.flatnonzero((labels >= 0) & (labels < size))
    return scipy.sparse.csr_array((np.ones(len(items)), (labels[items], items)), shape=(size, len(labels)))


def _side(labels: Indices, order: Indices, is_zero: Indices) -> Side:
    """Put the items of each cluster side by side, clusters in the given order, those of no cluster last."""
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
            for group, pieces in zip(np.split(shown, np.cumsum(sizes)[:-1]), _allotment(sizes), strict=True)
            for part in np.array_split(group, pieces)
        ]
    clusters = np.append(order, -1)[places[[part[0] for part in members]]]
    return Side(members, clusters, int(is_zero.sum()))


def _allotment(sizes: Indices) -> Indices:
    """Return how many lines each cluster gets: one for each item if they fit, else in proportion and at least one."""
    if sizes.sum() <= MOST_LINES:
        return sizes
    return np.asarray(np.clip(sizes * (MOST_LINES / sizes.sum()), 1, sizes), dtype=np.intp)


def _means(side: Side, size: int) -> scipy.sparse.csr_array:
    """Return the matrix that takes the mean over the members of each line."""
    lengths = np.array([len(part) for part in side.members], dtype=np.intp)
    lines = np.repeat(np.arange(len(lengths)), lengths)
    items = np.concatenate(side.members) if side.members else np.zeros(0, dtype=np.intp)
    return scipy.sparse.csr_array((1.0 / lengths[lines], (lines, items)), shape=(len(lengths), size))
