"""Matrices of ``.h5ad`` files, with the names of rows and columns."""

import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cosep.io import child_process, h5ad_script, read
from cosep.io.input_source import InputSource


@pytest.fixture
def real_cells():
    """A small file of real cells, written by an old version of anndata."""
    found = importlib.util.find_spec("scanpy")
    if found is None:
        pytest.skip("scanpy is not here, which ships a small table of real cells")
    return Path(found.submodule_search_locations[0]) / "datasets" / "10x_pbmc68k_reduced.h5ad"


def test_centred_data_raise_and_the_raw_matrix_is_read(real_cells):
    with pytest.raises(ValueError, match=r"row 'AAAGCCTGGCTAAC-1', column 'HES4' is -.* layer='raw'\.$"):
        read(real_cells)
    matrix = read(real_cells, layer="raw", labels="bulk_labels")
    assert matrix.values.shape == (700, 765)
    assert isinstance(matrix.values, scipy.sparse.csr_array)
    assert matrix.values.dtype == np.float32
    assert matrix.col_names[0] == "HES4"
    assert len(set(matrix.labels.tolist())) == 10


def test_layers_and_labels(tmp_path):
    X = scipy.sparse.csc_matrix(np.eye(3, 2, dtype=np.float32))
    obs = pd.DataFrame({"kind": pd.Categorical(["<b>", "NA", "007"]), "n": [1, 2, 3]}, index=["a", "007", "é"])
    cells = anndata.AnnData(X, obs, pd.DataFrame(index=["g,1", "NA"]), layers={"counts": 2 * X, "log": np.ones((3, 2))})
    cells.write_h5ad(tmp_path / "x.h5ad")
    matrix = read(tmp_path / "x.h5ad", labels="kind")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["a", "007", "é"], ["g,1", "NA"])
    assert matrix.labels.tolist() == ["<b>", "NA", "007"]
    assert isinstance(matrix.values, scipy.sparse.csr_array)
    np.testing.assert_array_equal(matrix.values.toarray(), np.eye(3, 2))
    np.testing.assert_array_equal(read(tmp_path / "x.h5ad", layer="counts").values.toarray(), 2 * np.eye(3, 2))
    assert isinstance(read(tmp_path / "x.h5ad", layer="log").values, np.ndarray)
    assert read(tmp_path / "x.h5ad", labels="n").labels.tolist() == ["1", "2", "3"]
    with pytest.raises(ValueError, match="layer='raw' is not one of the layers: 'counts', 'log'"):
        read(tmp_path / "x.h5ad", layer="raw")
    with pytest.raises(ValueError, match="labels='nope' is not a column of obs; the columns are: 'kind', 'n'"):
        read(tmp_path / "x.h5ad", labels="nope")


def test_negative_entries_without_another_matrix(tmp_path):
    anndata.AnnData(-np.eye(2)).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(ValueError, match=r"is -1, .* or clip it\.$"):
        read(tmp_path / "x.h5ad")


def some_cells(**parts):
    return anndata.AnnData(
        scipy.sparse.csr_matrix(np.eye(4, 3, dtype=np.float32)),
        pd.DataFrame({"kind": pd.Categorical(list("abab"))}, index=list("wxyz")),
        pd.DataFrame(index=["g1", "g2", "g3"]),
        **parts,
    )


def test_cells_after_log1p_are_read(tmp_path):
    """scanpy writes a base of None, which is a dataset without a value."""
    some_cells(uns={"log1p": {"base": None}}).write_h5ad(tmp_path / "x.h5ad")
    assert read(tmp_path / "x.h5ad", labels="kind").labels.tolist() == list("abab")


COLUMNS = {
    "text": np.array(["a", "", "é", "NA"], dtype=object),
    "categories": pd.Categorical(["b", None, "a", "b"]),
    "numbers": pd.Categorical([3, 1, 3, 1]),
    "integer": np.array([1, -2, 3, 0], dtype=np.int8),
    "float": np.array([1.0, 0.1, 1e-05, 1e22]),
    "single": np.array([1.0, 0.1, 1e-05, 1e22], dtype=np.float32),
    "switch": np.array([True, False, True, False]),
    "nullable integer": pd.array([1, None, 3, 4], dtype="Int64"),
    "nullable switch": pd.array([True, None, False, True], dtype="boolean"),
}


def test_names_and_labels_are_those_of_anndata(tmp_path):
    cells = some_cells()
    for name, values in COLUMNS.items():
        cells.obs[name] = values
    cells.layers["c"] = cells.X.tocsc()
    cells.write_h5ad(tmp_path / "x.h5ad", compression="lzf")
    expected = anndata.read_h5ad(tmp_path / "x.h5ad")
    for name in COLUMNS:
        matrix = read(tmp_path / "x.h5ad", labels=name, layer="c")
        classes = expected.obs[name]
        missing = [str(one) for one in classes[classes.isna()]]
        labels = classes.astype(str).fillna(missing[0] if missing else "")  # pandas 3 does not convert missing values
        assert matrix.labels.tolist() == labels.tolist(), name
        assert matrix.row_names.tolist() == expected.obs_names.tolist()
        np.testing.assert_array_equal(matrix.values.toarray(), expected.X.toarray())


def external_link(file):
    del file["X"]
    file["X"] = h5py.ExternalLink("other.h5ad", "/X")


def soft_link_out(file):
    file["elsewhere"] = h5py.ExternalLink("other.h5ad", "/")
    del file["X"]
    file["X"] = h5py.SoftLink("/elsewhere/X")


def external_storage(file):
    del file["X"]
    file.create_dataset("X", (4, 3), dtype=np.float64, external=[("secret.bin", 0, h5py.h5f.UNLIMITED)])


def virtual(file):
    del file["X"]
    layout = h5py.VirtualLayout((4, 3), dtype=np.float32)
    layout[:] = h5py.VirtualSource("other.h5ad", "dense", shape=(4, 3))
    file.create_virtual_dataset("X", layout)


def external_names(file):
    del file["var/_index"]
    file["var/_index"] = h5py.ExternalLink("other.h5ad", "/var/_index")


def external_categories(file):
    del file["obs/kind/categories"]
    file["obs/kind/categories"] = h5py.ExternalLink("other.h5ad", "/obs/kind/categories")


def plug_in(file):
    del file["X"]
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((4, 3))
    made.set_filter(32015, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((4, 3))
    h5py.h5d.create(file.id, b"X", h5py.h5t.NATIVE_DOUBLE, space, made)


def endless_links(file):
    del file["X"]
    file["X"], file["Y"] = h5py.SoftLink("/Y"), h5py.SoftLink("/X")


OUTSIDE = {
    external_link: "'X' is a link to another file",
    soft_link_out: "'elsewhere' is a link to another file",
    endless_links: "'.' is a link to another file, or to nothing",
    external_storage: "'X' stores its data in other files",
    virtual: "'X' stores its data in other files",
    external_names: "'_index' is a link to another file",
    external_categories: "'categories' is a link to another file",
    plug_in: r"'X' is compressed by an HDF5 plug-in \(filter 32015\)",
}


@pytest.mark.parametrize("change", OUTSIDE)
def test_nothing_but_the_file_itself_is_read(change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("secret.bin").write_bytes(np.ones(12).tobytes())
    for name in ("x.h5ad", "other.h5ad"):
        some_cells().write_h5ad(name)
    with h5py.File("other.h5ad", "a") as file:
        file["dense"] = np.ones((4, 3), dtype=np.float32)
    with h5py.File("x.h5ad", "a") as file:
        change(file)
    with pytest.raises(ValueError, match=rf"x\.h5ad: {OUTSIDE[change]}") as raised:
        read("x.h5ad", labels="kind")
    assert str(raised.value).isprintable()


def test_links_within_the_file_are_followed(tmp_path):
    some_cells(layers={"c": np.ones((4, 3))}).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        file["layers/d"], file["layers/e"] = h5py.SoftLink("/layers/c"), h5py.SoftLink("d")
    np.testing.assert_array_equal(read(tmp_path / "x.h5ad", layer="e").values, np.ones((4, 3)))


DAMAGED = {
    "obs": (lambda file: file["obs"].attrs.modify("_index", "nothing"), "expected a column of names in 'nothing'"),
    "codes": (lambda file: file["obs/kind/codes"].__setitem__(0, 9), "codes up to 9 for 2 categories"),
    "shape": (lambda file: file["X"].attrs.modify("shape", [9, 9]), "cannot be read"),
    "fewer names": (lambda file: (file["var"].move("_index", "i"), file["var"].__setitem__("_index", ["a"])),
                    "has 1 names for 3 cols"),
    "names of two dimensions": (
        lambda file: (file["var"].move("_index", "i"), file["var"].__setitem__("_index", [["a"]])),
        "names that are not a list of text",
    ),
    "no matrix": (lambda file: file["X"].attrs.modify("encoding-type", "dict"), "dense or sparse, got 'dict'"),
    "text": (lambda file: (file.move("X", "Y"), file.__setitem__("X", [["a"]])), "expected real numbers, got object"),
    "a row": (lambda file: (file.move("X", "Y"), file.__setitem__("X", [1.0])), "an array of 1 dimensions"),
    "indices": (lambda file: file["X/indices"].__setitem__(0, 99), "broken|cannot be read"),
    "not UTF-8": (
        lambda file: (file["var"].move("_index", "i"), file["var"].__setitem__("_index", np.array([b"\xff"] * 3))),
        "x.h5ad: .*cannot be read",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_raises_one_sentence(case, tmp_path):
    damage, message = DAMAGED[case]
    some_cells().write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        damage(file)
    with pytest.raises(ValueError, match=message) as raised:
        read(tmp_path / "x.h5ad", labels="kind")
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("while True: pass", "took more than 1 seconds to read; it is damaged"),
        ("import os; os.abort()", "crashed the process that read it; it is damaged"),
        ("raise SystemExit", "crashed the process that read it"),
        ("import sys; sys.stdout.write('junk' * 9)", "crashed the process that read it"),
    ],
)
def test_a_child_process_that_hangs_or_dies_raises(code, message, tmp_path, monkeypatch):
    monkeypatch.setattr(child_process, "CPU_SECONDS", 1)
    script = "from {} import limit\nimport sys, json\nlimit(json.loads(sys.stdin.readline())['seconds'], 1 << 30)\n"
    (tmp_path / "script.py").write_text(script.format(h5ad_script.__name__) + code)
    (tmp_path / "x").write_text("a")
    source = InputSource(tmp_path / "x", "x", "", "")
    with pytest.raises(ValueError, match=message), child_process.ChildReader(tmp_path / "script.py", source) as reader:
        reader.receive()
    assert reader.process.poll() is not None


def test_a_child_that_waits_for_ever_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(child_process, "CPU_SECONDS", 1)
    monkeypatch.setattr(child_process, "WALL_TIME_FACTOR", 1)
    (tmp_path / "script.py").write_text("import time; time.sleep(600)")
    source = InputSource(tmp_path / "script.py", "x", "", "")
    with (
        pytest.raises(ValueError, match="took more than 1 s"),
        child_process.ChildReader(source.path, source) as reader,
    ):
        reader.receive()


def test_an_array_too_large_for_the_file_raises(tmp_path):
    anndata.AnnData(scipy.sparse.csr_matrix(np.eye(3, dtype=np.float32))).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        del file["X/indices"]
        file.create_dataset("X/indices", shape=(1 << 40,), dtype="i8", chunks=(1 << 20,))
    with pytest.raises(ValueError, match=r"an array of 1099511627776 would take 8\.8e\+12 bytes"):
        read(tmp_path / "x.h5ad")


def test_memory_of_the_child_is_limited(tmp_path):
    script = "from {} import limit\nlimit(9, 1 << 20)\nbytearray(1 << 31)"
    (tmp_path / "script.py").write_text(script.format(h5ad_script.__name__))
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr


def test_ctrl_c_ends_the_child_too(tmp_path):
    (tmp_path / "script.py").write_text("import time; time.sleep(600)")
    source = InputSource(tmp_path / "script.py", "x", "", "")
    interrupt = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # The timer starts when the child runs, so inside of the block.
        with pytest.raises(KeyboardInterrupt), child_process.ChildReader(source.path, source) as reader:  # noqa: PT012
            interrupt.start()
            reader.receive()
    finally:
        signal.signal(signal.SIGINT, before)
    assert reader.process.poll() is not None


def test_cells_are_read_from_a_daemon_and_without_a_guarded_main(tmp_path):
    some_cells().write_h5ad(tmp_path / "x.h5ad")
    (tmp_path / "program.py").write_text(
        "import multiprocessing, sys\nfrom cosep.io import read\n"
        "multiprocessing.set_start_method('fork')\n"
        "with multiprocessing.Pool(1) as pool:\n    print(pool.apply(read, (sys.argv[1],)).values.shape)\n"
    )
    command = [sys.executable, tmp_path / "program.py", tmp_path / "x.h5ad"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "(4, 3)\n"


def messages(stream):
    """Parse the messages of the child process."""
    data = stream.getvalue()
    found = []
    while data:
        kind, size = h5ad_script.MESSAGE_HEADER.unpack_from(data)
        body, data = data[h5ad_script.MESSAGE_HEADER.size :][:size], data[h5ad_script.MESSAGE_HEADER.size + size :]
        found.append(json.loads(body) if kind == h5ad_script.JSON else body)
    return found


def asked(path, layer=None, labels=None, is_raw=False, lines=2):
    """Return the messages of the child to a parent that sends this many lines."""
    answers = io.BytesIO()
    choice = json.dumps({"layer": layer, "is_raw": is_raw}).encode()
    asking = io.BytesIO(b"".join([choice + b"\n", b"go\n"][:lines]))
    h5ad_script.serve({"path": str(path), "layer": layer, "labels": labels}, asking, answers)
    return messages(answers)


def test_what_the_child_sends(tmp_path, real_cells):
    cells = some_cells(layers={"c": np.ones((4, 3))})
    cells.write_h5ad(tmp_path / "x.h5ad")
    assert asked(tmp_path / "x.h5ad", lines=0) == [{"has_X": True, "layers": ["c"], "has_raw": False}]
    assert list(asked(tmp_path / "x.h5ad", lines=1)[1]) == ["bytes"]
    _, size, facts, *parts = asked(tmp_path / "x.h5ad", labels="kind")
    assert size["bytes"] > 0
    assert (facts["kind"], facts["shape"], facts["rows"], facts["labels"]) == (
        "csr",
        [4, 3],
        list("wxyz"),
        list("abab"),
    )
    assert np.frombuffer(parts[0], np.float32).tolist() == [1.0] * 3
    assert "error" in asked(tmp_path / "none.h5ad")[0]
    old = asked(real_cells, layer="raw", labels="louvain", is_raw=True)[2]
    assert len(set(old["labels"])) == 11
    with h5py.File(real_cells) as file:
        n_genes = np.asarray(file["obs"]["n_genes"])
    assert asked(real_cells, labels="n_genes")[2]["labels"] == [str(one) for one in n_genes.tolist()]


def test_a_file_without_tables_of_names_is_numbered(tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.ones((2, 3))
    assert read(tmp_path / "x.h5ad").col_names.tolist() == ["0", "1", "2"]
    with pytest.raises(ValueError, match="labels='a' is not a column of obs"):
        read(tmp_path / "x.h5ad", labels="a")
