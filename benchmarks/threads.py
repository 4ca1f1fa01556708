"""One and two threads: seconds of fits, and whether the selection stays the same.

Each number of threads runs in a process of its own, which has that many for BLAS, OpenMP and numba; two are what a user
has on two cores without any settings. `default` is `CoSeparableNMF(r, r)`, NMF is scikit-learn's (`init="nndsvd"`,
`max_iter=200`), `cosfgm` a fit with that method in the plain norm. `s` are seconds of the processor, `wall_s` of the
clock: on a busy machine the second thread does not help.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.decomposition import NMF

from benchmarks.data import DOCUMENTS, TABLES, TINY, Problem
from benchmarks.harness import Bar, Row, isolated, on_sets, race, total, warm
from benchmarks.invariance import Pair, pair, same
from cosep import CoSeparableNMF

SETS = (*DOCUMENTS, "digits", "images", *TABLES)
COUNTS = (1, 2)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set."""
    return on_sets(TINY if tiny else SETS, compare)


def compare(problem: Problem) -> Row:
    """Return the seconds on one thread and on two."""
    row: Row = {}
    selections: dict[str, list[Pair]] = {}
    for count in COUNTS:
        times, found = isolated(run, threads=count)(problem)
        row |= {f"{name}_{count}_{unit}": seconds for (name, unit), seconds in times.items()}
        for name, selection in found.items():
            selections.setdefault(name, []).append(selection)
    return row | {f"same_{name}": same(problem.X, *both) for name, both in selections.items()}


def run(problem: Problem) -> tuple[dict[tuple[str, str], float], dict[str, Pair]]:
    """Return seconds by method and unit, and the selections."""
    warm()
    X, r = problem.X, problem.r
    calls: dict[str, Callable[[], Any]] = {
        "default": lambda: CoSeparableNMF(r, r).fit(X),
        "nmf": lambda: NMF(r, init="nndsvd", max_iter=200, random_state=0).fit(X),
        "cosfgm": lambda: CoSeparableNMF(r, r, method="cosfgm", scaling=None).fit(X),
    }
    times, found = {}, {}
    for unit, now in (("s", time.process_time), ("wall_s", time.perf_counter)):
        for name, timed in race(now=now, **calls).items():
            times[name, unit] = timed.seconds
            if name != "nmf":
                found[name] = pair(timed.answer.result_.selection)
    return times, found


def bars(rows: list[Row]) -> list[Bar]:
    """Compare two threads with one, and with NMF, and allow no change of the selection."""
    known = [row for row in rows if "default_1_s" in row]
    answers = [row[name] for row in known for name in ("same_default", "same_cosfgm")]

    def ratio(one: str, other: str) -> float | None:
        return total(known, one) / total(known, other) if known else None

    return [
        Bar("selections that depend on the number of threads", answers.count("no") if answers else None, 0),
        Bar("default on two threads: processor seconds, of those on one", ratio("default_2_s", "default_1_s"), 1.3),
        Bar("default on two threads: seconds of the clock, of NMF's", ratio("default_2_wall_s", "nmf_2_wall_s"), 0.6),
    ]
