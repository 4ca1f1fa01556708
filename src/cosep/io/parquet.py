"""An Apache Parquet file enters; its heading and pieces of a few thousand rows leave."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cosep.io.extras import optional
from cosep.io.layout import PIECE_NUMBERS, SAMPLE
from cosep.io.source import Source

PARQUET_SUFFIXES = (".parquet", ".pq")


class ParquetTable:
    """A table by columns: ``names`` is the heading, ``sample`` the first rows, ``index`` what pandas calls its index."""

    index: str | None = None

    def __init__(self, source: Source) -> None:
        self.source = source
        parquet = optional("pyarrow.parquet", "reading .parquet", "cli")
        with source.expecting("a Parquet file"):
            self.file = parquet.ParquetFile(source.path)
            schema = self.file.schema_arrow
            self.names = list(schema.names)
            declared = (schema.pandas_metadata or {}).get("index_columns", [])
            if len(declared) == 1 and isinstance(declared[0], str):
                self.index = declared[0]
            head = next(self.file.iter_batches(SAMPLE), None)
            self.sample = [] if head is None else [[_text(value) for value in row.values()] for row in head.to_pylist()]
            if len(set(self.names)) < len(self.names):
                source.fail("has several columns of the same name; rename them.")
        if not self.sample:
            source.fail("has no rows; expected at least one.")

    def pieces(self, numbers: list[int], words: list[int]) -> Iterator[Any]:
        """Yield data frames with these columns, by position: as float64, and as text."""
        pandas = optional("pandas", "reading .parquet", "cli")
        wanted = [self.names[j] for j in sorted({*numbers, *words})]
        with self.source.expecting("a Parquet file with numbers"):
            for batch in self.file.iter_batches(max(1, PIECE_NUMBERS // len(wanted)), columns=wanted):
                columns = {}
                for j in sorted({*numbers, *words}):
                    column = batch.column(self.names[j])
                    columns[j] = (
                        [_text(value) for value in column.to_pylist()] if j in words else self._floats(j, column)
                    )
                yield pandas.DataFrame(columns)

    def _floats(self, j: int, column: Any) -> Any:
        compute, arrow = optional("pyarrow.compute", "reading .parquet", "cli"), optional("pyarrow", "", "cli")
        kind = column.type
        if not (arrow.types.is_floating(kind) or arrow.types.is_integer(kind) or arrow.types.is_boolean(kind)):
            if arrow.types.is_decimal(kind):
                return compute.cast(column, arrow.float64()).to_numpy(zero_copy_only=False)
            self.source.fail(
                f"column {self.names[j]!r} has type {kind}, where numbers are expected; leave the column out, or name "
                "it as index or labels."
            )
        return column.to_numpy(zero_copy_only=False).astype(np.float64)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
