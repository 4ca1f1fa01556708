"""The methods that the paper compares with, next to the approximations that it prints, in percent.

Pan and Ng (2023), tables of section 5: tr23, k1b and the faces. Documents are preselected to at most 500 x 500 weighted
representatives, as published, and rows and columns are selected from these without normalization. The factors are
fitted to the whole matrix. SPAC and SPAR are SPA on the columns and on the rows. GSPA and GS-FGM split r themselves.
GS-FGM is the best of ten penalties from 1e-3 to 10, as published, from either start. MV-NMF takes rows as mixtures.

The bar is the distance from the printed figure. GS-FGM has no published code: its start and its stopping rule are our
interpretation. Which start comes closer differs between the sets, so the closer one counts; see docs/paper.md.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.data import Problem, load
from benchmarks.harness import Bar, Row, clock, say, warm
from cosep import Factorization, Selection, gsfgm, gspa, mix, mix_generalized, preselect, relative_approximation, spa
from cosep.nmf.ahals import ahals
from cosep.nmf.minvol import minvol
from experiments.data import MissingDataError

SIZE = 500
PENALTIES = np.logspace(-3, 1, 10)
PRINTED: dict[str, dict[str, float]] = {
    "tr23": {"SPAC": 67.44, "SPAR": 71.74, "GSPA": 66.61, "GS-FGM": 71.47, "A-HALS": 73.37, "MV-NMF": 73.33},
    "k1b": {"SPAC": 10.20, "SPAR": 7.79, "GSPA": 9.83, "GS-FGM": 9.83, "A-HALS": 13.80, "MV-NMF": 13.65},
    "faces": {"SPAC": 82.90, "GSPA": 81.51, "GS-FGM": 83.02, "A-HALS": 89.45, "MV-NMF": 87.95},
}


class Task(NamedTuple):
    """A matrix, the rank, its weighted representatives, and the positions of these rows and columns."""

    X: Any
    r: int
    block: Any
    rows: Any
    cols: Any

    def back(self, chosen: Selection) -> Selection:
        """Return the selected representatives as rows and columns of X."""
        rows, cols = chosen.row_indices, chosen.col_indices
        return Selection(None if rows is None else self.rows[rows], None if cols is None else self.cols[cols])


def shrink(problem: Problem) -> Task:
    """Preselect at most 500 rows and columns."""
    X, r = problem.X, problem.r
    (rows, a), (cols, b) = (representatives(side) for side in (X.T, X))
    block = X[rows][:, cols]
    left, right = scipy.sparse.diags_array(a), scipy.sparse.diags_array(b)
    return Task(X, r, left @ block @ right, rows, cols)


def representatives(X: Any) -> tuple[Any, Any]:
    """Return columns and their weights; all columns if there are few."""
    n = X.shape[1]
    if n <= SIZE:
        return np.arange(n), np.ones(n)
    kept = preselect(X, SIZE)
    return kept.representatives, kept.weights


def spac(task: Task) -> Factorization:
    """Select columns by SPA."""
    return mix(task.X, task.back(spa(task.block, task.r, normalize=False)))


def spar(task: Task) -> Factorization:
    """Select rows by SPA."""
    return mix(task.X, task.back(spa(task.block.T, task.r, normalize=False).T))


def either(task: Task) -> Factorization:
    """Select rows plus columns by GSPA."""
    return mix_generalized(task.X, task.back(gspa(task.block, task.r, normalize=False)))


def best_penalty(task: Task, start: str) -> Factorization:
    """Select rows plus columns by GS-FGM, with the penalty that explains most."""
    options: dict[str, Any] = {"normalize": False, "tol": 1e-2, "start": start}
    chosen = (gsfgm(task.block, task.r, penalty=penalty, **options) for penalty in PENALTIES)
    fits = [mix_generalized(task.X, task.back(selection)) for selection in chosen]
    return min(fits, key=lambda fit: fit.relative_error(task.X))


METHODS: dict[str, Callable[[Task], Factorization]] = {
    "SPAC": spac,
    "SPAR": spar,
    "GSPA": either,
    "GS-FGM from GSPA": partial(best_penalty, start="gspa"),
    "GS-FGM from zero": partial(best_penalty, start="zero"),
    "A-HALS": lambda task: ahals(task.X, task.r),
    "MV-NMF": lambda task: minvol(task.X.T, task.r).T,
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per set and method."""
    warm()
    for name in ("planted", "sports") if tiny else PRINTED:
        say(f"  {name}")
        try:
            problem = load(name)
        except MissingDataError as missing:
            yield {"set": name, "note": str(missing)}
            continue
        seconds, task = clock(partial(shrink, problem))
        yield {"set": name, "method": "preselection", "s": seconds, "note": " x ".join(map(str, task.block.shape))}
        for method, call in METHODS.items():
            seconds, fit = clock(partial(call, task))
            ours = 100 * relative_approximation(task.X, fit)
            printed = PRINTED.get(name, {}).get(method.split(" from ")[0])
            difference = {} if printed is None else {"printed_pct": printed, "difference_pct": ours - printed}
            yield {"set": name, "method": method, "ours_pct": ours, **difference, "s": seconds, "split": split(fit)}


def split(fit: Factorization) -> str:
    """Return how many rows and columns were selected."""
    if fit.selection is None:
        return ""
    sides = (fit.selection.row_indices, fit.selection.col_indices)
    return " + ".join(str(0 if side is None else len(side)) for side in sides)


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the distance from the printed figures with 1.5 points; for GS-FGM the closer start counts."""
    apart: dict[tuple[str, str], float] = {}
    for row in rows:
        if "difference_pct" in row:
            key = row["set"], row["method"].split(" from ")[0]
            apart[key] = min(apart.get(key, np.inf), abs(row["difference_pct"]))
    names = dict.fromkeys(method for _, method in apart) or ["SPAC", "SPAR", "GSPA", "GS-FGM", "A-HALS", "MV-NMF"]
    return [
        Bar(
            f"distance from the printed approximation in points, {name}",
            max((value for (_, method), value in apart.items() if method == name), default=None),
            1.5,
        )
        for name in names
    ]
