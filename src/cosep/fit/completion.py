"""Errors of rows that are predicted from their selected columns."""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices


def completion_errors(M: LocalMatrix, cols: Indices, others: Indices, V: Array) -> Array:
    """``||x(others) - x(cols) V|| / ||x(others)||`` for each row x that is not zero there."""
    errors = []
    for _, block in M.dense_blocks():
        kept = block[block[:, others].any(axis=1)]
        rest = kept[:, others]
        with np.errstate(over="ignore"):
            errors.append(_row_norms(rest - kept[:, cols] @ V) / _row_norms(rest))
    return np.concatenate(errors)


def _row_norms(A: Array) -> Array:
    """Return the l2 norms of rows of any size, without overflow or underflow of their squares."""
    peaks = np.abs(A).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1.0
    return np.asarray(peaks[:, 0] * np.linalg.norm(A / peaks, axis=1))
