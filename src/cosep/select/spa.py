"""A matrix enters, the columns that the successive projection algorithm picks leave.

Notation
--------
M : data, its columns divided by their sums unless told otherwise
u : unit vector of the part of the last chosen column that the earlier ones do not span
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import as_matrix, check_count, check_number, check_switch
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import column_factors
from cosep.records.selection import Selection, SelectionWarning
from cosep.select.pool import Pool, Positions, all_positions, check_pool
from cosep.select.pursuit import one_by_one
from cosep.utils.types import Array, Indices
from cosep.utils.warn import warn


def spa(X: Any, r: int, *, normalize: bool = True, tol: float = 1e-9, pool: Pool | None = None) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j ||m_j - projection on the span of those chosen||``.

    Araujo et al., Chemom. Intell. Lab. Syst. 57, 65-73, 2001; Gillis and Vavasis, doi:10.1109/TPAMI.2013.226.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        How many columns.
    normalize : bool
        Divide each column by its sum for the choice. Separability is a property of cones, so the planted columns of
        a separable matrix are found for certain only with this.
    tol : float
        Stop, with a warning and fewer than r columns, when the largest squared residual over the largest squared
        norm falls to this: the columns chosen explain everything. ``tol=0`` goes on as long as rounding allows.
    pool : Pool, optional
        Which columns may be chosen, and which must be; these come first.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the residual norm of each, relative to the first.

    Notes
    -----
    Among columns that tie within 1e-6 the one with the largest original norm wins, then the lowest index. All-zero
    columns are never chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import spa
    >>> spa(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    tol = check_number(tol, "tol", 0.0, 1.0)
    normalize = check_switch(normalize, "normalize")
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    weights = spa_weights(part.M, normalize=normalize)
    chosen, residuals = pursue(part.M, r, weights, tol=tol, positions=positions.within(part.cols))
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(chosen), history=tuple(residuals))


def pursue(
    M: LocalMatrix, r: int, weights: Array, *, tol: float = 1e-9, positions: Positions | None = None
) -> tuple[Indices, list[float]]:
    """Run the projections on weighted columns until r are chosen, those that must be included first."""
    positions = all_positions(M.shape[1]) if positions is None else positions
    original = M.squared_norms()
    norms = original * weights**2
    longest = float(norms.max())
    basis = np.zeros((M.shape[0], 0))

    def add(j: int) -> tuple[float, bool]:
        nonlocal basis, norms
        column = M.take(cols=np.array([j]))[:, 0] * weights[j]
        u = orthogonal(column, basis)
        length = float(np.linalg.norm(u))
        explained = length <= 1e-14 * float(np.linalg.norm(column)) or length**2 <= tol * longest
        if not explained:
            u /= length
            basis = np.column_stack([basis, u])
            norms = np.maximum(norms - (weights * M.cross(u)) ** 2, 0.0)
        return length / float(np.sqrt(longest)) if longest > 0 else 0.0, explained

    return one_by_one(r, positions, original, lambda: norms, add)


def spa_weights(M: LocalMatrix, *, normalize: bool = True) -> Array:
    """Return what the columns are multiplied by for the choice: one over their sums, or one."""
    return column_factors(M)[1] if normalize else np.ones(M.shape[1])


def warn_if_fewer(indices: Indices | None, asked: int, what: str, where: str = "X") -> None:
    """Say that fewer were chosen than asked for; the caller of the public function hears it."""
    if indices is not None and len(indices) < asked:
        more = "" if where == "X" else f", or for more of {where.removeprefix('the ')}"
        warn(
            f"Only {len(indices)} of the {asked} {what} asked for were selected: within {where} the method sees all "
            f"others as combinations of these, to rounding. Ask for fewer{more}; where nonnegative mixes of these do "
            "not suffice, snpa, xray and fgm find more.",
            SelectionWarning,
        )


def orthogonal(column: Array, basis: Array) -> Array:
    """Remove the basis from the column, twice: the second time mends the rounding of the first."""
    for _ in range(2):
        column = column - basis @ (basis.T @ column)
    return column
