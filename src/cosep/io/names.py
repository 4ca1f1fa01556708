"""A file of names or labels enters; an array of text leaves, in the order of the rows."""

import os
from typing import Any

from cosep.io.csv_records import records
from cosep.io.csv_table import SEPARATORS
from cosep.io.input_source import InputSource, opened
from cosep.io.named_matrix import Names, as_names
from cosep.utils.columns import flat
from cosep.utils.messages import shown

# Memory that a line takes, besides its characters.
BYTES_AN_ENTRY = 256


def read_names(path: str | os.PathLike[str]) -> Names:
    """Read names, one on each line, for a matrix whose file has none.

    Parameters
    ----------
    path : path
        A text file in UTF-8, compressed or not. Nothing is stripped but the line ends; a blank line is an empty name.

    Returns
    -------
    ndarray of str

    Examples
    --------
    >>> from dataclasses import replace
    >>> from cosep.io import read, read_names
    >>> counts = replace(read("tr11.mat"), col_names=read_names("tr11.words.txt"))  # doctest: +SKIP
    """
    with opened(path, None) as source:
        return as_names(source, _lines(source))


def read_labels(path: str | os.PathLike[str], row_names: Any) -> Names:
    """Read the classes of rows: one label on each line, or a table with a heading and the columns name and label.

    Parameters
    ----------
    path : path
        Labels in the order of the rows; or, if it ends in .csv or .tsv and has two columns, rows by their names, in any
        order. Other rows than those named may be in it.
    row_names : sequence of str

    Returns
    -------
    ndarray of str
        One label for each row.

    Raises
    ------
    ValueError
        If a row has no label, or two that differ.

    Examples
    --------
    >>> from cosep.io import read, read_labels
    >>> matrix = read("counts.csv")  # doctest: +SKIP
    >>> labels = read_labels("classes.csv", matrix.row_names)  # doctest: +SKIP
    """
    listed = flat(row_names)
    if listed is None:
        msg = f"row_names must be a list of names, got {shown(row_names)}."
        raise ValueError(msg)
    names = [str(name) for name in listed]
    with opened(path, None) as source:
        if source.suffix in SEPARATORS:
            with source.expecting("a table of names and labels"), source.open_text() as stream:
                table = list(source.bounded(records(stream, SEPARATORS[source.suffix]), BYTES_AN_ENTRY, "its rows"))
            widths = {len(record) for record in table}
            if widths == {2}:
                return as_names(source, _by_name(source, table[1:], names))
            if widths != {1}:
                source.fail(
                    f"expected two columns, name and label, or one, got {', '.join(map(str, sorted(widths)[:9]))}."
                )
            found = [record[0] for record in table[1:]]
        else:
            found = _lines(source)
        if len(found) != len(names):
            source.fail(f"has {len(found)} labels for {len(names)} rows; expected one for each, in their order.")
        return as_names(source, found)


def _lines(source: InputSource) -> list[str]:
    with source.expecting("one entry per line"), source.open_text() as stream:
        return [line.rstrip("\r\n") for line in source.bounded(stream, BYTES_AN_ENTRY, "its lines")]


def _by_name(source: InputSource, records: list[list[str]], names: list[str]) -> list[str]:
    known: dict[str, str] = {}
    for name, label in records:
        if known.setdefault(name, label) != label:
            source.fail(f"row {shown(name)} has two labels, {shown(known[name])} and {shown(label)}; keep one.")
    missing = [name for name in names if name not in known]
    if missing:
        source.fail(f"{len(missing)} of {len(names)} rows have no label, such as {shown(missing[0])}; add them.")
    return [known[name] for name in names]
