"""The Gram matrix of a matrix, which answers questions without being stored."""

from collections.abc import Iterator

import numpy as np

from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.utils.types import Array, Indices

# X is scaled if its largest entry is beyond 2**+-this: entries of X'X and their squares must stay within float64.
SAFE_EXPONENT = 100
# A multiplication in a product of two sparse matrices takes about as long as this many in one with a dense matrix.
SPARSE_COST = 8


class GramMatrix(LocalMatrix):
    """``X'X`` of a matrix X.

    Products with a thin matrix are two products with X; norms are summed over blocks of rows of ``X'X`` or of
    ``X X'``, whichever is cheaper: O(sum of the squared numbers of nonzeros in the rows of X), or O(m nnz).

    Parameters
    ----------
    of : LocalMatrix
        X, of shape (m, n).
    """

    def __init__(self, of: LocalMatrix) -> None:
        self._of = _moderate(of)
        super().__init__(None, 2 * self._of._exponent)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of columns of X, twice."""
        n = self._of.shape[1]
        return n, n

    @property
    def is_sparse(self) -> bool:
        """False: answers are dense blocks."""
        return False

    @property
    def T(self) -> "GramMatrix":
        """The matrix itself, which is symmetric."""
        return self

    def dense_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the matrix as dense float64 blocks of a few rows."""
        n = self.shape[0]
        size = max(1, BLOCK_ENTRIES // n)
        X = self._of
        wide = X.raw.astype(np.float64, copy=False).tocsc() if X.is_sparse else None
        right = None if wide is None else wide.tocsr()
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            if wide is None:
                yield rows, X.cross(X.take(cols=np.arange(rows.start, rows.stop))).T
            else:
                yield rows, np.asarray((wide[:, rows].T @ right).toarray())

    def dot(self, B: Array) -> Array:
        """``X'(X B)`` for a thin dense B."""
        return self._of.cross(self._of.dot(B))

    def cross(self, B: Array) -> Array:
        """``X'(X B)``, the matrix being symmetric."""
        return self.dot(B)

    def take(self, rows: Indices | slice | None = None, cols: Indices | slice | None = None) -> Array:
        """Return the dense block of the given rows and columns; one of the two must be few."""
        if cols is None and rows is not None:
            return self.take(None, rows).T
        block = self._of.cross(self._of.take(cols=cols))
        return block if rows is None else block[rows]

    def _squared_norms(self) -> Array:
        return self._norms_across() if self._is_cheaper_across() else super()._squared_norms()

    def _is_cheaper_across(self) -> bool:
        X = self._of
        m, n = X.shape
        if not X.is_sparse:
            return m < n
        in_rows = X.stored_per_row().astype(np.float64)
        return float(m * in_rows.sum()) < SPARSE_COST * float(in_rows @ in_rows)

    def _norms_across(self) -> Array:
        """``x_j' (X X') x_j`` for each column."""
        X = self._of
        total = np.zeros(X.shape[1])
        for rows, block in GramMatrix(X.T).dense_blocks():
            part = X.raw[rows]
            products = X.cross(block.T)
            if X.is_sparse:
                total += np.asarray(part.multiply(products.T).sum(axis=0)).ravel()
            else:
                total += np.einsum("ij,ji->j", part, products)
        return total


def _moderate(M: LocalMatrix) -> LocalMatrix:
    """Return the matrix divided by a power of two such that its largest entry is about one, if it is far from that."""
    exponent = int(np.frexp(M.largest())[1])
    return M if abs(exponent) <= SAFE_EXPONENT else M.with_larger_exponent(exponent)
