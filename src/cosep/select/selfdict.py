"""A thin dense block enters; the minimiser of the convex self-dictionary model, with its duality gap, leaves.

    min_Y  F(Y) = 1/2 ||B - B Y||_F^2 + lambda sum_t p_t Y(t,t)
    over   Y >= 0, Y(t,t) <= 1, w_t Y(t,l) <= w_l Y(t,t)

Row t of Y tells how much of each column is explained by column t; a penalised trace leaves few rows. Only the diagonal
is bounded by one, as in Gillis and Luce (doi:10.1109/TIP.2017.2753400); Pan and Ng (2023), (4.5), print the bound for
all entries. Derivations: docs/theory/convex-model.md.

Notation
--------
B : dense block with the Gram matrix of the data; R = B - B Y
w : l1 norms of the data's columns
p : prices, 1 as published; 0 for a column that is given, infinity for one that must not be used
lam : penalty lambda
score_t : ``(B_t'R)_t + sum_{l != t} (w_l / w_t) max(0, (B_t'R)_l)``, what freeing row t of Y would earn
"""

from dataclasses import dataclass

import numpy as np

from cosep.kernels.projections import project_dictionary
from cosep.matrix.local import Array, Indices

ALPHA = 0.05
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class SelfDictionary:
    """A feasible Y, stored as its nonzero rows, and how far from optimal it can be at most.

    Parameters
    ----------
    active : ndarray of int
        The rows of Y that are not zero.
    rows : ndarray of shape (len(active), n)
        Those rows.
    diagonal : ndarray of shape (n,)
    penalty : float
        Lambda. The gap is that of the problem with this penalty.
    objective : float
        F(Y).
    gap : float
        F(Y) minus a lower bound on its minimum.
    relative_gap : float
        The gap over the objective (over 1e-12 ||B||^2 where the objective is smaller).
    n_iter : int
    history : tuple of (objective, trace, penalty)
    """

    active: Indices
    rows: Array
    diagonal: Array
    penalty: float
    objective: float
    gap: float
    relative_gap: float
    n_iter: int
    history: tuple[tuple[float, float, float], ...]


def scores(B: Array, R: Array, w: Array) -> Array:
    """Return ``score_t`` for all t; zero columns score zero."""
    products = B.T @ R
    own = np.diagonal(products).copy()
    np.maximum(products, 0.0, out=products)
    np.fill_diagonal(products, 0.0)
    return np.where(w > 0, own + products @ w / np.where(w > 0, w, 1.0), 0.0)


def largest_penalty(B: Array, w: Array) -> float:
    """Return the smallest lambda for which ``Y = 0`` is optimal at prices of one, ``max_t (B'B w)_t / w_t``."""
    return float(scores(B, B, w).max())


def duality_gap(B: Array, w: Array, Y: Array, lam: float, p: Array | None = None) -> tuple[float, float]:
    """Return F(Y) and F(Y) minus a dual value, for a feasible Y.

    Any multiple ``th R`` of the residual gives the dual value
    ``th <B, R> - th^2/2 ||R||^2 - sum_t max(0, th score_t - lam p_t)``; the better of ``th = 1`` and of the best th
    for which the sum vanishes is taken.
    """
    usable = np.ones(len(w), dtype=bool) if p is None else np.isfinite(p)
    cost = lam * (np.ones(len(w)) if p is None else p)[usable]
    R = B - _product(B, Y)
    s = scores(B, R, w)[usable]
    br, rr = float(np.vdot(B, R)), float(np.vdot(R, R))
    objective = 0.5 * rr + float(cost @ np.diagonal(Y)[usable])
    plain = br - 0.5 * rr - float(np.maximum(s - cost, 0.0).sum())
    largest = float((cost[s > 0] / s[s > 0]).min(initial=np.inf))
    th = min(max(br, 0.0) / rr if rr > 0 else 0.0, largest)
    return objective, objective - max(plain, th * br - 0.5 * th * th * rr)


def solve_fast_gradient(
    B: Array,
    w: Array,
    *,
    penalty: float,
    trace: float | None = None,
    p: Array | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> SelfDictionary:
    """Minimise F by Nesterov's method with restarts, steering lambda so that the trace of Y approaches ``trace``.

    Algorithm 1 of Pan and Ng (2023), in the details the code of Gillis and Luce: start at zero, step 1/L with
    ``L = sigma_max(B)^2``, momentum from ``alpha = 0.05``, restart when F rises. At every restart, and when none has
    come for 20 iterations, lambda grows or shrinks by a tenth, a share that is halved whenever the direction turns.
    ``trace=None`` keeps the penalty. Ends on a relative gap of ``tol``, once lambda has settled, or on ``max_iter``.
    Columns that are given (p = 0) do not count in the trace.
    """
    n = B.shape[1]
    p = np.ones(n) if p is None else p
    counted = np.where(np.isfinite(p), p, 0.0)
    L = float(np.linalg.norm(B, 2)) ** 2 or 1.0
    lam = penalty
    if trace is not None:
        # From lambda_max on Y would stay zero for ever, and a share of zero is zero.
        lam = float(np.clip(lam, 1e-6 * largest_penalty(B, w), 0.5 * largest_penalty(B, w)))
    share, direction = 0.1, 0
    Y, BY = np.zeros((n, n)), np.zeros_like(B)
    Z, BZ = Y, BY
    alpha, last, since = ALPHA, np.inf, 0
    history: list[tuple[float, float, float]] = []
    floor = max(1e-12 * float(np.vdot(B, B)), TINY)
    for n_iter in range(1, max_iter + 1):
        step = B.T @ (B - BZ)
        step.flat[:: n + 1] -= np.where(counted == p, lam * counted, np.inf)
        step *= 1.0 / L
        step += Z
        ahead = project_dictionary(step, w)
        B_ahead = _product(B, ahead)
        size = float(counted @ np.diagonal(ahead))
        misfit = 0.5 * float(np.linalg.norm(B - B_ahead)) ** 2
        value = misfit + lam * size
        history.append((value, size, lam))
        since += 1
        restart = value > last
        if trace is not None and (restart or since >= 20):
            turn = -1 if size < trace else 1
            share = share / 2 if turn == -direction else share
            direction = turn
            lam *= 1.0 + turn * share
            value, since = misfit + lam * size, 0
        following = (np.sqrt(alpha**4 + 4.0 * alpha**2) - alpha**2) / 2.0
        beta = 0.0 if restart else alpha * (1.0 - alpha) / (alpha**2 + following)
        Z, BZ = ahead + beta * (ahead - Y), B_ahead + beta * (B_ahead - BY)
        Y, BY, last, alpha = ahead, B_ahead, value, ALPHA if restart else following
        if n_iter % 50 == 0 and (trace is None or share < 1e-2):
            objective, gap = duality_gap(B, w, Y, lam, p)
            if gap <= tol * max(objective, floor):
                break
    objective, gap = duality_gap(B, w, Y, lam, p)
    active = np.flatnonzero(Y.any(axis=1))
    return SelfDictionary(
        active,
        Y[active],
        np.diagonal(Y).copy(),
        lam,
        objective,
        gap,
        gap / max(objective, floor),
        n_iter,
        tuple(history),
    )


def _product(B: Array, Y: Array) -> Array:
    """``B @ Y``, skipping the rows of Y that are zero."""
    active = np.flatnonzero(Y.any(axis=1))
    return B[:, active] @ Y[active]
