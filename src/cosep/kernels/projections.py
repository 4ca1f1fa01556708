"""Arrays enter, their nearest points in three convex sets leave: orthant, simplex, self-dictionary.

Notation
--------
Z : rows to project, one independent problem each
w : weights ``w_l = ||M(:,l)||_1`` of the self-dictionary set
d : diagonal entry ``Y(t,t)`` of one row; ``c_l = w_l / w_t``

No sorting: each scalar equation is piecewise linear, and Newton's method from the correct side climbs to its root
monotonically in finitely many passes (docs/theory/projections.md).
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
def project_simplex(Z: Array) -> Array:
    """Solve ``min_y ||y - z||`` over ``y >= 0, sum(y) <= 1`` for each row z of Z.

    The answer is ``max(z - shift, 0)``, where ``shift = 0`` if that is feasible and otherwise the root of the
    convex, falling function ``sum(max(z - shift, 0)) - 1`` (C. Michelot, J. Optim. Theory Appl. 50, 195-200, 1986).
    The unknown is ``room = max(z) - shift``, which keeps its digits where entries of 1e12 share a shift.
    """
    Y = np.empty_like(Z)
    for i in range(Z.shape[0]):
        top = Z[i].max()
        room, falling = min(top, 1.0), True
        while falling:
            total, count = 0.0, 0
            for j in range(Z.shape[1]):
                if Z[i, j] - top + room > 0.0:
                    total += Z[i, j] - top + room
                    count += 1
            step = (total - 1.0) / max(count, 1)
            falling = step > 0.0 and room - step < room
            if falling:
                room -= step
        for j in range(Z.shape[1]):
            Y[i, j] = max(Z[i, j] if room == top else Z[i, j] - top + room, 0.0)
    return Y


@kernel
def project_dictionary_row(z: Array, w: Array, t: int, y: Array) -> None:
    """Solve ``min_y ||y - z||`` over ``0 <= w_t y_l <= w_l y_t, y_t <= 1``, writing the answer into ``y``.

    Given ``d = y_t`` the rest is ``y_l = min(max(z_l, 0), c_l d)``, and d is the root, clipped to [0, 1], of

        ``d - z_t - sum_{l != t, z_l > c_l d} c_l (z_l - c_l d)``,

    an increasing concave function: Newton from ``max(z_t, 0)`` never passes the root. A column with ``w_t = 0``
    represents nothing; its row is zero.
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
            # An entry within rounding of its bound has reached it; counting it would stall the climb.
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
