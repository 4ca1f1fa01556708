"""The fixed order in which answers of blocks are merged.

Neighbouring blocks are merged one after the other until `MOST_PARTS` answers are left, and these in groups of
`MERGE_WIDTH`, groups of groups and so on. The order depends on the number of blocks only, so that rounding is the same
wherever the blocks are evaluated.
"""

from collections.abc import Callable, Sequence
from typing import Any

# Number of answers that are merged at once.
MERGE_WIDTH = 8
# Number of leaves of the tree: of more blocks than this, neighbours are merged first.
MOST_PARTS = 512


def chains(asked: Sequence[int]) -> list[Sequence[int]]:
    """Split into at most `MOST_PARTS` runs of about the same length."""
    size = -(-len(asked) // MOST_PARTS)
    return [asked[at : at + size] for at in range(0, len(asked), size)]


def branches(asked: Sequence[int]) -> list[Sequence[int]]:
    """Split into at most `MERGE_WIDTH` runs; the length of each but the last is a power of `MERGE_WIDTH`."""
    step = 1
    while step * MERGE_WIDTH < len(asked):
        step *= MERGE_WIDTH
    return [asked[at : at + step] for at in range(0, len(asked), step)]


def tree(asked: Sequence[int], leaf: Callable[[int], Any], node: Callable[[list[Any]], Any]) -> Any:
    """Combine the answers of `leaf` by `node`, in groups of `MERGE_WIDTH`, groups of groups and so on."""
    if len(asked) == 1:
        return leaf(asked[0])
    return node([tree(branch, leaf, node) for branch in branches(asked)])


def merged(parts: Sequence[Any]) -> Any:
    """Merge answers in their order."""
    return parts[0] if len(parts) == 1 else parts[0].merge(parts[1:])
