"""Euclidean projections onto the nonnegative orthant and onto the self-dictionary set.

Notation
--------
Z : rows to project, each an independent problem
w : weights ``w_l = ||M(:,l)||_1`` of the self-dictionary set
d : diagonal entry ``Y(t,t)`` of one row; ``c_l = w_l / w_t``

No sorting is needed: the equation for d is piecewise linear, and Newton's method started below its root increases to it
in finitely many passes (docs/theory/projections.md).
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.compile import kernel

Array = NDArray[np.float64]


@kernel
def project_orthant(Z: Array) -> Array:
    """Solve ``min_Y ||Y - Z||_F`` over ``Y >= 0``."""
    return np.maximum(Z, 0.0)


@kernel
def project_dictionary_row(z: Array, w: Array, t: int, y: Array) -> None:
    """Solve ``min_y ||y - z||`` over ``0 <= w_t y_l <= w_l y_t, y_t <= 1``, writing the solution into ``y``.

    Given ``d = y_t`` the rest is ``y_l = min(max(z_l, 0), c_l d)``, and d is the root, clipped to [0, 1], of

        ``d - z_t - sum_{l != t, z_l > c_l d} c_l (z_l - c_l d)``,

    an increasing concave function: Newton's method from ``max(z_t, 0)`` never passes the root. The row of a
    column with ``w_t = 0`` is zero.
    """
    n = z.shape[0]
    if w[t] <= 0.0:
        y[:] = 0.0
        return
    d, rising = max(z[t], 0.0), True
    while rising and d < 1.0:
        top, bottom = z[t], 1.0
        for l in range(n):
            c = w[l] / w[t]
            # An entry within rounding of its bound counts as at its bound; otherwise the iteration would stall.
            if l != t and z[l] > c * d * (1.0 + 1e-15):
                top += c * z[l]
                bottom += c * c
        step = top / bottom
        rising = step > d
        if rising:
            d = step
    d = min(d, 1.0)
    for l in range(n):
        y[l] = min(max(z[l], 0.0), w[l] / w[t] * d)
    y[t] = d


@kernel
def project_dictionary(Z: Array, w: Array) -> Array:
    """Solve ``min_Y ||Y - Z||_F`` over ``Omega = {Y >= 0, Y(t,t) <= 1, w_t Y(t,l) <= w_l Y(t,t)}``.

    Gillis and Luce, IEEE Trans. Image Process. 27, 24-37, 2018. Only the diagonal is bounded by one.
    """
    Y = np.empty_like(Z)
    for t in range(Z.shape[0]):
        project_dictionary_row(Z[t], w, t, Y[t])
    return Y
