"""Matrices and texts in tables: ``.csv``, ``.tsv``, ``.parquet`` and ``.xlsx`` files, read in pieces."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.io.csv_table import CsvTable
from cosep.io.excel_table import EXCEL_SUFFIXES, ExcelTable
from cosep.io.growing_matrix import GrowingMatrix
from cosep.io.input_source import InputSource
from cosep.io.named_matrix import MISSING_ADVICE, NamedMatrix, as_names, build_named_matrix, numbered
from cosep.io.parquet_table import PARQUET_SUFFIXES, ParquetTable
from cosep.io.table_layout import Layout, TableOptions, find_column, find_layout
from cosep.io.text_options import TextOptions
from cosep.io.texts import BYTES_PER_CHARACTER, NamedTexts
from cosep.io.triplets import Triplets
from cosep.utils.messages import shown

Table = CsvTable | ParquetTable | ExcelTable
# Memory for a name, in addition to its characters.
BYTES_PER_NAME = 64


def open_table(source: InputSource, options: TableOptions) -> Table:
    """Open a table by the suffix of its file."""
    if source.suffix in PARQUET_SUFFIXES:
        return ParquetTable(source)
    return ExcelTable(source, options) if source.suffix in EXCEL_SUFFIXES else CsvTable(source, options)


def read_table(source: InputSource, **chosen: Any) -> NamedMatrix:
    """Read a matrix from a table, wide or triplets, given the fields of `TableOptions`."""
    options = TableOptions(**chosen)
    table = open_table(source, options)
    found = find_layout(table.source, table.names, table.sample, options, table.index)
    return _read_wide(table, found) if found.triplets is None else _read_triplets(table, *found.triplets)


def _read_wide(table: Table, layout: Layout) -> NamedMatrix:
    if table.source.missing == "unstored":
        table.source.fail(
            "missing='unstored' is for triplets and sparse matrices, but this is a wide table; leave its missing cells "
            "empty, and pass missing='nan'."
        )
    matrix = GrowingMatrix(len(layout.numbers))
    texts: dict[int, list[str]] = {j: [] for j in (layout.index, layout.labels) if j is not None}
    for piece in table.pieces(layout.numbers, list(texts)):
        for j, part in texts.items():
            part += piece[j].to_pylist()
        block = np.column_stack([_numbers(piece[j]) for j in layout.numbers])
        missing = np.isnan(block)
        if missing.any() and table.source.missing is None:
            i, j = np.argwhere(missing)[0]
            at = matrix.n_rows + i
            row = f"row {at}" if layout.index is None else f"row {shown(texts[layout.index][at])}"
            _fail_for_missing(table, row, layout.numbers[j])
        matrix.append(block)
        table.source.check_growth(matrix.n_bytes + BYTES_PER_NAME * len(texts) * matrix.n_rows, "the table")
    names = numbered("row", matrix.n_rows) if layout.index is None else texts[layout.index]
    label_names = None if layout.labels is None else as_names(table.source, texts[layout.labels])
    return build_named_matrix(
        table.source, matrix.build(), names, [layout.names[j] for j in layout.numbers], labels=label_names
    )


def _read_triplets(table: Table, row: int, column: int, value: int) -> NamedMatrix:
    triplets = Triplets()
    for piece in table.pieces([value], [row, column]):
        values, rows, cols = _numbers(piece[value]), piece[row], piece[column]
        missing = np.isnan(values)
        if missing.any() and table.source.missing != "nan":
            i = int(np.argmax(missing))
            _fail_for_missing(table, f"the value of {shown(rows[i].as_py())} and {shown(cols[i].as_py())}", value)
        triplets.append(rows, cols, values)
        table.source.check_growth(triplets.n_bytes, "the table")
    matrix, rows, cols = triplets.matrix()
    return build_named_matrix(table.source, matrix, rows, cols)


def _numbers(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of float64 as a NumPy array, with NaN for missing values."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _fail_for_missing(table: Table, row: str, j: int) -> None:
    table.source.fail(f"{row}, column {shown(table.names[j])} is missing; {MISSING_ADVICE}.")


def read_text_column(
    source: InputSource, options: TextOptions, index: str | None, labels: str | None, **chosen: Any
) -> NamedTexts:
    """Read one text per row of a table."""
    table = open_table(source, TableOptions(**chosen))
    wanted = {"column": options.column, "index": index or table.index, "labels": labels}
    places = {
        what: find_column(table.source, table.names, name, what) for what, name in wanted.items() if name is not None
    }
    parts: dict[int, list[str]] = {j: [] for j in places.values()}
    size = 0
    for piece in table.pieces([], list(parts)):
        for j, part in parts.items():
            part += piece[j].to_pylist()
            size += BYTES_PER_NAME * len(piece[j]) + BYTES_PER_CHARACTER * piece[j].nbytes
        table.source.check_growth(size, "its texts")
    texts, names, label_names = (parts[places[what]] if what in places else None for what in wanted)
    return NamedTexts(texts or [], names, label_names)
