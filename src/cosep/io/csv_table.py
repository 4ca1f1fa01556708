"""Tables in ``.csv`` and ``.tsv`` files, read in pieces of some thousand rows."""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from cosep.io.csv_records import COMPARED_RECORDS, KNOWN_SEPARATORS, find_separator, parse_records
from cosep.io.input_source import BYTES_PER_LINE, InputSource
from cosep.io.table_layout import (
    COMMA_NUMBER,
    MISSING,
    NUMBER,
    SAMPLE_ROWS,
    TableOptions,
    are_numbers,
    fail_for_text,
    find_decimal,
)
from cosep.utils.extras import optional
from cosep.utils.messages import shown

# A piece that is parsed at a time has this many bytes, or this many rows if they are long. A row may have a few pieces.
PIECE_BYTES = 1 << 22
PIECE_ROWS = 128
MAX_PIECES_PER_ROW = 16
# Most bytes of a line, and most fields of the rows that are read first.
MAX_LINE_BYTES, SAMPLE_FIELDS = 1 << 28, 1 << 24
# Memory for a field while it is text.
BYTES_PER_FIELD = 64


class CsvTable:
    """A table as text.

    Attributes
    ----------
    separator, decimal : str
        The separator of fields, and the decimal mark.
    names : list of str
        The header.
    sample : list of list of str
        The first rows, with decimal points.
    index : None
        The file itself does not say which column holds the row names.
    """

    index: str | None = None

    def __init__(self, source: InputSource, options: TableOptions) -> None:
        self.source = source
        self.separator = "".join(KNOWN_SEPARATORS) if options.sep is None else options.sep
        self.arrow = optional("pyarrow", f"reading {source.suffix}", "cli")
        self.csv = optional("pyarrow.csv", f"reading {source.suffix}", "cli")
        if options.sep is None:
            with source.expecting("a table"), source.open_bytes(text=True) as stream:
                first = list(itertools.islice(self._lines(stream), COMPARED_RECORDS))
                self.separator = find_separator(first, source.suffix)
        with source.expecting("a table"), self._after_header() as (header, stream):
            rows = max(1, min(SAMPLE_ROWS, SAMPLE_FIELDS // max(1, len(header))))
            self.sample = list(itertools.islice(self._records(stream), rows))
        if not self.sample:
            source.fail("has a header but no rows; expected at least one.")
        width = len(self.sample[0])
        if len(header) == 1 and max(map(header[0].count, KNOWN_SEPARATORS)):
            source.fail(
                f"the header {shown(header[0], 50)} is not separated as the rows are; separate all lines by the same "
                "character, and pass it as sep=."
            )
        if len(header) == width - 1:
            header = ["", *header]  # R omits the header of the row names
        if len(header) != width:
            source.fail(f"the header has {len(header)} columns, the first row {width}; make them equal.")
        if are_numbers(header) and "" not in header and header != [str(j) for j in range(width)]:
            source.fail("the first line has only numbers; add a line with the names of the columns above it.")
        self.names = header
        self.decimal = find_decimal(source, self.sample, self.separator) if options.decimal is None else options.decimal
        if self.decimal == ",":
            self.sample = [
                [one.replace(",", ".") if COMMA_NUMBER.fullmatch(one) else one for one in record]
                for record in self.sample
            ]

    def _records(self, stream: BinaryIO) -> Iterator[list[str]]:
        """Yield records, without reading beyond the last one."""
        return parse_records(self._lines(stream), self.separator)

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        lines = iter(lambda: stream.readline(MAX_LINE_BYTES), b"")
        for line in self.source.limited(lines, BYTES_PER_LINE, "its lines"):
            if len(line) == MAX_LINE_BYTES:
                self.source.fail(f"has a line of more than {MAX_LINE_BYTES} bytes; is it a table?")
            count = max(line.count(separator.encode()) for separator in self.separator)
            self.source.check_growth(BYTES_PER_FIELD * count, f"a line of {count + 1} fields")
            yield line.decode()

    @contextmanager
    def _after_header(self) -> Iterator[tuple[list[str], BinaryIO]]:
        with self.source.open_bytes(text=True) as stream:
            header = next(self._records(stream), [])
            if header:
                header[0] = header[0].removeprefix("\ufeff")
            yield header, stream

    def pieces(self, numbers: list[int], texts: list[int]) -> Iterator[dict[int, Any]]:
        """Yield these columns, by position, as Arrow arrays of float64 and of unchanged text."""
        names = [str(j) for j in range(len(self.names))]
        kinds = {names[j]: self.arrow.float64() for j in numbers} | {names[j]: self.arrow.string() for j in texts}
        piece = max(PIECE_BYTES, PIECE_ROWS * max(sum(map(len, record)) + len(record) for record in self.sample))
        done = 0
        parse = self.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        convert = self.csv.ConvertOptions(
            column_types=kinds,
            include_columns=list(kinds),
            null_values=list(MISSING),
            strings_can_be_null=False,
            decimal_point=self.decimal,
        )
        with self.source.expecting("a table"), self._after_header() as (_, stream):
            # Arrow gets bytes, not a Python file, because its threads must not call Python at shutdown.
            for text in self._whole_records(stream, piece):
                options = self.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names)
                try:
                    table = self.csv.read_csv(self.arrow.BufferReader(text), options, parse, convert).combine_chunks()
                except self.arrow.ArrowInvalid:
                    self._locate(done, numbers)
                    raise
                if table.num_rows:
                    yield {j: table.column(names[j]).chunk(0) for j in (*numbers, *texts)}
                    done += table.num_rows

    def _whole_records(self, stream: BinaryIO, size: int) -> Iterator[bytes]:
        """Yield the text in pieces of about this size that end with a record."""
        rest = b""
        while block := stream.read(size):
            rest += block
            if len(rest) > MAX_PIECES_PER_ROW * size:
                self.source.fail(
                    f"has a row of more than {MAX_PIECES_PER_ROW * size} bytes; is a closing quote missing?"
                )
            if end := self._end_of_records(rest):
                yield rest[:end]
                rest = rest[end:]
        if rest.strip():
            yield rest

    def _end_of_records(self, text: bytes) -> int:
        """Return the end of the last line that is not inside a quoted field, or 0 if there is none."""
        end = text.rfind(b"\n") + 1
        if b'"' in text:
            quoted = re.finditer(rb'(?:^|(?<=[\r\n%b]))"[^"]*(?:""[^"]*)*"?' % self.separator.encode(), text)
            for start, stop in reversed([found.span() for found in quoted if b"\n" in found.group()]):
                if start < end <= stop:
                    end = text.rfind(b"\n", 0, start) + 1
        return end

    def _locate(self, done: int, numbers: list[int]) -> None:
        """Raise for the first record after the first ``done`` ones that is not a row of numbers."""
        with self._after_header() as (_, stream):
            for at, record in enumerate(itertools.islice(self._records(stream), done, None), done + 1):
                if len(record) != len(self.names):
                    self.source.fail(f"row {at} has {len(record)} columns instead of {len(self.names)}; fix it.")
                for j in numbers:
                    field = record[j] if self.decimal == "." else record[j].replace(".", "?").replace(",", ".")
                    if record[j] not in MISSING and not NUMBER.fullmatch(field):
                        fail_for_text(self.source, [self.names[j]], record[j], f"row {at}")
