"""A factorization with names enters; what was found leaves, as plain values for machines and as a table for people."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cosep.factorization import Factorization
from cosep.mixing import factor_labels

# Names that are told of each kind, for one topic.
ANCHORS, COLUMNS, OTHERS = 2, 6, 3
PIPED_WIDTH = 100


def summarize(record: Factorization, X: Any) -> dict[str, Any]:
    """Return sizes, shares of X that are explained, and the topics: one for each selected row.

    Topics come from the weights, in which every row is a mix of the selected rows and every column of the selected
    columns. The refitted factors come closer to X, but may drift away from what was selected.
    """
    fidelity, selection = record.fidelity(X), record.selection
    return {
        "shape": list(record.shape),
        "n_rows": len(record.row_weights.T),
        "n_cols": len(record.col_weights),
        "row_fidelity": fidelity.rows,
        "col_fidelity": fidelity.cols,
        "core_fidelity": fidelity.core,
        "explained": 1.0 - record.relative_error(X),
        "gap": selection.gap,
        "topics": topics(record, _row_norms(X)),
    }


def topics(record: Factorization, norms: NDArray[Any]) -> list[dict[str, Any]]:
    """Return each selected row with its anchors, the columns and rows closest to it, and how many it speaks for."""
    chosen, anchors = record.selection.row_indices, record.selection.col_indices
    names, col_names = record.row_names, record.col_names
    shares = record.row_weights * norms[chosen]
    labels = factor_labels(record.row_weights, norms[chosen])
    ties = record.core * np.linalg.norm(record.col_weights, axis=1)
    values = record.core @ record.col_weights
    found = []
    for k, row in enumerate(chosen):
        closeness = np.where(labels == k, shares[:, k] / np.where(norms > 0, norms, 1.0), 0.0)
        closeness[row] = 0.0
        strong = np.where(ties[k] >= 0.5 * ties[k].max(), ties[k], 0.0)
        found.append(
            {
                "row": str(names[row]),
                "anchors": _largest(strong, col_names[anchors], ANCHORS),
                "columns": _largest(values[k], col_names, COLUMNS),
                "others": _largest(closeness, names, OTHERS),
                "size": int((labels == k).sum()),
            }
        )
    return found


def _row_norms(X: Any) -> NDArray[Any]:
    squares = X.power(2) if hasattr(X, "power") else np.square(X)
    return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)).ravel()


def _largest(values: Any, names: Any, count: int) -> list[str]:
    """Return the names of the largest values, best first, of the positive ones only."""
    order = np.argsort(-values, kind="stable")[:count]
    return [str(names[i]) for i in order if values[i] > 0]


def wide_enough() -> Console:
    """Return the console that answers are printed to."""
    console = Console()
    return console if console.is_terminal else Console(width=PIPED_WIDTH)


def show(summary: dict[str, Any], console: Console, *, row: str = "row", column: str = "column") -> None:
    """Print the topics as a table, and what they explain."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    # Names stand in full where there is room; what is close to them is cut to their width.
    longest = max(len(one["row"]) for one in summary["topics"])
    width = min(max(console.width // 2 - 3, longest), max(console.width - 30, 20))
    table.add_column(f"{row}\n[dim]and those closest to it[/dim]", no_wrap=True, max_width=width)
    table.add_column(f"anchor {column}:\n{column}s that go with it")
    table.add_column("speaks\nfor", justify="right")
    for one in summary["topics"]:
        others = ", ".join(_beside(name, one["row"]) for name in one["others"])
        around = [name for name in one["columns"] if name not in one["anchors"]]
        table.add_row(
            f"{escape(one['row'])}\n[dim]  {escape(others)}[/dim]",
            f"[bold]{escape(', '.join(one['anchors']) or 'none')}[/bold]: {escape(' '.join(around))}",
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
