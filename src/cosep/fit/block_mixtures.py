"""Passes that explain the rows of blocks by given components, ``X ~ U H``, or multiply them by a matrix."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.product import squared_row_errors
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array


class UnitComponents(NamedTuple):
    """Components divided by a power of two.

    Attributes
    ----------
    H : ndarray
        The components divided by ``2**shift``, with a largest entry of about one.
    shift : int
    """

    H: Array
    shift: int


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


def block_errors(components: UnitComponents, block: LocalMatrix, _start: int) -> SquaredErrors:
    """Measure how well the components explain the rows of one block."""
    H = components.H
    errors = squared_row_errors(block, coefficients(block, H), H, block.dot(H.T))
    return SquaredErrors(float(errors.sum()), block.squared_norm())


def block_mixtures(components: UnitComponents, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Explain the rows of one block by the components."""
    return (np.ldexp(coefficients(block, components.H), -components.shift),)


def block_products(right: Array, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Multiply the rows of one block by a matrix."""
    return (block.dot(right),)
