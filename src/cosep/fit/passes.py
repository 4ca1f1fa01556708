"""Passes over blocks of rows: counted, reported, and kept in a checkpoint so that a stopped fit can continue.

Everything between two passes is a function of the results before, so that these results are all that has to be kept. A
result is found again by a hash of what it was made from: the shape and the blocks of the data, an identity that tells
the data from other data of the same shape, and everything that was passed to the blocks.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

import numpy as np

from cosep.fit.checkpoint import Checkpoint
from cosep.fit.stored_results import from_arrays, to_arrays, update_digest
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import Progress, RowBlocks
from cosep.utils.types import Callback, Indices

# Results that were stored by another version are not used.
VERSION = "3"


class BlockHashes(NamedTuple):
    """Hashes of some blocks."""

    digests: tuple[str, ...]

    def merge(self, others: Sequence[Self]) -> "BlockHashes":
        """Add the hashes of the following blocks."""
        return BlockHashes(tuple(digest for part in (self, *others) for digest in part.digests))


def block_hash(_state: None, block: LocalMatrix, _start: int) -> BlockHashes:
    """Return the hash of one block."""
    digest = hashlib.sha256()
    update_digest(digest, block)
    return BlockHashes((digest.hexdigest(),))


class Passes:
    """Runs passes over blocks.

    Parameters
    ----------
    blocks : RowBlocks
    checkpoint : Checkpoint, optional
        Keeps the results. Blocks without an identity are identified by the first and the last one, which are read.
    callback : callable, optional
        Called as ``callback(name of the pass, blocks done, blocks, nan)``.

    Attributes
    ----------
    count : int
        How many passes there were, including those whose results were kept.
    """

    def __init__(
        self, blocks: RowBlocks, checkpoint: Checkpoint | None = None, callback: Callback | None = None
    ) -> None:
        self.blocks = blocks
        self.checkpoint = checkpoint
        self.callback = callback
        self.count = 0
        self.identity = blocks.identity
        if self.checkpoint is not None:
            self.checkpoint.prepare()
            ends = sorted({0, len(blocks.groups) - 1})
            self.identity = self.identity or repr(blocks.reduce(block_hash, only=ends))

    def reduce(self, name: str, kind: Any, task: Callable[[Any, LocalMatrix, int], Any], state: Any) -> Any:
        """Return the merged results of a task for all blocks, a record of this kind: kept, or by one pass."""
        self.count += 1
        return self.recall(name, kind, state, lambda: self.blocks.reduce(task, state, progress=self._progress(name)))

    def rows(self, name: str, indices: Indices) -> LocalMatrix:
        """Return rows by their positions."""
        self.count += 1
        found: LocalMatrix = self.recall(name, None, indices, lambda: self.blocks.rows(indices, self._progress(name)))
        return found

    def recall(self, name: str, kind: Any, made_from: Any, compute: Callable[[], Any]) -> Any:
        """Return the result that was kept for the same input, or compute and keep it."""
        if self.checkpoint is None:
            return compute()
        digest = hashlib.sha256()
        data = (self.identity, self.blocks.shape, self.blocks.lengths, self.blocks.names)
        update_digest(digest, (VERSION, name, *data, made_from))
        key = digest.hexdigest()
        if (arrays := self.checkpoint.load(name, key)) is not None:
            with suppress(Exception):  # arrays of another kind: compute them again
                return from_arrays(kind, arrays)
        result = compute()
        self.checkpoint.keep(name, key, to_arrays(result))
        return result

    def finish(self) -> None:
        """Remove the kept results, unless the checkpoint belongs to the caller."""
        if self.checkpoint is not None and self.checkpoint.temporary:
            self.checkpoint.forget()

    def _progress(self, name: str) -> Progress | None:
        callback = self.callback
        return None if callback is None else lambda done, count: callback(name, done, count, np.nan)
