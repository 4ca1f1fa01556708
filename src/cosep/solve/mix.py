"""Factors that explain a matrix by selected rows and columns.

Notation
--------
M : data, m x n
K1, K2 : selected rows and columns; S = M(K1,K2) the core
P1, P2 : nonnegative factors, m x r1 and r2 x n
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_indices, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.records.selection import Selection, check_selection
from cosep.solve.alternation import Budget, half_squared_error, refit
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import column_weights, nonnegative
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Callback, Indices


def mix(
    X: Any,
    selection: Selection,
    *,
    max_iter: int = 100,
    tol: float = 3e-5,
    callback: Callback | None = None,
) -> Factorization:
    """Find the nonnegative factors that explain X by its selected rows, columns, or both.

    Both sides: ``min ||X - P1 S P2||_F`` over ``P1, P2 >= 0`` with the core ``S = X(rows, cols)`` fixed
    (Algorithm 3 of Pan and Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023, with extrapolation), alternately in P2
    and P1 from

        ``row_weights = argmin ||X - U X(rows,:)||``  and  ``col_weights = argmin ||X - X(:,cols) V||``.

    One side: those weights are the factors, with the selected columns (rows) themselves as the other one.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
    max_iter : int
        Largest number of alternations.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("mix", alternation, max_iter, relative error)`` after each alternation.

    Returns
    -------
    Factorization
        ``meta["objective"]`` holds ``1/2 ||X - P1 S P2||^2 / ||X||^2`` at the start and after each alternation that
        lowered it. ``row_factor`` is the exact minimiser for the final ``core @ col_factor`` in the type of X.

    Examples
    --------
    >>> from cosep import both_sides, mix, spa
    >>> from cosep.datasets import make_coseparable
    >>> X, truth = make_coseparable(30, 20, 4, 4, random_state=0)
    >>> mix(X, both_sides(spa)(X, 4, 4)).relative_error(X) < 1e-6
    True
    """
    M = as_matrix(X)
    max_iter = check_positive(max_iter)
    tol = check_number(tol, "tol", 0.0)
    rows, cols = check_selection(selection, M.shape)
    check_callback(callback)
    part = filled(M, rows, cols)
    if rows is not None and cols is not None:
        budget = Budget("mix", max_iter, tol, callback)
        found = _coseparable(part.M, part.row_positions(rows), part.col_positions(cols), budget)
    elif rows is not None:
        found = _separable(part.M.T, part.row_positions(rows)).T
    else:
        found = _separable(part.M, part.col_positions(check_indices(cols, "col_indices")))
    return restore_factors(part, found, selection)


def _separable(M: LocalMatrix, cols: Indices) -> Factorization:
    A, V = M.take(cols=cols), column_weights(M, cols)
    return Factorization(
        row_factor=narrow(M.in_units(A), M.dtype),
        core=None,
        col_factor=narrow(V, M.dtype),
        col_weights=narrow(V.copy(), M.dtype),
        row_labels=factor_labels(A, np.linalg.norm(V, axis=1)),
        col_labels=factor_labels(V.T, np.linalg.norm(A, axis=0)),
    )


def _coseparable(M: LocalMatrix, rows: Indices, cols: Indices, budget: Budget) -> Factorization:
    S = M.take(rows, cols)
    row_weights, col_weights = column_weights(M.T, rows).T, column_weights(M, cols)
    P2, objective = refit(M, S, row_weights, col_weights, budget)[1:]
    P2 = stored(P2, M.dtype)
    H = stored(S @ P2, M.dtype)
    target, total = M.dot(H.T), max(M.squared_norm(), np.finfo(np.float64).tiny)
    # Start at zero, as `transform` does for new rows: the same of several best factors.
    P1 = nonnegative(H.T, target, np.zeros((M.shape[0], len(S))), exact=True)
    objective[-1] = min(objective[-1], half_squared_error(total, H.T, target, P1))
    return Factorization(
        row_factor=narrow(P1, M.dtype),
        core=narrow(M.in_units(S), M.dtype),
        col_factor=narrow(P2, M.dtype),
        row_weights=narrow(row_weights, M.dtype),
        col_weights=narrow(col_weights, M.dtype),
        row_labels=factor_labels(P1, np.linalg.norm(S @ P2, axis=1)),
        col_labels=factor_labels(P2.T, np.linalg.norm(P1 @ S, axis=0)),
        meta={"objective": objective},
    )
