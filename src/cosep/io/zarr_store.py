"""Matrices in Zarr stores as blocks of rows: where each block is, its number of rows, and the names.

A matrix is a two-dimensional array, or a group with a csr matrix in the layout of AnnData: ``data``, ``indices`` and
``indptr``. Stores of a whole AnnData also have names. Each block opens the store itself, in whichever process reads it.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputError, InputSource, check_folder, fingerprint
from cosep.io.named_matrix import as_names
from cosep.io.zarr_codecs import codec_problem
from cosep.io.zarr_text import check_text_chunks
from cosep.records.archive import is_unicode
from cosep.utils.extras import optional
from cosep.utils.layers import NOUNS, RAW, Layer, choose_layer
from cosep.utils.messages import shown

# Files that marker a folder as part of a store: of format 3, and of format 2 for arrays and groups.
MARKER_FILES = ("zarr.json", ".zarray", ".zgroup")
# File of a group of format 2 with copies of the metadata of all nodes below it.
METADATA_COPIES = ".zmetadata"
# Entries of ``indptr``, or names, that are read at a time, and most blocks of a valid store.
INDPTR_ROWS, MAX_BLOCKS = 1 << 20, 1 << 20
# Least memory for a row.
BYTES_PER_ROW = 8
EXPECTED = "a Zarr store"


class Node(NamedTuple):
    """An array or a group of a store, with its attributes."""

    path: Path
    is_array: bool
    attributes: Mapping[str, Any]
    version: Literal[2, 3]


def is_zarr(path: Path) -> bool:
    """Return whether a folder is part of a Zarr store."""
    return any((path / marker).is_file() for marker in MARKER_FILES)


def zarr_blocks(source: InputSource, layer: str | None) -> dict[str, Any]:
    """Return the arguments of `RowBlocks` for a Zarr store."""
    optional("zarr", "reading a Zarr store", "dask")
    with source.expecting(EXPECTED):
        check_folder(source)
        root = node_at(source.path)
        names: dict[str, Any] = {}
        matrix = root
        if not root.is_array and is_zarr(root.path / "obs") and is_zarr(root.path / "var"):
            path, is_raw = _choose_layer(source, root.path, layer)
            matrix = node_at(path)
            side = root.path / RAW if is_raw else root.path
            names = {"rows": _names_at(root.path / "obs"), "columns": _names_at(side / "var")}
        elif layer is not None:
            source.fail(
                f"layer={shown(layer)} does not apply to a store of one matrix, only to an AnnData; leave it out."
            )
        arguments = (_dense if matrix.is_array else _sparse)(source, matrix)
        rows, columns = names.get("rows"), names.get("columns")
        for found, size in ((rows, sum(arguments["lengths"])), (columns, arguments["n_cols"])):
            if found is not None:
                _check_names(source, found, size)
        return {
            **arguments,
            "names": [f"{source.path.name}[{a}:{b}]" for a, b in _spans(arguments["lengths"])],
            "col_names": None if columns is None else as_names(source, open_array(columns)[:]).astype(object),
            "row_names": None if rows is None else partial(_names, source, str(rows)),
            "nouns": None if rows is None else NOUNS,
            "identity": fingerprint(matrix.path),
        }


def node_at(path: Path) -> Node:
    """Return the node in a folder of a store; raise if its codecs are not safe."""
    marker = next((marker for marker in MARKER_FILES if (path / marker).is_file()), None)
    if marker is None:
        msg = f"there is no Zarr array or group in {path.name}"
        raise ValueError(msg)
    found = _read_metadata(path / marker)
    if marker == "zarr.json":
        return Node(path, found["node_type"] == "array", found.get("attributes", {}), 3)
    if (path / METADATA_COPIES).is_file():
        _read_metadata(path / METADATA_COPIES)
    attributes = _read_metadata(path / ".zattrs") if (path / ".zattrs").is_file() else {}
    return Node(path, marker == ".zarray", attributes, 2)


def _read_metadata(path: Path) -> Any:
    """Return the JSON of a file of metadata; raise if it names codecs that are not safe."""
    found = json.loads(path.read_bytes())
    _check_codecs(path.parent, found)
    return found


def _check_codecs(path: Path, metadata: Any) -> None:
    if problem := codec_problem(metadata):
        msg = f"{path}: {problem}; write the store again with the compressor zstd."
        raise InputError(msg)


def open_array(path: Path) -> Any:
    """Open an array for reading. Its codecs are checked before, and again as Zarr understands them."""
    node = node_at(path)
    array = optional("zarr", "reading a Zarr store", "dask").open_array(str(path), mode="r", zarr_format=node.version)
    _check_codecs(path, array.metadata.to_dict())
    return array


def _sized_array(source: InputSource, path: Path) -> Any:
    """Open an array; raise if a chunk does not fit into memory."""
    array = open_array(path)
    chunk = int(np.prod(array.shards or array.chunks, dtype=object)) * max(8, array.dtype.itemsize)
    source.check_memory(chunk, f"a chunk of {path.name}")
    return array


def _is_matrix(path: Path) -> bool:
    """Return whether a store has an array or a group here that does not stand for None, as older anndata writes it."""
    return is_zarr(path) and node_at(path).attributes.get("encoding-type") != "null"


def _choose_layer(source: InputSource, root: Path, layer: str | None) -> Layer[Path]:
    """Return where the matrix of an AnnData is stored that `layer` stands for."""
    X, raw = root / "X", root / RAW / "X"
    layers = {path.name: path for path in sorted((root / "layers").glob("*")) if is_zarr(path)}
    try:
        return choose_layer(
            layer, lambda: X if _is_matrix(X) else None, layers, (lambda: raw) if is_zarr(raw) else None
        )
    except ValueError as error:
        source.fail(str(error))


def _dense(source: InputSource, node: Node) -> dict[str, Any]:
    """Return blocks of a dense array, of whole chunks of rows; chunks may divide the columns as well."""
    from cosep.matrix.row_blocks import MOST_ENTRIES, MOST_ROWS  # noqa: PLC0415 - importing cosep.io must stay quick

    array = _sized_array(source, node.path)
    if array.ndim != 2:
        source.fail(f"expected a matrix, got an array of {array.ndim} dimensions with shape {array.shape}; reshape it.")
    _check_numbers(source, array)
    m, n = array.shape
    chunk = (array.shards or array.chunks)[0]
    step = max(1, min(MOST_ROWS, MOST_ENTRIES // max(n, 1)) // chunk) * chunk
    source.check_growth(BYTES_PER_ROW * m, f"a matrix of {m} x {n}")
    source.check_memory(8 * min(step, m) * n, f"a block of {min(step, m)} x {n}")
    ends = _checked_ends(source, m, range(step, m, step))
    return {
        "pieces": [partial(_dense_rows, str(node.path), a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)],
        "lengths": np.diff(ends, prepend=0).tolist(),
        "n_cols": n,
        "dtype": array.dtype,
    }


def _dense_rows(path: str, start: int, stop: int) -> NDArray[Any]:
    return np.asarray(open_array(Path(path))[start:stop])


def _sparse(source: InputSource, node: Node) -> dict[str, Any]:
    """Return blocks of a csr matrix with about the same number of stored entries."""
    kind = node.attributes.get("encoding-type")
    if kind == "csc_matrix":
        source.fail("holds a csc matrix, whose rows cannot be read one by one; convert it to csr and write it again.")
    if kind != "csr_matrix":
        arrays = [path.name for path in sorted(node.path.iterdir()) if is_zarr(path)]
        source.fail(
            f"the group {node.path.name} is not a matrix: expected an array, a csr matrix or an AnnData, got "
            f"{kind or 'no encoding-type'}; pass one of its parts: {', '.join(arrays) or 'it has none':.200}."
        )
    parts = {name: _sized_array(source, node.path / name) for name in ("data", "indices", "indptr")}
    m, n = map(int, node.attributes["shape"])
    source.check_growth(BYTES_PER_ROW * (m + n), f"a matrix of {m} x {n}")
    data, indices, indptr = parts.values()
    _check_numbers(source, data)
    if indptr.shape != (m + 1,) or data.ndim != 1 or data.shape != indices.shape:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in parts.items())
        source.fail(f"its parts do not match a matrix of {m} x {n}: {shapes}; write it again.")
    ends = _checked_ends(source, m, _even_cuts(indptr, m))
    return {
        "pieces": [partial(_csr_rows, str(node.path), a, b, n) for a, b in zip([0, *ends[:-1]], ends, strict=True)],
        "lengths": np.diff(ends, prepend=0).tolist(),
        "n_cols": n,
        "dtype": data.dtype,
    }


def _even_cuts(indptr: Any, m: int) -> list[int]:
    """Return where blocks end, so that none has too many entries or rows; ``indptr`` is read in pieces."""
    from cosep.matrix.row_blocks import MOST_ENTRIES, MOST_ROWS  # noqa: PLC0415 - importing cosep.io must stay quick

    cuts: list[int] = []
    start, before = 0, 0
    for first in range(0, m, INDPTR_ROWS):
        ends = np.asarray(indptr[first : min(first + INDPTR_ROWS, m) + 1]).astype(np.int64)
        if (np.diff(ends) < 0).any() or (first == 0 and ends[0] != 0):
            msg = f"indptr does not increase from 0 in rows {first} to {first + len(ends) - 2}"
            raise ValueError(msg)
        last = first + len(ends) - 1
        while True:
            full = first + int(np.searchsorted(ends, before + MOST_ENTRIES, side="right")) - 1
            stop = min(max(full, start + 1), start + MOST_ROWS)
            if stop >= last:
                break
            cuts.append(stop)
            start, before = stop, int(ends[stop - first])
    return cuts


def _csr_rows(path: str, start: int, stop: int, n_cols: int) -> Any:
    """Read rows of a csr matrix."""
    where = Path(path)
    ends = np.asarray(open_array(where / "indptr")[start : stop + 1]).astype(np.int64)
    low, high = int(ends[0]), int(ends[-1])
    data = _entries(where / "data", low, high)
    # With one column all indices are zero, and their chunks need not be stored.
    indices = _entries(where / "indices", low, high) if n_cols > 1 else np.zeros(high - low, dtype=np.int32)
    if not len(data) == len(indices) == high - low:
        msg = f"indptr has {high - low} entries, but there are {len(data)} values and {len(indices)} column indices"
        raise ValueError(msg)
    return scipy.sparse.csr_array((data, indices, ends - low), shape=(stop - start, n_cols))


def _entries(path: Path, low: int, high: int) -> NDArray[Any]:
    """Read entries of a csr matrix; raise for a missing chunk, which Zarr reads as zeros."""
    array = open_array(path)
    values = np.asarray(array[low:high])
    size = (array.shards or array.chunks)[0]
    for k in range(low // size, -(-high // size)):
        key = array.metadata.encode_chunk_key((k,))
        if not values[max(k * size - low, 0) : (k + 1) * size - low].any() and not (path / key).exists():
            msg = f"the chunk {path.name}/{key} is missing, or has only zeros, which should not be stored"
            raise ValueError(msg)
    return values


def _check_numbers(source: InputSource, array: Any) -> None:
    if array.dtype.kind not in "fiub":
        source.fail(f"expected real numbers, got an array of {array.dtype}; convert it first.")


def _checked_ends(source: InputSource, m: int, cuts: Any) -> list[int]:
    """Return where blocks end, with the end of the matrix; raise if there are too many."""
    if len(cuts) >= MAX_BLOCKS:
        source.fail(
            f"{m} rows would be {len(cuts) + 1} blocks; if the store is not damaged, write it with larger chunks."
        )
    return [*cuts, m]


def _spans(lengths: list[int]) -> list[tuple[int, int]]:
    ends = np.cumsum(lengths).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _names_at(path: Path) -> Path:
    """Return where a data frame of AnnData stores its index."""
    index = str(node_at(path).attributes.get("_index", "_index"))
    if index != Path(index).name:
        msg = f"{path.name} names {shown(index)} as its index, which it does not have"
        raise ValueError(msg)
    found = node_at(path / index)
    return found.path if found.is_array else found.path / "values"


def _check_names(source: InputSource, path: Path, size: int) -> None:
    """Read all names once, some chunks at a time, to detect damage before a long computation."""
    array, where = _sized_array(source, path), path.relative_to(source.path)
    if array.shape != (size,):
        source.fail(f"{where} must have {size} names; write the store again.")
    check_text_chunks(path, array)
    step = max(1, INDPTR_ROWS // array.chunks[0]) * array.chunks[0]
    for start in range(0, size, step):
        _as_text(array[start : start + step])


def _names(source: InputSource, path: str, positions: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return the names at these positions."""
    with source.expecting(EXPECTED):
        unique, back = np.unique(positions, return_inverse=True)
        return _as_text(open_array(Path(path)).oindex[unique])[back]


def _as_text(names: Any) -> NDArray[np.str_]:
    found = np.asarray(names)
    found = found if found.dtype.kind == "U" else np.array([str(name) for name in found.tolist()], dtype=np.str_)
    if not is_unicode(found):
        msg = "a name is not valid Unicode"
        raise ValueError(msg)
    return found
