"""What must not change the selection: the unit of the data, the order of rows and columns, the number of threads.

The selection of X is compared with that of 3 X and 0.37 X, of X with its rows and columns permuted, and with that on
two threads. Identical rows may replace each other: two selections are the same if the selected rows and the selected
columns have the same contents. `cosfgm` runs on the document sets. `faithful`, and the default `CoSeparableNMF(r, r)`,
which runs it in the degree norm, run on harder versions of them, in which the rows and columns that `faithful` selects,
and as many others, are repeated. Transposing X must also swap their rows and columns.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.data import DOCUMENTS, TINY, Problem
from benchmarks.harness import Bar, Row, isolated, rows_on_sets
from cosep import CoSeparableNMF, Selection
from cosep.select import BOTH_SELECTORS
from cosep.utils.types import Indices

Pair = tuple[Indices, Indices]
DEFAULT = "default"


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and method."""
    return rows_on_sets(TINY if tiny else DOCUMENTS, compare)


def compare(problem: Problem) -> Iterator[Row]:
    """Yield one row per method."""
    yield {"method": "cosfgm", **changes(problem, "cosfgm")}
    tied = repeated(problem)
    for method in ("faithful", DEFAULT):
        swapped = select(tied._replace(X=tied.X.T), method)[::-1]
        transposed = same(tied.X, select(tied, method), swapped)
        yield {"method": method, **changes(tied, method), "transposed": transposed}


def repeated(problem: Problem) -> Problem:
    """Repeat the selected rows and columns, and as many others."""
    random, X = np.random.default_rng(0), problem.X
    for side in select(problem, "faithful"):
        more = random.choice(X.shape[0], len(side), replace=False)
        X = X[np.concatenate([np.arange(X.shape[0]), side, more])].T
    return problem._replace(X=X)


def changes(problem: Problem, method: str) -> Row:
    """Return for each change whether the selection stays the same."""
    X = problem.X
    random = np.random.default_rng(0)
    rows, cols = random.permutation(X.shape[0]), random.permutation(X.shape[1])
    before = select(problem, method)
    permuted = select(problem._replace(X=X[rows][:, cols]), method)
    after = {
        "times_3": select(problem._replace(X=X * 3), method),
        "times_0.37": select(problem._replace(X=X * 0.37), method),
        "permuted": (rows[permuted[0]], cols[permuted[1]]),
        "two_threads": isolated(select, threads=2)(problem, method),
    }
    return {change: same(X, before, pair) for change, pair in after.items()}


def select(problem: Problem, method: str) -> Pair:
    """Return the rows and columns selected by a selector or, in its own norm, by the default."""
    if method == DEFAULT:
        model = CoSeparableNMF(problem.r, problem.r).fit(problem.X)
        return np.asarray(model.row_indices_), np.asarray(model.col_indices_)
    return pair(BOTH_SELECTORS[method](problem.X, problem.r, problem.r))


def pair(chosen: Selection) -> Pair:
    """Return both sides of a selection."""
    return np.asarray(chosen.row_indices), np.asarray(chosen.col_indices)


def same(X: Any, before: Pair, after: Pair) -> str:
    """Return whether two selections have the same contents."""
    sides = zip((X, X.T), before, after, strict=True)
    return "yes" if all(_contents(M, one) == _contents(M, other) for M, one, other in sides) else "no"


def _contents(X: Any, rows: Indices) -> list[bytes]:
    chosen = X.tocsr()[rows].toarray() if hasattr(X, "tocsr") else X[rows]
    return sorted(row.tobytes() for row in chosen)


def bars(rows: list[Row]) -> list[Bar]:
    """Allow no change of the selection."""
    answers = {
        method: [row for row in rows if row.get("method") == method] for method in ("cosfgm", "faithful", DEFAULT)
    }
    return [
        Bar(
            f"sets of {len(some)} whose selection by {method} changes",
            sum("no" in row.values() for row in some) if some else None,
            0,
        )
        for method, some in answers.items()
    ]
