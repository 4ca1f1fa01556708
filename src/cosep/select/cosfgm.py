"""CoS-FGM: rows and columns chosen for each other by the convex self-dictionary model.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.checks import check_callback, check_choice, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.restore import restore_selection
from cosep.records.selection import Selection
from cosep.select.both_sides import check_sizes
from cosep.select.fgm import POSTPROCESSES, SOLVERS, choose, reporter
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_degenerate, warn_if_fewer, warn_if_unproven
from cosep.solve.alternation import Budget, refit
from cosep.solve.nonnegative import coefficients, column_weights
from cosep.solve.successive_projections import pursue, spa_weights
from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Callback, Indices

# Columns that a convex solution uses, and their bounds: a start for the next solution.
Atoms = tuple[Indices, Array] | None

# Stopping rule of the fit that measures the error of a pair: iterations, and decrease of the squared error.
FIT_ITER, FIT_TOL = 10, 3e-5
# Stop after this many alternations without a better pair; on some data no pair ever repeats.
MAX_IDLE = 5
# Relative errors closer than this are a tie, since they are roots of differences.
ERROR_TIE_TOL = 1e-7


class Pair(NamedTuple):
    """Rows and columns chosen for each other.

    Attributes
    ----------
    rows, cols : ndarray of int
    gap : float or None
        The larger relative duality gap of the two problems; None for a pair that SPA chose.
    ended : str
        Why the solver stopped on the problem with that gap.
    row_atoms, col_atoms : tuple of (ndarray of int, ndarray) or None
        What the two solutions use.
    error : float
        Relative error of a short fit; nan before it is known.
    """

    rows: Indices
    cols: Indices
    gap: float | None = None
    ended: str = "tolerance"
    row_atoms: Atoms = None
    col_atoms: Atoms = None
    error: float = np.nan

    @property
    def key(self) -> tuple[frozenset[int], frozenset[int]]:
        """The two index sets, whatever their order."""
        return frozenset(self.rows.tolist()), frozenset(self.cols.tolist())


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
    """Choose rows and columns alternately: ``K1 = FGM(X(:,K2)')``, then ``K2 = FGM(X(K1,:))``, until they repeat.

    Algorithm 2 of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), whose inputs are printed with rows and
    columns swapped. On a co-separable matrix each step is a separable problem. The alternation can cycle, and on some
    data it never settles: it stops when a pair of index *sets* repeats, or after five pairs that are not better. The
    result is the pair, including the start, with the best approximation of X.

    Of rows that are proportional in the selected columns only the longest can be chosen; of equally long ones the
    longest in all of X, then the first. The same holds for columns.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int
        Size of the core.
    solver, postprocess : str
        As in `fgm`.
    start : {"spa", "independent"}
        The first pair: by `spa` on each side (default), or by `fgm` on each side, as published.
    max_iter : int
        Largest number of alternations.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be chosen, and which must be.
    callback : callable, optional
        Called as ``callback("select", alternation, max_iter, relative error)`` after the start and each alternation,
        and as `fgm` does during each.

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

    pick = partial(choose, solver=solver, postprocess=postprocess, report=reporter(callback))

    def pick_both(row_data: LocalMatrix, before: Pair | None) -> Pair:
        """Choose rows by their data, then columns by all rows, or by the chosen ones if there is a pair before."""
        by_rows = pick(row_data, n_rows, positions=of_rows, start=before and before.row_atoms)
        col_data = M if before is None else LocalMatrix(M.take(rows=by_rows.columns))
        by_cols = pick(col_data, n_cols, positions=of_cols, start=before and before.col_atoms)
        gap, ended = max((one.solution.relative_gap, one.solution.ended) for one in (by_rows, by_cols))
        return Pair(by_rows.columns, by_cols.columns, gap, ended, by_rows.atoms, by_cols.atoms)

    if start == "spa":
        first = Pair(
            pursue(M.T, n_rows, spa_weights(M.T), positions=of_rows)[0],
            pursue(M, n_cols, spa_weights(M), positions=of_cols)[0],
        )
    else:
        first = pick_both(M.T, None)
    best, history = _alternate(
        M, first, lambda pair: pick_both(LocalMatrix(M.take(cols=pair.cols).T), pair), max_iter, callback
    )
    warn_if_fewer(best.rows, n_rows, "rows", "the selected columns")
    warn_if_fewer(best.cols, n_cols, "columns", "the selected rows")
    if best.gap is not None:
        warn_if_unproven(best.gap, best.ended, "Select by another solver or on scaled data")
    warn_if_degenerate(M, best.rows, best.cols)
    return restore_selection(part, Selection(best.rows, best.cols, best.gap, len(history) - 1, tuple(history)))


def _alternate(
    M: LocalMatrix, pair: Pair, following: Callable[[Pair], Pair], max_iter: int, callback: Callback | None
) -> tuple[Pair, list[tuple[float, float | None]]]:
    """Go from pair to pair until one repeats or none is better; return the best, and error and gap of each."""
    seen: dict[tuple[frozenset[int], frozenset[int]], Pair] = {}
    history: list[tuple[float, float | None]] = []
    for n_iter in range(max_iter + 1):
        pair = pair if n_iter == 0 else following(pair)
        repeated = pair.key in seen
        error = seen[pair.key].error if repeated else _error(M, pair)
        seen[pair.key] = pair._replace(error=error)
        history.append((error, pair.gap))
        if callback is not None:
            callback("select", n_iter, max_iter, error)
        if repeated or n_iter - _first_best([error for error, _ in history]) == MAX_IDLE:
            break
    met = list(seen.values())
    return met[_first_best([one.error for one in met])], history


def _error(M: LocalMatrix, pair: Pair) -> float:
    """Return the relative error of a short fit with the rows and columns of a pair: one alternation of `mix`."""
    S, U, V = M.take(pair.rows, pair.cols), column_weights(M.T, pair.rows).T, column_weights(M, pair.cols)
    P2 = refit(M, S, U, V, Budget("mix", FIT_ITER, FIT_TOL))[1]
    H = S @ P2
    return Factorization(coefficients(M, H), None, H).relative_error(M.mantissa)


def _first_best(errors: Sequence[float]) -> int:
    """Return the position of the smallest error; of those that agree up to rounding, the first."""
    return int(first_largest(-np.array(errors), ERROR_TIE_TOL, scale=1.0))
