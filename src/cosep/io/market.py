"""A Matrix Market file enters; a matrix without names leaves."""

import scipy.io

from cosep.io.record import NamedMatrix, build
from cosep.io.source import Source

# The shortest lines of an entry: "1 1" with its line end, and a digit.
SHORTEST = {"coordinate": 4, "array": 2}
# What a row or column takes besides its entries: its name, and a pointer.
BYTES_EACH = 64


def read_market(source: Source) -> NamedMatrix:
    """Read the matrix; entries of a pattern are ones, symmetric matrices come whole, repeated entries are added up."""
    with source.expecting("a Matrix Market file"):
        with source.open_bytes() as stream:
            m, n, count, storage, field, symmetry = scipy.io.mminfo(stream)
        if field == "complex":
            source.fail("has complex entries; expected real numbers, take their sizes first.")
        if min(m, n) < 1:
            source.fail(f"announces a matrix of {m} x {n}; expected at least one row and column.")
        if SHORTEST[storage] * count // (1 if symmetry == "general" else 2) > source.largest + SHORTEST[storage]:
            source.fail(f"announces {count} entries, more than the file can hold; it is cut short, or not sound.")
        source.check_memory(BYTES_EACH * (m + n), f"a matrix of {m} x {n}")
        with source.open_bytes() as stream:
            values = scipy.io.mmread(stream, spmatrix=False)
    return build(source, values)
