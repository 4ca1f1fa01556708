"""A matrix without its all-zero rows and columns, and results for the whole matrix from results for that part.

Results must not depend on all-zero rows or columns or on their positions. Algorithms therefore run on the part without
them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Indices


class Filled(NamedTuple):
    """The part of a matrix that is kept.

    Attributes
    ----------
    M : LocalMatrix
        The rows and columns that are kept.
    rows, cols : ndarray of int
        Their positions in the whole matrix, in ascending order.
    shape : (int, int)
        The shape of the whole matrix.
    """

    M: LocalMatrix
    rows: Indices
    cols: Indices
    shape: tuple[int, int]

    def row_positions(self, rows: Indices) -> Indices:
        """Return the positions in this part of rows of the whole matrix, which must be kept ones."""
        return np.searchsorted(self.rows, rows)

    def col_positions(self, cols: Indices) -> Indices:
        """Return the positions in this part of columns of the whole matrix, which must be kept ones."""
        return np.searchsorted(self.cols, cols)

    def of_rows(self, part: NDArray[Any], missing: float = 0) -> NDArray[Any]:
        """Return an array for all rows of the whole matrix from one for those of this part; others are ``missing``."""
        return _spread(part, self.rows, self.shape[0], missing)

    def of_cols(self, part: NDArray[Any], missing: float = 0) -> NDArray[Any]:
        """Return the same for columns, which are the last axis."""
        return _spread(part.T, self.cols, self.shape[1], missing).T


def filled(M: LocalMatrix, rows: Indices | None = None, cols: Indices | None = None) -> Filled:
    """Drop the rows and columns that are all zero, except the given ones; a matrix of zeros is kept as a whole."""
    keep_rows, keep_cols = M.T.filled_columns(), M.filled_columns()
    if not keep_rows.any():
        keep_rows[:], keep_cols[:] = True, True
    keep_rows[[] if rows is None else rows] = True
    keep_cols[[] if cols is None else cols] = True
    kept = np.flatnonzero(keep_rows), np.flatnonzero(keep_cols)
    whole = keep_rows.all() and keep_cols.all()
    return Filled(M if whole else M.part(*kept)._with_spectrum_of(M), *kept, M.shape)


def _spread(part: NDArray[Any], where: Indices, size: int, missing: float) -> NDArray[Any]:
    if len(where) == size:
        return part
    whole = np.full((size, *part.shape[1:]), missing, dtype=part.dtype)
    whole[where] = part
    return whole
