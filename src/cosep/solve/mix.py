"""Factors that explain a matrix by selected rows and columns, and the clusters that they give.

Notation
--------
M : data, m x n; D, E : diagonals of the norm; A = D M E
K1, K2 : selected rows and columns; S = M(K1,K2) the core
P1, P2 : nonnegative factors, m x r1 and r2 x n; A ~ Q1 S Q2 with Q1 = D P1, Q2 = P2 E
"""

from dataclasses import replace
from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_indices, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.frame_names import frame_col_names, frame_row_names
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Scaling
from cosep.matrix.scaling import check_scaling, check_weights, norm_of
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.records.selection import Selection, check_selection
from cosep.solve.alternation import Budget, half_squared_error, is_wide, refit
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients, column_weights
from cosep.utils.blas import one_blas_thread
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Array, Callback, Indices


def mix(
    X: Any,
    selection: Selection,
    *,
    scaling: Any = None,
    sample_weight: Any = None,
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
    scaling : {"degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None
        The norm ``||diag(d) (X - X^) diag(e)||_F`` to fit in, as in `CoSeparableNMF`. Default: None, the plain norm of
        the paper. The factors are those of X in any case.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as. Default: 1.
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
        lowered it, in the norm. ``row_factor`` is the exact minimiser for the final ``core @ col_factor`` in the type
        of X. ``row_labels`` and ``col_labels`` are clusters: the component with the largest share in a row or column.
        Names are those of a data frame.

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
    check_selection(selection, M.shape)
    check_callback(callback)
    norm = norm_of(M, check_scaling(scaling, M.shape), check_weights(sample_weight, M.shape[0]))
    found = fit_factors(M, selection, norm.scaling_of(M), Budget("mix", max_iter, tol, callback), norm.weights)
    return replace(found, row_names=frame_row_names(X), col_names=frame_col_names(X))


@one_blas_thread
def fit_factors(
    M: LocalMatrix, selection: Selection, scaling: Scaling | None, budget: Budget, weights: Array | None = None
) -> Factorization:
    """Return what `mix` returns, for a checked matrix and a norm that is known and contains the weights of rows."""
    rows, cols = check_selection(selection, M.shape)
    part = filled(M, rows, cols)
    within = None if scaling is None else Scaling(scaling.name, scaling.rows[part.rows], scaling.cols[part.cols])
    if rows is not None and cols is not None:
        copies = np.ones(part.M.shape[0]) if weights is None else weights[part.rows]
        chosen = part.row_positions(rows), part.col_positions(cols)
        found = _coseparable(part.M, chosen, within, budget, copies)
    elif rows is not None:
        found = _separable(part.M.T, part.row_positions(rows), None if within is None else within.T).T
    else:
        found = _separable(part.M, part.col_positions(check_indices(cols, "col_indices")), within)
    return replace(restore_factors(part, found, selection), scaling=scaling)


def _separable(M: LocalMatrix, cols: Indices, scaling: Scaling | None) -> Factorization:
    D, E = _diagonals(M, scaling)
    A, V = M.take(cols=cols), column_weights(M, cols, D)
    return Factorization(
        row_factor=narrow(M.in_units(A), M.dtype),
        core=None,
        col_factor=narrow(V, M.dtype),
        col_weights=narrow(V.copy(), M.dtype),
        row_labels=factor_labels(A, np.linalg.norm(V * E, axis=1)),
        col_labels=factor_labels(V.T, np.linalg.norm(A * D[:, None], axis=0)),
    )


def _coseparable(
    M: LocalMatrix, chosen: tuple[Indices, Indices], scaling: Scaling | None, budget: Budget, copies: Array
) -> Factorization:
    (rows, cols), (D, E) = chosen, _diagonals(M, scaling)
    S = M.take(rows, cols)
    row_weights, col_weights = column_weights(M.T, rows, E).T, column_weights(M, cols, D)
    A = M.mantissa if scaling is None else M.mantissa.scaled(D, E)
    part = filled(A, rows, cols)  # without rows that do not count, and what is zero without them
    A, Q1, Q2 = part.M, (row_weights * D[:, None])[part.rows], (col_weights * E)[:, part.cols]
    Q1, objective = _refit(A, S, (Q1, Q2), budget, copies[part.rows])
    # Both factors are solved for from zero: the same of several best ones, as `transform` finds for new rows.
    P2 = stored(part.of_cols(coefficients(A.T, (Q1 @ S).T).T) / E, M.dtype)
    H = stored(S @ P2, M.dtype)
    products = M.dot((H * E**2).T)
    P1 = coefficients(M, H, E, products)
    Q1, total = D[:, None] * P1, max(A.squared_norm(), np.finfo(np.float64).tiny)
    objective[-1] = min(objective[-1], half_squared_error(total, (H * E).T, D[:, None] * products, Q1))
    return Factorization(
        row_factor=narrow(P1, M.dtype),
        core=narrow(M.in_units(S), M.dtype),
        col_factor=narrow(P2, M.dtype),
        row_weights=narrow(row_weights, M.dtype),
        col_weights=narrow(col_weights, M.dtype),
        row_labels=factor_labels(P1, np.linalg.norm(H * E, axis=1), M.T.filled_columns()),
        col_labels=factor_labels(P2.T, np.linalg.norm(Q1 @ S, axis=0), part.of_cols(A.filled_columns())),
        meta={"objective": objective},
    )


def _refit(
    A: LocalMatrix, S: Array, start: tuple[Array, Array], budget: Budget, copies: Array
) -> tuple[Array, list[float]]:
    """Return Q1 and the objective of an alternation over both factors.

    The factor of the shorter side is updated first, so that the answer for the transpose is the same.
    """
    Q1, Q2 = start
    if is_wide(A, copies):
        _, Q1, objective = refit(A.T, S.T, Q2.T, Q1.T, budget)
        return Q1.T, objective
    Q1, _, objective = refit(A, S, Q1, Q2, budget)
    return Q1, objective


def _diagonals(M: LocalMatrix, scaling: Scaling | None) -> tuple[Array, Array]:
    """Return D and E, each divided by a power of two."""
    return (np.ones(M.shape[0]), np.ones(M.shape[1])) if scaling is None else scaling.unit()
