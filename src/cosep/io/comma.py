"""A ``.csv`` or ``.tsv`` file enters; its heading and pieces of a few thousand rows leave."""

import csv
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

from cosep.io.extras import optional
from cosep.io.layout import MISSING, NUMBER, PIECE_NUMBERS, SAMPLE, is_numbers
from cosep.io.source import Source

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


class CommaTable:
    """A table as text: ``names`` is the heading, ``sample`` the first rows; it declares no ``index`` of row names."""

    index: str | None = None

    def __init__(self, source: Source) -> None:
        self.source = source
        self.separator = SEPARATORS[source.suffix]
        with source.expecting("a table"), self._after_heading() as (heading, stream):
            records = csv.reader(iter(stream.readline, ""), delimiter=self.separator)
            self.sample = [record for record in itertools.islice(records, SAMPLE) if record]
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

    @contextmanager
    def _after_heading(self) -> Iterator[tuple[list[str], TextIO]]:
        with self.source.open_text() as stream:
            records = csv.reader(iter(stream.readline, ""), delimiter=self.separator)
            yield next((record for record in records if record), []), stream

    def pieces(self, numbers: list[int], words: list[int]) -> Iterator[Any]:
        """Yield data frames with these columns, by position: as float64, and as text just as it stands."""
        pandas = optional("pandas", f"reading {self.source.suffix}", "cli")
        dtypes = dict.fromkeys(numbers, np.float64) | dict.fromkeys(words, str)
        done = 0
        with self.source.expecting("a table"), self._after_heading() as (_, stream):
            try:
                with pandas.read_csv(
                    stream,
                    sep=self.separator,
                    header=None,
                    names=range(len(self.names)),
                    index_col=False,
                    usecols=sorted(dtypes),
                    dtype=dtypes,
                    keep_default_na=False,
                    na_values=dict.fromkeys(numbers, MISSING),
                    float_precision="round_trip",
                    chunksize=max(1, PIECE_NUMBERS // len(dtypes)),
                ) as reader:
                    for piece in reader:
                        yield piece
                        done += len(piece)
            except pandas.errors.EmptyDataError:
                return
            except ValueError:
                self._locate(done, numbers)
                raise

    def _locate(self, done: int, numbers: list[int]) -> None:
        """Raise for the first record after those that are done which is no row of numbers."""
        with self._after_heading() as (_, stream):
            records = csv.reader(iter(stream.readline, ""), delimiter=self.separator)
            for at, record in enumerate((record for record in records if record), 1):
                if at <= done:
                    continue
                if len(record) != len(self.names):
                    self.source.fail(f"row {at} has {len(record)} columns instead of {len(self.names)}; mend it.")
                for j in numbers:
                    if record[j] not in MISSING and not NUMBER.fullmatch(record[j]):
                        self.source.fail(
                            f"row {at}, column {self.names[j]!r} is {record[j]!r:.50}, where a number is expected; "
                            "leave the column out, or name it as index or labels."
                        )
