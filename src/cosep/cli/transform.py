"""A saved model and new rows enter; their memberships, or their missing columns, leave."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cosep.cli.folder import FILES, complete_file, recover
from cosep.cli.summary import json_text
from cosep.cli.tables import formula_warning, refuse_zero_bytes, write_table
from cosep.cli.turns import col_names_of, in_turn, names_at
from cosep.cli.watching import nobody, watching
from cosep.findings.topics import topics_of
from cosep.fit.membership import memberships
from cosep.io import NamedMatrix, TextOptions, read_blocks
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.utils.messages import shown
from cosep.utils.types import Array

# So many times the room of a number is taken by its text.
PRINTED = 16


def run(
    model: Path, read: Callable[[dict[str, Any]], NamedMatrix], out: Path | None, *, complete: bool, as_json: bool
) -> None:
    """Read the model and the new rows, and write what the one says of the others."""
    record = load(model)
    data = read(counting(record))
    refuse_zero_bytes(data.row_names)
    table = (completed if complete else transformed)(record, data)
    write(table, out, as_json=as_json)
    if not as_json:
        warn(formula_warning(table["name"], table))


def warn(sentences: list[str]) -> None:
    """Say on standard error what to mind."""
    for sentence in sentences:
        Console(stderr=True).print(sentence, highlight=False, markup=False, soft_wrap=True)


class Shares(NamedTuple):
    """What some rows are explained by: the part of each representative, and the relative errors."""

    shares: Array
    errors: Array

    def merge(self, others: Sequence[Self]) -> "Shares":
        """Put following rows below."""
        return Shares(*(np.concatenate(parts) for parts in zip(self, *others, strict=True)))


def shares_of(asked: tuple[Factorization, list[int] | None], block: LocalMatrix, _start: int) -> Shares:
    """Explain the rows of one block, given where the columns of the model are in it."""
    record, places = asked
    return Shares(*memberships(record, block if places is None else LocalMatrix(block.values[:, places])))


def run_blocks(model: Path, path: Path, out: Path | None, layer: str | None) -> None:
    """Read the model, and write what it says of rows that need not fit in memory, some blocks at a time."""
    record = load(model)
    blocks = read_blocks(path, layer=layer)
    places = places_of(col_names_of(blocks), np.asarray(record.col_names), "columns")
    topics = topics_of(record)
    width = PRINTED * (len(topics.rows) + 1)
    noted = formula_warning(np.asarray(record.row_names)[topics.rows])
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if out is not None:
            part = stack.enter_context(complete_file(out))
            file = stack.enter_context(part.open("w", newline="", encoding="utf-8"))
        callback = stack.enter_context(watching(Console(stderr=True), quiet=out is None)) or nobody
        for start, stop, found in in_turn(blocks, shares_of, (record, places), width, callback):
            names = names_at(blocks, np.arange(start, stop))
            refuse_zero_bytes(names)
            write_table(file, table_of(record, names, found), heading=start == 0)
            noted = noted or formula_warning(names)
    warn(noted)


def counting(record: Factorization) -> dict[str, Any]:
    """Return how new texts are counted: as those that the model was fitted to."""
    settings = dict(record.meta.get("text", {"stop_words": None}))
    words = tuple(map(str, np.asarray(record.col_names)))
    return {**settings, "vocabulary": words} if len(set(words)) == len(words) else settings


def answer_of(model: Path) -> list[Path]:
    """Return the files of the answer that a model belongs to."""
    if model.is_dir():
        return [model / name for name in FILES]
    return [model.with_name(name) for name in FILES] if model.name == FILES[0] else [model]


def load(path: Path) -> Factorization:
    """Return a model that ``cosep fit`` wrote, given its file or its folder."""
    file = path / FILES[0] if path.is_dir() else path
    try:
        recover(file.parent)
    except OSError as error:
        reason = f"a run that was killed left it unfinished, and it cannot be finished ({error.strerror})"
        msg = f"model={shown(str(path))}: {reason}; make its folder writable."
        raise ValueError(msg) from error
    if not file.is_file():
        msg = f"model={str(path)!r} is no model: name a folder that cosep fit wrote, or the model.npz in it."
        raise ValueError(msg)
    try:
        record = Factorization.load(file)
        topics_of(record)
        TextOptions.from_mapping(record.meta.get("text", {}))
    except ValueError as error:
        msg = f"model={str(path)!r} is no model of cosep fit ({error}); name a folder that it wrote."
        raise ValueError(msg) from error
    if record.row_names is None or record.col_names is None:
        msg = f"model={str(path)!r} has no names of rows and columns; write it with cosep fit."
        raise ValueError(msg)
    return record


def columns_of(data: NamedMatrix, wanted: NDArray[Any], what: str) -> Any:
    """Return the wanted columns of a matrix, by name, in the order of the model; others are left out."""
    places = places_of(data.col_names, wanted, what)
    return data.values if places is None else data.values[:, places]


def places_of(found: NDArray[Any], wanted: NDArray[Any], what: str) -> list[int] | None:
    """Return where the wanted columns are among those found, None if these are the same."""
    if np.array_equal(found, wanted):
        return None
    known, asked = Counter(map(str, found)), Counter(map(str, wanted))
    repeated = [name for name in asked if asked[name] > 1 or known[name] > 1]
    if repeated:
        msg = f"input has columns in another order than the model, and several are called {repeated[0]!r}; rename them."
        raise ValueError(msg)
    places = {str(name): place for place, name in enumerate(found)}
    missing = [str(name) for name in wanted if str(name) not in places]
    if missing:
        some = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
        msg = f"input lacks {len(missing)} of {len(wanted)} {what} of the model ({some}); name its columns as there."
        raise ValueError(msg)
    return [places[str(name)] for name in wanted]


def transformed(record: Factorization, data: NamedMatrix) -> dict[str, Any]:
    """Return for each new row its nearest representative, how well it is explained, and the part of each one."""
    found = Shares(*memberships(record, columns_of(data, np.asarray(record.col_names), "columns")))
    return table_of(record, data.row_names, found)


def table_of(record: Factorization, row_names: NDArray[Any], found: "Shares") -> dict[str, Any]:
    """Return the table of some new rows."""
    shares, errors = found
    names, known = np.asarray(record.row_names)[topics_of(record).rows], shares.any(axis=1)
    table: dict[str, Any] = {
        "name": row_names.tolist(),
        "representative": np.where(known, names[shares.argmax(axis=1)], "").tolist(),
        "membership": np.round(shares.max(axis=1), 4).tolist(),
        "explained": [None if np.isnan(error) else round(1.0 - error, 4) for error in errors],
    }
    for name, part in zip(names, shares.T, strict=True):
        table[unused(str(name), table)] = np.round(part, 4).tolist()
    return table


def completed(record: Factorization, data: NamedMatrix) -> dict[str, Any]:
    """Return all columns of new rows from the selected ones."""
    topics, names = topics_of(record), np.asarray(record.col_names)
    full = np.asarray(columns_of(data, names[topics.cols], "selected columns") @ topics.col_weights)
    table: dict[str, Any] = {"name": data.row_names.tolist()}
    for name, values in zip(names, full.T, strict=True):
        table[unused(str(name), table)] = values.tolist()
    return table


def unused(name: str, table: dict[str, Any]) -> str:
    """Return the name, with a number if the table has it already."""
    return name if name not in table else next(free for k in count(2) if (free := f"{name} ({k})") not in table)


def write(table: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    """Write a table to a file, or to standard output, as CSV or JSON."""
    if out is None:
        _print(table, sys.stdout, as_json=as_json)
        return
    with complete_file(out) as part, part.open("w", newline="", encoding="utf-8") as file:
        _print(table, file, as_json=as_json)


def _print(table: dict[str, Any], file: TextIO, *, as_json: bool) -> None:
    if as_json:
        file.write(json_text(table, None) + "\n")
    else:
        write_table(file, table)
