"""Rows of all benchmarks enter, one Markdown page leaves."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.harness import Bar, Row, read_rows

HEAD = """# Benchmarks

Made by `make bench` out of the rows in [results](results); `python -m benchmarks fits` measures one item again. Where
nothing else is said: one thread for BLAS, OpenMP and numba, everything loaded and compiled before the clock starts,
competitors take turns, the best of three rounds counts, seconds are the processor's. Published data sets need
`COSEP_DATA`, the folder that holds them.
"""
UNITS = {"s": "s", "pct": "%", "mb": "MB", "gb": "GB"}
# What tells where a row comes from: said once for a section, and once for the page.
SOURCE, PLACE = ("cosep", "commit", "date"), ("machine", "software")


def page(items: dict[str, ModuleType], folder: Path) -> str:
    """Return the page for the rows that are in a folder, bars first."""
    rows = {name: read_rows(path) if (path := folder / f"{name}.csv").exists() else [] for name in items}
    bars = [(name, bar) for name, item in items.items() for bar in item.bars(rows[name])]
    sections = [section(name, item, rows[name]) for name, item in items.items()]
    return "\n".join([HEAD, said([row for some in rows.values() for row in some], PLACE), summary(bars), *sections])


def summary(bars: Iterable[tuple[str, Bar]]) -> str:
    """Return the table of all bars and what became of them."""
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
    """Return what is measured, in the words of the module, its summary if it has one, and the rows."""
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
    """Return a number with as many digits as one reads."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if name.endswith("_pct"):
        return f"{value:.2f}"
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.0e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
