"""Passes over blocks of rows whose answers have a line for each row: a group of blocks at a time."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.io.named_matrix import numbered
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.utils.types import Callback, Indices

# Numbers in the answer of one group of blocks: 128 MB.
MOST_NUMBERS = 1 << 24


class GroupAnswer(NamedTuple):
    """The answer of a group of consecutive blocks.

    Attributes
    ----------
    start, stop : int
        The rows of the group.
    answer : Any
        What the task returned for them, merged.
    """

    start: int
    stop: int
    answer: Any


def in_groups(
    blocks: RowBlocks,
    task: Callable[[Any, LocalMatrix, int], Any],
    state: Any,
    numbers_per_row: int,
    callback: Callback,
) -> Iterator[GroupAnswer]:
    """Go through all blocks once, in groups whose answers fit in memory; yield the answer of each group.

    Parameters
    ----------
    blocks : RowBlocks
    task, state
        Called as ``task(state, block, start)``, as in `RowBlocks.fold`.
    numbers_per_row : int
        How many numbers the answer has for each row.
    callback : callable
        Called as ``callback("rows", blocks done, blocks, nan)``.
    """
    done, n_blocks = 0, len(blocks.lengths)
    while done < n_blocks:
        last, rows = done, 0
        while last < n_blocks and (last == done or (rows + blocks.lengths[last]) * numbers_per_row <= MOST_NUMBERS):
            rows += blocks.lengths[last]
            last += 1

        def progress(step: int, _: int, before: int = done) -> None:
            callback("rows", before + step, n_blocks, np.nan)

        answer = blocks.reduce(task, state, only=range(done, last), progress=progress)
        yield GroupAnswer(blocks.slots[done].start, blocks.slots[last - 1].stop, answer)
        done = last


def row_names_at(blocks: RowBlocks, positions: Indices) -> NDArray[np.str_]:
    """Return the names of some rows; "row 17" where they have none."""
    if blocks.row_names is None:
        return np.char.add("row ", np.asarray(positions).astype(np.str_))
    return blocks.row_names(np.asarray(positions))


def col_names_of(blocks: RowBlocks) -> NDArray[np.str_]:
    """Return the names of the columns; "column 17" where they have none."""
    return numbered("column", blocks.shape[1]) if blocks.col_names is None else blocks.col_names.astype(np.str_)
