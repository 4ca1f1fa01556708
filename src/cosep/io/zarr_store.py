"""A Zarr store enters; what tells blocks of its rows leaves: where each is, how many rows it has, what they are called.

A matrix is a two-dimensional array, or a group that holds one as AnnData lays out csr matrices: ``data``, ``indices``
and ``indptr``. Whole stores of AnnData have names as well. Every block opens the store on its own, wherever it is read.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputError, InputSource, check_within, fingerprint
from cosep.io.named_matrix import as_names
from cosep.io.zarr_codecs import codec_problem
from cosep.records.archive import is_unicode
from cosep.utils.extras import optional
from cosep.utils.layers import RAW, Layer, choose_layer
from cosep.utils.messages import shown

# What a folder has that is part of a store, of either format: 3, and 2 for arrays and groups.
MARKS = ("zarr.json", ".zarray", ".zgroup")
# Where a group of format 2 keeps copies of the metadata of all nodes below it.
COPIES = ".zmetadata"
# Rows of which ``indptr`` is read at a time, and blocks that a sound store could have.
STRETCH, MOST_BLOCKS = 1 << 20, 1 << 20
# Memory that a row takes at least, whatever it holds.
BYTES_A_ROW = 8
EXPECTED = "a Zarr store"


class Node(NamedTuple):
    """An array or a group of a store, and what is noted with it."""

    path: Path
    is_array: bool
    attributes: Mapping[str, Any]
    version: Literal[2, 3]


def is_zarr(path: Path) -> bool:
    """Tell whether a folder is part of a Zarr store."""
    return any((path / mark).is_file() for mark in MARKS)


def zarr_blocks(source: InputSource, layer: str | None) -> dict[str, Any]:
    """Return what `RowBlocks` takes."""
    optional("zarr", "reading a Zarr store", "dask")
    with source.expecting(EXPECTED):
        check_within(source)
        root = node_at(source.path)
        names: dict[str, Any] = {}
        matrix = root
        if not root.is_array and is_zarr(root.path / "obs") and is_zarr(root.path / "var"):
            path, is_raw = _chosen(source, root.path, layer)
            matrix = node_at(path)
            side = root.path / RAW if is_raw else root.path
            names = {"rows": _names_at(root.path / "obs"), "columns": _names_at(side / "var")}
        elif layer is not None:
            source.fail(
                f"layer={shown(layer)} says nothing of a store of one matrix, only of an AnnData; leave it out."
            )
        held = (_dense if matrix.is_array else _sparse)(source, matrix)
        rows, columns = names.get("rows"), names.get("columns")
        for found, size in ((rows, sum(held["lengths"])), (columns, held["n_cols"])):
            if found is not None:
                _check_names(source, found, size)
        return {
            **held,
            "names": [f"{source.path.name}[{a}:{b}]" for a, b in _spans(held["lengths"])],
            "col_names": None if columns is None else as_names(source, open_array(columns)[:]).astype(object),
            "row_names": None if rows is None else partial(_names, source, str(rows)),
            "identity": fingerprint(matrix.path),
        }


def node_at(path: Path) -> Node:
    """Return the node in a folder of a store; refuse one that could make a reader execute something."""
    mark = next((mark for mark in MARKS if (path / mark).is_file()), None)
    if mark is None:
        msg = f"there is no Zarr array or group in {path.name}"
        raise ValueError(msg)
    found = _parsed(path / mark)
    if mark == "zarr.json":
        return Node(path, found["node_type"] == "array", found.get("attributes", {}), 3)
    if (path / COPIES).is_file():
        _parsed(path / COPIES)
    notes = _parsed(path / ".zattrs") if (path / ".zattrs").is_file() else {}
    return Node(path, mark == ".zarray", notes, 2)


def _parsed(path: Path) -> Any:
    """Return the JSON of a file of metadata, if no codec that it names could execute something."""
    found = json.loads(path.read_bytes())
    _check_codecs(path.parent, found)
    return found


def _check_codecs(path: Path, metadata: Any) -> None:
    if problem := codec_problem(metadata):
        msg = f"{path}: {problem}; write the store again with the compressor zstd."
        raise InputError(msg)


def open_array(path: Path) -> Any:
    """Open an array for reading, in whichever process; its codecs are checked before, and again as Zarr has them."""
    node = node_at(path)
    array = optional("zarr", "reading a Zarr store", "dask").open_array(str(path), mode="r", zarr_format=node.version)
    _check_codecs(path, array.metadata.to_dict())
    return array


def _sized_array(source: InputSource, path: Path) -> Any:
    """Open an array whose single chunks fit into memory."""
    array = open_array(path)
    chunk = int(np.prod(array.shards or array.chunks, dtype=object)) * max(8, array.dtype.itemsize)
    source.check_memory(chunk, f"a chunk of {path.name}")
    return array


def _chosen(source: InputSource, root: Path, layer: str | None) -> Layer[Path]:
    """Return where the matrix of an AnnData is stored that `layer` stands for."""
    X, raw = root / "X", root / RAW / "X"
    layers = {path.name: path for path in sorted((root / "layers").glob("*")) if is_zarr(path)}
    try:
        return choose_layer(layer, lambda: X if is_zarr(X) else None, layers, (lambda: raw) if is_zarr(raw) else None)
    except ValueError as error:
        source.fail(str(error))


def _dense(source: InputSource, node: Node) -> dict[str, Any]:
    """Cut an array at the ends of its chunks, which may cut the columns as well."""
    from cosep.matrix.blocks import MOST_ENTRIES, MOST_ROWS  # noqa: PLC0415 - importing cosep.io must stay quick

    array = _sized_array(source, node.path)
    if array.ndim != 2:
        source.fail(f"expected a matrix, got an array of {array.ndim} dimensions with shape {array.shape}; reshape it.")
    _check_numbers(source, array)
    m, n = array.shape
    chunk = (array.shards or array.chunks)[0]
    step = max(1, min(MOST_ROWS, MOST_ENTRIES // max(n, 1)) // chunk) * chunk
    source.check_growth(BYTES_A_ROW * m, f"a matrix of {m} x {n}")
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
    """Cut a csr matrix so that blocks hold about as many entries each."""
    kind = node.attributes.get("encoding-type")
    if kind == "csc_matrix":
        source.fail(
            "holds a csc matrix, whose rows cannot be read without reading all; convert it to csr and write it again."
        )
    if kind != "csr_matrix":
        arrays = [path.name for path in sorted(node.path.iterdir()) if is_zarr(path)]
        source.fail(
            f"the group {node.path.name} is no matrix: expected an array, a csr matrix or an AnnData, got "
            f"{kind or 'no encoding-type'}; pass one of its parts: {', '.join(arrays) or 'it has none':.200}."
        )
    parts = {name: _sized_array(source, node.path / name) for name in ("data", "indices", "indptr")}
    m, n = map(int, node.attributes["shape"])
    source.check_growth(BYTES_A_ROW * (m + n), f"a matrix of {m} x {n}")
    data, indices, indptr = parts.values()
    _check_numbers(source, data)
    if indptr.shape != (m + 1,) or data.ndim != 1 or data.shape != indices.shape:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in parts.items())
        source.fail(f"its parts do not fit a matrix of {m} x {n}: {shapes}; write it again.")
    ends = _checked_ends(source, m, _even_cuts(indptr, m))
    return {
        "pieces": [partial(_csr_rows, str(node.path), a, b, n) for a, b in zip([0, *ends[:-1]], ends, strict=True)],
        "lengths": np.diff(ends, prepend=0).tolist(),
        "n_cols": n,
        "dtype": data.dtype,
    }


def _even_cuts(indptr: Any, m: int) -> list[int]:
    """Return where to cut so that no block has too many entries, or rows; ``indptr`` is read in stretches."""
    from cosep.matrix.blocks import MOST_ENTRIES, MOST_ROWS  # noqa: PLC0415 - importing cosep.io must stay quick

    cuts: list[int] = []
    start, before = 0, 0
    for first in range(0, m, STRETCH):
        ends = np.asarray(indptr[first : min(first + STRETCH, m) + 1]).astype(np.int64)
        if (np.diff(ends) < 0).any() or (first == 0 and ends[0] != 0):
            msg = f"indptr does not rise from 0, in rows {first} to {first + len(ends) - 2}"
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
    """Read rows of a csr matrix, and nothing else."""
    where = Path(path)
    ends = np.asarray(open_array(where / "indptr")[start : stop + 1]).astype(np.int64)
    low, high = int(ends[0]), int(ends[-1])
    data = _entries(where / "data", low, high)
    # Of one column all indices are zeros, and no chunk of them need be stored.
    indices = _entries(where / "indices", low, high) if n_cols > 1 else np.zeros(high - low, dtype=np.int32)
    if not len(data) == len(indices) == high - low:
        msg = f"indptr tells of {high - low} entries, but there are {len(data)}, in {len(indices)} columns"
        raise ValueError(msg)
    return scipy.sparse.csr_array((data, indices, ends - low), shape=(stop - start, n_cols))


def _entries(path: Path, low: int, high: int) -> NDArray[Any]:
    """Read entries of an array; a chunk that is missing reads as zeros, which no entries of a csr matrix are."""
    array = open_array(path)
    values = np.asarray(array[low:high])
    size = (array.shards or array.chunks)[0]
    for k in range(low // size, -(-high // size)):
        key = array.metadata.encode_chunk_key((k,))
        if not values[max(k * size - low, 0) : (k + 1) * size - low].any() and not (path / key).exists():
            msg = f"the chunk {path.name}/{key} is missing, or its entries are zeros and should not be stored"
            raise ValueError(msg)
    return values


def _check_numbers(source: InputSource, array: Any) -> None:
    if array.dtype.kind not in "fiub":
        source.fail(f"expected real numbers, got an array of {array.dtype}; convert it first.")


def _checked_ends(source: InputSource, m: int, cuts: Any) -> list[int]:
    """Return where blocks end, the last one with the matrix."""
    if len(cuts) >= MOST_BLOCKS:
        source.fail(f"{m} rows would be {len(cuts) + 1} blocks; is the store sound? Write it with larger chunks.")
    return [*cuts, m]


def _spans(lengths: list[int]) -> list[tuple[int, int]]:
    ends = np.cumsum(lengths).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _names_at(path: Path) -> Path:
    """Return where a data frame of AnnData keeps its index."""
    index = str(node_at(path).attributes.get("_index", "_index"))
    if index != Path(index).name:
        msg = f"{path.name} names {shown(index)} as its index, which is not in it"
        raise ValueError(msg)
    found = node_at(path / index)
    return found.path if found.is_array else found.path / "values"


def _check_names(source: InputSource, path: Path, size: int) -> None:
    """Read all names once, some chunks at a time, so that damage is found before a long computation needs them."""
    array, where = _sized_array(source, path), path.relative_to(source.path)
    if array.shape != (size,):
        source.fail(f"{where} must have {size} names; write the store again.")
    step = max(1, STRETCH // array.chunks[0]) * array.chunks[0]
    for start in range(0, size, step):
        _as_text(array[start : start + step])


def _names(source: InputSource, path: str, positions: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return some of the names."""
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
