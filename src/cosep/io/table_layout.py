"""The heading and first rows of a table enter; which columns are names and which are numbers leaves.

A table is wide, one column for each column of the matrix, or it lists triplets: row, column, value. Without being told,
a table of exactly three columns lists triplets if the third holds numbers and the second none. If the second holds
whole numbers, which may be names or counts, or also other things, the user is asked. All other tables are wide.

The row names of a wide table are in its first column if that has no heading or holds anything but numbers.
"""

import re
from dataclasses import dataclass

from cosep.io.input_source import InputSource
from cosep.utils.messages import shown

# Rows that are looked at to tell names from numbers.
SAMPLE = 100
LAYOUTS = ("wide", "triplets")
# A missing value, as tables write it.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>")
# Each digit can be matched in one way only: otherwise a long cell takes time by the square of its length.
NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """Where things stand in a table, as positions of columns."""

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
    """Return where the names, labels and numbers of a table stand.

    Parameters
    ----------
    source : InputSource
    names : list of str
        The heading.
    sample : list of list of str
        The first rows, as text.
    layout, index, labels : str, optional
        What the user says: "wide" or "triplets", and the columns with row names and classes.
    """
    place = None if labels is None else find_column(source, names, labels, "labels")
    others = [j for j in range(len(names)) if j != place]
    if layout is None:
        layout = (
            _guess(source, [[row[j] for row in sample if j < len(row)] for j in others]) if index is None else "wide"
        )
    if layout == "triplets":
        if len(others) != 3 or index is not None or labels is not None:
            source.fail(
                f"triplets are three columns, row, column and value, without labels or an index, got {len(names)} "
                "columns; leave the others out, or pass layout='wide'."
            )
        return Layout(names, True, None, None, [2])  # noqa: FBT003 - the field has a name in the record
    at: int | None
    if index is not None:
        at = find_column(source, names, index, "index")
    else:
        first = others[0] if others else None
        at = first if first is not None and (not names[first] or not is_numbers([r[first] for r in sample])) else None
    numbers = [j for j in others if j != at]
    if not numbers:
        source.fail("has no columns of numbers; if it holds text, name the column: TextOptions(column=...).")
    return Layout(names, False, at, place, numbers)  # noqa: FBT003 - the field has a name in the record


def find_column(source: InputSource, names: list[str], wanted: str, option: str) -> int:
    """Return the position of a column that the user names."""
    if names.count(wanted) != 1:
        problem = "no column" if wanted not in names else "several columns"
        source.fail(
            f"{option}={shown(wanted)}: there is {problem} of this name, only {', '.join(map(repr, names)):.200}."
        )
    return names.index(wanted)


def is_numbers(fields: list[str]) -> bool:
    """Tell whether all fields that are not missing are numbers, and some are not missing."""
    present = [field for field in fields if field not in MISSING]
    return bool(present) and all(NUMBER.fullmatch(field) for field in present)


def _guess(source: InputSource, columns: list[list[str]]) -> str:
    if len(columns) != 3 or not is_numbers(columns[2]):
        return "wide"
    numeric = is_numbers(columns[1])
    if any(NUMBER.fullmatch(field) for field in columns[1]) and (not numeric or all(map(WHOLE.fullmatch, columns[1]))):
        source.fail(
            "three columns, with names or counts in the second, may be row, column and value of single entries or "
            "a matrix; say layout='triplets' or layout='wide'."
        )
    return "wide" if numeric else "triplets"
