"""Fits in blocks compared with the exact method in memory: fidelities and clusters, set by set.

The document sets of the paper are fitted by `CoSeparableNMF` in memory and in blocks of rows, in the default norm and
in the plain one (`scaling=None`). The sample has the default size (8192, which is all rows of most sets), 2000 and 1000
rows, if that is at most six tenths of the rows. The ratios are those of the fidelities of rows, columns, core and
refitted factors, shares of squares in the norm of the model; 1 is as good as in memory. In the default norm every
document counts about alike, and single ones explain little, so that it matters more which of them are sampled. Clusters
are compared by the accuracy of the paper, with the true classes of documents. Then follow planted matrices
(`make_coseparable`), in which fits in memory and in blocks should find the same rows and columns. With noise, several
rows fit equally well: `error ratio` is the sum of what rows, columns and core leave unexplained in blocks over that in
memory. Last, parts of the strategy are left out: means over the document sets with a sample of 1000 rows, and over the
planted matrices.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

import cosep.fit.column_factors
import cosep.fit.sample_selection
from benchmarks.data import DOCUMENTS, Problem
from benchmarks.harness import Bar, Row, rows_on_sets, say
from cosep import CoSeparableNMF, Selection, clustering_accuracy, index_accuracy, make_coseparable, row_blocks
from cosep.fit.candidates import directions
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices

SAMPLES = (None, 2000, 1000)
NORMS = ("degree", None)
# A sample with more than this share of the rows would show nothing.
LARGEST_SHARE = 0.6
PLANTED = ((20_000, 100, 5), (50_000, 100, 10))
NOISES, SEEDS = (0.0, 0.01), 3
PARTS = ("row", "col", "core")
ALL_PARTS = (*PARTS, "refitted")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and sample size, and one per planted matrix."""
    sizes = (20,) if tiny else SAMPLES
    yield from rows_on_sets(
        ("planted", "sports") if tiny else DOCUMENTS, lambda problem: compared(problem, sizes, NORMS)
    )
    yield from planted(tiny=tiny)
    for variant in VARIANTS:
        say(f"  {variant}")
        yield ablated(variant, tiny=tiny)


def ablated(variant: str, *, tiny: bool) -> Row:
    """Return means over the document sets and the planted matrices, without one part of the strategy."""
    with ExitStack() as stack:
        for name, value in VARIANTS[variant].items():
            home = cosep.fit.column_factors if name == "MAX_STEPS" else cosep.fit.sample_selection
            stack.enter_context(patch.object(home, name, value))
        names = ("planted",) if tiny else [name for name in DOCUMENTS if name != "sports"]
        sizes = (20,) if tiny else (1000,)
        on_sets = [row for row in rows_on_sets(names, lambda problem: compared(problem, sizes)) if "row_ratio" in row]
        on_planted = list(planted(tiny=tiny))
    ratios = [f"{part}_ratio" for part in ALL_PARTS]
    means = {name: float(np.mean([row[name] for row in on_sets])) for name in ratios if on_sets}
    found = float(np.mean([row["planted_found_pct"] for row in on_planted]))
    return {"set": variant, "asked": "ablation", **means, "planted_found_pct": found}


def only(kind: int) -> Callable[..., tuple[Array, Array]]:
    """Return a search for only typical rows (0) or only extreme rows (1)."""

    def one_kind(Z: LocalMatrix, chosen: Indices) -> tuple[Array, Array]:
        found = directions(Z, chosen)
        return (found[0], found[1][:, :0]) if kind == 0 else (found[0][:, :0], found[1])

    return one_kind


VARIANTS: dict[str, dict[str, Any]] = {
    "all parts": {},
    "no search for candidates": {"MAX_SEARCHES": 0},
    "one search": {"MAX_SEARCHES": 1},
    "typical candidates alone": {"directions": only(0)},
    "extreme candidates alone": {"directions": only(1)},
    "one pass for factors": {"MAX_STEPS": 1},
}


def compared(problem: Problem, sizes: Iterable[int | None], norms: Iterable[str | None] = ("degree",)) -> Iterable[Row]:
    """Yield one row per norm and sample size."""
    for scaling, size in product(norms, sizes):
        if size is not None and size > LARGEST_SHARE * problem.X.shape[0]:
            continue
        exact = CoSeparableNMF(problem.r, problem.r, scaling=scaling).fit(problem.X)
        fit = CoSeparableNMF(problem.r, problem.r, scaling=scaling, sample_size=size)
        fit.fit(row_blocks(problem.X))
        ratios = {
            f"{part}_ratio": getattr(fit, f"{part}_fidelity_") / getattr(exact, f"{part}_fidelity_")
            for part in ALL_PARTS
        }
        yield {
            "norm": str(scaling),
            "rows": problem.X.shape[0],
            "sampled": len(fit.sample_indices_),
            "asked": "default" if size is None else size,
            "passes": fit.n_passes_,
            **ratios,
            "accuracy": clustering_accuracy(problem.row_classes, np.asarray(fit.row_labels_)),
            "accuracy_in_memory": clustering_accuracy(problem.row_classes, exact.row_labels_),
        }


def planted(*, tiny: bool) -> Iterator[Row]:
    """Yield one row per planted matrix."""
    for m, n, r in ((400, 30, 3),) if tiny else PLANTED:
        for noise, seed in product(NOISES, range(1 if tiny else SEEDS)):
            name = f"planted {m} x {n}, {r} and {r}, noise {noise:g}, seed {seed}"
            X, truth = make_coseparable(m, n, r, r, noise=noise, random_state=seed)
            yield {"set": name, **same_planted(X, truth, r, 100 if tiny else 4000)}


def same_planted(X: Any, truth: Selection, r: int, sampled: int) -> Row:
    """Fit a planted matrix in memory and in blocks; return how many rows and columns differ."""
    exact = CoSeparableNMF(r, r).fit(X)
    fit = CoSeparableNMF(r, r, sample_size=sampled).fit(row_blocks(X))
    return {
        "rows": len(X),
        "sampled": len(fit.sample_indices_),
        "asked": sampled,
        "passes": fit.n_passes_,
        "different_from_in_memory": sum(
            len(set(getattr(exact, side)) ^ set(getattr(fit, side))) for side in ("row_indices_", "col_indices_")
        ),
        "error_ratio": _unexplained(fit) / max(_unexplained(exact), 1e-9),
        "planted_found_pct": 100 * index_accuracy(Selection(fit.row_indices_, fit.col_indices_), truth),
    }


def _unexplained(model: CoSeparableNMF) -> float:
    """Return the sum of the shares that rows, columns and core leave unexplained."""
    return sum(1.0 - float(getattr(model, f"{part}_fidelity_")) for part in PARTS)


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the smallest ratios, and the differences on planted data, with their limits."""
    cases = [("None", "default"), ("None", 2000), ("degree", "default"), ("degree", 2000)]
    least = {
        (norm, asked): [
            row[f"{part}_ratio"]
            for row in rows
            if (row.get("norm"), row.get("asked")) == (norm, asked)
            for part in PARTS
        ]
        for norm, asked in cases
    }
    on_planted = [row for row in rows if "error_ratio" in row]
    differ = [row["different_from_in_memory"] for row in on_planted if "noise 0," in row["set"]]
    noisy = [row["error_ratio"] for row in on_planted if "noise 0," not in row["set"]]
    return [
        *(
            Bar(
                f"norm {norm}: fidelity in blocks / in memory, smallest over sets and sides, sample: {asked}",
                min(least[norm, asked], default=None),
                0.97,
                at_least=True,
            )
            for norm, asked in cases
        ),
        Bar("without noise, planted: differences from memory", float(sum(differ)) if differ else None, 0.0),
        Bar("with noise, planted: unexplained in blocks / in memory, largest", max(noisy, default=None), 1.01),
    ]
