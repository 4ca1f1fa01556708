"""The structure of sparse matrices: whether compiled code can use one without reading foreign memory."""

from typing import Any

import numpy as np


def is_sound(X: Any) -> bool:
    """Return whether the arrays of a sparse matrix fit its shape, so that compiled code reads only their memory."""
    try:
        return bool(STRUCTURES[X.format](X))
    except (TypeError, IndexError, AttributeError, ValueError):
        return False


def _within(indices: Any, size: int) -> bool:
    return len(indices) == 0 or bool(np.min(indices) >= 0 and np.max(indices) < size)


def _sound_compressed(X: Any) -> bool:
    """Return whether the pointers and indices of a csr, csc or bsr matrix are in range."""
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    m, n = X.shape[0] // blocks[0], X.shape[1] // blocks[1]
    major, minor = (n, m) if X.format == "csc" else (m, n)
    pointers = np.asarray(X.indptr)
    return (
        pointers.shape == (major + 1,)
        and X.indices.ndim == 1
        and X.indices.dtype.kind in "iu"
        and X.data.shape[1:] == (blocks if X.format == "bsr" else ())
        and pointers[0] == 0
        and bool((np.diff(pointers) >= 0).all())
        and len(X.indices) == len(X.data)
        and bool(pointers[-1] <= len(X.data))
        and _within(X.indices, minor)
    )


def _sound_coo(X: Any) -> bool:
    return all(len(c) == len(X.data) and _within(c, size) for c, size in zip(X.coords, X.shape, strict=True))


def _sound_lil(X: Any) -> bool:
    return len(X.rows) == len(X.data) == X.shape[0] and all(
        len(row) == len(entries) and _within(row, X.shape[1]) for row, entries in zip(X.rows, X.data, strict=True)
    )


def _sound_dia(X: Any) -> bool:
    return bool(X.data.ndim == 2 and X.offsets.shape == (len(X.data),))


def _sound_dok(X: Any) -> bool:
    if np.asarray(list(X.values())).dtype.kind not in "fiub":
        return False
    return all(0 <= i < X.shape[0] and 0 <= j < X.shape[1] for i, j in X.keys())  # noqa: SIM118 - a matrix, not a dict


STRUCTURES = {
    "csr": _sound_compressed,
    "csc": _sound_compressed,
    "bsr": _sound_compressed,
    "coo": _sound_coo,
    "lil": _sound_lil,
    "dia": _sound_dia,
    "dok": _sound_dok,
}
