"""Names and labels of rows and columns in files of their own."""

import os
from typing import Any

from cosep.io.csv_records import SEPARATORS, detected_records
from cosep.io.input_source import InputSource, open_source
from cosep.io.named_matrix import Names, as_names
from cosep.utils.columns import flat
from cosep.utils.messages import shown

# Memory for a line, in addition to its characters.
BYTES_PER_LINE = 256


def read_names(path: str | os.PathLike[str]) -> Names:
    """Read names, one per line, for a matrix whose file has none.

    Parameters
    ----------
    path : path
        A text file in UTF-8, compressed or not. Only line ends are stripped; a blank line is an empty name.

    Returns
    -------
    ndarray of str

    Examples
    --------
    >>> from dataclasses import replace
    >>> from cosep.io import read, read_names
    >>> counts = replace(read("tr11.mat"), col_names=read_names("tr11.words.txt"))  # doctest: +SKIP
    """
    with open_source(path, None) as source:
        return as_names(source, _lines(source))


def read_labels(path: str | os.PathLike[str], row_names: Any) -> Names:
    """Read the labels of rows: one label per line, or a table with a header and the columns name and label.

    Parameters
    ----------
    path : path
        Labels in the order of the rows. A .csv or .tsv file with two columns has the names of rows and their labels, in
        any order, and may have more rows than the matrix.
    row_names : sequence of str
        Names of the rows of the matrix.

    Returns
    -------
    ndarray of str
        One label for each row.

    Raises
    ------
    ValueError
        If a row has no label, or two different ones.

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
    with open_source(path, None) as source:
        if source.suffix in SEPARATORS:
            with source.expecting("a table of names and labels"), source.open_text() as stream:
                table = list(source.limited(detected_records(stream, source.suffix), BYTES_PER_LINE, "its rows"))
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
            source.fail(f"has {len(found)} labels for {len(names)} rows; expected one for each row, in the same order.")
        return as_names(source, found)


def _lines(source: InputSource) -> list[str]:
    with source.expecting("one entry per line"), source.open_text() as stream:
        return [line.rstrip("\r\n") for line in source.limited(stream, BYTES_PER_LINE, "its lines")]


def _by_name(source: InputSource, records: list[list[str]], names: list[str]) -> list[str]:
    known: dict[str, str] = {}
    for name, label in records:
        if known.setdefault(name, label) != label:
            source.fail(f"row {shown(name)} has two labels, {shown(known[name])} and {shown(label)}; keep one.")
    missing = [name for name in names if name not in known]
    if missing:
        source.fail(f"{len(missing)} of {len(names)} rows have no label, such as {shown(missing[0])}; add them.")
    return [known[name] for name in names]
