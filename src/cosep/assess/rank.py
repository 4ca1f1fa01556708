"""How many rows and columns to select, with the reason."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import Any

import numpy as np

from cosep.assess.bi_cross_validation import BiCrossValidation, Rank, level_of, n_folds
from cosep.assess.predictions import standard_error
from cosep.assess.rank_search import RankSearch
from cosep.matrix.checks import check_callback, check_count, check_jobs, check_nonzero, check_random
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import check_scaling, check_weights, scale
from cosep.matrix.validation import as_matrix
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named
from cosep.utils.display import Readable, View, grid_of
from cosep.utils.messages import counted, shown
from cosep.utils.types import Callback, Table

# The columns of a table of tried ranks, and the smallest value of those that hold whole numbers.
RANK_COLUMNS = {"n_rows": 1, "n_cols": 1, "error": None, "error_se": None, "stability": None}
# The largest rank that is tried by default.
LARGEST_DEFAULT_RANK = 64
# At most this many rows, and this many columns, are used.
LARGEST_SAMPLE = 4000


@dataclass(frozen=True, eq=False, repr=False)
class RankChoice(Readable):
    """The recommended numbers of rows and columns, the reason, and all pairs that were tried.

    Parameters
    ----------
    n_rows, n_cols : int
        The recommended numbers of rows and columns.
    reason : str
        The reason, in plain sentences.
    table : dict of ndarray
        One entry for each pair that was tried, in ascending order; ``pandas.DataFrame(table)`` shows it.

        n_rows, n_cols
            The pair.
        error
            The mean relative error of the held-out blocks. Errors below 1e-4 count as 1e-4.
        error_se
            The standard error of that mean.
        stability
            How well the selections without different folds agree, as the mean over all pairs of folds and over rows
            and columns. If two selections of r rows out of m have a share s in common, they score
            ``(s - r/m) / (1 - r/m)``: 1 if they are equal, and 0 on average if they are random, for any r.

    params : mapping
        The parameters of a `CoSeparableNMF` of that size in the same norm, so that
        ``CoSeparableNMF(**choice.params).fit(X)`` fits the recommended model.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import choose_rank
    >>> choice = choose_rank(np.kron(np.eye(3), np.ones((9, 6))), ranks=[1, 2, 3, 4])
    >>> choice.table["n_rows"], choice.table["error"] < 0.01
    (array([1, 2, 3, 4]), array([False, False,  True,  True]))
    >>> print(choice.reason)
    3 rows and 3 columns predict held-out entries best, with an error of 0.0001.
    >>> choice.best
    (3, 3)
    """

    n_rows: int
    n_cols: int
    reason: str
    table: Table
    params: Mapping[str, Any] = field(default_factory=dict)

    def _view(self) -> View:
        what = f"{counted(self.n_rows, 'row')} and {counted(self.n_cols, 'column')}"
        return View(f"RankChoice: {what}", (self.reason,), (grid_of("tried", self.table),))

    @property
    def best(self) -> Rank:
        """The numbers of rows and columns with the smallest error, often more than the recommended ones."""
        return smallest_error(self.table)


def choose_rank(
    X: Any,
    ranks: Iterable[Any] | None = None,
    *,
    method: Method = "faithful",
    scaling: Any = "degree",
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> RankChoice:
    """Find the fewest rows and columns to which more of them add nothing, by predictions of held-out entries.

    Bi-cross-validation (Owen and Perry, Ann. Appl. Stat. 3, 564-594, 2009, doi:10.1214/08-AOAS227). Rows and columns
    are split into four folds each, and each of the sixteen blocks X(I,J) is predicted from the rest of X, by
    ``P = U(I,:) C V(J,:)'``. Rows K1 are selected from all rows by their entries outside the columns J, columns K2 from
    all columns by their entries outside the rows I;

        ``U = argmin ||X(:,-J) - U X(K1,-J)||``, ``V = argmin ||X(-I,:) - X(-I,K2) V'||``, ``C = argmin ||X - U C V'||``

    over nonnegative U, V and C, where C does not use the block. Selected rows are as noisy as any others. Before C is
    fitted, the rows that explain X(:,-J) best with the weights U therefore replace X(K1,-J), and U is fitted again to
    them; V likewise. Selections of different sizes are nested: 8, 16, 32 or 64 are selected, and the one that is needed
    least is left out, one after the other.

    A larger pair adds something if what it changes in the predictions is correlated with what the smaller one leaves:
    if the mean over the blocks of ``cos(P_larger - P_smaller, X - P_smaller)`` is more than four standard errors above
    zero, and its square, the share of what is left that the change can explain, is above 0.7 % for each side that is
    larger. The recommended pair has the smallest
    ``n_rows + n_cols`` among those to which no larger pair that was tried adds something. Its error need not be the
    smallest one, which `RankChoice.best` shows: structure that is weak is found although its estimate is so noisy that
    predictions get worse by it.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    ranks : iterable of int or of pairs, optional
        The ranks to try: ``range(2, 12)`` for as many rows as columns, or pairs ``[(5, 5), (10, 10), (10, 20)]`` of
        ``n_rows`` and ``n_cols``. Default: 1, 2, 3, 4, 6, 8, 11, 16, ... of both, up to 64 or the size of X, until the
        recommended rank and that with the smallest error are among the smaller half; then ranks between the recommended
        one and the next smaller one, by bisection; then fewer rows or fewer columns.
    method : str or callable
        The selection method: a name that `CoSeparableNMF` accepts, or a function ``(X, n_rows, n_cols) -> Selection``.
    scaling : {"degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None
        The norm of the model, as in `CoSeparableNMF`: selections and errors are those of the scaled matrix.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as: rows are multiplied by the square roots of their weights. Default: 1.
    random_state : int, RandomState instance or None
        Seed of the random folds, and of a method that draws random numbers.
    n_jobs : int, optional
        Number of selections that run at the same time, each in a process of its own, at most one for each processor;
        -1 uses all processors. Default: one. The result does not depend on it. Processes take seconds to start.
    callback : callable, optional
        Called as ``callback("rank", step, max_steps, smallest error so far)`` before the first selection, with step 0,
        and each time that the rows without one fold of columns, or the columns without one fold of rows, are done.

    Returns
    -------
    RankChoice

    Raises
    ------
    ValueError
        If X has a single row or column, or if ranks are larger than the number of rows or columns outside a fold.

    Notes
    -----
    Structure that is much weaker than the noise is not found, and the recommendation is then too small. Neither is a
    row or column that would explain less than about 0.7 % of what the others leave, however little the noise is. If
    the true numbers of rows and columns differ, the rank of X is the smaller one. The larger one is found without
    noise, usually with noise of 1 %, and seldom with more.

    The cost is that of eight selections, with weights, for each of 8, 16, 32 and 64 rows and columns that is reached,
    and of weights for each pair. No dense array of the size of X is created. If there are more than 4000 rows
    (columns), a random sample of 4000 is used, and the reason says so.

    Selected rows are single rows, and others may not be able to replace them. If whole rows were held out, as in
    cross-validation of a factorization, important rows would be missing in every fourth selection; here a part of
    each row is always seen. If the ranks are smaller than the structure of X, the rows and the columns of two separate
    selections may describe different parts of it. Then the error is larger than that of one selection on all of X.

    Warnings of the method, for example that it found fewer rows than requested, are not shown; the error is that of the
    rows and columns it found. The recommendation does not depend on the scale of X. Transposing X swaps ``n_rows`` and
    ``n_cols`` if the method treats rows and columns alike.

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
        msg = f"X of shape {M.shape} must have at least two rows and two columns, to predict some from the others."
        raise ValueError(msg)
    select = method_named(method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
    n_jobs = check_jobs(n_jobs)
    check_callback(callback)
    weights = check_weights(sample_weight, M.shape[0])
    scaling = check_scaling(scaling, M.shape)
    seed = int(check_random(random_state).randint(2**31))
    sample, note = _sample(scale(M, scaling, weights)[0], seed)
    limits = tuple(size - ceil(size / n_folds(sample.shape)) for size in sample.shape)
    pairs = None if ranks is None else check_ranks(ranks, limits[0], limits[1])
    search = RankSearch(BiCrossValidation(sample, select, seed, n_jobs), callback)
    if pairs is None:
        search.try_default(min(LARGEST_DEFAULT_RANK, *limits))
    else:
        search.try_all(pairs, max_calls=len({level_of(size) for pair in pairs for size in pair}))
    n_rows, n_cols = search.recommended()
    params = {"n_rows": n_rows, "n_cols": n_cols, "method": method, "scaling": scaling}
    return RankChoice(n_rows, n_cols, _reason(search) + note, _table(search), params)


def smallest_error(table: Table) -> Rank:
    """Return the pair with the smallest error of a table of tried ranks, and of those the smallest."""
    n_rows, n_cols = table["n_rows"], table["n_cols"]
    first = np.lexsort((n_rows, n_rows + n_cols, table["error"]))[0]
    return int(n_rows[first]), int(n_cols[first])


def check_ranks(ranks: Any, max_rows: int, max_cols: int) -> list[Rank]:
    """Return the pairs to try, each once, in ascending order."""
    pairs: set[Rank] = set()
    for one in _iterate(ranks):
        pair = one if isinstance(one, (tuple, list, np.ndarray)) else (one, one)
        if len(pair) != 2:
            msg = f"ranks has {shown(one)}, which must be a whole number or a pair of n_rows and n_cols."
            raise ValueError(msg)
        n_rows = check_count(pair[0], "n_rows in ranks", max_rows, "the number of rows outside a fold")
        pairs.add((n_rows, check_count(pair[1], "n_cols in ranks", max_cols, "the number of columns outside a fold")))
    return sorted(pairs)


def _iterate(ranks: Any) -> Iterator[Any]:
    """Return an iterator over the ranks, of which there is at least one."""
    given: Iterator[Any] = iter(())
    first = []
    with suppress(Exception):  # any object may raise anything when it is inspected
        given = iter(() if isinstance(ranks, (str, bytes, dict)) else ranks)
        first = [next(given)]
    if not first:
        msg = f"ranks={shown(ranks)} must be whole numbers or pairs of them, such as range(2, 12) or [(5, 5), (9, 9)]."
        raise ValueError(msg)
    return chain(first, given)


def _sample(M: LocalMatrix, seed: int) -> tuple[LocalMatrix, str]:
    """Return a random part of M with at most `LARGEST_SAMPLE` rows and columns, and a sentence about it."""
    if max(M.shape) <= LARGEST_SAMPLE:
        return M.mantissa, ""
    sizes = (min(size, LARGEST_SAMPLE) for size in M.shape)
    rows, cols = (
        np.sort(np.random.RandomState(seed).permutation(size)[:few]) for size, few in zip(M.shape, sizes, strict=True)
    )
    part = M.mantissa.part(rows, cols)
    check_nonzero(part)
    return part, f" Based on a random sample of {len(rows)} rows and {len(cols)} columns."


def _table(search: RankSearch) -> Table:
    """Return all pairs that were tried."""
    tried = sorted(search.trials)
    trials = [search.trials[rank] for rank in tried]
    return {
        "n_rows": np.array([rank[0] for rank in tried]),
        "n_cols": np.array([rank[1] for rank in tried]),
        "error": np.array([trial.error for trial in trials]),
        "error_se": np.array([standard_error(trial.errors) for trial in trials]),
        "stability": np.array([trial.stability for trial in trials]),
    }


def _reason(search: RankSearch) -> str:
    """Return why the recommended pair was chosen."""
    chosen, best = search.recommended(), search.best()
    error, smallest = search.trials[chosen].error, search.trials[best].error
    if smallest >= 1.0:
        return f"No structure: no pair predicts held-out entries better than zeros do, so {_named(chosen)}, the fewest."
    if len(search.trials) == 1:
        return f"{_named(chosen)}, with a held-out error of {error:.3g}, is the only pair that was tried."
    if chosen == best:
        reason = f"{_named(chosen)} predict held-out entries best, with an error of {error:.3g}."
    else:
        reason = (
            f"{_named(chosen)}: the fewest of {len(search.trials)} pairs tried to which no larger one adds much. Their "
            f"held-out error is {error:.3g}; the smallest is {smallest:.3g}, with {_named(best)}."
        )
    if chosen == search.smallest():
        reason += " More rows and columns find no further structure."
        reason += " Fewer were not tried." if sum(chosen) > 2 else ""
    elif search.may_be_too_small():
        reason += " Larger pairs were not tried: more rows and columns may explain more."
    return reason


def _named(rank: Rank) -> str:
    """Return "1 row and 2 columns"."""
    return " and ".join(
        f"{count} {what}{'s' * (count > 1)}" for count, what in zip(rank, ("row", "column"), strict=True)
    )
