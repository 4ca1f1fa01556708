"""The cone spanned by columns of a matrix, and its nearest points to other columns.

Notation
--------
C : the data with rows in Curtis-Reid scaling and columns that sum to one: each column is a point of the simplex
A : those columns of C that span the cone
V : weights, one row for each combination of columns of A
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from cosep.kernels.quadratic import orthant_active_set
from cosep.matrix.curtis_reid import Exponents, balanced_rows
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices

# The largest number of columns that are processed together.
BATCH_SIZE = 256


class Simplex(NamedTuple):
    """A matrix X with rows in Curtis-Reid scaling and columns that sum to one.

    Parameters
    ----------
    C : LocalMatrix
        ``C = diag(2**r) X diag(2**exponents / sums)``. All-zero columns stay zero.
    sums : ndarray of shape (n,)
        The sums of the scaled columns; one for an all-zero column.
    exponents : ndarray of int
        The exponents of the columns.
    nonzero : ndarray of int
        The columns that are not all zero.
    """

    C: LocalMatrix
    sums: Array
    exponents: Exponents
    nonzero: Indices

    def weights_of_data(self, weights: Array, k: Indices, j: Any) -> Array:
        """Convert weights of columns k of C in column j of C to weights for the same columns of X."""
        with np.errstate(over="ignore"):
            scaled = np.ldexp(weights * self.sums[j] / self.sums[k], self.exponents[k] - self.exponents[j])
        return np.asarray(scaled)

    def weights_of_points(self, weights: Array, k: Indices, j: Any) -> Array:
        """Convert weights of columns k of X in column j of X to weights for the same columns of C."""
        return self.weights_of_data(weights, j, k)


def on_simplex(M: LocalMatrix) -> Simplex:
    """Scale the columns of a matrix to points of the simplex, where the units of rows and columns do not matter."""
    A, _, exponents = balanced_rows(M)
    sums = A.sums()
    nonzero = np.flatnonzero(sums)
    sums[sums == 0] = 1.0
    return Simplex(A.scaled(np.ones(M.shape[0]), 1.0 / sums), sums, exponents, nonzero)


def columns(C: LocalMatrix, cols: Indices) -> LocalMatrix:
    """Return some columns as a new matrix that is stored by columns."""
    return C.T.rows(cols).T


def batches(cols: Indices, m: int) -> Iterator[Indices]:
    """Yield the columns in batches that make small dense blocks of m rows."""
    size = min(BATCH_SIZE, max(1, BLOCK_ENTRIES // m))
    for start in range(0, len(cols), size):
        yield cols[start : start + size]


class Cone:
    """The cone ``{A v: v >= 0}`` of columns A that are not zero."""

    def __init__(self, A: LocalMatrix) -> None:
        self.A = A
        norms = np.sqrt(A.squared_norms())
        self.norms = np.where(norms > 0, norms, 1.0)
        self.G = A.gram() / (self.norms[:, None] * self.norms)

    def nearest(self, block: Array) -> tuple[Array, Array]:
        """Return the weights of the nearest point of the cone to each row of the block, and the residuals.

        Exact up to the rounding of Gram matrices: ``residual'a <= 0`` for all columns a of A, to 1e-14 of their norms.
        """
        V = np.zeros((len(block), len(self.norms)))
        orthant_active_set(self.G, np.ascontiguousarray(self.A.cross(block.T).T) / self.norms, V)
        V /= self.norms
        return V, block - self.A.dot(V.T).T

    def nearest_to_others(self, k: int) -> tuple[Array, Array]:
        """Return the same for column k of A and the cone of its other columns."""
        curvature = self.G[k, k]
        # A variable without curvature stays at zero.
        self.G[k, k] = 0.0
        V, residuals = self.nearest(self.A.take(cols=np.array([k])).T)
        self.G[k, k] = curvature
        return V, residuals


def relative_norms(residuals: Array, block: Array) -> Array:
    """Return the norms of residuals relative to those of the rows of the block; zero for an all-zero row."""
    norms = np.linalg.norm(block, axis=1)
    return np.asarray(np.divide(np.linalg.norm(residuals, axis=1), norms, out=np.zeros(len(norms)), where=norms > 0))


def cone_weights(C: LocalMatrix, cols: Indices) -> tuple[Any, Array]:
    """Return the weights of the columns ``cols`` in each column, as rows of a sparse array, and the relative residuals.

    The weights are those of the nearest point of the cone of ``cols``.
    """
    m, n = C.shape
    residuals = np.zeros(n)
    others = np.setdiff1d(np.arange(n), cols)
    parts = [scipy.sparse.eye_array(len(cols), format="csr")]
    if others.size:
        cone = Cone(columns(C, cols))
        for some in batches(others, m):
            block = C.take(cols=some).T
            V, left_over = cone.nearest(block)
            residuals[some] = relative_norms(left_over, block)
            parts.append(scipy.sparse.csr_array(V))
    V = scipy.sparse.vstack(parts, format="csr")
    return V[np.argsort(np.concatenate([cols, others]))], residuals


def unscaled(V: Any, simplex: Simplex, cols: Indices, dtype: np.dtype[Any]) -> Any:
    """Convert weights of points of the simplex, one point per row, to weights of the data, one column per column."""
    weights = V.tocoo()
    j, k = weights.coords
    # Keep the weights of selected columns exactly one.
    data = np.where(cols[k] == j, weights.data, simplex.weights_of_data(weights.data, cols[k], j))
    return scipy.sparse.csc_array((narrow(data, dtype), (k, j)), shape=(len(cols), len(simplex.sums)))
