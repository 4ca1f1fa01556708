"""A ``.csv``, ``.tsv`` or ``.parquet`` file enters, read piece by piece; a matrix or texts leave."""

import numpy as np

from cosep.io.blocks import Blocks
from cosep.io.comma import CommaTable
from cosep.io.counts import TextOptions
from cosep.io.layout import Layout, find_column, find_layout
from cosep.io.parquet import PARQUET_SUFFIXES, ParquetTable
from cosep.io.record import NamedMatrix, as_names, build
from cosep.io.source import Source
from cosep.io.text import Texts
from cosep.io.triplets import Triplets

Table = CommaTable | ParquetTable


def open_table(source: Source) -> Table:
    """Return the table of a file by its suffix."""
    return ParquetTable(source) if source.suffix in PARQUET_SUFFIXES else CommaTable(source)


def read_table(source: Source, layout: str | None, index: str | None, labels: str | None) -> NamedMatrix:
    """Read a matrix."""
    table = open_table(source)
    found = find_layout(source, table.names, table.sample, layout, index or table.index, labels)
    return _read_triplets(table) if found.triplets else _read_wide(table, found)


def _read_wide(table: Table, layout: Layout) -> NamedMatrix:
    blocks, names, labels = Blocks(len(layout.numbers)), [], []
    words = [j for j in (layout.index, layout.labels) if j is not None]
    for piece in table.pieces(layout.numbers, words):
        values = piece[layout.numbers].to_numpy(dtype=np.float64)
        names += (
            [f"row {blocks.n_rows + i}" for i in range(len(piece))]
            if layout.index is None
            else list(piece[layout.index])
        )
        labels += [] if layout.labels is None else list(piece[layout.labels])
        if np.isnan(values).any():
            i, j = np.argwhere(np.isnan(values))[0]
            column = table.names[layout.numbers[j]]
            table.source.fail(
                f"row {names[blocks.n_rows + i]!r}, column {column!r} is missing; fill or drop missing values first."
            )
        blocks.append(values)
    columns = [layout.names[j] for j in layout.numbers]
    classes = None if layout.labels is None else as_names(table.source, labels)
    return build(table.source, blocks.matrix(), names, columns, labels=classes)


def _read_triplets(table: Table) -> NamedMatrix:
    triplets, count = Triplets(), 0
    for piece in table.pieces([2], [0, 1]):
        values = piece[2].to_numpy(dtype=np.float64)
        if np.isnan(values).any():
            at = count + int(np.argmax(np.isnan(values))) + 1
            table.source.fail(f"row {at}, column {table.names[2]!r} is missing; fill or drop missing values first.")
        triplets.append(piece[0].to_numpy(dtype=object), piece[1].to_numpy(dtype=object), values)
        count += len(piece)
    matrix, rows, cols = triplets.matrix()
    return build(table.source, matrix, rows, cols)


def read_text_column(source: Source, options: TextOptions, index: str | None, labels: str | None) -> Texts:
    """Read one text for each row of a table."""
    table = open_table(source)
    index = index or table.index
    at = find_column(source, table.names, str(options.column), "column")
    name_at = None if index is None else find_column(source, table.names, index, "index")
    label_at = None if labels is None else find_column(source, table.names, labels, "labels")
    words = [at, *(j for j in (name_at, label_at) if j is not None)]
    parts: dict[int, list[str]] = {j: [] for j in words}
    for piece in table.pieces([], sorted(set(words))):
        for j, part in parts.items():
            part += list(piece[j])
    return Texts(
        parts[at],
        None if name_at is None else parts[name_at],
        None if label_at is None else parts[label_at],
    )
