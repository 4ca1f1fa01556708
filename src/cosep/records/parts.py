"""Parts of a factorization as arrays of their kind."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.matrix.sparse_structure import is_sound
from cosep.utils.messages import shown


def checked_part(name: str, part: Any) -> NDArray[Any]:
    """Return a part of a factorization as an array of its kind: floats, whole numbers or text."""
    if scipy.sparse.issparse(part) and not is_sound(part):
        msg = f"{name} is a broken {part.format} matrix: its parts do not fit its shape {part.shape}; rebuild it."
        raise ValueError(msg)
    try:
        array = np.asarray(part.toarray() if scipy.sparse.issparse(part) else part)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
        array = np.zeros(0, dtype=object)
    if name.endswith("_names"):
        if array.ndim == 1 and (array.dtype.kind == "U" or all(isinstance(entry, str) for entry in array.tolist())):
            return array
        msg = f"{name} must be a list of text, got {shown(part)}; convert the names with str first."
        raise ValueError(msg)
    if name.endswith("_labels"):
        if array.ndim == 1 and array.dtype.kind in "iu":
            return array
        msg = f"{name} must be a list of whole numbers, got {shown(part)}."
        raise ValueError(msg)
    masked = isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part)
    if array.ndim != 2 or array.dtype.kind not in "fiub" or masked or not np.isfinite(array).all():
        msg = f"{name} must be a matrix of finite real numbers, got type {array.dtype} and shape {array.shape}."
        raise ValueError(msg)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
