"""Leading singular values and vectors of a matrix, the same ones in every call.

SciPy's `eigsh` is as accurate and takes 0.4 to 1.5 times as long on sparse document sets (2, 10 and 20 vectors of four
sets, 878 x 1000 to 18 846 x 1000). But it draws random numbers when its Krylov space is exhausted, as it
is for matrices of low rank or with equal singular values, and only SciPy 1.17 can seed them: with 1.16, the oldest that
we support, two equal calls differ.

Notation
--------
A : the matrix, or its transpose if that has fewer columns
Q : orthonormal basis of a Krylov space of A'A; H = Q'A'AQ
"""

import numpy as np
import scipy.linalg

from cosep.matrix.local import LocalMatrix
from cosep.utils.blas import one_blas_thread
from cosep.utils.types import Array

# Up to this many columns the Gram matrix is cheaper than a Krylov space.
MAX_GRAM_COLUMNS = 150
# Vectors beyond those asked for: kept by a restart, and stored at most.
EXTRA_KEPT, EXTRA_STORED = 4, 18
# Largest residual of an eigenvalue of A'A relative to it, and relative to the largest one (rounding).
RESIDUAL_TOL, ROUNDING = 1e-10, 1e-15
# Eigenvalues closer than this, relative to the largest one, are equal.
EQUAL_EIGENVALUE_TOL = 1e-8
# Nearly flat spectra converge slowly; after this many restarts any vectors of them are as good.
MAX_RESTARTS = 100


@one_blas_thread
def leading_triplets(M: LocalMatrix, k: int) -> tuple[Array, Array, Array]:
    """Return U, s and V of the best approximation ``U diag(s) V'`` of rank k, or of full rank if that is less.

    The space comes from A'A, where small singular values are lost in the square of the largest; within the space they
    are computed from A again.
    """
    A = M if M.shape[1] <= M.shape[0] else M.T
    n = A.shape[1]
    small = n <= max(MAX_GRAM_COLUMNS, k + EXTRA_STORED)
    basis, residuals = gram_eigenvectors(A, min(k, n)) if small else lanczos(A, k)
    left, s, rotation = scipy.linalg.svd(A.dot(basis), full_matrices=False)
    right = basis @ rotation.T
    M._spectrum[k] = s**2 + residuals[: len(s)]
    return (left, s, right) if A is M else (right, s, left)


def squared_singular_values(M: LocalMatrix, k: int) -> Array:
    """Return the k largest squared singular values, largest first, or all of them if there are fewer.

    Computed once. Up to rounding they are not too small: the residuals of the vectors are added.
    """
    k = min(k, *M.shape)
    if not any(known >= k for known in M._spectrum):
        leading_triplets(M, k)
    return np.asarray(M._spectrum[max(M._spectrum)][:k])


def gram_eigenvectors(A: LocalMatrix, k: int) -> tuple[Array, Array]:
    """Return a basis of the k leading eigenvectors of A'A, which is formed, and residuals of zero."""
    n = A.shape[1]
    return np.asarray(scipy.linalg.eigh(A.gram(), subset_by_index=(n - k, n - 1))[1]), np.zeros(k)


def lanczos(A: LocalMatrix, k: int) -> tuple[Array, Array]:
    """Return a basis of the k leading eigenvectors of A'A, by Lanczos' method with thick restarts, and residuals.

    The residuals are those of the eigenvalues, which are in the order of the largest first.

    K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22, 602-616, 2000, doi:10.1137/S0895479898334605.
    """
    n = A.shape[1]
    random = np.random.default_rng(0)
    size, kept = k + EXTRA_STORED, k + EXTRA_KEPT
    Q, H = np.zeros((n, size)), np.zeros((size, size))
    follower, start, starts = random.random(n), 0, 1
    for _ in range(MAX_RESTARTS):
        for j in range(start, size):
            length = float(np.linalg.norm(follower))
            if length <= ROUNDING * H.max():
                follower, _ = _orthogonalized(random.standard_normal(n), Q[:, :j])
                length = float(np.linalg.norm(follower))
                starts += 1
            Q[:, j] = follower / length
            follower, H[: j + 1, j] = _orthogonalized(A.cross(A.dot(Q[:, j])), Q[:, : j + 1])
        values, vectors = scipy.linalg.eigh(H, lower=False, subset_by_index=(size - kept, size - 1))
        residuals = float(np.linalg.norm(follower)) * np.abs(vectors[-1])
        Q[:, :kept], H[:] = Q @ vectors, 0.0
        H[range(kept), range(kept)] = values
        start = kept
        converged = (residuals[-k:] <= RESIDUAL_TOL * values[-k:] + ROUNDING * values[-1]).all()
        if converged and not (starts > 1 and _may_miss_copies(values, k, starts)):
            break
    return Q[:, kept - k : kept], residuals[-k:][::-1]


def _may_miss_copies(values: Array, k: int, starts: int) -> bool:
    """Return whether an eigenvalue above the k-th may have eigenvectors that are not in the space yet.

    Each random start finds one eigenvector of an eigenvalue; an eigenvalue of which fewer were found has no more. The
    last start may have been cut short.
    """
    near = EQUAL_EIGENVALUE_TOL * values[-1]
    above = values[values > values[-k] + near]
    copies = (np.abs(above[:, None] - above) <= near).sum(axis=1)
    return bool(copies.max(initial=0) >= starts - 1)


def _orthogonalized(v: Array, Q: Array) -> tuple[Array, Array]:
    """Return v without its projection on Q, and the coefficients of it; done twice because of rounding."""
    once = Q.T @ v
    v = v - Q @ once
    again = Q.T @ v
    return v - Q @ again, once + again
