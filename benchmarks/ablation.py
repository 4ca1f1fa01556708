"""The effect of each part of `faithful`: the choice by default, and with one part changed.

`texts` and `tables` are the sum of errors that `faithful` lowers, with the core's error at 0.3 of its weight, as a
multiple of that of the default: means over the document sets, and over the docstrings, digits, images and tables, each
in the plain and in the default norm. `families` and `worst` are the mean and the largest multiple of the smallest sum
of all choices on the small matrices of [optimum](#optimum). `documents_pct` and `words_pct` are the accuracies of the
clusters of `CoSeparableNMF`, and `s` the seconds of all choices on the document sets. `exact` counts the 60 x 50
matrices with 6 planted rows and columns for which all of them are found: without noise, and with noise of 1e-3 if the
condition number of the planted core is below 100.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.data import DOCUMENTS, TABLES, TINY, Problem
from benchmarks.harness import Bar, Row, clock, rows_on_sets, say, warm
from benchmarks.invariance import pair
from benchmarks.optimum import FAMILIES, SIZES, exact_sum, ratio
from cosep import CoSeparableNMF, Factorization, Selection, clustering_accuracy, faithful, index_accuracy
from cosep.datasets import make_coseparable
from cosep.matrix.scaling import scale
from cosep.select.column_choice import sum_of_errors
from cosep.select.greedy import greedy_columns
from cosep.select.starts import first_choices

OTHERS = ("docstrings", "digits", "images", *TABLES)
N_MATRICES, SEEDS, NOISE = 10, 30, 1e-3
WELL_CONDITIONED = 100.0
# A change: the name of a module, a name in it, and another value.
Change = tuple[str, str, Any]
SEARCH, START, CHOICE, MAIN = (f"cosep.select.{name}" for name in ("exchange", "starts", "column_choice", "faithful"))


def stay(M: Any, positions: Any, cols: Any, rows: Any, **_: Any) -> Any:  # noqa: ARG001 - stands in for `exchange`
    """Make no exchanges."""
    return cols


def without_start(number: int) -> Callable[..., Any]:
    """Return first choices without one of them."""

    def others(*given: Any) -> Any:
        return [choice for at, choice in enumerate(first_choices(*given)) if at != number]

    return others


def greedy_itself(M: Any, r: int, positions: Any, T: Any, copies: Any) -> Any:  # noqa: ARG001 - like `greedy_basis`
    """Return the columns that `cosep.greedy` chooses."""
    return greedy_columns(M, r, positions)[0]


def same_start(M: Any, of_rows: Any, of_cols: Any) -> Any:
    """Return the best of the pairs of rows and columns that have the same kind of start."""
    return min(zip(of_rows, of_cols, strict=True), key=lambda pair: sum_of_errors(M, *pair))


def weight(core: float) -> list[Change]:
    """Return another weight of the core's error in the search."""
    return [(SEARCH, "CORE_WEIGHT", core), (CHOICE, "CORE_WEIGHT", core)]


VARIANTS: dict[str, list[Change]] = {
    "default": [],
    "without exchanges": [(MAIN, "exchange", stay)],
    "without the start by SPA": [(MAIN, "first_choices", without_start(0))],
    "without the start by topics": [(MAIN, "first_choices", without_start(1))],
    "without the greedy start": [(MAIN, "first_choices", without_start(2))],
    "greedy itself instead of a greedy basis": [(MAIN, "greedy_basis", greedy_itself)],
    "rows and columns of the same start": [(MAIN, "best_pair", same_start)],
    "topics to 3e-4, at most 100 iterations": [(START, "TOPICS_TOL", 3e-4), (START, "TOPICS_ITER", 100)],
    "without near rivals": [(SEARCH, "N_NEAR", 0)],
    "without far rivals": [(SEARCH, "N_FAR", 0)],
    "twice the rivals": [(SEARCH, "N_NEAR", 12), (SEARCH, "N_FAR", 8)],
    "4 exact solves at a time": [(SEARCH, "MAX_TRIALS", 4)],
    "up to 64 exact solves at a time": [(SEARCH, "MAX_TRIALS", 64), (SEARCH, "TRIAL_WORK", 2_000_000)],
    "without exchanges that fill the core": [(SEARCH, "has_zeros", lambda _: False)],
    "core's error not counted": weight(0.0),
    "core's error counted half": weight(0.5),
    "core's error counted whole": weight(1.0),
}


@contextmanager
def changed(changes: list[Change]) -> Iterator[None]:
    """Change the modules of the search temporarily."""
    for module, _, _ in changes:
        import_module(module)
    before = [(module, name, getattr(sys.modules[module], name)) for module, name, _ in changes]
    try:
        for module, name, value in changes:
            setattr(sys.modules[module], name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(sys.modules[module], name, value)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per variant."""
    warm()
    texts = [row for row in rows_on_sets(TINY if tiny else DOCUMENTS, compare) if "variant" in row]
    tables = [row for row in rows_on_sets(TINY if tiny else OTHERS, compare) if "variant" in row]
    say("  small matrices")
    for name, changes in VARIANTS.items():
        mine = [row for row in texts if row["variant"] == name]
        with changed(changes):
            ratios = [
                ratio(draw(np.random.default_rng((number, r, seed))), r)
                for number, draw in enumerate(FAMILIES.values())
                for r in SIZES
                for seed in range(1 if tiny else N_MATRICES)
            ]
        yield {
            "variant": name,
            "texts": mean(mine, "multiple"),
            "tables": mean([row for row in tables if row["variant"] == name], "multiple"),
            "families": float(np.mean(ratios)),
            "worst": float(np.max(ratios)),
            "documents_pct": mean(mine, "documents_pct"),
            "words_pct": mean(mine, "words_pct"),
            "s": float(sum(row["s"] for row in mine)),
            "exact": recovered(changes, 0.0, 2 if tiny else SEEDS),
            "exact_with_noise": recovered(changes, NOISE, 2 if tiny else SEEDS),
        }


def mean(rows: list[Row], name: str) -> float | None:
    """Return a mean over data sets."""
    figures = [row[name] for row in rows if name in row]
    return float(np.mean(figures)) if figures else None


def compare(problem: Problem) -> Iterator[Row]:
    """Yield one row per variant on a data set."""
    data = [scale(problem.X, norm)[0].raw for norm in (None, "degree")]
    defaults: list[float] = []
    for name, changes in VARIANTS.items():
        sums, seconds = [], 0.0
        for X in data:
            with changed(changes):
                taken, found = clock(partial(faithful, X, problem.r, problem.r))
            seconds += taken
            sums.append(exact_sum(X, *pair(found)))
        defaults = defaults or sums
        row: Row = {"variant": name, "multiple": float(np.mean(np.divide(sums, defaults))), "s": seconds}
        if problem.row_classes is not None and problem.col_classes is not None:
            with changed(changes):
                model = CoSeparableNMF(problem.r, problem.r).fit(problem.X)
            row["documents_pct"] = 100 * clustering_accuracy(problem.row_classes, np.asarray(model.row_labels_))
            row["words_pct"] = 100 * clustering_accuracy(problem.col_classes, np.asarray(model.column_labels_))
        yield row


def recovered(changes: list[Change], noise: float, seeds: int) -> str:
    """Return how many planted selections are found, and how many can be."""
    found = []
    for seed in range(seeds):
        X, truth = make_coseparable(60, 50, 6, 6, noise=noise, random_state=seed)
        core = X[np.ix_(*pair(truth))]
        if noise and Factorization(np.eye(6), core, np.eye(6)).diagnose_core().condition >= WELL_CONDITIONED:
            continue
        with changed(changes):
            model = CoSeparableNMF(6, 6).fit(X)
        found.append(index_accuracy(Selection(model.row_indices_, model.col_indices_), truth) == 1.0)
    return f"{sum(found)} of {len(found)}"


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - every benchmark has this function
    """Return no bars."""
    return []
