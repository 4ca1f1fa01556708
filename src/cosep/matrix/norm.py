"""The norm of a model: how much each row and each column counts.

A model is fitted in the norm ``||diag(rows) (X - X^) diag(cols)||_F``. Co-separability does not change under positive
diagonals, so a selection of ``A = diag(rows) X diag(cols)`` is one of X, and every factor can be given in the units of
X.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.units import in_relative_units
from cosep.matrix.validation import recheck
from cosep.utils.messages import shown
from cosep.utils.types import Array

# Factors beyond two to this power, or one over it, are divided by a power of two before they are used.
MODERATE_EXPONENT = 100
# The names of a norm whose diagonals are given, and of the plain norm with weights of rows.
GIVEN, PLAIN = "given", "plain"
# The fields of a norm for sample weights.
COPIES = ("row_copies", "col_copies")


@dataclass(frozen=True, eq=False, repr=False)
class Scaling:
    """The norm ``||diag(rows) (X - X^) diag(cols)||_F`` of a model.

    Parameters
    ----------
    name : str
        The name of its rule; "given" if the diagonals were given.
    rows, cols : ndarray
        Factors of the rows and of the columns. Those of rows include the square roots of sample weights, so that they
        are zero for rows that were left out.
    row_copies, col_copies : ndarray, optional
        How many copies of it each row (column) counts as, the sample weights. Default: None, one of each.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.matrix.norm import Scaling
    >>> Scaling("given", np.ones(3), np.ones(2))
    Scaling('given', 3 rows, 2 columns)
    """

    name: str
    rows: Array
    cols: Array
    row_copies: Array | None = None
    col_copies: Array | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            msg = f"name={shown(self.name)} must be the name of a scaling."
            raise ValueError(msg)
        for side in ("rows", "cols", *COPIES):
            if side not in COPIES or getattr(self, side) is not None:
                object.__setattr__(self, side, checked_factors(getattr(self, side), f"{side} of a scaling", 0.0))
        for name, copies, factors in zip(COPIES, self.copies, (self.rows, self.cols), strict=True):
            if copies is not None and len(copies) != len(factors):
                msg = f"{name} of a scaling must be {len(factors)} numbers, as many as factors, got {len(copies)}."
                raise ValueError(msg)

    def __repr__(self) -> str:
        return f"Scaling({self.name!r}, {len(self.rows)} rows, {len(self.cols)} columns)"

    @property
    def copies(self) -> tuple[Array | None, Array | None]:
        """The numbers of copies of rows and of columns."""
        return self.row_copies, self.col_copies

    @property
    def T(self) -> "Scaling":
        """The same norm for the transpose."""
        return Scaling(self.name, self.cols, self.rows, *self.copies[::-1])

    @property
    def plain(self) -> "Scaling | None":
        """The plain norm in which rows and columns count as the same numbers of copies; None if they all count once."""
        if self.row_copies is None and self.col_copies is None:
            return None
        rows = np.ones(len(self.rows)) if self.row_copies is None else np.sqrt(self.row_copies)
        cols = np.ones(len(self.cols)) if self.col_copies is None else np.sqrt(self.col_copies)
        return Scaling(PLAIN, rows, cols, *self.copies)

    def unit(self) -> tuple[Array, Array]:
        """Return the factors of rows and columns, a side that is far from one divided by a power of two."""
        return np.ldexp(self.rows, -_exponent(self.rows)), np.ldexp(self.cols, -_exponent(self.cols))

    def apply(self, M: LocalMatrix) -> LocalMatrix:
        """Return ``diag(rows) X diag(cols)``.

        Parameters
        ----------
        M : LocalMatrix
            X, as the package holds it.
        """
        scaled = M.scaled(*self.unit())
        return recheck(scaled).with_exponent(scaled, _exponent(self.rows) + _exponent(self.cols))


def _exponent(factors: Array) -> int:
    """Return the power of two to take out of factors that are far from one."""
    exponent = int(np.frexp(factors.max(initial=0.0))[1])
    return exponent if abs(exponent) > MODERATE_EXPONENT else 0


def checked_factors(factors: Any, name: str, smallest: float) -> Array:
    """Return factors as a one-dimensional array of finite numbers of at least ``smallest``, not all of them zero."""
    try:
        array = np.asarray(factors)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
        array = np.zeros((0, 0))
    known = array.ndim == 1 and array.dtype.kind in "fiu" and bool(np.isfinite(array).all())
    if not known or (array < smallest).any() or not array.any():
        msg = f"{name} must be a list of positive, finite factors, got {shown(factors)}."
        raise ValueError(msg)
    return array.astype(np.float64, copy=False)


class RowRule(NamedTuple):
    """How much a row counts by its own entries: ``(x @ direction + offset) ** -power``.

    The rule also applies to rows that were not fitted.

    Attributes
    ----------
    power : float
        0 if all rows count alike.
    offset : float
    direction : ndarray or None
        What the entries are multiplied by before they are summed; None for ones.
    exponent : int
        The offset is in units of two to this power.
    """

    power: float = 0.0
    offset: float = 0.0
    direction: Array | None = None
    exponent: int = 0

    def factors(self, M: LocalMatrix) -> Array:
        """Return the factor of each row; 1 for an all-zero row."""
        if self.power == 0:
            return np.ones(M.shape[0])
        sums = M.T.sums() if self.direction is None else M.dot(self.direction)
        sums = in_relative_units(M, sums, self.exponent)
        return np.where(sums > 0, inverse(sums + self.offset) ** self.power, 1.0)


class Norm(NamedTuple):
    """The norm of a fit: how much every column counts, and by which rule rows count.

    Attributes
    ----------
    name : str or None
        None for the plain Frobenius norm.
    cols : ndarray
        Factors of the columns.
    rule : RowRule
        Factors of the rows by their own entries.
    rows : ndarray or None
        Given factors of the fitted rows; None for ones.
    weights : ndarray or None
        Weights of the fitted rows: a row of weight w counts as w copies of it. None for ones.
    """

    name: str | None
    cols: Array
    rule: RowRule
    rows: Array | None = None
    weights: Array | None = None

    def row_factors(self, M: LocalMatrix, where: Any = slice(None)) -> Array:
        """Return the factors of some fitted rows, given where they are among all, without their weights."""
        factors = self.rule.factors(M)
        return factors if self.rows is None else factors * self.rows[where]

    def weights_of(self, M: LocalMatrix, where: Any = slice(None)) -> Array:
        """Return the weights of some fitted rows."""
        return np.ones(M.shape[0]) if self.weights is None else np.asarray(self.weights[where])

    def scaling_of(self, M: LocalMatrix, where: Any = slice(None)) -> Scaling | None:
        """Return the norm of some fitted rows as a record in the units of the data; None for the plain norm."""
        if self.name is None and self.weights is None:
            return None
        rows = self._filled_row_factors(M, where) * np.sqrt(self.weights_of(M, where))
        factors = (rows, self.cols) if self.name in (GIVEN, None) else M.factors_in_units(rows, self.cols)
        copies = None if self.weights is None else self.weights_of(M, where)
        return Scaling(PLAIN if self.name is None else self.name, *factors, copies)

    def _filled_row_factors(self, M: LocalMatrix, where: Any) -> Array:
        """Return the same as `row_factors`, whatever all-zero rows and columns there are: they change rounding."""
        part = filled(M)
        direction = self.rule.direction
        rule = self.rule if direction is None else self.rule._replace(direction=direction[part.cols])
        factors = part.of_rows(rule.factors(part.M), 1.0)
        return factors if self.rows is None else factors * self.rows[where]

    def of_new_rows(self) -> "Norm":
        """Return the norm for rows that were not fitted, which count by the rule alone."""
        return self._replace(rows=None, weights=None)


def inverse(sums: Array) -> Array:
    """``1 / sums`` where positive, else 1."""
    return np.divide(1.0, sums, out=np.ones_like(sums), where=sums > 0)
