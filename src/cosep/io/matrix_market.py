"""Matrices in Matrix Market files.

SciPy has a faster reader, but it reads foreign memory, or crashes the process, on malformed lines.
"""

import itertools
from typing import Any, TextIO

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.io.named_matrix import NamedMatrix, build_named_matrix
from cosep.utils.messages import shown

# Numbers per entry, by storage and field.
NUMBERS_PER_ENTRY = {
    ("coordinate", "real"): 3,
    ("coordinate", "double"): 3,
    ("coordinate", "integer"): 3,
    ("coordinate", "unsigned-integer"): 3,
    ("coordinate", "pattern"): 2,
    ("array", "real"): 1,
    ("array", "double"): 1,
    ("array", "integer"): 1,
    ("array", "unsigned-integer"): 1,
}
SYMMETRIES = ("general", "symmetric")
PIECE_LINES = 1 << 17
# Memory for an entry while the matrix is built, and for the name and pointer of a row or column.
BYTES_PER_ENTRY = 64


def read_matrix_market(source: InputSource) -> NamedMatrix:
    """Read the matrix. Entries of a pattern are ones, symmetric matrices are completed, repeated entries are summed."""
    with source.expecting("a Matrix Market file"), source.open_text() as stream:
        storage, field, symmetry = _banner(source, stream)
        sizes = _sizes(source, stream, 3 if storage == "coordinate" else 2)
        m, n = sizes[:2]
        if symmetry == "symmetric" and m != n:
            source.fail(f"a symmetric matrix must be square, got {m} x {n}; fix the header.")
        count = sizes[2] if storage == "coordinate" else n * (n + 1) // 2 if symmetry == "symmetric" else m * n
        width = NUMBERS_PER_ENTRY[storage, field]
        # Every number takes at least a digit and a separator.
        if 2 * width * count > source.max_size:
            source.fail(f"the header states {count} entries, more than the file can hold; it is truncated or damaged.")
        source.check_memory(BYTES_PER_ENTRY * (m + n), f"a matrix of {m} x {n}")
        source.check_growth(BYTES_PER_ENTRY * count, f"a matrix of {count} entries")
        entries = _entries(source, stream, count, width)
    fill = _coordinates if storage == "coordinate" else _array
    return build_named_matrix(source, fill(source, entries, (m, n), symmetric=symmetry == "symmetric"))


def _banner(source: InputSource, stream: TextIO) -> list[str]:
    """Return storage, field and symmetry."""
    words = stream.readline(1000).lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        source.fail(
            "expected a Matrix Market file, but the first line is not '%%MatrixMarket matrix ...'; fix the suffix."
        )
    storage, field, symmetry = words[2:]
    if (storage, field) not in NUMBERS_PER_ENTRY or symmetry not in SYMMETRIES:
        source.fail(
            f"expected real numbers, general or symmetric, got a {symmetry} {storage} of type {field}; convert it "
            "first."
        )
    return words[2:]


def _sizes(source: InputSource, stream: TextIO, number: int) -> list[int]:
    """Return the numbers on the first line that is not a comment."""
    line = next((line for line in stream if line.strip() and not line.startswith("%")), "")
    words = line.split()
    if len(words) != number or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        source.fail(f"expected a line with {number} sizes, got {shown(line[:50])}; fix the header.")
    sizes = [int(word) for word in words]
    if min(sizes[:2]) < 1:
        source.fail(f"the header states a matrix of {sizes[0]} x {sizes[1]}; expected at least one row and column.")
    return sizes


def _entries(source: InputSource, stream: TextIO, count: int, width: int) -> NDArray[np.float64]:
    """Return the numbers of all lines; raise if there are not ``count`` lines."""
    parts, found = [np.zeros((0, width))], 0
    while lines := list(itertools.islice(stream, PIECE_LINES)):
        lines = [line for line in lines if not line.isspace()]
        if lines:
            part = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
            if part.shape[1] != width:
                source.fail(
                    f"expected {width} numbers on a line, got {part.shape[1]}, as in {shown(lines[0][:50])}; fix it."
                )
            parts.append(part)
            found += len(part)
    if found != count:
        source.fail(
            f"the header states {count} entries, but the file has {found}; it is truncated, or the header is wrong."
        )
    return np.concatenate(parts)


def _coordinates(source: InputSource, entries: Any, shape: tuple[int, int], *, symmetric: bool) -> Any:
    places = entries[:, :2]
    good = (places == np.floor(places)) & (places >= 1) & (places <= shape)
    if not good.all():
        at = int(np.argmin(good.all(axis=1)))
        source.fail(
            f"entry {at + 1} is at row {places[at, 0]:g}, column {places[at, 1]:g}, which a matrix of "
            f"{shape[0]} x {shape[1]} does not have, counted from 1; fix it."
        )
    rows, cols = (places.T - 1).astype(np.int64)
    values = entries[:, 2] if entries.shape[1] == 3 else np.ones(len(entries))
    if symmetric:
        below = rows != cols
        rows, cols = np.concatenate([rows, cols[below]]), np.concatenate([cols, rows[below]])
        values = np.concatenate([values, values[below]])
    return scipy.sparse.coo_array((values, (rows, cols)), shape=shape)


def _array(source: InputSource, entries: Any, shape: tuple[int, int], *, symmetric: bool) -> Any:  # noqa: ARG001 - called like `_coordinates`
    if not symmetric:
        return entries[:, 0].reshape(shape, order="F")
    # The entries are the columns of the lower triangle.
    cols, rows = np.triu_indices(shape[0])
    values = np.empty(shape)
    values[rows, cols] = values[cols, rows] = entries[:, 0]
    return values
