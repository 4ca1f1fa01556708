"""The weights of all columns after one atom of the dictionary was exchanged for another.

Notation
--------
G : Gram matrix of the atoms, r x r, with the new atom at position k
B, b : products of all columns with the old atoms, n x r, and with the new one
V, W : weights of the old and of the new atoms, n x r
C, c, Q : the error of the core is ``sum_i w_i'Q w_i - 2 C_i'w_i``, with c in place of column k of C for the new atoms
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.compile import kernel
from cosep.kernels.quadratic import active_set

Array = NDArray[np.float64]


@kernel
def exchange_atom(
    G: Array,
    B: Array,
    V: Array,
    k: int,
    C: Array,
    Q: Array,
    new: Array,
    before: Array,
    W: Array,
    changed: NDArray[np.bool_],
) -> tuple[float, float]:
    """Find the new weights from the exact old ones; return by how much the two sums over all columns change.

    The sums are ``sum_i b_i'w_i``, what the atoms explain, and the error of the core; ``before`` has the terms of both
    for the old atoms, and ``new`` the columns b and c. A column that has no weight of the old atom, and that the new
    one does not help, keeps its weights. Only the rows of W that are ``changed`` are written.
    """
    n, r = V.shape
    free, status = np.empty(r, np.int64), np.empty(r, np.int8)
    L, x, norms, target = np.zeros((r, r)), np.zeros(r), np.sqrt(np.diag(G)), np.empty(r)
    explained, core = 0.0, 0.0
    for i in range(n):
        slope = new[i, 0]
        if V[i, k] == 0.0 and slope > 0.0:
            for p in range(r):
                slope -= G[k, p] * V[i, p]
        changed[i] = V[i, k] > 0.0 or slope > 0.0
        if not changed[i]:
            continue
        w = W[i]
        for p in range(r):
            w[p], target[p] = V[i, p], B[i, p]
        w[k], target[k] = 0.0, new[i, 0]
        if V[i, k] > 0.0:
            for p in range(r):
                slope -= G[k, p] * w[p]
        w[k] = max(slope, 0.0) / G[k, k]
        active_set(G, norms, target, w, free, status, L, x)
        explained -= before[i, 0]
        core -= before[i, 1]
        for p in range(r):
            if w[p] > 0.0:
                total = -2.0 * (new[i, 1] if p == k else C[i, p])
                for q in range(r):
                    total += Q[p, q] * w[q]
                explained += w[p] * target[p]
                core += w[p] * total
    return explained, core


@kernel
def expected_sums(
    factors: Array,
    weights: Array,
    itself: Array,
    squares: Array,
    sizes: Array,
    linear: Array,
    without: Array,
    rows: float,
    core_weight: float,
    sums: Array,
) -> None:
    """Write the expected sums of errors, for every column j as the new atom k.

    Parameters
    ----------
    factors, weights, itself : ndarray of shape (n, r)
        Column j has factors(j,k) times weights(:,k) as weights in all columns, and itself(j,k) in itself.
    squares : ndarray of shape (3, n)
        Squared norms of the columns, of single copies of them, and of the columns in the term of the core.
    sizes : ndarray of shape (r,)
        Squared norms of the weights.
    linear : ndarray of shape (n, r)
        Half of the linear terms of the error of the core.
    without : ndarray of shape (2, r)
        Errors of columns and core without atom k.
    rows, core_weight : float
        The error of the rows, and the weight of that of the core.
    sums : ndarray of shape (n, r)
        The result.
    """
    n, r = sums.shape
    for j in range(n):
        for k in range(r):
            factor = factors[j, k]
            square = factor * factor * sizes[k]
            more = itself[j, k] - factor * weights[j, k]
            cols = without[0, k] - squares[0, j] * square - squares[1, j] * more * more
            core = without[1, k] - 2.0 * factor * linear[j, k] + square * squares[2, j]
            sums[j, k] = rows + cols + core_weight * core
