"""Passes that explain the rows of blocks by given components, ``X ~ U H``, or multiply them by a matrix."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm
from cosep.records.product import squared_row_errors
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array, Indices


class RowModel(NamedTuple):
    """What explains rows: components, and the norm.

    Attributes
    ----------
    H : ndarray
        The components divided by ``2**shift``, with a largest entry of about one.
    shift : int
    norm : Norm
    """

    H: Array
    shift: int
    norm: Norm


class SquaredErrors(NamedTuple):
    """How well rows are explained.

    Attributes
    ----------
    error : float
        Squared norm of the difference between the rows and their reconstruction.
    total : float
        Squared norm of the rows.
    """

    error: float
    total: float

    def merge(self, others: Sequence[Self]) -> "SquaredErrors":
        """Add the errors of the following rows."""
        return SquaredErrors(*(sum(parts) for parts in zip(self, *others, strict=True)))


def block_errors(model: RowModel, block: LocalMatrix, start: int) -> SquaredErrors:
    """Measure how well the components explain the rows of one block."""
    where, H = slice(start, start + block.shape[0]), model.H * model.norm.cols
    A = block.scaled(model.norm.row_factors(block, where), model.norm.cols)
    weights, products = model.norm.weights_of(block, where), A.dot(H.T)
    errors = squared_row_errors(A, coefficients(A, H, products=products), H, products)
    return SquaredErrors(float(weights @ errors), float(weights @ A.T.squared_norms()))


def block_mixtures(model: RowModel, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Explain the rows of one block by the components."""
    return (np.ldexp(coefficients(block, model.H, model.norm.cols), -model.shift),)


def block_labels(model: RowModel, block: LocalMatrix, _start: int) -> tuple[Indices, ...]:
    """Return the component with the largest share in each row of one block; -1 for an all-zero row."""
    factor = coefficients(block, model.H, model.norm.cols)
    strengths = np.linalg.norm(model.H * model.norm.cols, axis=1)
    return (factor_labels(factor, strengths, block.T.filled_columns()),)


def block_products(right: Array, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Multiply the rows of one block by a matrix."""
    return (block.dot(right),)
