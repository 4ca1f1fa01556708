"""Alternating minimisation over two factors, with extrapolation."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import nonnegative
from cosep.utils.types import Array, Callback


class Budget(NamedTuple):
    """When an alternation stops, and its progress callback.

    Attributes
    ----------
    stage : str
        Name of the stage that the callback is called with.
    max_iter : int
        Largest number of alternations.
    tol : float
        Stop when an alternation lowers the squared error by less than this share of the squared norm of the data.
    callback : callable, optional
        Called as ``callback(stage, step, max_iter, relative error)`` after each alternation.
    """

    stage: str
    max_iter: int
    tol: float
    callback: Callback | None = None


def refit(M: LocalMatrix, S: Array, P1: Array, P2: Array, budget: Budget) -> tuple[Array, Array, list[float]]:
    """Lower ``1/2 ||M - P1 S P2||^2 / ||M||^2`` over ``P1, P2 >= 0`` from a start; return P1, P2 and its values."""
    total = max(M.squared_norm(), np.finfo(np.float64).tiny)

    def advance(P1: Array, P2: Array) -> tuple[Array, Array, float]:
        W = P1 @ S
        P2 = nonnegative(W, M.cross(W), P2.T).T
        del W  # as large as P1
        H = S @ P2
        target = M.dot(H.T)
        P1 = nonnegative(H.T, target, P1)
        return P1, P2, half_squared_error(total, H.T, target, P1)

    return alternate(advance, P1, P2, half_squared_error(total, P1 @ S, M.cross(P1 @ S), P2.T), budget)


def alternate(
    advance: Callable[[Array, Array], tuple[Array, Array, float]], P1: Array, P2: Array, value: float, budget: Budget
) -> tuple[Array, Array, list[float]]:
    """Repeat ``P1, P2, value = advance(P1, P2)``, each time from P1 extrapolated by its last step.

    If the value rises, the step is repeated from P1 itself, so that the returned values never rise.
    """
    objective, before = [value], P1
    for step in range(1, budget.max_iter + 1):
        ahead = 2.0 * P1
        ahead -= before
        Q1, Q2, value = advance(np.maximum(ahead, 0.0, out=ahead), P2)
        if budget.callback is not None:
            error = float(np.sqrt(max(2.0 * min(value, objective[-1]), 0.0)))
            budget.callback(budget.stage, step, budget.max_iter, error)
        if value > objective[-1]:
            if before is P1:
                break
            before = P1
            continue
        before, P1, P2 = P1, Q1, Q2
        objective.append(value)
        if objective[-2] - value <= 0.5 * budget.tol:
            break
    return P1, P2, objective


def half_squared_error(total: float, A: Array, B: Array, V: Array) -> float:
    """``1/2 ||M - A V'||^2 / ||M||^2`` from ``B = M'A`` and ``total = ||M||^2``."""
    return half_squared_error_of(total, A.T @ A, B, V)


def half_squared_error_of(total: float, G: Array, B: Array, V: Array) -> float:
    """Return the same from ``G = A'A``, if A is not available."""
    return 0.5 * (total - 2.0 * float(np.vdot(B, V)) + float(np.vdot(V @ G, V))) / total
