"""Layout of tables: which columns hold row names, labels and numbers.

A table is wide, with one column per column of the matrix, or it lists triplets: row, column, value. By default, a table
of exactly three columns lists triplets if the third holds numbers and the second does not. If the second holds whole
numbers, which may be names or counts, or a mix of numbers and text, the user has to choose. All other tables are wide.

The row names of a wide table are in its first column if that has no header or holds anything but numbers.
"""

import re
from dataclasses import dataclass

from cosep.io.input_source import InputSource
from cosep.utils.messages import shown

# Rows that are read to distinguish names from numbers.
SAMPLE_ROWS = 100
LAYOUTS = ("wide", "triplets")
# Missing values in tables.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>")
# Each digit matches in one way only: otherwise the time is quadratic in the length of a cell.
NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """What the columns of a table hold.

    Attributes
    ----------
    names : list of str
        The header.
    triplets : bool
        Whether the columns are row, column and value.
    index, labels : int or None
        Positions of the columns with row names and labels.
    numbers : list of int
        Positions of the columns with numbers.
    """

    names: list[str]
    triplets: bool
    index: int | None
    labels: int | None
    numbers: list[int]


def find_layout(
    source: InputSource,
    names: list[str],
    sample: list[list[str]],
    layout: str | None,
    index: str | None,
    labels: str | None,
) -> Layout:
    """Return which columns of a table hold the names, the labels and the numbers.

    Parameters
    ----------
    source : InputSource
    names : list of str
        The header.
    sample : list of list of str
        The first rows, as text.
    layout, index, labels : str, optional
        The choice of the user: "wide" or "triplets", and the columns with row names and labels.
    """
    place = None if labels is None else find_column(source, names, labels, "labels")
    others = [j for j in range(len(names)) if j != place]
    if layout is None:
        layout = (
            _guess_layout(source, [[row[j] for row in sample if j < len(row)] for j in others])
            if index is None
            else "wide"
        )
    if layout == "triplets":
        if len(others) != 3 or index is not None or labels is not None:
            source.fail(
                f"triplets are three columns (row, column, value) without labels or index, got {len(names)} columns; "
                "drop the others, or pass layout='wide'."
            )
        return Layout(names, True, None, None, [2])  # noqa: FBT003 - the field has a name in the record
    at: int | None
    if index is not None:
        at = find_column(source, names, index, "index")
    else:
        first = others[0] if others else None
        at = first if first is not None and (not names[first] or not are_numbers([r[first] for r in sample])) else None
    numbers = [j for j in others if j != at]
    if not numbers:
        source.fail("has no columns of numbers; if it holds text, pass its column: TextOptions(column=...).")
    return Layout(names, False, at, place, numbers)  # noqa: FBT003 - the field has a name in the record


def find_column(source: InputSource, names: list[str], wanted: str, option: str) -> int:
    """Return the position of a column that the user names."""
    if names.count(wanted) != 1:
        problem = "is no column" if wanted not in names else "are several columns"
        source.fail(
            f"{option}={shown(wanted)}: there {problem} of this name; the columns are "
            f"{', '.join(map(repr, names)):.200}."
        )
    return names.index(wanted)


def are_numbers(fields: list[str]) -> bool:
    """Return whether all fields that are not missing are numbers, and some are not missing."""
    present = [field for field in fields if field not in MISSING]
    return bool(present) and all(NUMBER.fullmatch(field) for field in present)


def _guess_layout(source: InputSource, columns: list[list[str]]) -> str:
    if len(columns) != 3 or not are_numbers(columns[2]):
        return "wide"
    numeric = are_numbers(columns[1])
    if any(NUMBER.fullmatch(field) for field in columns[1]) and (not numeric or all(map(WHOLE.fullmatch, columns[1]))):
        source.fail(
            "three columns with whole numbers in the second could be row, column and value of single entries, or a "
            "matrix; pass layout='triplets' or layout='wide'."
        )
    return "wide" if numeric else "triplets"
