"""Slow twins, correct by reading: exact sorting in rational numbers, general QP and LP solvers; planted matrices.

The sorted twins take the given floats as the exact numbers they are and round once, at the end. The QP twins know
nothing of the structure of the sets; they need a positive definite quadratic, so callers keep to well-conditioned ones.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import quadprog
import scipy.optimize
from scipy.optimize import linprog

from cosep import Selection


def make_generalized(m, n, r1, r2, seed):
    """Return a matrix that r1 of its rows and r2 of its columns explain together, and which."""
    random = np.random.default_rng(seed)
    H, C = random.uniform(size=(r1, n - r2)), random.uniform(size=(m - r1, r2))
    rest = random.uniform(size=(m - r1, r1)) @ H + C @ random.uniform(size=(r2, n - r2))
    X = np.block([[np.zeros((r1, r2)), H], [C, rest]])
    rows, cols = random.permutation(m), random.permutation(n)
    return X[rows][:, cols], Selection(np.argsort(rows)[:r1] if r1 else None, np.argsort(cols)[:r2] if r2 else None)


def sorted_simplex_row(z):
    """Project z on ``y >= 0, sum(y) <= 1``: sort, and keep the largest entries that stay positive after the shift."""
    exact = [Fraction(float(value)) for value in z]
    positive = sorted((value for value in exact if value > 0), reverse=True)
    shift = Fraction(0)
    if sum(positive) > 1:
        total = Fraction(0)
        for count, value in enumerate(positive, start=1):
            total += value
            if value > (total - 1) / count:
                shift = (total - 1) / count
    return np.array([float(max(value - shift, Fraction(0))) for value in exact])


def sorted_simplex(Z):
    """Project every row of Z on ``y >= 0, sum(y) <= 1``."""
    return np.array([sorted_simplex_row(z) for z in Z])


def project_simplex(Z):
    """Project every row of Z on ``y >= 0, sum(y) <= 1`` by sorting, in floats."""
    falling = -np.sort(-np.maximum(Z, 0.0), axis=1)
    shifts = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, Z.shape[1] + 1)
    return np.maximum(Z - np.maximum(shifts.max(axis=1, keepdims=True), 0.0), 0.0)


def sorted_dictionary_row(z, w, t):
    """Project z on ``0 <= w_t y_l <= w_l y_t, y_t <= 1``: try the pieces between the sorted breakpoints z_l/c_l.

    On the piece where the k largest breakpoints lie above d the equation for d is linear; the piece that contains
    its own root is the right one.
    """
    n = len(z)
    if w[t] <= 0:
        return np.zeros(n)
    exact = [Fraction(float(value)) for value in z]
    c = [Fraction(float(value)) / Fraction(float(w[t])) for value in w]
    others = [l for l in range(n) if l != t and exact[l] > 0 and c[l] > 0]
    others.sort(key=lambda l: exact[l] / c[l], reverse=True)
    top, bottom = exact[t], Fraction(1)
    for l in others:
        if top / bottom >= exact[l] / c[l]:
            break
        top += c[l] * exact[l]
        bottom += c[l] ** 2
    d = min(max(top / bottom, Fraction(0)), Fraction(1))
    y = [min(max(exact[l], Fraction(0)), c[l] * d) for l in range(n)]
    y[t] = d
    return np.array([float(value) for value in y])


def sorted_dictionary(Z, w):
    """Project row t of Z on the self-dictionary set with diagonal index t, for every t."""
    return np.array([sorted_dictionary_row(z, w, t) for t, z in enumerate(Z)])


def dictionary_breach(Y, w):
    """Return the largest breach of ``Y >= 0, Y(t,t) <= 1`` and, in units of max(w), of ``w_t Y(t,l) <= w_l Y(t,t)``."""
    diagonal = np.diagonal(Y)
    cone = (w[:, None] * Y - w[None, :] * diagonal[:, None]) / max(float(np.max(w)), np.finfo(float).tiny)
    return max(float(-Y.min()), float(diagonal.max() - 1.0), float(cone.max()))


def quadratic(G, C, Y):
    """``1/2 <Y, G Y> - <C, Y>``."""
    return 0.5 * float(np.vdot(Y, G @ Y)) - float(np.vdot(C, Y))


def nonnegative_violation(A, b, v):
    """Return the largest breach of the KKT conditions of ``min ||A v - b||`` over ``v >= 0``, relative to its terms."""
    g = A.T @ (A @ v - b)
    sizes = np.linalg.norm(A, axis=0) * np.linalg.norm(b)
    g = np.divide(g, sizes, out=np.zeros(len(g)), where=sizes > 0)
    shares = np.abs(v) / max(np.abs(v).max(initial=0.0), np.finfo(float).tiny)
    return max(shares[v < 0].max(initial=0.0), (-g).max(initial=0.0), (np.abs(g) * shares).max(initial=0.0))


def checked_nnls(A, b):
    """Minimise ``||A v - b||`` over ``v >= 0``; return v and what is left, as `scipy.optimize.nnls` does.

    SciPy's answer is wrong for a few problems in 100 000 with nearly dependent columns. So its KKT conditions are
    checked, and where they fail those of a slower solver.
    """
    v = scipy.optimize.nnls(A, b, maxiter=10_000)[0]
    if nonnegative_violation(A, b, v) > 1e-9:
        v = np.maximum(scipy.optimize.lsq_linear(A, b, (0, np.inf), method="bvls", tol=1e-15, max_iter=10_000).x, 0.0)
        assert nonnegative_violation(A, b, v) <= 1e-9
    return v, float(np.linalg.norm(A @ v - b))


def qp_orthant(G, b):
    """Solve ``min 1/2 v'Gv - b'v`` over ``v >= 0``."""
    return _solve(G, b, np.eye(len(b)), np.zeros(len(b)))


def qp_simplex(G, b):
    """Solve ``min 1/2 v'Gv - b'v`` over ``v >= 0, sum(v) <= 1``."""
    r = len(b)
    return _solve(G, b, np.vstack([np.eye(r), -np.ones(r)]), np.append(np.zeros(r), -1.0))


def qp_dictionary_row(H, b, w, t):
    """Solve ``min 1/2 y'Hy - b'y`` over ``0 <= w_t y_l <= w_l y_t, y_t <= 1``; the row is zero where w_t is."""
    if w[t] <= 0:
        return np.zeros(len(b))
    return _solve(H, b, *_dictionary_row_constraints(w, t))


def qp_dictionary(G, C, w):
    """Solve ``min 1/2 <Y, G Y> - <C, Y>`` over the self-dictionary set, all n^2 unknowns at once."""
    n = len(w)
    constraints, bounds = [], []
    for t in range(n):
        rows, limits = _dictionary_row_constraints(w, t)
        wide = np.zeros((len(rows), n, n))
        wide[:, t, :] = rows
        constraints.append(wide.reshape(len(rows), n * n))
        bounds.append(limits)
    # Row-major order of the unknowns: <Y, G Y> = y' (G kron I) y.
    y = _solve(np.kron(G, np.eye(n)), C.ravel(), np.vstack(constraints), np.concatenate(bounds))
    return y.reshape(n, n)


def qp_self_dictionary(M, w, lam, p=1.0):
    """Solve ``min 1/2 ||M - MY||_F^2 + lam sum_t p_t Y(t,t)`` over the self-dictionary set, for a few columns."""
    G = M.T @ M
    return qp_dictionary(G, G - lam * np.diag(np.broadcast_to(p, len(w))), w)


def self_dictionary_objective(M, Y, lam, p=1.0):
    """``1/2 ||M - MY||_F^2 + lam sum_t p_t Y(t,t)``."""
    return 0.5 * float(np.linalg.norm(M - M @ Y)) ** 2 + lam * float(np.sum(p * np.diagonal(Y)))


def lp_in_cone(A, x):
    """Tell whether some ``v >= 0`` has ``A v = x``, by linear programming; for small integers."""
    if A.shape[1] == 0:
        return not np.any(x)
    return linprog(np.zeros(A.shape[1]), A_eq=A, b_eq=x, bounds=(0, None), method="highs").status == 0


def lp_is_separable(M, cols):
    """Tell whether all columns of M are mixes of some of them."""
    return all(lp_in_cone(M[:, list(cols)], M[:, j]) for j in range(M.shape[1]) if j not in cols)


def brute_force_columns(M):
    """Return the smallest sets of columns that mix to all columns of M, trying every set."""
    n = M.shape[1]
    for r in range(n + 1):
        sets = [cols for cols in combinations(range(n), r) if lp_is_separable(M, cols)]
        if sets:
            return sets
    return []


def _dictionary_row_constraints(w, t):
    n = len(w)
    rows = [np.eye(n)[l] for l in range(n)] + [-np.eye(n)[t]]
    bounds = [0.0] * n + [-1.0]
    for l in range(n):
        if l != t and (w[l] > 0 or w[t] > 0):
            rows.append(w[l] * np.eye(n)[t] - w[t] * np.eye(n)[l])
            bounds.append(0.0)
    return np.array(rows), np.array(bounds)


def _solve(H, b, constraints, bounds):
    """``min 1/2 x'Hx - b'x`` subject to ``constraints @ x >= bounds``."""
    return quadprog.solve_qp(H, np.asarray(b, dtype=float), constraints.T, bounds)[0]


def hals_sweep(M, W, H):
    """Update each column of W once, exactly, from the residual of all others."""
    W = W.copy()
    for k in range(W.shape[1]):
        residual = M - W @ H + np.outer(W[:, k], H[k])
        W[:, k] = np.maximum(residual @ H[k], 0.0) / (H[k] @ H[k])
    return W


def biorthogonal_step(M, F, S, G):
    """Update G, F and S by the formulas as they are printed, with FF' and GG' in full."""
    G = G * np.sqrt((M.T @ F @ S) / (G @ G.T @ M.T @ F @ S))
    F = F * np.sqrt((M @ G @ S.T) / (F @ F.T @ M @ G @ S.T))
    S = S * np.sqrt((F.T @ M @ G) / (F.T @ F @ S @ G.T @ G))
    return F, S, G


def greedy_columns(X, r):
    """Choose each time the column that lowers the least squares error most, trying them all."""
    chosen = []
    for _ in range(r):
        errors = [np.inf if j in chosen else span_error(X, [*chosen, j]) for j in range(X.shape[1])]
        chosen.append(int(np.argmin(errors)))
    return chosen


def span_error(X, cols):
    """``||X - projection on the span of the columns||_F^2``."""
    Q, R = np.linalg.qr(X[:, cols])
    Q = Q[:, np.abs(np.diagonal(R)) > 1e-12]
    return float(np.linalg.norm(X - Q @ (Q.T @ X)) ** 2)


def successive_residuals(X, n_rows, n_cols):
    """GSPA on the residual itself: which rows, which columns."""
    R, rows, cols = X.copy(), [], []
    m, n = X.shape
    while len(rows) < n_rows or len(cols) < n_cols:
        of_rows = np.linalg.norm(R, axis=1) / np.sqrt(n) / X.mean(axis=1) * (len(rows) < n_rows)
        of_cols = np.linalg.norm(R, axis=0) / np.sqrt(m) / X.mean(axis=0) * (len(cols) < n_cols)
        if of_cols.max() >= of_rows.max():
            cols.append(int(of_cols.argmax()))
            u = R[:, cols[-1]] / np.linalg.norm(R[:, cols[-1]])
            R = R - np.outer(u, u @ R)
        else:
            rows.append(int(of_rows.argmax()))
            v = R[rows[-1]] / np.linalg.norm(R[rows[-1]])
            R = R - np.outer(R @ v, v)
    return rows, cols


def qp_generalized(X, rows, cols):
    """Return ``min ||X - P1 X[rows] - X[:, cols] P2||_F^2`` over ``P1, P2 >= 0``, all unknowns at once."""
    m, n = X.shape
    A = np.hstack([np.kron(np.eye(m), X[rows].T), np.kron(X[:, cols], np.eye(n))])
    H = A.T @ A + 1e-10 * np.eye(A.shape[1])
    v = _solve(H, A.T @ X.ravel(), np.eye(A.shape[1]), np.zeros(A.shape[1]))
    return float(np.linalg.norm(X.ravel() - A @ v) ** 2)


def unscale(factorization, scaling):
    """Turn a factorization of the scaled matrix into one of X, of the same kind.

    With ``A = Dr X Dc ~ P1 S_A P2`` and ``S_A = Dr_K1 S Dc_K2`` the factors of X are ``Dr^-1 P1 Dr_K1``, S and
    ``Dc_K2 P2 Dc^-1``; without a core, ``Dr^-1 W`` and ``H Dc^-1``.
    """
    rows, cols = scaling.rows, scaling.cols
    left, right = np.ones(factorization.row_factor.shape[1]), np.ones(factorization.col_factor.shape[0])
    core = factorization.core
    if core is not None and (selection := factorization.selection) is not None:
        left, right = rows[selection.row_indices], cols[selection.col_indices]
        core = core / left[:, None] / right

    def back(part, *scales):
        return None if part is None else part * scales[0][:, None] * scales[1]

    return replace(
        factorization,
        row_factor=back(factorization.row_factor, 1 / rows, left),
        core=core,
        col_factor=back(factorization.col_factor, right, 1 / cols),
        row_weights=back(factorization.row_weights, 1 / rows, left),
        col_weights=back(factorization.col_weights, right, 1 / cols),
        scaling=scaling,
    )
