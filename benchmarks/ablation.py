"""The effect of each part of `faithful`: `CoSeparableNMF(r, r)` by default, and with one part changed.

Means over the document sets, in percent, of what [defaults](#defaults) measures, and the total time in seconds. One
run, with all variants of a set one after another. Differences in accuracy below one point are within the variation due
to ties. `exact` counts the 60 x 50 matrices with 6 planted rows and columns for which all of them are found: without
noise, and with noise of 1e-3 if the condition number of the planted core is below 100. The rows of these matrices have
about equal sums, and so have the columns, so that `scaling="degree"` hardly changes them.
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
    """What is changed: names in the module of `faithful`, and the scaling of the model."""

    changes: dict[str, Any]
    scaling: str | None = None


def stay(M: LocalMatrix, positions: Any, cols: Any, rows: Any) -> Any:  # noqa: ARG001 - stands in for `exchange`
    """Make no exchanges."""
    return cols


def no_choice(M: LocalMatrix, r: int, w: Any, **_: Any) -> tuple[Indices, None]:  # noqa: ARG001 - stands in for SPA
    """Return an empty selection, which explains less than any other."""
    return np.zeros(0, dtype=np.intp), None


def no_topics(M: LocalMatrix, r: int, budget: Any) -> tuple[Array, Array]:  # noqa: ARG001 - stands in for `extrapolated`
    """Return components that no row or column resembles."""
    return np.zeros((M.shape[0], r)), np.zeros((M.shape[1], r))


def greedy_topics(M: LocalMatrix, r: int, budget: Any) -> tuple[Array, Array]:  # noqa: ARG001 - as above
    """Return the rows and columns selected by `greedy` as components: each is most similar to itself."""
    rows, cols = greedy(M.T.raw, r).col_indices, greedy(M.raw, r).col_indices
    return M.take(cols=cols), M.take(rows=rows).T


VARIANTS = {
    "default": Variant({}),
    "without exchanges": Variant({"exchange": stay}),
    "without the core's error": Variant({"CORE_WEIGHT": 0.0}),
    "core's error times 0.3": Variant({"CORE_WEIGHT": 0.3}),
    "core's error times 3": Variant({"CORE_WEIGHT": 3.0}),
    "without the selection of SPA": Variant({"pursue": no_choice}),
    "without topics": Variant({"extrapolated": no_topics}),
    "greedy selection instead of topics": Variant({"extrapolated": greedy_topics}),
    "topics to 1e-3": Variant({"TOPICS_TOL": 1e-3}),
    "topics to 1e-6": Variant({"TOPICS_TOL": 1e-6}),
    "1 rival": Variant({"N_RIVALS": 1}),
    "2 rivals": Variant({"N_RIVALS": 2}),
    "8 rivals": Variant({"N_RIVALS": 8}),
    "16 rivals": Variant({"N_RIVALS": 16}),
    'scaling="degree"': Variant({}, "degree"),
}
SEEDS = 30
NOISE = 1e-3
WELL_CONDITIONED = 100.0


@contextmanager
def changed(variant: Variant) -> Iterator[None]:
    """Change the module of `faithful` temporarily."""
    # By name, because the attribute of the package is the function.
    module = sys.modules["cosep.select.faithful"]
    before = {name: getattr(module, name) for name in variant.changes}
    vars(module).update(variant.changes)
    try:
        yield
    finally:
        vars(module).update(before)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per variant."""
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
    """Yield one row per variant on a data set."""
    for name, variant in VARIANTS.items():
        with changed(variant):
            model = CoSeparableNMF(problem.r, problem.r, scaling=variant.scaling)
            yield {"variant": name, **choose(problem, model)}


def recovered(variant: Variant, noise: float, seeds: int) -> str:
    """Return how many planted selections are found, and how many can be."""
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
    """Return no bars."""
    return []
