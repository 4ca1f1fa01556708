"""A factorization with names enters; what was found leaves, as plain values for machines and as a table for people."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cosep.findings.topics import topics_of
from cosep.findings.wording import readable
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.utils.messages import SURROGATES

# Columns and rows that are told of one topic.
COLUMNS, OTHERS = 8, 3
PIPED_WIDTH = 100


def summarize(record: Factorization, M: LocalMatrix) -> dict[str, Any]:
    """Return what was found in terms of the names: sizes, and the topics, one for each selected row.

    Topics come from the weights, in which every row is a mix of the selected rows and every column of the selected
    columns. The refitted factors come closer to X, but may drift away from what was selected.
    """
    topics, names = topics_of(record), np.asarray(record.row_names)
    labels, parts = topics.speakers(M)
    numbers = range(len(topics.rows))
    return told(
        record,
        M.shape,
        [int((labels == k).sum()) for k in numbers],
        [names[topics.closest(k, labels, parts, OTHERS)].tolist() for k in numbers],
    )


def told(
    record: Factorization, shape: tuple[int, int], sizes: Sequence[int], others: Sequence[list[str]]
) -> dict[str, Any]:
    """Return what was found, given for each topic how many rows it speaks for, and names of those closest to it."""
    topics = topics_of(record)
    names, col_names = np.asarray(record.row_names), np.asarray(record.col_names)
    values = topics.core @ topics.col_weights
    return {
        "shape": list(shape),
        "n_rows": len(topics.rows),
        "n_cols": len(topics.cols),
        "topics": [
            {
                "row": str(names[row]),
                "anchors": col_names[topics.cols[topics.anchors(k)]].tolist(),
                "columns": _largest(values[k], col_names, COLUMNS),
                "others": others[k],
                "size": sizes[k],
            }
            for k, row in enumerate(topics.rows)
        ],
    }


def _largest(values: Any, names: Any, count: int) -> list[str]:
    """Return the names of the largest values, best first, of the positive ones only."""
    order = np.argsort(-values, kind="stable")[:count]
    return [str(names[i]) for i in order if values[i] > 0]


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON; names of files that are not Unicode in a way that Python's ``json`` reads back."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Output(Console):
    """What answers are printed to: names stay as they are, and a reader who has seen enough is no error of ours."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command."""
        raise  # noqa: PLE0704 - rich calls this while it handles the error


def wide_enough() -> Output:
    """Return the console that answers are printed to."""
    console = Output()
    return console if console.is_terminal else Output(width=PIPED_WIDTH)


def show(summary: dict[str, Any], console: Console, *, row: str = "row", column: str = "column") -> None:
    """Print the topics as a table, and what they explain."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    # Names stand in full where there is room; what is close to them is cut to their width.
    longest = max(len(readable(one["row"])) for one in summary["topics"])
    width = min(max(console.width // 2 - 3, longest), max(console.width - 30, 20))
    table.add_column(f"{row}\n[dim]and those closest to it[/dim]", no_wrap=True, max_width=width)
    table.add_column(f"anchor {column}:\n{column}s that go with it")
    table.add_column("speaks\nfor", justify="right")
    for one in summary["topics"]:
        others = ", ".join(readable(_beside(name, one["row"])) for name in one["others"])
        anchors = ", ".join(map(readable, one["anchors"])) if one["anchors"] else "none"
        around = ", ".join(readable(name) for name in one["columns"] if name not in one["anchors"])
        table.add_row(
            f"{escape(readable(one['row']))}\n[dim]  {escape(others)}[/dim]",
            f"[bold]{escape(anchors)}[/bold]{':' if around else ''} {escape(around)}",
            str(one["size"]),
        )
    console.print(table, highlight=False)
    core = f"the {summary['n_rows']} x {summary['n_cols']} entries where they cross"
    lines = [
        (
            f"The {row}s alone explain {summary['row_fidelity']:.1%} of the data, the {column}s alone "
            f"{summary['col_fidelity']:.1%}, {core} {summary['core_fidelity']:.1%}."
        ),
        f"With factors refitted to the core: {summary['explained']:.1%}.",
    ]
    if (homeless := summary["shape"][0] - sum(one["size"] for one in summary["topics"])) > 0:
        lines.append(f"{row.capitalize()}s that none of them explains: {homeless}.")
    console.print(*lines, sep="\n", highlight=False, markup=False)


def _beside(name: str, home: str) -> str:
    """Return a dotted name without the beginning that it shares with another."""
    parts, shared = name.split("."), 0
    while parts[shared : shared + 1] == home.split(".")[shared : shared + 1] and shared < len(parts) - 1:
        shared += 1
    return ".".join(parts[shared:])
