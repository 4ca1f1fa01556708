"""A matrix with names enters; a folder with its model, tables, summary and report leaves."""

import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import cosep
from cosep.assess.explanation import explain
from cosep.assess.rank import RankChoice, choose_rank
from cosep.assess.stability import Stability, stability
from cosep.cli.folder import FILES, complete_folder
from cosep.cli.summary import Output, json_text, show, summarize, wide_enough
from cosep.cli.tables import formula_warning, refuse_zero_bytes, save_table, write_rows
from cosep.cli.watching import nobody, watching
from cosep.estimators import CoSeparableNMF
from cosep.findings.topics import topics_of
from cosep.findings.wording import count
from cosep.io import NamedMatrix
from cosep.matrix.checks import check_choice, check_count, check_number
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import SCALINGS, scale
from cosep.matrix.validation import as_matrix
from cosep.metrics import clustering_accuracy
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.report import write_report
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method
from cosep.utils.types import Array, Callback

# Rows and columns that are selected where nobody says how many.
ENOUGH = 10


@dataclass(frozen=True)
class Wishes:
    """How to fit: sizes (None for the usual ones), method, scaling, ranks to try first, and what the report needs."""

    n_rows: int | None = None
    n_cols: int | None = None
    method: str = "faithful"
    scaling: str | None = None
    choose: bool = False
    ranks: Any = None
    report: bool = True
    draws: int = 10


@dataclass(frozen=True)
class Manner:
    """How to speak: one JSON object, nothing at all, and what rows and columns are called."""

    as_json: bool = False
    quiet: bool = False
    row: str = "row"
    column: str = "column"


def run(read: Callable[[], NamedMatrix], out: Path, wishes: Wishes, manner: Manner, command: str) -> dict[str, Any]:
    """Read, fit, write, and say what was found; progress goes to a terminal only."""
    start = time.perf_counter()
    with watching(Console(stderr=True), quiet=manner.quiet or manner.as_json) as callback:
        tell = callback or nobody
        tell("read", 0, 1, np.nan)
        data = read()
        check(wishes, data.values.shape)
        refuse_zero_bytes(data.row_names, data.col_names)
        with complete_folder(out) as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            choice = _ranked(data.values, wishes, callback) if wishes.choose else None
            record, shares = fitted(data, wishes, choice, callback, command)
            tell("write", 0, 1, np.nan)
            M = as_matrix(data.values)
            write_tables(folder, record, M)
            summary = summarize(record, M) | shares | circumstances(wishes, command)
            if data.labels is not None:
                alone = np.zeros(len(data.labels), dtype=int)
                summary["accuracy"] = clustering_accuracy(data.labels, record.row_labels)
                summary["accuracy_of_one_cluster"] = clustering_accuracy(data.labels, alone)
            told = list(dict.fromkeys(str(one.message) for one in caught))
            told += formula_warning(data.row_names, data.col_names)
            if wishes.report:
                write_report(
                    folder / "report.html",
                    replace(record, meta={**record.meta, "warnings": told}),
                    data.values,
                    explanation=explain(record, data.values, callback=callback),
                    stability=_resampled(data.values, record, wishes, callback),
                    rank=choice,
                    texts=data.texts,
                    command=command,
                )
            summary["warnings"] = told
            summary["seconds"] = round(time.perf_counter() - start, 3)
            (folder / "summary.json").write_text(f"{json_text(summary)}\n", encoding="utf-8")
    summary["files"] = [str(out / name) for name in FILES if (out / name).exists()]
    say(summary, choice, manner)
    return summary


def check(wishes: Wishes, shape: tuple[int, int]) -> None:
    """Refuse what cannot be wished before any work is done."""
    check_count(usual(wishes.n_rows, shape[0]), "n_rows", shape[0], "n_samples")
    check_count(usual(wishes.n_cols, shape[1]), "n_cols", shape[1], "n_features")
    check_choice(wishes.method, "method", BOTH_SELECTORS)
    if wishes.scaling is not None:
        check_choice(wishes.scaling, "scaling", SCALINGS)
    check_number(wishes.draws, "stability", 0)
    for package in ("plotly", "jinja2") if wishes.report else ():
        if find_spec(package) is None:
            msg = f"The report needs {package}: install cosep[cli], or do without by --no-report."
            raise ImportError(msg)


def usual(asked: int | None, size: int) -> int:
    """Return how many to select of so many, where it may not have been said."""
    return min(ENOUGH, size) if asked is None else asked


def fitted(
    data: NamedMatrix, wishes: Wishes, choice: RankChoice | None, callback: Callback | None, command: str
) -> tuple[Factorization, dict[str, float]]:
    """Fit a matrix; return the record with names and with how text was counted, and what is explained."""
    m, n = data.values.shape
    model = CoSeparableNMF(
        usual(wishes.n_rows, m) if choice is None or wishes.n_rows is not None else choice.n_rows,
        usual(wishes.n_cols, n) if choice is None or wishes.n_cols is not None else choice.n_cols,
        method=wishes.method,
        scaling=wishes.scaling,
        callback=callback,
    ).fit(data.values)
    meta = {**model.factorization_.meta, "method": wishes.method, "scaling": wishes.scaling, "command": command}
    if data.text_options is not None:
        meta["text"] = dict(data.text_options)
    shares = {f"{part}_fidelity": getattr(model, f"{part}_fidelity_") for part in ("row", "col", "core")}
    shares["explained"] = 1.0 - float(np.sqrt(max(2.0 * meta["objective"][-1], 0.0)))
    return replace(model.factorization_, row_names=data.row_names, col_names=data.col_names, meta=meta), shares


def _resampled(X: Any, record: Factorization, wishes: Wishes, callback: Callback | None) -> Stability | None:
    """Choose again from parts of the data, so often as is asked for."""
    if wishes.draws == 0 or record.selection is None:
        return None
    return stability(X, record.selection, method=_selector(wishes), n_draws=wishes.draws, callback=callback)


def _ranked(X: Any, wishes: Wishes, callback: Callback | None) -> RankChoice:
    """Find out how many rows and columns, by the method that will select them."""
    return choose_rank(X, wishes.ranks, method=_selector(wishes), callback=callback)


def _selector(wishes: Wishes) -> Method:
    """Return what selects rows and columns as the estimator will."""
    return wishes.method if wishes.scaling is None else partial(_scaled_first, wishes.method, wishes.scaling)


def _scaled_first(method: str, scaling: str, X: Any, n_rows: int, n_cols: int) -> Selection:
    """Select rows and columns of the scaled matrix."""
    return BOTH_SELECTORS[method](scale(X, scaling)[0].values, n_rows, n_cols)


def circumstances(wishes: Wishes, command: str) -> dict[str, Any]:
    """Return what made the answer."""
    software = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {
        "method": wishes.method,
        "scaling": wishes.scaling,
        "command": command,
        "versions": {"cosep": cosep.__version__, "python": platform.python_version(), **software},
    }


def write_tables(folder: Path, record: Factorization, M: LocalMatrix) -> None:
    """Write the model, and what it says of rows, columns and core."""
    save_table(folder / "rows.csv", members(record, M))
    save_table(folder / "columns.csv", members(record.T, M.T))
    write_model(folder, record)


def write_model(folder: Path, record: Factorization) -> None:
    """Write the model, and its core as a table."""
    record.save(folder / "model.npz")
    topics = topics_of(record)
    names, anchors = np.asarray(record.row_names)[topics.rows], np.asarray(record.col_names)[topics.cols]
    with (folder / "core.csv").open("w", newline="", encoding="utf-8") as file:
        lines = ([name, *values] for name, values in zip(names, np.asarray(record.core).tolist(), strict=True))
        write_rows(file, [["", *anchors], *lines])


def members(record: Factorization, M: LocalMatrix) -> dict[str, Any]:
    """Return the table of all rows.

    A selected row explains ``<X, u x> / ||X||^2`` by its weights u in all rows; over the selected rows these add up to
    ``1 - (1 - fidelity)^2``.
    """
    topics = topics_of(record)
    chosen = M.take(rows=topics.rows)
    explains = np.einsum("ik,ik->k", topics.row_weights, M.dot(chosen.T)) / M.squared_norm()
    return table(record, np.linalg.norm(chosen, axis=1), explains, record.row_errors(M))


def table(record: Factorization, norms: Array, explains: Array, errors: Array) -> dict[str, Any]:
    """Return for each row its name, cluster, nearest representative, how well it is explained, and what it explains.

    Given are the norms of the selected rows and what they explain, and the errors of all rows.
    """
    topics, names = topics_of(record), np.asarray(record.row_names)
    parts = topics.row_weights * norms
    sums = parts.sum(axis=1)
    shares = np.full(len(names), np.nan)
    shares[topics.rows] = explains
    return {
        "name": names,
        "cluster": record.row_labels,
        "representative": np.where(sums > 0, names[topics.rows][parts.argmax(axis=1)], ""),
        "membership": _numbers(parts.max(axis=1) / np.where(sums > 0, sums, np.nan)),
        "selected": np.isin(np.arange(len(names)), topics.rows).astype(int),
        "explained": _numbers(1.0 - errors),
        "explains": _numbers(shares),
    }


def _numbers(values: NDArray[Any]) -> list[float | None]:
    """Return shares to four digits, and nothing where there is none."""
    return [None if isnan(value) else value for value in np.round(values, 4).tolist()]


def say(summary: dict[str, Any], choice: RankChoice | None, manner: Manner) -> None:
    """Print the answer: for machines, for people, or not at all."""
    if manner.as_json:
        Output(soft_wrap=True).out(json_text(summary), highlight=False)
        return
    if manner.quiet:
        return
    console = wide_enough()
    (m, n), row, column = summary["shape"], manner.row, manner.column
    chosen = f"{count(summary['n_rows'], row)} and {count(summary['n_cols'], column)}"
    head = f"{count(m, row)} x {count(n, column)}: {chosen} speak for the rest."
    console.print(head, *([] if choice is None else [choice.reason]), sep="\n", highlight=False, markup=False)
    show(summary, console, row=row, column=column)
    lines = []
    if "accuracy" in summary:
        ours, alone = summary["accuracy"], summary["accuracy_of_one_cluster"]
        lines.append(
            f"Clusters against the labels, by the paper's measure: {ours:.3f} (one single cluster: {alone:.3f})."
        )
    lines += [*summary["warnings"], f"Done in {summary['seconds']:.1f} s. Written:"]
    console.print(*lines, *(f"  {file}" for file in summary["files"]), sep="\n", highlight=False, markup=False)
