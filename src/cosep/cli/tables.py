"""Tables of named columns as CSV. Names are written exactly, so that whoever reads them finds the same."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from cosep.utils.messages import shown

# What a spreadsheet takes for a formula, unless it is a number.
FORMULA = re.compile(r"[=+\-@\t\r](?!\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$)", re.ASCII)


def write_table(file: TextIO, columns: dict[str, Iterable[Any]], *, heading: bool = True) -> None:
    """Write columns of one length as CSV, with a heading unless it stands there already."""
    if heading:
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


def save_table(path: Path, columns: dict[str, Iterable[Any]]) -> None:
    """Write columns of one length to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write_table(file, columns)


def refuse_zero_bytes(*names: Iterable[Any]) -> None:
    """Refuse names with a zero byte: whoever reads a table takes it for binary data."""
    for name in (str(name) for some in names for name in some):
        if "\0" in name:
            msg = f"INPUT: the name {shown(name)} has a zero byte, which no table can hold; rename it."
            raise ValueError(msg)


def formula_warning(*names: Iterable[Any]) -> list[str]:
    """Return a sentence of warning if a spreadsheet would take some of the names for formulas, otherwise nothing."""
    found = [str(name) for some in names for name in some if FORMULA.match(str(name))]
    if not found:
        return []
    begin = "name begins" if len(found) == 1 else "names begin"
    sentence = (
        f"{len(found)} {begin} as formulas do, such as {shown(found[0], 40)}: the tables hold names exactly, so import "
        "the columns with names as text if you open them in a spreadsheet."
    )
    return [sentence]
