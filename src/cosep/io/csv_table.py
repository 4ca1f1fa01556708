"""A ``.csv`` or ``.tsv`` file enters; its heading and pieces of some thousand rows leave."""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from cosep.io.csv_records import records
from cosep.io.input_source import BYTES_A_LINE, InputSource
from cosep.io.table_layout import MISSING, NUMBER, SAMPLE, is_numbers
from cosep.utils.extras import optional
from cosep.utils.messages import shown

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
# What is parsed at a time: so many bytes, or so many rows if they are long. A row must fit into some such pieces.
PIECE_BYTES = 1 << 22
PIECE_ROWS = 128
PIECES_A_ROW = 16
# Bytes of a line, and fields of all rows that are looked at first, at the most.
LONGEST_LINE, SAMPLE_FIELDS = 1 << 28, 1 << 24
# Memory that a field takes while it is text.
BYTES_A_FIELD = 64


class CsvTable:
    """A table as text: ``names`` is the heading, ``sample`` the first rows; it declares no ``index`` of row names."""

    index: str | None = None

    def __init__(self, source: InputSource) -> None:
        self.source = source
        self.separator = SEPARATORS[source.suffix]
        self.arrow = optional("pyarrow", f"reading {source.suffix}", "cli")
        self.csv = optional("pyarrow.csv", f"reading {source.suffix}", "cli")
        with source.expecting("a table"), self._after_heading() as (heading, stream):
            rows = max(1, min(SAMPLE, SAMPLE_FIELDS // max(1, len(heading))))
            self.sample = list(itertools.islice(self._records(stream), rows))
        if not self.sample:
            source.fail("has a heading but no rows; expected at least one.")
        width = len(self.sample[0])
        if len(heading) == 1 and self.separator == "," and max(map(heading[0].count, ";\t")):
            source.fail("the separator is not a comma; save it with commas, or with tabs as .tsv.")
        if len(heading) == width - 1:
            heading = ["", *heading]  # R leaves the corner out
        if len(heading) != width:
            source.fail(f"the heading has {len(heading)} columns, the first row {width}; make them equal.")
        if is_numbers(heading) and "" not in heading and heading != [str(j) for j in range(width)]:
            source.fail("the first line has only numbers; add a line with the names of the columns above it.")
        self.names = heading

    def _records(self, stream: BinaryIO) -> Iterator[list[str]]:
        """Read record by record, not a byte further."""
        return records(self._lines(stream), self.separator)

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        lines = iter(lambda: stream.readline(LONGEST_LINE), b"")
        for line in self.source.bounded(lines, BYTES_A_LINE, "its lines"):
            if len(line) == LONGEST_LINE:
                self.source.fail(f"has a line of more than {LONGEST_LINE} bytes; is it a table?")
            count = line.count(self.separator.encode())
            self.source.check_growth(BYTES_A_FIELD * count, f"a line of {count + 1} fields")
            yield line.decode()

    @contextmanager
    def _after_heading(self) -> Iterator[tuple[list[str], BinaryIO]]:
        with self.source.open_bytes(text=True) as stream:
            heading = next(self._records(stream), [])
            if heading:
                heading[0] = heading[0].removeprefix("\ufeff")
            yield heading, stream

    def pieces(self, numbers: list[int], words: list[int]) -> Iterator[dict[int, Any]]:
        """Yield these columns, by position, as Arrow arrays: of float64, and of text just as it stands."""
        names = [str(j) for j in range(len(self.names))]
        kinds = {names[j]: self.arrow.float64() for j in numbers} | {names[j]: self.arrow.string() for j in words}
        piece = max(PIECE_BYTES, PIECE_ROWS * max(sum(map(len, record)) + len(record) for record in self.sample))
        done = 0
        parse = self.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        convert = self.csv.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), null_values=list(MISSING), strings_can_be_null=False
        )
        with self.source.expecting("a table"), self._after_heading() as (_, stream):
            # Arrow reads no file of ours: its threads must not call Python when that has come to an end.
            for text in self._whole_records(stream, piece):
                options = self.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names)
                try:
                    table = self.csv.read_csv(self.arrow.BufferReader(text), options, parse, convert).combine_chunks()
                except self.arrow.ArrowInvalid:
                    self._locate(done, numbers)
                    raise
                if table.num_rows:
                    yield {j: table.column(names[j]).chunk(0) for j in (*numbers, *words)}
                    done += table.num_rows

    def _whole_records(self, stream: BinaryIO, size: int) -> Iterator[bytes]:
        """Yield the text in pieces of about this size that end where a record does."""
        rest = b""
        while block := stream.read(size):
            rest += block
            if len(rest) > PIECES_A_ROW * size:
                self.source.fail(f"has a row of more than {PIECES_A_ROW * size} bytes; is a quote never closed?")
            if end := self._end_of_records(rest):
                yield rest[:end]
                rest = rest[end:]
        if rest.strip():
            yield rest

    def _end_of_records(self, text: bytes) -> int:
        """Return where the last line ends that is not within a quoted field; 0 if there is none."""
        end = text.rfind(b"\n") + 1
        if b'"' in text:
            quoted = re.finditer(rb'(?:^|(?<=[\r\n%b]))"[^"]*(?:""[^"]*)*"?' % self.separator.encode(), text)
            for start, stop in reversed([found.span() for found in quoted if b"\n" in found.group()]):
                if start < end <= stop:
                    end = text.rfind(b"\n", 0, start) + 1
        return end

    def _locate(self, done: int, numbers: list[int]) -> None:
        """Raise for the first record after those that are done which is no row of numbers."""
        with self._after_heading() as (_, stream):
            for at, record in enumerate(itertools.islice(self._records(stream), done, None), done + 1):
                if len(record) != len(self.names):
                    self.source.fail(f"row {at} has {len(record)} columns instead of {len(self.names)}; mend it.")
                for j in numbers:
                    if record[j] not in MISSING and not NUMBER.fullmatch(record[j]):
                        self.source.fail(
                            f"row {at}, column {shown(self.names[j])} is {shown(record[j], 50)}, where a number is "
                            "expected; leave the column out, or name it as index or labels."
                        )
