"""A matrix enters, its leading singular values and vectors leave, the same ones every time.

The ARPACK of SciPy draws random numbers when its Krylov space is exhausted, as it is for matrices of low rank or with
equal singular values; this one draws the same numbers every time.

Notation
--------
A : the matrix, or its transpose if that has fewer columns
Q : orthonormal basis of a Krylov space of A'A; H = Q'A'AQ
"""

import numpy as np
import scipy.linalg

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array

# Up to this many columns the Gram matrix is cheaper than a Krylov space; so it is where the space would be all of it.
FEW = 150
# Beyond the vectors asked for: those that a restart keeps, and the most that are stored.
KEPT, STORED = 4, 18
# Residual of an eigenvalue of A'A, relative to it; and relative to the largest one, what rounding leaves.
TOL, ROUNDING = 1e-10, 1e-15
# For spectra that are flat but not quite: any vectors from there are as good.
MOST_RESTARTS = 100


def leading_triplets(M: LocalMatrix, k: int) -> tuple[Array, Array, Array]:
    """Return U, s and V of the best approximation ``U diag(s) V'`` of rank k, or of full rank if that is less.

    The space comes from A'A, where small singular values drown in the square of the largest; within it they are
    computed afresh.
    """
    A = M if M.shape[1] <= M.shape[0] else M.T
    n = A.shape[1]
    basis = gram_eigenvectors(A, min(k, n)) if n <= max(FEW, k + STORED) else lanczos(A, k)
    left, s, rotation = scipy.linalg.svd(A.dot(basis), full_matrices=False)
    right = basis @ rotation.T
    return (left, s, right) if A is M else (right, s, left)


def gram_eigenvectors(A: LocalMatrix, k: int) -> Array:
    """Return a basis of the k leading eigenvectors of A'A, from all of it."""
    n = A.shape[1]
    return np.asarray(scipy.linalg.eigh(A.gram(), subset_by_index=(n - k, n - 1))[1])


def lanczos(A: LocalMatrix, k: int) -> Array:
    """Return a basis of the k leading eigenvectors of A'A, by Lanczos' method with thick restarts.

    K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22, 602-616, 2000, doi:10.1137/S0895479898334605.
    """
    n = A.shape[1]
    random = np.random.default_rng(0)
    size, kept = k + STORED, k + KEPT
    Q, H = np.zeros((n, size)), np.zeros((size, size))
    follower, start = random.random(n), 0
    for _ in range(MOST_RESTARTS):
        for j in range(start, size):
            length = float(np.linalg.norm(follower))
            if length <= ROUNDING * H.max():
                follower, _ = _orthogonalized(random.standard_normal(n), Q[:, :j])
                length = float(np.linalg.norm(follower))
            Q[:, j] = follower / length
            follower, H[: j + 1, j] = _orthogonalized(A.cross(A.dot(Q[:, j])), Q[:, : j + 1])
        values, vectors = scipy.linalg.eigh(H, lower=False, subset_by_index=(size - kept, size - 1))
        residuals = float(np.linalg.norm(follower)) * np.abs(vectors[-1])
        Q[:, :kept], H[:] = Q @ vectors, 0.0
        H[range(kept), range(kept)] = values
        start = kept
        if (residuals[-k:] <= TOL * values[-k:] + ROUNDING * values[-1]).all():
            break
    return Q[:, kept - k : kept]


def _orthogonalized(v: Array, Q: Array) -> tuple[Array, Array]:
    """Return what is left of v, and the coefficients of what is not; twice, as once leaves rounding behind."""
    once = Q.T @ v
    v = v - Q @ once
    again = Q.T @ v
    return v - Q @ again, once + again
