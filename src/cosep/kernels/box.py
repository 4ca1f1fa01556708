"""Minimiser of a small convex quadratic over a box, or over the intersection of a box and a plane."""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.cholesky import NONE, ZERO, append, remove, solve
from cosep.kernels.compile import kernel

Array = NDArray[np.float64]


@kernel
def minimise_in_box(H: Array, g: Array, low: Array, high: Array, a: Array, tied: bool) -> Array:
    """Solve ``min g'p + 1/2 p'Hp`` over ``low <= p <= high``, with ``a'p = 0`` if ``tied``, from ``p = 0``.

    H is positive definite, ``low <= 0 <= high`` and ``a >= 0``. A primal active set: minimise over the free entries and
    stop at the first bound; if there is none, free the entry whose multiplier violates its sign most. The Cholesky
    factor of H on the free entries is updated in O(n^2).
    """
    n = g.shape[0]
    p = np.zeros(n)
    free = np.empty(n, np.int64)
    is_free = (low < 0.0) & (high > 0.0)
    barred = low >= high
    L = np.zeros((n, n))
    size = ZERO
    for i in range(n):
        if is_free[i]:
            append(H, free, size, L, i)
            size += 1
    step, along = np.empty(n), np.empty(n)
    slack = 1e-12 * np.abs(g).max()
    entered, origin = NONE, 0.0
    for _ in range(20 * n + 50):
        r = g + H @ p
        for s in range(size):
            step[s], along[s] = -r[free[s]], a[free[s]]
        solve(L, size, step)
        # The step s in the plane and the plane's multiplier nu: H s = -r - nu a with a's = 0.
        nu, bound = 0.0, False
        if tied and along[:size].any():
            bound = True
            solve(L, size, along)
            nu = np.dot(a[free[:size]], step[:size]) / np.dot(a[free[:size]], along[:size])
            step[:size] -= nu * along[:size]
        share, hit = 1.0, NONE
        for s in range(size):
            k = free[s]
            room = (low[k] if step[s] < 0.0 else high[k]) - p[k]
            if abs(step[s]) * share > abs(room):
                share, hit = abs(room / step[s]), s
        for s in range(size):
            p[free[s]] += share * step[s]
        if hit >= 0:
            k = free[hit]
            p[k] = low[k] if abs(p[k] - low[k]) < abs(p[k] - high[k]) else high[k]
            remove(free, size, L, hit)
            size -= 1
            is_free[k] = False
            barred[k] = k == entered and p[k] == origin  # freed and back at once: only rounding had freed it
            entered = NONE
            continue
        r = g + H @ p
        if tied and not bound:
            # All free entries have a_i = 0: free the two entries with the steepest feasible exchange.
            up, down, least, most = NONE, NONE, np.inf, -np.inf
            for i in range(n):
                if a[i] > 0.0 and p[i] < high[i] and r[i] / a[i] < least:
                    least, up = r[i] / a[i], i
                if a[i] > 0.0 and p[i] > low[i] and r[i] / a[i] > most:
                    most, down = r[i] / a[i], i
            if up >= 0 and down >= 0 and most - least > slack:
                append(H, free, size, L, up)
                append(H, free, size + 1, L, down)
                size += 2
                is_free[up] = is_free[down] = True
                continue
        worst, entered = slack, NONE
        for i in range(n):
            if not is_free[i] and not barred[i] and (bound or not tied or a[i] == 0.0):
                slope = r[i] + nu * a[i]
                wrong = -slope if p[i] <= low[i] else slope
                if wrong > worst:
                    worst, entered = wrong, i
        if entered < 0:
            break
        origin = p[entered]
        append(H, free, size, L, entered)
        size += 1
        is_free[entered] = True
    return p
