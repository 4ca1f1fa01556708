"""A progress bar on a terminal."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cosep.kernels.compile import is_compiled
from cosep.utils.types import Callback

# What the stages of the library's callbacks are called. The number of rounds of some is not known in advance.
STAGES = {
    "read": "reading",
    "statistics": "reading all rows",
    "draw": "drawing a sample of rows",
    "sample": "fetching a sample of rows",
    "candidates": "searching all rows for better ones",
    "factors": "fitting the factors to all rows",
    "outcome": "measuring what is explained",
    "rows": "explaining all rows",
    "rank": "trying ranks",
    "preselect": "looking for candidates",
    "topics": "looking for topics",
    "select": "selecting rows and columns",
    "mix": "fitting the factors",
    "label": "sorting into clusters",
    "explain": "explaining the selection",
    "path": "ordering the selection",
    "stability": "selecting again from parts of the data",
    "write": "writing",
}
OPEN_ENDED = {"read", "topics", "select", "mix", "label", "write"}


@contextmanager
def progress(console: Console, *, quiet: bool = False) -> Iterator[Callback | None]:
    """Give a callback that moves a progress bar if the console is a terminal, otherwise None."""
    if quiet or not console.is_terminal:
        yield None
        return
    if not is_compiled():
        console.print("compiling numerical kernels, first run only")
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task, shown = bars.add_task("starting", total=None), ""

        def callback(stage: str, step: int, most_steps: int, error: float) -> None:
            nonlocal shown
            if stage not in STAGES:  # steps within a round of the selection, which is shown already
                return
            if stage != shown:
                bars.reset(task, total=None if stage in OPEN_ENDED else most_steps)
                shown = stage
            rounds = f": round {step}" if stage in OPEN_ENDED and most_steps > 1 else ""
            known = "" if math.isnan(error) else f", error {error:.3f}"
            bars.update(task, completed=step, description=f"{STAGES[stage]}{rounds}{known}")

        yield callback


def no_progress(stage: str, step: int, most_steps: int, error: float) -> None:
    """Ignore progress."""
