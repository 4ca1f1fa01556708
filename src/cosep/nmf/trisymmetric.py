"""Symmetric tri-factorization of the Gram matrix of the columns, by anchor columns.

Notation
--------
M : data, m x n (documents x words); A = M'M, the co-occurrence of columns, never stored
K : anchor columns
W, S : nonnegative factors, n x r and r x r; A ~ W S W'
"""

from typing import Any

import numpy as np

from cosep.kernels.projections import project_orthant
from cosep.kernels.quadratic import fast_gradient
from cosep.matrix.checks import check_count, check_nonzero
from cosep.matrix.filled import filled
from cosep.matrix.gram import GramMatrix
from cosep.matrix.units import shared_units
from cosep.matrix.validation import as_matrix
from cosep.nmf.iteration import check_budget, report
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors, restore_selection
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import column_weights
from cosep.solve.successive_projections import pursue, spa_weights
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Callback

# Progress is reported after the anchors, W and S.
N_STAGES = 3
# The selected columns, in warnings.
ANCHORS = "anchor columns"


def trisymmetric(
    X: Any,
    r: int,
    *,
    pool: Pool | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-8,
    callback: Callback | None = None,
) -> Factorization:
    """Find anchor columns K of X and ``W, S >= 0`` with ``X'X ~ W S W'``, where every anchor belongs to one topic.

    Arora et al., Proc. ICML 28, 280-288, 2013, arXiv:1212.4777; N. Gillis, Nonnegative Matrix Factorization, 2020,
    doi:10.1137/1.9781611976410, chapter 7. With ``A = X'X``: K by SPA on the columns of A divided by their sums;
    ``W' = argmin ||A - A(:,K) V||_F`` over ``V >= 0``; then ``S = argmin ||A - W S W'||_F`` over ``S >= 0``, from
    ``A(K,K)``, its value where the model holds exactly. A is never formed.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        For example documents x words.
    r : int
        Number of anchors, which is the number of topics.
    pool : Pool, optional
        Which columns may be anchors, and which must be. Default: all may be. Rare words are noisy anchors, so consider
        leaving them out.
    max_iter : int
        Maximum number of steps of the fast gradient method for S.
    tol : float
        Stop these steps when the KKT residual of S, relative to the linear term, is at most this.
    callback : callable, optional
        Called as ``callback("trisymmetric", stage, 3, relative error)`` after the anchors, W and S.

    Returns
    -------
    Factorization
        Of ``X'X``: ``row_factor`` W, whose columns are the topics and sum to one, ``core`` S, ``col_factor`` W'.
        ``selection`` has the anchors on both sides, the k-th for the k-th topic, and the number of steps.
        ``meta["objective"]`` holds ``1/2 ||A - W S W'||^2 / ||A||^2`` with the S of the anchors and with the best one,
        and ``meta["converged"]`` whether ``tol`` was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.nmf.trisymmetric import trisymmetric
    >>> topics = np.array([[2.0, 0.0, 1.0, 1.0], [0.0, 3.0, 1.0, 0.0]])
    >>> documents = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
    >>> trisymmetric(documents @ topics, 2).selection.col_indices
    array([1, 0])
    """
    M = as_matrix(X)
    check_nonzero(M)
    r = check_count(r, "r", M.shape[1], "n_features")
    budget = check_budget("trisymmetric", max_iter, tol, callback)
    stages = budget._replace(max_iter=N_STAGES)
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    A = GramMatrix(part.M)
    anchors, _ = pursue(A, r, spa_weights(A), positions=positions.within(part.cols))
    warn_if_fewer(anchors, r, ANCHORS)
    report(stages, 1, np.nan)
    total = A.squared_norm()
    W = column_weights(A, anchors).T
    norms, sums = np.linalg.norm(W, axis=0), W.sum(axis=0)
    _check_anchors(norms, r)
    unit = W / norms
    G, C = unit.T @ unit, unit.T @ A.dot(unit)
    S = A.take(anchors, anchors) * norms[:, None] * norms
    objective = [_error(A, unit, S, total)]
    report(stages, 2, objective[-1])
    largest = float(np.linalg.norm(G, 2)) ** 2
    best = fast_gradient(
        lambda Y: G @ Y @ G, C, project_orthant, S, lipschitz=largest, tol=budget.tol, max_iter=budget.max_iter
    )
    error = _error(A, unit, best.Y, total)
    if error <= objective[0]:
        S = (best.Y + best.Y.T) / 2.0
    objective.append(min(error, objective[0]))
    report(stages, 3, objective[-1])
    topics, spread = W / sums, sums / norms
    core, topics = shared_units(A, S * np.outer(spread, spread), topics, times=2)
    if not (np.isfinite(topics).all() and np.isfinite(core).all()):
        msg = "X is too large for the factors of X'X to be floats; divide X by a constant."
        raise ValueError(msg)
    # The factors are those of X'X, with a row and a column for each column of X.
    whole = part._replace(M=A, rows=part.cols, shape=(M.shape[1], M.shape[1]))
    labels = factor_labels(W, np.linalg.norm(S @ unit.T, axis=1) / norms)
    found = Factorization(
        row_factor=narrow(topics, M.dtype),
        core=narrow(core, M.dtype),
        col_factor=narrow(topics.copy().T, M.dtype),
        row_labels=labels,
        col_labels=labels,
        meta={"objective": objective, "converged": bool(best.residual <= budget.tol)},
    )
    return restore_factors(whole, found, restore_selection(whole, Selection(anchors, anchors, n_iter=best.n_iter)))


def _check_anchors(norms: Array, r: int) -> None:
    """Raise ValueError if an anchor has no weight in any column."""
    if not norms.all():
        msg = (
            f"{int((norms == 0).sum())} of the r={r} anchors explain nothing: they are all zero in X, or mixtures of "
            "the others; drop them from pool.include, or reduce r."
        )
        raise ValueError(msg)


def _error(A: GramMatrix, W: Array, S: Array, total: float) -> float:
    left = W @ S
    return half_squared_error(total, left, A.cross(left), W)
