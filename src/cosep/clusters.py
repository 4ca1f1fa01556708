"""A matrix and the rows and columns selected from it enter, clusters of all rows and all columns leave.

Notation
--------
A : data with rows and columns divided by the square roots of their sums
W, V : nonnegative factors of A, A ~ W V'
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import Budget, column_weights, factor_labels
from cosep.nmf.extrapolated import extrapolated
from cosep.scaling import scale


class Clusters(NamedTuple):
    """The cluster of every row, that of every column, and the cluster of columns that goes with each one of rows."""

    row_labels: Indices
    col_labels: Indices
    partners: Indices


def co_cluster(M: LocalMatrix, rows: Indices, cols: Indices, budget: Budget) -> Clusters:
    """Factor A, in which long rows and frequent columns do not outweigh the others, and label by the factors.

    A row belongs to the component with the largest share ``W[i,k] ||V[:,k]||``, a column likewise: shares do not
    depend on how the scale is split between the factors. A row that no component touches belongs to the strongest one,
    an all-zero row to none, -1. The k-th cluster is the one that the k-th selected row (column) has most part in,
    as far as that can be for all at once.
    """
    A = scale(LocalMatrix(M.values), "degree")[0]
    factors = cluster_factors(A, rows, cols, budget)
    of_rows, of_cols = _shares(*factors[0], rows), _shares(*factors[-1][::-1], cols)
    return Clusters(
        label(of_rows, M.T.sums()),
        label(of_cols, M.sums()),
        np.asarray((unit(of_rows).T @ A.dot(unit(of_cols))).argmax(axis=1)),
    )


def cluster_factors(A: LocalMatrix, rows: Indices, cols: Indices, budget: Budget) -> list[tuple[Array, Array]]:
    """Return W and V by which rows and columns are clustered: one pair for both where there are as many of both."""
    from_rows = column_weights(A.T, rows).T, A.take(rows=rows).T
    from_cols = A.take(cols=cols), column_weights(A, cols).T
    if len(rows) == len(cols):
        return [extrapolated(A, len(rows), budget, [from_rows, from_cols])]
    return [extrapolated(A, len(rows), budget, [from_rows]), extrapolated(A, len(cols), budget, [from_cols])]


def _shares(W: Array, V: Array, chosen: Indices) -> Array:
    """Return what each component contributes to each row, in an order that puts the chosen rows in their own ones."""
    shares = W * np.linalg.norm(V, axis=0)
    return np.asarray(shares[:, own_components(shares[chosen])])


def own_components(shares: Array) -> Indices:
    """Return a component for each row, those that they have most part in as far as that can be for all at once."""
    relative = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(linear_sum_assignment(relative, maximize=True)[1], dtype=np.intp)


def label(shares: Array, sums: Array) -> Indices:
    """Return the component with the largest share, the strongest one where none has any; -1 where the sum is zero."""
    labels = factor_labels(shares, np.ones(shares.shape[1]))
    return np.where((labels < 0) & (sums > 0), np.linalg.norm(shares, axis=0).argmax(), labels)


def unit(shares: Array) -> Array:
    """Divide columns by their norms."""
    norms = np.linalg.norm(shares, axis=0)
    return shares / np.where(norms > 0, norms, 1.0)
