"""A Matrix Market file enters; a matrix without names leaves.

SciPy has a faster reader, but one that reads foreign memory, or ends the process, where lines are malformed.
"""

import itertools
from typing import Any, TextIO

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.io.named_matrix import NamedMatrix, build
from cosep.utils.messages import shown

# How many numbers an entry has, by storage and field.
ENTRIES = {
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
# What an entry takes while it is put in its place; and what a row or column takes besides, for name and pointer.
BYTES_EACH = 64


def read_matrix_market(source: InputSource) -> NamedMatrix:
    """Read the matrix; entries of a pattern are ones, symmetric matrices come whole, repeated entries are added up."""
    with source.expecting("a Matrix Market file"), source.open_text() as stream:
        storage, field, symmetry = _banner(source, stream)
        sizes = _sizes(source, stream, 3 if storage == "coordinate" else 2)
        m, n = sizes[:2]
        if symmetry == "symmetric" and m != n:
            source.fail(f"a symmetric matrix of {m} x {n} cannot be; mend its heading.")
        count = sizes[2] if storage == "coordinate" else n * (n + 1) // 2 if symmetry == "symmetric" else m * n
        width = ENTRIES[storage, field]
        # Every number takes a digit and something after it.
        if 2 * width * count > source.largest:
            source.fail(f"announces {count} entries, more than the file can hold; it is cut short, or not sound.")
        source.check_memory(BYTES_EACH * (m + n), f"a matrix of {m} x {n}")
        source.check_growth(BYTES_EACH * count, f"a matrix of {count} entries")
        entries = _entries(source, stream, count, width)
    fill = _coordinates if storage == "coordinate" else _array
    return build(source, fill(source, entries, (m, n), symmetric=symmetry == "symmetric"))


def _banner(source: InputSource, stream: TextIO) -> list[str]:
    """Return storage, field and symmetry."""
    words = stream.readline(1000).lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        source.fail(
            "expected a Matrix Market file, but the first line is no '%%MatrixMarket matrix ...'; mend the suffix."
        )
    storage, field, symmetry = words[2:]
    if (storage, field) not in ENTRIES or symmetry not in SYMMETRIES:
        source.fail(
            f"holds a {symmetry} {storage} of type {field}, where real numbers, general or symmetric, are expected; "
            "convert it first."
        )
    return words[2:]


def _sizes(source: InputSource, stream: TextIO, number: int) -> list[int]:
    """Return the numbers on the first line that is no comment."""
    line = next((line for line in stream if line.strip() and not line.startswith("%")), "")
    words = line.split()
    if len(words) != number or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        source.fail(f"expected a line with {number} sizes, got {shown(line[:50])}; mend the heading.")
    sizes = [int(word) for word in words]
    if min(sizes[:2]) < 1:
        source.fail(f"announces a matrix of {sizes[0]} x {sizes[1]}; expected at least one row and column.")
    return sizes


def _entries(source: InputSource, stream: TextIO, count: int, width: int) -> NDArray[np.float64]:
    """Return the numbers of all lines, which must be as many as announced."""
    parts, found = [np.zeros((0, width))], 0
    while lines := list(itertools.islice(stream, PIECE_LINES)):
        lines = [line for line in lines if not line.isspace()]
        if lines:
            part = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
            if part.shape[1] != width:
                source.fail(
                    f"expected {width} numbers on a line, got {part.shape[1]}, as in {shown(lines[0][:50])}; mend it."
                )
            parts.append(part)
            found += len(part)
    if found != count:
        source.fail(f"announces {count} entries, but has {found}; it is cut short, or the heading is wrong.")
    return np.concatenate(parts)


def _coordinates(source: InputSource, entries: Any, shape: tuple[int, int], *, symmetric: bool) -> Any:
    places = entries[:, :2]
    good = (places == np.floor(places)) & (places >= 1) & (places <= shape)
    if not good.all():
        at = int(np.argmin(good.all(axis=1)))
        source.fail(
            f"entry {at + 1} stands at row {places[at, 0]:g}, column {places[at, 1]:g} of a matrix of "
            f"{shape[0]} x {shape[1]}, counted from 1; mend it."
        )
    rows, cols = (places.T - 1).astype(np.int64)
    values = entries[:, 2] if entries.shape[1] == 3 else np.ones(len(entries))
    if symmetric:
        below = rows != cols
        rows, cols = np.concatenate([rows, cols[below]]), np.concatenate([cols, rows[below]])
        values = np.concatenate([values, values[below]])
    return scipy.sparse.coo_array((values, (rows, cols)), shape=shape)


def _array(source: InputSource, entries: Any, shape: tuple[int, int], *, symmetric: bool) -> Any:  # noqa: ARG001 - as above
    if not symmetric:
        return entries[:, 0].reshape(shape, order="F")
    # Column by column, from the diagonal down.
    cols, rows = np.triu_indices(shape[0])
    values = np.empty(shape)
    values[rows, cols] = values[cols, rows] = entries[:, 0]
    return values
