"""Rules with names for the norm of a model, and checks of the parameters ``scaling`` and ``sample_weight``."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.matrix.checks import check_choice
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import GIVEN, Norm, RowRule, Scaling, checked_factors, inverse
from cosep.matrix.validation import as_matrix
from cosep.utils.messages import shown
from cosep.utils.types import Array
from cosep.utils.warn import warn

# "degree" adds this share of the mean sum to each sum, so that short rows and rare columns do not count more than
# others. Of 0, 0.05, ..., 0.3, 0.5 and 1 it is in the middle of those that label documents, images and tables well.
DEGREE_SHARE = 0.2
# Where columns have very unequal numbers of entries and most are rare, as in short texts, small groups of nearly equal
# rows stand out by their rare columns. Then "degree" adds more: what a column would hold with entries in this share of
# the rows. Likewise for rows.
COMMON_SHARE = 0.01
# Numbers of entries are very unequal above this squared coefficient of variation. What is above it, times the second
# number, limits the share of the mean sum that is added, so that there is no jump.
UNEQUAL, UNEQUAL_SHARE = 1.5, 6.0
# "sinkhorn" stops at this mean deviation of the sums, relative to them, so that diagonals that it undoes do not change
# the selection. It warns if the deviation stays above the second.
BALANCE_TOL, UNBALANCED = 1e-10, 1e-4
# Given factors are between one over this and this, so that their squares stay within the range of floats.
LARGEST_FACTOR = 1e50


class Sums(NamedTuple):
    """Sums of a matrix whose rows have weights.

    Attributes
    ----------
    cols : ndarray
        Weighted sums of the columns.
    n_rows : float
        The number of rows that are not zero: the sum of their weights.
    col_counts : ndarray
        The number of nonzero entries of each column: the sum of their weights.
    row_squares : float
        The weighted sum of the squared numbers of nonzero entries of the rows.
    """

    cols: Array
    n_rows: float
    col_counts: Array
    row_squares: float

    @property
    def n_cols(self) -> int:
        """The number of columns that are not zero."""
        return int((self.cols > 0).sum())


# Scalings by powers of the sums of rows and of columns, with a share of the mean sum added to each sum. "rows" and
# "columns" give sums of one; "degree" gives nearly ``x_ij / sqrt(row sum i * column sum j)``, the adjacency matrix of
# the bipartite graph of X with regularised degrees: Chaudhuri et al., COLT 2012; Qin and Rohe, NeurIPS 2013.
POWERS = {"rows": (1.0, 0.0, 0.0), "columns": (0.0, 1.0, 0.0), "degree": (0.5, 0.5, DEGREE_SHARE)}


def shares_of(sums: Sums, share: float) -> tuple[float, float]:
    """Return the shares of the mean sum to add to the sums of rows and of columns, at least ``share``."""
    n_entries = float(sums.col_counts.sum())
    if share == 0.0 or n_entries == 0.0:
        return share, share
    common = COMMON_SHARE * sums.n_rows * sums.n_cols / n_entries
    unequal_rows = sums.n_rows * sums.row_squares / n_entries**2 - 1.0
    unequal_cols = sums.n_cols * float(sums.col_counts @ sums.col_counts) / n_entries**2 - 1.0
    return (
        max(share, min(common, UNEQUAL_SHARE * (unequal_rows - UNEQUAL))),
        max(share, min(common, UNEQUAL_SHARE * (unequal_cols - UNEQUAL))),
    )


def norm_by_sums(name: str | None, sums: Sums) -> Norm:
    """Return the plain norm for None, or a norm by powers of sums."""
    if name is None:
        return Norm(None, np.ones(len(sums.cols)), RowRule())
    row_power, col_power, share = POWERS[name]
    total = float(sums.cols.sum())
    row_share, col_share = shares_of(sums, share)
    offset = col_share * total / max(sums.n_cols, 1)
    cols = np.where(sums.cols > 0, inverse(sums.cols + offset) ** col_power, 1.0)
    return Norm(name, cols, RowRule(row_power, row_share * total / sums.n_rows if sums.n_rows > 0 else 0.0))


def sums_of(M: LocalMatrix, weights: Array | None = None) -> Sums:
    """Return the sums of a matrix in memory."""
    filled_rows = M.T.filled_columns()
    weights = np.ones(M.shape[0]) if weights is None else weights
    row_counts, col_counts = M.counts(weights)
    return Sums(M.cross(weights), float(weights[filled_rows].sum()), col_counts, float(weights @ row_counts**2))


def sinkhorn_norm(
    M: LocalMatrix,
    weights: Array | None = None,
    *,
    tol: float = BALANCE_TOL,
    max_rounds: int = 1000,
    patience: int = 50,
) -> Norm:
    """Columns that sum to m and rows that sum to n, scaled alternately until the mean deviation is below ``tol``.

    All-zero rows and columns are left out, and m and n do not count them; a row of weight w counts as w rows. Not every
    pattern of zeros admits such a scaling: if ``patience`` rounds improve the deviation by less than 1 %, they stop
    with a warning unless they are close. P. A. Knight, SIAM J. Matrix Anal. Appl. 30, 261-275, 2008.
    """
    weights = np.ones(M.shape[0]) if weights is None else weights
    row_known, (col_sums, m, *_) = M.T.sums() > 0, sums_of(M, weights)
    col_known = col_sums > 0
    n = int(col_known.sum())
    u = np.ones(M.shape[0])
    deviations: list[float] = []
    for _ in range(max_rounds):
        v = np.where(col_known, m * inverse(M.cross(weights * u)), 1.0)
        u = np.where(row_known, n * inverse(M.dot(v)), 1.0)
        columns = (v * M.cross(weights * u))[col_known]
        deviations.append(float(np.abs(columns - m).mean() / m) if columns.size else 0.0)
        if deviations[-1] <= tol:
            break
        if len(deviations) > patience and deviations[-1] > 0.99 * deviations[-1 - patience]:
            break
    if deviations[-1] > UNBALANCED:
        warn(
            f"scaling='sinkhorn' did not balance X: after {len(deviations)} rounds the sums of columns are off by "
            f"{deviations[-1]:.1%} on average. The pattern of zeros admits no such scaling; use scaling='degree'.",
            ConvergenceWarning,
        )
    return Norm("sinkhorn", v, RowRule(1.0, 0.0, v / max(n, 1)))


def _norm_by_sums_of(M: LocalMatrix, weights: Array | None, *, name: str | None) -> Norm:
    return norm_by_sums(name, sums_of(M, weights))


SCALINGS: dict[str, Callable[[LocalMatrix, Array | None], Norm]] = {
    **{name: partial(_norm_by_sums_of, name=name) for name in POWERS},
    "sinkhorn": sinkhorn_norm,
}


def check_scaling(scaling: Any, shape: tuple[int, int], known: Any = None) -> Any:
    """Return None, the name of a known norm, or a pair of arrays of factors; raise ValueError for anything else."""
    if scaling is None:
        return None
    known = SCALINGS if known is None else known
    if isinstance(scaling, (tuple, list)) and len(scaling) == 2:
        pair = []
        for side, factors, size in zip(("row", "column"), scaling, shape, strict=True):
            array = checked_factors(factors, f"The {side} factors of scaling", np.finfo(np.float64).tiny)
            if len(array) != size:
                msg = f"scaling has {len(array)} {side} factors, but X has {size} {side}s; pass one factor for each."
                raise ValueError(msg)
            if array.min() < 1.0 / LARGEST_FACTOR or array.max() > LARGEST_FACTOR:
                msg = (
                    f"The {side} factors of scaling must be between {1.0 / LARGEST_FACTOR:g} and {LARGEST_FACTOR:g}, "
                    f"got {array.min():g} to {array.max():g}; divide them by a constant, or leave {side}s out."
                )
                raise ValueError(msg)
            pair.append(array)
        return tuple(pair)
    if not isinstance(scaling, str):
        msg = (
            f"scaling={shown(scaling)} must be None, one of {', '.join(map(repr, known))}, or a pair of lists of "
            "positive factors, for rows and for columns."
        )
        raise ValueError(msg)
    return check_choice(scaling, "scaling", known)


def check_weights(weights: Any, m: int) -> Array | None:
    """Return weights of m rows as an array; None for None or equal weights of one."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
        array = np.zeros((0, 0))
    if array.ndim != 1 or array.dtype.kind not in "fiub" or len(array) != m:
        msg = f"sample_weight must be one number for each of the {m} rows, got {shown(weights)}."
        raise ValueError(msg)
    array = array.astype(np.float64)
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        msg = f"sample_weight must be finite, at least zero, and not zero for all rows, got {shown(weights)}."
        raise ValueError(msg)
    counted = array[array > 0]
    if counted.min() < 1.0 / LARGEST_FACTOR or counted.max() > LARGEST_FACTOR:
        msg = (
            f"sample_weight must be zero or between {1.0 / LARGEST_FACTOR:g} and {LARGEST_FACTOR:g}, got "
            f"{counted.min():g} to {counted.max():g}; multiply the weights by a constant, or set small ones to zero."
        )
        raise ValueError(msg)
    return None if (array == 1.0).all() else array


def check_counted(n_filled: float, weights: Array | None) -> None:
    """Raise ValueError if no row that is not zero has a weight, given the sum of the weights of those rows."""
    if weights is not None and n_filled == 0:
        msg = "sample_weight is zero for all rows of X that are not zero; give some of those a positive weight."
        raise ValueError(msg)


def norm_of(M: LocalMatrix, scaling: Any, weights: Array | None = None) -> Norm:
    """Return the norm of a matrix in memory.

    Parameters
    ----------
    M : LocalMatrix
    scaling : str, tuple of two ndarray, or None
        What `check_scaling` returns.
    weights : ndarray, optional
        What `check_weights` returns.
    """
    check_counted(sums_of(M, weights).n_rows, weights)
    if isinstance(scaling, tuple):
        return Norm(GIVEN, scaling[1], RowRule(), scaling[0], weights)
    part = filled(M if weights is None else M.rows(np.flatnonzero(weights)))
    known = weights if weights is None else weights[weights > 0][part.rows]
    found = norm_by_sums(None, sums_of(part.M, known)) if scaling is None else SCALINGS[scaling](part.M, known)
    direction = found.rule.direction
    direction = None if direction is None else part.of_cols(direction, 1.0)
    rule = found.rule._replace(direction=direction, exponent=M._exponent)
    return Norm(found.name, part.of_cols(found.cols, 1.0), rule, None, weights)


def scale(X: Any, scaling: Any, weights: Array | None = None) -> tuple[LocalMatrix, Scaling | None]:
    """Return ``diag(rows) @ X @ diag(cols)``, and the `Scaling` with both diagonals.

    Without a scaling it is X without its power of two, and None. The scaled matrix of a rule with a name is the same
    for X and for a multiple of X.
    """
    M = as_matrix(X)
    found = norm_of(M, check_scaling(scaling, M.shape), weights).scaling_of(M)
    return (M.mantissa if found is None else found.apply(M).in_data_units()), found
