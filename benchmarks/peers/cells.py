"""Cells of a grid: every tool of a question on every set, and the answers of a tool on some matrices."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Row
from benchmarks.peers.process import Limits, Run, run_all
from benchmarks.peers.tools import Tool

# Processor seconds of one call in the full grid, and in the short one.
LIMIT, SHORT_LIMIT = Limits(30.0), Limits(15.0)


def of_tools(tools: Iterable[Tool], **key: Any) -> Iterator[Row]:
    """Yield one key per tool."""
    for tool in tools:
        yield key | {"tool": tool.name, "setting": tool.setting}


def tool_with(tools: Iterable[Tool], key: Row) -> Tool:
    """Return the tool of a key."""
    return next(tool for tool in tools if (tool.name, tool.setting) == (key["tool"], key["setting"]))


def answers(tool: Tool, matrices: Sequence[Any], k: int, limits: Limits | None = None, *, full: bool) -> list[Run]:
    """Return what a tool answers on each matrix with each of its seeds."""
    limits = limits or (LIMIT if full else SHORT_LIMIT)
    given = [X.T if tool.transposed else X for X in matrices]
    return run_all(tool.call, given, k, tool.seeds(full=full), limits)


def averaged(runs: Sequence[Run], figures: Sequence[Row], main: str) -> Row:
    """Return the means of the figures, the spread of the main one, and the mean cost of a call."""
    row: Row = {"seeds": len(runs)}
    for name in dict.fromkeys(name for some in figures for name in some):
        known = [some[name] for some in figures if some.get(name) is not None]
        if known:
            row[name] = float(np.mean(known))
    if len(figures) > 1:
        row["spread"] = float(np.std([some[main] for some in figures]))
    cost = {"s": [run.seconds for run in runs], "mb": [run.megabytes for run in runs]}
    return row | {name: float(np.mean(values)) for name, values in cost.items()}
