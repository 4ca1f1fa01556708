"""The published fast gradient method for the convex self-dictionary model.

Notation as in `cosep.solve.self_dictionary`; Z, BZ is the point with momentum.
"""

from dataclasses import dataclass

import numpy as np

from cosep.kernels.projections import project_dictionary
from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import column_weights
from cosep.solve.pursuit import Positions
from cosep.solve.self_dictionary import Report, SelfDictionary, duality_gap, how_it_ended, largest_penalty, product
from cosep.solve.successive_projections import pursue
from cosep.utils.types import Array

# First momentum parameter.
ALPHA = 0.05
# The method stores half a dozen n x n arrays; this many columns make them 10 GB.
MOST_COLUMNS = 15_000
TINY = float(np.finfo(np.float64).tiny)


def starting_penalty(B: Array, w: Array, p: Array, r: int) -> float:
    """Return ``(||B - B(:,K) H||^2 + 1e-3 ||B||^2) / r`` with K from SPA."""
    M = LocalMatrix(B)
    given = np.flatnonzero(p == 0)
    weights = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0)
    K = pursue(M, len(given) + r, weights, positions=Positions(np.isfinite(p), given, np.ones(len(p))))[0]
    squared = float(np.linalg.norm(B - B[:, K] @ column_weights(M, K)) ** 2)
    return (squared + 1e-3 * M.squared_norm()) / max(r, 1)


@dataclass
class Steering:
    """Lambda, changed until the trace of Y approaches a target.

    At every restart, and after 20 iterations without one, lambda grows or shrinks by a share, a tenth at first, which
    is halved whenever the direction changes. Without a target lambda stays.
    """

    lam: float
    trace: float | None
    share: float = 0.1
    direction: int = 0
    waited: int = 0

    @property
    def settled(self) -> bool:
        """Whether lambda hardly changes any more."""
        return self.trace is None or self.share < 1e-2

    def update(self, trace: float, *, restart: bool) -> None:
        """Change lambda after an iteration that led to this trace."""
        self.waited += 1
        if self.trace is None or not (restart or self.waited >= 20):
            return
        turn = -1 if trace < self.trace else 1
        self.share = self.share / 2 if turn == -self.direction else self.share
        self.direction = turn
        self.lam *= 1.0 + turn * self.share
        self.waited = 0


def solve_fast_gradient(
    B: LocalMatrix | Array,
    w: Array,
    *,
    r: int,
    penalty: float | None = None,
    trace: float | None = None,
    p: Array | None = None,
    start: object = None,  # noqa: ARG001 - the published method starts at zero
    tol: float = 1e-4,
    max_iter: int = 1000,
    report: Report | None = None,
) -> SelfDictionary:
    """Minimise F by Nesterov's method with restarts, changing lambda until the trace of Y approaches ``trace``.

    Algorithm 1 of Pan and Ng (2023), with the details of the code of Gillis and Luce: start at zero, step 1/L with
    ``L = sigma_max(B)^2``, momentum from ``alpha = 0.05``, restart when F rises. ``trace=None`` keeps the penalty.
    Stops at a relative gap of ``tol``, once lambda has settled, or after ``max_iter`` iterations. Columns with price
    p = 0 do not count in the trace.
    """
    n = B.shape[1]
    if n > MOST_COLUMNS:
        msg = (
            f"solver='fast-gradient' stores n x n arrays, too large for n={n} distinct columns (at most "
            f"{MOST_COLUMNS}); use solver='newton'."
        )
        raise ValueError(msg)
    B = B.gram_root() if isinstance(B, LocalMatrix) else B
    p = np.ones(n) if p is None else p
    counted = np.where(np.isfinite(p), p, 0.0)
    L = float(np.linalg.norm(B, 2)) ** 2 or 1.0
    steering = Steering(_first_penalty(B, w, p, r, penalty, trace), trace)
    Y, BY = np.zeros((n, n)), np.zeros_like(B)
    Z, BZ = Y, BY
    alpha, last = ALPHA, np.inf
    history: list[tuple[float, float, float]] = []
    floor = max(1e-12 * float(np.vdot(B, B)), TINY)
    for n_iter in range(1, max_iter + 1):
        lam = steering.lam
        step = B.T @ (B - BZ)
        step.flat[:: n + 1] -= np.where(counted == p, lam * counted, np.inf)
        step *= 1.0 / L
        step += Z
        ahead = project_dictionary(step, w)
        B_ahead = product(B, ahead)
        size = float(counted @ np.diagonal(ahead))
        misfit = 0.5 * float(np.linalg.norm(B - B_ahead)) ** 2
        history.append((misfit + lam * size, size, lam))
        restart = history[-1][0] > last
        steering.update(size, restart=restart)
        following = (np.sqrt(alpha**4 + 4.0 * alpha**2) - alpha**2) / 2.0
        beta = 0.0 if restart else alpha * (1.0 - alpha) / (alpha**2 + following)
        Z, BZ = ahead + beta * (ahead - Y), B_ahead + beta * (B_ahead - BY)
        Y, BY, last, alpha = ahead, B_ahead, misfit + steering.lam * size, ALPHA if restart else following
        if n_iter % 50 == 0 and steering.settled:
            objective, gap = duality_gap(B, w, Y, steering.lam, p)
            if report is not None:
                report(n_iter, gap / max(objective, floor))
            if gap <= tol * max(objective, floor):
                break
    objective, gap = duality_gap(B, w, Y, steering.lam, p)
    relative = gap / max(objective, floor)
    ended = how_it_ended(relative, tol, gap / max(float(np.vdot(B, B)), TINY), n_iter, max_iter)
    active, diagonal = np.flatnonzero(Y.any(axis=1)), np.diagonal(Y).copy()
    # The gap is that of the problem with the last penalty.
    rest = ("penalty", ended, n_iter, tuple(history))
    return SelfDictionary(active, Y[active], diagonal, steering.lam, objective, gap, relative, *rest)


def _first_penalty(B: Array, w: Array, p: Array, r: int, penalty: float | None, trace: float | None) -> float:
    """Return the penalty to start with."""
    lam = starting_penalty(B, w, p, r) if penalty is None else penalty
    if trace is None:
        return lam
    # From lambda_max on, Y would stay zero, and a share of a lambda of zero is zero.
    return float(np.clip(lam, 1e-6 * largest_penalty(B, w), 0.5 * largest_penalty(B, w)))
