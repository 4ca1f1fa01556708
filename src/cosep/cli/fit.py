"""The command ``cosep fit``: read, fit, describe, write, print.

INPUT is a matrix in memory (`MatrixSource`) or in blocks of rows (`BlockSource`); both go through the same steps.
"""

import time
import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from rich.console import Console

from cosep.assess.rank import RankChoice
from cosep.cli.console import json_text, print_json, print_lines, table_console
from cosep.cli.exit_codes import with_option_names
from cosep.cli.folder import FILES, complete_folder
from cosep.cli.progress import no_progress, progress
from cosep.cli.summary import print_findings, summary_of
from cosep.cli.tables import formula_warning, save_core, save_table, share_columns
from cosep.findings.record import Findings, Nouns
from cosep.matrix.checks import check_choice, check_count, check_jobs, check_number
from cosep.matrix.scaling import SCALINGS
from cosep.records.factorization import Factorization
from cosep.select import BOTH_SELECTORS
from cosep.utils.extras import check_installed
from cosep.utils.types import Callback

# Rows, and columns, that are selected by default.
DEFAULT_COUNT = 10


@dataclass(frozen=True)
class FitOptions:
    """How to fit.

    Attributes
    ----------
    n_rows, n_cols : int, optional
        How many rows and columns to select. Default: 10, or all of them if there are fewer.
    method : str
        How to select them.
    scaling : str, optional
        The norm of the model; None for the plain norm.
    weights : path, optional
        File with the weight of each row.
    choose_rank : bool
        Find out how many rows and columns to select first.
    ranks : list, optional
        The ranks to try then. Default: those of `cosep.choose_rank`.
    report : bool
        Write report.html.
    n_draws : int
        How often to select again from parts of the data, for the report.
    n_jobs : int
        How many processes select at the same time.
    kept : tuple of int, optional
        How many rows and columns come from an earlier answer. Default: none.
    missing : str, optional
        Which entries are missing: "nan" or "unstored". Default: none.
    title : str
        What the data are called.
    row_noun, col_noun : str, optional
        What a row and a column are called. Default: what the data tell, or "row" and "column".
    """

    n_rows: int | None = None
    n_cols: int | None = None
    method: str = "faithful"
    scaling: str | None = "degree"
    weights: Path | None = None
    choose_rank: bool = False
    ranks: Any = None
    report: bool = True
    n_draws: int = 10
    n_jobs: int = 1
    kept: tuple[int, int] | None = None
    missing: str | None = None
    title: str = ""
    row_noun: str | None = None
    col_noun: str | None = None


@dataclass(frozen=True)
class OutputOptions:
    """How to print the answer.

    Attributes
    ----------
    as_json : bool
        As one JSON object.
    quiet : bool
        Not at all.
    """

    as_json: bool = False
    quiet: bool = False


class FitSource(Protocol):
    """What is fitted: a matrix in memory, or in blocks of rows."""

    choice: RankChoice | None
    nouns: tuple[str, str] | None

    def session(self) -> AbstractContextManager[None]:
        """Return the context in which everything runs, such as a connection to a cluster."""

    def read(self) -> tuple[int, int]:
        """Read the data, or open it; return its shape. Names that no table can hold raise ValueError."""

    def fit(self, options: FitOptions, meta: dict[str, Any], callback: Callback | None) -> Factorization:
        """Return the factorization to save, with names and with ``meta``."""

    def describe(self, record: Factorization, folder: Path, callback: Callback) -> Findings:
        """Return the findings, and write what belongs to single rows to the folder."""

    def more(self, found: Findings, record: Factorization) -> dict[str, Any]:
        """Return further entries of the summary."""

    def write_report(
        self, path: Path, found: Findings, record: Factorization, options: FitOptions, callback: Callback | None
    ) -> tuple[str, ...]:
        """Write the page; return what it says about exchanges that would improve the selection."""

    def finish(self) -> None:
        """Clean up once the answer is in its folder."""


def run(source: FitSource, out: Path, options: FitOptions, output: OutputOptions, command: str) -> dict[str, Any]:
    """Read, fit, describe and write, then print what was found; progress is shown on a terminal only."""
    start = time.perf_counter()
    with (
        progress(Console(stderr=True), quiet=output.quiet or output.as_json) as callback,
        source.session(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", UserWarning)
        report_progress = callback or no_progress
        report_progress("read", 0, 1, np.nan)
        check_options(options, source.read())
        with complete_folder(out) as folder:
            meta: dict[str, Any] = {"method": options.method, "scaling": options.scaling, "command": command}
            meta |= naming(options, source.nouns)
            if options.kept is not None:
                meta |= {"kept_rows": options.kept[0], "kept_cols": options.kept[1]}
            record = source.fit(options, meta, callback)
            raised = list(dict.fromkeys(with_option_names(str(one.message)) for one in caught))
            raised += formula_warning(np.asarray(record.row_names), np.asarray(record.col_names))
            described = replace(record, meta={**record.meta, "warnings": raised})
            found = source.describe(described, folder, report_progress)
            report_progress("write", 0, 1, np.nan)
            write_model(folder, record, found)
            improved: tuple[str, ...] = ()
            if options.report:
                improved = source.write_report(folder / "report.html", found, described, options, callback)
            summary = summary_of(found) | source.more(found, record) | meta
            summary |= {"versions": found.versions, "warnings": [*found.warnings, *improved]}
            summary["seconds"] = round(time.perf_counter() - start, 3)
            (folder / "summary.json").write_text(f"{json_text(summary)}\n", encoding="utf-8")
    source.finish()
    summary["files"] = [str(out / name) for name in FILES if (out / name).exists()]
    print_answer(found, summary, source.choice, output)
    return summary


def naming(options: FitOptions, nouns: tuple[str, str] | None) -> dict[str, Any]:
    """Return what the data, a row and a column are called, as far as it is known, to be stored with the model."""
    row, col = Nouns() if nouns is None else nouns
    chosen = [options.row_noun or row, options.col_noun or col]
    known = {} if chosen == [*Nouns()] else {"nouns": chosen}
    return known | ({"title": options.title} if options.title else {})


def check_options(options: FitOptions, shape: tuple[int, int]) -> None:
    """Raise ValueError or ImportError for options that cannot be met, before any work is done."""
    check_count(default_count(options.n_rows, shape[0]), "n_rows", shape[0], "n_samples")
    check_count(default_count(options.n_cols, shape[1]), "n_cols", shape[1], "n_features")
    check_choice(options.method, "method", BOTH_SELECTORS)
    if options.scaling is not None:
        check_choice(options.scaling, "scaling", SCALINGS)
    check_number(options.n_draws, "stability", 0)
    check_jobs(options.n_jobs, "jobs")
    for package in ("plotly", "jinja2") if options.report else ():
        check_installed(package, "The report (omit it with --no-report)", "cli")


def default_count(asked: int | None, size: int) -> int:
    """Return how many of ``size`` rows or columns to select."""
    return min(DEFAULT_COUNT, size) if asked is None else asked


def write_model(folder: Path, record: Factorization, found: Findings) -> None:
    """Write the model, its core, and the table of columns."""
    save_table(folder / "columns.csv", share_columns(found.cols))
    record.save(folder / "model.npz")
    save_core(folder / "core.csv", found)


def print_answer(found: Findings, summary: dict[str, Any], choice: RankChoice | None, output: OutputOptions) -> None:
    """Print the answer as JSON, as text, or not at all."""
    if output.as_json:
        print_json(summary)
        return
    if output.quiet:
        return
    console = table_console()
    # Of other numbers than those that were asked for, the report says what they predict.
    if choice is not None and (choice.n_rows, choice.n_cols) == (summary["n_rows"], summary["n_cols"]):
        print_lines(console, choice.reason)
    print_findings(found, console)
    lines = [*summary["warnings"], f"Done in {summary['seconds']:.1f} s. Written:"]
    print_lines(console, *lines, *(f"  {file}" for file in summary["files"]))
