"""Tables in Excel workbooks (``.xlsx``), read in pieces of some thousand rows."""

import itertools
import warnings
import zipfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from cosep.io.input_source import BYTES_PER_LINE, InputSource
from cosep.io.table_layout import MISSING, NUMBER, SAMPLE_ROWS, TableOptions, fail_for_text
from cosep.utils.extras import optional
from cosep.utils.messages import shown
from cosep.utils.warn import warn

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
WORKBOOK = "an Excel workbook"
# Parts of a workbook that are read as streams, and memory for a byte of these and of other parts.
STREAMED = ("xl/worksheets/", "xl/sharedStrings.xml")
STREAM_GROWTH, TREE_GROWTH = 2, 32
# Memory for a cell, and cells that are read at a time.
BYTES_PER_CELL, PIECE_CELLS = 8, 1 << 18


class ExcelTable:
    """A sheet of a workbook. Formulas count by the values that Excel has stored. Blank rows are skipped.

    Attributes
    ----------
    source : InputSource
        The file. If it has several sheets and none was chosen, messages name the first, which is read.
    names : list of str
        The header: the first row that is not blank.
    sample : list of list of str
        The rows after it, as text.
    index : None
        The file itself does not say which column holds the row names.
    """

    index: str | None = None

    def __init__(self, source: InputSource, options: TableOptions) -> None:
        self.source, self.sheet, self.file = source, options.sheet, source.name
        self.openpyxl = optional("openpyxl", f"reading {source.suffix}", "excel")
        self.arrow = optional("pyarrow", f"reading {source.suffix}", "cli")
        with source.expecting(WORKBOOK):
            self._check_parts()
            self.names: list[str] = []
            self.others: list[str] = [] if self.sheet is not None else self._find_sheets()
            with closing(self._rows()) as rows:
                self.names = [_text(one) for one in next(rows, ())]
                self.sample = [[_text(one) for one in row] for row in itertools.islice(rows, SAMPLE_ROWS)]
        if not self.sample:
            self.source.fail("the sheet has no header, or no rows below it; expected at least one.")

    def _check_parts(self) -> None:
        """Raise if the parts of the workbook would take too much memory."""
        with zipfile.ZipFile(self.source.path) as archive:
            sizes = [
                info.file_size * (STREAM_GROWTH if info.filename.startswith(STREAMED) else TREE_GROWTH)
                for info in archive.infolist()
            ]
        self.source.check_memory(sum(sizes), "the workbook")

    def _rows(self) -> Generator[list[Any], None, None]:
        """Yield the values of all rows that are not blank, all of the length of the first."""
        with _no_warnings():
            book = self.openpyxl.load_workbook(self.source.path, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            sheet = self._choose_sheet(book)
            sheet.reset_dimensions()  # the size that the file states may be wrong
            rows = self.source.limited(sheet.iter_rows(values_only=True), BYTES_PER_LINE, "its rows")
            width, n_cells = 0, 0
            for values in itertools.chain.from_iterable(_blocks(rows)):
                width = width or len(values)
                n_cells += width
                self.source.check_growth(BYTES_PER_CELL * n_cells, "the sheet")
                if len(values) > width:
                    self.source.fail(
                        f"a row has {len(values)} cells, but the header has {width}; name all columns, and remove "
                        "notes beside the table."
                    )
                yield values + [None] * (width - len(values))

    def _find_sheets(self) -> list[str]:
        """Return the names of other sheets that hold something; choose the first sheet by its name if there are any."""
        with _no_warnings():
            book = self.openpyxl.load_workbook(self.source.path, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            first = self._choose_sheet(book)
            found = [sheet.title for sheet in book.worksheets if sheet is not first and _holds_something(sheet)]
            if found:
                self.sheet = first.title
                what = f"sheet {shown(self.sheet)} (the first of {1 + len(found)}; sheet= names another)"
                self.source = replace(self.source, name=f"{self.source.name}, {what}")
        return found

    def _choose_sheet(self, book: Any) -> Any:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if not sheets or (self.sheet is not None and self.sheet not in sheets):
            known = ", ".join(map(repr, sheets)) or "none"
            self.source.fail(f"sheet={shown(self.sheet)} is not a sheet of this file; it has: {known:.300}.")
        return next(iter(sheets.values())) if self.sheet is None else sheets[self.sheet]

    def pieces(self, numbers: list[int], texts: list[int]) -> Iterator[dict[int, Any]]:
        """Yield these columns, by position, as Arrow arrays of float64 and of text."""
        size = max(1, PIECE_CELLS // len(self.names))
        with self.source.expecting(WORKBOOK), closing(self._rows()) as rows:
            next(rows, None)
            done = 0
            while block := list(itertools.islice(rows, size)):
                floats = {j: [self._number(row[j], i, j) for i, row in enumerate(block, done + 1)] for j in numbers}
                yield {
                    **{j: self.arrow.array(column, self.arrow.float64()) for j, column in floats.items()},
                    **{j: self.arrow.array([_text(row[j]) for row in block], self.arrow.string()) for j in texts},
                }
                done += len(block)
        if self.others:
            known = ", ".join(map(repr, self.others))
            warn(
                f"{self.file}: of its {1 + len(self.others)} sheets only the first was read, {shown(self.sheet)}; pass "
                f"sheet= for another: {known:.300}.",
                UserWarning,
            )

    def _number(self, value: Any, i: int, j: int) -> float | None:
        """Return a cell as a number, None for a missing value."""
        if isinstance(value, (int, float)):
            return float(value)
        text = _text(value)
        if text in MISSING:
            return None
        if not NUMBER.fullmatch(text):
            fail_for_text(self.source, [self.names[j]], text, f"row {i}")
        return float(text)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Ignore warnings about parts of a workbook that hold no values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _blocks(rows: Iterator[Any]) -> Iterator[list[list[Any]]]:
    """Yield some rows at a time, without blank cells at the end, and without blank rows."""
    more = True
    while more:
        with _no_warnings():
            block = list(itertools.islice(rows, SAMPLE_ROWS))
        more = bool(block)
        yield [values for row in block if (values := _without_blank_end(row))]


def _holds_something(sheet: Any) -> bool:
    """Return whether some of the first rows of a sheet are not blank."""
    sheet.reset_dimensions()
    return any(next(_blocks(sheet.iter_rows(values_only=True))))


def _without_blank_end(row: Any) -> list[Any]:
    values = list(row)
    while values and values[-1] in (None, ""):
        values.pop()
    return values


def _text(value: Any) -> str:
    """Return a cell as text, truth values as numbers."""
    return "" if value is None else str(int(value) if isinstance(value, bool) else value)
