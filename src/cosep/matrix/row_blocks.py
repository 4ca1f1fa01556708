"""A matrix in blocks of consecutive rows, which need not fit in memory.

A question is a function ``task(state, block, start)`` of one block as a `LocalMatrix`; ``start`` is the position of its
first row in the whole matrix. One pass evaluates it for every block. Its answers have a method ``merge(others)`` that
adds the answers of the following blocks; they are merged in one fixed order, so that the blocks evaluated here, one
after the other, and those evaluated by Dask give the same bits.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.block import Slot, aligned, checked_block, read
from cosep.matrix.local import LocalMatrix, stack
from cosep.matrix.merging import chains, merged, tree
from cosep.utils.types import Indices

# Small blocks are joined up to this many stored entries (32 to 50 MB) and rows (weights of 125 MB at rank 20).
MOST_ENTRIES, MOST_ROWS = 1 << 22, 1 << 16

# Called with the number of blocks that are done and the number of all.
Progress = Callable[[int, int], None]
# Returns the names of rows from their positions.
RowNames = Callable[[Indices], NDArray[np.str_]]
# A question: function of state, block and position of the first row of the block.
Task = Callable[[Any, LocalMatrix, int], Any]


class Column(NamedTuple):
    """Layout of an array with one entry, or one row of entries, for each row of the matrix.

    Attributes
    ----------
    width : int or None
        Entries per row of the matrix; None for a one-dimensional array.
    dtype : dtype
    """

    width: int | None
    dtype: np.dtype[Any]


class Rows(NamedTuple):
    """Consecutive answers of `RowBlocks.rows`: rows as an ndarray or CSR array."""

    values: Any

    def merge(self, others: Sequence[Self]) -> "Rows":
        """Append the rows of the following blocks."""
        return Rows(stack([self.values, *(other.values for other in others)]))


class Density(NamedTuple):
    """Mean number of stored entries per row, in the block where it is largest."""

    entries: float

    def merge(self, others: Sequence[Self]) -> "Density":
        """Return the largest of this and the following blocks."""
        return Density(max(self.entries, *(other.entries for other in others)))


def density(_state: None, block: LocalMatrix, _start: int) -> Density:
    """Return the mean number of stored entries per row of a block."""
    return Density(int(block.stored_per_row().sum()) / block.shape[0])


class RowBlocks:
    """A matrix in blocks of rows, evaluated one after the other.

    Parameters
    ----------
    pieces : sequence of callable
        Each returns consecutive rows as an ndarray, a data frame or a scipy.sparse matrix. Called again in every pass.
    lengths : sequence of int
        The number of rows of each piece.
    n_cols : int
    dtype : dtype
        Type of the results: float32 if this is float32, otherwise float64 (the default).
    names : sequence of str, optional
        Names of the pieces in error messages, such as their file names. Default: "block 0", "block 1", ...
    col_names : ndarray of str, optional
    row_names : callable, optional
        Returns the names of rows from their positions.
    nouns : tuple of str, optional
        What a row and a column are called, such as "cell" and "gene".
    identity : str
        Identifies the data for checkpoints, such as path and modification time of its file. Default: empty; the
        content of some blocks then identifies it.

    Attributes
    ----------
    shape : (int, int)
    groups : tuple of tuple
        The pieces of each block. A block has one piece until `coarsened` joins neighbours. Empty pieces are left out.
    lengths : tuple of int
        The number of rows of each block.
    names : tuple of tuple of str
        The names of the pieces of each block.
    slots : list of Slot
        The place of each block in the matrix.
    """

    def __init__(
        self,
        pieces: Sequence[Any],
        lengths: Sequence[int],
        n_cols: int,
        *,
        dtype: Any = np.float64,
        names: Sequence[str] | None = None,
        col_names: NDArray[Any] | None = None,
        row_names: RowNames | None = None,
        nouns: tuple[str, str] | None = None,
        identity: str = "",
    ) -> None:
        kept = [i for i, length in enumerate(lengths) if length > 0]
        names = [f"block {i}" for i in range(len(lengths))] if names is None else names
        self.shape = (sum(int(lengths[i]) for i in kept), int(n_cols))
        self._arrange([((pieces[i],), int(lengths[i]), (names[i],)) for i in kept])
        self.dtype = np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)
        self.col_names = col_names
        self.row_names = row_names
        self.nouns = nouns
        self.identity = identity
        if 0 in self.shape:
            msg = f"X has no rows or no columns (shape={self.shape}); pass at least one of each."
            raise ValueError(msg)

    def _arrange(self, blocks: Sequence[tuple[tuple[Any, ...], int, tuple[str, ...]]]) -> None:
        """Set the blocks from their pieces, numbers of rows and names of pieces."""
        self.groups: tuple[tuple[Any, ...], ...] = tuple(pieces for pieces, _, _ in blocks)
        self.lengths: tuple[int, ...] = tuple(length for _, length, _ in blocks)
        self.names: tuple[tuple[str, ...], ...] = tuple(names for _, _, names in blocks)
        ends = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.intp)]).tolist()
        self.slots = [
            Slot(a, b, self.shape[1], names) for (a, b), names in zip(pairwise(ends), self.names, strict=True)
        ]

    def coarsened(self) -> Self:
        """Return the same matrix with small neighbouring blocks joined.

        The number of entries per row is estimated from the first and the last block, which are read for it.
        """
        if len(self.groups) < 2:
            return self
        ends: Density = self.reduce(density, only=[0, len(self.groups) - 1])
        most = min(MOST_ROWS, max(1, int(MOST_ENTRIES / max(ends.entries, 1.0))))
        runs: list[list[int]] = []
        rows = 0
        for i, length in enumerate(self.lengths):
            if not runs or rows + length > most:
                runs.append([])
                rows = 0
            runs[-1].append(i)
            rows += length
        coarse = copy(self)
        coarse._arrange(
            [
                (
                    tuple(piece for i in run for piece in self.groups[i]),
                    sum(self.lengths[i] for i in run),
                    tuple(name for i in run for name in self.names[i]),
                )
                for run in runs
            ]
        )
        return coarse

    def reduce(
        self,
        task: Task,
        state: Any = None,
        *,
        only: Iterable[int] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Evaluate a question for every block, or for some, and merge the answers in one pass over the data.

        Parameters
        ----------
        task : callable
            Called as ``task(state, block, start)``; its answers have a method ``merge(others)``.
        state : object, optional
            Passed to every call.
        only : iterable of int, optional
            Positions of blocks, in ascending order. Default: all.
        progress : callable, optional
            Called as ``progress(done, count)`` after each block.
        """
        return self._reduced(task, state, list(range(len(self.groups)) if only is None else only), progress)

    def _reduced(self, task: Task, state: Any, asked: list[int], progress: Progress | None) -> Any:
        runs, done = chains(asked), 0

        def leaf(k: int) -> Any:
            nonlocal done
            part = None
            for i in runs[k]:
                part = ask_next(part, task, state, list(self.groups[i]), self.slots[i])
                done += 1
                if progress is not None:
                    progress(done, len(asked))
            return part

        return tree(range(len(runs)), leaf, merged)

    def rows(self, indices: Indices, progress: Progress | None = None) -> LocalMatrix:
        """Return rows by their positions, in the given order; only blocks that hold some of them are read."""
        order = np.argsort(indices, kind="stable")
        ends = np.cumsum(self.lengths)
        holders = np.unique(np.searchsorted(ends, indices, side="right")).tolist()
        found = self.reduce(_taken, np.asarray(indices)[order], only=holders, progress=progress).values
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return LocalMatrix(found[back])

    def map_rows(self, task: Task, state: Any, columns: Sequence[Column]) -> tuple[Any, ...]:
        """Return arrays with one row for each row of the matrix: those of all blocks, concatenated.

        ``task(state, block, start)`` returns a tuple of arrays for one block; ``columns`` describes them.
        """
        parts = [
            typed(ask(task, state, list(group), slot), columns)
            for group, slot in zip(self.groups, self.slots, strict=True)
        ]
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def ask(task: Task, state: Any, pieces: list[Any], slot: Slot) -> Any:
    """Read the pieces of a block, check them, and return the answer."""
    return task(aligned(state), checked_block(read(pieces, slot), slot), slot.start)


def ask_next(before: Any, task: Task, state: Any, pieces: list[Any], slot: Slot) -> Any:
    """Return the answer of a block, merged with that of the blocks before unless this is None."""
    part = ask(task, state, pieces, slot)
    return part if before is None else merged([before, part])


def typed(arrays: Sequence[Any], columns: Sequence[Column]) -> tuple[Any, ...]:
    """Return arrays in the types of their columns."""
    return tuple(array.astype(column.dtype) for array, column in zip(arrays, columns, strict=True))


def _taken(indices: Indices, block: LocalMatrix, start: int) -> Rows:
    """Return the rows of a block whose positions are among the given ones, which are in ascending order."""
    within = indices[np.searchsorted(indices, start) : np.searchsorted(indices, start + block.shape[0])] - start
    return Rows(block.rows(within).raw)
