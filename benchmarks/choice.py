"""The choice of `faithful` compared with those of other selectors: what chosen rows, columns and cores explain.

The document sets, docstrings, digits, faces as rows (`images`) and five tables, in the plain norm and in the default
norm: every method chooses r rows and r columns of the same scaled matrix. All choices are measured alike, by exact
nonnegative weights: fidelity is the share of squares that the chosen rows, the chosen columns and the core explain on
their own.

- `faithful` chooses both sides at once; `alone` is `SeparableNMF(r, method="faithful")` on each side;
- greedy: cosep's greedy column subset selection on each side;
- iterative CUR: r times, the row (column) with the largest entry in the leading singular vector of the residual, which
  is then projected away;
- NMF medoids: the rows and columns with the largest cosines to the components of scikit-learn's NMF
  (`init="nndsvda"`, `max_iter=200`);
- fastcan: `FastCan` on the r leading principal components; scikit-matter CUR: its `CUR` with its defaults.

The first table has, for each set and norm, the fidelities of `faithful` as shares of those of the best rival, and the
fidelity of the core as a share of that of the weaker side. What rivals choose is kept in `results/rivals.csv`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import DOCUMENTS, TABLES, TINY, Problem
from benchmarks.harness import Bar, Row, rows_on_sets
from benchmarks.rivals import Verdicts, all_verdicts
from cosep import SeparableNMF, faithful
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import scale
from cosep.select.column_choice import core_error, explained_by
from cosep.utils.types import Indices

SETS = (*DOCUMENTS, "docstrings", "digits", "images", *TABLES)
NORMS = {"plain": None, "degree": "degree"}
OURS, ALONE = "faithful", "alone"
SIDES = ("rows", "columns")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set, norm and method."""
    verdicts = Verdicts(None) if tiny else Verdicts()
    for name in TINY if tiny else SETS:
        yield from rows_on_sets([name], partial(compare, name=name, verdicts=verdicts))


def compare(problem: Problem, name: str, verdicts: Verdicts) -> Iterator[Row]:
    """Yield one row per norm and method."""
    r = problem.r
    for norm, scaling in NORMS.items():
        M = scale(problem.X, scaling)[0]
        sides = {"rows": M.T, "columns": M}
        yield {"norm": norm, "method": OURS, **of_both(M, r)}
        alone = {f"{side}_pct": of_columns(N, alone_on(N.raw, r)) for side, N in sides.items()}
        if None not in alone.values():
            yield {"norm": norm, "method": ALONE, **alone}
        found = {
            side: dict(all_verdicts(verdicts, N, r, {"set": name, "norm": norm, "side": side}))
            for side, N in sides.items()
        }
        for rival in found["rows"]:
            row: Row = {"norm": norm, "method": rival}
            for side in SIDES:
                verdict = found[side][rival]
                if verdict.fidelity is None:
                    row["note"] = verdict.note
                else:
                    row[f"{side}_pct"] = 100 * verdict.fidelity
            yield row


def of_both(M: LocalMatrix, r: int) -> Row:
    """Return the fidelities of `faithful` in percent."""
    chosen = faithful(M.raw, r, r)
    rows, cols = explained_by(M.T, np.asarray(chosen.row_indices)), explained_by(M, np.asarray(chosen.col_indices))
    errors = {"rows_pct": rows.error, "columns_pct": cols.error, "core_pct": core_error(M, rows, cols)}
    return {side: 100 * (1 - error) for side, error in errors.items()}


def alone_on(X: Any, r: int) -> Indices | None:
    """Return the columns that the one-sided method chooses; None if there is no such method."""
    try:
        return np.asarray(SeparableNMF(r, method="faithful").fit(X).col_indices_)
    except ValueError:
        return None


def of_columns(M: LocalMatrix, chosen: Indices | None) -> float | None:
    """Return the fidelity of some columns in percent."""
    return None if chosen is None else 100 * (1 - explained_by(M, chosen).error)


def summary(rows: list[Row]) -> list[Row]:
    """Return one row of shares per data set and norm."""
    lines: list[Row] = []
    for ours in (row for row in rows if row.get("method") == OURS):
        same = [row for row in rows if row["set"] == ours["set"] and row.get("norm") == ours["norm"]]
        alone: Row = next((row for row in same if row["method"] == ALONE), {})
        line: Row = {"set": ours["set"], "norm": ours["norm"]}
        for side in SIDES:
            figure = f"{side}_pct"
            rivals = [row for row in same if row["method"] not in (OURS, ALONE) and figure in row]
            best = max(rivals, key=lambda row, figure=figure: row[figure])  # type: ignore[misc]
            line[f"{side}_share_pct"] = 100 * ours[figure] / best[figure]
            if figure in alone:
                line[f"{side}_alone_share_pct"] = 100 * alone[figure] / best[figure]
            line[f"best_{side}"] = best["method"]
        lines.append(line | {"core_share_pct": 100 * ours["core_pct"] / min(ours[f"{side}_pct"] for side in SIDES)})
    return lines


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the shares with their limits."""
    lines = summary(rows)
    return [bar for norm in NORMS for bar in bars_in([line for line in lines if line["norm"] == norm], norm)]


def bars_in(lines: list[Row], norm: str) -> Iterator[Bar]:
    """Yield the bars of one norm."""

    def figures(*names: str) -> list[float]:
        return [line[name] / 100 for line in lines for name in names if name in line]

    both, core = figures("rows_share_pct", "columns_share_pct"), figures("core_share_pct")
    alone = figures("rows_alone_share_pct", "columns_alone_share_pct")
    over = f"{norm} norm, {len(lines)} sets"
    yield Bar(f"{over}: fidelity of a side as a share of the best rival's, mean", mean(both), 0.995, at_least=True)
    yield Bar(f"{over}: the same, least", min(both, default=None), 0.98, at_least=True)
    yield Bar(f"{over}: fidelity of the core as a share of the weaker side's, mean", mean(core), 0.95, at_least=True)
    yield Bar(f"{over}: the same, least", min(core, default=None), 0.95, at_least=True)
    yield Bar(f"{over}: one side alone as a share of the best rival's, mean", mean(alone), 1.0, at_least=True)


def mean(figures: list[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return float(np.mean(figures)) if figures else None
