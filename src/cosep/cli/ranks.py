"""The command ``cosep rank``: how many rows and columns to select."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from cosep.assess.rank import RankChoice, choose_rank
from cosep.cli.console import print_json, print_lines, table_console
from cosep.cli.folder import complete_file
from cosep.cli.progress import progress
from cosep.io import NamedMatrix
from cosep.io.weights import read_weights
from cosep.matrix.checks import check_jobs


def run(
    read: Callable[[], NamedMatrix],
    ranks: Any,
    norm: tuple[str | None, Path | None],
    plot: Path | None,
    jobs: int,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Try ranks, with some jobs at a time, print the errors and the recommendation, and draw the curve if asked to.

    ``norm`` is the norm of the model, and the file with the weights of the rows.
    """
    with progress(Console(stderr=True), quiet=quiet or as_json) as callback:
        if plot is not None and not plot.parent.is_dir():
            msg = f"plot={str(plot)!r} is in a folder that does not exist; name another file."
            raise ValueError(msg)
        check_jobs(jobs, "jobs")
        (scaling, file), data = norm, read()
        weights = None if file is None else read_weights(file, data.row_names)
        choice = choose_rank(data.values, ranks, scaling=scaling, sample_weight=weights, n_jobs=jobs, callback=callback)
    if plot is not None:
        from cosep.plots import rank_curve  # noqa: PLC0415 - plotly takes a second

        with complete_file(plot, "plot") as part:
            rank_curve(choice).write_html(part)
    if as_json:
        table = {name: column.tolist() for name, column in choice.table.items()}
        answer = {"n_rows": choice.n_rows, "n_cols": choice.n_cols, "best": choice.best, "reason": choice.reason}
        print_json({**answer, "table": table})
    elif not quiet:
        print_choice(choice, table_console())


def print_choice(choice: RankChoice, console: Console) -> None:
    """Print every rank that was tried, with marks at the recommended one and at the smallest error."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("rows", "columns", "error, held out", "standard error", "stability", ""):
        table.add_column(title, justify="right")
    marks = {choice.best: "smallest error", (choice.n_rows, choice.n_cols): "recommended"}
    for n_rows, n_cols, error, spread, stability in zip(*choice.table.values(), strict=True):
        mark = marks.get((n_rows, n_cols), "")
        table.add_row(str(n_rows), str(n_cols), f"{error:.4f}", f"{spread:.4f}", f"{stability:.2f}", mark)
    console.print(table, highlight=False)
    print_lines(console, choice.reason)
