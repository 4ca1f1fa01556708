"""One and two threads: seconds of `cosfgm` and of a whole fit with it, and whether the selection stays the same.

The limit holds for BLAS, OpenMP and numba; each count runs in a process of its own. Wall-clock time: on a busy machine
the second thread does not help.
"""

import time
from collections.abc import Iterator

from benchmarks.data import TINY, Problem
from benchmarks.harness import Bar, Row, isolated, on_sets, race, warm
from benchmarks.invariance import Pair, pair, same
from cosep import CoSeparableNMF, cosfgm

SETS = ("k1b", "ohscal", "TDT30")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set."""
    return on_sets(TINY if tiny else SETS, compare)


def compare(problem: Problem) -> Row:
    """Return the seconds on one thread and on two."""
    (selection, fit, alone), (selection_on_two, fit_on_two, together) = (
        isolated(run, threads=count)(problem) for count in (1, 2)
    )
    return {
        "selection_1_s": selection,
        "selection_2_s": selection_on_two,
        "fit_1_s": fit,
        "fit_2_s": fit_on_two,
        "same_selection": same(problem.X, alone, together),
    }


def run(problem: Problem) -> tuple[float, float, Pair]:
    """Return the seconds of the selection and of the fit, and the selection."""
    warm()
    X, r = problem.X, problem.r
    times = race(
        now=time.perf_counter,
        selection=lambda: cosfgm(X, r, r),
        fit=lambda: CoSeparableNMF(n_rows=r, n_cols=r, method="cosfgm", scaling=None).fit(X),
    )
    return times["selection"].seconds, times["fit"].seconds, pair(times["selection"].answer)


def bars(rows: list[Row]) -> list[Bar]:
    """Allow no change of the selection by a second thread."""
    answers = [row["same_selection"] for row in rows if "same_selection" in row]
    return [Bar("sets whose selection depends on the number of threads", answers.count("no") if answers else None, 0)]
