"""Limits of an iterative factorization, and reports of its progress."""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_number, check_positive
from cosep.solve.alternation import Budget
from cosep.utils.types import Callback


def check_budget(stage: str, max_iter: Any, tol: Any, callback: Callback | None) -> Budget:
    """Return the options that all iterative factorizations share, checked."""
    max_iter, tol = check_positive(max_iter), check_number(tol, "tol", 0.0)
    check_callback(callback)
    return Budget(stage, max_iter, tol, callback)


def report(budget: Budget, step: int, half_squared_error: float) -> None:
    """Call the callback, if there is one, with the step and the relative error."""
    if budget.callback is not None:
        budget.callback(budget.stage, step, budget.max_iter, float(np.sqrt(max(2.0 * half_squared_error, 0.0))))
