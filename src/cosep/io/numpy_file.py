"""Matrices in ``.npy`` and ``.npz`` files of NumPy and SciPy. Nothing in a file is ever executed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from cosep.io.input_source import InputSource
from cosep.io.named_matrix import NamedMatrix, build_named_matrix
from cosep.records.archive import ArrayHeader, array_headers, read_arrays
from cosep.utils.messages import shown

NPZ = "a matrix saved by scipy.sparse.save_npz or numpy.savez"
# Memory for a stored entry of a sparse matrix with its index, and for the name and pointer of a row or column.
BYTES_PER_ENTRY, BYTES_PER_NAME = 20, 64
# Arrays that scipy.sparse.save_npz writes, by the format of the matrix.
COMPRESSED = ("indices", "indptr", "data", "shape")
SPARSE_PARTS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": ("row", "col", "data", "shape"),
    "dia": ("offsets", "data", "shape"),
}


def read_npy(source: InputSource) -> NamedMatrix:
    """Read the array of an ``.npy`` file."""
    with source.expecting("an array saved by numpy.save"):
        stored = np.lib.format.open_memmap(source.path, mode="r")
        _check_header(source, ArrayHeader(stored.shape, stored.dtype))
        values = np.array(stored)
    return build_named_matrix(source, values)


def npy_header(source: InputSource) -> ArrayHeader:
    """Return the shape and type of the array of an ``.npy`` file, without reading its entries."""
    with source.expecting("an array saved by numpy.save"):
        stored = np.lib.format.open_memmap(source.path, mode="r")
        return _check_header(source, ArrayHeader(stored.shape, stored.dtype))


def npz_header(source: InputSource) -> ArrayHeader:
    """Return the shape and type of the matrix that `read_npz` would read, without reading its entries."""
    with source.expecting(NPZ):
        headers = _headers(source)
        if _sparse_format(source, headers) is None:
            return _check_header(source, headers[_choose_array(source, headers, None)])
        return _check_header(source, ArrayHeader(_shape(source), headers["data"].dtype), headers["data"].n_entries)


def read_npz(source: InputSource, variable: str | None) -> NamedMatrix:
    """Read a matrix saved by scipy.sparse.save_npz, or an array saved by numpy.savez."""
    with source.expecting(NPZ):
        headers = _headers(source)
        kind = _sparse_format(source, headers)
        if kind is not None and variable is None:
            return build_named_matrix(source, _sparse(source, headers, kind))
        name = _choose_array(source, headers, variable)
        _check_header(source, headers[name])
        values = read_arrays(source.path, [name])[name]
    return build_named_matrix(source, values)


def _headers(source: InputSource) -> dict[str, ArrayHeader]:
    """Return the headers of all arrays in a file, if the arrays fit into memory together."""
    headers = array_headers(source.path)
    source.check_memory(sum(header.n_bytes for header in headers.values()), NPZ)
    return headers


def _choose_array(source: InputSource, headers: Mapping[str, ArrayHeader], variable: str | None) -> str:
    return choose_variable(
        source, {name: header.shape for name, header in headers.items() if header.is_numeric}, variable
    )


def _shape(source: InputSource) -> tuple[int, ...]:
    """Return the shape that scipy.sparse.save_npz wrote."""
    return tuple(int(size) for size in read_arrays(source.path, ["shape"])["shape"][:3])


def _sparse_format(source: InputSource, headers: Mapping[str, ArrayHeader]) -> str | None:
    """Return the format of a sparse matrix, also if its parts were saved without one; None for other arrays."""
    if "format" in headers:
        stored = read_arrays(source.path, ["format"])["format"].item()
        return stored.decode() if isinstance(stored, bytes) else str(stored)
    if set(SPARSE_PARTS["coo"]) <= set(headers):
        return "coo"
    if not set(COMPRESSED) <= set(headers) or headers["data"].shape != headers["indices"].shape:
        return None
    # The pointers of a square matrix fit both formats; csr is the usual one.
    return "csr" if headers["indptr"].n_entries == (*_shape(source), 0)[0] + 1 else "csc"


def _sparse(source: InputSource, headers: Mapping[str, ArrayHeader], kind: str) -> Any:
    parts = SPARSE_PARTS.get(kind, ())
    if not parts or not set(parts) <= set(headers):
        source.fail(
            f"expected a sparse matrix of format {', '.join(SPARSE_PARTS)}, got {shown(kind)} with "
            f"{', '.join(headers):.200}; save it with scipy.sparse.save_npz."
        )
    shape = _shape(source)
    _check_header(source, ArrayHeader(shape, headers["data"].dtype), headers["data"].n_entries)
    arrays = read_arrays(source.path, parts)
    if kind == "coo":
        return scipy.sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    build_sparse = getattr(scipy.sparse, f"{kind}_array")
    return build_sparse(tuple(arrays[part] for part in ("data", *parts[:-2])), shape=shape)


def choose_variable(source: InputSource, shapes: Mapping[str, tuple[int, ...]], variable: str | None) -> str:
    """Return the variable that the user names, or the only matrix with more than one row and column."""
    known = ", ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in shapes.items()) or "none"
    if variable is not None:
        if variable not in shapes:
            source.fail(f"variable={shown(variable)} is not a matrix of numbers in this file; it has: {known:.300}.")
        return variable
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    found = [name for name in matrices if min(shapes[name]) > 1] or matrices
    if len(found) != 1:
        source.fail(f"expected one matrix of numbers, got {len(found)}; pass variable=, one of: {known:.300}.")
    return found[0]


def _check_header(source: InputSource, header: ArrayHeader, n_stored: int | None = None) -> ArrayHeader:
    """Return the header if it describes a matrix of numbers that fits into memory; raise otherwise.

    ``n_stored`` is the number of stored entries if the matrix is sparse.
    """
    shape = header.shape
    if len(shape) != 2 or not header.is_numeric:
        source.fail(
            f"expected a matrix of real numbers, got an array of {header.dtype} with shape {shape}; convert it first."
        )
    entries = header.n_bytes_used if n_stored is None else BYTES_PER_ENTRY * n_stored
    source.check_memory(entries + BYTES_PER_NAME * sum(shape), f"a matrix of {shape}")
    return header
