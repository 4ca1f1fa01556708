"""The weights of all columns after one atom of the dictionary was exchanged for another.

Notation
--------
k : position of the exchanged atom
G : Gram matrix of the old atoms, r x r; g : products of the new atom with them
B, b : products of all columns with the old atoms, n x r, and with the new one
V, W : weights of the old and of the new atoms, n x r
C, c, Q : the error of the core is ``sum_i w_i'Q w_i - 2 C_i'w_i``, with c in place of column k of C for the new atoms
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.cholesky import ZERO
from cosep.kernels.compile import kernel
from cosep.kernels.quadratic import active_set, reciprocal_norms

Array = NDArray[np.float64]

# An atom nearly depends on others if what they leave of it is a smaller share of its square than one in this number.
MAX_INFLATION = 1e4
# A slope of the objective is zero up to rounding if it is a smaller share of the product with the atom.
SLOPE_TOL = 1e-13


@kernel
def invert(G: Array, free: NDArray[np.int64], size: int, H: Array) -> bool:
    """Write the inverse of the rows and columns of G in ``free`` to H; return False if they nearly depend on others."""
    for p in range(size):
        for q in range(size):
            H[p, q] = G[free[p], free[q]]
    for p in range(size):
        pivot = H[p, p]
        if pivot * MAX_INFLATION < G[free[p], free[p]]:
            return False
        H[p, p] = 1.0
        for q in range(size):
            H[p, q] /= pivot
        for i in range(size):
            if i != p:
                share = H[i, p]
                H[i, p] = 0.0
                for q in range(size):
                    H[i, q] -= share * H[p, q]
    largest = 0.0
    for p in range(size):
        largest = max(largest, H[p, p] * G[free[p], free[p]])
    return bool(largest <= MAX_INFLATION)


@kernel
def exchange_atom(
    G: Array,
    B: Array,
    V: Array,
    k: NDArray[np.intp],
    g: Array,
    squares: Array,
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
    for the old atoms. Exchange t replaces atom ``k[t]`` by one with products ``g[:, t]`` with the old atoms and the
    squared norm ``squares[t]``; ``b[:, t]``, ``c[:, t]`` and ``Q[t]`` belong to it, its changes are added to
    ``sums[t]``, and the weights are written to ``W[t]``, unless W is empty.

    The weights are found from the exact old ones. If the free atoms are the old ones without k and with the new one,
    the inverse of the Gram matrix of the old free atoms, the same for all exchanges, gives the new weights in closed
    form. If these are not the minimiser, or a free atom nearly depends on others, the active-set method goes on.
    """
    r, count = V.shape[1], len(k)
    free, of_old, status = np.empty(r, np.int64), np.empty(r, np.int64), np.empty(r, np.int8)
    position, new_G, scale = np.empty(r, np.int64), np.empty((r, r)), np.empty(r)
    L, H, x, w, target = np.zeros((r, r)), np.zeros((r, r)), np.zeros(r), np.empty(r), np.empty(r)
    old_scale, U, slopes, schurs = reciprocal_norms(G), np.empty((r, count)), np.empty(count), np.empty(count)
    for i in range(start, stop):
        n_old = ZERO
        for p in range(r):
            position[p] = -1
            if V[i, p] > 0.0 and old_scale[p] > 0.0:
                of_old[n_old], position[p] = p, n_old
                n_old += 1
        independent = invert(G, of_old, n_old, H)
        for t in range(count):
            slopes[t], schurs[t] = b[i, t], squares[t]
        for p in range(n_old):
            for t in range(count):
                U[p, t] = 0.0
            for q in range(n_old):
                share, atom = H[p, q], of_old[q]
                for t in range(count):
                    U[p, t] += share * g[atom, t]
            weight, atom = V[i, of_old[p]], of_old[p]
            for t in range(count):
                slopes[t] -= weight * g[atom, t]
                schurs[t] -= U[p, t] * g[atom, t]
        for t in range(count):
            at = k[t]
            gone = position[at]
            weight, loss, slope, schur = 0.0, 0.0, slopes[t], schurs[t]
            if gone >= 0:
                weight, loss = V[i, at] / H[gone, gone], U[gone, t] / H[gone, gone]
                slope += U[gone, t] * weight
                schur += U[gone, t] * loss
            elif slope <= 0.0:
                if len(W):
                    W[t, i] = V[i]
                continue
            solved = independent and schur * MAX_INFLATION > squares[t]
            for p in range(r):
                w[p] = 0.0 if solved else V[i, p]
            if solved:
                new = max(slope, 0.0) / schur
                w[at] = new
                for p in range(n_old):
                    if p != gone:
                        value = V[i, of_old[p]] - U[p, t] * new
                        if gone >= 0:
                            value -= H[p, gone] * (weight - loss * new)
                        w[of_old[p]] = max(value, 0.0)
                        solved = solved and value > 0.0
            if solved:
                for p in range(r):
                    x[p] = B[i, p] - g[p, t] * w[at]
                for q in range(n_old):
                    if q != gone:
                        value, atom = w[of_old[q]], of_old[q]
                        for p in range(r):
                            x[p] -= value * G[atom, p]
                for p in range(r):
                    if position[p] < 0 and p != at and x[p] > SLOPE_TOL * abs(B[i, p]):
                        solved, w[p] = False, x[p] / G[p, p]
            if not solved:
                for p in range(r):
                    for q in range(r):
                        new_G[p, q] = G[p, q]
                for p in range(r):
                    new_G[at, p] = new_G[p, at] = g[p, t]
                new_G[at, at] = squares[t]
                for p in range(r):
                    target[p], scale[p] = B[i, p], old_scale[p]
                scale[at], target[at] = 1.0 / np.sqrt(squares[t]), b[i, t]
                active_set(new_G, scale, target, w, free, status, L, x)
            sums[t, 0] += b[i, t] * w[at] - before[i, 0]
            sums[t, 1] -= 2.0 * c[i, t] * w[at] + before[i, 1]
            w_new, w[at] = w[at], 0.0
            for p in range(r):
                sums[t, 0] += w[p] * B[i, p]
                sums[t, 1] -= 2.0 * w[p] * C[i, p]
                x[p] = w_new * Q[t, at, p]
            w[at] = w_new
            for q in range(r):
                if w[q] > 0.0 and q != at:
                    for p in range(r):
                        x[p] += w[q] * Q[t, q, p]
            for p in range(r):
                sums[t, 1] += w[p] * x[p]
            if len(W):
                W[t, i] = w


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
