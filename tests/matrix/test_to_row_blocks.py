from functools import partial

import anndata
import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from cosep import CoSeparableNMF, row_blocks
from cosep.matrix import to_row_blocks
from cosep.matrix.block import BlockError
from cosep.matrix.dask import DaskBlocks
from cosep.matrix.to_row_blocks import own_blocks
from in_blocks import DATA, array, failing, lengths_of, noted, piece, reads

X = DATA["counts"]
NAMES = [f"word {j}" for j in range(X.shape[1])]
FRAME = pd.DataFrame(X, columns=NAMES)


def values(blocks):
    return blocks.rows(np.arange(blocks.shape[0])).take()


KINDS = {
    "array": lambda: X,
    "nested list": X.tolist,
    "csr": lambda: sp.csr_array(X),
    "csc": lambda: sp.csc_matrix(X),
    "frame": lambda: FRAME,
    "whole numbers": lambda: X.astype(np.int16),
    "list of arrays": lambda: [X[:100], X[100:100], X[100:]],
    "list of sparse": lambda: [sp.csr_array(X[:100]), sp.coo_array(X[100:])],
    "list of dense and sparse": lambda: [X[:100], sp.coo_array(X[100:])],
    "list of frames": lambda: [FRAME[:100], FRAME[100:]],
    "list of functions": lambda: [partial(piece, X[:100]), partial(piece, sp.csr_array(X[100:]))],
    "list of delayed": lambda: [dask.delayed(X[:100]), dask.delayed(X[100:])],
    "list of all kinds": lambda: [X[:50], partial(piece, X[50:100]), dask.delayed(sp.csr_array(X[100:]))],
    "one delayed": lambda: dask.delayed(X),
    "Dask array": lambda: array(X, lengths_of(len(X), 7, ragged=True)),
    "Dask array of sparse": lambda: array(X, lengths_of(len(X), 7), sp.csr_array),
    "Dask frame": lambda: dd.from_pandas(FRAME, npartitions=3),
    "list of Dask arrays": lambda: [array(X[:450], [450]), array(X[450:], [450])],
}


@pytest.mark.parametrize("kind", KINDS)
def test_anything_with_rows_becomes_blocks_of_the_same_rows(kind):
    blocks = row_blocks(KINDS[kind]())
    assert isinstance(blocks, DaskBlocks) == ("Dask" in kind or "delayed" in kind or "all" in kind)
    np.testing.assert_array_equal(values(blocks), X)
    assert (blocks.col_names is None) == ("frame" not in kind.lower())


def test_a_matrix_in_memory_is_cut_into_blocks_of_some_size(monkeypatch):
    monkeypatch.setattr(to_row_blocks, "MOST_ENTRIES", 100 * X.shape[1])
    assert row_blocks(X).lengths == (100,) * 9
    assert len(row_blocks(sp.csr_array(X)).lengths) < 5
    monkeypatch.setattr(to_row_blocks, "MOST_ROWS", 7)
    blocks = row_blocks(X[:20])
    assert blocks.lengths == (7, 7, 6)
    np.testing.assert_array_equal(values(blocks), X[:20])


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.7e308 / X.max()])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_entries_near_the_ends_of_the_floats_are_kept_exactly(scale, make):
    np.testing.assert_array_equal(values(row_blocks(make(X * scale))), X * scale)


def test_single_precision_stays():
    narrow = X.astype(np.float32)
    for one in (
        narrow,
        [narrow, narrow],
        [partial(piece, narrow)],
        [dask.delayed(narrow)],
        array(narrow, [len(X)]),
        dd.from_pandas(FRAME.astype(np.float32), npartitions=2),
        [FRAME.astype(np.float32)],
    ):
        assert row_blocks(one).dtype == np.float32
    assert row_blocks([narrow, X]).dtype == np.float64
    assert row_blocks([narrow.astype(np.float16)]).dtype == np.float64


def test_blocks_pass_through():
    blocks = row_blocks(X)
    assert row_blocks(blocks) is blocks
    assert own_blocks(blocks) is blocks


def test_own_blocks_are_the_chunks_as_they_are_unread(tmp_path):
    parts = [
        da.from_delayed(dask.delayed(partial(noted, tmp_path, X[i : i + 9], "x"))(), X[i : i + 9].shape, X.dtype)
        for i in range(0, len(X), 9)
    ]
    assert own_blocks(da.concatenate(parts)).lengths == (9,) * 100
    assert reads(tmp_path) == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([X, X[:, :3]], "same columns"),
        ([partial(piece, X), partial(piece, X[:, :3])], "same columns"),
        ([FRAME, FRAME[NAMES[::-1]]], "different columns"),
        ([sp.coo_array(np.ones(3))], "matrices"),
        ([partial(piece, None)], "matrices"),
        ([], "dimensions"),
        (None, "dimensions"),
        ("text", "number"),
        ([[[1.0]]], "dimension"),
        (da.ones((4, 4), chunks=2), "rechunk"),
        (dd.from_pandas(FRAME, npartitions=2)["word 0"], "matrices"),
        (dask.bag.from_sequence([1, 2]), "Bag"),
        (X[:0], "0 sample"),
        ([X[:0]], "no rows"),
        (X - 1, "Negative"),
    ],
)
def test_what_has_no_rows_of_numbers_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        row_blocks(bad)


@pytest.mark.parametrize("wrap", [piece, dask.delayed])
def test_a_block_of_a_list_that_cannot_be_read_is_named(wrap):
    bad = partial(failing, "bad sector")
    with pytest.raises(BlockError, match=r"block 1 cannot be read \(bad sector\)"):
        row_blocks([X, bad if wrap is piece else dask.delayed(bad)()])


def test_a_first_chunk_that_cannot_be_read_is_named():
    parts = [da.from_delayed(dask.delayed(failing)("bad sector"), X.shape, X.dtype), array(X, [len(X)])]
    with pytest.raises(BlockError, match=r"block 0 \(rows 0 to 899\) cannot be read \(bad sector\)"):
        row_blocks(da.concatenate(parts))


def test_a_damaged_chunk_of_a_store_is_named(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "x.zarr"
    store = zarr.create_array(str(path), shape=X.shape, chunks=(300, X.shape[1]), dtype="f8")
    store[:] = X
    (chunk,) = [one for one in path.rglob("1/0") if one.is_file()]
    chunk.write_bytes(chunk.read_bytes()[:40])
    blocks = row_blocks(da.from_zarr(str(path)))
    with pytest.raises(BlockError, match=r"block 1 .*cannot be read"):
        values(blocks)


class Cells:
    """Stands in for an AnnData."""

    def __init__(self, X, layers=()):
        self.X, self.layers = X, dict(layers)
        self.var_names, self.obs_names = pd.Index(NAMES), pd.Index([f"cell {i}" for i in range(900)])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda A: array(A, lengths_of(900, 3))])
def test_cells_keep_the_names_of_both_sides(make):
    blocks = row_blocks(Cells(make(X)))
    np.testing.assert_array_equal(values(blocks), X)
    assert blocks.col_names.tolist() == NAMES
    assert blocks.row_names(np.array([3, 1])).tolist() == ["cell 3", "cell 1"]


@pytest.mark.parametrize("parts", [Cells(X), [X, X], (sp.csr_array(X),), [dask.delayed(X)]])
def test_where_a_matrix_is_expected_parts_of_one_are_told_the_way(parts):
    with pytest.raises(ValueError, match=r"X is an? (AnnData|list of matrices).*cosep.row_blocks\(X\)"):
        CoSeparableNMF(2, 2).fit(parts)


def test_a_layer_is_taken_by_name_and_only_from_cells():
    np.testing.assert_array_equal(values(row_blocks(Cells(None, {"counts": X}), layer="counts")), X)
    with pytest.raises(ValueError, match=r"layer='raw' is not one of the layers: 'counts'\.$"):
        row_blocks(Cells(X, {"counts": X, None: X}), layer="raw")  # anndata 0.13 has X among the layers
    with pytest.raises(ValueError, match="X is empty; add a matrix"):
        row_blocks(Cells(None))
    with pytest.raises(ValueError, match="layer='raw' applies to an AnnData only, not to ndarray"):
        row_blocks(X, layer="raw")


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("ending", ["zarr", "h5ad"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_lazy_cells_of_a_file_are_read_block_by_block(ending, make, tmp_path):
    about = {"obs": pd.DataFrame(index=[f"cell {i}" for i in range(900)]), "var": pd.DataFrame(index=NAMES)}
    path = tmp_path / f"cells.{ending}"
    getattr(anndata.AnnData(make(X), **about), f"write_{ending}")(path)
    lazy = anndata.experimental.read_lazy(path)
    blocks = row_blocks(lazy)
    assert isinstance(blocks, DaskBlocks)
    np.testing.assert_array_equal(values(blocks), X)
    assert blocks.col_names.tolist() == NAMES
    assert blocks.row_names(np.array([899])).tolist() == ["cell 899"]
    part = row_blocks(lazy[100:, 5:])
    assert isinstance(part, DaskBlocks)
    np.testing.assert_array_equal(values(part), X[100:, 5:])
    assert part.row_names(np.array([0])).tolist() == ["cell 100"]
