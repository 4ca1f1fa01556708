"""The convex self-dictionary model: objective, scores and duality gap of a feasible point.

    min_Y  F(Y) = 1/2 ||B - B Y||_F^2 + lambda sum_t p_t Y(t,t)
    over   Y >= 0, Y(t,t) <= 1, w_t Y(t,l) <= w_l Y(t,t)

Row t of Y holds how much of each column column t explains; a penalised trace leaves few nonzero rows. Only the diagonal
is bounded by one, as in Gillis and Luce (doi:10.1109/TIP.2017.2753400); Pan and Ng (2023), (4.5), print the bound for
all entries. Derivations: docs/theory/convex-model.md.

Notation
--------
B : dense block with the Gram matrix of the data; R = B - B Y
w : l1 norms of the data's columns
p : prices, 1 as published; 0 for a column that is used in any case, infinity for one that must not be used
lam : penalty lambda
score_t : ``(B_t'R)_t + sum_{l != t} (w_l / w_t) max(0, (B_t'R)_l)``, the gain in F per unit of Y(t,t)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cosep.utils.types import Array, Indices

# Progress of a solver: called with the number of evaluations or iterations and the relative gap.
Report = Callable[[int, float], None]

# A gap below this share of ||B||^2, per unit of the trace, is rounding: multipliers are sums of products with relative
# errors of about 1e-10.
ROUNDING_GAP = 1e-9


@dataclass(frozen=True, eq=False)
class SelfDictionary:
    """A feasible Y, stored as its nonzero rows, with a bound on its distance from the optimum.

    Parameters
    ----------
    active : ndarray of int
        The rows of Y that are not zero.
    rows : ndarray of shape (len(active), n)
        Those rows.
    diagonal : ndarray of shape (n,)
    penalty : float
        Lambda, given or found.
    objective : float
        F(Y).
    gap : float
        F(Y) minus a lower bound on its minimum.
    relative_gap : float
        The gap over the objective (over 1e-12 ||B||^2 where the objective is smaller).
    kind : {"penalty", "trace"}
        Which problem the gap belongs to: that with this penalty, or that with this trace prescribed.
    ended : {"tolerance", "rounding", "max_iter", "stalled"}
        Why the solver stopped: the relative gap reached the tolerance; or the gap is below 1e-9 ||B||^2 per unit of
        the trace, the limit of double precision in a model of squares; or it reached max_iter; or no step makes the gap
        smaller.
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
    kind: str
    ended: str
    n_iter: int
    history: tuple[tuple[float, float, float], ...]


def scores(B: Array, R: Array, w: Array) -> Array:
    """Return ``score_t`` for all t; zero columns score zero."""
    products = B.T @ R
    own = np.diagonal(products).copy()
    np.maximum(products, 0.0, out=products)
    np.fill_diagonal(products, 0.0)
    return np.where(w > 0, own + products @ w / np.where(w > 0, w, 1.0), 0.0)


def how_it_ended(relative: float, tol: float, share: float, spent: int, most: int) -> str:
    """Return why a solver stopped, from its relative gap and the gap as a share of ||B||^2."""
    if relative <= tol:
        return "tolerance"
    if share <= ROUNDING_GAP:
        return "rounding"
    return "max_iter" if spent >= most else "stalled"


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
    R = B - product(B, Y)
    s = scores(B, R, w)[usable]
    br, rr = float(np.vdot(B, R)), float(np.vdot(R, R))
    objective = 0.5 * rr + float(cost @ np.diagonal(Y)[usable])
    plain = br - 0.5 * rr - float(np.maximum(s - cost, 0.0).sum())
    largest = float((cost[s > 0] / s[s > 0]).min(initial=np.inf))
    th = min(max(br, 0.0) / rr if rr > 0 else 0.0, largest)
    return objective, objective - max(plain, th * br - 0.5 * th * th * rr)


def product(B: Array, Y: Array) -> Array:
    """``B @ Y``, skipping the rows of Y that are zero."""
    active = np.flatnonzero(Y.any(axis=1))
    return B[:, active] @ Y[active]
