"""Matrices of MATLAB files of the versions 4 to 7.

SciPy's reader supports more kinds of variables, but crashes the process, or takes all memory, on some damaged files.

An element of a file of version 5 to 7 is a type and a number of bytes, then this many bytes, padded to a multiple of 8.

A variable of version 4 is five whole numbers (type, rows, columns, whether it is complex, length of its name), the name
and the entries. A sparse one lists its entries as rows of ``i, j, value``; the last of these rows is the shape.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.io.named_matrix import NamedMatrix, Names, as_names, build_named_matrix
from cosep.io.numpy_file import choose_variable
from cosep.utils.messages import shown

FILE_HEADER = 128
HDF5_MAGIC = b"\x89HDF"
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
MATRIX, COMPRESSED = 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
SPARSE, SINGLE, NUMERIC = 5, 7, range(5, 16)
COMPLEX = 0x0800
# Types of the entries of version 4, by the second last digit of the type of a variable. The last digit: full or sparse.
TYPES_4 = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
FULL_4, SPARSE_4 = 0, 2
# Memory for the name and pointer of a row or column.
BYTES_PER_NAME = 64
# Bytes that are enough for the class, the shape and the name of a variable.
VARIABLE_HEADER = 1 << 16


class Variable(NamedTuple):
    """The header of a variable.

    Attributes
    ----------
    shape : tuple of int
    flags : int
        The class of the entries, and whether they are complex.
    position : int
        Position of the element in the file.
    """

    shape: tuple[int, ...]
    flags: int
    position: int

    @property
    def kind(self) -> int:
        """The class of its entries."""
        return self.flags & 0xFF


def read_matlab(source: InputSource, variable: str | None, labels: str | None) -> NamedMatrix:
    """Read the named or only matrix, and labels from a variable with one number per row."""
    with source.expecting("a MATLAB file of version 4 to 7"):
        data = source.path.read_bytes()
        if HDF5_MAGIC in {data[:4], data[512:516]}:
            source.fail("is a MATLAB file of version 7.3; save it with -v7.")
        if 0 in data[:4]:
            found = _version_4(source, data)
            shapes = {name: np.shape(value) for name, value in found.items()}
        else:
            order = BYTE_ORDERS[data[126:128]]
            variables = _variables(data, order)
            shapes = {name: one.shape for name, one in variables.items()}
        name = choose_variable(source, shapes, variable)
        source.check_memory(BYTES_PER_NAME * sum(shapes[name]), f"{name} of {' x '.join(map(str, shapes[name]))}")
        if labels is not None and labels not in shapes:
            source.fail(
                f"labels={shown(labels)} is not a variable of numbers in this file; it has: {', '.join(shapes):.300}."
            )
        if 0 not in data[:4]:
            wanted = {name} if labels is None else {name, labels}
            found = {one: _value(source, data, order, variables[one], one) for one in wanted}
        label_names = None if labels is None else _label_names(source, found[labels], labels, shapes[name][0])
    return build_named_matrix(source, found[name], labels=label_names)


def _version_4(source: InputSource, data: bytes) -> dict[str, Any]:
    """Return the matrices of numbers in a file of version 4."""
    order = "<" if struct.unpack_from("<i", data)[0] < 5000 else ">"
    found: dict[str, Any] = {}
    at = 0
    while at < len(data):
        kind, m, n, is_complex, length = struct.unpack_from(f"{order}5i", data, at)
        if min(m, n, length) < 0:
            source.fail("a variable has a negative size; save the file again.")
        name = data[at + 20 : at + 20 + length].rstrip(b"\0").decode("latin-1")
        dtype = np.dtype(f"{order}{TYPES_4[kind // 10 % 10]}")
        entries = np.frombuffer(data, dtype, m * n, at + 20 + length).reshape((m, n), order="F")
        at += 20 + length + entries.nbytes * (2 if is_complex else 1)
        if kind % 10 in {FULL_4, SPARSE_4}:
            if is_complex or (kind % 10 == SPARSE_4 and n == 4):
                source.fail(
                    f"{shown(name)} has complex entries; expected real numbers, take their absolute values first."
                )
            values = entries.astype(dtype.newbyteorder("="))
            found[name] = values if kind % 10 == FULL_4 else _sparse_from_triplets(values)
    return found


def _sparse_from_triplets(entries: NDArray[Any]) -> Any:
    """Return a sparse matrix from rows of ``i, j, value``, counted from 1; the last row is the shape."""
    places = entries[:-1, :2].astype(np.int64) - 1
    m, n = entries[-1, :2].astype(np.int64).tolist()
    return scipy.sparse.coo_array((entries[:-1, 2], (places[:, 0], places[:, 1])), shape=(m, n))


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview, int]]:
    """Yield the type, the bytes and the position of each element."""
    at = 0
    while at + 8 <= len(data):
        position, (kind, size) = at, struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # elements of up to four bytes are stored in place of their size
            yield kind & 0xFFFF, data[at + 4 : at + 4 + (kind >> 16)], position
            at += 8
        else:
            yield kind, data[at + 8 : at + 8 + size], position
            at += 8 + size + (0 if kind == COMPRESSED else -size % 8)


def _variables(data: bytes, order: str) -> dict[str, Variable]:
    """Return the variables that hold numbers."""
    found = {}
    for kind, body, position in _elements(memoryview(data)[FILE_HEADER:], order):
        head = zlib.decompressobj().decompress(body, VARIABLE_HEADER)[8:] if kind == COMPRESSED else body
        parts = _elements(memoryview(head), order)
        (_, flags, _), (_, sizes, _), (_, name, _) = next(parts), next(parts), next(parts)
        shape = tuple(np.frombuffer(sizes, f"{order}i4").tolist())
        one = Variable(shape, struct.unpack_from(f"{order}I", flags)[0], position)
        if one.kind in NUMERIC:
            found[bytes(name).decode("latin-1")] = one
    return found


def _value(source: InputSource, data: bytes, order: str, variable: Variable, name: str) -> Any:
    """Return the array that a variable holds."""
    shape = variable.shape
    sparse = variable.kind == SPARSE
    n_entries = sum(shape) if sparse else int(np.prod(shape, dtype=object))
    source.check_memory(8 * n_entries, f"{name} of {' x '.join(map(str, shape))}")
    if variable.flags & COMPLEX:
        source.fail(f"{name} has complex entries; expected real numbers, take their absolute values first.")
    kind, body, _ = next(_elements(memoryview(data)[FILE_HEADER + variable.position :], order))
    if kind == COMPRESSED:
        head = zlib.decompressobj().decompress(body, 8)
        size = struct.unpack(f"{order}II", head)[1] + 8
        source.check_memory(size, name)
        body = memoryview(zlib.decompressobj().decompress(body, size))[8:]
    parts = [_numbers(kind, part, order) for kind, part, _ in list(_elements(body, order))[3:]]
    if not sparse:
        values = parts[0].astype(np.float32) if variable.kind == SINGLE else parts[0]
        return values.reshape(shape, order="F")
    rows, starts, values = parts
    count = int(starts[-1])
    return scipy.sparse.csc_array((values[:count], rows[:count], starts), shape=shape)


def _numbers(kind: int, part: memoryview, order: str) -> NDArray[Any]:
    dtype = np.dtype(TYPES[kind])
    return np.frombuffer(part, f"{order}{TYPES[kind]}").astype(dtype)


def _label_names(source: InputSource, stored: Any, labels: str, n_rows: int) -> Names:
    if not isinstance(stored, np.ndarray) or stored.dtype.kind not in "fiub" or stored.size != n_rows:
        source.fail(
            f"labels={shown(labels)} must be a variable with one number for each of the {n_rows} rows, got "
            f"shape {np.shape(stored)}."
        )
    return as_names(source, (f"{one:g}" if isinstance(one, float) else str(one) for one in stored.ravel().tolist()))
