"""What explains a row: its factors, weights and cluster, found for each block of rows on its own.

Notation
--------
X : a block of rows; R : the selected rows; H = S P2 with the core S and the column factor P2
P1, U : refitted factor and weights of the rows, X ~ P1 H and X ~ U R
D, E : factors of rows and columns in the norm of the model; A = D X E
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm
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
    norm : Norm
    """

    core: Array
    col_indices: Indices
    components: Array
    selected_rows: Array
    col_weights: Array
    norm: Norm

    @property
    def strengths(self) -> Array:
        """The norms of the components."""
        return np.asarray(np.linalg.norm(self.components * self.norm.cols, axis=1))


def factors_of_rows(explainer: RowExplainer, block: LocalMatrix, _start: int) -> tuple[Any, ...]:
    """Return P1, U and the clusters of the rows of one block."""
    E = explainer.norm.cols
    P1, U = coefficients(block, explainer.components, E), coefficients(block, explainer.selected_rows, E)
    return P1, U, factor_labels(P1, explainer.strengths, block.T.filled_columns())
