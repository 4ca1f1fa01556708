"""Successive projections: the columns of a weighted matrix that are farthest from the span of those chosen before.

Notation
--------
M : data; u : unit vector of the part of the last chosen column that the earlier ones do not span
"""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import inverse
from cosep.solve.pursuit import Positions, all_positions, one_by_one
from cosep.utils.types import Array, Indices


def pursue(
    M: LocalMatrix,
    r: int,
    weights: Array,
    *,
    tol: float = 1e-9,
    positions: Positions | None = None,
    sizes: Array | None = None,
) -> tuple[Indices, list[float]]:
    """Choose r columns of ``M @ diag(weights)``, each time the one farthest from the span of those chosen.

    Columns that must be chosen come first. Ends with fewer when the largest squared residual over the largest squared
    norm falls to ``tol``. Ties go to the column with the largest size, by default its squared norm. Returns the
    columns, and the residual norm of each relative to the longest column.
    """
    positions = all_positions(M.shape[1]) if positions is None else positions
    original = M.squared_norms()
    norms = original * weights**2
    longest = float(norms.max())
    basis = np.zeros((M.shape[0], 0))

    def add(j: int) -> tuple[float, bool]:
        nonlocal basis, norms
        column = M.column(j) * weights[j]
        u = orthogonal(column, basis)
        length = float(np.linalg.norm(u))
        explained = length <= 1e-14 * float(np.linalg.norm(column)) or length**2 <= tol * longest
        if not explained:
            u /= length
            basis = np.column_stack([basis, u])
            norms = np.maximum(norms - (weights * M.cross(u)) ** 2, 0.0)
        return length / float(np.sqrt(longest)) if longest > 0 else 0.0, explained

    return one_by_one(r, positions, original if sizes is None else sizes, lambda: norms, add)


def spa_weights(M: LocalMatrix, *, normalize: bool = True) -> Array:
    """Return the weights of the columns for the choice: one over their sums, or ones if not ``normalize``."""
    return inverse(M.sums()) if normalize else np.ones(M.shape[1])


def orthogonal(column: Array, basis: Array) -> Array:
    """Remove the basis from the column, twice: the second time removes the rounding of the first."""
    for _ in range(2):
        column = column - basis @ (basis.T @ column)
    return column
