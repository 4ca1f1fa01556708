"""The counts of outcomes as rows on disk, and the page made from them."""

import inspect
from pathlib import Path
from types import ModuleType

from benchmarks.harness import Row, read_rows, stamp, write_rows
from benchmarks.page import SOURCE, said, table
from fuzz.harness import Result
from fuzz.outcomes import OUTCOMES

__all__ = ["page", "row", "write_rows"]

HEAD = """# Fuzzing

Made by `make fuzz` from the rows in [results](results). A target and a seed determine a case: `python -m fuzz files
--seed 123` repeats one and shows it, `python -m fuzz files --cases 500 --seed 7` runs some. The inputs of failed cases
are kept in `fuzz/failures`. Each case runs in a child process, forked from a parent that has loaded and compiled
everything, with limits on processor time, wall time and memory.

| outcome | meaning |
| --- | --- |
| answer | the input was accepted, and all checks of the answer passed |
| clear error | a `ValueError` (exit code 2 of the command) with one readable line |
| unclear error | a `ValueError` with several lines, control characters, a printed array, or raised by another package |
| wrong exception | another type of exception, a traceback, or another exit code |
| wrong answer | another matrix, a mixed or incomplete answer, an overwritten input, executed code |
| crash | a signal ended the process |
| hang | the time limit was reached |
| out of memory | the memory limit was reached |
"""


def row(kind: str, results: list[Result], seconds: float, seed: int) -> Row:
    """Return the counts of one kind of input, with versions and machine."""
    counts = {outcome: sum(one.verdict.outcome == outcome for one in results) for outcome in OUTCOMES}
    slowest = max(one.seconds for one in results)
    facts = {"first_seed": seed, "run_s": round(seconds, 1)}
    return {"input": kind, "cases": len(results), **counts, "slowest_s": round(slowest, 2), **facts, **stamp()}


def page(targets: dict[str, ModuleType], folder: Path) -> str:
    """Return the page for the rows in a folder: totals of all targets first."""
    rows = {name: read_rows(path) if (path := folder / f"{name}.csv").exists() else [] for name in targets}
    sums = [total(name, some) for name, some in rows.items() if some]
    parts = [HEAD, table(sums) if sums else "", *(section(name, targets[name], rows[name]) for name in targets)]
    return "\n".join(parts)


def total(name: str, rows: list[Row]) -> Row:
    """Return the totals over all kinds of input of a target."""
    counts = {outcome: sum(one[outcome] for one in rows) for outcome in ("cases", *OUTCOMES)}
    return {"target": f"[{name}](#{name})", **counts, "minutes": round(float(rows[0]["run_s"]) / 60, 1)}


def section(name: str, target: ModuleType, rows: list[Row]) -> str:
    """Return the docstring of a target and its counts by kind of input."""
    text = f"## {name}\n\n{inspect.getdoc(target)}\n"
    if not rows:
        return f"{text}\nNot run yet.\n"
    columns = ("input", "cases", *OUTCOMES, "slowest_s")
    first = rows[0]["first_seed"]
    return "\n".join(
        [text, table([{key: one[key] for key in columns} for one in rows]), f"Seeds from {first}.", said(rows, SOURCE)]
    )
