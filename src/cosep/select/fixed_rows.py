"""FixedRows: what chosen rows contribute to the sum of errors while columns are chosen.

Notation
--------
M : data; A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
U : the weights that explain all rows by the chosen ones; S the core of chosen rows and columns
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.select.column_choice import ColumnChoice, summed
from cosep.utils.ties import first_largest
from cosep.utils.types import Array


class FixedRows(NamedTuple):
    """What the chosen rows contribute while columns are chosen.

    Attributes
    ----------
    H : ndarray
        The chosen rows.
    M_U, U_U : ndarray
        ``M'U`` and ``U'U``.
    error : float
        That of the rows.
    """

    H: Array
    M_U: Array
    U_U: Array
    error: float

    def sum_with(self, cols: float | Array, core: float | Array) -> Any:
        """Return the sum of errors; that of the columns alone if there are no rows."""
        return summed(self.error, cols, core) if len(self.H) else cols

    def sum_of(self, M: LocalMatrix, cols: ColumnChoice) -> float:
        """Return the sum of errors with the chosen columns."""
        return float(self.sum_with(cols.error, self.core_error(M, cols)))

    def core_error(self, M: LocalMatrix, cols: ColumnChoice) -> float:
        """``||M - U S V'||^2 / ||M||^2``."""
        S = self.H[:, cols.chosen]
        core = np.vdot(S.T @ self.U_U @ S, cols.V.T @ cols.V) - 2.0 * np.vdot(S, self.M_U.T @ cols.V)
        return max(1.0 + float(core) / M.squared_norm(), 0.0)


def fixed_rows(M: LocalMatrix, rows: ColumnChoice | None) -> FixedRows:
    """Return the contribution of chosen rows; without rows there is no error of rows and core."""
    if rows is None:
        return FixedRows(np.zeros((0, M.shape[1])), np.zeros((M.shape[1], 0)), np.zeros((0, 0)), 0.0)
    return FixedRows(M.take(rows=rows.chosen), M.cross(rows.V), rows.V.T @ rows.V, rows.error)


def best_pair(
    M: LocalMatrix, of_rows: list[ColumnChoice], of_cols: list[ColumnChoice]
) -> tuple[ColumnChoice, ColumnChoice]:
    """Return the pair of a choice of rows and one of columns with the smallest sum of errors.

    Of equal sums, that of two choices at the same place in their lists is preferred, then the first.
    """
    fixed = [fixed_rows(M, rows) for rows in of_rows]
    pairs = sorted(np.ndindex(len(of_rows), len(of_cols)), key=lambda pair: pair[0] != pair[1])
    sums = np.array([fixed[i].sum_of(M, of_cols[j]) for i, j in pairs])
    i, j = pairs[int(first_largest(-sums, scale=1.0))]
    return of_rows[i], of_cols[j]
