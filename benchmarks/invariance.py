"""What must not change the selection: the unit of the data, the order of rows and columns, the number of threads.

`cosfgm` on X, on 3 X and 0.37 X, on X with its rows and columns permuted, and on two threads. Rows that are identical
may stand for one another: selections are the same if the chosen rows have the same contents, and the chosen columns.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.data import DOCUMENTS, TINY, Problem
from benchmarks.harness import Bar, Row, isolated, on_sets
from cosep import Selection, cosfgm
from cosep.matrix.local import Indices

Pair = tuple[Indices, Indices]


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row for each data set."""
    return on_sets(TINY if tiny else DOCUMENTS, compare)


def compare(problem: Problem) -> Row:
    """Say for each change whether the selection stays."""
    X = problem.X
    random = np.random.default_rng(0)
    rows, cols = random.permutation(X.shape[0]), random.permutation(X.shape[1])
    before = select(problem)
    permuted = select(problem._replace(X=X[rows][:, cols]))
    after = {
        "times_3": select(problem._replace(X=X * 3)),
        "times_0.37": select(problem._replace(X=X * 0.37)),
        "permuted": (rows[permuted[0]], cols[permuted[1]]),
        "two_threads": isolated(select, threads=2)(problem),
    }
    return {change: same(X, before, pair) for change, pair in after.items()}


def select(problem: Problem) -> Pair:
    """Return the chosen rows and columns."""
    return pair(cosfgm(problem.X, problem.r, problem.r))


def pair(chosen: Selection) -> Pair:
    """Return both sides of a selection."""
    return np.asarray(chosen.row_indices), np.asarray(chosen.col_indices)


def same(X: Any, before: Pair, after: Pair) -> str:
    """Say whether two selections have the same contents."""
    sides = zip((X, X.T), before, after, strict=True)
    return "yes" if all(_contents(M, one) == _contents(M, other) for M, one, other in sides) else "no"


def _contents(X: Any, rows: Indices) -> list[bytes]:
    chosen = X.tocsr()[rows].toarray() if hasattr(X, "tocsr") else X[rows]
    return sorted(row.tobytes() for row in chosen)


def bars(rows: list[Row]) -> list[Bar]:
    """Nothing may change the answer."""
    answers = [list(row.values()) for row in rows if "permuted" in row]
    changed = sum("no" in values for values in answers)
    return [Bar(f"of {len(answers)} sets, those whose selection changes", changed if answers else None, 0)]
