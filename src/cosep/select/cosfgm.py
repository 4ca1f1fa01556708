"""A matrix enters, rows and columns chosen for each other leave.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import as_matrix, check_callback, check_choice, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.fgm import POSTPROCESSES, SOLVERS, choose, reporter
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_degenerate, warn_if_fewer, warn_if_unproven
from cosep.solve.mix import mix
from cosep.solve.pursuit import Positions
from cosep.solve.successive_projections import pursue, spa_weights
from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Callback, Indices

Atoms = tuple[Indices, Array] | None
# A relative duality gap, and how the solver ended on it.
Proof = tuple[float, str]
Pair = tuple[frozenset[int], frozenset[int]]


class Met(NamedTuple):
    """A pair that the alternation has met: the error of a short fit, its last gap, and how the solver ended on it."""

    error: float
    gap: float | None
    ended: str
    rows: Indices
    cols: Indices


# Alternations of the fit that judges an iterate.
JUDGING = 10
# Alternations without a better pair before giving up; some data never come back to a pair.
PATIENCE = 5
# Relative errors this close are a tie: they are roots of differences.
ERROR_TOL = 1e-7


def cosfgm(
    X: Any,
    n_rows: int,
    n_cols: int,
    *,
    solver: str = "newton",
    start: str = "spa",
    postprocess: str = "diagonal",
    max_iter: int = 100,
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose rows and columns by turns: ``K1 = FGM(X(:,K2)')``, then ``K2 = FGM(X(K1,:))``, until they repeat.

    Algorithm 2 of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), whose inputs are printed with rows and
    columns swapped. On a co-separable matrix each step is a separable problem. The alternation can cycle, and on some
    data it never settles: it ends when a pair of index *sets* comes back, or after five pairs that are no better. Of
    all pairs, the start included, the one with the best approximation of X is returned.

    Of rows that are proportional in the selected columns the longest stands for all, of those the longest in all of X,
    of those the first; likewise of columns.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Size of the core.
    solver, postprocess : str
        As in `fgm`.
    start : {"spa", "independent"}
        The first pair: by `spa` on each side, or by `fgm` on each side, as published.
    max_iter : int
        Alternations at the most.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        Called as ``callback("select", alternation, max_iter, relative error)`` after the start and each alternation,
        and within them as `fgm` does.

    Returns
    -------
    Selection
        ``gap`` is the larger relative duality gap of the two problems that gave the rows and columns (None if that
        was SPA); ``history`` holds the relative error of a short fit and this gap for the start and each alternation.

    Examples
    --------
    >>> from cosep import cosfgm
    >>> from cosep.datasets import make_coseparable
    >>> from cosep.metrics import index_accuracy
    >>> X, truth = make_coseparable(30, 20, 4, 4, random_state=0)
    >>> index_accuracy(cosfgm(X, 4, 4), truth)
    1.0
    """
    M = as_matrix(X)
    n_rows, n_cols = check_sizes(M, n_rows, n_cols)
    max_iter = check_positive(max_iter)
    check_callback(callback)
    check_choice(solver, "solver", SOLVERS)
    check_choice(postprocess, "postprocess", POSTPROCESSES)
    check_choice(start, "start", ("spa", "independent"))
    of_rows = check_pool(row_pool, n_rows, M.shape[0], side="row_pool", size="n_rows", sizes=M.T.squared_norms())
    of_cols = check_pool(col_pool, n_cols, M.shape[1], side="col_pool", size="n_cols", sizes=M.squared_norms())
    part = filled(M, of_rows.include, of_cols.include)
    M, of_rows, of_cols = part.M, of_rows.within(part.rows), of_cols.within(part.cols)

    def pick(block: LocalMatrix, r: int, positions: Positions, warm: Atoms) -> tuple[Indices, Proof, Atoms]:
        report = reporter(callback)
        choice = choose(
            block, r, solver=solver, postprocess=postprocess, positions=positions, start=warm, report=report
        )
        return choice.columns, (choice.solution.relative_gap, choice.solution.ended), choice.atoms

    gap: float | None = None
    ended = "tolerance"
    row_atoms: Atoms = None
    col_atoms: Atoms = None
    if start == "spa":
        rows = pursue(M.T, n_rows, spa_weights(M.T), positions=of_rows)[0]
        cols = pursue(M, n_cols, spa_weights(M), positions=of_cols)[0]
    else:
        rows, row_proof, row_atoms = pick(M.T, n_rows, of_rows, None)
        cols, col_proof, col_atoms = pick(M, n_cols, of_cols, None)
        gap, ended = max(row_proof, col_proof)
    met: dict[Pair, Met] = {}
    history: list[tuple[float, float | None]] = []
    n_iter = 0
    while True:
        pair = frozenset(rows.tolist()), frozenset(cols.tolist())
        repeated = pair in met
        error = met[pair].error if repeated else mix(M, Selection(rows, cols), max_iter=JUDGING).relative_error(M)
        met[pair] = Met(error, gap, ended, rows, cols)
        history.append((error, gap))
        if callback is not None:
            callback("select", n_iter, max_iter, error)
        idle = n_iter - _first_best(history)
        if repeated or n_iter == max_iter or idle == PATIENCE:
            break
        n_iter += 1
        rows, row_proof, row_atoms = pick(LocalMatrix(M.take(cols=cols).T), n_rows, of_rows, row_atoms)
        cols, col_proof, col_atoms = pick(LocalMatrix(M.take(rows=rows)), n_cols, of_cols, col_atoms)
        gap, ended = max(row_proof, col_proof)
    best = list(met.values())[_first_best(list(met.values()))]
    warn_if_fewer(best.rows, n_rows, "rows", "the selected columns")
    warn_if_fewer(best.cols, n_cols, "columns", "the selected rows")
    if best.gap is not None:
        warn_if_unproven(best.gap, best.ended, "Select by another solver or on scaled data")
    warn_if_degenerate(M, best.rows, best.cols)
    return restore_selection(part, Selection(best.rows, best.cols, best.gap, n_iter, tuple(history)))


def _first_best(iterates: Sequence[tuple[Any, ...]]) -> int:
    """Return where the smallest error is, which comes first in each; of those that agree to rounding, the first."""
    return int(first_largest(-np.array([iterate[0] for iterate in iterates]), ERROR_TOL, scale=1.0))
