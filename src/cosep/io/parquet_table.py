"""Tables in Apache Parquet files, read in pieces of some thousand rows."""

import itertools
from collections.abc import Iterator
from typing import Any

from cosep.io.input_source import InputSource
from cosep.io.table_layout import SAMPLE_ROWS
from cosep.utils.extras import optional
from cosep.utils.messages import shown

PARQUET_SUFFIXES = (".parquet", ".pq")
# Entries that are read at a time: 16 MB of numbers.
PIECE_ENTRIES = 1 << 21


class ParquetTable:
    """A table stored by columns.

    Attributes
    ----------
    names : list of str
        The header.
    sample : list of list of str
        The first rows, as text.
    index : str or None
        The column that pandas wrote as index.
    """

    def __init__(self, source: InputSource) -> None:
        self.source = source
        self.arrow = optional("pyarrow", "reading .parquet", "cli")
        parquet = optional("pyarrow.parquet", "reading .parquet", "cli")
        with source.expecting("a Parquet file"):
            self.file = parquet.ParquetFile(source.path)
            rows, columns = self.file.metadata.num_rows, self.file.metadata.num_columns
            source.check_memory(rows * columns, f"a table of {rows} x {columns}")
            schema = self.file.schema_arrow
            self.names: list[str] = list(schema.names)
            declared = (schema.pandas_metadata or {}).get("index_columns", [])
            self.index = declared[0] if len(declared) == 1 and isinstance(declared[0], str) else None
            if not self.names or len(set(self.names)) < len(self.names):
                source.fail("has no columns, or several of the same name; rename them.")
            heads = [
                head.slice(0, SAMPLE_ROWS)
                for head in itertools.islice(self.file.iter_batches(SAMPLE_ROWS, use_threads=False), 1)
            ]
            fields = [self._text(head.column(j)).to_pylist() for head in heads for j in range(len(self.names))]
        self.sample = [list(row) for row in zip(*fields, strict=True)]
        if not self.sample:
            source.fail("has no rows; expected at least one.")

    def pieces(self, numbers: list[int], texts: list[int]) -> Iterator[dict[int, Any]]:
        """Yield these columns, by position, as Arrow arrays of float64 and of text."""
        wanted = sorted({*numbers, *texts})
        with self.source.expecting("a Parquet file"):
            names, size = [self.names[j] for j in wanted], max(1, PIECE_ENTRIES // len(wanted))
            for batch in self.file.iter_batches(size, columns=names, use_threads=False):
                columns = {j: batch.column(self.names[j]) for j in wanted}
                yield {j: self._text(columns[j]) if j in texts else self._floats(j, columns[j]) for j in wanted}

    def _text(self, column: Any) -> Any:
        if self.arrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self.arrow.types.is_boolean(column.type):
            column = column.cast(self.arrow.uint8())
        if self.arrow.types.is_nested(column.type) or self.arrow.types.is_binary(column.type):
            return self.arrow.array([str(value) for value in column.to_pylist()])
        return column.cast(self.arrow.string()).fill_null("")

    def _floats(self, j: int, column: Any) -> Any:
        types, kind = self.arrow.types, column.type
        if not any(of(kind) for of in (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)):
            self.source.fail(
                f"expected numbers in column {shown(self.names[j])}, got type {kind}; drop the column, or pass it as "
                "index= or labels=."
            )
        return column.cast(self.arrow.uint8() if types.is_boolean(kind) else kind).cast(
            self.arrow.float64(), safe=False
        )
