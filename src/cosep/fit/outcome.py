"""The last pass over blocks: errors, and which clusters of rows and columns go together.

Notation
--------
As in `cosep.fit.explainer`; V : weights of the columns, X ~ C V with the selected columns C
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.explainer import RowExplainer, balanced, row_shares
from cosep.matrix.local import LocalMatrix
from cosep.records.product import squared_row_errors
from cosep.solve.nonnegative import nonnegative
from cosep.utils.types import Array


class Outcome(NamedTuple):
    """How well rows are explained.

    Attributes
    ----------
    squared_errors : ndarray of shape (4,)
        Of the selected rows, the selected columns, the core, and the refitted factors.
    squared_shares : ndarray of shape (n_rows,)
        For each cluster of rows, the sum of the squared shares of all rows in it.
    meetings : ndarray of shape (n_rows, n_cols)
        How much of each cluster of rows lies in each cluster of columns.
    """

    squared_errors: Array
    squared_shares: Array
    meetings: Array

    def merge(self, others: Sequence[Self]) -> "Outcome":
        """Add the outcome of the following rows."""
        return Outcome(*(np.sum(parts, axis=0) for parts in zip(self, *others, strict=True)))


def outcome(fit: RowExplainer, block: LocalMatrix, _start: int) -> Outcome:
    """Measure one block."""
    R, H, V = fit.selected_rows, fit.components, fit.col_weights
    X_R, X_H, X_V = block.dot(R.T), block.dot(H.T), block.dot(V.T)
    U, P1 = _weights(R, X_R), _weights(H, X_H)
    A = balanced(block, fit.col_scale)
    shares = row_shares(A, fit.topics)
    return Outcome(
        np.array(
            [
                squared_row_errors(block, U, R, X_R).sum(),
                squared_row_errors(block, block.take(cols=fit.col_indices), V, X_V).sum(),
                squared_row_errors(block, U @ fit.core, V, X_V).sum(),
                squared_row_errors(block, P1, H, X_H).sum(),
            ]
        ),
        np.einsum("ik,ik->k", shares, shares),
        shares.T @ A.dot(fit.col_shares),
    )


def _weights(H: Array, products: Array) -> Array:
    """Solve ``min_U ||X - U H||_F`` over ``U >= 0``, given ``X H'``."""
    return nonnegative(H.T, products, np.zeros_like(products), exact=True)
