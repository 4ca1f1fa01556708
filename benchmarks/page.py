"""One Markdown page from the rows of all benchmarks."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.harness import Bar, Row, read_rows

HEAD = """# Benchmarks

Written by `make bench` from the rows in [results](results); `python -m benchmarks fits` repeats one benchmark. Unless
noted otherwise, BLAS, OpenMP and numba use one thread, everything is loaded and compiled before the clock starts,
methods are timed alternately, the best of three rounds counts, and seconds are processor time. Published data sets need
the folder named by `COSEP_DATA`.
"""
UNITS = {"s": "s", "pct": "%", "mb": "MB", "gb": "GB"}
# The columns that say where a row comes from: shown once per section, and once per page.
SOURCE, PLACE = ("cosep", "commit", "date"), ("machine", "software")


def page(items: dict[str, ModuleType], folder: Path) -> str:
    """Return the page for the rows in a folder, with the bars first."""
    rows = {name: read_rows(path) if (path := folder / f"{name}.csv").exists() else [] for name in items}
    bars = [(name, bar) for name, item in items.items() for bar in item.bars(rows[name])]
    sections = [section(name, item, rows[name]) for name, item in items.items()]
    return "\n".join([HEAD, said([row for some in rows.values() for row in some], PLACE), summary(bars), *sections])


def summary(bars: Iterable[tuple[str, Bar]]) -> str:
    """Return the table of all bars and their verdicts."""
    lines = [
        {
            "benchmark": f"[{name}](#{name})",
            "what": bar.what,
            "figure": "" if bar.figure is None else f"{bar.figure:.4g}",
            "bar": f"{'at least' if bar.at_least else 'at most'} {shown(bar.limit)}",
            "verdict": "**missed**" if bar.verdict == "missed" else bar.verdict,
        }
        for name, bar in bars
    ]
    return table(lines)


def section(name: str, item: ModuleType, rows: list[Row]) -> str:
    """Return the docstring of the module, its summary if it has one, and its rows."""
    text = f"## {name}\n\n{inspect.getdoc(item)}\n"
    if not rows:
        return f"{text}\nNot measured yet.\n"
    measured = [{key: value for key, value in row.items() if key not in SOURCE + PLACE} for row in rows]
    first = item.summary(rows) if hasattr(item, "summary") else []
    return "\n".join([text, *(table(some) for some in (first, measured) if some), said(rows, SOURCE)])


def said(rows: list[Row], names: Iterable[str]) -> str:
    """Return the distinct values of some columns as sentences."""
    return "".join(f"{line}.\n" for line in sorted({", ".join(str(row[name]) for name in names) for row in rows}))


def table(rows: list[Row]) -> str:
    """Return a Markdown table with all columns that any row has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [[heading(name) for name in names], ["---"] * len(names)]
    lines += [[shown(row.get(name), name) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def heading(name: str) -> str:
    """Return the name of a column as words, with its unit."""
    *words, last = name.split("_")
    if last not in UNITS:
        return name.replace("_", " ")
    return f"{' '.join(words)}, {UNITS[last]}" if words else UNITS[last]


def shown(value: Any, name: str = "") -> str:
    """Return a number with a readable number of digits."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if name.endswith("_pct"):
        return f"{value:.2f}"
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.0e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
