"""Nonnegative least squares for rows with gaps, each of which has a Gram matrix of its own.

Row i minimises ``sum_observed (x_j - v h_j)^2 + w sum_gaps (a_i p_j - v h_j)^2`` over ``v >= 0``: a gap counts as a
share w of an entry, with the value ``a_i p_j``. Either the gaps or the observed entries are listed.

Notation
--------
indices, indptr : the listed positions of each row, as in CSR format
H : one row h_j for each column of the data; T = H'H
B : sums ``x_j h_j`` over the observed entries of each row
a, p : level of each row, profile of the columns; total : sum of all ``p_j h_j``
inside, outside : weights of listed positions and of the others, 1 for observed ones and w for gaps
G, b : Gram matrix and linear term of one row
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.compile import kernel
from cosep.kernels.quadratic import active_set

Array = NDArray[np.float64]
Listed = NDArray[np.int32]
Pointers = NDArray[np.int64]

# What is added to each diagonal entry, as a share of that of T: of many best weights it chooses small ones.
RIDGE = 1e-11


@kernel
def listed_sums(indices: Listed, indptr: Pointers, B: Array) -> Array:
    """Return the sums of the rows of B that are listed for each row."""
    m, r = len(indptr) - 1, B.shape[1]
    sums = np.zeros((m, r))
    for i in range(m):
        for q in range(indptr[i], indptr[i + 1]):
            for k in range(r):
                sums[i, k] += B[indices[q], k]
    return sums


@kernel
def product_at(indices: NDArray[np.integer], indptr: NDArray[np.integer], W: Array, H: Array) -> Array:
    """Return the entries ``w_i h_j`` at the listed positions."""
    products = np.zeros(len(indices))
    for i in range(len(indptr) - 1):
        for q in range(indptr[i], indptr[i + 1]):
            for k in range(W.shape[1]):
                products[q] += W[i, k] * H[indices[q], k]
    return products


@kernel
def row_problem(
    listed: Listed, H: Array, T: Array, p: Array, inside: float, outside: float, G: Array, b: Array
) -> None:
    """Write the Gram matrix of a row to G, and the sum of ``p_j h_j`` over its listed positions to b."""
    r = H.shape[1]
    b[:] = 0.0
    for k in range(r):
        for l in range(k + 1):
            G[k, l] = outside * T[k, l]
    for j in listed:
        for k in range(r):
            h = H[j, k]
            if h != 0.0:
                b[k] += p[j] * h
                h *= inside - outside
                for l in range(k + 1):
                    G[k, l] += h * H[j, l]
    for k in range(r):
        for l in range(k):
            G[l, k] = G[k, l]


@kernel
def orthant_with_gaps(
    indices: Listed,
    indptr: Pointers,
    lists_gaps: bool,
    H: Array,
    T: Array,
    B: Array,
    a: Array,
    p: Array,
    total: Array,
    w: float,
    polish: bool,
    V: Array,
    values: Array,
) -> None:
    """Solve for each row of V exactly, from its value; ``values`` becomes ``v'Gv - 2b'v``, the error but a constant.

    To ``polish`` is to solve again from the solution instead of zero: the ridge then changes it by its square only.
    """
    r = H.shape[1]
    inside, outside = (w, 1.0) if lists_gaps else (1.0, w)
    G, b = np.empty((r, r)), np.empty(r)
    free, status = np.empty(r, np.int64), np.empty(r, np.int8)
    L, x, norms, ridge = np.zeros((r, r)), np.zeros(r), np.empty(r), np.empty(r)
    for k in range(r):
        ridge[k] = RIDGE * T[k, k]
    for i in range(len(indptr) - 1):
        row_problem(indices[indptr[i] : indptr[i + 1]], H, T, p, inside, outside, G, b)
        for k in range(r):
            b[k] = B[i, k] + w * a[i] * (b[k] if lists_gaps else total[k] - b[k])
            G[k, k] += ridge[k]
            norms[k] = np.sqrt(max(G[k, k], 0.0))
        active_set(G, norms, b, V[i], free, status, L, x)
        value = 0.0
        if polish:
            for k in range(r):
                b[k] += ridge[k] * V[i, k]
            more = V[i].copy()
            active_set(G, norms, b, V[i], free, status, L, x)
            for k in range(r):
                b[k] -= ridge[k] * more[k]
        for k in range(r):
            slope = -2.0 * b[k]
            for l in range(r):
                slope += G[k, l] * V[i, l]
            value += V[i, k] * (slope - ridge[k] * V[i, k])
        values[i] = value
