"""Rows of all cells of an experiment: those on disk as they are, the others computed and stored.

A row is identified by its key: what was run on which data, with which parameters and seeds, in which version of the
experiment. Numbers are rounded to the digits that are printed. Seconds, commit and versions are columns of their own,
so that a row that is run again changes only in these.
"""

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context, parent_process
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.harness import THREADS, environment, read_rows, stamp, warm, write_rows

Row = dict[str, Any]
# Told of every row, and no part of the result.
PROVENANCE = ("seconds", "commit", "software")


def fill(experiment: ModuleType, path: Path, *, tiny: bool = False, jobs: int = 2) -> list[Row]:
    """Return one row for each cell, in the order of the cells; each is on disk as soon as it is known.

    Rows that belong to no cell any more are dropped, but for those of data sets that are not at hand. Of a run that is
    interrupted only the cells under way are lost. All keys of an experiment have the same names.
    """
    keys = [{"version": experiment.VERSION, **key} for key in experiment.cells(tiny=tiny)]
    held = read_rows(path) if path.exists() else []
    if not keys:
        return held
    known = {identity_of(row, keys[0]): row for row in held}
    missing = [key for key in keys if identity_of(key, key) not in known]
    at_hand = {key.get("set") for key in keys}
    elsewhere = [row for row in held if row.get("set") not in at_hand]

    def keep() -> list[Row]:
        rows = [known[identity] for key in keys if (identity := identity_of(key, key)) in known] + elsewhere
        partial = path.with_suffix(".partial")
        write_rows(partial, rows)
        partial.replace(path)
        return rows

    name, made_by = experiment.__name__.rpartition(".")[2], stamp()
    with progress(name, len(keys), len(keys) - len(missing)) as advance:
        for key, figures in compute(experiment.__name__, missing, jobs):
            known[identity_of(key, key)] = key | figures | {part: made_by[part] for part in ("commit", "software")}
            keep()
            advance()
    return keep()


def identity_of(row: Row, key: Row) -> tuple[tuple[str, str], ...]:
    """Return the key columns of a row, as text."""
    return tuple((name, str(row.get(name, ""))) for name in key)


def compute(name: str, keys: list[Row], jobs: int) -> Iterator[tuple[Row, Row]]:
    """Yield each key with its numbers as they are computed, by this many processes of one thread each."""
    if not keys:
        return
    with (
        environment(dict.fromkeys(THREADS, "1")),
        ProcessPoolExecutor(min(jobs, len(keys)), mp_context=get_context("spawn"), initializer=prepare) as pool,
    ):
        waiting: dict[Future[Row], Row] = {pool.submit(run_cell, name, key): key for key in keys}
        try:
            while waiting:
                for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(done), done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def prepare() -> None:
    """Compile everything in a new process, quietly; it is to end with the one that started it, however that ends."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore", UserWarning)
    warm()


def end_with_parent() -> None:
    """Wait until the process that started this one is gone, and leave."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_cell(name: str, key: Row) -> Row:
    """Return the figures of one cell."""
    # Some of these methods give degenerate cores and unproven gaps; the numbers show them.
    with warnings.catch_warnings(category=UserWarning, action="ignore"):
        figures: Row = import_module(name).run({part: value for part, value in key.items() if part != "version"})
    return figures


@contextmanager
def progress(name: str, total: int, done: int) -> Iterator[Callable[[], None]]:
    """Yield a function that advances a progress bar or, if the output is not a terminal, prints a line now and then."""
    console = Console(stderr=True)
    if not console.is_terminal:
        count = done

        def line() -> None:
            nonlocal count
            count += 1
            if count == total or count % max(1, total // 20) == 0:
                console.print(f"{name}: {count} of {total}", highlight=False)

        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left:"), TimeRemainingColumn(), console=console) as bars:
        task = bars.add_task(name, total=total, completed=done)
        yield lambda: bars.advance(task)
