"""What explains a row: its factors, weights and cluster, found for each block of rows on its own.

Notation
--------
X : a block of rows; R : the selected rows; H = S P2 with the core S and the column factor P2
P1, U : refitted factor and weights of the rows, X ~ P1 H and X ~ U R
A : X divided by the square roots of its row and column sums; A ~ L F' with the topics F, by which rows are clustered
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import inverse
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array, Indices


class RowExplainer(NamedTuple):
    """What explains any further row.

    Attributes
    ----------
    core : ndarray of shape (n_rows, n_cols)
        S, the core.
    col_indices : ndarray of int
        Positions of the selected columns.
    components : ndarray of shape (n_rows, n)
        H, which the refitted factor of the rows is multiplied by.
    selected_rows : ndarray of shape (n_rows, n)
        R, the selected rows.
    col_weights : ndarray of shape (n_cols, n)
        Every column as a mix of the selected columns.
    topics : ndarray of shape (n, n_rows)
        F, the topics of the clusters of rows, in the order of the selected rows.
    col_scale : ndarray of shape (n,)
        What columns of A are multiplied by.
    col_shares : ndarray of shape (n, n_cols)
        The share of each column in the clusters of columns, of norm one for each cluster.
    strongest : int
        The cluster of a row that no topic explains; -1 as long as it is not known.
    """

    core: Array
    col_indices: Indices
    components: Array
    selected_rows: Array
    col_weights: Array
    topics: Array
    col_scale: Array
    col_shares: Array
    strongest: int = -1


def factors_of_rows(explainer: RowExplainer, block: LocalMatrix, _start: int) -> tuple[Any, ...]:
    """Return P1, U and the clusters of the rows of one block."""
    shares = row_shares(balanced(block, explainer.col_scale), explainer.topics)
    labels = factor_labels(shares, np.ones(shares.shape[1]))
    labels = np.where((labels < 0) & (block.T.sums() > 0), explainer.strongest, labels)
    return coefficients(block, explainer.components), coefficients(block, explainer.selected_rows), labels


def balanced(block: LocalMatrix, col_scale: Array) -> LocalMatrix:
    """Return A: rows divided by the square roots of their sums, columns multiplied by their scale."""
    return block.scaled(np.sqrt(inverse(block.T.sums())), col_scale)


def row_shares(A: LocalMatrix, F: Array) -> Array:
    """Return what each topic contributes to each row."""
    return np.asarray(coefficients(A, F.T) * np.linalg.norm(F, axis=0))
