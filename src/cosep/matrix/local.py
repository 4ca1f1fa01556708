"""A matrix in memory, dense or sparse, and the questions that algorithms ask of it.

Answers are float64, whatever the type of the data. A sparse matrix is never made dense as a whole, only one block of
rows at a time. Questions are about columns; ask the transpose about rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from cosep.utils.blas import all_blas_threads
from cosep.utils.threads import for_each
from cosep.utils.types import Array, Indices

# Entries of a dense block of rows: 8 MB in float64.
BLOCK_ENTRIES = 1 << 20
# Products with a dense matrix of at least this many entries gain from several threads.
LARGE_ENTRIES = 10_000_000


# Multiplications in a piece of a product with a sparse matrix, at least, and the largest number of pieces.
PIECE_PRODUCTS, MAX_PIECES = 400_000, 8


class Piece(NamedTuple):
    """Consecutive rows of a sparse matrix.

    Attributes
    ----------
    rows : slice
    X, transpose : csr_array, csc_array
        These rows, and their transpose.
    """

    rows: slice
    X: Any
    transpose: Any


class LocalMatrix:
    """A matrix in memory.

    Parameters
    ----------
    values : ndarray or csr_array or csc_array
        Finite, float32 or float64; nonnegative except for CUR. Never written to.
    exponent : int
        The matrix is ``values * 2**exponent``. Answers are those for ``values``; `in_units` converts them.
    """

    def __init__(self, values: Any, exponent: int = 0) -> None:
        self._values = values
        self._exponent = exponent
        # The transpose of the values, once it is known: a view, which takes SciPy longer than a small product.
        self._turned: Any = None
        # Pieces of the rows of a sparse matrix (columns in CSC format), by their number; shared with the transpose.
        self._cut: dict[int, list[Piece]] = {}
        # Answers about columns, and those about rows, once they are known; shared with the transpose.
        self._known: dict[str, NDArray[Any]] = {}
        self._known_across: dict[str, NDArray[Any]] = {}
        # Squared singular values, once they are known; shared by matrices that have the same.
        self._spectrum: dict[int, Array] = {}

    def _with_spectrum_of(self, other: "LocalMatrix") -> "LocalMatrix":
        """Return this matrix, which has the same singular values as the other one except for zeros."""
        self._spectrum = other._spectrum
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        m, n = self._values.shape
        return int(m), int(n)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored data, and of the final results."""
        dtype: np.dtype[Any] = self._values.dtype
        return dtype

    @property
    def is_sparse(self) -> bool:
        """Whether only the nonzero entries are stored."""
        return bool(scipy.sparse.issparse(self._values))

    @property
    def T(self) -> "LocalMatrix":
        """The transpose, sharing memory."""
        transpose = LocalMatrix(self._transposed, self._exponent)._with_spectrum_of(self)
        transpose._turned, transpose._cut = self._values, self._cut
        transpose._known, transpose._known_across = self._known_across, self._known
        return transpose

    @property
    def _transposed(self) -> Any:
        """The transpose of the stored values."""
        if self._turned is None:
            self._turned = self._values.T
        return self._turned

    @property
    def raw(self) -> Any:
        """The stored array or sparse array, for functions written by users."""
        return self._values

    @property
    def mantissa(self) -> "LocalMatrix":
        """The matrix without its power of two, sharing memory; for answers that do not depend on units."""
        mantissa = LocalMatrix(self._values)._with_spectrum_of(self)
        mantissa._turned, mantissa._cut = self._turned, self._cut
        mantissa._known, mantissa._known_across = self._known, self._known_across
        return mantissa

    def in_units(self, results: Array | float, power: int = 1, *, shift: int = 0, out: Array | None = None) -> Array:
        """Return results that were computed from `mantissa` in the units of the data.

        ``power`` is 1 for what grows with the entries, 2 for what grows with their squares, -1 for inverses. ``shift``
        is a further power of two, such as that of a factor. Results beyond the range of floats become infinite.
        They are written to ``out`` if it is given.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(results, power * self._exponent + shift, out=out))

    def largest(self) -> float:
        """Return the largest entry, 0 for a matrix without positive entries."""
        return float((self._values.data if self.is_sparse else self._values).max(initial=0.0))

    def smallest(self) -> float:
        """Return the smallest entry, 0 for a matrix without negative entries."""
        return float((self._values.data if self.is_sparse else self._values).min(initial=0.0))

    def stored_per_row(self) -> Indices:
        """Return the number of stored entries of each row: all entries of a dense matrix."""
        if not self.is_sparse:
            return np.full(self.shape[0], self.shape[1])
        return np.asarray(np.diff(self._values.tocsr().indptr), dtype=np.intp)

    def rows(self, indices: Indices | slice) -> "LocalMatrix":
        """Return the given rows as a matrix of the same kind."""
        return LocalMatrix((self._values.tocsr() if self.is_sparse else self._values)[indices], self._exponent)

    def stored_by_rows(self) -> "LocalMatrix":
        """Return the same matrix, in CSR format if it is sparse, sharing memory if it can."""
        return LocalMatrix(self._values.tocsr(), self._exponent) if self.is_sparse else self

    def in_data_units(self) -> "LocalMatrix":
        """Return the same matrix without a power of two, itself if it has none; too large entries become infinite."""
        if not self._exponent:
            return self
        if not self.is_sparse:
            return LocalMatrix(self.in_units(self._values))
        X = self._values
        return LocalMatrix(type(X)((self.in_units(X.data), X.indices, X.indptr), shape=X.shape))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored parts by name, for a file or a checksum; see `from_arrays`."""
        if not self.is_sparse:
            return {"dense": self._values}
        X = self._values.tocsr()
        return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "LocalMatrix":
        """Return the matrix without a power of two that `to_arrays` was called on."""
        if "dense" in arrays:
            return cls(arrays["dense"])
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return cls(scipy.sparse.csr_array(parts, shape=tuple(arrays["shape"].tolist())))

    def with_larger_exponent(self, by: int) -> "LocalMatrix":
        """Return the same matrix in float64, stored divided by ``2**by``."""
        scaled = self.scaled(np.full(self.shape[0], 2.0**-by), np.ones(self.shape[1]))
        return LocalMatrix(scaled.raw, self._exponent + by)

    def with_exponent(self, like: "LocalMatrix", by: int) -> "LocalMatrix":
        """Return this matrix times the power of two of another one and ``2**by``, sharing memory."""
        shifted = self.mantissa
        shifted._exponent = self._exponent + like._exponent + by
        return shifted

    def factors_in_units(self, rows: Array, cols: Array) -> tuple[Array, Array]:
        """Return factors of rows and columns that scale the data as the given ones scale `mantissa`."""
        half = self._exponent // 2
        return np.ldexp(rows, -half), np.ldexp(cols, half - self._exponent)

    def count_nonzero(self) -> int:
        """Return the number of nonzero entries, the same however they are stored."""
        return int(np.count_nonzero(self._values.data if self.is_sparse else self._values))

    def counts(self, weights: Array) -> tuple[Array, Array]:
        """Return the numbers of nonzero entries of rows, and of columns, where entries count the weights of rows."""
        m, n = self.shape
        if self.is_sparse:
            X = self._values.tocsr()
            if not X.data.all():
                X = X.copy()
                X.eliminate_zeros()
            lengths = np.diff(X.indptr)
            entries = None if (weights == 1.0).all() else np.repeat(weights, lengths)
            return lengths.astype(np.float64), np.bincount(X.indices, entries, minlength=n).astype(np.float64)
        row_counts, col_counts = np.zeros(m), np.zeros(n)
        for rows, block in self.dense_blocks():
            filled = block != 0
            row_counts[rows] = filled.sum(axis=1)
            col_counts += weights[rows] @ filled
        return row_counts, col_counts

    def filled_columns(self) -> NDArray[np.bool_]:
        """Return which columns have a nonzero entry, computed once."""
        if "filled" not in self._known:
            self._known["filled"] = self._filled_columns()
        return self._known["filled"].copy()

    def _filled_columns(self) -> NDArray[np.bool_]:
        X = self._values
        if not self.is_sparse:
            return np.asarray(X.any(axis=0))
        nonzero = X.data != 0
        if X.format == "csc":
            until = np.concatenate([[0], np.cumsum(nonzero)])
            return np.asarray(until[X.indptr[1:]] > until[X.indptr[:-1]])
        filled = np.zeros(self.shape[1], dtype=bool)
        filled[X.indices if nonzero.all() else X.indices[nonzero]] = True
        return filled

    def dense_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the matrix as dense float64 blocks of a few rows."""
        m, n = self.shape
        size = max(1, BLOCK_ENTRIES // max(n, 1))
        values = self._values.tocsr() if self.is_sparse else self._values
        for start in range(0, m, size):
            rows = slice(start, min(start + size, m))
            block = values[rows]
            yield rows, np.asarray(block.toarray() if self.is_sparse else block, dtype=np.float64)

    def dot(self, B: Array) -> Array:
        """``X @ B`` for a thin dense B."""
        if self.is_sparse:
            return self._along(B) if self._values.format == "csr" else self._across(B)
        if self.dtype == np.float64:
            with self._threads():
                return np.asarray(self._values @ B)
        return np.concatenate([block @ B for _, block in self.dense_blocks()])

    def cross(self, B: Array) -> Array:
        """``X.T @ B`` for a thin dense B."""
        if self.is_sparse:
            return self._across(B) if self._values.format == "csr" else self._along(B)
        if self.dtype == np.float64:
            with self._threads():
                return np.asarray(self._transposed @ B)
        total = np.zeros((self.shape[1], *B.shape[1:]))
        for rows, block in self.dense_blocks():
            total += block.T @ B[rows]
        return total

    def _along(self, B: Array) -> Array:
        """Return the product with a sparse matrix in CSR format, or with the transpose of one in CSC format."""
        by_rows = self._values if self._values.format == "csr" else self._transposed
        pieces = self._pieces(B)
        if not pieces:
            return np.asarray(by_rows @ B)
        product = np.empty((by_rows.shape[0], B.shape[1]))

        def multiply(piece: Piece) -> None:
            product[piece.rows] = piece.X @ B

        for_each(multiply, pieces)
        return product

    def _across(self, B: Array) -> Array:
        """Return the product with the transpose of a sparse matrix in CSR format, or with one in CSC format."""
        by_cols = self._transposed if self._values.format == "csr" else self._values
        pieces = self._pieces(B)
        if not pieces:
            return np.asarray(by_cols @ B)
        products: list[Any] = [None] * len(pieces)

        def multiply(number: int) -> None:
            products[number] = pieces[number].transpose @ B[pieces[number].rows]

        for_each(multiply, range(len(pieces)))
        return np.asarray(sum(products[1:], start=products[0]))

    def _pieces(self, B: Array) -> list[Piece]:
        """Return pieces of a product for threads to share, none if it is small; they depend on the shapes only."""
        X = self._values
        if B.ndim == 1:
            return []
        count = min(X.nnz * B.shape[1] // PIECE_PRODUCTS, X.nnz // (4 * max(min(X.shape), 1)), MAX_PIECES)
        if count < 2:
            return []
        if count not in self._cut:
            self._cut[count] = pieces_of(X if X.format == "csr" else self._transposed, count)
        return self._cut[count]

    def _threads(self) -> AbstractContextManager[None]:
        """Return the context for a product: BLAS has all its threads for a large dense matrix."""
        return nullcontext() if self._values.size < LARGE_ENTRIES else all_blas_threads

    def between(self, left: scipy.sparse.csr_array, right: scipy.sparse.csr_array) -> Array:
        """``left @ X @ right.T``, small and dense, for sparse matrices of few rows: sums over groups of entries."""
        product = left @ self._values @ right.T
        return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product, dtype=np.float64)

    def gram(self, cols: Indices | None = None) -> Array:
        """``X.T @ X``, dense, or the given columns of it, which are few."""
        if cols is not None or not self.is_sparse:
            return self.cross(self._values if cols is None else self.take(cols=cols))
        wide = self._values.astype(np.float64, copy=False)
        return np.asarray((wide.T @ wide).toarray())

    def gram_root(self) -> Array:
        """Return a dense B of at most n rows with ``B.T @ B = X.T @ X``: X itself if it is wide, else its R factor.

        The R factor is computed by blocks of rows, and unlike the Gram matrix without squaring the condition number.
        The result is dense: use this for matrices with few rows or few columns.
        """
        m, n = self.shape
        if m <= n:
            return self.take()
        root = np.zeros((0, n))
        waiting: list[Array] = []
        for rows, block in self.dense_blocks():
            waiting.append(block)
            if sum(map(len, waiting)) >= n or rows.stop == m:
                stacked = np.concatenate([root, *waiting])
                root = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:n]
                waiting = []
        return root

    def sums(self) -> Array:
        """Return the sums of the columns: their l1 norms if nothing is negative."""
        return self.cross(np.ones(self.shape[0]))

    def squared_norms(self) -> Array:
        """Squared l2 norms of the columns, computed once."""
        if "squared norms" not in self._known:
            self._known["squared norms"] = self._squared_norms()
        return self._known["squared norms"].copy()

    def _squared_norms(self) -> Array:
        if self.is_sparse:
            return np.asarray(self._squares().T @ np.ones(self.shape[0]))
        total = np.zeros(self.shape[1])
        for _, block in self.dense_blocks():
            total += np.einsum("ij,ij->j", block, block)
        return total

    def squared_lengths(self, col_scale: Array) -> Array:
        """Return the squared norms of the rows of ``X @ diag(col_scale)``."""
        squares = self._squares() if self.is_sparse else np.square(self._values, dtype=np.float64)
        return np.asarray(squares @ col_scale**2)

    def _squares(self) -> Any:
        X = self._values
        return type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)

    def squared_norm(self) -> float:
        """Squared Frobenius norm."""
        return float(self.squared_norms().sum())

    def take(self, rows: Indices | slice | None = None, cols: Indices | slice | None = None) -> Array:
        """Return the dense block of the given rows and columns (all of a side when None) as a new float64 array."""
        block = self._values if rows is None else self._values[rows]
        block = block if cols is None else block[:, cols]
        return block.toarray().astype(np.float64, copy=False) if self.is_sparse else np.array(block, dtype=np.float64)

    def column(self, j: int) -> Array:
        """Return one column as a new dense float64 array."""
        if not self.is_sparse:
            return np.asarray(self.take(cols=np.array([j]))[:, 0])
        # A product is faster than an index in a row format.
        return self.dot((np.arange(self.shape[1]) == j).astype(np.float64))

    def columns(self, indices: Indices) -> "LocalMatrix":
        """Return the given columns as a matrix, in CSC format if it is sparse, which makes further calls cheap.

        All columns in their order share memory with the matrix if possible.
        """
        values = self._values.tocsc() if self.is_sparse else self._values
        whole = np.array_equal(indices, np.arange(self.shape[1]))
        return LocalMatrix(values if whole else values[:, indices], self._exponent)

    def largest_differences(self, other: "LocalMatrix") -> Array:
        """Return the largest absolute difference of each column from that of a matrix of the same kind and units."""
        apart = abs(self._values - other.raw).max(axis=0)
        return np.asarray(apart.toarray().ravel() if self.is_sparse else apart)

    def part(self, rows: Indices, cols: Indices) -> "LocalMatrix":
        """Return the given rows and columns as a new matrix of the same kind, order of memory and type."""
        values = self._values[rows][:, cols]
        if not self.is_sparse:
            values = np.asarray(values, order="C" if self._values.flags.c_contiguous else "F")
        return LocalMatrix(values, self._exponent)

    def dense_part(self, rows: Indices, cols: Indices) -> "LocalMatrix":
        """Return the given rows and columns as a new dense matrix in float64."""
        return LocalMatrix(self.take(rows, cols), self._exponent)

    def scaled(self, row_scale: Array, col_scale: Array) -> "LocalMatrix":
        """``diag(row_scale) @ X @ diag(col_scale)`` as a new matrix of the same kind, in float64."""
        if self.is_sparse:
            X = self._values
            of_major, of_minor = (row_scale, col_scale) if X.format == "csr" else (col_scale, row_scale)
            data = X.data * np.repeat(of_major, np.diff(X.indptr)) * of_minor[X.indices]
            return LocalMatrix(type(X)((data, X.indices, X.indptr), shape=X.shape), self._exponent)
        return LocalMatrix(self._values * row_scale[:, None] * col_scale, self._exponent)


def pieces_of(X: Any, count: int) -> list[Piece]:
    """Cut a matrix in CSR format into pieces of about as many stored entries, sharing memory."""
    ends = np.searchsorted(X.indptr, np.arange(1, count) * (X.nnz / max(count, 1)))
    pieces = []
    for start, stop in pairwise((0, *ends.tolist(), X.shape[0])):
        starts = X.indptr[start : stop + 1]
        stored = slice(starts[0], starts[-1])
        piece = type(X)((X.data[stored], X.indices[stored], starts - starts[0]), shape=(stop - start, X.shape[1]))
        pieces.append(Piece(slice(start, stop), piece, piece.T))
    return pieces


def stack(pieces: Sequence[Any]) -> Any:
    """Concatenate the rows of arrays and sparse arrays; the result is sparse if one of them is."""
    if len(pieces) == 1:
        return pieces[0]
    if any(scipy.sparse.issparse(piece) for piece in pieces):
        return scipy.sparse.vstack([scipy.sparse.csr_array(piece) for piece in pieces], format="csr")
    return np.concatenate([np.asarray(piece) for piece in pieces])


def stacked(matrices: Sequence[LocalMatrix]) -> LocalMatrix:
    """Concatenate the rows of matrices in the same units; the result is sparse if one of them is."""
    return LocalMatrix(stack([M.raw for M in matrices]))
