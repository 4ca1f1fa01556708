"""Results of the document experiment by set and method, with the printed ones."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Row, read_rows
from experiments.document_methods import METHODS

PRINTED = Path(__file__).parent / "printed"
PUBLISHED = ("CoS-FGM", "SPA+", "SPAC", "SPAR", "GSPA", "GS-FGM", "BiOR-NM3F", "A-HALS", "MV-NMF")
OTHERS = tuple(method for method in METHODS if method not in PUBLISHED)
SIDES = ("row", "column", "core")
# Two numbers are the same if they differ by at most this: the printed digits, and as much for rounding.
SAME_TOL = 0.05


class Table(NamedTuple):
    """A table of the paper: what it is called, our figure, that by the method's own labels, the printed file."""

    title: str
    short: str
    figure: str
    own: str
    file: str


APPROXIMATION = Table(
    "Table 1: relative approximation", "approximation", "approximation_pct", "", "document_approximation"
)
DOCUMENTS = Table(
    "Table 2: clusters of documents, accuracy", "documents", "document_pct", "own_document_pct", "document_accuracy"
)
WORDS = Table("Table 3: clusters of words, accuracy", "words", "word_pct", "own_word_pct", "word_accuracy")
TABLES = (APPROXIMATION, DOCUMENTS, WORDS)


class Results:
    """The rows by set and method, and averages of them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {(row["set"], row["method"]): row for row in rows}
        self.sets = list(dict.fromkeys(row["set"] for row in rows))
        self.all_sets = list(dict.fromkeys([*printed(APPROXIMATION.file), *self.sets]))

    def get(self, name: str, method: str, figure: str) -> Any:
        """Return one figure, None where there is none."""
        return self.rows.get((name, method), {}).get(figure)

    def column(self, method: str, figure: str) -> list[Any]:
        """Return one figure of all sets."""
        return [self.get(name, method, figure) for name in self.sets]

    def mean(self, method: str, figure: str) -> float | None:
        """Return the average over all sets, None if one of them has none."""
        return mean(self.column(method, figure))

    def pairs(self, method: str, table: Table, figure: str = "", theirs: str = "") -> dict[str, tuple[float, float]]:
        """Return our figure and the printed one for each set that has both."""
        both = {
            name: (
                self.get(name, method, figure or table.figure),
                printed(table.file).get(name, {}).get(theirs or method),
            )
            for name in self.sets
        }
        return {name: (a, b) for name, (a, b) in both.items() if a is not None and b is not None}

    def printed_mean(self, method: str, table: Table) -> float | None:
        """Return the average of the printed figures over the sets that are here."""
        return mean(printed(table.file).get(name, {}).get(method) for name in self.sets)


@lru_cache
def printed(file: str) -> dict[str, Row]:
    """Return the figures of a printed table, by set."""
    return {
        row["dataset"]: row for row in read_rows(PRINTED / f"{file}.csv") if row["dataset"] not in {"average", "time"}
    }


@lru_cache
def printed_seconds() -> Row:
    """Return the printed seconds of each method."""
    return next(row for row in read_rows(PRINTED / f"{APPROXIMATION.file}.csv") if row["dataset"] == "time")


def mean(values: Iterable[float | None]) -> float | None:
    """Return the average, None if a value or all of them are missing."""
    known = list(values)
    return None if not known or None in known else float(np.mean(np.array(known, dtype=float)))


def decimals(value: float | None, digits: int = 2) -> str:
    """Return a number with this many decimals, or an empty text for None."""
    return "" if value is None else f"{value:.{digits}f}"


def differences(results: Results, method: str, part: Table) -> dict[str, float]:
    """Return by how much ours exceed the printed figures."""
    return {name: round(ours - theirs, 2) for name, (ours, theirs) in results.pairs(method, part).items()}
