"""A matrix enters, rows and columns chosen for each other leave.

Notation
--------
M : data; K1, K2 : the chosen rows and columns
"""

from dataclasses import replace
from typing import Any

from cosep.factorization import Callback, Selection
from cosep.matrix.checks import as_matrix, check_choice, check_count
from cosep.matrix.local import Indices, LocalMatrix
from cosep.mixing import mix
from cosep.select.both_sides import check_sizes, warn_if_degenerate
from cosep.select.fgm import POSTPROCESSES, SOLVERS, choose
from cosep.select.pool import Pool, Positions, check_pool
from cosep.select.spa import pursue, warn_if_fewer

Pick = tuple[Indices, float | None]

# Alternations of the fit that judges an iterate.
JUDGING = 10


def cosfgm(
    X: Any,
    n_rows: int,
    n_cols: int,
    *,
    solver: str = "fast-gradient",
    start: str = "spa",
    postprocess: str = "diagonal",
    max_iter: int = 100,
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Choose rows and columns by turns: ``K1 = FGM(X(:,K2)')``, then ``K2 = FGM(X(K1,:))``, until they repeat.

    Algorithm 2 of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), whose inputs are printed with rows
    and columns swapped. On a co-separable matrix each step is a separable problem. The alternation can cycle: it ends
    when a pair of index *sets* comes back, and of all pairs, the start included, the one with the best approximation of
    X is returned.

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
        Called as ``callback("select", alternation, max_iter, relative error)`` after the start and each alternation.

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
    max_iter = check_count(max_iter, "max_iter", 2**31, "its largest value")
    check_choice(solver, "solver", SOLVERS)
    check_choice(postprocess, "postprocess", POSTPROCESSES)
    check_choice(start, "start", ("spa", "independent"))
    of_rows = check_pool(row_pool, n_rows, M.shape[0], side="row_pool", size="n_rows")
    of_cols = check_pool(col_pool, n_cols, M.shape[1], side="col_pool", size="n_cols")

    def pick(block: LocalMatrix, r: int, positions: Positions) -> Pick:
        columns, solution = choose(block, r, solver=solver, postprocess=postprocess, positions=positions)
        return columns, solution.relative_gap

    first = pick if start == "independent" else _pick_by_spa
    (rows, row_gap), (cols, col_gap) = first(M.T, n_rows, of_rows), first(M, n_cols, of_cols)
    best, least = Selection(rows, cols), float("inf")
    seen: set[tuple[frozenset[int], frozenset[int]]] = set()
    history: list[tuple[float, float | None]] = []
    n_iter = 0
    while (pair := (frozenset(rows.tolist()), frozenset(cols.tolist()))) not in seen:
        seen.add(pair)
        gap = None if row_gap is None or col_gap is None else max(row_gap, col_gap)
        error = mix(M, Selection(rows, cols), max_iter=JUDGING).relative_error(M)
        if callback is not None:
            callback("select", n_iter, max_iter, error)
        history.append((error, gap))
        if error < least:
            best, least = Selection(rows, cols, gap), error
        if n_iter == max_iter:
            break
        n_iter += 1
        rows, row_gap = pick(LocalMatrix(M.take(cols=cols).T), n_rows, of_rows)
        cols, col_gap = pick(LocalMatrix(M.take(rows=rows)), n_cols, of_cols)
    warn_if_fewer(best.row_indices, n_rows, "rows")
    warn_if_fewer(best.col_indices, n_cols, "columns")
    warn_if_degenerate(M, best.row_indices, best.col_indices)
    return replace(best, n_iter=n_iter, history=tuple(history))


def _pick_by_spa(block: LocalMatrix, r: int, positions: Positions) -> Pick:
    return pursue(block, r, positions=positions)[0], None
