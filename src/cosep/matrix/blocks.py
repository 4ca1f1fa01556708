"""Blocks of rows enter; what a function finds in each leaves, merged, beside single rows and long results by blocks.

For matrices that need not fit in memory. A question is a function ``task(state, block, start)`` of one block, whose
first row is the row ``start`` of the whole; it is asked of every block in one pass. Answers are merged in one fixed
order, whoever evaluates them: here one block after the other, elsewhere by Dask.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.matrix.checks import as_matrix
from cosep.matrix.local import LocalMatrix
from cosep.utils.messages import one_line
from cosep.utils.types import Indices

# So many answers are merged at once; and so many there are at the most, those of more blocks being added up in turn.
FAN, MOST_PARTS = 8, 512
# Blocks are put together up to so many stored entries, 32 to 50 MB, and so many rows: weights of 125 MB at rank 20.
MOST_ENTRIES, MOST_ROWS = 1 << 22, 1 << 16

LONGEST_MESSAGE = 2000

# Says how many blocks of how many are done.
Progress = Callable[[int, int], None]
# Names of rows, from their positions.
RowNames = Callable[[Indices], NDArray[np.str_]]


class BlockError(ValueError):
    """A block cannot be read, or is not what it should be; the message names it, on one line."""

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message, LONGEST_MESSAGE))


class Part(Protocol):
    """The answer of some blocks."""

    def merge(self, others: Sequence[Self]) -> Self:
        """Return the answer of these blocks and, in their order, the following ones."""


class Slot(NamedTuple):
    """Where a block stands in the whole, and what its pieces are called; of one of unknown size, nothing but that."""

    start: int
    stop: int
    n_cols: int
    names: tuple[str, ...]

    def where(self, piece: int | None = None) -> str:
        """Say which block that is, or which piece of it."""
        first, last = (self.names[0], self.names[-1]) if piece is None else (self.names[piece],) * 2
        name = first if first == last else f"{first} to {last}"
        within = "within rows" if first == last and len(self.names) > 1 else "rows"
        return f"{name} ({within} {self.start} to {self.stop - 1})" if self.stop > self.start else name


class Column(NamedTuple):
    """What a long result looks like: numbers a row, or None for a single one, and their type."""

    width: int | None
    dtype: np.dtype[Any]


class Rows(NamedTuple):
    """Rows of a matrix, in order."""

    values: Any

    def merge(self, others: Sequence[Self]) -> "Rows":
        """Put following rows below."""
        return Rows(stack([self.values, *(other.values for other in others)]))


class Density(NamedTuple):
    """Entries that are stored of a row, in the block with the most of them."""

    entries: float

    def merge(self, others: Sequence[Self]) -> "Density":
        """Compare with following blocks."""
        return Density(max(self.entries, *(other.entries for other in others)))


def density(_state: None, block: LocalMatrix, _start: int) -> Density:
    """Return how much a row of a block holds, on average."""
    return Density((block.values.nnz if block.is_sparse else block.values.size) / block.shape[0])


class RowBlocks:
    """A matrix in blocks of rows, evaluated one after the other.

    Parameters
    ----------
    pieces : sequence of callable
        Each returns consecutive rows: an ndarray, a data frame or any scipy.sparse matrix. Called anew in every pass.
    lengths : sequence of int
        The number of rows of each piece.
    n_cols : int
    dtype : dtype
        Results are float32 if this is, otherwise float64.
    names : sequence of str, optional
        What the pieces are called in messages, such as the names of their files.
    col_names : ndarray of str, optional
    row_names : callable, optional
        Returns the names of rows from their positions.
    identity : str
        What tells the data from other data of the same shape, such as the path and age of its file.
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
        identity: str = "",
    ) -> None:
        kept = [i for i, length in enumerate(lengths) if length > 0]
        self.lengths = tuple(int(lengths[i]) for i in kept)
        names = [f"block {i}" for i in range(len(lengths))] if names is None else names
        self.groups: tuple[tuple[Any, ...], ...] = tuple((pieces[i],) for i in kept)
        self.names: tuple[tuple[str, ...], ...] = tuple((names[i],) for i in kept)
        self.shape = (sum(self.lengths), int(n_cols))
        self.dtype = np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)
        self.col_names = col_names
        self.row_names = row_names
        self.identity = identity
        if 0 in self.shape:
            msg = f"X has no rows or no columns (shape={self.shape}); pass at least one of each."
            raise ValueError(msg)

    @cached_property
    def slots(self) -> list[Slot]:
        """Where every block stands."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)]).tolist()
        return [Slot(a, b, self.shape[1], names) for (a, b), names in zip(pairwise(ends), self.names, strict=True)]

    def coarsened(self) -> Self:
        """Return the same matrix with small neighbouring blocks put together, so that none is too small to be worth it.

        How much a row holds is told by the first block and the last, which are read for it.
        """
        if len(self.groups) < 2:
            return self
        ends: Density = self.fold(density, only=[0, len(self.groups) - 1])
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
        coarse.__dict__.pop("slots", None)
        coarse.groups = tuple(tuple(piece for i in run for piece in self.groups[i]) for run in runs)
        coarse.lengths = tuple(sum(self.lengths[i] for i in run) for run in runs)
        coarse.names = tuple(tuple(name for i in run for name in self.names[i]) for run in runs)
        return coarse

    def fold(
        self,
        task: Callable[[Any, LocalMatrix, int], Any],
        state: Any = None,
        *,
        only: Iterable[int] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Ask every block, or only some, and merge the answers: one pass over the data."""
        return self._folded(task, state, list(range(len(self.groups)) if only is None else only), progress)

    def _folded(
        self, task: Callable[[Any, LocalMatrix, int], Any], state: Any, asked: list[int], progress: Progress | None
    ) -> Any:
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
        """Return rows by their positions, in the order given; only the blocks that hold some are read."""
        order = np.argsort(indices, kind="stable")
        ends = np.cumsum(self.lengths)
        holders = np.unique(np.searchsorted(ends, indices, side="right")).tolist()
        found = self.fold(_taken, np.asarray(indices)[order], only=holders, progress=progress).values
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return LocalMatrix(found[back])

    def along(
        self, task: Callable[[Any, LocalMatrix, int], tuple[Any, ...]], state: Any, columns: Sequence[Column]
    ) -> tuple[Any, ...]:
        """Return the arrays that the function makes of every block, those of all blocks below each other."""
        parts = [
            typed(ask(task, state, list(group), slot), columns)
            for group, slot in zip(self.groups, self.slots, strict=True)
        ]
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def chains(asked: Sequence[int]) -> list[Sequence[int]]:
    """Cut into at most `MOST_PARTS` runs of about the same length."""
    size = -(-len(asked) // MOST_PARTS)
    return [asked[at : at + size] for at in range(0, len(asked), size)]


def branches(asked: Sequence[int]) -> list[Sequence[int]]:
    """Cut into at most `FAN` runs, each but the last with a power of `FAN` of blocks."""
    step = 1
    while step * FAN < len(asked):
        step *= FAN
    return [asked[at : at + step] for at in range(0, len(asked), step)]


def tree(asked: Sequence[int], leaf: Callable[[int], Any], node: Callable[[list[Any]], Any]) -> Any:
    """Combine leaves in groups of `FAN`, groups of groups, and so on: the same whatever a leaf stands for."""
    if len(asked) == 1:
        return leaf(asked[0])
    return node([tree(branch, leaf, node) for branch in branches(asked)])


def unreadable(slot: Slot, error: BaseException, piece: int | None = None) -> BlockError:
    """Return the error that says which block, or which piece of it, could not be read."""
    what = one_line(error, 500) or type(error).__name__
    return BlockError(f"X: {slot.where(piece)} cannot be read ({what}); mend or replace it, then try again.")


def ask(task: Callable[[Any, LocalMatrix, int], Any], state: Any, pieces: list[Any], slot: Slot) -> Any:
    """Read the pieces of a block, check them, and ask."""
    return task(aligned(state), checked_block(read(pieces, slot), slot), slot.start)


def aligned(value: Any) -> Any:
    """Return arrays, and tuples of them, so that compiled code rounds alike: from another process they lie anywhere."""
    if isinstance(value, tuple):
        parts = [aligned(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy(order="K") if isinstance(value, np.ndarray) and not value.flags.aligned else value


def ask_next(
    before: Any, task: Callable[[Any, LocalMatrix, int], Any], state: Any, pieces: list[Any], slot: Slot
) -> Any:
    """Ask a block, and add its answer to that of the blocks before, if any."""
    part = ask(task, state, pieces, slot)
    return part if before is None else merged([before, part])


def read(pieces: list[Any], slot: Slot) -> list[Any]:
    """Call the pieces that are functions; the others are here already."""
    found = []
    for i, piece in enumerate(pieces):
        try:
            found.append(piece() if callable(piece) else piece)
        except Exception as error:
            raise unreadable(slot, error, i) from error
    return found


def facts(block: Any, slot: Slot) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of a block that may have to be read."""
    (block,) = read([block], slot)
    dtype = getattr(block, "dtype", None)
    types = set(getattr(block, "dtypes", ())) if dtype is None else {dtype}
    return np.shape(block), np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)


def layout(found: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> tuple[list[int], int, np.dtype[Any]]:
    """Return the numbers of rows of blocks, their number of columns and their type."""
    shapes = [shape for shape, _ in found]
    if any(len(shape) != 2 for shape in shapes) or len({shape[1] for shape in shapes}) != 1:
        msg = f"X: its blocks must be matrices with the same columns, got shapes {sorted(set(shapes))[:5]}."
        raise ValueError(msg)
    return [shape[0] for shape in shapes], shapes[0][1], np.result_type(*(dtype for _, dtype in found))


def typed(arrays: Sequence[Any], columns: Sequence[Column]) -> tuple[Any, ...]:
    """Return arrays in the types that they shall have."""
    return tuple(array.astype(column.dtype) for array, column in zip(arrays, columns, strict=True))


def checked_block(pieces: list[Any], slot: Slot) -> LocalMatrix:
    """Return the rows of one block as a matrix.

    Raises
    ------
    BlockError
        If the block is no matrix of finite nonnegative numbers, or not of the size it should have.
    """
    try:
        M = as_matrix(stack(pieces))
    except ValueError as error:
        for i, piece in enumerate(pieces if len(pieces) > 1 else ()):
            _check_piece(piece, slot, i)
        msg = f"X: {slot.where()} is bad: {error}"
        raise BlockError(msg) from error
    if M.shape != (slot.stop - slot.start, slot.n_cols):
        msg = (
            f"X: {slot.where()} has shape {M.shape}, but {slot.stop - slot.start} rows and {slot.n_cols} columns were "
            "expected; blocks must have the same columns, and must not change while they are read."
        )
        raise BlockError(msg)
    values = M.values.tocsr() if M.is_sparse else aligned(M.values)
    if M.exponent:  # each block has its own, and none is needed: `Statistics` refuses what would need one
        entries = values.data if M.is_sparse else values
        np.ldexp(entries, M.exponent, out=entries)
    return LocalMatrix(values)


def _check_piece(piece: Any, slot: Slot, i: int) -> None:
    """Refuse a piece that is no matrix of its own with the right columns, or has bad entries."""
    try:
        shape = as_matrix(piece).shape
    except ValueError as error:
        msg = f"X: {slot.where(i)} is bad: {error}"
        raise BlockError(msg) from error
    if shape[1] != slot.n_cols:
        msg = f"X: {slot.where(i)} has {shape[1]} columns, but {slot.n_cols} were expected, the same in all blocks."
        raise BlockError(msg)


def stack(pieces: Sequence[Any]) -> Any:
    """Put pieces below each other; sparse if any is."""
    if len(pieces) == 1:
        return pieces[0]
    if any(scipy.sparse.issparse(piece) for piece in pieces):
        return scipy.sparse.vstack([scipy.sparse.csr_array(piece) for piece in pieces], format="csr")
    return np.concatenate([np.asarray(piece) for piece in pieces])


def merged(parts: Sequence[Any]) -> Any:
    """Merge answers in their order."""
    return parts[0] if len(parts) == 1 else parts[0].merge(parts[1:])


def _taken(indices: Indices, block: LocalMatrix, start: int) -> Rows:
    """Return the rows of a block that are among some, which are in order."""
    within = indices[np.searchsorted(indices, start) : np.searchsorted(indices, start + block.shape[0])] - start
    return Rows(block.values[within])
