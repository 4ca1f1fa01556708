"""The command ``cosep compare``: what every method explains of a matrix, and how long it takes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from cosep.cli.console import print_json, print_lines, table_console
from cosep.cli.fit import default_count
from cosep.cli.progress import no_progress, progress
from cosep.findings.comparison import METHODS, compare_methods, single_cluster_accuracy
from cosep.io import NamedMatrix
from cosep.matrix.checks import check_choice, check_count, check_nonzero
from cosep.matrix.validation import as_matrix
from cosep.utils.messages import counted

TITLES = {
    "explained": "explained,\nrefitted",
    "row": "by the\nrows",
    "col": "by the\ncolumns",
    "core": "by the\ncore",
    "accuracy": "accuracy of\nclusters",
}


def run(
    read: Callable[[], NamedMatrix],
    asked: tuple[int | None, int | None],
    names: Iterable[str],
    scaling: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the methods one after the other and print one line for each."""
    names = [check_choice(name, "methods", METHODS) for name in names] or list(METHODS)
    with progress(Console(stderr=True), quiet=quiet or as_json) as callback:
        data = read()
        check_nonzero(as_matrix(data.values))
        m, n = data.values.shape
        n_rows = check_count(default_count(asked[0], m), "n_rows", m, "n_samples")
        n_cols = check_count(default_count(asked[1], n), "n_cols", n, "n_features")
        lines = []
        for step, line in enumerate(compare_methods(data.values, n_rows, n_cols, names, data.labels, scaling), 1):
            lines.append(line)
            (callback or no_progress)("compare", step, len(names), np.nan)
    answer = {"shape": [m, n], "n_rows": n_rows, "n_cols": n_cols, "scaling": scaling, "methods": lines}
    if data.labels is not None:
        answer["accuracy_of_one_cluster"] = single_cluster_accuracy(data.labels)
    if as_json:
        print_json(answer)
    elif not quiet:
        print_comparison(answer, table_console())


def print_comparison(answer: dict[str, Any], console: Console) -> None:
    """Print the comparison as a table."""
    (m, n), single = answer["shape"], answer.get("accuracy_of_one_cluster")
    selected = f"{counted(answer['n_rows'], 'row')} and {counted(answer['n_cols'], 'column')}"
    print_lines(console, f"{counted(m, 'row')} x {counted(n, 'column')}; {selected} selected.")
    columns = [name for name in TITLES if name != "accuracy" or single is not None]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("method")
    for title in (*(TITLES[name] for name in columns), "seconds"):
        table.add_column(title, justify="right")
    for line in answer["methods"]:
        shares = [f"{line[name]:.1%}" if name in line else "" for name in columns]
        table.add_row(line["method"], *shares, f"{line['seconds']:.2f}" if "seconds" in line else "")
    console.print(table, highlight=False)
    if single is not None:
        print_lines(console, f"Accuracy is the paper's measure; all rows in one cluster have {single:.1%}.")
    print_lines(console, *(f"{line['method']}: {line['note']}" for line in answer["methods"] if "note" in line))
