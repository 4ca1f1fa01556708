"""Nonnegative matrix factorization with minimum volume.

Notation
--------
M : data, m x n; s the largest norm of the columns that W starts from
W, V : nonnegative factors, m x r and n x r; M ~ W V', every row of V in the unit simplex (sum <= 1)
Y : inverse of ``W'W + delta s^2 I``
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.quadratic import orthant_active_set, orthant_descent, simplex_descent
from cosep.matrix.checks import check_count, check_nonzero, check_number
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.units import in_relative_units
from cosep.matrix.validation import as_matrix
from cosep.nmf.iteration import check_budget, report
from cosep.records.factorization import Factorization
from cosep.records.product import mantissa
from cosep.records.restore import restore_factors
from cosep.records.selection import SelectionWarning
from cosep.select.snpa import snpa
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Array, Callback

# Inside an alternation, stop at this KKT residual, or after this many sweeps over W or steps for a row of V. A step
# may have to choose among equal entries, so V needs a tight tolerance to be the same for sparse and dense storage.
W_TOL, W_SWEEPS = 1e-4, 100
V_TOL, V_STEPS = 1e-8, 1000
# In an exact solve: how far weights may sum to more than one, and the maximum number of steps of the root search.
SUM_TOL, SUM_STEPS = 1e-14, 50
# Steps after it correct rounding, down to this KKT residual.
EXACT_TOL, EXACT_STEPS = 1e-13, 1000
# The weight of the penalty is relative to the error, or to this share of the squared norm of X if that is larger.
ERROR_FLOOR = 1e-6


def minvol(
    X: Any,
    r: int,
    *,
    penalty: float = 0.1,
    delta: float = 0.1,
    max_iter: int = 500,
    tol: float = 1e-6,
    callback: Callback | None = None,
) -> Factorization:
    """Solve ``min ||X - W H||_F^2 + l logdet(W'W + delta I)`` over ``W >= 0`` and columns of H in the unit simplex.

    Every column of X is a mixture, with weights that sum to at most one, of r corners W that span a small volume.
    Leplat, Ang and Gillis, doi:10.1109/ICASSP.2019.8682280; Fu, Huang, Yang, Ma and Sidiropoulos,
    doi:10.1109/TSP.2016.2602800.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of corners.
    penalty : float
        Weight of the volume term at the start, relative to the error. It determines ``l``, which then stays fixed.
        Default: 0.1. A larger value gives a smaller volume and a larger error.
    delta : float
        Keeps the volume of a rank-deficient W positive, in units of the largest squared norm of the columns that W
        starts from. Default: 0.1.
    max_iter : int
        Maximum number of iterations. Each updates W and then H.
    tol : float
        Stop when an iteration lowers the objective by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("minvol", iteration, max_iter, relative error)`` after each iteration.

    Returns
    -------
    Factorization
        ``row_factor`` W and ``col_factor`` H, which is a minimiser for this W. ``meta["objective"]`` holds half of the
        objective above divided by ``||X||^2``, minus the volume term at W = 0, at the start and after each iteration;
        it never rises. ``meta["volume"]`` holds ``logdet(W'W + delta I) - r log(delta)``, and ``meta["converged"]``
        whether ``tol`` was reached.

    Notes
    -----
    The logarithm is replaced by its tangent at the current W, so that W solves a nonnegative quadratic problem with the
    Gram matrix ``HH' + l Y``. It is solved by coordinate descent, which is monotone like the fast gradient method of
    the reference but needs no step size. Two quantities of the reference depend on the units of X and are relative
    here: delta, and ``l = penalty max(error, floor) / volume``, with the volume measured from its smallest value, as
    above, instead of from a determinant of one.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.nmf.minvol import minvol
    >>> X = np.array([[1.0, 0.0, 0.5, 0.2], [0.0, 1.0, 0.5, 0.8]])
    >>> minvol(X, 2).relative_error(X) < 1e-3
    True
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    penalty = check_number(penalty, "penalty", 0.0, 1e6)
    delta = check_number(delta, "delta", 1e-12, 1e12)
    budget = check_budget("minvol", max_iter, tol, callback)
    check_nonzero(M)
    part = filled(M)
    M = part.M
    total = M.squared_norm()
    W = _starting_corners(M, r)
    V = simplex_coefficients(M.T, W.T)
    unit = delta * float((W**2).sum(axis=0).max())
    error, volume = half_squared_error(total, W, M.cross(W), V), _volume(W, unit)
    weight = penalty * max(error, 0.5 * ERROR_FLOOR) / volume
    objective = [error + weight * volume]
    converged = False
    while not converged and len(objective) <= budget.max_iter:
        Y = np.linalg.inv(W.T @ W + unit * np.eye(r))
        orthant_descent(V.T @ V + 2.0 * weight * total * Y, M.dot(V), W, W_TOL, W_SWEEPS)
        B = M.cross(W)
        simplex_descent(W.T @ W, B, V, V_TOL, V_STEPS)
        error, volume = half_squared_error(total, W, B, V), _volume(W, unit)
        objective.append(error + weight * volume)
        report(budget, len(objective) - 1, error)
        converged = objective[-2] - objective[-1] <= 0.5 * budget.tol
    corners = M.in_units(W)
    if not np.isfinite(corners).all():
        msg = "X has entries so close to the largest float that the corners around it exceed it; divide X by 1000."
        raise ValueError(msg)
    W = stored(W, M.dtype)
    V = simplex_coefficients(M.T, W.T)
    objective[-1] = half_squared_error(total, W, M.cross(W), V) + weight * volume
    found = Factorization(
        row_factor=narrow(corners, M.dtype),
        core=None,
        col_factor=narrow(V.T, M.dtype),
        row_labels=factor_labels(W, np.linalg.norm(V, axis=0)),
        col_labels=factor_labels(V, np.linalg.norm(W, axis=0)),
        meta={"objective": objective, "converged": converged, "volume": volume},
    )
    return restore_factors(part, found)


def simplex_mixtures(M: LocalMatrix, components: NDArray[Any]) -> Array:
    """Solve ``min_U ||X - U components||_F`` over rows of U in the unit simplex exactly, in the units of the data."""
    H, exponent = mantissa(components)
    return _simplex_weights(H @ H.T, in_relative_units(M, M.dot(H.T), exponent))


def simplex_coefficients(M: LocalMatrix, H: Array) -> Array:
    """Solve ``min_U ||M - U H||_F`` over rows of U in the unit simplex exactly, in the units of ``M.mantissa``."""
    return _simplex_weights(H @ H.T, M.dot(H.T))


def _simplex_weights(G: Array, B: Array) -> Array:
    """Solve ``min_u 1/2 u'Gu - b'u`` over ``u >= 0, sum(u) <= 1`` for each row b of B."""
    U = _by_multipliers(G, B)
    simplex_descent(G, B, U, EXACT_TOL, EXACT_STEPS)
    return U


def _by_multipliers(G: Array, B: Array) -> Array:
    """Solve the same problem by the multiplier of the sum.

    Coordinate descent on pairs of entries needs very many steps if corners are nearly proportional; this needs few.
    If the minimiser over the orthant sums to more than one, the solution is the minimiser for ``b - mu`` with the
    multiplier mu for which it sums to one. The sum falls with mu, piecewise linearly, from more than one at mu = 0 to
    zero at max(b). So the root lies between, and regula falsi is exact once both ends lie on one piece (Illinois rule:
    the value at an end that stays twice is halved).
    """
    U = np.zeros(B.shape)
    orthant_active_set(G, B, U)
    rows = np.flatnonzero(U.sum(axis=1) > 1.0)
    low, high = np.zeros(len(rows)), B[rows].max(axis=1, initial=0.0)
    above, below = U[rows].sum(axis=1) - 1.0, np.full(len(rows), -1.0)
    for _ in range(SUM_STEPS):
        mu = low + (high - low) * above / (above - below)
        V = U[rows]
        orthant_active_set(G, B[rows] - mu[:, None], V)
        U[rows] = V
        excess = V.sum(axis=1) - 1.0
        over = excess > 0.0
        low, high = np.where(over, mu, low), np.where(over, high, mu)
        above, below = np.where(over, excess, above / 2.0), np.where(over, below / 2.0, excess)
        left = (np.abs(excess) > SUM_TOL) & (low < high)
        rows, low, high, above, below = rows[left], low[left], high[left], above[left], below[left]
    return np.asarray(U / np.maximum(U.sum(axis=1, keepdims=True), 1.0))


def _starting_corners(M: LocalMatrix, r: int) -> Array:
    """Return r columns of M, some of them zero if fewer explain all others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        corners = M.take(cols=snpa(M, min(r, M.shape[1]), normalize=False).col_indices)
    return np.pad(corners, ((0, 0), (0, r - corners.shape[1])))


def _volume(W: Array, unit: float) -> float:
    """``logdet(I + W'W / unit)``: zero for W = 0."""
    return float(np.linalg.slogdet(np.eye(W.shape[1]) + W.T @ W / unit)[1])
