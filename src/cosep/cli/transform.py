"""The command ``cosep transform``: new rows explained by a saved model, or completed from their selected columns."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cosep.cli.console import json_text
from cosep.cli.folder import complete_file
from cosep.cli.model_folder import load_model, positions_in, table_options, text_options
from cosep.cli.progress import no_progress, progress
from cosep.cli.tables import check_zero_bytes, formula_warning, rounded, write_table
from cosep.findings.block_groups import col_names_of, in_groups, row_names_at
from cosep.findings.new_rows import ExplainedRows, complete_rows, explain_rows
from cosep.findings.topics import topics_of
from cosep.io import NamedMatrix, read_blocks
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.utils.types import Indices

# The text of a number takes about this many times the room of the number.
TEXT_GROWTH = 16

# Reads INPUT, given how to count the words of texts, and the columns and reading of the table of the model.
RowReader = Callable[[dict[str, Any], tuple[list[str], dict[str, Any]]], NamedMatrix]


def run(model: Path, read: RowReader, out: Path | None, *, complete: bool, as_json: bool) -> None:
    """Read the model and the new rows, and write what the model says about the rows."""
    record = load_model(model)
    data = read(text_options(record), table_options(record))
    check_zero_bytes(data.row_names)
    table = (completed if complete else transformed)(record, data)
    if out is None:
        _write(table, sys.stdout, as_json=as_json)
    else:
        with complete_file(out) as part, part.open("w", newline="", encoding="utf-8") as file:
            _write(table, file, as_json=as_json)
    if not as_json:
        _print_warnings(formula_warning(table["name"], table))


def run_blocks(model: Path, path: Path, out: Path | None, layer: str | None) -> None:
    """Read the model, and write what it says about blocks of rows, a group of blocks at a time."""
    record = load_model(model)
    blocks = read_blocks(path, layer=layer)
    columns = positions_in(col_names_of(blocks), np.asarray(record.col_names), "columns")
    representatives = representatives_of(record)
    numbers_per_row = TEXT_GROWTH * (len(representatives) + 1)
    warned = formula_warning(representatives)
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if out is not None:
            part = stack.enter_context(complete_file(out))
            file = stack.enter_context(part.open("w", newline="", encoding="utf-8"))
        callback = stack.enter_context(progress(Console(stderr=True), quiet=out is None)) or no_progress
        for start, stop, found in in_groups(blocks, explain_block, (record, columns), numbers_per_row, callback):
            names = row_names_at(blocks, np.arange(start, stop))
            check_zero_bytes(names)
            write_table(file, transform_table(record, names, found), header=start == 0)
            warned = warned or formula_warning(names)
    _print_warnings(warned)


def explain_block(state: tuple[Factorization, Indices | None], block: LocalMatrix, _start: int) -> ExplainedRows:
    """Explain the rows of one block, given where the columns of the model are in it."""
    record, columns = state
    return explain_rows(record, block if columns is None else block.columns(columns))


def transformed(record: Factorization, data: NamedMatrix) -> dict[str, Any]:
    """Return the table of new rows as mixtures of the representatives."""
    X = model_columns(data, np.asarray(record.col_names), "columns")
    return transform_table(record, data.row_names, explain_rows(record, X))


def transform_table(record: Factorization, row_names: NDArray[Any], found: ExplainedRows) -> dict[str, Any]:
    """Return for each row the representative that it holds most of, its share, and the coefficients of all of them."""
    names = representatives_of(record)
    table: dict[str, Any] = {
        "name": row_names.tolist(),
        "representative": np.where(found.labels < 0, "", names[found.labels]).tolist(),
        "membership": rounded(found.shares),
        "explained": rounded(found.explained),
    }
    for name, coefficients in zip(names, found.coefficients.T, strict=True):
        table[unused_name(str(name), table)] = coefficients.tolist()
    return table


def completed(record: Factorization, data: NamedMatrix) -> dict[str, Any]:
    """Return the table of all columns of new rows, predicted from the selected ones."""
    names = np.asarray(record.col_names)
    full = complete_rows(record, model_columns(data, names[topics_of(record).cols], "selected columns"))
    table: dict[str, Any] = {"name": data.row_names.tolist()}
    for name, values in zip(names, full.T, strict=True):
        table[unused_name(str(name), table)] = values.tolist()
    return table


def representatives_of(record: Factorization) -> NDArray[Any]:
    """Return the names of the selected rows."""
    return np.asarray(record.row_names)[topics_of(record).rows]


def model_columns(data: NamedMatrix, wanted: NDArray[Any], what: str) -> Any:
    """Return the wanted columns of a matrix, by name, in the order of the model; others are left out."""
    columns = positions_in(data.col_names, wanted, what)
    return data.values if columns is None else data.values[:, columns]


def unused_name(name: str, table: dict[str, Any]) -> str:
    """Return the name, with a number if the table has it already."""
    return name if name not in table else next(free for k in count(2) if (free := f"{name} ({k})") not in table)


def _write(table: dict[str, Any], file: TextIO, *, as_json: bool) -> None:
    """Write a table as CSV or JSON."""
    if as_json:
        file.write(json_text(table, None) + "\n")
    else:
        write_table(file, table)


def _print_warnings(sentences: list[str]) -> None:
    """Print warnings to standard error."""
    for sentence in sentences:
        Console(stderr=True).print(sentence, highlight=False, markup=False, soft_wrap=True)
