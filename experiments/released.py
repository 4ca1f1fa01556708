"""CoS-FGM with the choices of the code that its authors released.

It differs from `cosep.cosfgm` with ``solver="fast-gradient"`` in choices that the model leaves open: lambda
starts at ``(squared residual of SPA + 1e-3) / r`` whatever the unit of the data, it is steered at restarts only, and
the r largest diagonal entries are taken even if they are zero, the first indices first.

Notation
--------
B : the block whose columns are chosen; w : their sums
Y : the self-dictionary of B; Z : its momentum point; lam : lambda
"""

import numpy as np

from cosep import Selection
from cosep.kernels.projections import project_dictionary
from cosep.matrix.local import LocalMatrix
from cosep.solve.fast_gradient import ALPHA
from cosep.solve.nonnegative import column_weights
from cosep.solve.successive_projections import pursue
from cosep.utils.types import Array, Indices

ITERATIONS = 1000
ALTERNATIONS = 100


def released(X: Array, n_rows: int, n_cols: int) -> Selection:
    """Choose each side by itself, then by turns for each other, until a pair of sets comes back."""
    rows, cols = columns(X.T, n_rows), columns(X, n_cols)
    met: set[tuple[frozenset[int], frozenset[int]]] = set()
    while (pair := (frozenset(rows.tolist()), frozenset(cols.tolist()))) not in met and len(met) < ALTERNATIONS:
        met.add(pair)
        rows = columns(X[:, cols].T, n_rows)
        cols = columns(X[rows], n_cols)
    return Selection(rows, cols, n_iter=len(met))


def columns(block: Array, r: int) -> Indices:
    """Return the r largest diagonal entries of Y after all iterations; of equal ones the first."""
    Y, _ = dictionary(np.ascontiguousarray(block), r)
    return np.argsort(-np.diagonal(Y), kind="stable")[:r]


def dictionary(B: Array, r: int) -> tuple[Array, float]:
    """Return Y after all steps, and lambda, which is steered towards a trace of ``r/2 + 1`` whenever F has risen."""
    n, w = B.shape[1], B.sum(axis=0)
    L = float(np.linalg.norm(B, 2)) ** 2
    lam, share, direction = starting_penalty(B, r), 0.1, 0
    Y = np.zeros((n, n))
    Z, BZ, BY = Y, np.zeros_like(B), np.zeros_like(B)
    alpha, last = ALPHA, np.inf
    for _ in range(ITERATIONS):
        step = B.T @ (B - BZ)
        step.flat[:: n + 1] -= lam
        step *= 1.0 / L
        step += Z
        ahead: Array = project_dictionary(step, w)
        B_ahead = B @ ahead
        size, misfit = float(np.trace(ahead)), 0.5 * float(np.linalg.norm(B - B_ahead)) ** 2
        restart = misfit + lam * size > last
        if restart:
            turn = -1 if size < r / 2 + 1 else 1
            share = share / 2 if turn == -direction else share
            direction = turn
            lam *= 1.0 + turn * share
        following = (np.sqrt(alpha**4 + 4.0 * alpha**2) - alpha**2) / 2.0
        beta = 0.0 if restart else alpha * (1.0 - alpha) / (alpha**2 + following)
        Z, BZ = ahead + beta * (ahead - Y), B_ahead + beta * (B_ahead - BY)
        Y, BY, last, alpha = ahead, B_ahead, misfit + lam * size, ALPHA if restart else following
    return Y, lam


def starting_penalty(B: Array, r: int) -> float:
    """Return ``(||B - B(:,K) H||^2 + 1e-3) / r`` with K from SPA."""
    M = LocalMatrix(B)
    K = pursue(M, r, np.ones(B.shape[1]))[0]
    return (float(np.linalg.norm(B - B[:, K] @ column_weights(M, K))) ** 2 + 1e-3) / r
