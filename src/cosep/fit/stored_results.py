"""Results of passes as named arrays, and checksums of what they were made from."""

from collections.abc import Mapping
from dataclasses import astuple, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix


def to_arrays(value: Any, name: str = "") -> dict[str, NDArray[Any]]:
    """Return arrays, numbers, texts, matrices, and tuples and records of these, as named arrays."""
    if isinstance(value, LocalMatrix):
        return {f"{name}.{part}": array for part, array in value.to_arrays().items()}
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", range(len(value)))
        arrays: dict[str, NDArray[Any]] = {}
        for field, part in zip(fields, value, strict=True):
            arrays |= to_arrays(part, f"{name}.{field}")
        return arrays
    return {f"{name}.value": np.asarray(value)}


def from_arrays(kind: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the record of a kind, or the single value for None, that `to_arrays` was called with.

    A field of the record may be a record too.
    """
    root: dict[str, Any] = {}
    for name, array in arrays.items():
        *parents, leaf = name.split(".")[1:]
        node = root
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = array
    value = _value(root)
    if kind is None:
        return value
    kinds = kind.__annotations__.values()
    return kind(*(of(*part) if hasattr(of, "_fields") else part for of, part in zip(kinds, value, strict=True)))


def _value(node: dict[str, Any]) -> Any:
    if node.keys() == {"value"}:
        array = node["value"]
        return array.item() if array.ndim == 0 else array
    if not any(isinstance(part, dict) for part in node.values()):
        return LocalMatrix.from_arrays(node)
    return tuple(_value(part) for part in node.values())


def update_digest(digest: Any, value: Any) -> None:
    """Add a value to a hash; parts of different types or sizes give different hashes."""
    if isinstance(value, (tuple, list)):
        digest.update(f"{type(value).__name__}{len(value)}".encode())
        for part in value:
            update_digest(digest, part)
    elif isinstance(value, dict):
        update_digest(digest, list(value.items()))
    elif isinstance(value, LocalMatrix):
        update_digest(digest, value.to_arrays())
    elif is_dataclass(value) and not isinstance(value, type):
        update_digest(digest, (type(value).__name__, astuple(value)))
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    else:
        digest.update(f"{value!r};".encode())
