"""Blocks of rows in Zarr stores and folders of files: what is read is what was written, or an error of one sentence."""

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import anndata
import numcodecs
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import cosep.io.block_reading
import cosep.io.block_writing
import cosep.io.zarr_store
import cosep.matrix.row_blocks
from cosep import CoSeparableNMF, make_coseparable
from cosep.io import read_blocks, write_blocks
from cosep.matrix.block import BlockError
from cosep.matrix.row_blocks import RowBlocks

M, N = 60, 40
CUTS = ((0, 10), (10, 11), (11, 45), (45, 60))
GENES = [f"gene {j}" for j in range(N)]
CELLS = [f"cell {i}" for i in range(M)]


@pytest.fixture(scope="module")
def planted():
    X, truth = make_coseparable(M, N, 4, 4, random_state=0)
    return np.round(100 * X), truth


@pytest.fixture
def small_blocks(monkeypatch):
    """Divide small matrices into many blocks."""
    monkeypatch.setattr(cosep.matrix.row_blocks, "MOST_ENTRIES", 300)
    monkeypatch.setattr(cosep.matrix.row_blocks, "MOST_ROWS", 7)
    monkeypatch.setattr(cosep.io.block_writing, "CHUNK", 200)


def cut(X):
    return [X[a:b] for a, b in CUTS]


def write_cells(path, X, zarr_format, names=object):
    """Write an AnnData whose names are objects or strings of pandas, for which anndata 0.13 also writes a mask."""
    frames = (pd.DataFrame(index=pd.Index(index, dtype=names)) for index in (CELLS, GENES))
    cells = anndata.AnnData(scipy.sparse.csr_matrix(X), *frames)
    cells.layers["dense"], cells.layers["csc"] = np.asarray(X), scipy.sparse.csc_matrix(X)
    cells.raw = cells
    with warnings.catch_warnings(action="ignore"), anndata.settings.override(zarr_write_format=zarr_format):
        cells.write_zarr(path)


def write_array(path, X, **options):
    zarr.create_array(path, shape=X.shape, dtype=X.dtype, **options)[:] = X


def write_files(save):
    def write(path, X):
        path.mkdir()
        # In alphabetical order, the last would be the second.
        for name, block in zip(("b1", "b2", "b3", "b10"), cut(X), strict=True):
            save(path / name, block)

    return write


STORES = {
    "csr": lambda path, X: write_blocks(path, cut(scipy.sparse.csr_array(X))),
    "dense": lambda path, X: write_blocks(path, cut(X)),
    "columns cut": lambda path, X: write_array(path, X, chunks=(8, 7)),
    "format 2": lambda path, X: write_array(path, X, chunks=(8, 7), zarr_format=2),
    "shards": lambda path, X: write_array(path, X, chunks=(4, 7), shards=(8, 21)),
    "anndata 2": lambda path, X: write_cells(path, X, 2),
    "anndata 3": lambda path, X: write_cells(path, X, 3),
    "npy": write_files(lambda path, block: np.save(f"{path}.npy", block)),
    "npz": write_files(lambda path, block: np.savez(f"{path}.npz", counts=block)),
    "sparse npz": write_files(lambda path, block: scipy.sparse.save_npz(f"{path}.npz", scipy.sparse.coo_array(block))),
    "parquet": write_files(lambda path, block: pd.DataFrame(block, columns=GENES).to_parquet(f"{path}.parquet")),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.usefixtures("small_blocks")
def test_what_is_read_is_what_was_written(kind, planted, tmp_path):
    X, _ = planted
    STORES[kind](tmp_path / "store", X)
    blocks = read_blocks(tmp_path / "store")
    assert blocks.shape == X.shape
    assert len(blocks.lengths) > 2
    values = blocks.rows(np.arange(M)).raw
    np.testing.assert_array_equal(values.toarray() if scipy.sparse.issparse(values) else values, X)
    for group in blocks.groups:
        assert all(np.shape(pickle.loads(pickle.dumps(piece))())[1] == N for piece in group)


@pytest.mark.usefixtures("small_blocks")
def test_a_store_is_fitted(planted, tmp_path):
    X, truth = planted
    STORES["csr"](tmp_path / "store", X)
    model = CoSeparableNMF(4, 4).fit(read_blocks(tmp_path / "store"))
    assert set(model.row_indices_) == set(truth.row_indices)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("stretch", [1, 7, 1000])
def test_blocks_of_a_csr_matrix_hold_no_more_than_they_may(stretch, monkeypatch, tmp_path):
    monkeypatch.setattr(cosep.io.zarr_store, "INDPTR_ROWS", stretch)
    rng = np.random.default_rng(0)
    X = scipy.sparse.csr_array(rng.random((90, N)) < rng.choice([0.02, 0.9, 0.0], (90, 1)))
    write_blocks(tmp_path / "store", [X.astype(np.float32)])
    blocks = read_blocks(tmp_path / "store")
    assert blocks.dtype == np.float32
    assert sum(blocks.lengths) == 90
    assert max(blocks.lengths) <= 7
    assert all(X[slot.start : slot.stop].nnz <= 300 for slot in blocks.slots)
    # As few blocks as possible: no two neighbours fit into one.
    for one, other in zip(blocks.slots, blocks.slots[1:], strict=False):
        assert other.start - one.start == 7 or X[one.start : other.start + 1].nnz > 300


@pytest.mark.parametrize("names", [object, None])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_anndata_has_names_and_layers(zarr_format, names, planted, tmp_path):
    write_cells(tmp_path / "cells", planted[0], zarr_format, names)
    for layer in (None, "dense", "raw"):
        blocks = read_blocks(tmp_path / "cells", layer=layer)
        assert blocks.col_names.tolist() == GENES
        assert blocks.row_names(np.array([59, 0, 59])).tolist() == ["cell 59", "cell 0", "cell 59"]
    model = CoSeparableNMF(4, 4).fit(blocks)
    assert set(model.selected_features_) <= set(GENES)


def test_tables_have_names(planted, tmp_path):
    write_files(
        lambda path, block: (
            pd.DataFrame(block, columns=GENES, index=[f"{path.name} {i}" for i in range(len(block))])
            .rename_axis("cell")
            .to_parquet(f"{path}.parquet")
        )
    )(tmp_path / "tables", planted[0])
    blocks = read_blocks(tmp_path / "tables")
    assert blocks.shape == (M, N)
    assert blocks.col_names.tolist() == GENES
    assert blocks.row_names(np.array([59, 10, 11, 0])).tolist() == ["b10 14", "b2 0", "b3 0", "b1 0"]


def test_without_dask_blocks_are_read_one_after_the_other(planted, monkeypatch, tmp_path):
    monkeypatch.setattr(cosep.io.block_reading, "find_spec", lambda _: None)
    STORES["csr"](tmp_path / "store", planted[0])
    assert type(read_blocks(tmp_path / "store")) is RowBlocks


def test_another_store_of_the_same_shape_has_another_identity(planted, tmp_path):
    seen = set()
    for kind in ("csr", "npy"):
        for name in ("a", "b"):
            STORES[kind](tmp_path / f"{kind} {name}", planted[0])
            seen |= {read_blocks(tmp_path / f"{kind} {name}").identity for _ in range(2)}
        chunk = next(path for path in (tmp_path / f"{kind} a").rglob("*") if path.is_file())
        os.utime(chunk, ns=(1, 1))
        seen.add(read_blocks(tmp_path / f"{kind} a").identity)
    assert len(seen) == 6


def test_anndata_reads_what_was_written(planted, tmp_path):
    write_blocks(tmp_path / "store", cut(scipy.sparse.csr_array(planted[0])))
    found = anndata.io.read_elem(zarr.open(store=tmp_path / "store", mode="r"))
    np.testing.assert_array_equal(found.toarray(), planted[0])


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.usefixtures("small_blocks")
def test_blocks_can_be_written_again(kind, planted, tmp_path):
    STORES[kind](tmp_path / "store", planted[0])
    write_blocks(tmp_path / "copy", read_blocks(tmp_path / "store"))
    values = read_blocks(tmp_path / "copy").rows(np.arange(M)).raw
    np.testing.assert_array_equal(values.toarray() if scipy.sparse.issparse(values) else values, planted[0])


def bad_blocks(X):
    sparse = scipy.sparse.csr_array(X)
    return {
        "no rows": ([], "no rows"),
        "only empty": ([X[:0]], "no rows"),
        "a matrix": (X, r"pass \[X\] for one"),
        "a number": (3, "several blocks"),
        "a list in it": ([X.tolist()], "block 0 must be an ndarray"),
        "one dimension": ([X[0]], "two dimensions"),
        "other columns": ([X, X[:0], X[:, 1:]], "block 2 is dense, with 39 columns"),
        "other type": ([X, X.astype(np.float32)], "block 1 is dense, .*float32"),
        "mixed": ([sparse, X], "block 1 is dense, .* but the first is sparse"),
        "negative": ([X, -X], "block 1"),
        "nan": ([X, np.where(np.eye(*X.shape) > 0, np.nan, X)], "block 1"),
        "objects": ([np.full((2, 2), "a", dtype=object)], "block 0"),
        "complex": ([X.astype(complex)], "block 0"),
    }


@pytest.mark.parametrize("case", bad_blocks(np.ones((2, N))))
def test_bad_blocks_are_not_written(case, planted, tmp_path):
    blocks, message = bad_blocks(planted[0])[case]
    with pytest.raises(ValueError, match=message):
        write_blocks(tmp_path / "store", blocks)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_store_that_was_not_completed(planted, tmp_path):
    def blocks():
        yield planted[0]
        assert not (tmp_path / "store").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_blocks(tmp_path / "store", blocks())
    assert list(tmp_path.iterdir()) == []


def test_threads_that_write_the_same_store_write_one_complete_store(tmp_path):
    path, start, raised = tmp_path / "it.zarr", threading.Barrier(4), []

    def write(k):
        start.wait()
        try:
            write_blocks(path, [np.full((20, 5), float(k))] * 3)
        except ValueError as error:
            raised.append(str(error))

    threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(raised) == 3
    assert all("exists already" in sentence for sentence in raised)
    held = read_blocks(path).rows(np.arange(60)).raw
    assert (held == held[0, 0]).all()
    assert [entry.name for entry in tmp_path.iterdir()] == ["it.zarr"]


@pytest.mark.parametrize("path", [3, b"store", "taken", "nowhere/store"])
def test_a_path_that_cannot_be_written_raises(path, planted, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("mine")
    with pytest.raises(ValueError, match="path="):
        write_blocks(path, [planted[0]])
    assert Path("taken").read_text() == "mine"


def edit(path, change):
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def with_csr(change):
    def write(path, X):
        write_blocks(path, cut(scipy.sparse.csr_array(X)))
        change(path)

    return write


def with_files(change, kind="npz"):
    def write(path, X):
        STORES[kind](path, X)
        change(path, X)

    return write


class Hostile:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


def pickled_cells(path, X):
    """Names that execute something when their chunks are decoded."""
    write_cells(path, X, 2)
    index = path / "var" / "_index"
    edit(index / ".zarray", lambda found: found.update(compressor={"id": "pickle"}))
    (index / "0").write_bytes(pickle.dumps(Hostile()))


def damage(path):
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 0xFF
    path.write_bytes(held)


def escaped_pickle(path, X):
    """The same by a second filter, whose name is written with JSON escapes."""
    write_cells(path, X, 2)
    index = path / "var" / "_index"
    text = json.dumps(json.loads((index / ".zarray").read_text()) | {"filters": [{"id": "vlen-utf8"}, {"id": "#"}]})
    (index / ".zarray").write_text(text.replace("#", "\\u0070ickle"))
    (index / "0").write_bytes(pickle.dumps(Hostile()))


def with_edited(part, change):
    """Return a function that writes an AnnData of format 2 and changes the metadata of a part."""

    def write(path, X):
        write_cells(path, X, 2)
        edit(path / part / ".zarray", change)

    return write


def consolidated_pickle(path, X):
    write_cells(path, X, 2)
    (path / ".zmetadata").unlink(missing_ok=True)
    node = {"zarr_format": 2, "filters": [{"id": "pickle"}], "compressor": None}
    (path / ".zmetadata").write_text(json.dumps({"metadata": {"var/_index/.zarray": node}}))


def with_codec(codec):
    return with_csr(lambda path: edit(path / "data" / "zarr.json", lambda found: found["codecs"].append(codec)))


def damaged_names(side):
    def write(path, X):
        write_cells(path, X, 3)
        damage(next(chunk for chunk in (path / side / "_index" / "c").rglob("*") if chunk.is_file()))

    return write


@pytest.mark.parametrize(("zarr_format", "sharded"), [(2, False), (3, False), (3, True)])
def test_names_that_claim_to_be_many_are_refused_before_memory_is_taken(zarr_format, sharded, planted, tmp_path):
    """A chunk of names whose number of texts is damaged took 17 GB."""
    write_cells(tmp_path / "cells", planted[0], zarr_format)
    folder = tmp_path / "cells" / "obs" / "_index"
    shutil.rmtree(folder)
    options = {"shards": (M,)} if sharded else {}
    names = zarr.create_array(folder, shape=(M,), chunks=(M // 2,), dtype=str, zarr_format=zarr_format, **options)
    names[:] = np.array(CELLS, dtype=object)
    assert read_blocks(tmp_path / "cells").row_names(np.array([3])).tolist() == CELLS[3:4]
    file = next(file for file in folder.rglob("*") if file.is_file() and file.name == "0")
    codec = numcodecs.Zstd() if zarr_format == 3 else numcodecs.get_codec(compressor_of(folder))
    stored = file.read_bytes()
    start, size = np.frombuffer(stored[-36:-20], dtype="<u8").tolist() if sharded else (0, len(stored))
    damaged = codec.encode(b"\xff\xff\xff\x7f" + bytes(codec.decode(stored[start : start + size]))[4:])
    index = struct.pack("<4Q", 0, len(damaged), 0, len(damaged))
    file.write_bytes(damaged + (index + stored[-4:] if sharded else b""))
    with pytest.raises(ValueError, match="claims more texts than it can hold"):
        read_blocks(tmp_path / "cells")


def compressor_of(folder):
    return json.loads((folder / ".zarray").read_text())["compressor"]


def link(path, target):
    path.symlink_to(path.parent.parent / target)


def linked(part):
    """Return a function that moves a part of a store out of it and creates a link."""

    def move(path):
        (path / part).rename(path.parent / "outside")
        (path / part).symlink_to(path.parent / "outside")

    return with_csr(move)


INVALID = {
    "nothing": (lambda *_: None, "cannot be opened"),
    "a file": (lambda path, _: path.write_text("a"), "is a file; .*cosep.io.read"),
    "empty folder": (lambda path, _: path.mkdir(), "not a Zarr store and has no files of rows"),
    "other files": (lambda path, _: (path.mkdir(), (path / "a.txt").write_text("b")), "not a Zarr store"),
    "mixed kinds": (
        with_files(lambda path, X: np.save(path / "c.npy", X)),
        "several formats, such as b1.npz and c.npy",
    ),
    "other columns": (
        with_files(lambda path, X: np.savez(path / "b4", X[:, 1:])),
        "b4.npz: has 39 columns, but b1.npz",
    ),
    "truncated": (
        with_files(lambda path, _: (path / "b3.npz").write_bytes((path / "b3.npz").read_bytes()[:500])),
        "b3.npz: .*truncated",
    ),
    "pickled npz": (
        with_files(lambda path, _: np.savez(path / "b3", np.array([Hostile()], dtype=object))),
        "b3.npz: .*does not hold the array",
    ),
    "pickled npy": (
        with_files(lambda path, _: np.save(path / "b3", np.array([Hostile()], dtype=object)), "npy"),
        "b3.npy: ",
    ),
    "a vector": (with_files(lambda path, X: np.save(path / "b2", X[0]), "npy"), "b2.npy: expected a matrix"),
    "an empty file": (with_files(lambda path, _: (path / "b2.npy").write_text(""), "npy"), "b2.npy: is empty"),
    "other names": (
        with_files(
            lambda path, X: pd.DataFrame(X, columns=[*GENES[:-1], "z"]).to_parquet(path / "b2.parquet"), "parquet"
        ),
        "b2.parquet: its column 39 is 'z', but 'gene 39' in b1.parquet",
    ),
    "no table": (with_files(lambda path, _: (path / "b2.parquet").write_text("a"), "parquet"), "b2.parquet: "),
    "1-D array": (lambda path, X: write_array(path, X[0], chunks=(8,)), "1 dimensions"),
    "text": (
        lambda path, _: write_array(path, np.full((3, 3), "ab"), chunks=(2, 3), zarr_format=2),
        "expected real numbers",
    ),
    "objects": (
        lambda path, _: zarr.create_array(path, shape=(3, 3), chunks=(2, 3), dtype=str, zarr_format=2),
        "expected real numbers",
    ),
    "complex": (lambda path, X: write_array(path, X + 0j, chunks=(2, 3)), "expected real numbers"),
    "no rows": (lambda path, X: write_array(path, X[:0], chunks=(2, 3)), "no rows or no columns"),
    "no matrix": (lambda path, _: zarr.create_group(path).create_array("a", shape=(2, 2), dtype=int), "its parts: a"),
    "no metadata": (lambda path, _: (path.mkdir(), (path / "zarr.json").write_text("{")), "cannot be read"),
    "csc": (
        with_csr(lambda p: edit(p / "zarr.json", lambda j: j["attributes"].update({"encoding-type": "csc_matrix"}))),
        "csc matrix.*convert it to csr",
    ),
    "other shape": (
        with_csr(lambda p: edit(p / "zarr.json", lambda j: j["attributes"].update(shape=[61, 40]))),
        "do not match a matrix of 61 x 40",
    ),
    "no shape": (with_csr(lambda p: edit(p / "zarr.json", lambda j: j["attributes"].pop("shape"))), "shape"),
    "part missing": (with_csr(lambda p: (p / "indices" / "zarr.json").unlink()), "indices"),
    "indptr missing": (with_csr(lambda p: zarr.open_array(p / "indptr").__setitem__(5, 0)), "indptr does not increase"),
    "huge": (lambda path, _: zarr.create_array(path, shape=(1 << 60, 4), chunks=(1, 4), dtype=float), "is the file"),
    "many blocks": (
        lambda path, _: zarr.create_array(path, shape=(1 << 22, 1 << 25), chunks=(1, 4), dtype=float),
        "blocks; if the store is not damaged",
    ),
    "huge chunk": (
        lambda path, _: zarr.create_array(path, shape=(9, 9), chunks=(9, 1 << 40), dtype=float),
        "a chunk of store would take",
    ),
    "huge block": (
        lambda path, _: zarr.create_array(path, shape=(1 << 14, 1 << 20), chunks=(1 << 14, 4), dtype=float),
        "a block of 16384 x 1048576 would take",
    ),
    "pickled names": (pickled_cells, "encoded by 'pickle'"),
    "escaped pickle": (escaped_pickle, "encoded by 'pickle'"),
    "pickled object codec": (
        with_edited("var/_index", lambda found: found.update(filters=[{"id": "pickle"}])),
        "_index: it is encoded by 'pickle'",
    ),
    "objects without a codec": (
        with_edited("var/_index", lambda found: found.update(filters=None)),
        "_index: it holds Python objects",
    ),
    "json codec": (with_edited("var/_index", lambda found: found.update(filters=[{"id": "json2"}])), "'json2'"),
    "no name of a codec": (with_edited("var/_index", lambda found: found.update(filters=[[7]])), "it is encoded by"),
    "consolidated pickle": (consolidated_pickle, "store: it is encoded by 'pickle'"),
    "unknown codec": (with_codec({"name": "numcodecs.pickle"}), "encoded by 'numcodecs.pickle'"),
    "codec by name alone": (with_codec("numcodecs.pickle"), "encoded by 'numcodecs.pickle'"),
    "codec within shards": (
        with_codec({"name": "sharding_indexed", "configuration": {"codecs": [{"name": "evil"}], "index_codecs": []}}),
        "encoded by 'evil'",
    ),
    "copy of a codec": (
        with_csr(
            lambda p: edit(
                p / "zarr.json",
                lambda j: j.update(
                    consolidated_metadata={"metadata": {"a": {"zarr_format": 3, "codecs": [{"name": "evil"}]}}}
                ),
            )
        ),
        "encoded by 'evil'",
    ),
    "storage transformer": (
        with_csr(lambda p: edit(p / "data/zarr.json", lambda j: j.update(storage_transformers=[{"name": "x"}]))),
        "data: it has storage transformers",
    ),
    "names of chunks": (
        with_csr(lambda p: edit(p / "data/zarr.json", lambda j: j.update(chunk_key_encoding={"name": "../x"}))),
        "data: it names its chunks",
    ),
    "damaged row names": (damaged_names("obs"), "store: expected a Zarr store, but it cannot be read"),
    "damaged column names": (damaged_names("var"), "store: expected a Zarr store, but it cannot be read"),
    "control characters": (
        with_csr(
            lambda p: edit(p / "zarr.json", lambda j: j["attributes"].update({"encoding-type": "\x1b[31m\r\n\x9b"}))
        ),
        "is not a matrix",
    ),
    "link to a chunk outside": (linked("data/c/0"), "data/c/0 is a link to something outside the folder"),
    "link to an array outside": (linked("data"), "data is a link to something outside the folder"),
    "link to metadata outside": (linked("data/zarr.json"), "data/zarr.json is a link"),
    "pipe for a chunk": (
        with_csr(lambda p: ((p / "data/c/0").unlink(), os.mkfifo(p / "data/c/0"))),
        "data/c/0 is not a regular file",
    ),
    "link to a block outside": (
        with_files(lambda path, _: ((path / "b2.npz").rename(path.parent / "o.npz"), link(path / "b2.npz", "o.npz"))),
        "b2.npz is a link to something outside the folder",
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_a_bad_store_raises_in_one_sentence(case, planted, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write, message = INVALID[case]
    write(tmp_path / "store", planted[0])
    with pytest.raises(ValueError, match=message) as caught:
        read_blocks(tmp_path / "store")
    assert str(caught.value).isprintable()
    assert not Path("executed").exists()


def test_a_store_may_be_reached_by_links_and_hold_links_to_itself(planted, tmp_path):
    STORES["csr"](tmp_path / "store", planted[0])
    (tmp_path / "store" / "data" / "zarr.json").rename(tmp_path / "store" / "data" / "kept.json")
    (tmp_path / "store" / "data" / "zarr.json").symlink_to("kept.json")
    (tmp_path / "link").symlink_to("store")
    assert read_blocks(tmp_path / "link").shape == planted[0].shape


def test_codecs_are_checked_where_a_block_is_read(planted, tmp_path):
    STORES["csr"](tmp_path / "store", planted[0])
    piece = read_blocks(tmp_path / "store").groups[0][0]
    edit(tmp_path / "store" / "data" / "zarr.json", lambda found: found["codecs"].append({"name": "numcodecs.pickle"}))
    with pytest.raises(ValueError, match=r"data: it is encoded by 'numcodecs\.pickle'"):
        piece()


def test_names_that_are_damaged_later_name_the_store(planted, tmp_path):
    write_cells(tmp_path / "store", planted[0], 3)
    blocks = read_blocks(tmp_path / "store")
    damage(next(chunk for chunk in (tmp_path / "store" / "obs" / "_index" / "c").rglob("*") if chunk.is_file()))
    with pytest.raises(ValueError, match="store: expected a Zarr store, but it cannot be read"):
        blocks.row_names(np.array([0]))


@pytest.mark.parametrize("path", [None, 3, b"store"])
def test_a_value_that_is_not_a_path_raises(path):
    with pytest.raises(ValueError, match="path="):
        read_blocks(path)


@pytest.mark.parametrize(("kind", "layer"), [("csr", "a"), ("npy", "a"), ("anndata 3", "a"), ("anndata 3", 3)])
def test_an_unknown_layer_raises(kind, layer, planted, tmp_path):
    STORES[kind](tmp_path / "store", planted[0])
    with pytest.raises(ValueError, match=f"layer={layer!r}"):
        read_blocks(tmp_path / "store", layer=layer)


def entry(store, part, position, value):
    zarr.open_array(store / part, mode="r+")[position] = value


DAMAGED = {
    "missing chunk": ("csr", lambda path: (path / "data" / "c" / "0").unlink(), "the chunk data/c/0 is missing"),
    "missing columns": (
        "csr",
        lambda path: (path / "indices" / "c" / "0").unlink(),
        "the chunk indices/c/0 is missing",
    ),
    "damaged chunk": ("csr", lambda path: damage(path / "data" / "c" / "0"), "store.*cannot be read"),
    "damaged dense chunk": ("dense", lambda path: damage(path / "c" / "0" / "0"), "store.*cannot be read"),
    "columns beyond": ("csr", lambda path: entry(path, "indices", 3, N), "broken csr matrix"),
    "negative columns": ("csr", lambda path: entry(path, "indices", 3, -1), "broken csr matrix"),
    "negative": ("csr", lambda path: entry(path, "data", 3, -1), "rows 0 to 6.*[Nn]egative"),
    "nan": ("dense", lambda path: entry(path, "", (50, 3), np.nan), "rows 50 to 54.*NaN"),
    "negative in a file": ("npy", lambda path: np.save(path / "b3.npy", -np.ones((34, N))), "b3.npy.*negative"),
    "damaged file": ("npy", lambda path: os.truncate(path / "b10.npy", 300), "b10.npy"),
    "shorter file": ("npy", lambda path: np.save(path / "b10.npy", np.ones((3, N))), "b10.npy.*expected"),
}


@pytest.mark.parametrize("case", DAMAGED)
@pytest.mark.usefixtures("small_blocks")
def test_a_bad_block_is_named_when_it_is_read(case, planted, tmp_path):
    kind, damage, message = DAMAGED[case]
    STORES[kind](tmp_path / "store", planted[0])
    blocks = read_blocks(tmp_path / "store")
    damage(tmp_path / "store")
    with pytest.raises(BlockError, match=message):
        CoSeparableNMF(4, 4).fit(blocks)


def test_neither_dask_nor_zarr_is_loaded_before_it_is_needed():
    code = "import sys, cosep.io; print(sorted({'dask', 'distributed', 'zarr', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_is_not_installed_is_named(planted, monkeypatch, tmp_path):
    STORES["csr"](tmp_path / "store", planted[0])
    monkeypatch.setitem(sys.modules, "zarr", None)
    for use in (lambda: read_blocks(tmp_path / "store"), lambda: write_blocks(tmp_path / "new", [planted[0]])):
        with pytest.raises(ImportError, match=r"needs zarr: install cosep\[dask\]"):
            use()


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_indices_of_one_column_need_not_be_stored(tmp_path):
    anndata.AnnData(scipy.sparse.csr_matrix(np.ones((50, 1)))).write_zarr(tmp_path / "one.zarr")
    assert not list((tmp_path / "one.zarr" / "X" / "indices").glob("0*"))
    np.testing.assert_array_equal(read_blocks(tmp_path / "one.zarr").rows(np.arange(50)).take(), np.ones((50, 1)))


def test_blocks_that_cannot_be_iterated_are_refused_and_the_error_of_a_block_is_kept(tmp_path):
    class NotIterable:
        def __iter__(self):
            msg = "two\nlines"
            raise RuntimeError(msg)

    def failing():
        yield np.ones((2, 3))
        msg = "the user's own"
        raise RuntimeError(msg)

    with pytest.raises(ValueError, match=r"^blocks must be several blocks of rows or RowBlocks, got NotIterable"):
        write_blocks(tmp_path / "x.zarr", NotIterable())
    with pytest.raises(RuntimeError, match="the user's own"):
        write_blocks(tmp_path / "x.zarr", failing())
    assert not list(tmp_path.iterdir())
