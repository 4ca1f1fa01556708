"""A matrix without its all-zero rows and columns, and the way back.

An all-zero row or column holds nothing to explain, so that no answer may depend on it or on where it stands. Algorithms
therefore run on what is left, to the same bits.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Indices


class Filled(NamedTuple):
    """The part of a matrix that is kept.

    Parameters
    ----------
    M : LocalMatrix
        The rows and columns that are kept.
    rows, cols : ndarray of int
        Where they stand in the whole matrix, in ascending order.
    shape : (int, int)
        The shape of the whole matrix.
    """

    M: LocalMatrix
    rows: Indices
    cols: Indices
    shape: tuple[int, int]

    def row_positions(self, rows: Indices) -> Indices:
        """Return where rows of the whole matrix, which must have been kept, stand in this part."""
        return np.searchsorted(self.rows, rows)

    def col_positions(self, cols: Indices) -> Indices:
        """Return where columns of the whole matrix, which must have been kept, stand in this part."""
        return np.searchsorted(self.cols, cols)

    def of_rows(self, part: NDArray[Any], missing: float = 0) -> NDArray[Any]:
        """Return what is known of each row of this part for each row of the whole matrix."""
        return _spread(part, self.rows, self.shape[0], missing)

    def of_cols(self, part: NDArray[Any], missing: float = 0) -> NDArray[Any]:
        """Return what is known of each column of this part, along the last axis, for each column of the whole."""
        return _spread(part.T, self.cols, self.shape[1], missing).T


def filled(M: LocalMatrix, rows: Indices | None = None, cols: Indices | None = None) -> Filled:
    """Leave out the rows and columns that are all zero, except the given ones; nothing of a matrix of zeros."""
    keep_rows, keep_cols = M.T.filled_columns(), M.filled_columns()
    if not keep_rows.any():
        keep_rows[:], keep_cols[:] = True, True
    keep_rows[[] if rows is None else rows] = True
    keep_cols[[] if cols is None else cols] = True
    kept = np.flatnonzero(keep_rows), np.flatnonzero(keep_cols)
    return Filled(M if keep_rows.all() and keep_cols.all() else M.part(*kept), *kept, M.shape)


def _spread(part: NDArray[Any], where: Indices, size: int, missing: float) -> NDArray[Any]:
    if len(where) == size:
        return part
    whole = np.full((size, *part.shape[1:]), missing, dtype=part.dtype)
    whole[where] = part
    return whole
