from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from cosep.matrix import row_blocks as module
from cosep.matrix.block import BlockError
from cosep.matrix.merging import MERGE_WIDTH, tree
from cosep.matrix.row_blocks import Column, RowBlocks
from in_blocks import DATA, FORMATS, failing, lengths_of, local, piece

X = DATA["counts"]


class Told(NamedTuple):
    """Where blocks start, in the order in which they were merged, nested as they were."""

    text: str

    def merge(self, others):
        return Told(f"({' '.join(part.text for part in (self, *others))})")


def starts(_state, _block, start):
    return Told(str(start))


def doubled(factor, block, start):
    values = block.take()
    return values * factor, np.arange(start, start + len(values))


def test_the_tree_keeps_the_order_and_never_merges_more_than_a_few():
    for count in [1, 2, MERGE_WIDTH - 1, MERGE_WIDTH, MERGE_WIDTH + 1, MERGE_WIDTH**2, MERGE_WIDTH**2 + 1, 200]:
        sizes = []

        def node(parts, sizes=sizes):
            sizes.append(len(parts))
            return [leaf for part in parts for leaf in (part if isinstance(part, list) else [part])]

        leaves = tree(list(range(count)), lambda i: i, node)
        assert leaves == (0 if count == 1 else list(range(count)))
        assert max(sizes, default=1) <= MERGE_WIDTH


def test_answers_are_merged_in_the_order_of_the_rows():
    merged = local(X, lengths_of(len(X), 20, ragged=True)).reduce(starts).text
    positions = [int(word.strip("()")) for word in merged.split()]
    assert positions == sorted(positions)
    assert merged.count("(") == 1 + -(-len(positions) // MERGE_WIDTH)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("count", [1, 4, 40])
def test_rows_come_in_the_order_that_was_asked_for(name, count):
    blocks = local(X, lengths_of(len(X), count), FORMATS[name])
    wanted = np.array([899, 0, 450, 451, 3, 898, 2])
    found = blocks.rows(wanted)
    assert found.is_sparse == (name != "dense")
    np.testing.assert_array_equal(found.take(), X[wanted])


def test_only_blocks_that_hold_a_wanted_row_are_read():
    read = []

    def noted(i, block):
        read.append(i)
        return block

    lengths = lengths_of(len(X), 9)
    ends = np.cumsum([0, *lengths])
    blocks = RowBlocks([partial(noted, i, X[ends[i] : ends[i + 1]]) for i in range(9)], lengths, X.shape[1])
    blocks.rows(np.array([850, 120, 130]))
    assert read == [1, 8]


def test_map_rows_puts_the_parts_of_all_blocks_below_each_other():
    values, positions = local(X, lengths_of(len(X), 9, ragged=True)).map_rows(
        doubled, 2.0, [Column(X.shape[1], np.dtype(np.float32)), Column(None, np.dtype(np.intp))]
    )
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, 2 * X)
    np.testing.assert_array_equal(positions, np.arange(len(X)))


@pytest.mark.parametrize("name", FORMATS)
def test_small_blocks_are_put_together_and_large_ones_are_not(name, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    lengths = [30, 30, 30, 30, 300, 10, 0, 10, 460]
    coarse = local(X, lengths, FORMATS[name], names=list("abcdefghi")).coarsened()
    assert coarse.lengths == (90, 30, 300, 20, 460)
    assert coarse.names == (("a", "b", "c"), ("d",), ("e",), ("f", "h"), ("i",))
    np.testing.assert_array_equal(coarse.rows(np.arange(len(X))).take(), X)


def test_an_empty_first_block_does_not_say_that_all_are(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", 100 * X.shape[1])
    empty = X.copy()
    empty[:30] = 0
    coarse = local(empty, [30] * 30, FORMATS["csr"]).coarsened()
    assert len(coarse.lengths) > 1


def test_progress_counts_blocks():
    told = []
    local(X, lengths_of(len(X), 5)).reduce(starts, progress=lambda done, count: told.append((done, count)))
    assert told == [(i, 5) for i in range(1, 6)]


def with_bad(bad, where=2, count=4):
    """Return blocks of which one is something else."""
    lengths = lengths_of(len(X), count)
    ends = np.cumsum([0, *lengths])
    pieces = [partial(piece, X[ends[i] : ends[i + 1]]) for i in range(count)]
    pieces[where] = partial(bad, X[ends[where] : ends[where + 1]].copy())
    return RowBlocks(pieces, lengths, X.shape[1], names=[f"part-{i}.npz" for i in range(count)])


def with_entry(value):
    def bad(block):
        block[3, 4] = value
        return block

    return bad


BAD = {
    "NaN": (with_entry(np.nan), "NaN"),
    "infinity": (with_entry(np.inf), "infinity"),
    "a negative entry": (with_entry(-1.0), "Negative"),
    "too few columns": (lambda block: block[:, :-1], "columns"),
    "fewer rows than before": (lambda block: block[:-1], "rows and"),
    "one dimension": (lambda block: block.ravel(), "two dimensions|1 dim|dimension"),
    "three dimensions": (lambda block: block[None], "dimension"),
    "text": (lambda block: np.full(block.shape, "x"), "number"),
    "objects": (lambda block: np.full(block.shape, object()), "number"),
    "nothing": (lambda _block: None, "dimensions|array"),
    "an error": (lambda _block: failing("disk is gone"), "cannot be read .*disk is gone"),
    "a broken matrix": (
        lambda block: _broken(sp.csr_array(block)),
        "broken",
    ),
}


def _broken(block):
    block.indices = block.indices.copy()
    block.indices[0] = 10**6
    return block


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("together", [False, True])
def test_a_bad_block_is_named(what, together):
    bad, message = BAD[what]
    blocks = with_bad(bad)
    if together:
        blocks = blocks.coarsened()
        assert len(blocks.groups) == 1
    pattern = rf"(?s)part-2\.npz.*({message})"
    if together and what == "fewer rows than before":
        pattern = r"part-0\.npz to part-3\.npz \(rows 0 to 899\) has shape"
    with pytest.raises(BlockError, match=pattern):
        blocks.reduce(starts)


def test_a_block_is_never_written_to():
    huge = X * 1e200
    huge.flags.writeable = False
    block = local(huge, [len(X)]).rows(np.arange(len(X)))
    np.testing.assert_array_equal(block.take(), huge)


@pytest.mark.parametrize(("lengths", "n_cols"), [([], 3), ([0, 0], 3), ([2], 0)])
def test_nothing_is_refused(lengths, n_cols):
    with pytest.raises(ValueError, match="no rows or no columns"):
        RowBlocks([partial(piece, np.ones((2, n_cols)))] * len(lengths), lengths, n_cols)
