"""Weights of rows from a text file."""

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.io.csv_records import SEPARATORS, detected_records
from cosep.io.input_source import STANDARD_INPUT, InputSource, open_source
from cosep.utils.messages import one_line, shown
from cosep.utils.types import Array

# Memory for a line, in addition to its characters.
BYTES_PER_LINE = 256


def read_weights(path: str | os.PathLike[str], row_names: NDArray[Any]) -> Array:
    """Return the weight of each row from a file with one weight per line, or from a table of names and weights.

    Parameters
    ----------
    path : path
        Weights in the order of the rows. A .csv or .tsv file with two columns has the names of rows and their weights,
        in any order, and may have more rows than the matrix. The first line of a .csv or .tsv file may be a header.
    row_names : ndarray of str
        Names of the rows of the matrix.

    Raises
    ------
    ValueError
        If the file cannot be read, an entry is not a number of at least 0, rows are missing, or all weights are 0.
    """
    try:
        return _read(path, [str(name) for name in row_names])
    except ValueError as error:
        reason = str(error).removeprefix(f"{path}: ")
        msg = one_line(f"weights={shown(str(path))}: {reason}", 2000)
        raise ValueError(msg) from error


def _read(path: str | os.PathLike[str], names: list[str]) -> Array:
    if str(path) == STANDARD_INPUT:
        msg = "must be a file, not the standard input."
        raise ValueError(msg)
    with open_source(path, None) as source:
        weights = _weights(source, names)
    if not weights.any():
        msg = "all weights are 0; give some rows a positive weight."
        raise ValueError(msg)
    return weights


def _weights(source: InputSource, names: list[str]) -> Array:
    """Return the weights of rows with these names."""
    records = _records(source)
    widths = {len(record) for record in records}
    if widths == {2}:
        known: dict[str, float] = {}
        for name, text in records:
            weight = _number(text, f"row {shown(name)}")
            if known.setdefault(name, weight) != weight:
                msg = f"row {shown(name)} has two weights, {known[name]:g} and {weight:g}; keep one."
                raise ValueError(msg)
        missing = [name for name in names if name not in known]
        if missing:
            msg = f"{len(missing)} of {len(names)} rows have no weight, such as {shown(missing[0])}; add them."
            raise ValueError(msg)
        return np.array([known[name] for name in names])
    if widths - {1}:
        msg = f"expected two columns, name and weight, or one, got {', '.join(map(str, sorted(widths)[:9]))}."
        raise ValueError(msg)
    found = np.array([_number(record[0], f"entry {k}") for k, record in enumerate(records, 1)])
    if len(found) != len(names):
        msg = f"has {len(found)} weights for {len(names)} rows; expected one for each row, in the same order."
        raise ValueError(msg)
    return found


def _records(source: InputSource) -> list[list[str]]:
    """Return the lines as lists of fields, without blank lines, and without a header."""
    with source.expecting("one weight per line"), source.open_text() as stream:
        lines = source.limited(stream, BYTES_PER_LINE, "its lines")
        if source.suffix not in SEPARATORS:
            return [[line.strip()] for line in lines if line.strip()]
        records = list(detected_records(lines, source.suffix))
    return records[1:] if records and _value(records[0][-1]) is None else records


def _value(text: str) -> float | None:
    """Return a number, None for other text."""
    try:
        return float(text)
    except ValueError:
        return None


def _number(text: str, where: str) -> float:
    """Return a weight; raise ValueError for anything else."""
    value = _value(text)
    if value is not None and math.isfinite(value) and value >= 0:
        return value
    way_out = "; a table of names and weights must end in .csv" if "," in text else ""
    msg = f"{where} has {shown(text)}, which must be a finite number of at least 0{way_out}."
    raise ValueError(msg)
