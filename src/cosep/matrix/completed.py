"""A sparse matrix plus a product of two thin nonnegative factors: a matrix whose gaps are filled by the product.

Notation
--------
R : sparse, m x n; W : m x r; H : r x n; M = R + W H, nonnegative
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.kernels.gaps import product_at
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.utils.types import Array, Indices

# An entry of M that is a smaller share of that of W H is zero: rounding.
ROUNDING = 1e-14


class Completed(LocalMatrix):
    """``R + W H``, which is nonnegative; only blocks of a few rows or columns are ever dense.

    Parameters
    ----------
    values : csr_array or csc_array
        R, in float64.
    W, H : ndarray of shape (m, r) and (r, n)
        Nonnegative.
    exponent : int
        The matrix is ``(R + W H) * 2**exponent``.
    """

    def __init__(self, values: Any, W: Array, H: Array, exponent: int = 0) -> None:
        super().__init__(values, exponent)
        self._W, self._H = W, H

    def _like(self, values: Any, W: Array, H: Array) -> "Completed":
        return Completed(values, W, H, self._exponent)

    @property
    def is_sparse(self) -> bool:
        """False: answers are dense blocks."""
        return False

    @property
    def T(self) -> "Completed":
        """The transpose, sharing memory."""
        transpose = self._like(self._values.T, self._H.T, self._W.T)
        transpose._known, transpose._known_across = self._known_across, self._known
        transpose._spectrum = self._spectrum
        return transpose

    @property
    def raw(self) -> "Completed":
        """The matrix itself: no array holds it. The selectors of this package take it as it is."""
        return self

    @property
    def mantissa(self) -> "Completed":
        """The matrix without its power of two, sharing memory."""
        mantissa = Completed(self._values, self._W, self._H)
        mantissa._known, mantissa._known_across = self._known, self._known_across
        mantissa._spectrum = self._spectrum
        return mantissa

    def in_data_units(self) -> "Completed":
        """Return the same matrix without a power of two."""
        return self.mantissa if not self._exponent else self._scaled_by_exponent()

    def _scaled_by_exponent(self) -> "Completed":
        R = self._values
        data = self.in_units(R.data)
        return Completed(type(R)((data, R.indices, R.indptr), shape=R.shape), self.in_units(self._W), self._H)

    def largest(self) -> float:
        """Return the largest entry."""
        return float(max((block.max(initial=0.0) for _, block in self.dense_blocks()), default=0.0))

    def smallest(self) -> float:
        """Return 0: nothing is negative."""
        return 0.0

    def stored_per_row(self) -> Indices:
        """Return the number of columns for each row: no entry is known to be zero."""
        return np.full(self.shape[0], self.shape[1])

    def stored_by_rows(self) -> "Completed":
        """Return the same matrix with R in CSR format."""
        return self._like(self._values.tocsr(), self._W, self._H)

    def rows(self, indices: Indices | slice) -> "Completed":
        """Return the given rows as a matrix of the same kind."""
        return self._like(self._values.tocsr()[indices], self._W[indices], self._H)

    def columns(self, indices: Indices) -> "Completed":
        """Return the given columns as a matrix of the same kind, with R in CSC format."""
        return self._like(self._values.tocsc()[:, indices], self._W, self._H[:, indices])

    def part(self, rows: Indices, cols: Indices) -> "Completed":
        """Return the given rows and columns as a matrix of the same kind."""
        return self._like(self._values[rows][:, cols], self._W[rows], self._H[:, cols])

    def scaled(self, row_scale: Array, col_scale: Array) -> "Completed":
        """``diag(row_scale) @ M @ diag(col_scale)``."""
        R = LocalMatrix(self._values).scaled(row_scale, col_scale).raw
        return self._like(R, self._W * row_scale[:, None], self._H * col_scale)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored parts by name."""
        return {**LocalMatrix(self._values).to_arrays(), "left": self._W, "right": self._H}

    def count_nonzero(self) -> int:
        """Return the number of nonzero entries."""
        return int(self.counts(np.ones(self.shape[0]))[0].sum())

    def _filled_columns(self) -> NDArray[np.bool_]:
        filled = self._W.any(axis=0) @ (self._H > 0)
        return np.asarray(filled | (self.sums() > 0))

    def counts(self, weights: Array) -> tuple[Array, Array]:
        """Return the numbers of nonzero entries of rows, and of columns, where entries count the weights of rows.

        A position that is not stored counts if its row and its column have a nonzero entry.
        """
        m, n = self.shape
        R = self._values.tocsr()
        rows = np.repeat(np.arange(m), np.diff(R.indptr))
        empty = np.abs(R.data + self._products(R)) <= ROUNDING * np.abs(R.data)
        row_filled, col_filled = self.T.filled_columns().astype(float), self.filled_columns().astype(float)
        lost = empty & (row_filled[rows] > 0) & (col_filled[R.indices] > 0)
        row_counts = row_filled * col_filled.sum() - np.bincount(rows[lost], minlength=m)
        col_counts = col_filled * float(weights @ row_filled) - np.bincount(
            R.indices[lost], weights[rows[lost]], minlength=n
        )
        return row_counts, np.asarray(col_counts, dtype=np.float64)

    def _products(self, R: Any) -> Array:
        """Return the entries of W H at the stored positions of R in CSR format."""
        return product_at(R.indices, R.indptr, self._W, np.ascontiguousarray(self._H.T))

    def dense_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the matrix as dense float64 blocks of a few rows."""
        m, n = self.shape
        size = max(1, BLOCK_ENTRIES // max(n, 1))
        R = self._values.tocsr()
        for start in range(0, m, size):
            rows = slice(start, min(start + size, m))
            yield rows, _sum(R[rows], self._W[rows], self._H)

    def take(self, rows: Indices | slice | None = None, cols: Indices | slice | None = None) -> Array:
        """Return the dense block of the given rows and columns; one of the two should be few."""
        R, W, H = self._values, self._W, self._H
        R, W = (R, W) if rows is None else (R[rows], W[rows])
        R, H = (R, H) if cols is None else (R[:, cols], H[:, cols])
        return _sum(R, W, H)

    def dot(self, B: Array) -> Array:
        """``M @ B`` for a thin dense B."""
        return np.asarray(self._values @ B + self._W @ (self._H @ B))

    def cross(self, B: Array) -> Array:
        """``M.T @ B`` for a thin dense B."""
        return np.asarray(self._values.T @ B + self._H.T @ (self._W.T @ B))

    def between(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> Array:
        """``left @ M @ right.T``, small and dense, for sparse matrices of few rows."""
        product = LocalMatrix(self._values).between(left, right)
        return np.asarray(product + (left @ self._W) @ (right @ self._H.T).T)

    def gram(self, cols: Indices | None = None) -> Array:
        """``M.T @ M``, dense, or the given columns of it, which are few."""
        if cols is not None:
            return self.cross(self.take(cols=cols))
        mixed = (self._values.T @ self._W) @ self._H
        return np.asarray(
            LocalMatrix(self._values).gram() + mixed + mixed.T + self._H.T @ (self._W.T @ self._W) @ self._H
        )

    def _squared_norms(self) -> Array:
        R = self._values.tocsr()
        more = R.data * (R.data + 2.0 * self._products(R))
        own: Array = np.einsum("ij,ik,kj->j", self._H, self._W.T @ self._W, self._H, optimize=True)
        return np.asarray(np.maximum(own + np.bincount(R.indices, more, minlength=self.shape[1]), 0.0))

    def squared_lengths(self, col_scale: Array) -> Array:
        """Return the squared norms of the rows of ``X @ diag(col_scale)``."""
        return self.scaled(np.ones(self.shape[0]), col_scale).T.squared_norms()

    def largest_differences(self, other: LocalMatrix) -> Array:
        """Return the largest absolute difference of each column from that of another matrix in the same units."""
        apart = np.zeros(self.shape[1])
        for (_, block), (_, second) in zip(self.dense_blocks(), other.dense_blocks(), strict=True):
            np.maximum(apart, np.abs(block - second).max(axis=0), out=apart)
        return apart


def _sum(R: Any, W: Array, H: Array) -> Array:
    """Return the dense sum of few rows or columns; what is left of observed zeros is rounding."""
    block = np.asarray(W @ H)
    bound = ROUNDING * block
    block += R.toarray()
    block[np.abs(block) <= bound] = 0.0
    return np.maximum(block, 0.0, out=block)
