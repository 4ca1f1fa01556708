"""A small convex quadratic enters, its minimiser over a box, and perhaps a plane, leaves."""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.compile import kernel

Array = NDArray[np.float64]


@kernel
def equality_step(H: Array, r: Array, a: Array, index: NDArray[np.int64], bound: bool) -> Array:
    """Minimise ``r's + 1/2 s'Hs`` over the entries in ``index``, with ``a's = 0`` if ``bound``.

    The multiplier of the plane stands behind the step.
    """
    f = index.shape[0]
    K = np.zeros((f + 1, f + 1))
    right = np.zeros(f + 1)
    for s in range(f):
        for t in range(f):
            K[s, t] = H[index[s], index[t]]
        right[s] = -r[index[s]]
        if bound:
            K[s, f] = K[f, s] = a[index[s]]
    if not bound:
        K[f, f] = 1.0
    return np.linalg.solve(K, right)


@kernel
def minimise_in_box(H: Array, g: Array, low: Array, high: Array, a: Array, tied: bool) -> Array:
    """Solve ``min g'p + 1/2 p'Hp`` over ``low <= p <= high``, with ``a'p = 0`` if ``tied``, from ``p = 0``.

    H is positive definite, ``low <= 0 <= high`` and ``a >= 0``. A primal active set: minimise over the free entries,
    stop at the first bound that is met; otherwise free the entry whose multiplier has the wrong sign most.
    """
    n = g.shape[0]
    p = np.zeros(n)
    free = (low < 0.0) & (high > 0.0)
    slack = 1e-12 * np.abs(g).max()
    for _ in range(20 * n + 50):
        index = np.flatnonzero(free)
        bound = False
        for s in range(index.shape[0]):
            bound = bound or (tied and a[index[s]] > 0.0)
        nu = 0.0
        if index.shape[0] > 0:
            step = equality_step(H, g + H @ p, a, index, bound)
            nu = step[-1]
            share, hit = 1.0, -1
            for s in range(index.shape[0]):
                k = int(index[s])
                room = (low[k] if step[s] < 0.0 else high[k]) - p[k]
                if abs(step[s]) * share > abs(room):
                    share, hit = abs(room / step[s]), k
            for s in range(index.shape[0]):
                p[index[s]] += share * step[s]
            if hit >= 0:
                p[hit] = low[hit] if abs(p[hit] - low[hit]) < abs(p[hit] - high[hit]) else high[hit]
                free[hit] = False
                continue
        r = g + H @ p
        if tied and not bound:
            # No free entry carries the tie: the steepest exchange that is possible frees two.
            up, down, least, most = -1, -1, np.inf, -np.inf
            for i in range(n):
                if a[i] > 0.0 and p[i] < high[i] and r[i] / a[i] < least:
                    least, up = r[i] / a[i], i
                if a[i] > 0.0 and p[i] > low[i] and r[i] / a[i] > most:
                    most, down = r[i] / a[i], i
            if up >= 0 and down >= 0 and most - least > slack:
                free[up] = free[down] = True
                continue
        worst, entered = slack, -1
        for i in range(n):
            if not free[i] and low[i] < high[i] and (bound or not tied or a[i] == 0.0):
                slope = r[i] + nu * a[i]
                wrong = -slope if p[i] <= low[i] else slope
                if wrong > worst:
                    worst, entered = wrong, i
        if entered < 0:
            break
        free[entered] = True
    return p
