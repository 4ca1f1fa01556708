"""A matrix and a rank enter, the Factorization whose left factor spans the smallest volume leaves.

Notation
--------
M : data, m x n; s its unit, the largest norm of the columns that W starts from
W, V : nonnegative factors, m x r and n x r; M ~ W V', every row of V in the unit simplex (sum <= 1)
Y : inverse of ``W'W + delta s^2 I``
"""

import warnings
from typing import Any

import numpy as np

from cosep.kernels.quadratic import orthant_active_set, orthant_descent, simplex_descent
from cosep.matrix.checks import as_matrix, check_callback, check_count, check_nonzero, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.nmf.record import absorb
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.records.selection import SelectionWarning
from cosep.select.snpa import snpa
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Array, Callback

# Inside an alternation: a KKT residual below the first, or this many sweeps over W or steps for a row of V. The steps
# choose among equals, so that only a tight tolerance gives the same V for the same matrix stored otherwise.
W_TOL, W_SWEEPS = 1e-4, 100
V_TOL, V_STEPS = 1e-8, 1000
# At its end: the excess over the sum of one, or steps to find it; then a KKT residual, or steps that mend rounding.
ROOT_TOL, ROOT_STEPS = 1e-14, 50
EXACT_TOL, EXACT_STEPS = 1e-13, 1000
# The error that the penalty is measured by is at least this share of the squared norm of X.
ERROR_FLOOR = 1e-6
# Data this much larger than the corners, as a power of two, is beyond the simplex whatever its size.
HUGE = 300


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

    Every column of X is a mix, with weights that sum to one at the most, of the r corners W of a small volume.
    Leplat, Ang and Gillis, doi:10.1109/ICASSP.2019.8682280; Fu, Huang, Yang, Ma and Sidiropoulos,
    doi:10.1109/TSP.2016.2602800.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of corners.
    penalty : float
        The share of the error that the volume weighs at the start; it sets ``l``, which stays as it is after that.
    delta : float
        What keeps the volume of a flat W above zero, in units of the largest squared norm of a column it starts from.
    max_iter : int
        Iterations at the most; each updates W and then H.
    tol : float
        Stop when an iteration lowers the objective by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("minvol", iteration, max_iter, relative error)`` after each iteration.

    Returns
    -------
    Factorization
        ``row_factor`` W and ``col_factor`` H, which is a minimiser for this W. ``meta["objective"]`` holds half of
        the above over ``||X||^2``, less its value at W = 0, at the start and after each iteration; it never rises.
        ``meta["volume"]`` holds ``logdet(W'W + delta I) - r log(delta)`` and ``meta["converged"]`` whether ``tol`` was
        reached.

    Notes
    -----
    The logarithm is replaced by its tangent at the current W, so that W solves a nonnegative quadratic with the Gram
    matrix ``HH' + l Y``; it is solved by coordinate descent, as monotone as the fast gradient of the reference but
    without a step size. Two quantities of the reference depend on the unit of X and are made relative here: delta,
    and ``l = penalty max(error, floor) / volume`` with the volume measured from its smallest value, as above, instead
    of from where the determinant happens to be one.

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
    max_iter = check_positive(max_iter)
    tol = check_number(tol, "tol", 0.0)
    check_callback(callback)
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
    while not converged and len(objective) <= max_iter:
        Y = np.linalg.inv(W.T @ W + unit * np.eye(r))
        orthant_descent(V.T @ V + 2.0 * weight * total * Y, M.dot(V), W, W_TOL, W_SWEEPS)
        B = M.cross(W)
        simplex_descent(W.T @ W, B, V, V_TOL, V_STEPS)
        error, volume = half_squared_error(total, W, B, V), _volume(W, unit)
        objective.append(error + weight * volume)
        if callback is not None:
            callback("minvol", len(objective) - 1, max_iter, float(np.sqrt(max(2.0 * error, 0.0))))
        converged = objective[-2] - objective[-1] <= 0.5 * tol
    corners, rest = absorb(W, M.exponent)
    if rest > 0:
        msg = "X has entries so close to the largest float that the corners around it are beyond; divide X by 1000."
        raise ValueError(msg)
    W = stored(W, M.dtype)
    V = simplex_coefficients(M.T, W.T)
    objective[-1] = half_squared_error(total, W, M.cross(W), V) + weight * volume
    found = Factorization(
        row_factor=narrow(np.ldexp(corners, rest), M.dtype),
        core=None,
        col_factor=narrow(V.T, M.dtype),
        row_labels=factor_labels(W, np.linalg.norm(V, axis=0)),
        col_labels=factor_labels(V, np.linalg.norm(W, axis=0)),
        meta={"objective": objective, "converged": converged, "volume": volume},
    )
    return restore_factors(part, found)


def simplex_coefficients(M: LocalMatrix, H: Array, exponent: int = 0) -> Array:
    """Solve ``min_U ||2**exponent M - U H||_F`` over rows of U in the unit simplex exactly, each row on its own."""
    G, B = H @ H.T, np.ldexp(M.dot(H.T), min(exponent, HUGE))
    U = _by_multipliers(G, B)
    simplex_descent(G, B, U, EXACT_TOL, EXACT_STEPS)
    return U


def _by_multipliers(G: Array, B: Array) -> Array:
    """Solve ``min_u 1/2 u'Gu - b'u`` over ``u >= 0, sum(u) <= 1`` for each row b of B.

    Pairs of entries that exchange weight need very many steps where corners are nearly proportional; this needs few.
    Where the minimiser over the orthant sums to more than one, it is that for ``b - mu`` with the multiplier mu at
    which it sums to one. The sum falls in mu, piecewise linearly, from more than one at mu = 0 to zero at max(b): its
    root lies between, and regula falsi is exact once both ends lie on one piece (Illinois rule: an end that stays
    twice counts half).
    """
    U = np.zeros(B.shape)
    orthant_active_set(G, B, U)
    rows = np.flatnonzero(U.sum(axis=1) > 1.0)
    low, high = np.zeros(len(rows)), B[rows].max(axis=1, initial=0.0)
    above, below = U[rows].sum(axis=1) - 1.0, np.full(len(rows), -1.0)
    for _ in range(ROOT_STEPS):
        mu = low + (high - low) * above / (above - below)
        V = U[rows]
        orthant_active_set(G, B[rows] - mu[:, None], V)
        U[rows] = V
        excess = V.sum(axis=1) - 1.0
        over = excess > 0.0
        low, high = np.where(over, mu, low), np.where(over, high, mu)
        above, below = np.where(over, excess, above / 2.0), np.where(over, below / 2.0, excess)
        left = (np.abs(excess) > ROOT_TOL) & (low < high)
        rows, low, high, above, below = rows[left], low[left], high[left], above[left], below[left]
    return np.asarray(U / np.maximum(U.sum(axis=1, keepdims=True), 1.0))


def _starting_corners(M: LocalMatrix, r: int) -> Array:
    """Return r columns of M, some of them zero where fewer explain all others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        corners = M.take(cols=snpa(M, min(r, M.shape[1]), normalize=False).col_indices)
    return np.pad(corners, ((0, 0), (0, r - corners.shape[1])))


def _volume(W: Array, unit: float) -> float:
    """``logdet(I + W'W / unit)``: zero where W is."""
    return float(np.linalg.slogdet(np.eye(W.shape[1]) + W.T @ W / unit)[1])
