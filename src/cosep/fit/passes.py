"""Passes over blocks enter; their results leave, kept in a folder so that a run that was stopped can go on.

Everything between two passes is a function of the results before, so that whoever has these has all. A result is found
again by what it was made from: the shape and blocks of the data, what tells these from other data, and everything that
was handed to the blocks.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, is_dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse

from cosep.fit.checkpoint import Checkpoint
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import Progress, RowBlocks
from cosep.utils.types import Callback, Indices

PARTS = {"data", "indices", "indptr", "shape"}
VERSION = "1"


class Prints(NamedTuple):
    """What tells some blocks from others of the same shape."""

    digests: tuple[str, ...]

    def merge(self, others: Sequence[Self]) -> "Prints":
        """Add those of following blocks."""
        return Prints(tuple(digest for part in (self, *others) for digest in part.digests))


def prints(_state: None, block: LocalMatrix, _start: int) -> Prints:
    """Return the print of one block."""
    digest = hashlib.sha256()
    _digest(digest, block.values)
    return Prints((digest.hexdigest(),))


class Passes:
    """Asks blocks, counts the passes, tells how far they are, and remembers the answers.

    Parameters
    ----------
    blocks : RowBlocks
    folder : path or Checkpoint, optional
        Where to keep results until `forget`; whoever passes a `Checkpoint` removes it. Blocks without an identity are
        told from others by the first and the last of them, which are read for it.
    callback : callable, optional
        Called as ``callback(name of the pass, blocks done, blocks, nan)``.
    """

    def __init__(self, blocks: RowBlocks, folder: Any = None, callback: Callback | None = None) -> None:
        self.blocks = blocks
        self.owned = None if folder is None or isinstance(folder, Checkpoint) else Checkpoint(folder)
        self.checkpoint: Checkpoint | None = folder if self.owned is None else self.owned
        self.callback = callback
        self.count = 0
        self.identity = blocks.identity
        if self.checkpoint is not None:
            self.checkpoint.prepare()
            ends = sorted({0, len(blocks.groups) - 1})
            self.identity = self.identity or repr(blocks.reduce(prints, only=ends))

    def fold(self, name: str, kind: Any, task: Callable[[Any, LocalMatrix, int], Any], state: Any) -> Any:
        """Ask all blocks, unless the answer, of this kind, is here already."""
        self.count += 1
        return self.recall(name, kind, state, lambda: self.blocks.reduce(task, state, progress=self._progress(name)))

    def rows(self, name: str, indices: Indices) -> LocalMatrix:
        """Return rows by their positions."""
        self.count += 1
        return LocalMatrix(
            self.recall(name, None, indices, lambda: self.blocks.rows(indices, self._progress(name)).values)
        )

    def recall(self, name: str, kind: Any, made_from: Any, find: Callable[[], Any]) -> Any:
        """Return what was found before from the same, or find and keep it."""
        if self.checkpoint is None:
            return find()
        digest = hashlib.sha256()
        where = (VERSION, name, self.identity, self.blocks.shape, self.blocks.lengths, self.blocks.names)
        _digest(digest, (*where, made_from))
        key = digest.hexdigest()
        if (arrays := self.checkpoint.load(name, key)) is not None:
            with suppress(Exception):  # arrays of another kind, which are found anew
                return _restored(kind, arrays)
        found = find()
        self.checkpoint.keep(name, key, dict(_flattened("", found)))
        return found

    def forget(self) -> None:
        """Remove the results that were kept, unless the caller does."""
        if self.owned is not None:
            self.owned.forget()

    def _progress(self, name: str) -> Progress | None:
        callback = self.callback
        return None if callback is None else lambda done, count: callback(name, done, count, np.nan)


def _flattened(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return a record of arrays, numbers, sparse matrices and tuples of these as named arrays."""
    if scipy.sparse.issparse(value):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": np.array(value.shape)}
        return [(f"{name}.{part}", array) for part, array in parts.items()]
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        return [pair for part, one in zip(names, value, strict=True) for pair in _flattened(f"{name}.{part}", one)]
    return [(f"{name}.value", np.asarray(value))]


def _restored(kind: Any, arrays: dict[str, Any]) -> Any:
    """Return the record of a kind, or the one value, that was flattened."""
    root: dict[str, Any] = {}
    for name, array in arrays.items():
        *parents, leaf = name.split(".")[1:]
        node = root
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = array
    value = _value(root)
    return value if kind is None else kind(*value)


def _value(node: dict[str, Any]) -> Any:
    if node.keys() == {"value"}:
        array = node["value"]
        return array.item() if array.ndim == 0 else array
    if node.keys() == PARTS:
        return scipy.sparse.csr_array(
            (node["data"], node["indices"], node["indptr"]), shape=tuple(node["shape"].tolist())
        )
    return tuple(_value(part) for part in node.values())


def _digest(digest: Any, value: Any) -> None:
    """Take in a record, its parts told apart by their types and sizes."""
    if isinstance(value, (tuple, list)):
        digest.update(f"{type(value).__name__}{len(value)}".encode())
        for part in value:
            _digest(digest, part)
    elif isinstance(value, dict):
        _digest(digest, list(value.items()))
    elif is_dataclass(value) and not isinstance(value, type):
        _digest(digest, (type(value).__name__, astuple(value)))
    elif scipy.sparse.issparse(value):
        _digest(digest, (value.data, value.indices, value.indptr, value.shape))
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    else:
        digest.update(f"{value!r};".encode())
