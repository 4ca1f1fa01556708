"""NormedData: a matrix, a factorization of it, and the matrix in the norm of the factorization."""

from dataclasses import dataclass
from functools import cached_property

from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization


@dataclass(frozen=True)
class NormedData:
    """A matrix and a factorization of it.

    An explanation and a path of the same model share it, and with it the leading singular values.

    Attributes
    ----------
    M : LocalMatrix
    factorization : Factorization
    """

    M: LocalMatrix
    factorization: Factorization

    @cached_property
    def scaled(self) -> LocalMatrix:
        """The matrix in the norm of the factorization, not in the units of the matrix."""
        scaling = self.factorization.scaling
        return (self.M if scaling is None else scaling.apply(self.M)).mantissa
