"""ColumnChoice: chosen columns, and how well they explain all columns.

Notation
--------
M : data
A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'
U : the weights that explain all rows by the chosen ones; S the core of chosen rows and columns
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.alternation import half_squared_error
from cosep.solve.nonnegative import nonnegative
from cosep.utils.blas import one_blas_thread
from cosep.utils.types import Array, Indices

# Weight of the error of the core in the sum of errors. With more, rows and columns lose to the core, which then often
# explains more than the weaker of them; with less, the refitted factors and the clusters lose.
CORE_WEIGHT = 0.3


class ColumnChoice(NamedTuple):
    """Chosen columns, and how well they explain all columns.

    Attributes
    ----------
    chosen : ndarray of int
    V : ndarray
        Nonnegative weights of the chosen columns in all columns.
    error : float
        ``||M - A V'||^2 / ||M||^2``.
    B : ndarray
        ``M'A``.
    """

    chosen: Indices
    V: Array
    error: float
    B: Array


@one_blas_thread
def explained_by(M: LocalMatrix, chosen: Indices, near: Array | None = None) -> ColumnChoice:
    """Return how well the chosen columns explain all; a good start ``near`` for the weights saves time."""
    A = M.take(cols=chosen)
    B = M.cross(A)
    V = nonnegative(A, B, np.zeros((M.shape[1], len(chosen))) if near is None else near, exact=True)
    return ColumnChoice(chosen, V, max(2.0 * half_squared_error(M.squared_norm(), A, B, V), 0.0), B)


@one_blas_thread
def core_error(M: LocalMatrix, rows: ColumnChoice, cols: ColumnChoice) -> float:
    """``||M - U S V'||^2 / ||M||^2`` with the weights of both sides."""
    W = rows.V @ M.take(rows.chosen, cols.chosen)
    return max(2.0 * half_squared_error(M.squared_norm(), W, M.cross(W), cols.V), 0.0)


def sum_of_errors(M: LocalMatrix, rows: ColumnChoice, cols: ColumnChoice) -> float:
    """Return the sum of errors that the selection lowers."""
    return float(summed(rows.error, cols.error, core_error(M, rows, cols)))


def summed(rows: float | Array, cols: float | Array, core: float | Array) -> Any:
    """Return the sum of the errors of rows, columns and core, in which the core counts less."""
    return rows + cols + CORE_WEIGHT * core
