"""A folder of files enters, each with some rows of one matrix; what tells these blocks leaves, from headers alone."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.io.input_source import InputSource, check_inside, fingerprint, opened
from cosep.io.numpy_file import npy_header, npz_header
from cosep.io.parquet_table import PARQUET_SUFFIXES, ParquetTable
from cosep.io.reading import read
from cosep.io.table_layout import find_layout
from cosep.records.archive import ArrayHeader
from cosep.utils.extras import optional
from cosep.utils.messages import shown

ARRAYS: dict[str, Callable[[InputSource], ArrayHeader]] = {".npy": npy_header, ".npz": npz_header}
SUFFIXES = (*ARRAYS, *PARQUET_SUFFIXES)


class Heading(NamedTuple):
    """What a Parquet file announces."""

    n_rows: int
    names: list[str]


def block_files(folder: Path) -> list[Path]:
    """Return the files that can be blocks, in the order of the numbers in their names; hidden ones are not."""
    found = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")]
    return sorted((path for path in found if path.is_file()), key=lambda path: (_numbers_apart(path.name), path.name))


def _numbers_apart(name: str) -> list[tuple[int, str]]:
    """Return a name as words and numbers, so that block2 comes before block10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def file_blocks(source: InputSource) -> dict[str, Any]:
    """Return what `RowBlocks` takes."""
    paths = block_files(source.path)
    if not paths:
        source.fail(
            f"is no Zarr store, and has no files of rows ({', '.join(SUFFIXES)}); folders within it are not searched."
        )
    kinds: dict[str, Path] = {}
    for path in paths:
        check_inside(source, path)
        kinds.setdefault(".parquet" if path.suffix.lower() in PARQUET_SUFFIXES else path.suffix.lower(), path)
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        source.fail(f"has files of several kinds, such as {one.name} and {other.name}; keep blocks of one kind in it.")
    held = _of_tables(paths) if ".parquet" in kinds else _of_arrays(paths)
    return {**held, "names": [path.name for path in paths], "identity": " ".join(map(fingerprint, paths))}


def _of_arrays(paths: list[Path]) -> dict[str, Any]:
    headers = []
    for path in paths:
        with opened(path, None) as source:
            headers.append(ARRAYS[source.suffix](source))
            if (n := headers[-1].shape[1]) != headers[0].shape[1]:
                source.fail(
                    f"has {n} columns, but {paths[0].name} has {headers[0].shape[1]}; all blocks must have the same."
                )
    return {
        "pieces": [partial(_values, str(path)) for path in paths],
        "lengths": [header.shape[0] for header in headers],
        "n_cols": headers[0].shape[1],
        "dtype": np.result_type(*(header.dtype for header in headers)),
    }


def _of_tables(paths: list[Path]) -> dict[str, Any]:
    headings = []
    for path in paths:
        with opened(path, None) as source:
            headings.append(_heading(source))
            _check_alike(source, headings[-1].names, headings[0].names, paths[0].name)
    lengths = [heading.n_rows for heading in headings]
    with opened(paths[int(np.argmax(np.array(lengths) > 0))], None) as source:
        table = ParquetTable(source)
        layout = find_layout(source, table.names, table.sample, "wide", table.index, None)
    index = None if layout.index is None else layout.names[layout.index]
    files = [str(path) for path in paths]
    return {
        "pieces": [partial(_values, file, layout="wide", index=index) for file in files],
        "lengths": lengths,
        "n_cols": len(layout.numbers),
        "col_names": np.array([layout.names[j] for j in layout.numbers], dtype=object),
        "row_names": None if layout.index is None else partial(_names, files, lengths, layout.index),
    }


def _heading(source: InputSource) -> Heading:
    parquet = optional("pyarrow.parquet", "reading .parquet", "cli")
    with source.expecting("a Parquet file"):
        metadata = parquet.read_metadata(source.path)
        return Heading(metadata.num_rows, list(metadata.schema.to_arrow_schema().names))


def _check_alike(source: InputSource, names: list[str], first: list[str], first_file: str) -> None:
    if names == first:
        return
    if len(names) != len(first):
        source.fail(f"has {len(names)} columns, but {first_file} has {len(first)}; all blocks must have the same.")
    j = next(j for j, name in enumerate(names) if name != first[j])
    source.fail(
        f"its column {j} is {shown(names[j])}, but {shown(first[j])} in {first_file}; all blocks must have the same "
        "columns, in the same order."
    )


def _values(path: str, **options: Any) -> Any:
    return read(path, **options).values


def _names(paths: list[str], lengths: list[int], index: int, positions: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return some of the names; only files that hold some are read."""
    ends = np.cumsum(lengths)
    holders = np.searchsorted(ends, positions, side="right")
    found = np.empty(len(positions), dtype=object)
    for k in np.unique(holders):
        with opened(paths[k], None) as source:
            names = [name for piece in ParquetTable(source).pieces([], [index]) for name in piece[index].to_pylist()]
        ours = holders == k
        found[ours] = np.array(names, dtype=object)[positions[ours] - (ends[k] - lengths[k])]
    return found.astype(np.str_)
