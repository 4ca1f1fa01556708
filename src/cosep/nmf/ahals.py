"""Nonnegative matrix factorization by accelerated HALS.

Notation
--------
M : data, m x n
W, V : nonnegative factors, m x r and n x r; M ~ W V'
G, B : Gram matrix of the fixed factor, and M or M' times it
"""

from typing import Any

import numpy as np

from cosep.kernels.quadratic import orthant_descent
from cosep.matrix.checks import check_count, check_nonzero
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.nmf.iteration import check_budget, report
from cosep.nmf.record import two_factors
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.solve.alternation import half_squared_error
from cosep.solve.nonnegative import coefficients
from cosep.solve.svd_start import svd_start
from cosep.utils.types import Array, Callback

# Sweeps after the first: together they may cost ALPHA times as much as the products and the first sweep, and each must
# change the factor by at least EPSILON times as much as the first sweep did.
ALPHA, EPSILON = 0.5, 0.1
# What limits the number of components. min(m, n) are always enough; more are allowed, up to the larger side.
LARGER_SIDE = "max(n_samples, n_features)"


def ahals(X: Any, r: int, *, max_iter: int = 500, tol: float = 1e-6, callback: Callback | None = None) -> Factorization:
    """Solve ``min ||X - W H||_F`` over ``W, H >= 0`` by accelerated hierarchical alternating least squares.

    N. Gillis and F. Glineur, Neural Comput. 24, 1085-1105, 2012, doi:10.1162/NECO_a_00256, algorithm 3: sweeps of
    exact coordinate descent over one factor are repeated while they are cheap compared with the product with X and
    still change the factor.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of components.
    max_iter : int
        Maximum number of iterations. Each updates W and then H.
    tol : float
        Stop when an iteration lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("ahals", iteration, max_iter, relative error)`` after each iteration.

    Returns
    -------
    Factorization
        ``row_factor`` W and ``col_factor`` H; the rows of H sum to one, the component that explains most comes first,
        and W is the exact minimiser for this H. ``meta["objective"]`` holds ``1/2 ||X - WH||^2 / ||X||^2`` at the
        start and after each iteration; it never rises. ``meta["converged"]`` is True if ``tol`` was reached.

    Notes
    -----
    Deterministic: the start is that of `svd_start`, scaled by ``<XH', W> / <HH', W'W>``, and the cost of sweeps is
    counted in operations. If a component becomes zero in one factor, it restarts there from a constant and is set to
    zero in the other factor, so that the error does not rise.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.nmf.ahals import ahals
    >>> X = np.array([[2.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    >>> ahals(X, 2).reconstruct().round(6)
    array([[2., 2., 0.],
           [1., 1., 0.],
           [0., 0., 3.]])
    """
    M = as_matrix(X)
    r = check_count(r, "r", max(M.shape), LARGER_SIDE)
    budget = check_budget("ahals", max_iter, tol, callback)
    check_nonzero(M)
    part = filled(M)
    M = part.M
    W, V = _scaled_start(M, r)
    total = M.squared_norm()
    objective = [half_squared_error(total, W, M.cross(W), V)]
    row_sweeps, col_sweeps = _max_sweeps(M, r), _max_sweeps(M.T, r)
    converged = False
    while not converged and len(objective) <= budget.max_iter:
        _sweep(V.T @ V, M.dot(V), W, row_sweeps)
        _revive(W, V)
        G, B = W.T @ W, M.cross(W)
        _sweep(G, B, V, col_sweeps)
        objective.append(half_squared_error(total, W, B, V))
        _revive(V, W)
        report(budget, len(objective) - 1, objective[-1])
        converged = objective[-2] - objective[-1] <= 0.5 * budget.tol
    W = coefficients(M, V.T)
    objective[-1] = half_squared_error(total, V, M.dot(V), W)
    return restore_factors(part, two_factors(M, W, V.T, {"objective": objective, "converged": converged}))


def _scaled_start(M: LocalMatrix, r: int) -> tuple[Array, Array]:
    W, H = svd_start(M, r)
    V = np.ascontiguousarray(H.T)
    return np.ascontiguousarray(W) * (np.vdot(M.dot(V), W) / np.vdot(V.T @ V, W.T @ W)), V


def _max_sweeps(M: LocalMatrix, r: int) -> int:
    """Return how many sweeps over the m x r factor are allowed, with costs counted in multiplications."""
    m, n = M.shape
    sweep = m * r * r
    return 1 + int(np.ceil(ALPHA * (M.count_nonzero() * r + n * r * r + sweep) / sweep))


def _sweep(G: Array, B: Array, V: Array, max_sweeps: int) -> None:
    """Lower ``1/2 <V, V G> - <B, V>`` by at most ``max_sweeps`` sweeps, each over all columns of V in turn."""
    first = np.inf
    for sweep in range(max_sweeps):
        before = V.copy()
        orthant_descent(G, B, V, 0.0, 1)
        moved = float(np.linalg.norm(V - before))
        if sweep == 0:
            first = moved
        elif moved < EPSILON * first:
            break


def _revive(V: Array, W: Array) -> None:
    """Restart all-zero columns of V from a constant; zeros in the same columns of W keep the product ``W V'``."""
    zero = ~V.any(axis=0)
    V[:, zero] = V.max()
    W[:, zero] = 0.0
