"""The passes over blocks that sum what the factors of the columns need from all rows.

Notation
--------
As in `cosep.fit.explainer`; C : the selected columns of a block
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.fit.explainer import balanced
from cosep.matrix.local import LocalMatrix
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
    topics : tuple of ndarray
        One F if there are as many clusters of rows as of columns, otherwise one for each.
    col_scale : ndarray of shape (n,)
        What columns of A are multiplied by.
    """

    core: Array
    col_indices: Indices
    components: Array
    topics: tuple[Array, ...]
    col_scale: Array


class FactorSums(NamedTuple):
    """Sums over rows for the matrices B = P1 S, C, and each L.

    Attributes
    ----------
    grams : tuple of ndarray
        ``B'B``.
    products : tuple of ndarray
        ``X'B``, or ``A'B`` for each L.
    """

    grams: tuple[Array, ...]
    products: tuple[Array, ...]

    def merge(self, others: Sequence[Self]) -> "FactorSums":
        """Add the sums of the following rows."""
        parts = [self, *others]
        return FactorSums(
            tuple(np.sum(same, axis=0) for same in zip(*(part.grams for part in parts), strict=True)),
            tuple(np.sum(same, axis=0) for same in zip(*(part.products for part in parts), strict=True)),
        )


def factor_sums(side: ColumnSide, block: LocalMatrix, _start: int) -> FactorSums:
    """Solve for the weights of the rows of one block, and sum over them."""
    A = balanced(block, side.col_scale)
    of_X = [coefficients(block, side.components) @ side.core, block.take(cols=side.col_indices)]
    of_A = [coefficients(A, F.T) for F in side.topics]
    return FactorSums(
        tuple(B.T @ B for B in (*of_X, *of_A)),
        (*(block.cross(B) for B in of_X), *(A.cross(B) for B in of_A)),
    )
