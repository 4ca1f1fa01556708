"""Tables of named columns as CSV. Names are written exactly, so that programs find the same names again."""

import csv
import re
from collections.abc import Iterable
from math import isnan
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from cosep.findings.record import Findings
from cosep.utils.messages import shown
from cosep.utils.types import Table

# What a spreadsheet takes for a formula, unless it is a number.
FORMULA = re.compile(r"[=+\-@\t\r](?!\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$)", re.ASCII)
# Digits of shares in the tables.
SHARE_DECIMALS = 4


def share_columns(table: Table) -> dict[str, Any]:
    """Return a table of rows or columns as it is written: shares to four digits, empty where there is none."""
    return {name: rounded(column) if column.dtype.kind == "f" else _plain(column) for name, column in table.items()}


def rounded(shares: Any) -> list[float | None]:
    """Return shares to four digits, and None where there is none."""
    return [None if isnan(share) else share for share in np.round(shares, SHARE_DECIMALS).tolist()]


def _plain(column: Any) -> Any:
    return column.astype(int) if column.dtype.kind == "b" else column


def save_core(path: Path, found: Findings) -> None:
    """Write the core, with the names of its rows and columns."""
    lines = ([topic.name, *values] for topic, values in zip(found.topics, found.core.tolist(), strict=True))
    with path.open("w", newline="", encoding="utf-8") as file:
        write_rows(file, [["", *(entry.name for entry in found.selected_cols)], *lines])


def save_table(path: Path, columns: dict[str, Iterable[Any]]) -> None:
    """Write columns of equal length to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write_table(file, columns)


def write_table(file: TextIO, columns: dict[str, Iterable[Any]], *, header: bool = True) -> None:
    """Write columns of equal length as CSV, with a header unless it is there already."""
    if header:
        write_rows(file, [list(columns)])
    write_rows(file, zip(*columns.values(), strict=True))


def write_rows(file: TextIO, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows as CSV; fields are quoted if they need it.

    Python quotes a carriage return only since 3.13, but readers take one that is not quoted for the end of a line.
    """
    plain = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        fields = list(row)
        returns = any(isinstance(field, str) and "\r" in field for field in fields)
        (quoted if returns else plain).writerow(fields)


def check_zero_bytes(*names: Iterable[Any]) -> None:
    """Raise ValueError for names with a zero byte: readers of a table would take it for binary data."""
    for name in (str(name) for some in names for name in some):
        if "\0" in name:
            msg = f"INPUT: the name {shown(name)} has a zero byte, which no table can hold; rename it."
            raise ValueError(msg)


def formula_warning(*names: Iterable[Any]) -> list[str]:
    """Return a warning if a spreadsheet would take some of the names for formulas, otherwise nothing."""
    found = [str(name) for some in names for name in some if FORMULA.match(str(name))]
    if not found:
        return []
    begin = "name begins" if len(found) == 1 else "names begin"
    sentence = (
        f"{len(found)} {begin} as formulas do, such as {shown(found[0], 40)}: the tables hold names exactly, so import "
        "the columns with names as text if you open them in a spreadsheet."
    )
    return [sentence]
