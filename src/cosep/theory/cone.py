"""Columns of a matrix enter as the cone that they span; the nearest points of it to other columns leave.

Notation
--------
C : the data with rows in Curtis-Reid scaling and columns that sum to one: each column is a point of the simplex
A : those columns of C that span the cone
V : weights, one mix a row
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from cosep.kernels.quadratic import orthant_active_set
from cosep.matrix.local import BLOCK_ENTRIES, LocalMatrix
from cosep.theory.balancing import Exponents, balanced_rows
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices

# Columns looked at together.
BATCH = 256


class Simplex(NamedTuple):
    """A matrix M with rows in Curtis-Reid scaling and columns that sum to one.

    ``C = diag(2**r) M diag(2**exponents / sums)``. All-zero columns stay zero and have the sum one.
    """

    C: LocalMatrix
    sums: Array
    exponents: Exponents
    live: Indices

    def weights_of_data(self, weights: Array, k: Indices, j: Any) -> Array:
        """Return the weights of columns k of M in column j that given weights of columns of C stand for."""
        with np.errstate(over="ignore"):
            scaled = np.ldexp(weights * self.sums[j] / self.sums[k], self.exponents[k] - self.exponents[j])
        return np.asarray(scaled)

    def weights_of_points(self, weights: Array, k: Indices, j: Any) -> Array:
        """Return the weights of columns k of C in column j that given weights of columns of M stand for."""
        return self.weights_of_data(weights, j, k)


def on_simplex(M: LocalMatrix) -> Simplex:
    """Bring the columns of a matrix to the simplex. The units of rows and columns no longer matter there."""
    A, _, exponents = balanced_rows(M)
    sums = A.sums()
    live = np.flatnonzero(sums)
    sums[sums == 0] = 1.0
    return Simplex(LocalMatrix(A.scaled(np.ones(M.shape[0]), 1.0 / sums).values), sums, exponents, live)


def columns(C: LocalMatrix, cols: Indices) -> LocalMatrix:
    """Return some columns as a matrix of the same kind."""
    return LocalMatrix(C.values[:, cols])


def batches(cols: Indices, m: int) -> Iterator[Indices]:
    """Yield as many columns at a time as make a small dense block."""
    size = min(BATCH, max(1, BLOCK_ENTRIES // m))
    for start in range(0, len(cols), size):
        yield cols[start : start + size]


class Cone:
    """``{A v: v >= 0}`` for some columns A that are not zero."""

    def __init__(self, A: LocalMatrix) -> None:
        self.A = A
        norms = np.sqrt(A.squared_norms())
        self.norms = np.where(norms > 0, norms, 1.0)
        self.G = A.gram() / (self.norms[:, None] * self.norms)

    def nearest(self, block: Array) -> tuple[Array, Array]:
        """Return for each row of the block the weights of the nearest point of the cone, and what is left of the row.

        Exact up to the rounding of Gram matrices: ``left'a <= 0`` for all columns a of A, to 1e-14 of their norms.
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
        V, left = self.nearest(self.A.take(cols=np.array([k])).T)
        self.G[k, k] = curvature
        return V, left


def relative_norms(left: Array, block: Array) -> Array:
    """Return the norms of rows relative to those of other rows; a row of nothing is missed by nothing."""
    norms = np.linalg.norm(block, axis=1)
    return np.asarray(np.divide(np.linalg.norm(left, axis=1), norms, out=np.zeros(len(norms)), where=norms > 0))


def cone_weights(C: LocalMatrix, cols: Indices) -> tuple[Any, Array]:
    """Return all columns as mixes of the columns ``cols``, one a row of a sparse array, and the relative distances."""
    m, n = C.shape
    residuals = np.zeros(n)
    others = np.setdiff1d(np.arange(n), cols)
    parts = [scipy.sparse.eye_array(len(cols), format="csr")]
    if others.size:
        cone = Cone(columns(C, cols))
        for some in batches(others, m):
            block = C.take(cols=some).T
            V, left = cone.nearest(block)
            residuals[some] = relative_norms(left, block)
            parts.append(scipy.sparse.csr_array(V))
    V = scipy.sparse.vstack(parts, format="csr")
    return V[np.argsort(np.concatenate([cols, others]))], residuals


def unscaled(V: Any, simplex: Simplex, cols: Indices, dtype: np.dtype[Any]) -> Any:
    """Turn weights of columns that sum to one into weights of the columns of the data, one column a column."""
    weights = V.tocoo()
    j, k = weights.coords
    # Rounding of a scale over itself must not touch the identity.
    data = np.where(cols[k] == j, weights.data, simplex.weights_of_data(weights.data, cols[k], j))
    return scipy.sparse.csc_array((narrow(data, dtype), (k, j)), shape=(len(cols), len(simplex.sums)))
