"""Observed: a matrix of which some entries were not observed, its gaps.

Either the gaps or the observed entries are listed, whichever are fewer for a dense matrix; of a sparse matrix of which
only stored entries are observed, those. Answers are those for the matrix divided by its power of two, as those of a
`LocalMatrix`.

Notation
--------
X : data, m x n, zero in its gaps; W : m x r and H : r x n with W H about X; D, E : factors of rows and columns
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.kernels.gaps import listed_sums, product_at
from cosep.matrix.completed import Completed
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.matrix.positions import Listed, Positions, positions_at
from cosep.utils.types import Array, Indices


class Observed:
    """A matrix with gaps.

    Parameters
    ----------
    zeroed : LocalMatrix
        The matrix with zeros in its gaps.
    listed : Positions
        The gaps, or the observed entries.
    lists_gaps : bool
        Whether the gaps are listed.
    """

    def __init__(self, zeroed: LocalMatrix, listed: Positions, *, lists_gaps: bool) -> None:
        self.zeroed, self.listed, self.lists_gaps = zeroed, listed, lists_gaps

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self.zeroed.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the data."""
        return self.zeroed.dtype

    @cached_property
    def T(self) -> "Observed":
        """The transpose, sharing memory."""
        return Observed(self.zeroed.T, self.listed.T, lists_gaps=self.lists_gaps)

    @property
    def by_rows(self) -> Listed:
        """What is listed of each row."""
        return self.listed.by_rows

    @property
    def n_observed(self) -> int:
        """The number of observed entries."""
        m, n = self.shape
        return m * n - len(self.listed) if self.lists_gaps else len(self.listed)

    @property
    def n_missing(self) -> int:
        """The number of gaps."""
        return self.shape[0] * self.shape[1] - self.n_observed

    @cached_property
    def observed_per_row(self) -> Array:
        """The number of observed entries of each row."""
        return self.observed_sums(np.ones((self.shape[1], 1)))[:, 0]

    def observed_sums(self, B: Array) -> Array:
        """Return the sums over those rows of B whose columns are observed, for each row."""
        sums = listed_sums(*self.by_rows, np.ascontiguousarray(B))
        return np.asarray(B.sum(axis=0) - sums if self.lists_gaps else sums)

    def gap_sums(self, B: Array) -> Array:
        """Return the sums over those rows of B whose columns are gaps, for each row."""
        return np.asarray(B.sum(axis=0) - self.observed_sums(B))

    def rows(self, rows: Indices | slice) -> "Observed":
        """Return the given rows."""
        return Observed(self.zeroed.rows(rows), self.listed.take_rows(rows), lists_gaps=self.lists_gaps)

    def mask(self, rows: slice) -> NDArray[np.bool_]:
        """Return which entries of a few rows are gaps."""
        listed = self.listed.mask(rows)
        return listed if self.lists_gaps else ~listed

    def is_gap(self, rows: Indices, cols: Indices) -> NDArray[np.bool_]:
        """Return which entries of a few rows and columns are gaps."""
        gaps = [self.mask(slice(int(i), int(i) + 1))[0, cols] for i in rows]
        return np.array(gaps, dtype=bool).reshape(len(rows), len(cols))

    def take(self, rows: Indices | None, cols: Indices | None, W: Array, H: Array) -> Array:
        """Return the dense block of the given rows or columns, or both, which are few, with gaps filled by ``W H``."""
        if rows is None:
            assert cols is not None  # noqa: S101
            return self.T.take(cols, None, H.T, W.T).T
        wanted = np.arange(self.shape[1]) if cols is None else cols
        block, gaps = self.zeroed.take(rows, wanted), self.is_gap(rows, wanted)
        block[gaps] = (W[rows] @ H[:, wanted])[gaps]
        return block

    def as_given(self) -> Any:
        """Return the data in its own units with NaN in gaps; unstored entries of a sparse matrix stay so."""
        M = self.zeroed.in_data_units().stored_by_rows()
        if not self.lists_gaps and M.is_sparse:
            return M.raw
        if M.is_sparse:
            indices, indptr = self.by_rows
            nan = scipy.sparse.csr_array((np.full(len(indices), np.nan), indices, indptr), shape=self.shape)
            return scipy.sparse.csr_array(M.raw + nan)
        values = np.array(M.raw, order="C")
        for rows in self.row_slices():
            values[rows][self.mask(rows)] = np.nan
        return values

    def row_slices(self) -> Iterator[slice]:
        """Yield all rows, a few at a time."""
        m, n = self.shape
        size = max(1, BLOCK_ENTRIES // max(n, 1))
        return (slice(start, min(start + size, m)) for start in range(0, m, size))

    def completed(self, W: Array, H: Array, D: Array | None = None, E: Array | None = None) -> LocalMatrix:
        """Return ``D Y E``, where Y is X with its gaps filled by ``W H``, both nonnegative.

        The result has the power of two of X. It is a `Completed` matrix if X is sparse and its observed entries are
        listed, otherwise one of the kind of X.
        """
        m, n = self.shape
        X = self.zeroed
        D, E = np.ones(m) if D is None else D, np.ones(n) if E is None else E
        if not X.is_sparse:
            return self._completed_dense(W, H, D, E)
        if self.lists_gaps:
            indices, indptr = self.by_rows
            products = product_at(indices, indptr, np.ascontiguousarray(W), np.ascontiguousarray(H.T))
            filled = scipy.sparse.csr_array((products, indices, indptr), shape=self.shape) + X.mantissa.raw
            return LocalMatrix(scipy.sparse.csr_array(filled)).scaled(D, E).with_exponent(X, 0)
        R = LocalMatrix(self._residual(W, H))
        return Completed(R.scaled(D, E).raw, W * D[:, None], H * E).with_exponent(X, 0)

    def _completed_dense(self, W: Array, H: Array, D: Array, E: Array) -> LocalMatrix:
        values = np.empty(self.shape)
        for rows in self.row_slices():
            block = self.zeroed.take(rows=rows)
            gaps = self.mask(rows)
            block[gaps] = (W[rows] @ H)[gaps]
            np.multiply(block, D[rows, None] * E, out=values[rows])
        return LocalMatrix(values).with_exponent(self.zeroed, 0)

    def squared_error(self, W: Array, H: Array, D: Array, E: Array) -> float:
        """``||D (X - W H) E||_F^2`` over the observed entries."""
        return float(D**2 @ self.squared_row_errors(W, H, E))

    def squared_row_errors(self, W: Array, H: Array, E: Array) -> Array:
        """``||(x_i - w_i H) E||^2`` over the observed entries of each row."""
        if self.zeroed.is_sparse and not self.lists_gaps:
            return LocalMatrix(self._residual(W, H)).scaled(np.ones(len(W)), E).T.squared_norms()
        errors = np.zeros(len(W))
        for rows in self.row_slices():
            left = (self.zeroed.take(rows=rows) - W[rows] @ H) * E
            left[self.mask(rows)] = 0.0
            errors[rows] = np.einsum("ij,ij->i", left, left)
        return errors

    def squared_norm(self, D: Array, E: Array) -> float:
        """``||D X E||_F^2`` over the observed entries."""
        return _squared_norm(self.zeroed, D, E)

    def _residual(self, W: Array, H: Array) -> Any:
        """Return X minus ``W H`` at the stored entries."""
        stored = self.zeroed.stored_by_rows().raw
        products = product_at(stored.indices, stored.indptr, np.ascontiguousarray(W), np.ascontiguousarray(H.T))
        return scipy.sparse.csr_array((stored.data - products, stored.indices, stored.indptr), shape=self.shape)

    def without(self, share: float) -> tuple["Observed", "Observed"]:
        """Return the matrix without about this share of its observed entries, and with those alone.

        They depend on their positions alone, and not on how the matrix is stored.
        """
        if self.lists_gaps:
            parts = [self._chosen_in(rows, share) for rows in self.row_slices()]
            chosen = np.concatenate(parts)
            rest = np.union1d(self.listed.flat(), chosen)
        else:
            flat = self.listed.flat()
            taken = _is_taken(self.listed.rows(), self.by_rows.indices, share)
            chosen, rest = flat[taken], flat[~taken]
        rows, cols = np.divmod(chosen, self.shape[1])
        values = np.asarray(self.zeroed.raw[rows, cols], dtype=np.float64).ravel()
        alone = positions_at(chosen, self.shape)
        held = LocalMatrix(scipy.sparse.csr_array((values, *alone.by_rows), shape=self.shape))
        less = _Less(self.zeroed.mantissa, held)
        known = Observed(less, positions_at(rest, self.shape), lists_gaps=self.lists_gaps)
        return known, Observed(held, alone, lists_gaps=False)

    def _chosen_in(self, rows: slice, share: float) -> Indices:
        """Return which observed entries of a few rows are left out, as ``row * n_cols + col``."""
        positions = np.arange(rows.start, rows.stop)[:, None], np.arange(self.shape[1])
        i, j = np.nonzero(_is_taken(*positions, share) & ~self.mask(rows))
        return np.asarray((i + rows.start) * self.shape[1] + j, dtype=np.intp)


def _is_taken(rows: NDArray[Any], cols: NDArray[Any], share: float) -> NDArray[np.bool_]:
    """Return which positions a hash puts below a share; the same ones in the transpose."""
    return np.asarray(_mixed(_mixed(rows) + _mixed(cols)) < np.uint64(share * 2.0**63) * np.uint64(2))


def _mixed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that look random; the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _squared_norm(M: LocalMatrix, D: Array, E: Array) -> float:
    """``||D M E||_F^2``, without forming that matrix if it is dense."""
    if isinstance(M, _Less):
        return _squared_norm(M.of, D, E) - _squared_norm(M.less, D, E)
    if M.is_sparse:
        return M.scaled(D, E).squared_norm()
    total = np.zeros(M.shape[1])
    for rows, block in M.dense_blocks():
        total += np.einsum("i,ij,ij->j", D[rows] ** 2, block, block)
    return float(total @ E**2)


class _Less(LocalMatrix):
    """A matrix minus a sparse one, for products and norms only."""

    def __init__(self, M: LocalMatrix, less: LocalMatrix) -> None:
        super().__init__(None)
        self.of, self.less = M, less

    @property
    def shape(self) -> tuple[int, int]:
        return self.of.shape

    @property
    def is_sparse(self) -> bool:
        return self.of.is_sparse

    @property
    def T(self) -> "_Less":
        return _Less(self.of.T, self.less.T)

    def rows(self, indices: Indices | slice) -> "_Less":
        return _Less(self.of.rows(indices), self.less.rows(indices))

    def dot(self, B: Array) -> Array:
        return self.of.dot(B) - self.less.dot(B)

    def cross(self, B: Array) -> Array:
        return self.of.cross(B) - self.less.cross(B)
