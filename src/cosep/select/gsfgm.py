"""GS-FGM: rows and columns that explain a matrix together, chosen by a two-sided convex model.

Notation
--------
M : data, dense, proportional rows and columns merged; R = M - X M - M Y
X', Y : self-dictionaries of M' and of M, with the sums a of the rows and b of the columns as weights
lam : penalty lambda
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.kernels.projections import project_dictionary
from cosep.matrix.checks import check_callback, check_choice, check_number, check_positive, check_switch
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.gspa import Split, check_split, either, pursue_either
from cosep.select.rays import distinct_rays
from cosep.select.warn import warn_if_fewer
from cosep.solve.fast_gradient import ALPHA
from cosep.solve.mix_generalized import mix_generalized
from cosep.solve.self_dictionary import product
from cosep.utils.ties import descending
from cosep.utils.types import Array, Callback, Indices

# The method stores half a dozen m x m and n x n arrays; sides this long make them 10 GB.
LONGEST_SIDE = 10_000
# Diagonal entries closer than this are a tie: the fast gradient computes about six digits of them.
DIAGONAL_TIE_TOL = 1e-6


def gsfgm(
    X: Any,
    r: int | None = None,
    *,
    n_rows: int | None = None,
    n_cols: int | None = None,
    penalty: float = 0.25,
    start: str = "gspa",
    normalize: bool = True,
    tol: float = 1e-6,
    max_iter: int = 1000,
    callback: Callback | None = None,
) -> Selection:
    """Choose rows and columns by ``min 1/2 ||M - X M - M Y||_F^2 + lambda (trace(X) + trace(Y))``.

    X' and Y are self-dictionaries of the rows and of the columns: ``Y >= 0, Y(t,t) <= 1, b_t Y(t,l) <= b_l Y(t,t)``
    with the column sums b, and X' likewise with the row sums. GS-FGM of J. Pan and N. Gillis, IEEE Trans. Pattern
    Anal. Mach. Intell. 43, 1546-1561, 2021, doi:10.1109/TPAMI.2019.2956046: fast gradient with step 1/L,
    ``L = 2 sigma_max(M)^2``, and ``lambda = penalty * (squared error of GSPA + 1e-3 ||M||_F^2) / number of rows and
    columns``; the second term, as in `fgm`, keeps the penalty positive if GSPA is exact. The rows and columns with the
    largest diagonal entries are chosen. The start and the stopping rule are our reading.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        Made dense, and at most 10 000 rows and columns, since the method stores m x m and n x n arrays.
    r : int, optional
        Number of rows and columns together; the diagonals decide how many of each. One side may get none.
    n_rows, n_cols : int, optional
        Number of rows and of columns, instead of ``r``; together with r, the largest numbers. One of them may be 0.
    penalty : float
        Weight of the traces. Default: 0.25, as published for synthetic data; for real data, the best of
        ``logspace(-3, 1, 10)`` by the error of `mix_generalized`.
    start : {"gspa", "zero"}
        Start from the result of `gspa` (default), or from zero as in `fgm`.
    normalize : bool
        Whether `gspa`, which provides the start and missing rows and columns, divides by means. Default: True.
    tol : float
        Stop when an iteration moves X and Y by less than this, relative to their size (published: 1e-6 on synthetic
        and 1e-2 on real data).
    max_iter : int
        Largest number of iterations.
    callback : callable, optional
        Called as ``callback("select", iteration, max_iter, ||R|| / ||M||)`` after each iteration.

    Returns
    -------
    Selection
        Best first on each side; a side without any is None. ``history`` holds the objective and the two traces of each
        iteration.

    Notes
    -----
    All-zero rows and columns are never chosen, and of proportional ones only the longest. If the diagonals choose too
    few, `gspa` adds the missing ones. If the result, with a warning, is smaller than asked for, it explains X.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import gsfgm
    >>> X = np.outer([1, 0.5, 1, 0.2], [0, 4, 1, 0]) + np.outer([0, 1, 5, 2], [1, 0, 1, 1])
    >>> chosen = gsfgm(X, n_rows=1, n_cols=1)
    >>> chosen.row_indices, chosen.col_indices
    (array([0]), array([0]))
    """
    A = as_matrix(X)
    split = check_split(A.shape, r, n_rows, n_cols)
    penalty = check_number(penalty, "penalty", 0.0)
    tol = check_number(tol, "tol", 0.0)
    max_iter = check_positive(max_iter)
    check_callback(callback)
    normalize = check_switch(normalize, "normalize")
    check_choice(start, "start", ("gspa", "zero"))
    if max(A.shape) > LONGEST_SIDE:
        msg = (
            f"gsfgm stores m x m and n x n arrays, too large for X of shape {A.shape} (at most {LONGEST_SIDE} rows and "
            "columns); use gspa, or pass a sample of the rows and columns."
        )
        raise ValueError(msg)
    part = filled(A)
    A = part.M
    rows, row_scale = _leaders(A.T)
    cols, col_scale = _leaders(A)
    M = A.take(rows, cols) * row_scale[:, None] * col_scale
    allowed = Split(min(split.rows, len(rows)), min(split.cols, len(cols)), split.total)
    begin, lam = _start(M, allowed, penalty, normalize=normalize)
    if start == "zero":
        begin = _point(M, np.zeros_like(begin.Xt), np.zeros_like(begin.Y))
    end, history = _descend(M, begin, lam, tol=tol, max_iter=max_iter, callback=callback)
    by_rows, by_cols = _largest(np.diagonal(end.Xt), np.diagonal(end.Y), allowed)
    if len(by_rows) + len(by_cols) < split.total:
        by_rows, by_cols, _ = pursue_either(LocalMatrix(M), allowed, normalize=normalize, rows=by_rows, cols=by_cols)
    warn_if_fewer(np.concatenate([by_rows, by_cols]), split.total, "rows and columns")
    kept = tuple((float(A.in_units(value, 2)), *traces) for value, *traces in history)
    return either(part.rows[rows[by_rows]], part.cols[cols[by_cols]], n_iter=len(history), history=kept)


class Step(NamedTuple):
    """A feasible point: X', Y, and the product ``X M + M Y``."""

    Xt: Array
    Y: Array
    product: Array


def _leaders(A: LocalMatrix) -> tuple[Indices, Array]:
    """Return one column for each ray, and the factor that gives it the weight of all columns on its ray."""
    n = A.shape[1]
    rays = distinct_rays(A, np.ones(n), np.ones(n))
    return rays.leaders, rays.w / A.sums()[rays.leaders]


def _point(M: Array, Xt: Array, Y: Array) -> Step:
    """Return the nearest feasible point."""
    Xt, Y = project_dictionary(Xt, M.sum(axis=1)), project_dictionary(Y, M.sum(axis=0))
    return Step(Xt, Y, product(M.T, Xt).T + product(M, Y))


def _start(M: Array, split: Split, penalty: float, *, normalize: bool) -> tuple[Step, float]:
    """Return the point of the rows, columns and weights that `gspa` finds, and lambda."""
    m, n = M.shape
    data = LocalMatrix(M)
    rows, cols, _ = pursue_either(data, split, normalize=normalize)
    factors = mix_generalized(data, either(rows, cols))
    squared = (factors.relative_error(data) ** 2 + 1e-3) * data.squared_norm()
    Xt, Y = np.zeros((m, m)), np.zeros((n, n))
    Xt[rows], Y[cols] = factors.row_factor[:, : len(rows)].T, factors.col_factor[len(rows) :]
    return _point(M, Xt, Y), penalty * squared / split.total


def _descend(
    M: Array, start: Step, lam: float, *, tol: float, max_iter: int, callback: Callback | None
) -> tuple[Step, list[tuple[float, float, float]]]:
    """Run the fast gradient; return the last point, and objective and traces of each iteration."""
    m, n = M.shape
    total = float(np.vdot(M, M))
    L = 2.0 * float(np.linalg.norm(M, 2)) ** 2
    here = ahead = start
    alpha, last = ALPHA, np.inf
    history: list[tuple[float, float, float]] = []
    for step in range(1, max_iter + 1):
        R = M - ahead.product
        Xt, Y = M @ R.T, M.T @ R
        for part, momentum, size in ((Xt, ahead.Xt, m), (Y, ahead.Y, n)):
            part.flat[:: size + 1] -= lam
            part *= 1.0 / L
            part += momentum
        new = _point(M, Xt, Y)
        squared, traces = float(np.linalg.norm(M - new.product)) ** 2, (float(np.trace(new.Xt)), float(np.trace(new.Y)))
        value = 0.5 * squared + lam * sum(traces)
        history.append((value, *traces))
        if callback is not None:
            callback("select", step, max_iter, float(np.sqrt(squared / total)))
        following = (np.sqrt(alpha**4 + 4.0 * alpha**2) - alpha**2) / 2.0
        restart = value > last
        beta = 0.0 if restart else alpha * (1.0 - alpha) / (alpha**2 + following)
        ahead = Step(*(part + beta * (part - old) for part, old in zip(new, here, strict=True)))
        moved = np.hypot(np.linalg.norm(new.Xt - here.Xt), np.linalg.norm(new.Y - here.Y))
        here, last, alpha = new, value, ALPHA if restart else following
        if moved <= tol * np.hypot(np.linalg.norm(here.Xt), np.linalg.norm(here.Y)):
            break
    return here, history


def _largest(of_rows: Array, of_cols: Array, split: Split) -> tuple[Indices, Indices]:
    """Return the rows and columns with the largest positive diagonal entries, as many as the split allows."""
    rows, cols = (
        order[diagonal[order] > 0]
        for diagonal, most in ((of_rows, split.rows), (of_cols, split.cols))
        for order in [descending(diagonal, DIAGONAL_TIE_TOL)[:most]]
    )
    together = np.concatenate([of_cols[cols], of_rows[rows]])
    kept = np.sort(descending(together, DIAGONAL_TIE_TOL)[: split.total])
    return rows[kept[kept >= len(cols)] - len(cols)], cols[kept[kept < len(cols)]]
