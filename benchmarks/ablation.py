"""What each part of `faithful` is worth: `CoSeparableNMF(r, r)` as it is, and with one part changed.

Means over the document sets, in percent, of what [defaults](#defaults) measures there, and the sum of seconds; one run,
all variants of a set one after the other. Differences below a point of accuracy are within the lottery of ties. `exact`
counts the matrices of 60 x 50 with 6 planted rows and columns whose rows and columns are all found: without noise, and
with noise of a thousandth where the condition of the planted core is below 100. Their rows have about equal sums, and
their columns: `scaling="degree"` leaves them as they are.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import DOCUMENTS, TINY, Problem
from benchmarks.defaults import averages, choose
from benchmarks.harness import Bar, Row, rows_on_sets, say, warm
from benchmarks.invariance import pair
from cosep import CoSeparableNMF, Factorization, Selection, greedy, index_accuracy, make_coseparable
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices


class Variant(NamedTuple):
    """What is changed: names of the module of `faithful`, and the scaling of the model."""

    changes: dict[str, Any]
    scaling: str | None = None


def stay(M: LocalMatrix, positions: Any, cols: Any, rows: Any) -> Any:  # noqa: ARG001 - stands in for `exchange`
    """Exchange nothing."""
    return cols


def no_choice(M: LocalMatrix, r: int, w: Any, **_: Any) -> tuple[Indices, None]:  # noqa: ARG001 - stands in for SPA
    """Choose nothing, which explains less than anything else."""
    return np.zeros(0, dtype=np.intp), None


def no_topics(M: LocalMatrix, r: int, budget: Any) -> tuple[Array, Array]:  # noqa: ARG001 - stands in for `extrapolated`
    """Return components that nothing is like."""
    return np.zeros((M.shape[0], r)), np.zeros((M.shape[1], r))


def greedy_topics(M: LocalMatrix, r: int, budget: Any) -> tuple[Array, Array]:  # noqa: ARG001 - as above
    """Return the columns and rows of the greedy choice: nothing is more like them than they are."""
    rows, cols = greedy(M.T.values, r).col_indices, greedy(M.values, r).col_indices
    return M.take(cols=cols), M.take(rows=rows).T


VARIANTS = {
    "as it is": Variant({}),
    "without exchanges": Variant({"exchange": stay}),
    "without the core's error": Variant({"CORE": 0.0}),
    "core's error times 0.3": Variant({"CORE": 0.3}),
    "core's error times 3": Variant({"CORE": 3.0}),
    "without SPA's choice": Variant({"pursue": no_choice}),
    "without topics": Variant({"extrapolated": no_topics}),
    "greedy choice for topics": Variant({"extrapolated": greedy_topics}),
    "topics to 1e-3": Variant({"TOPICS_TOL": 1e-3}),
    "topics to 1e-6": Variant({"TOPICS_TOL": 1e-6}),
    "1 rival": Variant({"RIVALS": 1}),
    "2 rivals": Variant({"RIVALS": 2}),
    "8 rivals": Variant({"RIVALS": 8}),
    "16 rivals": Variant({"RIVALS": 16}),
    'scaling="degree"': Variant({}, "degree"),
}
SEEDS = 30
NOISE = 1e-3
WELL_CONDITIONED = 100.0


@contextmanager
def changed(variant: Variant) -> Iterator[None]:
    """Have the module of `faithful` changed for a while."""
    # By name: as an attribute of its package it is the function.
    module = sys.modules["cosep.select.faithful"]
    before = {name: getattr(module, name) for name in variant.changes}
    vars(module).update(variant.changes)
    try:
        yield
    finally:
        vars(module).update(before)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row for each variant."""
    warm()
    fits = [row for row in rows_on_sets(TINY if tiny else DOCUMENTS, compare) if "variant" in row]
    say("  planted")
    for name, variant in VARIANTS.items():
        texts = [row for row in fits if row["variant"] == name]
        yield {
            "variant": name,
            **(averages(texts) if texts else {}),
            "exact": recovered(variant, 0.0, 2 if tiny else SEEDS),
            "exact_with_noise": recovered(variant, NOISE, 2 if tiny else SEEDS),
        }


def compare(problem: Problem) -> Iterator[Row]:
    """Yield one row for each variant on a data set."""
    for name, variant in VARIANTS.items():
        with changed(variant):
            model = CoSeparableNMF(problem.r, problem.r, scaling=variant.scaling)
            yield {"variant": name, **choose(problem, model)}


def recovered(variant: Variant, noise: float, seeds: int) -> str:
    """Say how many planted selections are found, of how many that can be."""
    found = []
    for seed in range(seeds):
        X, truth = make_coseparable(60, 50, 6, 6, noise=noise, random_state=seed)
        core = X[np.ix_(*pair(truth))]
        if noise and Factorization(np.eye(6), core, np.eye(6)).diagnose_core().condition >= WELL_CONDITIONED:
            continue
        with changed(variant):
            model = CoSeparableNMF(6, 6, scaling=variant.scaling).fit(X)
        found.append(index_accuracy(Selection(model.row_indices_, model.col_indices_), truth) == 1.0)
    return f"{sum(found)} of {len(found)}"


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - every benchmark has this function
    """Promise nothing: this page shows, it does not judge."""
    return []
