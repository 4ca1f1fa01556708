"""The last pass over blocks: errors, and how strong the components of the columns are.

Notation
--------
As in `cosep.fit.explainer`; V : weights of the columns, X ~ C V with the selected columns C
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.explainer import RowExplainer
from cosep.matrix.local import LocalMatrix
from cosep.records.product import squared_row_errors
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array


class Outcome(NamedTuple):
    """How well rows are explained.

    Attributes
    ----------
    squared_errors : ndarray of shape (5,)
        Of the selected rows, the selected columns, the core, and the refitted factors, in the norm of the model with
        the weights of the rows; last, the squared norm of the data.
    plain_squared_errors : ndarray of shape (5,)
        The same in the plain norm, with the weights of the rows.
    strengths : ndarray of shape (n_cols,)
        Squared norms of the columns of ``D P1 S``.
    products : ndarray of shape (n, b)
        ``A'A Z`` for the directions of `MeasuredSide`.
    """

    squared_errors: Array
    plain_squared_errors: Array
    strengths: Array
    products: Array

    def merge(self, others: Sequence[Self]) -> "Outcome":
        """Add the outcome of the following rows."""
        return Outcome(*(np.sum(parts, axis=0) for parts in zip(self, *others, strict=True)))


class MeasuredSide(NamedTuple):
    """What is measured.

    Attributes
    ----------
    explainer : RowExplainer
    directions : ndarray of shape (n, b)
        Z of `cosep.fit.gram_space`.
    """

    explainer: RowExplainer
    directions: Array


def outcome(side: MeasuredSide, block: LocalMatrix, start: int) -> Outcome:
    """Measure one block."""
    fit, where = side.explainer, slice(start, start + block.shape[0])
    E, D = fit.norm.cols, fit.norm.row_factors(block, where)
    weights = fit.norm.weights_of(block, where)
    A = block.scaled(D, E)
    R, H, V = fit.selected_rows * E, fit.components * E, fit.col_weights * E
    A_R, A_H = A.dot(R.T), A.dot(H.T)
    U, Q1 = coefficients(A, R, products=A_R), coefficients(A, H, products=A_H)
    C, A_V, U_S = block.take(cols=fit.col_indices), A.dot(V.T), U @ fit.core
    errors = _errors(A, [(U, R, A_R), (D[:, None] * C, V, A_V), (U_S, V, A_V), (Q1, H, A_H)])
    if fit.norm.name is None:
        plain = errors
    else:
        R, H, V = fit.selected_rows, fit.components, fit.col_weights
        X_V, of_rows = block.dot(V.T), 1.0 / D[:, None]
        U, U_S, P1 = (part * of_rows for part in (U, U_S, Q1))
        plain = _errors(block, [(U, R, block.dot(R.T)), (C, V, X_V), (U_S, V, X_V), (P1, H, block.dot(H.T))])
    strong = Q1 @ fit.core
    Z = A.dot(side.directions)
    return Outcome(
        errors @ weights,
        plain @ weights,
        weights @ strong**2,
        A.cross(weights[:, None] * Z),
    )


def _errors(M: LocalMatrix, products: list[tuple[Array, Array, Array]]) -> Array:
    """Return the squared errors of rows for products W H, given ``M H'``; last, squared norms."""
    errors = [squared_row_errors(M, W, H, M_H) for W, H, M_H in products]
    return np.array([*errors, M.T.squared_norms()])
