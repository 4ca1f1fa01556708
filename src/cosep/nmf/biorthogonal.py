"""Nonnegative matrix tri-factorization with two nearly orthogonal factors.

Notation
--------
M : data, m x n
F, G : nonnegative factors, m x r1 and n x r2, F'F and G'G near I
S : nonnegative core, r1 x r2; M ~ F S G'
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_nonzero, check_pair
from cosep.matrix.filled import filled
from cosep.matrix.units import shared_units
from cosep.matrix.validation import as_matrix
from cosep.nmf.iteration import check_budget, report
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_factors
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.solve.svd_start import svd_start
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Callback

# The objective may rise for a while, so convergence is judged over this many iterations.
WINDOW = 10
# This share of the mean is added to all entries of the start.
START_SHIFT = 0.2


def biorthogonal(
    X: Any, r: int | tuple[int, int], *, max_iter: int = 1000, tol: float = 1e-6, callback: Callback | None = None
) -> Factorization:
    """Seek ``min ||X - F S G'||_F`` over ``F, S, G >= 0`` with ``F'F = I`` and ``G'G = I`` by multiplicative updates.

    C. Ding, T. Li, W. Peng and H. Park, KDD 2006, doi:10.1145/1150402.1150420 (BiOR-NM3F):

        ``F <- F sqrt(X G S' / (F F'X G S'))``, ``G <- G sqrt(X'F S / (G G'X'F S))``,
        ``S <- S sqrt(F'X G / (F'F S G'G))``,  entry by entry.

    Products are computed from right to left, at a cost of O(nnz r) per iteration: neither FF' nor GG' is formed.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int or (int, int)
        Number of row clusters and of column clusters: one number for both, or a pair.
    max_iter : int
        Maximum number of iterations. Each updates G, F and S.
    tol : float
        Stop when the squared error has changed by less than ``tol`` times the squared norm of X within ten iterations.
    callback : callable, optional
        Called as ``callback("biorthogonal", iteration, max_iter, relative error)`` after each iteration.

    Returns
    -------
    Factorization
        ``row_factor`` F, ``core`` S and ``col_factor`` G'. ``meta["objective"]`` holds
        ``1/2 ||X - F S G'||^2 / ||X||^2`` at the start and after each iteration, ``meta["orthogonality"]`` the larger
        of ``||F'F - I||_F`` and ``||G'G - I||_F``, and ``meta["converged"]`` whether ``tol`` was reached.

    Notes
    -----
    Only the update of S is sure to lower the error; the three updates together may raise it. They approach
    orthogonality but do not enforce it: check ``meta["orthogonality"]`` before you treat the clusters as hard.
    Deterministic: the start is that of `cosep.solve.svd_start.svd_start` plus a fifth of its mean, because entries that
    are zero stay zero.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.nmf.biorthogonal import biorthogonal
    >>> X = np.kron(np.diag([2.0, 1.0]), np.ones((3, 2)))
    >>> biorthogonal(X, 2).row_labels
    array([0, 0, 0, 1, 1, 1])
    """
    M = as_matrix(X)
    r1, r2 = check_pair(r, "r", M.shape)
    budget = check_budget("biorthogonal", max_iter, tol, callback)
    check_nonzero(M)
    part = filled(M)
    M = part.M
    F, G = _positive_start(svd_start(M, r1)[0]), _positive_start(svd_start(M, r2)[1].T)
    S = F.T @ M.dot(G)
    total = M.squared_norm()
    objective = [half_squared_error(total, F @ S, M.cross(F @ S), G)]
    converged = False
    while not converged and len(objective) <= budget.max_iter:
        G = update_factor(G, M.cross(F) @ S)
        MG = M.dot(G)
        F = update_factor(F, MG @ S.T)
        S = update_core(S, F.T @ MG, F.T @ F, G.T @ G)
        objective.append(half_squared_error(total, G @ S.T, MG @ S.T, F))
        report(budget, len(objective) - 1, objective[-1])
        recent = objective[-1 - WINDOW :]
        converged = len(recent) > WINDOW and max(recent) - min(recent) <= 0.5 * budget.tol
    core, row_factor = shared_units(M, S, F)
    found = Factorization(
        row_factor=narrow(row_factor, M.dtype),
        core=narrow(core, M.dtype),
        col_factor=narrow(G.T, M.dtype),
        row_labels=factor_labels(F, np.linalg.norm(S @ G.T, axis=1)),
        col_labels=factor_labels(G, np.linalg.norm(F @ S, axis=0)),
        meta={"objective": objective, "converged": converged, "orthogonality": max(map(_orthogonality, (F, G)))},
    )
    return restore_factors(part, found)


def update_factor(F: Array, B: Array) -> Array:
    """``F sqrt(B / (F F'B))``, entry by entry."""
    return F * _root(B, F @ (F.T @ B))


def update_core(S: Array, B: Array, rows: Array, cols: Array) -> Array:
    """``S sqrt(B / (rows S cols))``, entry by entry.

    With ``B = F'MG``, ``rows = F'F`` and ``cols = G'G`` the error does not rise.
    """
    return S * _root(B, rows @ S @ cols)


def _root(above: Array, below: Array) -> Array:
    return np.sqrt(np.divide(above, below, out=np.zeros_like(above), where=below > 0))


def _positive_start(part: Array) -> Array:
    """Return unit columns without zeros: entries that are zero would stay zero."""
    unit = part / np.maximum(np.linalg.norm(part, axis=0), np.finfo(np.float64).tiny)
    positive = unit + START_SHIFT * unit.mean()
    return np.asarray(positive / np.linalg.norm(positive, axis=0))


def _orthogonality(F: Array) -> float:
    return float(np.linalg.norm(F.T @ F - np.eye(F.shape[1])))
