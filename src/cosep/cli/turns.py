"""Blocks of rows enter; answers of some at a time leave, and the names that they are told by."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.io.named_matrix import numbered
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.utils.types import Callback, Indices

# Numbers that the answers of some blocks may have together: 128 MB.
ROOM = 1 << 24


def in_turn(
    blocks: RowBlocks, task: Callable[[Any, LocalMatrix, int], Any], state: Any, width: int, tell: Callback
) -> Iterator[tuple[int, int, Any]]:
    """Ask some blocks at a time; yield the first row, the end, and the answer, of so many numbers a row."""
    done, n_blocks = 0, len(blocks.lengths)
    while done < n_blocks:
        last, rows = done, 0
        while last < n_blocks and (last == done or (rows + blocks.lengths[last]) * width <= ROOM):
            rows += blocks.lengths[last]
            last += 1

        def progress(step: int, _: int, before: int = done) -> None:
            tell("rows", before + step, n_blocks, np.nan)

        answer = blocks.reduce(task, state, only=range(done, last), progress=progress)
        yield blocks.slots[done].start, blocks.slots[last - 1].stop, answer
        done = last


def names_at(blocks: RowBlocks, positions: Indices) -> NDArray[np.str_]:
    """Return the names of some rows, numbers if they have none."""
    if blocks.row_names is None:
        return np.char.add("row ", np.asarray(positions).astype(np.str_))
    return blocks.row_names(np.asarray(positions))


def col_names_of(blocks: RowBlocks) -> NDArray[np.str_]:
    """Return the names of the columns, numbers if they have none."""
    return numbered("column", blocks.shape[1]) if blocks.col_names is None else blocks.col_names.astype(np.str_)
