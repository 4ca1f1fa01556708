"""The command ``cosep transform``: new rows explained by a saved model, or completed from their selected columns."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cosep.cli.console import json_text
from cosep.cli.folder import complete_file
from cosep.cli.model_folder import load_model, positions_in, table_options, text_options
from cosep.cli.progress import no_progress, progress
from cosep.cli.tables import check_zero_bytes, formula_warning, rounded, save_table, write_table
from cosep.findings.block_groups import col_names_of, in_groups, row_names_at
from cosep.findings.new_rows import CompletedRows, ExplainedRows, complete_rows, decoder_of, explain_rows, fill_rows
from cosep.findings.tables import is_assigned
from cosep.findings.topics import topics_of
from cosep.io import NamedMatrix, read_blocks
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.records.decoder import Decoder
from cosep.records.factorization import Factorization
from cosep.records.filled_data import missing_of
from cosep.utils.atomic import flush
from cosep.utils.messages import shown
from cosep.utils.types import Callback, Indices

# The text of a number takes about this many times the room of the number.
TEXT_GROWTH = 16
# How many columns a warning names.
NAMED = 5

# Reads INPUT, given how to count the words of texts, the columns and reading of the table of the model, and which
# entries may be missing.
RowReader = Callable[[dict[str, Any], tuple[list[str], dict[str, Any]], str | None], NamedMatrix]


class Completion(NamedTuple):
    """How to complete rows: the name of the decoder, and the file for the errors of the columns, if any."""

    decoder: str
    errors: Path | None


def run(
    model: Path, read: RowReader, out: Path | None, completion: Completion | None, *, fill: bool = False, as_json: bool
) -> None:
    """Read the model and the new rows, and write what the model says about the rows."""
    record = load_model(model)
    decoder = None if completion is None else decoder_of(record, completion.decoder)
    missing = missing_of(record)
    if fill and missing is None:
        msg = f"--fill is for a model with missing entries, but model={shown(str(model))} was fitted without --missing."
        raise ValueError(msg)
    data = read(text_options(record), table_options(record), None if completion is not None else missing)
    check_zero_bytes(data.row_names)
    if fill:
        table = filled(record, data)
    else:
        table = transformed(record, data) if decoder is None else completed(record, data, decoder.name)
    with with_errors(decoder, np.asarray(record.col_names), completion, out):
        if out is None:
            _write(table, sys.stdout, as_json=as_json)
        else:
            with complete_file(out) as part, part.open("w", newline="", encoding="utf-8") as file:
                _write(table, file, as_json=as_json)
    if not as_json:
        _print_warnings(formula_warning(table["name"], table) + unpredictable_warning(decoder))


def run_blocks(model: Path, path: Path, out: Path | None, layer: str | None, completion: Completion | None) -> None:
    """Read the model, and write what it says about blocks of rows, a group of blocks at a time."""
    record = load_model(model)
    blocks = read_blocks(path, layer=layer)
    decoder = None if completion is None else decoder_of(record, completion.decoder)
    tables = transformed_blocks if decoder is None else partial(completed_blocks, decoder=decoder)
    warned = formula_warning(representatives_of(record) if decoder is None else np.asarray(record.col_names))
    with with_errors(decoder, np.asarray(record.col_names), completion, out), ExitStack() as stack:
        file: TextIO = sys.stdout
        if out is not None:
            part = stack.enter_context(complete_file(out))
            file = stack.enter_context(part.open("w", newline="", encoding="utf-8"))
        callback = stack.enter_context(progress(Console(stderr=True), quiet=out is None)) or no_progress
        for start, table in tables(record, blocks, callback):
            write_table(file, table, header=start == 0)
            warned = warned or formula_warning(table["name"])
    _print_warnings(warned + unpredictable_warning(decoder))


def transformed_blocks(record: Factorization, blocks: RowBlocks, callback: Callback) -> Iterator[tuple[int, Any]]:
    """Yield the first row, and the table of `transformed`, of each group of blocks."""
    columns = positions_in(col_names_of(blocks), np.asarray(record.col_names), "columns")
    numbers_per_row = TEXT_GROWTH * (len(representatives_of(record)) + 1)
    for start, stop, found in in_groups(blocks, explain_block, (record, columns), numbers_per_row, callback):
        yield start, transform_table(record, names_between(blocks, start, stop), found)


def completed_blocks(
    record: Factorization, blocks: RowBlocks, callback: Callback, *, decoder: Decoder
) -> Iterator[tuple[int, Any]]:
    """Yield the first row, and the table of `completed`, of each group of blocks."""
    names = np.asarray(record.col_names)
    columns = positions_in(col_names_of(blocks), names[decoder.col_indices], "selected columns")
    for start, stop, found in in_groups(blocks, complete_block, (decoder, columns), TEXT_GROWTH * len(names), callback):
        yield start, completed_table(names, names_between(blocks, start, stop), found.values)


def names_between(blocks: RowBlocks, start: int, stop: int) -> NDArray[Any]:
    """Return the names of consecutive rows, checked."""
    names = row_names_at(blocks, np.arange(start, stop))
    check_zero_bytes(names)
    return names


def complete_block(state: tuple[Decoder, Indices | None], block: LocalMatrix, _start: int) -> CompletedRows:
    """Complete the rows of one block, given where the selected columns are in it."""
    decoder, columns = state
    return CompletedRows(decoder.predict(block.take(cols=columns)))


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
        "assigned": is_assigned(found.labels, found.explained).astype(int).tolist(),
    }
    for name, coefficients in zip(names, found.coefficients.T, strict=True):
        table[unused_name(str(name), table)] = coefficients.tolist()
    return table


def completed(record: Factorization, data: NamedMatrix, decoder: str = "ridge") -> dict[str, Any]:
    """Return the table of all columns of new rows, predicted from the selected ones."""
    names, selected = np.asarray(record.col_names), topics_of(record).cols
    full = complete_rows(record, model_columns(data, names[selected], "selected columns"), decoder)
    return completed_table(names, data.row_names, full)


def filled(record: Factorization, data: NamedMatrix) -> dict[str, Any]:
    """Return the table of rows with their missing entries filled."""
    names = np.asarray(record.col_names)
    return completed_table(names, data.row_names, fill_rows(record, model_columns(data, names, "columns")))


def completed_table(col_names: NDArray[Any], row_names: NDArray[Any], full: NDArray[Any]) -> dict[str, Any]:
    """Return the table of full rows."""
    table: dict[str, Any] = {"name": row_names.tolist()}
    for name, values in zip(col_names, full.T, strict=True):
        table[unused_name(str(name), table)] = values.tolist()
    return table


@contextmanager
def with_errors(
    decoder: Decoder | None, col_names: NDArray[Any], completion: Completion | None, out: Path | None
) -> Iterator[None]:
    """Write the errors to expect, if they are wanted, around the writing of the answer: both files appear, or none.

    An answer on standard output cannot be taken back, so the file of the errors is complete before.
    """
    with ExitStack() as stack:
        if decoder is not None and completion is not None and completion.errors is not None:
            part = stack.enter_context(complete_file(completion.errors, "errors"))
            save_table(part, errors_table(decoder, col_names))
            flush(part)
            if out is None:
                stack.close()
        yield


def errors_table(decoder: Decoder, col_names: NDArray[Any]) -> dict[str, Any]:
    """Return the error to expect of each column."""
    selected = np.isin(np.arange(len(col_names)), decoder.col_indices)
    return {
        "column": col_names.tolist(),
        "selected": selected.astype(int).tolist(),
        "error": [None if np.isnan(error) else error for error in decoder.error.tolist()],
        "spread": decoder.spread.tolist(),
        "r2": rounded(np.where(selected, np.nan, decoder.r2)),
    }


def unpredictable_warning(decoder: Decoder | None) -> list[str]:
    """Return a warning that names columns that are predicted no better than by their mean, otherwise nothing."""
    found = [] if decoder is None else decoder.unpredictable.tolist()
    if not found:
        return []
    some = ", ".join(shown(name, 40) for name in found[:NAMED]) + (", ..." if len(found) > NAMED else "")
    columns = "1 column is" if len(found) == 1 else f"{len(found)} columns are"
    return [f"{columns} predicted no better than by the mean of the model's rows: {some}."]


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
