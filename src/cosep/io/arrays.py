"""A ``.npy`` or ``.npz`` file enters; a matrix without names leaves. Nothing in a file is ever executed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from cosep.archive import ArrayHeader, array_headers, read_arrays
from cosep.io.record import NamedMatrix, build
from cosep.io.source import Source

NPZ = "a matrix saved by scipy.sparse.save_npz or numpy.savez"
# What scipy.sparse.save_npz writes, by the format of the matrix.
COMPRESSED = ("indices", "indptr", "data", "shape")
SPARSE_PARTS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": ("row", "col", "data", "shape"),
    "dia": ("offsets", "data", "shape"),
}


def read_npy(source: Source) -> NamedMatrix:
    """Read one array."""
    with source.expecting("an array saved by numpy.save"):
        stored = np.lib.format.open_memmap(source.path, mode="r")
        _check_header(source, stored.shape, stored.dtype)
        values = np.array(stored)
    return build(source, values)


def npy_header(source: Source) -> ArrayHeader:
    """Return the size and type of the one array, which is not read."""
    with source.expecting("an array saved by numpy.save"):
        stored = np.lib.format.open_memmap(source.path, mode="r")
        _check_header(source, stored.shape, stored.dtype)
        return ArrayHeader(stored.shape, stored.dtype)


def npz_header(source: Source) -> ArrayHeader:
    """Return the size and type of the matrix that `read_npz` would read."""
    with source.expecting(NPZ):
        headers = array_headers(source.path)
        if "format" not in headers:
            name = choose(source, {name: one.shape for name, one in headers.items() if one.is_numeric}, None)
            _check_header(source, headers[name].shape, headers[name].dtype)
            return headers[name]
        shape = tuple(int(size) for size in read_arrays(source.path, ["shape"])["shape"])
        _check_header(source, shape, headers["data"].dtype)
        return ArrayHeader(shape, headers["data"].dtype)


def read_npz(source: Source, variable: str | None) -> NamedMatrix:
    """Read a matrix saved by scipy.sparse.save_npz, or an array saved by numpy.savez."""
    with source.expecting(NPZ):
        headers = array_headers(source.path)
        source.check_memory(sum(header.n_bytes for header in headers.values()), NPZ)
        if "format" in headers and variable is None:
            return build(source, _sparse(source, headers))
        name = choose(source, {name: header.shape for name, header in headers.items() if header.is_numeric}, variable)
        _check_header(source, headers[name].shape, headers[name].dtype)
        values = read_arrays(source.path, [name])[name]
    return build(source, values)


def _sparse(source: Source, headers: Mapping[str, Any]) -> Any:
    stored = read_arrays(source.path, ["format"])["format"].item()
    kind = stored.decode() if isinstance(stored, bytes) else str(stored)
    parts = SPARSE_PARTS.get(kind, ())
    if not parts or not set(parts) <= set(headers):
        source.fail(
            f"expected a sparse matrix of format {', '.join(SPARSE_PARTS)}, got {kind!r} with {', '.join(headers)}."
        )
    arrays = read_arrays(source.path, parts)
    shape = tuple(int(size) for size in arrays["shape"])
    source.check_memory(64 * sum(shape), f"a matrix of {shape}")
    if kind == "coo":
        return scipy.sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    build_sparse = getattr(scipy.sparse, f"{kind}_array")
    return build_sparse(tuple(arrays[part] for part in ("data", *parts[:-2])), shape=shape)


def choose(source: Source, shapes: Mapping[str, tuple[int, ...]], variable: str | None) -> str:
    """Return the variable that the user names, or the only matrix: with two dimensions, and longer than one in both."""
    known = ", ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in shapes.items()) or "none"
    if variable is not None:
        if variable not in shapes:
            source.fail(f"variable={variable!r} is no matrix of numbers in it; there are: {known:.300}.")
        return variable
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    found = [name for name in matrices if min(shapes[name]) > 1] or matrices
    if len(found) != 1:
        source.fail(f"expected one matrix of numbers, got {len(found)}; name one as variable, there are: {known:.300}.")
    return found[0]


def _check_header(source: Source, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2 or dtype.kind not in "fiub":
        source.fail(f"expected a matrix of real numbers, got an array of {dtype} with shape {shape}; convert it first.")
