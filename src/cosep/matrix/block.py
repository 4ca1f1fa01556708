"""One block of rows: its place in the matrix, reading it and checking it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix, stack
from cosep.matrix.validation import as_matrix
from cosep.utils.messages import one_line

LONGEST_MESSAGE = 2000


class BlockError(ValueError):
    """A block cannot be read or has bad entries or a wrong shape; the message, on one line, names it."""

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message, LONGEST_MESSAGE))


class Slot(NamedTuple):
    """The place of a block in the matrix.

    Attributes
    ----------
    start, stop : int
        Position of the first row, and of the row after the last; equal if the number of rows is not known yet.
    n_cols : int
    names : tuple of str
        Names of the pieces of the block.
    """

    start: int
    stop: int
    n_cols: int
    names: tuple[str, ...]

    def where(self, piece: int | None = None) -> str:
        """Return a description of the block, or of one piece of it, for error messages."""
        first, last = (self.names[0], self.names[-1]) if piece is None else (self.names[piece],) * 2
        name = first if first == last else f"{first} to {last}"
        within = "within rows" if first == last and len(self.names) > 1 else "rows"
        return f"{name} ({within} {self.start} to {self.stop - 1})" if self.stop > self.start else name


def unreadable(slot: Slot, error: BaseException, piece: int | None = None) -> BlockError:
    """Return the error for a block, or a piece of it, that cannot be read."""
    what = one_line(error, 500) or type(error).__name__
    return BlockError(f"X: {slot.where(piece)} cannot be read ({what}); repair or replace it, then try again.")


def read(pieces: list[Any], slot: Slot) -> list[Any]:
    """Call the pieces that are functions, and return all as matrices."""
    found = []
    for i, piece in enumerate(pieces):
        try:
            found.append(piece() if callable(piece) else piece)
        except Exception as error:
            raise unreadable(slot, error, i) from error
    return found


def facts(block: Any, slot: Slot) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type of a block, which is read if it is a function."""
    (block,) = read([block], slot)
    dtype = getattr(block, "dtype", None)
    types = set(getattr(block, "dtypes", ())) if dtype is None else {dtype}
    return np.shape(block), np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)


def layout(found: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> tuple[list[int], int, np.dtype[Any]]:
    """Return the number of rows of each block, the number of columns and the common type."""
    shapes = [shape for shape, _ in found]
    if any(len(shape) != 2 for shape in shapes) or len({shape[1] for shape in shapes}) != 1:
        msg = f"X: its blocks must be matrices with the same columns, got shapes {sorted(set(shapes))[:5]}."
        raise ValueError(msg)
    return [shape[0] for shape in shapes], shapes[0][1], np.result_type(*(dtype for _, dtype in found))


def aligned(value: Any) -> Any:
    """Return arrays, and tuples of arrays, aligned in memory.

    Arrays that come from another process may not be aligned, and compiled code rounds differently then.
    """
    if isinstance(value, tuple):
        parts = [aligned(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy(order="K") if isinstance(value, np.ndarray) and not value.flags.aligned else value


def checked_block(pieces: list[Any], slot: Slot) -> LocalMatrix:
    """Return the rows of one block as a matrix.

    Raises
    ------
    BlockError
        If the block is not a matrix of finite nonnegative numbers, or has another shape than expected.
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
    # Each block would have a power of two of its own; where one matters, `Statistics` raises.
    return LocalMatrix(aligned(M.stored_by_rows().in_data_units().raw))


def _check_piece(piece: Any, slot: Slot, i: int) -> None:
    """Raise `BlockError` for a piece that is not a matrix with the right columns, or has bad entries."""
    try:
        shape = as_matrix(piece).shape
    except ValueError as error:
        msg = f"X: {slot.where(i)} is bad: {error}"
        raise BlockError(msg) from error
    if shape[1] != slot.n_cols:
        msg = f"X: {slot.where(i)} has {shape[1]} columns, but {slot.n_cols} were expected, the same in all blocks."
        raise BlockError(msg)
