"""A matrix enters, the columns that stand out in the convex self-dictionary model leave.

Notation
--------
B : matrix with the Gram matrix of X, proportional columns merged
w : l1 norms of its columns; p : their prices (0 given, 1 to be chosen, infinity not to be chosen)
K : the chosen columns
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.matrix.checks import as_matrix, check_callback, check_choice, check_count, check_number, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select.fastgradient import solve_fast_gradient
from cosep.select.newton import solve_newton
from cosep.select.pool import Pool, Positions, all_positions, check_pool
from cosep.select.rays import Rays, distinct_rays
from cosep.select.selfdict import Report, SelfDictionary
from cosep.select.spa import pursue, warn_if_fewer
from cosep.utils.messages import shown
from cosep.utils.ties import descending
from cosep.utils.types import Array, Callback, Indices
from cosep.utils.warn import warn

SOLVERS: dict[str, Callable[..., SelfDictionary]] = {"newton": solve_newton, "fast-gradient": solve_fast_gradient}


# The diagonal of Y lies between 0 and 1; what is smaller than this is no choice.
DUST = 1e-6
# A relative gap beyond this is no proof, even where rounding allows no smaller one.
LOOSE = 1e-3
# Far above all penalties that let a column be chosen where entries are of about one.
LARGEST_PENALTY = 1e150
WHY_UNPROVEN = {
    "max_iter": "its iterations were used up",
    "stalled": "nothing made it smaller",
    "rounding": "what is left of X is so small that the rest is lost in rounding; judge the selection by its error",
}


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
        Ours, which ends on a proven duality gap and stores no n x n array, or the published one.
    postprocess : {"diagonal", "spa"}
        Take the r largest diagonal entries of Y (published for synthetic data), or the columns that SPA picks from
        the transpose of Y (published for real data).
    trace : float, optional
        Choose lambda such that the trace of Y is this; ``r/2 + 1`` unless given.
    penalty : float, optional
        Keep lambda at this value instead.
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Iterations at the most (evaluations of the reduced objective, for Newton's method).
    pool : Pool, optional
        Which columns may be chosen, and which must be: those come first, cost nothing in the model and do not count in
        the trace.
    callback : callable, optional
        Called as ``callback("solve", iterations, max_iter, relative gap)`` each time the gap is known.

    Returns
    -------
    Selection
        ``gap`` is the relative duality gap reached. A ``ConvergenceWarning`` says that it is above ``tol``, or above
        1e-3 where rounding allows no smaller one. ``history`` holds objective, trace of Y and lambda of each iteration
        (of each pass over all columns, for Newton's method).

    Notes
    -----
    All-zero columns are never chosen, and of proportional columns (equal to 1e-9 after normalisation) only the
    longest is, the first of them if several are. If Y has fewer than r rows, the trace is raised towards r, and
    what is still missing is chosen by SPA; fewer than r columns, with a warning, mean that those explain X.

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
            msg = f"trace={shown(trace)} and penalty={penalty} exclude each other: a penalty sets the trace. Give one."
            raise ValueError(msg)
    part = filled(M, cols=positions.include)
    choice = choose(
        part.M,
        r,
        solver=check_choice(solver, "solver", SOLVERS),
        postprocess=check_choice(postprocess, "postprocess", POSTPROCESSES),
        trace=None if trace is None else check_number(trace, "trace", 0.0, r),
        penalty=None if penalty is None else _in_units_of(M, penalty),
        tol=check_number(tol, "tol", 0.0),
        max_iter=check_positive(max_iter),
        positions=positions.within(part.cols),
        report=reporter(callback, max_iter),
    )
    warn_if_unproven(choice.solution.relative_gap, choice.solution.ended, "Raise max_iter or tol")
    warn_if_fewer(choice.columns, r, "columns")
    solution = choice.solution
    # Objective and lambda in the units of X.
    with np.errstate(over="ignore"):
        history = tuple(
            (float(np.ldexp(value, 2 * M.exponent)), size, float(np.ldexp(lam, 2 * M.exponent)))
            for value, size, lam in solution.history
        )
    return Selection(None, part.cols[choice.columns], solution.relative_gap, solution.n_iter, history)


class Choice(NamedTuple):
    """At most r columns, best first, the solution that they were read off, and the columns and bounds it uses."""

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
    """Choose columns of a checked matrix, starting from columns and bounds if there are any.

    ``tol``, ``max_iter`` and ``report`` go to the solver.
    """
    positions = all_positions(M.shape[1]) if positions is None else positions
    rays = distinct_rays(M, positions.price, positions.sizes)
    p = rays.p
    # Included columns come first; of the rest as many as are wanted, and as there are rays to choose from.
    wanted = min(r - len(positions.include), int((p == 1).sum()))
    solve = partial(SOLVERS[solver], rays.B, rays.w, r=wanted, p=p, **budget)
    warm = None if start is None else _on_rays(start, rays)
    if penalty is not None:
        solution = solve(penalty=penalty, start=warm)
    else:
        target = min(wanted / 2 + 1, wanted) if trace is None else min(trace, wanted)
        solution = solve(trace=target, start=warm)
        while trace is None and target < wanted and len(_bought(solution, p)) < wanted:
            target = min(target + max(1.0, (wanted - target) / 4), wanted)
            solution = solve(trace=target, start=(solution.active, solution.diagonal[solution.active]))
    order = POSTPROCESSES[postprocess](solution, p, wanted)
    if len(order) < wanted:
        taken = Positions(np.isfinite(p), np.concatenate([np.flatnonzero(p == 0), order]), rays.w)
        order = pursue(rays.B, len(taken.include) + wanted - len(order), 1.0 / rays.w, positions=taken)[0]
        order = order[p[order] == 1]
    columns = np.concatenate([positions.include, rays.leaders[order]])
    return Choice(columns, solution, (rays.leaders[solution.active], solution.diagonal[solution.active]))


def _in_units_of(M: LocalMatrix, penalty: float) -> float:
    """Return the penalty for the entries as they are stored. One beyond `LARGEST_PENALTY` lets nothing be chosen."""
    with np.errstate(over="ignore"):
        scaled = float(np.ldexp(penalty, -2 * M.exponent))
    return scaled if M.exponent == 0 else min(scaled, LARGEST_PENALTY)


def warn_if_unproven(gap: float, ended: str, advice: str) -> None:
    """Say that a solver stopped before its tolerance: what it reached, why, and what to do.

    A gap that rounding hides is small beside X, but need not be small beside what the columns leave of X.
    """
    if ended in WHY_UNPROVEN and (ended != "rounding" or gap > LOOSE):
        way_out = "" if ended == "rounding" else f" {advice}; with solver='newton' few problems end like this."
        warn(
            f"The convex model was solved to a relative duality gap of {gap:.1e} only: {WHY_UNPROVEN[ended]}.{way_out}",
            ConvergenceWarning,
        )


def reporter(callback: Callback | None, max_iter: int = 1000) -> Report | None:
    """Return what tells a callback how far a solver is."""
    return None if callback is None else lambda step, gap: callback("solve", step, max_iter, gap)


def _on_rays(start: tuple[Indices, Array], rays: Rays) -> tuple[Indices, Array]:
    """Return rays and bounds for columns and bounds."""
    bounds = np.zeros(len(rays.leaders))
    of = rays.of[start[0]]
    np.add.at(bounds, of[of >= 0], start[1][of >= 0])
    atoms = np.flatnonzero(bounds)
    return atoms, np.minimum(bounds[atoms], 1.0)


def _bought(solution: SelfDictionary, p: Array) -> Indices:
    """Return the columns that Y uses, by more than its accuracy, and that were not given."""
    return solution.active[(p[solution.active] > 0) & (solution.diagonal[solution.active] > DUST)]


def largest_diagonals(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns with the largest ``Y(t,t)``; among those that agree to `DUST` the first."""
    bought = _bought(solution, p)
    return bought[descending(solution.diagonal[bought], DUST)[:r]]


def spa_of_transpose(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns whose rows of Y SPA picks."""
    bought = _bought(solution, p)
    if len(bought) == 0:
        return bought
    rows = solution.rows[np.isin(solution.active, bought)]
    return bought[pursue(LocalMatrix(rows.T), min(r, len(bought)), np.ones(len(bought)))[0]]


POSTPROCESSES: dict[str, Callable[[SelfDictionary, Array, int], Indices]] = {
    "diagonal": largest_diagonals,
    "spa": spa_of_transpose,
}
