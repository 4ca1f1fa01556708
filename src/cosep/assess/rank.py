"""A matrix enters; how many of its rows and columns to select leaves, with the reason.

Notation
--------
M : data, m x n
I, J : a fold of rows and a fold of columns; the block M(I,J) is held out
K1, U : rows chosen without the columns J, and the weights that explain all rows by them
K2, V : columns chosen without the rows I, and the weights that explain all columns by them
C : the core, r1 x r2, fitted to everything but M(I,J)
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, pairwise, product
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from cosep.kernels.projections import project_orthant
from cosep.kernels.quadratic import fast_gradient
from cosep.matrix.checks import (
    as_matrix,
    check_callback,
    check_count,
    check_indices,
    check_jobs,
    check_nonzero,
    check_random,
)
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named, options_for, refuse_no_selection
from cosep.solve.alternation import half_squared_error
from cosep.solve.nonnegative import coefficients
from cosep.utils.messages import counted, shown
from cosep.utils.types import Array, Callback, Indices

Table = dict[str, NDArray[Any]]
Rank = tuple[int, int]

# The columns of a table of tried ranks, and the least that the whole numbers among them can be.
RANK_COLUMNS = {"n_rows": 1, "n_cols": 1, "error": None, "error_se": None, "stability": None}
# Parts that the rows, and the columns, are split into.
FOLDS = 4
# The largest rank that is tried unasked, and the most rows and columns that are looked at.
LARGEST_RANK = 64
LARGEST_SIDE = 4000
# A smaller share of the error is no reason for more rows and columns.
WORTHWHILE = 0.01
# Errors below this cannot be told apart.
EXACT = 1e-4
# Accuracy of the core.
CORE_TOL, CORE_ITER = 1e-5, 300


@dataclass(frozen=True, eq=False)
class RankChoice:
    """How many rows and columns to select, why, and what else was tried.

    Parameters
    ----------
    n_rows, n_cols : int
        The recommendation.
    reason : str
        Why, in plain sentences.
    table : dict of ndarray
        One entry for each pair that was tried, in ascending order; ``pandas.DataFrame(table)`` shows it.

        n_rows, n_cols
            The pair.
        error
            The relative error of held-out blocks, their mean; below 1e-4 it counts as 1e-4.
        error_se
            Its standard error.
        stability
            Do the rows (columns) chosen without one part of the columns (rows) and without another agree? Of r chosen
            from m, a share s is common to both; ``(s - r/m) / (1 - r/m)`` is 1 if all are and 0 on average if they
            were chosen by chance, whatever r. The mean over all pairs of parts and both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import choose_rank
    >>> choice = choose_rank(np.kron(np.eye(3), np.ones((9, 6))), ranks=[1, 2, 3, 4])
    >>> choice.table["n_rows"], choice.table["error"] < 0.01
    (array([1, 2, 3, 4]), array([False, False,  True,  True]))
    >>> print(choice.reason)
    3 rows and 3 columns predict held-out entries best, with an error of 0.0001.
    """

    n_rows: int
    n_cols: int
    reason: str
    table: Table


class Trial(NamedTuple):
    """The relative errors of all blocks, and how well the selections agree."""

    errors: Array
    stability: float


def choose_rank(
    X: Any,
    ranks: Iterable[Any] | None = None,
    *,
    method: Method = "faithful",
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> RankChoice:
    """Find the fewest rows and columns with about the smallest ``||X(I,J) - U C V'||_F / ||X(I,J)||_F``, X(I,J) unseen.

    Bi-cross-validation (Owen and Perry, Ann. Appl. Stat. 3, 564-594, 2009, doi:10.1214/08-AOAS227). Rows and columns
    are split into four parts each, and each of the sixteen blocks is predicted from the rest of X: rows K1 are chosen,
    from all, by their entries outside the columns J, columns K2, from all, by their entries outside the rows I;

        ``U = argmin ||X(:,-J) - U X(K1,-J)||``, ``V = argmin ||X(-I,:) - X(-I,K2) V'||``, ``C = argmin ||X - U C V'||``

    over nonnegative U, V and C, the last without the block. Recommended is the smallest ``n_rows + n_cols`` that no
    other pair beats by more than 1 % of the error plus one standard error of the difference over the blocks.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    ranks : iterable of int or of pairs, optional
        What to try: ``range(2, 12)`` for as many rows as columns, or pairs ``[(5, 5), (10, 10), (10, 20)]`` of
        ``n_rows`` and ``n_cols``. By default 1, 2, 3, 4, 6, 8, 11, 16, ... of both, up to 64 or what X has; then, by
        halving, what lies between the recommended one and the next smaller; then fewer rows or fewer columns alone.
    method : str or callable
        What selects: a name that `CoSeparableNMF` knows, or a function ``(X, n_rows, n_cols) -> Selection``.
    random_state : int, RandomState instance or None
        Decides about the parts, and about the choices of a method that draws random numbers itself.
    n_jobs : int, optional
        How many selections at a time, each in a process of its own, at most one for each processor; -1 is all of
        them. The result is the same; the processes take seconds to start.
    callback : callable, optional
        Called as ``callback("rank", step, most_steps, smallest error so far)`` before the first selection, with step 0,
        and after each.

    Returns
    -------
    RankChoice

    Raises
    ------
    ValueError
        If X has a single row or column, or ranks ask for more rows or columns than there are outside a part.

    Notes
    -----
    The cost is that of eight selections, with their weights, for each pair: 232 at the most by default. Nothing of the
    size of X is made dense. Of more than 4000 rows (columns) a random 4000 are looked at, and the reason says so.

    Chosen rows are single ones, and no others can stand in for them. Were whole rows hidden, as in cross-validation of
    a factorization, those that matter would be missing in every fourth choice; here each row is seen in part. Where
    fewer are asked for than the structure has, rows and columns chosen apart may speak of different parts of it, and
    the error is larger than that of a selection on the whole.

    Warnings of the method, such as that it found fewer than asked for, are not shown: a pair counts with what was
    found. The recommendation does not depend on the scale of X; transposing X swaps its parts, as far as it does so
    for the method.

    Examples
    --------
    >>> from cosep import choose_rank, make_coseparable
    >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.01, random_state=0)
    >>> choice = choose_rank(X)
    >>> choice.n_rows, choice.n_cols
    (4, 4)
    """
    M = as_matrix(X)
    check_nonzero(M)
    if min(M.shape) == 1:
        msg = f"X of shape {M.shape} must have two rows and two columns at least, to predict some from the others."
        raise ValueError(msg)
    select = method_named(method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
    n_jobs = check_jobs(n_jobs)
    check_callback(callback)
    seed = int(check_random(random_state).randint(2**31))
    sample, note = _sample(M, seed)
    limits = tuple(size - ceil(size / _folds(sample.shape)) for size in sample.shape)
    wanted = None if ranks is None else check_ranks(ranks, limits[0], limits[1])
    search = Search(sample, select, seed, n_jobs, callback)
    if wanted is None:
        search.default(min(LARGEST_RANK, *limits))
    else:
        search.try_all(wanted, most=len(wanted))
    return search.choice(note)


def check_ranks(ranks: Any, most_rows: int, most_cols: int) -> list[Rank]:
    """Return the pairs that are to be tried, each once, in ascending order."""
    pairs: set[Rank] = set()
    for one in _ranks_of(ranks):
        pair = one if isinstance(one, (tuple, list, np.ndarray)) else (one, one)
        if len(pair) != 2:
            msg = f"ranks has {shown(one)}, which must be a whole number or a pair of n_rows and n_cols."
            raise ValueError(msg)
        n_rows = check_count(pair[0], "n_rows in ranks", most_rows, "the number of rows outside a fold")
        pairs.add((n_rows, check_count(pair[1], "n_cols in ranks", most_cols, "the number of columns outside a fold")))
    return sorted(pairs)


def _ranks_of(ranks: Any) -> Iterator[Any]:
    """Return what is to be tried, at least one."""
    given: Iterator[Any] = iter(())
    first = []
    with suppress(Exception):  # what was passed may raise anything when it is looked at
        given = iter(() if isinstance(ranks, (str, bytes, dict)) else ranks)
        first = [next(given)]
    if not first:
        msg = f"ranks={shown(ranks)} must be whole numbers or pairs of these, such as range(2, 12) or [(5, 5), (9, 9)]."
        raise ValueError(msg)
    return chain(first, given)


class Search:
    """What was tried, on which parts of the data, and what to try next."""

    def __init__(
        self, M: LocalMatrix, select: Callable[..., Selection], seed: int, n_jobs: int | None, callback: Callback | None
    ) -> None:
        h = _folds(M.shape)
        self.M = M
        self.select = select
        self.seed = seed
        self.n_jobs = n_jobs
        self.callback = callback
        self.folds = [split(size, h, seed) for size in M.shape]
        self.blocks = [[LocalMatrix(M.values[I][:, J]) for J in self.folds[1]] for I in self.folds[0]]
        self.trials: dict[Rank, Trial] = {}
        self.steps = 0

    def default(self, bound: int) -> None:
        """Try a few ranks of both sides, then those near the recommended one, then fewer of one side alone."""
        coarse = sorted({min(round(2 ** (k / 2)), bound) for k in range(2 * ceil(log2(bound)) + 1)})
        halvings = ceil(log2(max([b - a for a, b in pairwise(coarse)], default=1)))
        most = len(coarse) + halvings + 2 * ceil(log2(bound))
        self.try_all([(r, r) for r in coarse], most)
        self._narrow([(r, r) for r in range(1, bound + 1)], halvings, most)
        r, _ = self.recommended()
        for path in ([(k, r) for k in range(1, r + 1)], [(r, k) for k in range(1, r + 1)]):
            self._narrow(path, ceil(log2(r)), most)

    def _narrow(self, path: list[Rank], halvings: int, most: int) -> None:
        """Try what lies half way between the recommended one on an ascending path and the one before it."""
        for _ in range(halvings):
            last = path.index(self.recommended(path))
            before = max([k for k in range(last) if path[k] in self.trials], default=-1)
            if last - before > 1:
                self.try_all([path[(last + before) // 2]], most)

    def try_all(self, ranks: Sequence[Rank], most: int) -> None:
        """Find the errors of all blocks for each pair of ranks."""
        sides = list(product((False, True), range(len(self.blocks))))
        if not self.trials:
            self._report(most * len(sides))
        jobs = [
            (rank, transposed, self._kept(fold, transposed=transposed)) for rank in ranks for transposed, fold in sides
        ]
        # Processes, since the filters of warnings belong to all threads of one.
        found = Parallel(n_jobs=self.n_jobs, backend="loky", return_as="generator")(
            delayed(explained)(self.M.values, kept, self.select, rank, self.seed, transposed=transposed)
            for rank, transposed, kept in jobs
        )
        for rank in ranks:
            rows_and_cols = []
            for _ in sides:
                rows_and_cols.append(next(found))
                self.steps += 1
                if len(rows_and_cols) == len(sides):
                    h = len(self.blocks)
                    with _threads().limit(limits=1):
                        self.trials[rank] = self._trial(rows_and_cols[:h], rows_and_cols[h:])
                self._report(most * len(sides))

    def _kept(self, fold: int, *, transposed: bool) -> Indices:
        """Return the columns (rows where transposed) outside a fold."""
        side = 0 if transposed else 1
        return np.setdiff1d(np.arange(self.M.shape[side]), self.folds[side][fold])

    def _report(self, most: int) -> None:
        if self.callback is not None:
            errors = [float(trial.errors.mean()) for trial in self.trials.values()]
            self.callback("rank", self.steps, most, min(errors, default=np.nan))

    def _trial(self, by_rows: list[tuple[Indices, Array]], by_cols: list[tuple[Indices, Array]]) -> Trial:
        """Predict every block from what was chosen without its columns, and without its rows."""
        errors = []
        for (K2, V), I, blocks in zip(by_cols, self.folds[0], self.blocks, strict=True):
            M_V = self.M.dot(V)
            for (K1, U), J, block in zip(by_rows, self.folds[1], blocks, strict=True):
                total = block.squared_norm()
                if total > 0:
                    S = self.M.take(K1, K2)
                    S[np.ix_(np.isin(K1, I), np.isin(K2, J))] = 0.0
                    W = U[I] @ fitted_core(S, (U, V), (U[I], V[J]), U.T @ M_V - U[I].T @ block.dot(V[J]))
                    squared = 2.0 * half_squared_error(total, W, block.cross(W), V[J])
                    errors.append(max(float(np.sqrt(max(squared, 0.0))), EXACT))
        sides = ([K for K, _ in by_rows], self.M.shape[0]), ([K for K, _ in by_cols], self.M.shape[1])
        return Trial(np.array(errors), float(np.mean([agreement(*side) for side in sides])))

    def recommended(self, among: Iterable[Rank] | None = None) -> Rank:
        """Return the smallest pair, of those tried, that no other beats by much."""
        tried = [rank for rank in (self.trials if among is None else among) if rank in self.trials]
        best = self.trials[self.best()]
        enough = [rank for rank in tried if within(self.trials[rank].errors, best.errors)] or tried[-1:]
        return min(enough, key=lambda rank: (sum(rank), self.trials[rank].errors.mean(), rank))

    def best(self) -> Rank:
        """Return the pair with the smallest error, of those the smallest."""
        return min(self.trials, key=lambda rank: (self.trials[rank].errors.mean(), sum(rank), rank))

    def choice(self, note: str) -> RankChoice:
        """Return the recommendation with its reason, and all that was tried."""
        tried = sorted(self.trials)
        errors = np.array([self.trials[rank].errors for rank in tried])
        n_rows, n_cols = self.recommended()
        table = {
            "n_rows": np.array([rank[0] for rank in tried]),
            "n_cols": np.array([rank[1] for rank in tried]),
            "error": errors.mean(axis=1),
            "error_se": np.array([standard_error(one) for one in errors]),
            "stability": np.array([self.trials[rank].stability for rank in tried]),
        }
        return RankChoice(n_rows, n_cols, self._reason() + note, table)

    def _reason(self) -> str:
        chosen, best = self.recommended(), self.best()
        error, least = (float(self.trials[rank].errors.mean()) for rank in (chosen, best))
        if least >= 1.0:
            return (
                f"No structure: held-out entries are predicted no better than by zeros, so {named(chosen)}, the fewest."
            )
        if len(self.trials) == 1:
            return f"{named(chosen)}, of held-out error {error:.3g}, is all that was tried."
        if chosen == best:
            reason = f"{named(chosen)} predict held-out entries best, with an error of {error:.3g}."
        else:
            reason = (
                f"{named(chosen)}: the fewest of {len(self.trials)} pairs tried whose held-out error, {error:.3g}, is "
                f"within {WORTHWHILE:.0%} plus one standard error of the smallest, {least:.3g} with {named(best)}."
            )
        difference = self.trials[chosen].errors - self.trials[best].errors
        if chosen == min(self.trials, key=lambda rank: (sum(rank), rank)):
            reason += " More find no structure beyond these."
            reason += " Fewer were not tried." if sum(chosen) > 2 else ""
        elif any(best[side] == max(rank[side] for rank in self.trials) for side in (0, 1)) and (
            chosen == best or difference.mean() > standard_error(difference)
        ):
            reason += " The error still falls where the pairs tried end: more may explain more."
        return reason


def named(rank: Rank) -> str:
    """Say how many rows and columns."""
    return f"{counted(rank[0], 'row')} and {counted(rank[1], 'column')}"


def explained(
    values: Any, kept: Indices, select: Callable[..., Selection], rank: Rank, seed: int, *, transposed: bool
) -> tuple[Indices, Array]:
    """Choose rows by the kept columns, and return them with the weights of all rows; transposed, columns by rows."""
    part = LocalMatrix(values[kept] if transposed else values[:, kept])
    if part.count_nonzero() == 0:
        return np.zeros(0, dtype=np.intp), np.zeros((part.shape[1 if transposed else 0], 0))
    # One thread, so that the sums, and with them the choice, do not depend on n_jobs.
    with _threads().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = select(part.values, *rank, **options_for(select, random_state=seed))
        refuse_no_selection(chosen, select, ("row_indices", "col_indices"))
        part, indices = (part.T, chosen.col_indices) if transposed else (part, chosen.row_indices)
        rows = check_indices(indices, f"the indices of method={shown(select)}", part.shape[0], "their number")
        return rows, coefficients(part, part.take(rows=rows))


def fitted_core(S: Array, weights: tuple[Array, Array], held_out: tuple[Array, Array], target: Array) -> Array:
    """Solve ``min_C ||M - U C V'||^2 - ||M(I,J) - U(I,:) C V(J,:)'||^2`` over ``C >= 0``, from S.

    ``weights`` are U and V, ``held_out`` their rows I and J, and ``target`` is ``U' M V`` without the block.
    """
    if S.size == 0:
        return S
    scales = [np.linalg.norm(W, axis=0) for W in weights]
    for scale in scales:
        scale[scale == 0] = 1.0
    G, H = (W.T @ W / np.outer(scale, scale) for W, scale in zip(weights, scales, strict=True))
    G0, H0 = (W.T @ W / np.outer(scale, scale) for W, scale in zip(held_out, scales, strict=True))
    scale = np.outer(*scales)
    best = fast_gradient(
        lambda C: G @ C @ H - G0 @ C @ H0,
        target / scale,
        project_orthant,
        S * scale,
        lipschitz=float(np.linalg.norm(G, 2) * np.linalg.norm(H, 2)),
        tol=CORE_TOL,
        max_iter=CORE_ITER,
    )
    return np.asarray(best.Y / scale)


def agreement(choices: list[Indices], size: int) -> float:
    """Return the mean over all pairs of choices of how many they share, 1 all of them, 0 as many as by chance."""
    shares = []
    for one, other in combinations(choices, 2):
        r = max(len(one), len(other), 1)
        chance = r / size
        shares.append((len(np.intersect1d(one, other)) / r - chance) / (1.0 - chance))
    return float(np.mean(shares))


def within(errors: Array, best: Array) -> bool:
    """Tell whether errors are as small as the best, or larger by what may be chance or is not worth the while."""
    difference = errors - best
    return bool(difference.mean() <= standard_error(difference) + WORTHWHILE * best.mean())


def standard_error(errors: Array) -> float:
    """Return the standard error of the mean."""
    return float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0


def split(size: int, h: int, seed: int) -> list[Indices]:
    """Return h random parts that depend on the size and the seed alone, so that transposing X transposes them."""
    order = np.random.RandomState(seed).permutation(size)
    return [np.sort(part) for part in np.array_split(order, h)]


@cache
def _threads() -> ThreadpoolController:
    """Return what caps the threads of this process; finding its libraries takes longer than a small selection."""
    return ThreadpoolController()


def _folds(shape: tuple[int, int]) -> int:
    return min(FOLDS, *shape)


def _sample(M: LocalMatrix, seed: int) -> tuple[LocalMatrix, str]:
    """Return at most so many rows and columns that the cost is bounded, and what to say about it."""
    if max(M.shape) <= LARGEST_SIDE:
        return LocalMatrix(M.values), ""
    rows, cols = (np.sort(np.random.RandomState(seed).permutation(size)[: min(size, LARGEST_SIDE)]) for size in M.shape)
    part = LocalMatrix(M.values[rows][:, cols])
    check_nonzero(part)
    return part, f" Seen in a random sample of {len(rows)} rows and {len(cols)} columns."
