"""A matrix enters, the columns that stand out in the convex self-dictionary model leave.

Notation
--------
B : dense block with the Gram matrix of X, proportional columns merged
w : l1 norms of its columns
K : the chosen columns
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cosep.factorization import Selection
from cosep.matrix.checks import as_matrix, check_choice, check_count, check_number
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import column_weights
from cosep.select.selfdict import SelfDictionary, largest_penalty, solve_fast_gradient
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
) -> tuple[Indices, SelfDictionary]:
    """Return at most r columns of a checked matrix, best first, and the solution that they were read off."""
    leaders, B, w = distinct_rays(M)
    if len(leaders) > MOST_COLUMNS:
        msg = (
            f"solver={solver!r} stores n x n arrays, too large for n={len(leaders)} distinct columns (at most "
            f"{MOST_COLUMNS}); select from fewer columns, or with spa."
        )
        raise ValueError(msg)
    wanted = min(r, len(leaders))
    target = None if penalty is not None else trace if trace is not None else min(r / 2 + 1, wanted)
    lam = penalty if penalty is not None else starting_penalty(B, w, wanted)
    solution = SOLVERS[solver](B, w, penalty=lam, trace=target, tol=tol, max_iter=max_iter)
    while trace is None and target is not None and target < wanted and len(solution.active) < wanted:
        target = min(target + max(1.0, (wanted - target) / 4), wanted)
        solution = SOLVERS[solver](B, w, penalty=solution.penalty, trace=target, tol=tol, max_iter=max_iter)
    order = POSTPROCESSES[postprocess](solution, wanted)
    if len(order) < wanted:
        order = pursue(LocalMatrix(B), wanted, include=order)[0]
    return leaders[order], solution


def distinct_rays(M: LocalMatrix) -> tuple[Indices, Array, Array]:
    """Return one index for each ray among the nonzero columns, and a block B and its weights w with one column a ray.

    Proportional columns ask for the same answer, so that of a group weighs as much as all of them: its squared norm
    is the sum of theirs. The longest stands for the group; among equally long ones the first.
    """
    sums = M.sums()
    nonzero = np.flatnonzero(sums > 0)
    if nonzero.size == 0:
        msg = "X has no nonzero entry, so there is nothing to select; pass data with at least one positive entry."
        raise ValueError(msg)
    B, w = M.gram_root()[:, nonzero], sums[nonzero]
    rays = np.round(B / np.linalg.norm(B, axis=0), 9) + 0.0
    group = np.unique(rays, axis=1, return_inverse=True)[1].ravel()
    longest = np.zeros(group.max() + 1)
    np.maximum.at(longest, group, w)
    candidates = np.flatnonzero(w >= (1.0 - SAME) * longest[group])
    leaders = np.sort(candidates[np.unique(group[candidates], return_index=True)[1]])
    together = np.sqrt(np.bincount(group, w**2))[group[leaders]]
    return nonzero[leaders], B[:, leaders] * (together / w[leaders]), together


def starting_penalty(B: Array, w: Array, r: int) -> float:
    """Return ``||B - B(:,K) H||^2 / r`` with K from SPA, kept between 1e-3 ||B||^2 / r and half of lambda_max.

    At lambda_max and above Y would stay zero for ever.
    """
    M = LocalMatrix(B)
    K = pursue(M, r)[0]
    squared = float(np.linalg.norm(B - B[:, K] @ column_weights(M, K)) ** 2)
    return min((squared + 1e-3 * M.squared_norm()) / r, largest_penalty(B, w) / 2)


def largest_diagonals(solution: SelfDictionary, r: int) -> Indices:
    """Return the r columns with the largest positive ``Y(t,t)``."""
    order = np.argsort(-solution.diagonal, kind="stable")[:r]
    return order[solution.diagonal[order] > 0]


def spa_of_transpose(solution: SelfDictionary, r: int) -> Indices:
    """Return the r columns whose rows of Y SPA picks."""
    if len(solution.active) == 0:
        return solution.active
    return solution.active[pursue(LocalMatrix(solution.rows.T), min(r, len(solution.active)), normalize=False)[0]]


POSTPROCESSES: dict[str, Callable[[SelfDictionary, int], Indices]] = {
    "diagonal": largest_diagonals,
    "spa": spa_of_transpose,
}
