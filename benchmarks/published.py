"""The fast gradient method with the arithmetic of the published code: Gram matrices, and a sort per projected row.

`cosep.solve.fast_gradient` takes the same steps, but multiplies by the thin block instead of its n x n Gram matrix,
skips zero rows, and projects without sorting. This module takes as long as the published code.
"""

from typing import Any

import numba
import numpy as np

from benchmarks.data import Block


@numba.njit(error_model="numpy")
def project(Z: Block, w: Block) -> None:
    """Project every row of Z on ``0 <= w_t y_l <= w_l y_t, y_t <= 1`` in place, by sorting ``z_l / w_l``."""
    n = len(w)
    for t in range(n):
        z = Z[t]
        order = np.argsort(-z / w)
        top, bottom = z[t], 1.0
        for l in order:
            if l != t:
                c = w[l] / w[t]
                if z[l] <= 0.0 or top / bottom >= z[l] / c:
                    break
                top += c * z[l]
                bottom += c * c
        d = min(max(top / bottom, 0.0), 1.0)
        for l in range(n):
            z[l] = min(max(z[l], 0.0), w[l] / w[t] * d)
        z[t] = d


def fast_gradient(B: Block, w: Block, lam: float, steps: int) -> list[float]:
    """Take this many steps at a fixed lambda and return the objectives."""
    G: Any = B.T @ B
    n = len(w)
    L = float(np.linalg.norm(B, 2)) ** 2
    Y = Z = np.zeros((n, n))
    alpha, last, values = 0.05, np.inf, []
    for _ in range(steps):
        ahead = Z - (G @ Z - G + lam * np.eye(n)) / L
        project(ahead, w)
        value = 0.5 * (np.trace(G) - 2.0 * np.vdot(G, ahead) + np.vdot(ahead, G @ ahead)) + lam * np.trace(ahead)
        values.append(float(value))
        restart = value > last
        following = (np.sqrt(alpha**4 + 4.0 * alpha**2) - alpha**2) / 2.0
        beta = 0.0 if restart else alpha * (1.0 - alpha) / (alpha**2 + following)
        Z = ahead + beta * (ahead - Y)
        Y, last, alpha = ahead, value, 0.05 if restart else following
    return values
