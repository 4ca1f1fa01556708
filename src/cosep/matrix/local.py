"""A checked ndarray or scipy.sparse array enters, answers to the few questions of the algorithms leave.

Answers are float64 whatever the data is stored in, and nothing of the size of the data is made dense: a block of
rows at a time is the most. Columns are the default side; ask the transpose for rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from cosep.utils.types import Array, Indices

# Entries of a dense block of rows: 8 MB in float64.
BLOCK_ENTRIES = 1 << 20


class LocalMatrix:
    """A matrix in memory.

    Parameters
    ----------
    values : ndarray or csr_array or csc_array
        Finite, float32 or float64, nonnegative for all but CUR. Never written to.
    exponent : int
        The matrix stands for ``values * 2**exponent``. Factors do not depend on it; the core and norms do.
    """

    def __init__(self, values: Any, exponent: int = 0) -> None:
        self.values = values
        self.exponent = exponent
        self._norms: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        m, n = self.values.shape
        return int(m), int(n)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the data is stored in, and results are cast back to."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def is_sparse(self) -> bool:
        """Whether only the nonzero entries are stored."""
        return bool(scipy.sparse.issparse(self.values))

    @property
    def T(self) -> "LocalMatrix":
        """The transpose, sharing memory."""
        return LocalMatrix(self.values.T, self.exponent)

    @property
    def raw(self) -> Any:
        """The array or sparse array that holds the entries: what a function of a user is given."""
        return self.values

    @property
    def mantissa(self) -> "LocalMatrix":
        """The matrix divided by its power of two, sharing memory: for answers that do not depend on units."""
        return LocalMatrix(self.values)

    def in_units(self, results: Array, power: int = 1, *, shift: int = 0) -> Array:
        """Return results that were computed from `mantissa` in the units of the data.

        ``power`` is 1 for what grows with the entries, 2 for what grows with their squares, -1 for inverses. The
        results are multiplied by ``2**shift`` in the same step. What leaves the range of floats becomes infinite.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(results, power * self.exponent + shift))

    def largest(self) -> float:
        """Return the largest entry, 0 for a matrix without positive entries."""
        return float((self.values.data if self.is_sparse else self.values).max(initial=0.0))

    def smallest(self) -> float:
        """Return the smallest entry, 0 for a matrix without negative entries."""
        return float((self.values.data if self.is_sparse else self.values).min(initial=0.0))

    def stored_per_row(self) -> Indices:
        """Return how many entries are stored of each row: all of a dense one."""
        if not self.is_sparse:
            return np.full(self.shape[0], self.shape[1])
        return np.asarray(np.diff(self.values.tocsr().indptr), dtype=np.intp)

    def rows(self, indices: Indices) -> "LocalMatrix":
        """Return the given rows as a matrix of the same kind."""
        return LocalMatrix((self.values.tocsr() if self.is_sparse else self.values)[indices], self.exponent)

    def count_nonzero(self) -> int:
        """Return the number of nonzero entries, the same however they are stored."""
        return int(np.count_nonzero(self.values.data if self.is_sparse else self.values))

    def filled_columns(self) -> NDArray[np.bool_]:
        """Tell which columns have an entry that is not zero."""
        if not self.is_sparse:
            return np.asarray(self.values.any(axis=0))
        filled = np.zeros(self.shape[1], dtype=bool)
        filled[self.values.tocoo().coords[1][self.values.data != 0]] = True
        return filled

    def row_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the matrix as dense float64 blocks of a few rows."""
        m, n = self.shape
        size = max(1, BLOCK_ENTRIES // max(n, 1))
        values = self.values.tocsr() if self.is_sparse else self.values
        for start in range(0, m, size):
            rows = slice(start, min(start + size, m))
            block = values[rows]
            yield rows, np.asarray(block.toarray() if self.is_sparse else block, dtype=np.float64)

    def dot(self, B: Array) -> Array:
        """``X @ B`` for a thin dense B."""
        if self.is_sparse or self.dtype == np.float64:
            return np.asarray(self.values @ B)
        return np.concatenate([block @ B for _, block in self.row_blocks()])

    def cross(self, B: Array) -> Array:
        """``X.T @ B`` for a thin dense B."""
        if self.is_sparse or self.dtype == np.float64:
            return np.asarray(self.values.T @ B)
        total = np.zeros((self.shape[1], *B.shape[1:]))
        for rows, block in self.row_blocks():
            total += block.T @ B[rows]
        return total

    def between(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> Array:
        """``left @ X @ right.T``, small and dense, for sparse matrices of few rows: sums over groups of entries."""
        product = left @ self.values @ right.T
        return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product, dtype=np.float64)

    def gram(self, cols: Indices | None = None) -> Array:
        """``X.T @ X``, dense, or the given columns of it."""
        if not self.is_sparse:
            return self.cross(self.values if cols is None else self.take(cols=cols))
        wide = self.values.astype(np.float64, copy=False)
        return np.asarray((wide.T @ (wide if cols is None else wide[:, cols])).toarray())

    def gram_root(self) -> Array:
        """Return a dense B of at most n rows with ``B.T @ B = X.T @ X``: X itself when it is wide, else its R factor.

        The R factor is found by blocks of rows, and without squaring the condition number as the Gram matrix does. It
        is dense, and so is X when it is wide: for matrices with few rows or few columns.
        """
        m, n = self.shape
        if m <= n:
            return self.take()
        root = np.zeros((0, n))
        waiting: list[Array] = []
        for rows, block in self.row_blocks():
            waiting.append(block)
            if sum(map(len, waiting)) >= n or rows.stop == m:
                stacked = np.concatenate([root, *waiting])
                root = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:n]
                waiting = []
        return root

    def sums(self) -> Array:
        """L1 norms of the columns, where nothing is negative."""
        return self.cross(np.ones(self.shape[0]))

    def squared_norms(self) -> Array:
        """Squared l2 norms of the columns, found once."""
        if self._norms is None:
            self._norms = self._squared_norms()
        return self._norms.copy()

    def _squared_norms(self) -> Array:
        if self.is_sparse:
            squares = self.values.astype(np.float64)
            squares.data **= 2
            return np.asarray(squares.T @ np.ones(self.shape[0]))
        total = np.zeros(self.shape[1])
        for _, block in self.row_blocks():
            total += np.einsum("ij,ij->j", block, block)
        return total

    def squared_norm(self) -> float:
        """Squared Frobenius norm."""
        return float(self.squared_norms().sum())

    def take(self, rows: Indices | slice | None = None, cols: Indices | slice | None = None) -> Array:
        """Return the dense block of the given rows and columns (all of a side when None) as a new float64 array."""
        block = self.values if rows is None else self.values[rows]
        block = block if cols is None else block[:, cols]
        return block.toarray().astype(np.float64, copy=False) if self.is_sparse else np.array(block, dtype=np.float64)

    def columns(self, indices: Indices) -> "LocalMatrix":
        """Return the given columns as a matrix; a sparse one is stored by columns, so that this is cheap there.

        All columns in their order share memory if they can.
        """
        values = self.values.tocsc() if self.is_sparse else self.values
        whole = np.array_equal(indices, np.arange(self.shape[1]))
        return LocalMatrix(values if whole else values[:, indices], self.exponent)

    def part(self, rows: Indices, cols: Indices) -> "LocalMatrix":
        """Return the given rows and columns as a new matrix of the same kind, order of memory and type."""
        values = self.values[rows][:, cols]
        if not self.is_sparse:
            values = np.asarray(values, order="C" if self.values.flags.c_contiguous else "F")
        return LocalMatrix(values, self.exponent)

    def scaled(self, row_scale: Array, col_scale: Array) -> "LocalMatrix":
        """``diag(row_scale) @ X @ diag(col_scale)`` as a new matrix of the same kind, in float64."""
        if self.is_sparse:
            X = self.values
            of_major, of_minor = (row_scale, col_scale) if X.format == "csr" else (col_scale, row_scale)
            data = X.data * np.repeat(of_major, np.diff(X.indptr)) * of_minor[X.indices]
            return LocalMatrix(type(X)((data, X.indices, X.indptr), shape=X.shape), self.exponent)
        return LocalMatrix(self.values * row_scale[:, None] * col_scale, self.exponent)
