"""Clusters of rows and columns by plain NMF of the balanced matrix.

Notation
--------
A : data with rows and columns divided by the square roots of their sums
W, V : nonnegative factors of A, A ~ W V'
"""

from typing import NamedTuple

import numpy as np

from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import scale
from cosep.solve.alternation import Budget
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import column_weights
from cosep.solve.plain_nmf import extrapolated
from cosep.utils.ties import assigned_components, first_largest
from cosep.utils.types import Array, Indices


class Clusters(NamedTuple):
    """Clusters of rows and columns.

    Attributes
    ----------
    row_labels, col_labels : ndarray of int
        The cluster of each row and of each column; -1 for an all-zero one.
    partners : ndarray of int
        For each cluster of rows, the cluster of columns that goes with it most.
    """

    row_labels: Indices
    col_labels: Indices
    partners: Indices


def co_cluster(M: LocalMatrix, rows: Indices, cols: Indices, budget: Budget) -> Clusters:
    """Factor A, in which long rows and frequent columns do not outweigh the others, and label by the factors.

    A row belongs to the component with the largest share ``W[i,k] ||V[:,k]||``, a column likewise: shares do not
    depend on how the scale is split between the factors. A row in which no component has a share belongs to the
    strongest component; an all-zero row gets -1. The k-th cluster is the one in which the k-th selected row (column)
    has its largest share, as far as this is possible for all of them at once.
    """
    part = filled(M, rows, cols)
    M, rows, cols = part.M, part.row_positions(rows), part.col_positions(cols)
    A = scale(M.mantissa, "degree")[0]
    factors = cluster_factors(A, rows, cols, budget)
    of_rows, of_cols = _shares(*factors[0], rows), _shares(*factors[-1][::-1], cols)
    return Clusters(
        part.of_rows(label(of_rows, M.T.sums()), -1),
        part.of_cols(label(of_cols, M.sums()), -1),
        first_largest(unit(of_rows).T @ A.dot(unit(of_cols))),
    )


def cluster_factors(A: LocalMatrix, rows: Indices, cols: Indices, budget: Budget) -> list[tuple[Array, Array]]:
    """Return pairs W, V for the clusters of rows and of columns: a single pair if there are as many of both."""
    part = filled(A, rows, cols)
    A, rows, cols = part.M, part.row_positions(rows), part.col_positions(cols)
    from_rows = column_weights(A.T, rows).T, A.take(rows=rows).T
    from_cols = A.take(cols=cols), column_weights(A, cols).T
    if len(rows) == len(cols):
        pairs = [extrapolated(A, len(rows), budget, [from_rows, from_cols])]
    else:
        pairs = [extrapolated(A, len(rows), budget, [from_rows]), extrapolated(A, len(cols), budget, [from_cols])]
    return [(part.of_rows(W), part.of_cols(V.T).T) for W, V in pairs]


def _shares(W: Array, V: Array, chosen: Indices) -> Array:
    """Return what each component contributes to each row, component k being that of the k-th chosen row."""
    shares = W * np.linalg.norm(V, axis=0)
    return np.asarray(shares[:, assigned_components(shares[chosen])])


def label(shares: Array, sums: Array) -> Indices:
    """Return the component with the largest share, the strongest if none has a share; -1 if the sum is zero."""
    labels = factor_labels(shares, np.ones(shares.shape[1]))
    return np.where((labels < 0) & (sums > 0), first_largest(np.linalg.norm(shares, axis=0)), labels)


def unit(shares: Array) -> Array:
    """Divide columns by their norms."""
    norms = np.linalg.norm(shares, axis=0)
    return shares / np.where(norms > 0, norms, 1.0)
