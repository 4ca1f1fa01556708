"""The passes over blocks that sum what the factors of the columns need from all rows.

Notation
--------
As in `cosep.fit.explainer`; C : the selected columns of a block; Q1 = D P1; Z : directions of `cosep.fit.gram_space`
All rows are multiplied by the square roots of their weights.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.panel_sums import NO_SUMS, PanelSums, panel_sums
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array, Indices


class ColumnSide(NamedTuple):
    """The factors of the columns before a pass.

    Attributes
    ----------
    core : ndarray of shape (n_rows, n_cols)
        S.
    col_indices : ndarray of int
        Positions of the selected columns; empty if sums of these are not needed any more.
    components : ndarray of shape (n_rows, n)
        H = S P2.
    directions : ndarray of shape (n, b)
        Z.
    norm : Norm
    """

    core: Array
    col_indices: Indices
    components: Array
    directions: Array
    norm: Norm


class FactorSums(NamedTuple):
    """Sums over rows for the matrices B = Q1 S, D C and A Z.

    Attributes
    ----------
    total : float
        ``||A||^2``.
    grams : tuple of ndarray
        ``B'B``.
    products : tuple of ndarray
        ``A'B``.
    panel : PanelSums
        Of the data itself; without selected columns there are none.
    """

    total: float
    grams: tuple[Array, ...]
    products: tuple[Array, ...]
    panel: PanelSums

    def merge(self, others: Sequence[Self]) -> "FactorSums":
        """Add the sums of the following rows."""
        parts = [self, *others]
        return FactorSums(
            sum(part.total for part in parts),
            tuple(np.sum(same, axis=0) for same in zip(*(part.grams for part in parts), strict=True)),
            tuple(np.sum(same, axis=0) for same in zip(*(part.products for part in parts), strict=True)),
            self.panel.merge([part.panel for part in others]),
        )


def factor_sums(side: ColumnSide, block: LocalMatrix, start: int) -> FactorSums:
    """Solve for the weights of the rows of one block, and sum over them."""
    where, E = slice(start, start + block.shape[0]), side.norm.cols
    weights = None if side.norm.weights is None else side.norm.weights_of(block, where)
    D = side.norm.row_factors(block, where) * (1.0 if weights is None else np.sqrt(weights))
    A = block.scaled(D, E)
    Q1 = coefficients(A, side.components * E)
    thin = (Q1 @ side.core, D[:, None] * block.take(cols=side.col_indices), A.dot(side.directions))
    panel = panel_sums(block, side.col_indices, weights) if len(side.col_indices) else NO_SUMS
    return FactorSums(A.squared_norm(), tuple(B.T @ B for B in thin), tuple(A.cross(B) for B in thin), panel)
