"""Positions: some entries of a matrix, listed by rows and by columns."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.utils.types import Indices


class Listed(NamedTuple):
    """The positions of each row, in ascending order, as in CSR format."""

    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


class Positions(NamedTuple):
    """Some entries of a matrix.

    Attributes
    ----------
    by_rows, by_cols : Listed
    """

    by_rows: Listed
    by_cols: Listed

    @property
    def T(self) -> "Positions":
        """The same positions in the transpose."""
        return Positions(self.by_cols, self.by_rows)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return len(self.by_rows.indptr) - 1, len(self.by_cols.indptr) - 1

    def __len__(self) -> int:
        return len(self.by_rows.indices)

    def rows(self) -> Indices:
        """Return the row of each position, by rows."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.by_rows.indptr))

    def flat(self) -> Indices:
        """Return ``row * n_cols + col`` of each position, in ascending order."""
        return self.rows() * self.shape[1] + self.by_rows.indices

    def mask(self, rows: slice) -> NDArray[np.bool_]:
        """Return which entries of a few rows are listed."""
        indices, indptr = self.by_rows
        start, stop, _ = rows.indices(self.shape[0])
        mask = np.zeros((stop - start, self.shape[1]), dtype=bool)
        mask[
            np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1])), indices[indptr[start] : indptr[stop]]
        ] = True
        return mask

    def take_rows(self, rows: Indices | slice) -> "Positions":
        """Return the positions in the given rows."""
        return positions_of(self._pattern()[rows])

    def _pattern(self) -> Any:
        indices, indptr = self.by_rows
        return scipy.sparse.csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=self.shape)


def positions_of(pattern: Any) -> Positions:
    """Return the stored entries of a sparse array in CSR format with sorted indices."""
    ones = np.ones(len(pattern.indices), dtype=np.int8)
    by_cols = scipy.sparse.csr_array((ones, pattern.indices, pattern.indptr), shape=pattern.shape).tocsc()
    return Positions(_listed(pattern), _listed(by_cols))


def positions_at(flat: Indices, shape: tuple[int, int]) -> Positions:
    """Return the positions with these ``row * n_cols + col``, in ascending order."""
    rows, cols = np.divmod(flat, shape[1])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    return positions_of(scipy.sparse.csr_array((np.ones(len(flat), dtype=np.int8), cols, indptr), shape=shape))


def _listed(pattern: Any) -> Listed:
    return Listed(pattern.indices.astype(np.int32, copy=False), pattern.indptr.astype(np.int64, copy=False))
