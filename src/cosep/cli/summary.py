"""Findings as the JSON summary, and as the table and sentences on the console."""

from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cosep.assess.path import SelectionPath
from cosep.cli.console import print_lines
from cosep.findings.record import Findings, Topic
from cosep.findings.sentences import found_sentences
from cosep.findings.wording import readable
from cosep.records.factorization import Factorization

# Columns and close rows that are listed with a topic.
MOST_COLUMNS, MOST_CLOSEST = 8, 3


def summary_of(found: Findings) -> dict[str, Any]:
    """Return sizes, topics and shares for the JSON summary."""
    shares = found.shares
    return {
        "shape": list(found.shape),
        "n_rows": len(found.topics),
        "n_cols": len(found.selected_cols),
        "topics": [
            {
                "row": topic.name,
                "anchors": [anchor.name for anchor in topic.anchors],
                "columns": _columns(topic),
                "others": _closest(topic),
                "size": topic.size,
            }
            for topic in found.topics
        ],
        "scaling": found.scaling,
        "fidelity": shares,
        "bound": found.bound._asdict(),
        "plain_fidelity": found.plain_fidelity._asdict(),
    }


def path_of(path: SelectionPath, record: Factorization) -> dict[str, Any]:
    """Return what the first selected rows and columns explain, for the JSON summary."""
    return {
        "row_order": np.asarray(record.row_names)[path.row_indices].tolist(),
        "col_order": np.asarray(record.col_names)[path.col_indices].tolist(),
        **{part: getattr(path, part).tolist() for part in ("rows", "cols", "core", "bound")},
    }


def print_findings(found: Findings, console: Console, *, row: str = "row", column: str = "column") -> None:
    """Print what was selected, the topics as a table, and what they explain."""
    first, *others = found_sentences(found, row=row, column=column)
    print_lines(console, first)
    console.print(_topic_table(found, console.width, row, column), highlight=False)
    print_lines(console, *others)


def _topic_table(found: Findings, console_width: int, row: str, column: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    # Names of representatives are shown in full if there is room; close rows are cut to the same width.
    longest = max(len(readable(topic.name)) for topic in found.topics)
    width = min(max(console_width // 2 - 3, longest), max(console_width - 30, 20))
    table.add_column(f"{row}\n[dim]and those closest to it[/dim]", no_wrap=True, max_width=width)
    table.add_column(f"anchor {column}:\n{column}s that go with it")
    table.add_column(f"{row}s", justify="right")
    for topic in found.topics:
        anchors = [anchor.name for anchor in topic.anchors]
        others = ", ".join(readable(_without_shared_prefix(name, topic.name)) for name in _closest(topic))
        named = ", ".join(map(readable, anchors)) if anchors else "none"
        around = ", ".join(readable(name) for name in _columns(topic) if name not in anchors)
        table.add_row(
            f"{escape(readable(topic.name))}\n[dim]  {escape(others)}[/dim]",
            f"[bold]{escape(named)}[/bold]{':' if around else ''} {escape(around)}",
            str(topic.size),
        )
    return table


def _columns(topic: Topic) -> list[str]:
    return [entry.name for entry in topic.columns[:MOST_COLUMNS]]


def _closest(topic: Topic) -> list[str]:
    return [entry.name for entry in topic.closest[:MOST_CLOSEST]]


def _without_shared_prefix(name: str, other: str) -> str:
    """Return a dotted name without the beginning that it shares with another."""
    parts, shared = name.split("."), 0
    while parts[shared : shared + 1] == other.split(".")[shared : shared + 1] and shared < len(parts) - 1:
        shared += 1
    return ".".join(parts[shared:])
