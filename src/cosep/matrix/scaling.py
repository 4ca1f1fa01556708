"""Scaling of rows and columns by positive factors, under rules with names.

Co-separability does not change under positive diagonal scaling: a selection of ``A = Dr X Dc`` is one of X.

Notation
--------
Dr, Dc : positive diagonals of row and column factors; an all-zero row or column gets the factor 1
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.matrix.checks import check_choice
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.utils.messages import shown
from cosep.utils.types import Array
from cosep.utils.warn import warn

Factors = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling ``diag(rows) @ X @ diag(cols)``.

    Parameters
    ----------
    name : str
        The name of the rule.
    rows, cols : ndarray
        Positive factors of the rows and of the columns.
    """

    name: str
    rows: Array
    cols: Array

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            msg = f"name={shown(self.name)} must be the name of a scaling."
            raise ValueError(msg)
        for side in ("rows", "cols"):
            try:
                factors = np.asarray(getattr(self, side))
            except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
                factors = np.zeros((0, 0))
            if factors.ndim != 1 or factors.dtype.kind != "f" or not (np.isfinite(factors) & (factors > 0)).all():
                msg = (
                    f"{side} of a scaling must be a list of positive, finite factors, got {shown(getattr(self, side))}."
                )
                raise ValueError(msg)
            object.__setattr__(self, side, factors)


def inverse(sums: Array) -> Array:
    """``1 / sums`` where positive, else 1."""
    return np.divide(1.0, sums, out=np.ones_like(sums), where=sums > 0)


# Scalings that divide rows and columns by powers of their sums. "rows" and "columns" give sums of one; "degree" gives
# ``x_ij / sqrt(row sum i * column sum j)``, the normalised adjacency matrix of the bipartite graph of X.
POWERS = {"rows": (1.0, 0.0), "columns": (0.0, 1.0), "degree": (0.5, 0.5)}


def power_factors(M: LocalMatrix, powers: tuple[float, float]) -> Factors:
    """Return the sums of rows and of columns to the negative of these powers."""
    return inverse(M.T.sums()) ** powers[0], inverse(M.sums()) ** powers[1]


def sinkhorn_factors(M: LocalMatrix, *, tol: float = 1e-4, max_rounds: int = 1000, patience: int = 50) -> Factors:
    """Columns that sum to m and rows that sum to n, scaled alternately until the mean deviation is below ``tol``.

    All-zero rows and columns are left out, and m and n do not count them. Not every pattern of zeros admits such a
    scaling: if ``patience`` rounds improve the deviation by less than 1 %, they stop with a warning.
    P. A. Knight, SIAM J. Matrix Anal. Appl. 30, 261-275, 2008.
    """
    row_known, col_known = M.T.sums() > 0, M.sums() > 0
    m, n = int(row_known.sum()), int(col_known.sum())
    u = np.ones(M.shape[0])
    deviations: list[float] = []
    for _ in range(max_rounds):
        v = np.where(col_known, m * inverse(M.cross(u)), 1.0)
        u = np.where(row_known, n * inverse(M.dot(v)), 1.0)
        columns = (v * M.cross(u))[col_known]
        deviations.append(float(np.abs(columns - m).mean() / m) if columns.size else 0.0)
        if deviations[-1] <= tol:
            return u, v
        if len(deviations) > patience and deviations[-1] > 0.99 * deviations[-1 - patience]:
            break
    warn(
        f"scaling='sinkhorn' did not balance X: after {len(deviations)} rounds the sums of columns are off by "
        f"{deviations[-1]:.1%} on average. The pattern of zeros admits no such scaling; use scaling='degree'.",
        ConvergenceWarning,
    )
    return u, v


SCALINGS: dict[str, Callable[[LocalMatrix], Factors]] = {
    **{name: partial(power_factors, powers=powers) for name, powers in POWERS.items()},
    "sinkhorn": sinkhorn_factors,
}


def scale(X: Any, name: str) -> tuple[LocalMatrix, Scaling]:
    """Return ``diag(rows) @ X @ diag(cols)`` and the `Scaling` with both diagonals.

    The scaled matrix is the same for X and for a multiple of X.
    """
    M = as_matrix(X)
    part = filled(M)
    of_rows, of_cols = SCALINGS[check_choice(name, "scaling", SCALINGS)](part.M)
    rows, cols = part.of_rows(of_rows, 1.0), part.of_cols(of_cols, 1.0)
    return M.scaled(rows, cols).mantissa, Scaling(name, *M.factors_in_units(rows, cols))
