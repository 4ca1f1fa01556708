"""A matrix and a Selection enter, the Factorization that mixes the selected rows and columns leaves.

Notation
--------
M : data, m x n
K1, K2 : selected rows and columns; S = M(K1,K2) the core
P1, P2 : nonnegative factors, m x r1 and r2 x n
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.factorization import Callback, Factorization, Selection
from cosep.filled import filled
from cosep.kernels.quadratic import orthant_active_set, orthant_descent
from cosep.matrix.checks import as_matrix, check_callback, check_indices, check_number, check_positive
from cosep.matrix.local import BLOCK_ENTRIES, Array, Indices, LocalMatrix
from cosep.messages import shown
from cosep.ties import first_largest

# Inside an alternation: a KKT residual below the first, or this many sweeps.
INNER_TOL = 1e-3
INNER_SWEEPS = 100


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
        Alternations at the most.
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
    return part.factors(found, selection)


def column_weights(M: LocalMatrix, cols: Indices) -> Array:
    """Solve ``min_V ||M - M(:,cols) V||_F`` over ``V >= 0`` exactly: every column as a mix of the selected ones."""
    return coefficients(M.T, M.take(cols=cols).T).T


def coefficients(M: LocalMatrix, H: Array) -> Array:
    """Solve ``min_U ||M - U H||_F`` over ``U >= 0`` exactly, each row on its own."""
    return nonnegative(H.T, M.dot(H.T), np.zeros((M.shape[0], len(H))), exact=True)


def half_squared_error(total: float, A: Array, B: Array, V: Array) -> float:
    """``1/2 ||M - A V'||^2 / ||M||^2`` from ``B = M'A`` and ``total = ||M||^2``."""
    return half_squared_error_of(total, A.T @ A, B, V)


def half_squared_error_of(total: float, G: Array, B: Array, V: Array) -> float:
    """Return the same from ``G = A'A``, where A is not at hand."""
    return 0.5 * (total - 2.0 * float(np.vdot(B, V)) + float(np.vdot(V @ G, V))) / total


def narrow(part: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the array in the type of the data, unless its range is too small; the same array if it has that type."""
    largest, range_of = max(part.max(initial=0.0), -part.min(initial=0.0)), np.finfo(dtype)
    fits = largest == 0 or range_of.tiny <= largest <= range_of.max
    return part.astype(dtype, copy=False) if fits else part


def stored(part: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array as `narrow` rounds it, in float64 again.

    A factor that is solved for after the other one was rounded fits what is kept of that one. Where components depend
    on each other, rounding these to float32 afterwards would change their weights by several percent.
    """
    return part if dtype == np.float64 else narrow(part, dtype).astype(np.float64)


def factor_labels(factor: Array, strengths: Array) -> Indices:
    """Return for each row of ``factor`` the component with the largest share, ``factor[i,k] * strengths[k]``.

    The strength of a component is the norm of what it multiplies, so the labels do not depend on how the scale is
    split between factors. A row without any component gets -1; the lowest component wins a tie.
    """
    shares = factor * strengths
    return np.where(shares.any(axis=1), first_largest(shares), -1)


def _separable(M: LocalMatrix, cols: Indices) -> Factorization:
    A, V = M.take(cols=cols), column_weights(M, cols)
    return Factorization(
        row_factor=narrow(np.ldexp(A, M.exponent), M.dtype),
        core=None,
        col_factor=narrow(V, M.dtype),
        col_weights=narrow(V.copy(), M.dtype),
        row_labels=factor_labels(A, np.linalg.norm(V, axis=1)),
        col_labels=factor_labels(V.T, np.linalg.norm(A, axis=0)),
    )


def _coseparable(M: LocalMatrix, rows: Indices, cols: Indices, budget: "Budget") -> Factorization:
    S = M.take(rows, cols)
    row_weights, col_weights = column_weights(M.T, rows).T, column_weights(M, cols)
    P2, objective = refit(M, S, row_weights, col_weights, budget)[1:]
    P2 = stored(P2, M.dtype)
    H = stored(S @ P2, M.dtype)
    target, total = M.dot(H.T), max(M.squared_norm(), np.finfo(np.float64).tiny)
    # From zero, as new rows are explained: where there are several best factors, the same one.
    P1 = nonnegative(H.T, target, np.zeros((M.shape[0], len(S))), exact=True)
    objective[-1] = min(objective[-1], half_squared_error(total, H.T, target, P1))
    return Factorization(
        row_factor=narrow(P1, M.dtype),
        core=narrow(np.ldexp(S, M.exponent), M.dtype),
        col_factor=narrow(P2, M.dtype),
        row_weights=narrow(row_weights, M.dtype),
        col_weights=narrow(col_weights, M.dtype),
        row_labels=factor_labels(P1, np.linalg.norm(S @ P2, axis=1)),
        col_labels=factor_labels(P2.T, np.linalg.norm(P1 @ S, axis=0)),
        meta={"objective": objective},
    )


class Budget(NamedTuple):
    """How long an alternation may go on, and whom it tells as what how far it is."""

    stage: str
    max_iter: int
    tol: float
    callback: Callback | None = None


def refit(M: LocalMatrix, S: Array, P1: Array, P2: Array, budget: Budget) -> tuple[Array, Array, list[float]]:
    """Lower ``1/2 ||M - P1 S P2||^2 / ||M||^2`` over ``P1, P2 >= 0`` from a start; its values leave too."""
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
    """Repeat ``P1, P2, value = advance(P1, P2)``, each time from where P1 would be after as long a step again.

    If that was too far and the value rose, the step is taken once more from P1 itself, so that the values that leave
    never rise.
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


def nonnegative(A: Array, B: Array, V: Array, *, exact: bool = False) -> Array:
    """Solve ``min_V ||M - A V'||_F`` over ``V >= 0``, from V, given ``B = M'A``.

    The columns of A are brought to norm one first, so that no tolerance depends on their scale. Not exact: coordinate
    descent to a moderate KKT residual, enough inside an alternation and never worse than the start.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    unit = A / norms
    G = unit.T @ unit
    del unit  # as large as a factor
    return _solved(G, norms, B, V, exact=exact)


def nonnegative_of(G: Array, B: Array, V: Array, *, exact: bool = False) -> Array:
    """Solve the same problem given ``G = A'A``, where A is not at hand."""
    norms = np.sqrt(np.diagonal(G))
    norms[norms == 0] = 1.0
    return _solved(G / norms / norms[:, None], norms, B, V, exact=exact)


def _solved(G: Array, norms: Array, B: Array, V: Array, *, exact: bool) -> Array:
    """Solve for the weights of columns of norm one, from V, and scale them back.

    A few rows at a time: each is a problem of its own, and what is made on the way stays small beside V.
    """
    solved = np.empty_like(V)
    size = max(1, BLOCK_ENTRIES // max(V.shape[1], 1))
    for start in range(0, len(V), size):
        some = slice(start, start + size)
        scaled, targets = V[some] * norms, B[some] / norms
        # An active set is found sooner from nearby.
        orthant_descent(G, targets, scaled, INNER_TOL, INNER_SWEEPS)
        if exact:
            orthant_active_set(G, targets, scaled)
        np.divide(scaled, norms, out=solved[some])
    return solved


def check_selection(selection: Any, shape: tuple[int, int]) -> tuple[Indices | None, Indices | None]:
    """Return the selected rows and columns, None for a side that is not selected."""
    if not isinstance(selection, Selection) or (selection.row_indices is None and selection.col_indices is None):
        msg = f"selection={shown(selection)} must be a Selection with row_indices, col_indices or both."
        raise ValueError(msg)
    rows, cols = selection.row_indices, selection.col_indices
    return (
        None if rows is None else check_indices(rows, "row_indices", shape[0], "n_samples"),
        None if cols is None else check_indices(cols, "col_indices", shape[1], "n_features"),
    )
