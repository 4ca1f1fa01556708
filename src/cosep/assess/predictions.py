"""Predictions of held-out blocks, and whether larger models add something to those of smaller ones."""

from typing import NamedTuple

import numpy as np

from cosep.utils.types import Array

# Smaller relative errors count as this: below it they are rounding.
SMALLEST_ERROR = 1e-4
# Predictions of a block that differ by a smaller share of its squared norm are equal.
EQUAL_TOL = 1e-12


class Prediction(NamedTuple):
    """A held-out block, predicted by ``W @ V.T``.

    Attributes
    ----------
    W, V : ndarray
    inside : float
        The inner product of the block and its prediction.
    total : float
        The squared norm of the block, which is not zero.
    """

    W: Array
    V: Array
    inside: float
    total: float

    def left(self) -> float:
        """Return the squared norm of what it leaves of the block."""
        return self.total - 2.0 * self.inside + self.inner(self)

    def inner(self, other: "Prediction") -> float:
        """Return the inner product with another prediction of the same block."""
        return float(np.vdot(self.W.T @ other.W, self.V.T @ other.V))


class Trial(NamedTuple):
    """The result of bi-cross-validation for one pair of ranks.

    Attributes
    ----------
    errors : ndarray
        The relative errors of all held-out blocks that are not zero.
    stability : float
        The agreement of the selections without different folds, see `agreement`.
    predictions : tuple of Prediction
        Those of the same blocks.
    """

    errors: Array
    stability: float
    predictions: tuple[Prediction, ...] = ()

    @property
    def error(self) -> float:
        """The mean of the errors."""
        return float(self.errors.mean())


def cosines(few: Trial, more: Trial) -> Array:
    """Return the cosines between what more rows and columns change in the predictions, and what the few leave.

    One for each block. The square of a cosine is the share of what the few leave that the change explains, times the
    best factor. Zero if the few leave nothing.
    """
    found = np.zeros(len(few.errors))
    for k, (one, other) in enumerate(zip(few.predictions, more.predictions, strict=True)):
        inside = one.inner(one)
        changed = inside - 2.0 * one.inner(other) + other.inner(other)
        if few.errors[k] > SMALLEST_ERROR and changed > EQUAL_TOL * one.total:
            found[k] = (other.inside - one.inside - one.inner(other) + inside) / np.sqrt(changed * one.left())
    return found


def standard_error(errors: Array) -> float:
    """Return the standard error of the mean."""
    return float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
