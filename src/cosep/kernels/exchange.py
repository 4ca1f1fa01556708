"""The weights of all columns after one atom of the dictionary was exchanged for another.

Notation
--------
k : position of the exchanged atom
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
    k: NDArray[np.intp],
    b: Array,
    C: Array,
    c: Array,
    Q: Array,
    before: Array,
    start: int,
    stop: int,
    sums: Array,
    W: Array,
) -> None:
    """Add, for each of some exchanges of one atom, by how much two sums over the columns from start to stop change.

    The sums are ``sum_i b_i'w_i``, what the atoms explain, and the error of the core; ``before`` has the terms of both
    for the old atoms. ``G[t]``, ``k[t]``, ``b[t]``, ``c[t]`` and ``Q[t]`` belong to exchange t, whose changes are added
    to ``sums[t]``. The weights are found from the exact old ones; those of exchange t are written to ``W[t]``, unless W
    is empty. A column that has no weight of the old atom, and that the new one does not help, keeps its weights.
    """
    r = V.shape[1]
    free, status = np.empty(r, np.int64), np.empty(r, np.int8)
    L, x, w, target, norms = np.zeros((r, r)), np.zeros(r), np.empty(r), np.empty(r), np.empty(r)
    for t in range(len(k)):
        explained, core, gram, at, quadratic = 0.0, 0.0, G[t], k[t], Q[t]
        for p in range(r):
            norms[p] = np.sqrt(gram[p, p])
        for i in range(start, stop):
            slope = b[t, i]
            if V[i, at] == 0.0 and slope > 0.0:
                for p in range(r):
                    slope -= gram[at, p] * V[i, p]
            if V[i, at] == 0.0 and slope <= 0.0:
                if len(W):
                    W[t, i] = V[i]
                continue
            for p in range(r):
                w[p], target[p] = V[i, p], B[i, p]
            w[at], target[at] = 0.0, b[t, i]
            if V[i, at] > 0.0:
                for p in range(r):
                    slope -= gram[at, p] * w[p]
            w[at] = max(slope, 0.0) / gram[at, at]
            active_set(gram, norms, target, w, free, status, L, x)
            explained -= before[i, 0]
            core -= before[i, 1]
            for p in range(r):
                if w[p] > 0.0:
                    total = -2.0 * (c[t, i] if p == at else C[i, p])
                    for q in range(r):
                        total += quadratic[p, q] * w[q]
                    explained += w[p] * target[p]
                    core += w[p] * total
            if len(W):
                W[t, i] = w
        sums[t, 0] += explained
        sums[t, 1] += core


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
