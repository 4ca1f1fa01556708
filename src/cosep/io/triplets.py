"""Sparse matrices from triplets: row name, column name and value of each entry."""

from typing import Any

import numpy as np
import scipy.sparse

# Memory for an entry, and for a name.
BYTES_PER_ENTRY, BYTES_PER_NAME = 48, 200


class Triplets:
    """A sparse matrix that grows by entries. Rows and columns are in the order in which their names first occur."""

    def __init__(self) -> None:
        self.rows, self.cols = _Numbering(), _Numbering()
        self.values: list[Any] = []
        self.n_entries = 0

    def append(self, rows: Any, cols: Any, values: Any) -> None:
        """Add entries: two Arrow arrays of names, one array of numbers."""
        self.rows.append(rows)
        self.cols.append(cols)
        self.values.append(values)
        self.n_entries += len(values)

    @property
    def n_bytes(self) -> int:
        """Memory for the entries and names while the matrix is built."""
        n_names = len(self.rows.numbers) + len(self.cols.numbers)
        return BYTES_PER_ENTRY * self.n_entries + BYTES_PER_NAME * n_names

    def matrix(self) -> tuple[Any, list[str], list[str]]:
        """Return the matrix, its row names and its column names. Repeated entries are summed."""
        places = (np.concatenate(self.rows.parts), np.concatenate(self.cols.parts))
        shape = len(self.rows.numbers), len(self.cols.numbers)
        matrix = scipy.sparse.csr_array((np.concatenate(self.values), places), shape=shape)
        return matrix, list(self.rows.numbers), list(self.cols.numbers)


class _Numbering:
    """Names, and their positions in the order in which they first occur."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.parts: list[Any] = []

    def append(self, names: Any) -> None:
        encoded = names.dictionary_encode()
        known = [self.numbers.setdefault(name, len(self.numbers)) for name in encoded.dictionary.to_pylist()]
        self.parts.append(np.asarray(known, dtype=np.int32)[encoded.indices.to_numpy(zero_copy_only=False)])
