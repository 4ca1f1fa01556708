"""Rows of all cells of a question: those on disk as they are, the others measured and stored one by one.

A cell is one tool with one setting on one set. Its row has the figures, or a note that says why there are none: the
tool cannot be installed, fails, or reaches a limit of time or memory. A tool that has reached a limit is not tried on
the larger sets that follow. Rows without data are tried again; all others are kept until they are asked for again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.environments import RivalError
from benchmarks.harness import Row, read_rows, say, stamp, write_rows
from benchmarks.peers.process import StoppedError
from experiments.data import MissingDataError

NO_DATA = "no data: "
NOT_TRIED = "not tried: "
DIGITS = 6
PROVENANCE = ("version", "cosep", "commit", "date", "machine", "software")


class Plan(NamedTuple):
    """Which cells of a grid are measured."""

    full: bool = False
    only: tuple[str, ...] = ()
    again: bool = False

    def takes(self, key: Row, known: Row | None) -> bool:
        """Return whether a cell is to be measured."""
        if self.only and key["tool"] not in self.only:
            return False
        return self.again or known is None or str(known.get("note", "")).startswith(NO_DATA)


def fill(question: ModuleType, path: Path, plan: Plan) -> list[Row]:
    """Return one row for each cell, in the order of the cells; each is on disk as soon as it is known."""
    keys = list(question.cells(full=plan.full))
    held = read_rows(path) if path.exists() else []
    known = {identity_of(row, keys[0]): row for row in held}
    wanted = [key for key in keys if plan.takes(key, known.get(identity_of(key, key)))]
    say(f"{question.__name__.rpartition('.')[2]}: {len(wanted)} of {len(keys)} cells to measure")
    made_by = stamp()
    for key, row in measured(question, wanted, known, full=plan.full):
        before = known.get(identity_of(key, key), {})
        if before.get("note") == row.get("note", ""):
            continue
        known[identity_of(key, key)] = key | rounded(row) | made_by
        keep(path, [known[identity] for some in keys if (identity := identity_of(some, key)) in known], key)
    return [known[identity] for key in keys if (identity := identity_of(key, key)) in known]


def measured(
    question: ModuleType, keys: Iterable[Row], known: Mapping[Any, Row], *, full: bool
) -> Iterator[tuple[Row, Row]]:
    """Yield each key with its figures, or with a note."""
    stopped = {
        (row["tool"], row["setting"]): row["set"] for row in known.values() if row.get("stopped") and "note" in row
    }
    again: set[tuple[str, str]] = set()
    for key in keys:
        tool = (key["tool"], key["setting"])
        if identity_of(key, key) in known and tool not in again:
            again.add(tool)
            stopped.pop(tool, None)
        version = {"version": question.tool_of(key).version}
        if tool in stopped:
            yield key, version | {"note": f"{NOT_TRIED}stopped on {stopped[tool]}", "stopped": 1}
            continue
        say(f"  {', '.join(str(part) for part in key.values())}")
        row = attempt(question.measure, key, full=full)
        if row.get("stopped"):
            stopped[tool] = key["set"]
        yield key, version | row


def attempt(measure: Callable[..., Row], key: Row, *, full: bool) -> Row:
    """Return the figures of one cell, or a note."""
    try:
        return measure(key, full=full)
    except MissingDataError as missing:
        return {"note": f"{NO_DATA}{missing}"}
    except StoppedError as stopped:
        return {"note": str(stopped), "stopped": 1}
    except RivalError as failed:
        return {"note": str(failed)}


def keep(path: Path, rows: list[Row], key: Row) -> None:
    """Write the rows, with the same order of columns whatever was measured first."""
    figures = sorted({name for row in rows for name in row} - set(key) - set(PROVENANCE) - {"note"})
    names = (*key, *figures, "note", *PROVENANCE)
    partial = path.with_suffix(".partial")
    write_rows(partial, [{name: row.get(name, "") for name in names} for row in rows])
    partial.replace(path)


def rounded(row: Row) -> Row:
    """Return a row with six significant digits, which are more than are repeatable."""
    return {name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for name, value in row.items()}


def identity_of(row: Row, key: Row) -> tuple[tuple[str, str], ...]:
    """Return the key columns of a row, as text."""
    return tuple((name, str(row.get(name, ""))) for name in key)
