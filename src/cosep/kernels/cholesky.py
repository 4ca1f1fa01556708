"""Cholesky factor of a positive semidefinite matrix on a changing list of its indices.

Notation
--------
G : the matrix; free : the indices, the first ``size`` of them in use
L : lower triangular, ``G(free, free) = L L'`` up to raised pivots
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.compile import kernel

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# Typed constants: for a literal argument numba would compile the kernel again.
ZERO, NONE = cast("int", np.int64(0)), cast("int", np.int64(-1))
# Pivots are raised to this share of their diagonal entry: a dependent entry then moves to a bound and is removed.
PIVOT_FLOOR = 1e-11


@kernel
def append_row(G: Array, free: Positions, size: int, L: Array, entry: int) -> float:
    """Add an index at the end: one more row of L but for its diagonal entry, whose square is returned.

    A column of L with a zero diagonal entry stays zero.
    """
    free[size] = entry
    pivot = G[entry, entry]
    for j in range(size):
        total = G[entry, free[j]]
        for p in range(j):
            total -= L[size, p] * L[j, p]
        L[size, j] = total / L[j, j] if L[j, j] > 0.0 else 0.0
        pivot -= L[size, j] * L[size, j]
    return float(pivot)


@kernel
def append(G: Array, free: Positions, size: int, L: Array, entry: int) -> None:
    """Add an index at the end, with a raised pivot if it depends on the others."""
    L[size, size] = np.sqrt(max(append_row(G, free, size, L, entry), PIVOT_FLOOR * G[entry, entry]))


@kernel
def remove(free: Positions, size: int, L: Array, position: int) -> None:
    """Remove the index at a position; rotations of two columns at a time make L triangular again."""
    for i in range(position, size - 1):
        free[i] = free[i + 1]
        for p in range(i + 2):
            L[i, p] = L[i + 1, p]
    for j in range(position, size - 1):
        length = np.hypot(L[j, j], L[j, j + 1])
        c, s = L[j, j] / length, L[j, j + 1] / length
        for i in range(j, size - 1):
            left, right = L[i, j], L[i, j + 1]
            L[i, j] = c * left + s * right
            L[i, j + 1] = c * right - s * left


@kernel
def solve(L: Array, size: int, z: Array) -> None:
    """Replace the first entries of z by the solution of ``L L' x = z``."""
    for i in range(size):
        for p in range(i):
            z[i] -= L[i, p] * z[p]
        z[i] /= L[i, i]
    for i in range(size - 1, -1, -1):
        z[i] /= L[i, i]
        for p in range(i):
            z[p] -= L[i, p] * z[i]
