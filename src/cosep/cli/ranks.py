"""A matrix with names enters; how many rows and columns to select leaves, with the errors that say so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from cosep.assess.rank import RankChoice, choose_rank
from cosep.cli.folder import complete_file
from cosep.cli.summary import Output, json_text, wide_enough
from cosep.cli.watching import watching
from cosep.io import NamedMatrix


def run(read: Callable[[], NamedMatrix], ranks: Any, plot: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Try ranks, print the errors and the recommendation, and draw the curve if asked to."""
    with watching(Console(stderr=True), quiet=quiet or as_json) as callback:
        if plot is not None and not plot.parent.is_dir():
            msg = f"plot={str(plot)!r} is in no folder that is there; name another file."
            raise ValueError(msg)
        choice = choose_rank(read().values, ranks, callback=callback)
    if plot is not None:
        from cosep.plots import rank_curve  # noqa: PLC0415 - plotly takes a second

        with complete_file(plot, "plot") as part:
            rank_curve(choice).write_html(part)
    if as_json:
        table = {name: column.tolist() for name, column in choice.table.items()}
        answer = {"n_rows": choice.n_rows, "n_cols": choice.n_cols, "reason": choice.reason, "table": table}
        Output(soft_wrap=True).out(json_text(answer), highlight=False)
    elif not quiet:
        show(choice, wide_enough())


def show(choice: RankChoice, console: Console) -> None:
    """Print every rank that was tried; the one that is recommended is marked."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("rows", "columns", "error, held out", "standard error", "stability", ""):
        table.add_column(title, justify="right")
    for n_rows, n_cols, error, spread, stability in zip(*choice.table.values(), strict=True):
        best = "recommended" if (n_rows, n_cols) == (choice.n_rows, choice.n_cols) else ""
        table.add_row(str(n_rows), str(n_cols), f"{error:.4f}", f"{spread:.4f}", f"{stability:.2f}", best)
    console.print(table, highlight=False)
    console.print(choice.reason, highlight=False, markup=False)
