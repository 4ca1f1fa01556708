"""Fast gradient method for separable NMF (FGM): columns chosen by the convex self-dictionary model.

Notation
--------
B : matrix with the Gram matrix of X, proportional columns merged
w : l1 norms of its columns; p : their prices (0 if chosen in any case, 1 if to be chosen, infinity if forbidden)
K : the chosen columns
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_callback, check_choice, check_count, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.rays import Rays, distinct_rays
from cosep.select.warn import warn_if_fewer, warn_if_unproven
from cosep.solve.fast_gradient import solve_fast_gradient
from cosep.solve.newton import solve_newton
from cosep.solve.pursuit import Positions, all_positions
from cosep.solve.self_dictionary import Report, SelfDictionary
from cosep.solve.successive_projections import pursue
from cosep.utils.messages import shown
from cosep.utils.ties import descending
from cosep.utils.types import Array, Callback, Indices

SOLVERS: dict[str, Callable[..., SelfDictionary]] = {"newton": solve_newton, "fast-gradient": solve_fast_gradient}

# Diagonal entries of Y, between 0 and 1, below this do not choose a column.
MIN_DIAGONAL = 1e-6
# Far above all penalties that let a column be chosen where entries are about one.
LARGEST_PENALTY = 1e150


def fgm(
    X: Any,
    r: int,
    *,
    solver: str = "newton",
    postprocess: str = "diagonal",
    trace: float | None = None,
    penalty: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose ``r`` columns by the convex model ``min 1/2 ||X - X Y||_F^2 + lambda trace(Y)`` over Omega.

    ``Omega = {Y >= 0, Y(t,t) <= 1, w_t Y(t,l) <= w_l Y(t,t)}``, ``w_l = ||X(:,l)||_1``. Algorithm 1 of Pan and Ng
    (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), after Gillis and Luce (doi:10.1109/TIP.2017.2753400).

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        How many columns.
    solver : {"newton", "fast-gradient"}
        "newton" (default) is our method: it ends on a proven duality gap and stores no n x n array. "fast-gradient"
        is the published one.
    postprocess : {"diagonal", "spa"}
        "diagonal" (default) takes the r largest diagonal entries of Y, as published for synthetic data; "spa" takes
        the columns that SPA picks from the transpose of Y, as published for real data.
    trace : float, optional
        Choose lambda such that the trace of Y has this value. Default: ``r/2 + 1``.
    penalty : float, optional
        A fixed value of lambda, instead of a trace.
    tol : float
        Stop at this relative duality gap.
    max_iter : int
        Largest number of iterations (for Newton's method, of evaluations of the reduced objective).
    pool : Pool, optional
        Which columns may be chosen, and which must be. The latter come first, cost nothing in the model and do not
        count in the trace.
    callback : callable, optional
        Called as ``callback("solve", iterations, max_iter, relative gap)`` each time the gap is known.

    Returns
    -------
    Selection
        ``gap`` is the relative duality gap reached. There is a ``ConvergenceWarning`` if it is above ``tol``, or above
        1e-3 where rounding allows no smaller one. ``history`` holds objective, trace of Y and lambda of each iteration
        (for Newton's method, of each pass over all columns).

    Notes
    -----
    All-zero columns are never chosen. Of proportional columns (equal up to 1e-9 after normalisation) only the longest
    can be chosen, the first of them if several are equally long. If Y has fewer than r nonzero rows, the trace is
    raised towards r, and SPA chooses what is still missing. If the result, with a warning, has fewer than r columns,
    these explain X.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import fgm
    >>> fgm(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    positions = check_pool(pool, r, M.shape[1])
    check_callback(callback)
    if penalty is not None:
        penalty = check_number(penalty, "penalty", 0.0)
        if trace is not None:
            msg = f"trace={shown(trace)} and penalty={penalty} exclude each other; give one of them."
            raise ValueError(msg)
    part = filled(M, cols=positions.include)
    choice = choose(
        part.M,
        r,
        solver=check_choice(solver, "solver", SOLVERS),
        postprocess=check_choice(postprocess, "postprocess", POSTPROCESSES),
        trace=None if trace is None else check_number(trace, "trace", 0.0, r),
        penalty=None if penalty is None else _for_mantissa(M, penalty),
        tol=check_number(tol, "tol", 0.0),
        max_iter=check_positive(max_iter),
        positions=positions.within(part.cols),
        report=reporter(callback, max_iter),
    )
    warn_if_unproven(choice.solution.relative_gap, choice.solution.ended, "Raise max_iter or tol")
    warn_if_fewer(choice.columns, r, "columns")
    solution = choice.solution
    history = tuple(
        (float(M.in_units(value, 2)), size, float(M.in_units(lam, 2))) for value, size, lam in solution.history
    )
    return Selection(None, part.cols[choice.columns], solution.relative_gap, solution.n_iter, history)


class Choice(NamedTuple):
    """Columns chosen by the convex model.

    Attributes
    ----------
    columns : ndarray of int
        At most r columns, best first.
    solution : SelfDictionary
        The solution they come from.
    atoms : tuple of (ndarray of int, ndarray)
        The columns that the solution uses, and their diagonal entries: a start for a similar problem.
    """

    columns: Indices
    solution: SelfDictionary
    atoms: tuple[Indices, Array]


def choose(
    M: LocalMatrix,
    r: int,
    *,
    solver: str,
    postprocess: str,
    trace: float | None = None,
    penalty: float | None = None,
    positions: Positions | None = None,
    start: tuple[Indices, Array] | None = None,
    **budget: Any,
) -> Choice:
    """Choose columns of a checked matrix; ``start`` has the form of `Choice.atoms`.

    ``tol``, ``max_iter`` and ``report`` are passed to the solver.
    """
    positions = all_positions(M.shape[1]) if positions is None else positions
    rays = distinct_rays(M, positions.price, positions.sizes)
    p = rays.p
    # Besides the included columns, as many as are asked for and as there are rays to choose from.
    wanted = min(r - len(positions.include), int((p == 1).sum()))
    solve = partial(SOLVERS[solver], rays.B, rays.w, r=wanted, p=p, **budget)
    warm = None if start is None else _on_rays(start, rays)
    if penalty is not None:
        solution = solve(penalty=penalty, start=warm)
    else:
        target = min(wanted / 2 + 1, wanted) if trace is None else min(trace, wanted)
        solution = solve(trace=target, start=warm)
        while trace is None and target < wanted and len(_used(solution, p)) < wanted:
            target = min(target + max(1.0, (wanted - target) / 4), wanted)
            solution = solve(trace=target, start=(solution.active, solution.diagonal[solution.active]))
    order = POSTPROCESSES[postprocess](solution, p, wanted)
    if len(order) < wanted:
        taken = Positions(np.isfinite(p), np.concatenate([np.flatnonzero(p == 0), order]), rays.w)
        order = pursue(rays.B, len(taken.include) + wanted - len(order), 1.0 / rays.w, positions=taken)[0]
        order = order[p[order] == 1]
    columns = np.concatenate([positions.include, rays.leaders[order]])
    return Choice(columns, solution, (rays.leaders[solution.active], solution.diagonal[solution.active]))


def _for_mantissa(M: LocalMatrix, penalty: float) -> float:
    """Return the penalty for `M.mantissa`. Above `LARGEST_PENALTY` no column can be chosen anyway."""
    scaled = float(M.in_units(penalty, -2))
    return scaled if scaled == penalty else min(scaled, LARGEST_PENALTY)


def reporter(callback: Callback | None, max_iter: int = 1000) -> Report | None:
    """Return a function that reports the progress of a solver to a callback."""
    return None if callback is None else lambda step, gap: callback("solve", step, max_iter, gap)


def _on_rays(start: tuple[Indices, Array], rays: Rays) -> tuple[Indices, Array]:
    """Return rays and their bounds from columns and their bounds."""
    bounds = np.zeros(len(rays.leaders))
    of = rays.of[start[0]]
    np.add.at(bounds, of[of >= 0], start[1][of >= 0])
    atoms = np.flatnonzero(bounds)
    return atoms, np.minimum(bounds[atoms], 1.0)


def _used(solution: SelfDictionary, p: Array) -> Indices:
    """Return the columns that Y uses by more than its accuracy, without those chosen in any case."""
    return solution.active[(p[solution.active] > 0) & (solution.diagonal[solution.active] > MIN_DIAGONAL)]


def largest_diagonals(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns with the largest ``Y(t,t)``; entries that agree up to `MIN_DIAGONAL` by position."""
    used = _used(solution, p)
    return used[descending(solution.diagonal[used], MIN_DIAGONAL)[:r]]


def spa_of_transpose(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns whose rows of Y SPA picks."""
    used = _used(solution, p)
    if len(used) == 0:
        return used
    rows = solution.rows[np.isin(solution.active, used)]
    return used[pursue(LocalMatrix(rows.T), min(r, len(used)), np.ones(len(used)))[0]]


POSTPROCESSES: dict[str, Callable[[SelfDictionary, Array, int], Indices]] = {
    "diagonal": largest_diagonals,
    "spa": spa_of_transpose,
}
