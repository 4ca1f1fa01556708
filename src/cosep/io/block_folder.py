"""Blocks of rows in a folder of ``.npz``, ``.npy`` or ``.parquet`` files."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.io.input_source import InputSource, check_folder_entry, fingerprint, open_source
from cosep.io.numpy_file import npy_header, npz_header
from cosep.io.parquet_table import PARQUET_SUFFIXES, ParquetTable
from cosep.io.reading import read
from cosep.io.table_layout import TableOptions, find_layout
from cosep.records.archive import ArrayHeader
from cosep.utils.extras import optional
from cosep.utils.messages import shown

ARRAYS: dict[str, Callable[[InputSource], ArrayHeader]] = {".npy": npy_header, ".npz": npz_header}
SUFFIXES = (*ARRAYS, *PARQUET_SUFFIXES)


class ParquetHeader(NamedTuple):
    """Number of rows and names of the columns of a Parquet file."""

    n_rows: int
    names: list[str]


def block_files(folder: Path) -> list[Path]:
    """Return the files that can be blocks, ordered by the numbers in their names, without hidden files."""
    found = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")]
    return sorted((path for path in found if path.is_file()), key=lambda path: (_natural_order(path.name), path.name))


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key of words and numbers, which puts block2 before block10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def file_blocks(source: InputSource) -> dict[str, Any]:
    """Return the arguments of `RowBlocks` for a folder of files; only headers are read."""
    paths = block_files(source.path)
    if not paths:
        source.fail(
            f"is not a Zarr store and has no files of rows ({', '.join(SUFFIXES)}); subfolders are not searched."
        )
    kinds: dict[str, Path] = {}
    for path in paths:
        check_folder_entry(source, path)
        kinds.setdefault(".parquet" if path.suffix.lower() in PARQUET_SUFFIXES else path.suffix.lower(), path)
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        source.fail(f"has files of several formats, such as {first.name} and {second.name}; use one format.")
    arguments = _table_blocks(paths) if ".parquet" in kinds else _array_blocks(paths)
    return {**arguments, "names": [path.name for path in paths], "identity": " ".join(map(fingerprint, paths))}


def _array_blocks(paths: list[Path]) -> dict[str, Any]:
    headers = []
    for path in paths:
        with open_source(path, None) as source:
            headers.append(ARRAYS[source.suffix](source))
            if (n := headers[-1].shape[1]) != headers[0].shape[1]:
                source.fail(f"has {n} columns, but {paths[0].name} has {headers[0].shape[1]}; the blocks must agree.")
    return {
        "pieces": [partial(_values, str(path)) for path in paths],
        "lengths": [header.shape[0] for header in headers],
        "n_cols": headers[0].shape[1],
        "dtype": np.result_type(*(header.dtype for header in headers)),
    }


def _table_blocks(paths: list[Path]) -> dict[str, Any]:
    headers = []
    for path in paths:
        with open_source(path, None) as source:
            headers.append(_parquet_header(source))
            _check_same_columns(source, headers[-1].names, headers[0].names, paths[0].name)
    lengths = [header.n_rows for header in headers]
    with open_source(paths[int(np.argmax(np.array(lengths) > 0))], None) as source:
        table = ParquetTable(source)
        layout = find_layout(source, table.names, table.sample, TableOptions(layout="wide"), table.index)
    index = None if layout.index is None else layout.names[layout.index]
    files = [str(path) for path in paths]
    return {
        "pieces": [partial(_values, file, layout="wide", index=index) for file in files],
        "lengths": lengths,
        "n_cols": len(layout.numbers),
        "col_names": np.array([layout.names[j] for j in layout.numbers], dtype=object),
        "row_names": None if layout.index is None else partial(_names, files, lengths, layout.index),
    }


def _parquet_header(source: InputSource) -> ParquetHeader:
    parquet = optional("pyarrow.parquet", "reading .parquet", "cli")
    with source.expecting("a Parquet file"):
        metadata = parquet.read_metadata(source.path)
        return ParquetHeader(metadata.num_rows, list(metadata.schema.to_arrow_schema().names))


def _check_same_columns(source: InputSource, names: list[str], first: list[str], first_file: str) -> None:
    if names == first:
        return
    if len(names) != len(first):
        source.fail(f"has {len(names)} columns, but {first_file} has {len(first)}; the blocks must agree.")
    j = next(j for j, name in enumerate(names) if name != first[j])
    source.fail(
        f"its column {j} is {shown(names[j])}, but {shown(first[j])} in {first_file}; all blocks must have the same "
        "columns, in the same order."
    )


def _values(path: str, **options: Any) -> Any:
    return read(path, **options).values


def _names(paths: list[str], lengths: list[int], index: int, positions: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return the names at these positions; only files that hold some of them are read."""
    ends = np.cumsum(lengths)
    file_numbers = np.searchsorted(ends, positions, side="right")
    found = np.empty(len(positions), dtype=object)
    for k in np.unique(file_numbers):
        with open_source(paths[k], None) as source:
            names = [name for piece in ParquetTable(source).pieces([], [index]) for name in piece[index].to_pylist()]
        in_file = file_numbers == k
        found[in_file] = np.array(names, dtype=object)[positions[in_file] - (ends[k] - lengths[k])]
    return found.astype(np.str_)
