"""Alternating minimisation over two factors, with extrapolation."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import nonnegative
from cosep.utils.blas import one_blas_thread
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback


class Iterate(NamedTuple):
    """The state of an alternation over P1 and P2 that extrapolates P1.

    Attributes
    ----------
    P1, P2 : ndarray
        The best factors so far; a caller that keeps P2 itself passes None for it.
    before : ndarray
        The P1 before; P1 itself if the next step is not to be extrapolated.
    objective : tuple of float
        The values at the start and after each step that did not raise it.
    done : bool
        Whether to stop.
    """

    P1: Array
    P2: Any
    before: Array
    objective: tuple[float, ...]
    done: bool = False

    def ahead(self) -> Array:
        """Return where P1 would be after the same step again, the point to advance from."""
        ahead = 2.0 * self.P1
        ahead -= self.before
        return np.maximum(ahead, 0.0, out=ahead)

    def after(self, P1: Array, P2: Any, value: float, tol: float) -> "Iterate":
        """Return the state after a step; one that raised the value is repeated from P1 without extrapolation."""
        if value > self.objective[-1]:
            return self._replace(before=self.P1, done=self.before is self.P1)
        return Iterate(P1, P2, self.P1, (*self.objective, value), self.objective[-1] - value <= 0.5 * tol)


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

    def report(self, step: int, now: Iterate) -> None:
        """Call the callback."""
        if self.callback is not None:
            self.callback(self.stage, step, self.max_iter, float(np.sqrt(max(2.0 * now.objective[-1], 0.0))))


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


def is_wide(M: LocalMatrix, copies: Array | None = None) -> bool:
    """Return whether to factor the transpose instead, so that a matrix and its transpose have the same factors.

    The taller of the two is factored, and of a square matrix and its transpose the one with the more uneven rows (for a
    symmetric matrix there is no difference). ``copies`` is how many copies each row of M stands for, by default one:
    the row is then that of one copy times the square root of their number.
    """
    copies = np.ones(M.shape[0]) if copies is None else copies
    m, n = float(copies.sum()), float(M.shape[1])
    rows, cols = M.T.squared_norms(), M.squared_norms()
    uneven = float(rows @ (rows / np.where(copies > 0, copies, 1.0))), float(cols @ cols)
    return m < n or (m == n and uneven[0] < (1.0 - TIE_TOL) * uneven[1])


@one_blas_thread
def alternate(
    advance: Callable[[Array, Array], tuple[Array, Array, float]], P1: Array, P2: Array, value: float, budget: Budget
) -> tuple[Array, Array, list[float]]:
    """Repeat ``P1, P2, value = advance(P1, P2)``, each time from P1 extrapolated by its last step.

    If the value rises, the step is repeated from P1 itself, so that the returned values never rise.
    """
    now = Iterate(P1, P2, P1, (value,))
    for step in range(1, budget.max_iter + 1):
        now = now.after(*advance(now.ahead(), now.P2), budget.tol)
        budget.report(step, now)
        if now.done:
            break
    return now.P1, now.P2, list(now.objective)


def half_squared_error(total: float, A: Array, B: Array, V: Array) -> float:
    """``1/2 ||M - A V'||^2 / ||M||^2`` from ``B = M'A`` and ``total = ||M||^2``."""
    return half_squared_error_of(total, A.T @ A, B, V)


def half_squared_error_of(total: float, G: Array, B: Array, V: Array) -> float:
    """Return the same from ``G = A'A``, if A is not available."""
    return 0.5 * (total - 2.0 * float(np.vdot(B, V)) + float(np.vdot(V @ G, V))) / total
