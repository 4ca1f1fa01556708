"""A matrix enters, the columns that stand out in the convex self-dictionary model leave.

Notation
--------
B : dense block with the Gram matrix of X, proportional columns merged
w : l1 norms of its columns; p : their prices (0 given, 1 to be chosen, infinity not to be chosen)
K : the chosen columns
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cosep.factorization import Selection
from cosep.matrix.checks import as_matrix, check_choice, check_count, check_number
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import column_weights
from cosep.select.pool import Pool, Positions, check_pool
from cosep.select.selfdict import SelfDictionary, solve_fast_gradient
from cosep.select.spa import SAME, pursue, warn_if_fewer

SOLVERS: dict[str, Callable[..., SelfDictionary]] = {"fast-gradient": solve_fast_gradient}

# The fast gradient keeps half a dozen n x n arrays; this many columns make them 10 GB.
MOST_COLUMNS = 15_000


def fgm(
    X: Any,
    r: int,
    *,
    solver: str = "fast-gradient",
    postprocess: str = "diagonal",
    trace: float | None = None,
    penalty: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    pool: Pool | None = None,
) -> Selection:
    """Choose ``r`` columns by the convex model ``min 1/2 ||X - X Y||_F^2 + lambda trace(Y)`` over Omega.

    ``Omega = {Y >= 0, Y(t,t) <= 1, w_t Y(t,l) <= w_l Y(t,t)}``, ``w_l = ||X(:,l)||_1``. Algorithm 1 of Pan and Ng
    (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), after Gillis and Luce (doi:10.1109/TIP.2017.2753400).

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        How many columns.
    solver : {"fast-gradient"}
        The published one. It stores n x n arrays.
    postprocess : {"diagonal", "spa"}
        Take the r largest diagonal entries of Y (published for synthetic data), or the columns that SPA picks from
        the transpose of Y (published for real data).
    trace : float, optional
        Steer lambda until the trace of Y is this; ``r/2 + 1`` unless given.
    penalty : float, optional
        Keep lambda at this value instead.
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Iterations at the most.
    pool : Pool, optional
        Which columns may be chosen, and which must be: those come first, cost nothing in the model and do not count in
        the trace.

    Returns
    -------
    Selection
        ``gap`` is the relative duality gap reached at the final lambda; ``history`` holds objective, trace of Y and
        lambda of each iteration.

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
    if penalty is not None:
        penalty = check_number(penalty, "penalty", 0.0)
        if trace is not None:
            msg = f"trace={trace} and penalty={penalty} exclude each other: the penalty sets the trace. Give one."
            raise ValueError(msg)
    columns, solution = choose(
        M,
        r,
        solver=check_choice(solver, "solver", SOLVERS),
        postprocess=check_choice(postprocess, "postprocess", POSTPROCESSES),
        trace=None if trace is None else check_number(trace, "trace", 0.0, r),
        penalty=penalty,
        tol=check_number(tol, "tol", 0.0),
        max_iter=check_count(max_iter, "max_iter", 2**31, "its largest value"),
        positions=check_pool(pool, r, M.shape[1]),
    )
    warn_if_fewer(columns, r, "columns")
    return Selection(None, columns, solution.relative_gap, solution.n_iter, solution.history)


def choose(
    M: LocalMatrix,
    r: int,
    *,
    solver: str,
    postprocess: str,
    trace: float | None = None,
    penalty: float | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    positions: Positions | None = None,
) -> tuple[Indices, SelfDictionary]:
    """Return at most r columns of a checked matrix, best first, and the solution that they were read off."""
    positions = check_pool(None, r, M.shape[1]) if positions is None else positions
    leaders, B, w, p = distinct_rays(M, positions.price)
    if len(leaders) > MOST_COLUMNS:
        msg = (
            f"solver={solver!r} stores n x n arrays, too large for n={len(leaders)} distinct columns (at most "
            f"{MOST_COLUMNS}); select from fewer columns, or with spa."
        )
        raise ValueError(msg)
    # Included columns come first; of the rest as many as are wanted, and as there are rays to choose from.
    wanted = min(r - len(positions.include), int((p == 1).sum()))
    target = None if penalty is not None else trace if trace is not None else min(wanted / 2 + 1, max(wanted, 1))
    lam = penalty if penalty is not None else starting_penalty(B, p, wanted)
    solve = partial(SOLVERS[solver], B, w, p=p, tol=tol, max_iter=max_iter)
    solution = solve(penalty=lam, trace=target)
    while trace is None and target is not None and target < wanted and len(_bought(solution, p)) < wanted:
        target = min(target + max(1.0, (wanted - target) / 4), wanted)
        solution = solve(penalty=solution.penalty, trace=target)
    order = POSTPROCESSES[postprocess](solution, p, wanted)
    if len(order) < wanted:
        rays = Positions(np.isfinite(p), np.concatenate([np.flatnonzero(p == 0), order]))
        order = pursue(LocalMatrix(B), len(rays.include) + wanted - len(order), positions=rays)[0]
        order = order[p[order] == 1]
    return np.concatenate([positions.include, leaders[order]]), solution


def distinct_rays(M: LocalMatrix, price: Array) -> tuple[Indices, Array, Array, Array]:
    """Return one index for each ray among the nonzero columns, a block B with one column a ray, its weights and prices.

    Proportional columns ask for the same answer, so that of a group weighs as much as all of them: its squared norm
    is the sum of theirs. The cheapest stands for the group, of those the longest, of those the first.
    """
    sums = M.sums()
    nonzero = np.flatnonzero(sums > 0)
    if nonzero.size == 0:
        msg = "X has no nonzero entry, so there is nothing to select; pass data with at least one positive entry."
        raise ValueError(msg)
    B, w, p = M.gram_root()[:, nonzero], sums[nonzero], price[nonzero]
    rays = np.round(B / np.linalg.norm(B, axis=0), 9) + 0.0
    group = np.unique(rays, axis=1, return_inverse=True)[1].ravel()
    cheapest = np.full(group.max() + 1, np.inf)
    np.minimum.at(cheapest, group, p)
    longest = np.zeros(group.max() + 1)
    np.maximum.at(longest, group, np.where(p == cheapest[group], w, 0.0))
    candidates = np.flatnonzero((p == cheapest[group]) & (w >= (1.0 - SAME) * longest[group]))
    leaders = np.sort(candidates[np.unique(group[candidates], return_index=True)[1]])
    together = np.sqrt(np.bincount(group, w**2))[group[leaders]]
    return nonzero[leaders], B[:, leaders] * (together / w[leaders]), together, p[leaders]


def starting_penalty(B: Array, p: Array, r: int) -> float:
    """Return ``(||B - B(:,K) H||^2 + 1e-3 ||B||^2) / r`` with K from SPA."""
    M = LocalMatrix(B)
    given = np.flatnonzero(p == 0)
    K = pursue(M, len(given) + r, positions=Positions(np.isfinite(p), given))[0]
    squared = float(np.linalg.norm(B - B[:, K] @ column_weights(M, K)) ** 2)
    return (squared + 1e-3 * M.squared_norm()) / max(r, 1)


def _bought(solution: SelfDictionary, p: Array) -> Indices:
    """Return the columns that Y uses and that were not given."""
    return solution.active[p[solution.active] > 0]


def largest_diagonals(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns with the largest positive ``Y(t,t)``."""
    bought = _bought(solution, p)
    order = bought[np.argsort(-solution.diagonal[bought], kind="stable")[:r]]
    return order[solution.diagonal[order] > 0]


def spa_of_transpose(solution: SelfDictionary, p: Array, r: int) -> Indices:
    """Return the r columns whose rows of Y SPA picks."""
    bought = _bought(solution, p)
    if len(bought) == 0:
        return bought
    rows = solution.rows[p[solution.active] > 0]
    return bought[pursue(LocalMatrix(rows.T), min(r, len(bought)), normalize=False)[0]]


POSTPROCESSES: dict[str, Callable[[SelfDictionary, Array, int], Indices]] = {
    "diagonal": largest_diagonals,
    "spa": spa_of_transpose,
}
