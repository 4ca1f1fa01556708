"""A matrix enters, its Factorization into two components leaves.

Notation
--------
M : data, m x n
W, V : nonnegative factors, m x 2 and n x 2; M ~ W V'
G, B : Gram matrix of the fixed factor, and M or M' times it
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cosep.matrix.checks import check_callback, check_nonzero, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.nmf.record import two_factors
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.solve.alternation import half_squared_error
from cosep.solve.successive_projections import pursue, spa_weights
from cosep.solve.svd_start import svd_start
from cosep.utils.types import Array, Callback


def rank2(X: Any, *, max_iter: int = 500, tol: float = 1e-6, callback: Callback | None = None) -> Factorization:
    """Solve ``min ||X - W H||_F`` over ``W, H >= 0`` with two components, by alternating exact least squares.

    D. Kuang and H. Park, KDD 2013, doi:10.1145/2487575.2487606: nonnegative least squares in two variables has a
    closed form, so an iteration costs little more than two products with X. The start is the better of two: the
    columns that SPA picks, since a nonnegative matrix of rank two is a mix of two of its columns and so is explained
    exactly, and the leading singular vectors, which serve noisy data better.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    max_iter : int
        Iterations at the most; each updates H and then W.
    tol : float
        Stop when an iteration lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("rank2", iteration, max_iter, relative error)`` after each iteration.

    Returns
    -------
    Factorization
        ``row_factor`` W and ``col_factor`` H; the rows of H sum to one, the component that explains most comes first,
        and W is the exact minimiser for this H. The second one is zero where X has rank one.
        ``meta["objective"]`` holds ``1/2 ||X - WH||^2 / ||X||^2`` at the start and after each iteration; it never
        rises. ``meta["converged"]`` tells whether ``tol`` was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.nmf.rank2 import rank2
    >>> X = np.array([[2.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 3.0]])
    >>> rank2(X).reconstruct().round(6)
    array([[2., 1., 0., 1.],
           [0., 1., 1., 3.]])
    """
    M = as_matrix(X)
    max_iter = check_positive(max_iter)
    tol = check_number(tol, "tol", 0.0)
    check_callback(callback)
    check_nonzero(M)
    part = filled(M)
    M = part.M
    total = M.squared_norm()
    W = min(_starts(M), key=lambda W: _first_error(M, W, total))
    objective = [_first_error(M, W, total)]
    converged = False
    while not converged and len(objective) <= max_iter:
        V = two_variables(W.T @ W, M.cross(W))
        B = M.dot(V)
        W = two_variables(V.T @ V, B)
        objective.append(half_squared_error(total, V, B, W))
        if callback is not None:
            callback("rank2", len(objective) - 1, max_iter, float(np.sqrt(max(2.0 * objective[-1], 0.0))))
        converged = objective[-2] - objective[-1] <= 0.5 * tol
    return restore_factors(part, two_factors(M, W, V.T, {"objective": objective, "converged": converged}))


def _starts(M: LocalMatrix) -> Iterator[Array]:
    """Yield the two columns that SPA picks, and the nonnegative parts of the two leading singular vectors."""
    extremes = pursue(M, min(2, M.shape[1]), spa_weights(M), tol=0.0)[0]
    for W in (M.take(cols=extremes), svd_start(M, min(2, *M.shape))[0]):
        yield np.pad(W, ((0, 0), (0, 2 - W.shape[1])))


def _first_error(M: LocalMatrix, W: Array, total: float) -> float:
    B = M.cross(W)
    return half_squared_error(total, W, B, two_variables(W.T @ W, B))


def two_variables(G: Array, B: Array) -> Array:
    """Solve ``min_v 1/2 v'Gv - b'v`` over ``v >= 0`` with two unknowns, for each row b of B, in closed form.

    The unconstrained minimiser where it is positive; else the better of the two with one entry alone.
    """
    norms = np.sqrt(np.diagonal(G))
    norms[norms == 0] = 1.0
    # Cosine and correlations of unit columns: no product of scales can leave the range of floats.
    cosine = G[0, 1] / norms[0] / norms[1]
    b = B / norms
    alone = np.maximum(b, 0.0)
    first = alone[:, 0] >= alone[:, 1]
    single = np.where(first[:, None] == np.array([True, False]), alone, 0.0)
    rest = (1.0 - cosine) * (1.0 + cosine)
    both = (b - cosine * b[:, ::-1]) / rest if rest > np.finfo(np.float64).eps else np.full_like(b, -1.0)
    inside = np.asarray(both > 0.0).all(axis=1, keepdims=True)
    return np.asarray(np.where(inside, both, single) / norms)
