"""The command ``cosep compare``: what every method explains of a matrix, and how long it takes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rich.console import Console

from cosep.cli.console import print_json, print_lines, table_console
from cosep.cli.fit import default_count
from cosep.cli.progress import no_progress, progress
from cosep.findings.comparison import METHODS, compare_methods, single_cluster_accuracy
from cosep.io import NamedMatrix
from cosep.matrix.checks import check_choice, check_count, check_nonzero
from cosep.matrix.validation import as_matrix
from cosep.utils.messages import counted

# The columns of the table: what they hold, and their titles in two lines.
TITLES = {
    "explained": ("explained,", "refitted"),
    "row": ("by the", "rows"),
    "col": ("by the", "columns"),
    "core": ("by the", "core"),
    "accuracy": ("accuracy of", "clusters"),
    "ari": ("adjusted", "Rand"),
    "nmi": ("mutual", "inform."),
    "seconds": ("", "seconds"),
}
FORMATS = {"ari": ".3f", "nmi": ".3f", "seconds": ".2f"}
# What needs known classes.
OF_CLASSES = ("accuracy", "ari", "nmi")
# The largest time limit: a day.
MAX_SECONDS = 86_400
# Letters between two columns.
GAP = "  "


def run(
    read: Callable[[], NamedMatrix],
    asked: tuple[int | None, int | None],
    names: Iterable[str],
    scaling: str | None,
    seconds: float,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the methods one after the other and print a line for each when it has finished."""
    if not 0 < seconds <= MAX_SECONDS:
        msg = f"--seconds={seconds:g} must be a number above 0 and at most {MAX_SECONDS}."
        raise ValueError(msg)
    names = [check_choice(name, "methods", METHODS) for name in names] or list(METHODS)
    # Each line is printed below a bar that has ended, so that they do not write to the same place of a terminal.
    with progress(Console(stderr=True), quiet=quiet or as_json) as callback:
        (callback or no_progress)("read", 0, 1, np.nan)
        data = read()
        check_nonzero(as_matrix(data.values))
        m, n = data.values.shape
        n_rows = check_count(default_count(asked[0], m), "n_rows", m, "n_samples")
        n_cols = check_count(default_count(asked[1], n), "n_cols", n, "n_features")
    answer: dict[str, Any] = {"shape": [m, n], "n_rows": n_rows, "n_cols": n_cols, "scaling": scaling, "methods": []}
    if data.labels is not None:
        answer["accuracy_of_one_cluster"] = single_cluster_accuracy(data.labels)
    table = None if as_json or quiet else MethodTable(answer, names, table_console())
    for line in compare_methods(data.values, n_rows, n_cols, names, data.labels, scaling, seconds=seconds):
        answer["methods"].append(line)
        if table is not None:
            table.print_method(line)
    if as_json:
        print_json(answer)
    elif table is not None:
        table.finish()


class MethodTable:
    """The comparison as a table whose lines are printed one by one.

    Parameters
    ----------
    answer : dict
        Its ``shape``, ``n_rows``, ``n_cols`` and, if there are labels, ``accuracy_of_one_cluster``.
    names : iterable of str
        The methods that will follow.
    console : Console
    """

    def __init__(self, answer: dict[str, Any], names: Iterable[str], console: Console) -> None:
        self.console, self.single = console, answer.get("accuracy_of_one_cluster")
        self.columns = [name for name in TITLES if name not in OF_CLASSES or self.single is not None]
        self.width = max(map(len, ["method", *names]))
        self.notes: list[str] = []
        self.late: list[str] = []
        m, n = answer["shape"]
        selected = f"{counted(answer['n_rows'], 'row')} and {counted(answer['n_cols'], 'column')}"
        self._print(f"{counted(m, 'row')} x {counted(n, 'column')}; {selected} selected.", "")
        for line, first in enumerate(("", "method")):
            self._print_cells(first, {name: TITLES[name][line] for name in self.columns})
        self._print("-" * (self.width + sum(len(GAP) + self._width(name) for name in self.columns)))

    def print_method(self, line: dict[str, Any]) -> None:
        """Print what a method reached."""
        cells = {name: format(line[name], FORMATS.get(name, ".1%")) for name in self.columns if name in line}
        self._print_cells(line["method"], cells)
        if "note" in line:
            self.notes.append(f"{line['method']}: {line['note']}")
        if "late" in line:
            self.late.append(line["method"])

    def finish(self) -> None:
        """Print what the measures mean, and why methods have no numbers."""
        self._print("")
        if self.single is not None:
            self._print(
                f"Accuracy is the paper's measure; all rows in one cluster have {self.single:.1%}, and 0 by the "
                "adjusted Rand index and the normalized mutual information."
            )
        if self.late:
            self.notes.append(f"To wait longer for them: --methods {','.join(self.late)} --seconds 600")
        self._print(*self.notes)

    def _width(self, name: str) -> int:
        return max(map(len, TITLES[name]))

    def _print_cells(self, first: str, cells: dict[str, str]) -> None:
        rest = (f"{GAP}{cells.get(name, ''):>{self._width(name)}}" for name in self.columns)
        self._print(f"{first:<{self.width}}{''.join(rest)}".rstrip())

    def _print(self, *lines: str) -> None:
        """Print lines at once, also to a pipe."""
        if lines:
            print_lines(self.console, *lines)
            self.console.file.flush()
