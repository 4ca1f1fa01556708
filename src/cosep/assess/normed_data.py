"""NormedData: a matrix, a factorization of it, and the matrix in the norm of the factorization."""

from dataclasses import dataclass
from functools import cached_property

from cosep.matrix.local import LocalMatrix
from cosep.matrix.observed import Observed
from cosep.records.factorization import Factorization
from cosep.records.filled_data import matrix_of


@dataclass(frozen=True)
class NormedData:
    """A matrix and a factorization of it.

    An explanation and a path of the same model share it, and with it the leading singular values.

    Attributes
    ----------
    observed : LocalMatrix or Observed
        The matrix, with its gaps.
    factorization : Factorization
    """

    observed: LocalMatrix | Observed
    factorization: Factorization

    @cached_property
    def M(self) -> LocalMatrix:  # noqa: N802 - a letter of the mathematics
        """The matrix with its gaps filled by the factorization."""
        return matrix_of(self.observed, self.factorization)

    @cached_property
    def scaled(self) -> LocalMatrix:
        """The matrix in the norm of the factorization, not in the units of the matrix."""
        scaling = self.factorization.scaling
        return (self.M if scaling is None else scaling.apply(self.M)).mantissa
