"""Layout of tables: which columns hold row names, labels and numbers.

A table is wide, with one column per column of the matrix, or it lists triplets: row, column, value. By default, a table
of exactly three columns lists triplets if the third holds numbers and the second does not, or if the header says so, as
"document, word, count" does. If the second holds whole numbers, which may be names or counts, the user has to choose.
All other tables are wide.

The row names of a wide table are in its first column if that has no header or holds anything but numbers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

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
# Numbers with a decimal comma, and numbers whose digits are in groups of three.
COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)
GROUPED = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*|\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*", re.ASCII)
INFINITE = ("inf", "-inf", "infinity", "-infinity")
DECIMALS = (".", ",")
# What the second and third column of triplets are called, in small letters and without "id".
COLUMN_HEADERS = {"word", "term", "token", "feature", "gene", "item", "product", "column", "col"}
VALUE_HEADERS = {"count", "counts", "value", "n", "freq", "frequency", "tf", "rating"}


@dataclass(frozen=True)
class TableOptions:
    """How to read a table, as the user says; None for what is to be found out.

    Attributes
    ----------
    sep, decimal, sheet : str, optional
        The separator and the decimal mark of a table as text, and the sheet of a workbook.
    layout : str, optional
        "wide" or "triplets".
    index, labels : str, optional
        The columns with row names and labels.
    columns, drop : tuple of str, optional
        The columns to keep, and those to leave out: names, or several names separated by commas.
    known : frozenset of str, optional
        Columns of a model. Other columns are left out, and an index that is not in the table does not matter.
    """

    sep: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    layout: str | None = None
    index: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None
    known: frozenset[str] | None = None


@dataclass(frozen=True)
class Layout:
    """What the columns of a table hold.

    Attributes
    ----------
    names : list of str
        The header.
    triplets : tuple of int, optional
        Positions of the row, the column and the value of triplets; None for a wide table.
    index, labels : int or None
        Positions of the columns with row names and labels.
    numbers : list of int
        Positions of the columns with numbers.
    """

    names: list[str]
    triplets: tuple[int, int, int] | None
    index: int | None
    labels: int | None
    numbers: list[int]


def find_layout(
    source: InputSource, names: list[str], sample: list[list[str]], options: TableOptions, declared: str | None = None
) -> Layout:
    """Return which columns of a table hold the names, the labels and the numbers.

    Parameters
    ----------
    source : InputSource
    names : list of str
        The header.
    sample : list of list of str
        The first rows, as text with decimal points.
    options : TableOptions
        The choice of the user.
    declared : str, optional
        The column that the file declares to hold the row names.
    """
    fields = [[row[j] for row in sample if j < len(row)] for j in range(len(names))]
    kept = _kept(source, names, options)
    place = None if options.labels is None else find_column(source, names, options.labels, "labels")
    others = [j for j in kept if j != place]
    index = options.index or (declared if declared in [names[j] for j in kept] else None)
    if options.known is not None and index not in names:
        index = None
    layout = options.layout
    if layout is None:
        layout = _guess_layout(source, names, others, fields) if index is None else "wide"
    if layout == "triplets":
        if len(others) != 3 or index is not None or options.labels is not None:
            source.fail(
                f"triplets are three columns (row, column, value) without labels or index, got {len(kept)} columns; "
                "drop the others, or pass layout='wide'."
            )
        row, column, value = others
        return Layout(names, (row, column, value), None, None, [value])
    at: int | None
    if index is not None:
        at = find_column(source, names, index, "index")
    else:
        dropped = set() if options.drop is None else set(_named(source, names, options.drop, "drop"))
        first = [j for j in range(len(names)) if j != place and names[j] not in dropped][:1]
        at = next((j for j in (*first, *others[:1]) if not names[j] or not are_numbers(fields[j])), None)
    known = options.known
    numbers = [j for j in others if j != at and (known is None or names[j] in known)]
    if not numbers:
        source.fail("has no columns of numbers; if it holds text, pass its column: TextOptions(column=...).")
    texts = [j for j in numbers if _is_text(fields[j])]
    if texts:
        fail_for_text(source, [names[j] for j in texts], next(one for one in fields[texts[0]] if _is_text([one])))
    return Layout(names, None, at, place, numbers)


def fail_for_text(source: InputSource, columns: list[str], example: str, where: str = "") -> NoReturn:
    """Raise for columns that hold text, of which ``example`` is one, with the options that help."""
    some = ", ".join(map(shown, columns[:3])) + (f" and {len(columns) - 3} more" if len(columns) > 3 else "")
    what = f"columns {some} hold" if len(columns) > 1 else f"column {some} holds"
    drop = ",".join(columns) if sum(map(len, columns)) < 80 else columns[0]
    if GROUPED.fullmatch(example):
        advice = "write numbers without separators of thousands"
    elif COMMA_NUMBER.fullmatch(example):
        advice = "pass decimal=',' if it is a decimal comma"
    else:
        advice = f"leave it out by drop={shown(drop, 100)}, or pass it as index= (row names) or labels= (classes)"
    if where:
        source.fail(f"expected a number in {where}, column {some}, got {shown(example, 50)}; {advice}.")
    source.fail(f"{what} text, such as {shown(example, 50)}; {advice}.")


def _kept(source: InputSource, names: list[str], options: TableOptions) -> list[int]:
    """Return the positions of the columns that the user wants."""
    kept = list(range(len(names)))
    for option, wanted in (("columns", options.columns), ("drop", options.drop)):
        if wanted is not None:
            named = _named(source, names, wanted, option)
            kept = [j for j in kept if (names[j] in named) == (option == "columns")]
    return kept


def _named(source: InputSource, names: list[str], wanted: Sequence[str], option: str) -> set[str]:
    """Return names of columns; an entry that is none is a list of names, separated by commas."""
    known, found = set(names), set()
    for entry in wanted:
        parts = [entry] if entry in known else [part.strip() for part in entry.split(",")]
        for part in parts:
            if part not in known:
                source.fail(
                    f"{option}={shown(part)}: there is no column of this name; the columns are "
                    f"{', '.join(map(repr, names)):.200}."
                )
        found.update(parts)
    return found


def _is_text(fields: list[str]) -> bool:
    """Return whether most fields that are not missing are not numbers."""
    present = [field for field in fields if field not in MISSING]
    return 2 * sum(map(_is_number, present)) < len(present)


def _is_number(field: str) -> bool:
    return NUMBER.fullmatch(field) is not None or field.strip().lower() in INFINITE


def find_decimal(source: InputSource, sample: list[list[str]], separator: str) -> str:
    """Return the decimal mark of a table as text: a comma if columns of numbers have one.

    Raises
    ------
    InputError
        If some columns have decimal commas and others points, or if the marks may be separators of thousands.
    """
    commas, points = [], []
    for fields in zip(*(row for row in sample if len(row) == len(sample[0])), strict=True):
        present = [field for field in fields if field not in MISSING]
        if all(NUMBER.fullmatch(one) or COMMA_NUMBER.fullmatch(one) for one in present):
            commas += [one for one in present if "," in one]
            points += [one for one in present if "." in one]
    if commas and points:
        source.fail(
            f"has numbers with commas and with points, such as {shown(commas[0])} and {shown(points[0])}; pass "
            "decimal=',' or decimal='.', and write numbers without separators of thousands."
        )
    marked = commas or (points if separator == ";" else [])
    # With semicolons, commas are decimal commas.
    if marked and all(map(GROUPED.fullmatch, marked)) and not (commas and separator == ";"):
        source.fail(
            f"{shown(marked[0])} could be a number with thousands, or with three decimals; pass decimal=',' or "
            "decimal='.', and write numbers without separators of thousands."
        )
    return "," if commas else "."


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


def _guess_layout(source: InputSource, names: list[str], columns: list[int], fields: list[list[str]]) -> str:
    if len(columns) != 3 or not are_numbers(fields[columns[2]]):
        return "wide"
    second, third = (re.sub(r"[\s_-]|id$", "", names[j].lower()) for j in columns[1:])
    if second in COLUMN_HEADERS and third in VALUE_HEADERS:
        return "triplets"
    numeric = all(one in MISSING or _is_number(one) for one in fields[columns[1]])
    if numeric and all(map(WHOLE.fullmatch, fields[columns[1]])):
        source.fail(
            "three columns with whole numbers in the second could be row, column and value of single entries, or a "
            "matrix; pass layout='triplets' or layout='wide'."
        )
    return "wide" if numeric else "triplets"
