"""Minimisers of convex quadratics over the orthant, the simplex, or any set with a projection.

All solve ``min 1/2 <Y, G Y> - <C, Y>`` with ``G = A'A`` and ``C = A'M``. Over the orthant and the simplex the columns
of Y are independent problems; they are stored as the rows of ``V = Y'`` and ``B = C'``.

Notation
--------
G : Gram matrix, symmetric and positive semidefinite
B : linear terms, one problem per row
V : feasible start, overwritten by the solution
residual : largest KKT violation, relative to the largest linear term
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.cholesky import ZERO
from cosep.kernels.compile import kernel

Array = NDArray[np.float64]

# A pivot below this share of its diagonal entry marks a linearly dependent atom (a column of A).
PIVOT_FLOOR = 1e-13


@kernel
def orthant_descent(G: Array, B: Array, V: Array, tol: float, max_sweeps: int) -> int:
    """Solve ``min_v 1/2 v'Gv - b'v`` over ``v >= 0`` for each row by cyclic coordinate descent.

    Each problem stops when its KKT violation is at most ``tol * max|b|``. Return the largest number of sweeps.
    """
    r = G.shape[0]
    most = 0
    g = np.empty(r)
    for k in range(B.shape[0]):
        largest = 0.0
        for i in range(r):
            g[i] = -B[k, i]
            largest = max(largest, abs(g[i]))
        bound = tol * largest
        for j in range(r):
            if V[k, j] != 0.0:
                for i in range(r):
                    g[i] += G[j, i] * V[k, j]
        sweeps = 0
        while sweeps < max_sweeps:
            sweeps += 1
            worst = 0.0
            for i in range(r):
                if V[k, i] == 0.0 and g[i] >= 0.0:
                    continue
                if G[i, i] <= 0.0:
                    V[k, i] = 0.0
                    continue
                moved = max(V[k, i] - g[i] / G[i, i], 0.0)
                step = moved - V[k, i]
                worst = max(worst, abs(step) * G[i, i])
                if step != 0.0:
                    V[k, i] = moved
                    for j in range(r):
                        g[j] += G[i, j] * step
            if worst <= bound:
                for i in range(r):
                    worst = max(worst, abs(min(V[k, i] * G[i, i], g[i])))
                if worst <= bound:
                    break
        most = max(most, sweeps)
    return most


@kernel
def solve_free(G: Array, b: Array, free: NDArray[np.int64], size: int, L: Array, x: Array, done: int = 0) -> None:
    """Solve ``G_FF x_F = b_F`` by Cholesky; a dependent atom, whose pivot vanishes, gets ``x = 0``.

    The diagonal of L has the reciprocals of that of the factor, because divisions take long. The first ``done`` rows of
    L are kept from an earlier solve with the same first free entries.
    """
    for i in range(done, size):
        entry = free[i]
        pivot = G[entry, entry]
        for j in range(i):
            total = G[entry, free[j]]
            for p in range(j):
                total -= L[i, p] * L[j, p]
            total *= L[j, j]
            L[i, j] = total
            pivot -= total * total
        L[i, i] = 1.0 / np.sqrt(pivot) if pivot > PIVOT_FLOOR * G[entry, entry] else 0.0
    for i in range(size):
        total = b[free[i]]
        for p in range(i):
            total -= L[i, p] * x[p]
        x[i] = total * L[i, i]
    for i in range(size - 1, -1, -1):
        total = x[i] * L[i, i]
        x[i] = total
        for p in range(i):
            x[p] -= L[i, p] * total


@kernel
def orthant_active_set(G: Array, B: Array, V: Array) -> None:
    """Solve ``min_v 1/2 v'Gv - b'v`` over ``v >= 0`` exactly, for each row, by a warm-started active set."""
    r = G.shape[0]
    free, status = np.empty(r, np.int64), np.empty(r, np.int8)
    L, x, scale = np.zeros((r, r)), np.zeros(r), reciprocal_norms(G)
    for k in range(B.shape[0]):
        active_set(G, scale, B[k], V[k], free, status, L, x)


@kernel
def reciprocal_norms(G: Array) -> Array:
    """Return the reciprocal roots of the diagonal of G, and zeros for zeros."""
    scale = np.zeros(len(G))
    for i in range(len(G)):
        if G[i, i] > 0.0:
            scale[i] = 1.0 / np.sqrt(G[i, i])
    return scale


@kernel
def active_set(
    G: Array, scale: Array, b: Array, v: Array, free: NDArray[np.int64], status: NDArray[np.int8], L: Array, x: Array
) -> None:
    """Solve one such problem from v, which is overwritten; ``scale`` are the `reciprocal_norms` of G.

    The arrays after v are room to work in.

    Lawson and Hanson, *Solving Least Squares Problems*, 1974, chapter 23, on the Gram matrix: solve on the free
    entries; step to the first bound if the solution is outside the orthant; otherwise free the entry with the steepest
    descent. An entry that the next solve moves back to its bound (rounding, dependent atoms) stays there.
    """
    r = G.shape[0]
    bound = 0.0
    size, done = ZERO, ZERO
    # status: 1 free, 0 at the bound, -1 at the bound and not freed again
    for i in range(r):
        bound = max(bound, 1e-14 * abs(b[i]) * scale[i])
        status[i] = 1 if v[i] > 0.0 and scale[i] > 0.0 else 0
        if status[i] == 1:
            free[size] = i
            size += 1
        else:
            v[i] = 0.0
    entered = -1
    for _ in range(10 * r + 20):
        solve_free(G, b, free, size, L, x, done)
        done = size
        step, blocked = 1.0, -1
        for p in range(size):
            if x[p] <= 0.0:
                i = free[p]
                share = v[i] / (v[i] - x[p]) if v[i] > x[p] else 0.0
                if share < step or blocked < 0:
                    step, blocked = share, i
        if blocked < 0:
            for p in range(size):
                v[free[p]] = x[p]
        else:
            for p in range(size):
                v[free[p]] += step * (x[p] - v[free[p]])
            v[blocked] = 0.0
            status[blocked] = -1 if blocked == entered else 0
            # The factor's rows of the free entries before the removed one do not change.
            done = 0
            while free[done] != blocked:
                done += 1
            for p in range(done, size - 1):
                free[p] = free[p + 1]
            size -= 1
            continue
        best = bound
        entered = -1
        for i in range(r):
            if status[i] == 0 and scale[i] > 0.0:
                slope = b[i]
                for p in range(size):
                    slope -= G[i, free[p]] * x[p]
                slope *= scale[i]
                if slope > best:
                    best, entered = slope, i
        if entered < 0:
            break
        status[entered] = 1
        free[size] = entered
        size += 1


@kernel
def simplex_descent(G: Array, B: Array, V: Array, tol: float, max_steps: int) -> int:
    """Solve ``min_v 1/2 v'Gv - b'v`` over ``v >= 0, sum(v) <= 1`` for each row by pairwise descent.

    With a slack coordinate the set is the standard simplex. The most violating pair exchanges mass until no
    exchange has a slope above ``tol * max|b|``; then the KKT conditions hold to that tolerance.
    """
    r = G.shape[0]
    most = 0
    g = np.empty(r)
    for k in range(B.shape[0]):
        v = V[k]
        # At b = 0, v = 0 the gradient is zero up to rounding, which must not start further steps.
        bound = max(tol * np.abs(B[k]).max(), 1e-15 * np.abs(G).max())
        g[:] = G @ v - B[k]
        slack = 1.0 - v.sum()
        steps = 0
        while steps < max_steps:
            steps += 1
            # The slack coordinate, index -1, has gradient zero.
            up, down = -1, -1
            low = 0.0
            high = 0.0 if slack > 0.0 else -np.inf
            for i in range(r):
                if g[i] < low:
                    low, up = g[i], i
                if v[i] > 0.0 and g[i] > high:
                    high, down = g[i], i
            if high - low <= bound:
                break
            curvature = 0.0
            if up >= 0:
                curvature += G[up, up]
            if down >= 0:
                curvature += G[down, down]
            if up >= 0 and down >= 0:
                curvature -= 2.0 * G[up, down]
            available = v[down] if down >= 0 else slack
            step = min(available, (high - low) / curvature) if curvature > 0.0 else available
            if up >= 0:
                v[up] += step
                g += G[up] * step
            else:
                slack += step
            if down >= 0:
                v[down] = v[down] - step if step < available else 0.0
                g -= G[down] * step
            else:
                slack = slack - step if step < available else 0.0
        most = max(most, steps)
    return most


class Minimum(NamedTuple):
    """A minimiser, the KKT residual that certifies it, and the number of iterations."""

    Y: Array
    residual: float
    n_iter: int


def fast_gradient(
    gram: Callable[[Array], Array],
    C: Array,
    project: Callable[[Array], Array],
    Y: Array,
    *,
    lipschitz: float,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> Minimum:
    """Solve ``min 1/2 <Y, G Y> - <C, Y>`` over the set that ``project`` projects onto; ``gram(Y)`` returns ``G Y``.

    Nesterov's method; the momentum is dropped whenever the objective rises (O'Donoghue and Candes,
    doi:10.1007/s10208-013-9150-3). The step from the momentum point Z to ``Y = P(Z - (G Z - C)/L)`` bounds the
    violation of the KKT conditions at Y, since ``dist(0, G Y - C + N(Y)) <= 2 L ||Y - Z||``. Iterations stop when
    this bound is at most ``tol * ||C||_F``. ``lipschitz`` is an upper bound of the largest eigenvalue of G.
    """
    scale = max(float(np.linalg.norm(C)), 1e-300)
    lipschitz = max(lipschitz, 1e-300)
    GY = gram(Y)
    objective = np.inf
    Z, GZ = Y, GY
    alpha = 1.0
    residual = np.inf
    n_iter = 0
    while n_iter < max_iter and residual > tol:
        n_iter += 1
        ahead = project(Z - (GZ - C) / lipschitz)
        residual = 2.0 * lipschitz * float(np.linalg.norm(ahead - Z)) / scale
        G_ahead = gram(ahead)
        value = 0.5 * float(np.vdot(ahead, G_ahead)) - float(np.vdot(C, ahead))
        grown = 1.0 if value > objective else (1.0 + np.sqrt(1.0 + 4.0 * alpha * alpha)) / 2.0
        beta = 0.0 if value > objective else (alpha - 1.0) / grown
        Z, GZ = ahead + beta * (ahead - Y), G_ahead + beta * (G_ahead - GY)
        Y, GY, objective, alpha = ahead, G_ahead, value, grown
    return Minimum(Y, residual, n_iter)
