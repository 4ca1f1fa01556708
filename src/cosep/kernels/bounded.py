"""Least squares with bounded weights for many columns, with gradient and Hessian of the error in the bounds.

Notation
--------
G : Gram matrix of the atoms, a x a; Q : inner products of every column with the atoms, n x a
d : upper bounds of the mixing weights, shared by all columns; om : weight of each column in the error
X : mixing weights, n x a; state : 0 at the lower bound, 1 free, 2 at the upper bound
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.cholesky import NONE, ZERO, append, remove, solve
from cosep.kernels.compile import kernel

Array = NDArray[np.float64]
States = NDArray[np.int8]
Positions = NDArray[np.int64]

LOWER, FREE, UPPER = 0, 1, 2
# An entry is freed if its multiplier has the wrong sign by more than this share of the largest diagonal entry.
SLACK = 1e-10


@kernel
def add_multiple(v: Array, share: float, row: Array) -> None:
    """``v += share * row``, without the temporary array that numba would make for this expression."""
    for i in range(v.shape[0]):
        v[i] += share * row[i]


@kernel
def bounded_column(
    G: Array, q: Array, d: Array, x: Array, state: States, free: Positions, L: Array, z: Array, v: Array
) -> int:
    """Solve ``min 1/2 x'Gx - q'x`` over ``0 <= x <= d`` by a primal active set, started from ``state``.

    Return the number of free entries. ``free`` lists them, ``L`` is their Cholesky factor and ``v`` the multipliers
    ``q - G x``.
    """
    a = G.shape[0]
    slack = 0.0
    for i in range(a):
        slack = max(slack, SLACK * G[i, i])
    rest = q.copy()  # q - G_U d_U, updated with U
    size = ZERO
    for i in range(a):
        if d[i] <= 0.0 or state[i] == LOWER:
            state[i], x[i] = LOWER, 0.0
        elif state[i] == UPPER:
            x[i] = d[i]
            add_multiple(rest, -d[i], G[i])
        else:
            x[i] = min(x[i], d[i])
            append(G, free, size, L, i)
            size += 1
    entered, origin, barred = NONE, LOWER, NONE
    for _ in range(10 * a + 20):
        for p in range(size):
            z[p] = rest[free[p]]
        solve(L, size, z)
        step, hit, side = 1.0, NONE, LOWER
        for p in range(size):
            i = free[p]
            if z[p] < 0.0:
                share = x[i] / (x[i] - z[p])
                if share < step:
                    step, hit, side = share, p, LOWER
            elif z[p] > d[i]:
                share = (d[i] - x[i]) / (z[p] - x[i])
                if share < step:
                    step, hit, side = share, p, UPPER
        for p in range(size):
            x[free[p]] = z[p] if hit < 0 else x[free[p]] + step * (z[p] - x[free[p]])
        if hit >= 0:
            i = free[hit]
            remove(free, size, L, hit)
            size -= 1
            x[i] = 0.0 if side == LOWER else d[i]
            state[i] = side
            if side == UPPER:
                add_multiple(rest, -d[i], G[i])
            if i == entered and side == origin:
                barred = i  # only rounding had freed it
            continue
        v[:] = rest
        for p in range(size):
            add_multiple(v, -x[free[p]], G[free[p]])
        worst, entered = slack, NONE
        for i in range(a):
            if state[i] != FREE and d[i] > 0.0 and i != barred:
                wrong = v[i] if state[i] == LOWER else -v[i]
                if wrong > worst:
                    worst, entered = wrong, i
        if entered < 0:
            break
        origin = state[entered]
        if origin == UPPER:
            add_multiple(rest, d[entered], G[entered])
        state[entered] = FREE
        append(G, free, size, L, entered)
        size += 1
    return size


@kernel
def bounded_columns(G: Array, Q: Array, d: Array, om: Array, X: Array, state: States, g: Array, H: Array) -> None:
    """Solve every column, and add to the gradient g and Hessian H of the weighted error with respect to d.

    ``g_t = -sum_l om_l max(0, v_tl)`` with ``v_l = q_l - G x_l``; H is the sum of ``om_l (G_UU - G_UF G_FF^-1 G_FU)``,
    F the free entries of column l and U those that a larger bound would increase.
    """
    a = G.shape[0]
    free = np.empty(a, np.int64)
    upper = np.empty(a, np.int64)
    L = np.zeros((a, a))
    W = np.zeros((a, a))
    z = np.zeros(a)
    v = np.zeros(a)
    for l in range(Q.shape[0]):
        size = bounded_column(G, Q[l], d, X[l], state[l], free, L, z, v)
        count = 0
        for i in range(a):
            if v[i] > 0.0 and (state[l, i] == UPPER or d[i] <= 0.0):
                g[i] -= om[l] * v[i]
                upper[count] = i
                count += 1
        for s in range(count):
            # W_s = L^-1 G_F,s, one contiguous row for each upper entry
            for i in range(size):
                total = G[upper[s], free[i]]
                for p in range(i):
                    total -= L[i, p] * W[s, p]
                W[s, i] = total / L[i, i]
            for t in range(s + 1):
                total = G[upper[s], upper[t]]
                for i in range(size):
                    total -= W[s, i] * W[t, i]
                H[upper[s], upper[t]] += om[l] * total
    for s in range(a):
        for t in range(s):
            H[t, s] = H[s, t]
