"""Factors that explain a matrix by the sum of selected rows and selected columns.

Notation
--------
M : data, m x n
K1, K2 : selected rows and columns; H = M(K1,:), C = M(:,K2)
P1, P2 : nonnegative weights, m x r1 and r2 x n; M ~ P1 H + C P2
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.records.selection import Selection, check_selection
from cosep.solve.alternation import Budget, alternate
from cosep.solve.labels import factor_labels
from cosep.solve.mix import mix
from cosep.solve.nonnegative import nonnegative
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Array, Callback


def mix_generalized(
    X: Any,
    selection: Selection,
    *,
    max_iter: int = 1000,
    tol: float = 1e-7,
    callback: Callback | None = None,
) -> Factorization:
    """Find the nonnegative weights that explain X by its selected rows plus its selected columns.

    ``min ||X - P1 X(rows,:) - X(:,cols) P2||_F`` over ``P1, P2 >= 0``, alternately in P2 and P1. The problem is
    convex, so that the alternation converges to the smallest error. It is extrapolated, except after a rise of the
    error, and needs X only at the start and at the end. J. Pan and N. Gillis, IEEE Trans. Pattern Anal. Mach. Intell.
    43, 1546-1561, 2021, doi:10.1109/TPAMI.2019.2956046.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        Rows, columns or both, as `gspa` chooses them.
    max_iter : int
        Largest number of alternations.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("mix", alternation, max_iter, relative error)`` after each alternation.

    Returns
    -------
    Factorization
        ``row_factor = [P1, X(:,cols)]``, ``col_factor = [X(rows,:); P2]``, no core. ``meta["objective"]`` holds
        ``1/2 ||X - P1 X(rows,:) - X(:,cols) P2||^2 / ||X||^2`` at the start and after each alternation; it never
        rises. P1 is the exact minimiser for the final P2. For one side alone the result is that of `mix`.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection, mix_generalized
    >>> X = np.outer([1, 0.5, 1, 0.2], [0, 4, 1, 0]) + np.outer([0, 1, 5, 2], [1, 0, 1, 1])
    >>> mix_generalized(X, Selection([0], [0])).relative_error(X) < 1e-3
    True
    """
    M = as_matrix(X)
    max_iter = check_positive(max_iter)
    tol = check_number(tol, "tol", 0.0)
    rows, cols = check_selection(selection, M.shape)
    check_callback(callback)
    if rows is None or cols is None:
        return mix(M, selection)
    part = filled(M, rows, cols)
    M, rows, cols = part.M, part.row_positions(rows), part.col_positions(cols)
    H, C = M.take(rows=rows), M.take(cols=cols)
    M_H, M_C = M.dot(H.T), M.cross(C)
    total = max(M.squared_norm(), np.finfo(np.float64).tiny)

    def half_error(P1: Array, P2: Array) -> float:
        W, B = np.hstack([P1, C]), np.vstack([H, P2])
        explained = float(np.vdot(M_H, P1)) + float(np.vdot(M_C.T, P2))
        return 0.5 * (total - 2.0 * explained + float(np.vdot(W.T @ W, B @ B.T))) / total

    def advance(P1: Array, P2: Array) -> tuple[Array, Array, float]:
        P2 = nonnegative(C, M_C - H.T @ (P1.T @ C), P2.T).T
        P1 = nonnegative(H.T, M_H - C @ (P2 @ H.T), P1)
        return P1, P2, half_error(P1, P2)

    nothing = np.zeros_like(M_H), np.zeros_like(M_C.T)
    P1, P2, objective = alternate(advance, *nothing, half_error(*nothing), Budget("mix", max_iter, tol, callback))
    P2 = stored(P2, M.dtype)
    P1 = row_weights(M, C, H, P2)
    objective[-1] = min(objective[-1], half_error(P1, P2))
    W, B = np.hstack([P1, C]), np.vstack([H, P2])
    found = Factorization(
        row_factor=narrow(np.hstack([P1, M.in_units(C)]), M.dtype),
        core=None,
        col_factor=narrow(np.vstack([M.in_units(H), P2]), M.dtype),
        row_labels=factor_labels(W, np.linalg.norm(B, axis=1)),
        col_labels=factor_labels(B.T, np.linalg.norm(W, axis=0)),
        meta={"objective": objective},
    )
    return restore_factors(part, found, selection)


def row_weights(M: LocalMatrix, C: Array, H: Array, P2: Array) -> Array:
    """Solve ``min_P1 ||M - C P2 - P1 H||_F`` over ``P1 >= 0`` exactly, each row on its own."""
    return nonnegative(H.T, M.dot(H.T) - C @ (P2 @ H.T), np.zeros((M.shape[0], len(H))), exact=True)
