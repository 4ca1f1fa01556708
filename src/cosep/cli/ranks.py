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


def run(read: Callable[[], NamedMatrix], ranks: Any, plot: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Try ranks, print the errors and the recommendation, and draw the curve if asked to."""
    with progress(Console(stderr=True), quiet=quiet or as_json) as callback:
        if plot is not None and not plot.parent.is_dir():
            msg = f"plot={str(plot)!r} is in a folder that does not exist; name another file."
            raise ValueError(msg)
        choice = choose_rank(read().values, ranks, callback=callback)
    if plot is not None:
        from cosep.plots import rank_curve  # noqa: PLC0415 - plotly takes a second

        with complete_file(plot, "plot") as part:
            rank_curve(choice).write_html(part)
    if as_json:
        table = {name: column.tolist() for name, column in choice.table.items()}
        print_json({"n_rows": choice.n_rows, "n_cols": choice.n_cols, "reason": choice.reason, "table": table})
    elif not quiet:
        print_choice(choice, table_console())


def print_choice(choice: RankChoice, console: Console) -> None:
    """Print every rank that was tried, with a mark at the recommended one."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("rows", "columns", "error, held out", "standard error", "stability", ""):
        table.add_column(title, justify="right")
    for n_rows, n_cols, error, spread, stability in zip(*choice.table.values(), strict=True):
        best = "recommended" if (n_rows, n_cols) == (choice.n_rows, choice.n_cols) else ""
        table.add_row(str(n_rows), str(n_cols), f"{error:.4f}", f"{spread:.4f}", f"{stability:.2f}", best)
    console.print(table, highlight=False)
    print_lines(console, choice.reason)
