"""Errors of rows that are predicted from their selected columns."""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices


def completion_errors(M: LocalMatrix, cols: Indices, others: Indices, V: Array, scale: Array) -> Array:
    """``||x(others) - x(cols) V|| / ||x(others)||`` for each row x that is not zero there.

    ``scale`` are factors of the other columns in the norm.
    """
    errors = []
    for _, block in M.dense_blocks():
        kept = block[block[:, others].any(axis=1)]
        rest = kept[:, others]
        with np.errstate(over="ignore"):
            errors.append(_row_norms(rest - kept[:, cols] @ V, scale) / _row_norms(rest, scale))
    return np.concatenate(errors)


def _row_norms(A: Array, scale: Array) -> Array:
    """Return the l2 norms of rows of any size in a norm, without overflow or underflow of their squares."""
    peaks = np.abs(A).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1.0
    return np.asarray(peaks[:, 0] * np.linalg.norm(A / peaks * scale, axis=1))
