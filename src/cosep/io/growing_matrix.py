"""A matrix that grows by blocks of rows and ends dense or sparse, whichever is smaller."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

# A nonzero of a sparse matrix takes 12 bytes, an entry of a dense one 8: below this density, sparse takes half.
MAX_SPARSE_DENSITY = 1 / 3
# Dense float64 matrices of more bytes become float32 if that is exact.
LARGE_BYTES = 1 << 30
# Memory for a stored entry of a sparse matrix with its index, and for the name and pointer of a row.
BYTES_PER_ENTRY, BYTES_PER_NAME = 12, 64
SMALL_TYPES = (np.uint8, np.uint16, np.float32)


class GrowingMatrix:
    """A matrix that grows by rows, each block stored in the smallest type that holds it exactly."""

    def __init__(self, n_cols: int) -> None:
        self.n_cols = n_cols
        self.n_rows = 0
        self.nonzeros = 0
        self.parts: list[Any] = []

    @property
    def n_bytes(self) -> int:
        """Smallest size of the matrix in memory, with the names of its rows."""
        size = self.n_rows * self.n_cols
        entries = BYTES_PER_ENTRY * self.nonzeros if self.nonzeros < MAX_SPARSE_DENSITY * size else 4 * size
        return BYTES_PER_NAME * self.n_rows + entries

    def append(self, block: NDArray[np.float64]) -> None:
        """Add a block of rows."""
        count = int(np.count_nonzero(block))
        self.n_rows += len(block)
        self.nonzeros += count
        if count < MAX_SPARSE_DENSITY * block.size:
            part = scipy.sparse.csr_array(block)
            part.data = part.data.astype(_smallest(part.data))
            self.parts.append(part)
        else:
            self.parts.append(block.astype(_smallest(block)))

    def build(self) -> Any:
        """Return all rows as a csr_array or ndarray. This frees the blocks one by one, to save memory."""
        if self.nonzeros < MAX_SPARSE_DENSITY * self.n_rows * self.n_cols:
            parts = [scipy.sparse.csr_array(part, dtype=np.float64) for part in self.parts]
            self.parts = []
            return scipy.sparse.vstack(parts, format="csr") if parts else np.zeros((0, self.n_cols))
        narrow = all(part.dtype != np.float64 for part in self.parts)
        large = 8 * self.n_rows * self.n_cols > LARGE_BYTES
        whole = np.empty((self.n_rows, self.n_cols), dtype=np.float32 if narrow and large else np.float64)
        end = self.n_rows
        while self.parts:
            part = self.parts.pop()
            start = end - part.shape[0]
            whole[start:end] = part.toarray() if scipy.sparse.issparse(part) else part
            end = start
        return whole


def _smallest(entries: Any) -> Any:
    """Return the smallest of `SMALL_TYPES` that holds the entries exactly, or float64."""
    for kind in SMALL_TYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            if np.array_equal(entries.astype(kind), entries):
                return kind
    return np.float64
