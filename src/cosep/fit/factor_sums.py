"""Chosen rows and columns and factors of the short side enter; sums that improve these, errors and long factors leave.

Notation
--------
X : one block of rows, or all of them; R, C, S : the chosen rows, the chosen columns, the core
P1, P2 : refitted factors, H = S P2; U, V : faithful weights, X ~ U R and X ~ C V
A : X divided by the square roots of its row and column sums; A ~ L F' with the topics F, by which rows are clustered
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import inverse
from cosep.records.product import squared_row_errors
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients, nonnegative
from cosep.utils.types import Array, Indices


class Short(NamedTuple):
    """What a block needs to know for a step: S, the chosen columns, H, the topics, and the scale of the columns of A.

    One F where there are as many clusters of rows as of columns, otherwise one for each.
    """

    S: Array
    cols: Indices
    H: Array
    topics: tuple[Array, ...]
    col_scale: Array


class Sums(NamedTuple):
    """What a step needs of the long side: ``B'B``, and ``X'B`` or ``A'B``, for B = P1 S, C, and each L."""

    grams: tuple[Array, ...]
    products: tuple[Array, ...]

    def merge(self, others: Sequence[Self]) -> "Sums":
        """Add following rows."""
        parts = [self, *others]
        return Sums(
            tuple(np.sum(same, axis=0) for same in zip(*(part.grams for part in parts), strict=True)),
            tuple(np.sum(same, axis=0) for same in zip(*(part.products for part in parts), strict=True)),
        )


def sums(short: Short, block: LocalMatrix, _start: int) -> Sums:
    """Solve for the rows of one block, and sum over them."""
    A = balanced(block, short.col_scale)
    of_X = [coefficients(block, short.H) @ short.S, block.take(cols=short.cols)]
    of_A = [coefficients(A, F.T) for F in short.topics]
    return Sums(
        tuple(B.T @ B for B in (*of_X, *of_A)),
        (*(block.cross(B) for B in of_X), *(A.cross(B) for B in of_A)),
    )


def balanced(block: LocalMatrix, col_scale: Array) -> LocalMatrix:
    """Divide rows by the square roots of their sums; columns are multiplied by what is given."""
    return block.scaled(np.sqrt(inverse(block.T.sums())), col_scale)


class Fitted(NamedTuple):
    """All that explains a row: S, the chosen columns, H, R, V, the topics of rows in the order of R, and for columns.

    ``col_shares`` tells the part of every column in the clusters of columns, ``strongest`` the cluster of a row that
    no topic touches.
    """

    S: Array
    cols: Indices
    H: Array
    R: Array
    V: Array
    topics: Array
    col_scale: Array
    col_shares: Array
    strongest: int = -1


class Outcome(NamedTuple):
    """How well all is explained: the squared errors of rows, columns, core and refitted factors.

    Then of each cluster of rows the sum of its squared shares, and what of it lies in each cluster of columns.
    """

    errors: Array
    squared_shares: Array
    meetings: Array

    def merge(self, others: Sequence[Self]) -> "Outcome":
        """Add following rows."""
        return Outcome(*(np.sum(parts, axis=0) for parts in zip(self, *others, strict=True)))


def outcome(fit: Fitted, block: LocalMatrix, _start: int) -> Outcome:
    """Measure one block."""
    X_R, X_H, X_V = block.dot(fit.R.T), block.dot(fit.H.T), block.dot(fit.V.T)
    U, P1 = solved(fit.R, X_R), solved(fit.H, X_H)
    A = balanced(block, fit.col_scale)
    shares = row_shares(A, fit.topics)
    return Outcome(
        np.array(
            [
                squared_row_errors(block, U, fit.R, X_R).sum(),
                squared_row_errors(block, block.take(cols=fit.cols), fit.V, X_V).sum(),
                squared_row_errors(block, U @ fit.S, fit.V, X_V).sum(),
                squared_row_errors(block, P1, fit.H, X_H).sum(),
            ]
        ),
        np.einsum("ik,ik->k", shares, shares),
        shares.T @ A.dot(fit.col_shares),
    )


def long_factors(fit: Fitted, block: LocalMatrix, _start: int) -> tuple[Any, ...]:
    """Return P1, U and the clusters of the rows of one block."""
    shares = row_shares(balanced(block, fit.col_scale), fit.topics)
    labels = factor_labels(shares, np.ones(shares.shape[1]))
    labels = np.where((labels < 0) & (block.T.sums() > 0), fit.strongest, labels)
    return coefficients(block, fit.H), coefficients(block, fit.R), labels


def solved(H: Array, products: Array) -> Array:
    """Solve ``min_U ||X - U H||_F`` over ``U >= 0``, given ``X H'``."""
    return nonnegative(H.T, products, np.zeros_like(products), exact=True)


def row_shares(A: LocalMatrix, F: Array) -> Array:
    """Return what each topic contributes to each row."""
    return np.asarray(coefficients(A, F.T) * np.linalg.norm(F, axis=0))
