"""Selections that grow: `CoSeparableNMF(r, r)` grown to 2 r rows and columns, and a fresh model of that size.

The document sets are raw counts of their 1000 most frequent words; r is their number of classes. Other data: the
docstrings of SciPy and scikit-learn, digits, faces as rows (`images`), and five tables (counts, grey values, trade).
The default norm. One run.

- kept: the share of the rows and columns of the small model that are the first of the grown one, in the same order;
- rows, columns, core: the fidelity of the grown model as a share of that of the fresh one;
- grow s, fresh s: seconds of `grow`, and of the fit of a fresh model;
- path s: seconds of `selection_path` for the fresh model; `path error`: the largest difference between its last
  fidelities and those of the model;
- rows, columns of 90: how many of the first selected rows, and columns, explain 90 percent of what all 2 r do.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.data import DOCUMENTS, TABLES, TINY, Problem, load
from benchmarks.harness import Bar, Row, clock, on_sets, total, warm
from cosep import CoSeparableNMF, selection_path
from cosep.utils.types import Array

OTHERS = ("docstrings", "digits", "images", *TABLES)
PARTS = ("rows", "columns", "core")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set."""
    warm()
    compare(load("planted"))
    return on_sets(TINY if tiny else (*DOCUMENTS, *OTHERS), compare)


def compare(problem: Problem) -> Row:
    """Grow a model, and compare it with a fresh one of the same size."""
    X, r = problem.X, problem.r
    sizes = [min(2 * r, size) for size in X.shape]
    small = CoSeparableNMF(r, r).fit(X)
    growing, grown = clock(partial(small.grow, X, *sizes))
    fitting, fresh = clock(partial(CoSeparableNMF(*sizes).fit, X))
    ordering, path = clock(lambda: selection_path(X, fresh))
    ends = np.array([path.rows[-1], path.cols[-1], path.core[-1]])
    return {
        "r": r,
        "kept_pct": 100 * kept(small, grown),
        **{f"{part}_share": share for part, share in zip(PARTS, of_fresh(grown, fresh), strict=True)},
        "grow_s": growing,
        "fresh_s": fitting,
        "path_s": ordering,
        "path_error": float(np.abs(ends - fidelities(fresh)).max()),
        "rows_of_90": path.n_needed(0.9, part="rows", of="all"),
        "columns_of_90": path.n_needed(0.9, part="cols", of="all"),
    }


def kept(small: CoSeparableNMF, grown: CoSeparableNMF) -> float:
    """Return the share of selected rows and columns that are in the same place."""
    pairs = ((small.row_indices_, grown.row_indices_), (small.col_indices_, grown.col_indices_))
    sides = [(np.asarray(before), np.asarray(after)) for before, after in pairs]
    return float(np.mean(np.concatenate([before == after[: len(before)] for before, after in sides])))


def of_fresh(grown: CoSeparableNMF, fresh: CoSeparableNMF) -> list[float]:
    """Return the fidelities of rows, columns and core as shares of those of the fresh model."""
    return [float(share) for share in fidelities(grown) / fidelities(fresh)]


def fidelities(model: CoSeparableNMF) -> Array:
    """Return the fidelities of rows, columns and core."""
    return np.array([model.row_fidelity_, model.col_fidelity_, model.core_fidelity_])


def summary(rows: list[Row]) -> list[Row]:
    """Return the means and the smallest shares over all sets."""
    some = [row for row in rows if "kept_pct" in row]
    names = [f"{part}_share" for part in PARTS]
    return [
        {
            "over": f"{len(some)} sets",
            "figure": word,
            **{name: float(figure([row[name] for row in some])) for name in names},
        }
        for word, figure in (("mean", np.mean), ("smallest", np.min))
        if some
    ]


def bars(rows: list[Row]) -> list[Bar]:
    """Compare with the limits."""
    some = [row for row in rows if "kept_pct" in row]

    def least(name: str) -> float | None:
        return min((row[name] for row in some), default=None)

    return [
        Bar(f"selected rows and columns that stay, {len(some)} sets, percent", least("kept_pct"), 100, at_least=True),
        *(
            Bar(
                f"fidelity of the {part} of that of a fresh model, smallest",
                least(f"{part}_share"),
                0.97,
                at_least=True,
            )
            for part in PARTS
        ),
        Bar(
            "difference between the last fidelities of a path and those of its model, largest",
            max((row["path_error"] for row in some), default=None),
            1e-9,
        ),
        Bar("seconds of the paths, as a share of those of the fits", ratio(some), 1.0),
    ]


def ratio(rows: list[Row]) -> float | None:
    """Return the total seconds of the paths by those of the fits."""
    return total(rows, "path_s") / total(rows, "fresh_s") if rows else None
