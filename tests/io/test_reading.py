"""Every format gives back the matrix and the names that were written to it."""

import bz2
import csv
import gzip
import io
import json
import lzma
import string
import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cosep.io import NamedMatrix, TextOptions, read

AWKWARD = [
    "<script>alert(1)</script>",
    'a, "b"',
    "two\nlines",
    "naïve 日本 🙂",
    "007",
    "NA",
    "nan",
    "1e5",
    "TRUE",
    " x ",
]
RNG = np.random.default_rng(0)
DENSE = RNG.random((len(AWKWARD), 4)) + 0.1
SPARSE = np.where(RNG.random((len(AWKWARD), 9)) < 0.2, RNG.integers(1, 300, (len(AWKWARD), 9)), 0).astype(float)
COLUMNS = ["<b>", "x,y", '"', "same", "same", "0", "", "é", "NA"]


def dense(matrix):
    return matrix.values.toarray() if scipy.sparse.issparse(matrix.values) else matrix.values


def write_csv(path, header, rows, separator=","):
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([header, *rows])
    path.write_bytes(text.getvalue().encode())
    return path


def write_wide(path, X, rows, cols, separator=","):
    lines = [[name, *map(repr, row)] for name, row in zip(rows, X.tolist(), strict=True)]
    return write_csv(path, ["", *cols], lines, separator)


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t"), ("TSV", "\t"), ("tab", "\t")])
@pytest.mark.parametrize("X", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_wide_tables_keep_every_name_and_number(X, suffix, separator, tmp_path):
    cols = COLUMNS[: X.shape[1]]
    matrix = read(write_wide(tmp_path / f"x.{suffix}", X, AWKWARD, cols, separator))
    assert matrix.row_names.tolist() == AWKWARD
    assert matrix.col_names.tolist() == cols
    assert matrix.values.dtype == np.float64
    assert scipy.sparse.issparse(matrix.values) == (X is SPARSE)
    np.testing.assert_array_equal(dense(matrix), X)
    assert (matrix.texts, matrix.text_options, matrix.labels) == (None, None, None)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
NUMBERS = st.one_of(st.just(0.0), st.floats(1e-30, 1e30), st.integers(0, 999).map(float))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_wide_table_comes_back(tmp_path, data):
    m, n = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    # A quoted carriage return alone ends a line in Python's own reader too; the header's first cell stays empty.
    text = TEXT.filter(lambda name: "\r" not in name)
    rows, cols = data.draw(st.lists(text, min_size=m, max_size=m)), data.draw(st.lists(text, min_size=n, max_size=n))
    X = np.array(data.draw(st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=m, max_size=m)))
    matrix = read(write_wide(tmp_path / "x.csv", X, rows, cols), layout="wide")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (rows, cols)
    np.testing.assert_array_equal(dense(matrix), X)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(st.tuples(st.sampled_from(AWKWARD), st.sampled_from("abcde"), st.integers(0, 9)), min_size=1))
def test_triplets_are_added_up_under_their_names(tmp_path, entries):
    matrix = read(write_csv(tmp_path / "x.csv", ["doc", "word", "count"], entries), layout="triplets")
    rows, cols = (list(dict.fromkeys(entry[k] for entry in entries)) for k in (0, 1))
    X = np.zeros((len(rows), len(cols)))
    for row, col, value in entries:
        X[rows.index(row), cols.index(col)] += value
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (rows, cols)
    assert scipy.sparse.issparse(matrix.values)
    np.testing.assert_array_equal(dense(matrix), X)


def test_three_columns_are_triplets_if_only_the_third_must_be_a_number(tmp_path):
    path = write_csv(tmp_path / "x.csv", ["a", "b", "c"], [["1", "x", "2"], ["1", "y", "3"]])
    assert read(path).values.toarray().tolist() == [[2, 3]]
    path = write_csv(tmp_path / "x.csv", ["a", "b", "c"], [["x", "0.5", "2"], ["y", "1", "3"]])
    assert read(path).values.tolist() == [[0.5, 2], [1, 3]]
    path = write_csv(tmp_path / "x.csv", ["a", "b", "c"], [["7", "5", "2"], ["7", "05", "3"]])
    with pytest.raises(ValueError, match=r"x.csv: three columns.*layout='triplets' or layout='wide'"):
        read(path)
    assert read(path, layout="wide").values.tolist() == [[7, 5, 2], [7, 5, 3]]
    matrix = read(path, layout="triplets")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["7"], ["5", "05"])


def test_the_first_column_is_a_row_of_names_only_where_it_must_be(tmp_path):
    numbers = [["1", "2"], ["3", "4"]]
    matrix = read(write_csv(tmp_path / "x.csv", ["a", "b"], numbers))
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["row 0", "row 1"], ["a", "b"])
    matrix = read(write_csv(tmp_path / "x.csv", ["", "b"], numbers))
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["1", "3"], ["b"])
    matrix = read(write_csv(tmp_path / "x.csv", ["b"], numbers))
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["1", "3"], ["b"])
    matrix = read(write_csv(tmp_path / "x.csv", ["a", "b"], numbers), index="b")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["2", "4"], ["a"])


def test_labels_are_a_column_of_a_table(tmp_path):
    path = write_csv(tmp_path / "x.csv", ["id", "a", "class", "b", "c"], [["r", 1, "NA", 2, 3], ["s", 4, "01", 5, 6]])
    matrix = read(path, labels="class")
    assert matrix.labels.tolist() == ["NA", "01"]
    assert matrix.col_names.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"labels='nope'.*'id', 'a', 'class'"):
        read(path, labels="nope")


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "gz of two parts": lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]),
}


@pytest.mark.parametrize("compression", PACKERS)
def test_compressed_tables_and_a_byte_order_mark(compression, tmp_path):
    plain = write_wide(tmp_path / "x.csv", DENSE, AWKWARD, COLUMNS[:4]).read_bytes()
    path = tmp_path / f"x.csv.{compression.split()[0]}"
    path.write_bytes(PACKERS[compression](b"\xef\xbb\xbf" + plain))
    matrix = read(path)
    np.testing.assert_array_equal(matrix.values, DENSE)
    assert matrix.row_names.tolist() == AWKWARD


def test_pieces_of_a_table_fit_together(tmp_path, monkeypatch):
    X = np.where(RNG.random((500, 6)) < np.linspace(0, 1, 500)[:, None], RNG.integers(0, 2000, (500, 6)), 0).astype(
        float
    )
    names = [f"row {i}," for i in range(500)]
    path = write_wide(tmp_path / "x.csv", X, names, list("abcdef"))
    monkeypatch.setattr("cosep.io.csv_table.PIECE_BYTES", 1000)
    matrix = read(path)
    assert matrix.row_names.tolist() == names
    np.testing.assert_array_equal(dense(matrix), X)
    monkeypatch.setattr("cosep.io.growing_matrix.LARGE_BYTES", 1)
    assert read(path).values.dtype == np.float32
    np.testing.assert_array_equal(dense(read(path)), X)


@pytest.mark.parametrize("X", [DENSE, SPARSE.astype(np.uint8)], ids=["dense", "sparse"])
def test_parquet_as_pandas_writes_it(X, tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.io.parquet_table.PIECE_ENTRIES", 20)
    cols = [f"<c{j}>" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=cols, index=AWKWARD)
    frame.to_parquet(tmp_path / "x.parquet")
    matrix = read(tmp_path / "x.parquet")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (AWKWARD, cols)
    np.testing.assert_array_equal(dense(matrix), X)
    frame.insert(0, "gene", pd.Categorical(AWKWARD))
    frame.to_parquet(tmp_path / "x.pq", index=False)
    matrix = read(tmp_path / "x.pq")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (AWKWARD, cols)
    np.testing.assert_array_equal(dense(matrix), X)


def test_parquet_triplets_and_other_types(tmp_path):
    pq.write_table(pa.table({"u": [7, 7, 8], "i": ["a", "b", "a"], "n": [1, 2, 3]}), tmp_path / "x.parquet")
    matrix = read(tmp_path / "x.parquet")
    assert (matrix.row_names.tolist(), matrix.values.toarray().tolist()) == (["7", "8"], [[1, 2], [3, 0]])
    pq.write_table(
        pa.table({"n": [1, 2], "b": [True, False], "f": pa.array([1, 0.5], pa.float32()), "k": [2, 2]}),
        tmp_path / "x.parquet",
    )
    assert dense(read(tmp_path / "x.parquet")).tolist() == [[1, 1, 1, 2], [2, 0, 0.5, 2]]
    pq.write_table(pa.table({"n": [1, None], "f": [0.5, 1]}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="row 1, column 'n' is missing; fill or drop"):
        read(tmp_path / "x.parquet")
    pq.write_table(
        pa.table({"n": [1, 2], "when": pa.array([1, 2], pa.date32()), "x": [1, 2], "y": [[1], [2]]}),
        tmp_path / "x.parquet",
    )
    with pytest.raises(
        ValueError, match=r"column 'when' holds text, such as '1970-01-02'; leave it out by drop='when'"
    ):
        read(tmp_path / "x.parquet", index="y")
    pq.write_table(pa.table({"n": pa.array([], pa.int8())}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="no rows"):
        read(tmp_path / "x.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([1])], ["n", "n"]), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="several of the same name"):
        read(tmp_path / "x.parquet")


WRITERS = {
    "npy": np.save,
    "f.npy": lambda path, X: np.save(path, np.asfortranarray(X)),
    "npz": lambda path, X: np.savez(path, X=X, others=np.arange(3)),
    **{f"{kind}.npz": lambda path, X, kind=kind: scipy.sparse.save_npz(path, scipy.sparse.coo_array(X).asformat(kind))
       for kind in ("csr", "csc", "coo", "bsr", "dia")},
    "old.npz": lambda path, X: scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(X), compressed=False),
    "mat": lambda path, X: scipy.io.savemat(path, {"X": X, "classes": np.arange(len(X)), "s": "text"}),
    "sparse.mat": lambda path, X: scipy.io.savemat(path, {"X": scipy.sparse.csc_array(X)}, do_compression=True),
    "four.mat": lambda path, X: scipy.io.savemat(path, {"X": X}, format="4"),
    "mtx": lambda path, X: scipy.io.mmwrite(path, X.astype(float), precision=17),
    "sparse.mtx": lambda path, X: scipy.io.mmwrite(path, scipy.sparse.coo_array(X.astype(float)), precision=17),
    "h5ad": lambda path, X: anndata.AnnData(X).write_h5ad(path),
    "sparse.h5ad": lambda path, X: anndata.AnnData(scipy.sparse.csc_matrix(X)).write_h5ad(path),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("X", [DENSE, SPARSE, SPARSE.astype(np.int16), SPARSE.astype(np.float32)],
                         ids=["dense", "sparse", "int", "single"])  # fmt: skip
def test_arrays_come_back(kind, X, tmp_path):
    path = tmp_path / f"x.{kind}"
    WRITERS[kind](path, X)
    matrix = read(path)
    np.testing.assert_array_equal(dense(matrix), X)
    narrow = X.dtype == np.float32 and "mtx" not in kind
    assert matrix.values.dtype == (np.float32 if narrow else np.float64)
    assert scipy.sparse.issparse(matrix.values) == (
        kind.split(".")[0] in {"sparse", "old", "csr", "csc", "coo", "bsr", "dia"}
    )
    if "h5ad" not in kind:
        assert matrix.row_names[-1] == f"row {len(X) - 1}"
        assert matrix.col_names[0] == "column 0"


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        ("coordinate pattern general", "2 3 2\n1 1\n2 3\n", [[1, 0, 0], [0, 0, 1]]),
        ("coordinate integer symmetric", "2 2 2\n1 1 5\n2 1 3\n", [[5, 3], [3, 0]]),
        ("coordinate real general", "% note\n2 2 3\n1 1 5\n1 1 2\n2 2 1e-3\n", [[7, 0], [0, 1e-3]]),
        ("array integer general", "2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
        ("array real symmetric", "2 2\n1\n2\n4\n", [[1, 2], [2, 4]]),
    ],
)
def test_kinds_of_matrix_market(header, lines, expected, tmp_path):
    path = tmp_path / "x.mtx.gz"
    path.write_bytes(gzip.compress(f"%%MatrixMarket matrix {header}\n{lines}".encode()))
    assert dense(read(path)).tolist() == expected


def test_a_variable_is_chosen_where_there_are_several(tmp_path):
    scipy.io.savemat(
        tmp_path / "x.mat",
        {"A": DENSE, "B": 2 * DENSE, "of": np.arange(len(DENSE)), "cell": np.array([["a", 1]], dtype=object)},
    )
    np.savez(tmp_path / "x.npz", A=DENSE, B=2 * DENSE)
    for suffix in ("mat", "npz"):
        with pytest.raises(ValueError, match=r"one matrix of numbers, got 2; pass variable=, one of.*A 10 x 4"):
            read(tmp_path / f"x.{suffix}")
        with pytest.raises(ValueError, match="variable='cell' is not a matrix"):
            read(tmp_path / f"x.{suffix}", variable="cell")
        np.testing.assert_array_equal(read(tmp_path / f"x.{suffix}", variable="B").values, 2 * DENSE)
    assert read(tmp_path / "x.mat", variable="A", labels="of").labels.tolist() == list(string.digits)
    for wrong, reason in (
        ("cell", "is not a variable"),
        ("none", "is not a variable"),
        ("B", "must be a variable with one"),
    ):
        with pytest.raises(ValueError, match=f"labels='{wrong}' {reason}"):
            read(tmp_path / "x.mat", variable="A", labels=wrong)


def test_the_standard_input(tmp_path, monkeypatch):
    path = write_csv(tmp_path / "x.csv", ["", "a", "b", "c"], [["r", 1, 2, 3]])
    for kind, data in (("csv", path.read_bytes()), ("csv.gz", gzip.compress(path.read_bytes()))):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read("-", kind=kind).row_names.tolist() == ["r"]
    with pytest.raises(ValueError, match=r"path='-'.*pass kind="):
        read("-")


def test_options_are_checked(tmp_path):
    path = write_csv(tmp_path / "x.csv", ["", "a", "b", "c"], [["r", 1, 2, 3]])
    for wrong in ({"layer": "a"}, {"variable": "a"}):
        with pytest.raises(ValueError, match="does not apply to this kind of file; leave it out"):
            read(path, **wrong)
    for wrong in ({"layout": "long"}, {"layout": 3}, {"text": {}}, {"index": 0}, {"kind": 1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.* must be"):
            read(path, **wrong)
    for wrong in ({"index": "a"}, {"labels": "a"}, {}):
        with pytest.raises(ValueError, match="triplets are three columns"):
            read(path, layout="triplets", **wrong)
    assert read(str(path), kind="csv", text=TextOptions()).values.tolist() == [[1, 2, 3]]


def test_nothing_slow_is_loaded_before_a_file_needs_it():
    slow = "{'sklearn', 'pandas', 'pyarrow', 'numba', 'anndata'}"
    code = f"import sys, cosep.io; print(sorted({slow} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("x.csv", "pyarrow", "cli"),
        ("x.parquet", "pyarrow", "cli"),
        ("x.txt.zst", "pyarrow", "cli"),
        ("x.h5ad", "h5py", "anndata"),
    ],
)
def test_a_package_that_is_not_installed_is_named(name, package, extra, tmp_path, monkeypatch):
    (tmp_path / name).write_text("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"^reading \.\w+ needs {package}: install cosep\[{extra}\]\.$"):
        read(tmp_path / name)


def test_a_record_holds_together():
    with pytest.raises(ValueError, match="row_names must have 2 entries, one for each of a 2 x 2 matrix, got 1"):
        NamedMatrix(np.eye(2), np.array(["a"]), np.array(["x", "y"]))


def test_huge_and_tiny_entries_survive(tmp_path):
    for scale in (1e-200, 1e200):
        np.save(tmp_path / "x.npy", DENSE * scale)
        np.testing.assert_array_equal(read(tmp_path / "x.npy").values, DENSE * scale)
        scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(SPARSE * scale))
        np.testing.assert_array_equal(dense(read(tmp_path / "x.npz")), SPARSE * scale)


def test_published_document_sets(data_home):
    matrix = read(data_home / "documents" / "tr11.mat", labels="classid")
    assert matrix.values.shape == (414, 6424)
    assert matrix.values.nnz == 114543
    assert len(set(matrix.labels.tolist())) == 9


def test_json_is_what_the_settings_of_texts_become(tmp_path):
    (tmp_path / "x.txt").write_text("red fish\nblue fish\n")
    matrix = read(tmp_path / "x.txt", text=TextOptions(min_df=1))
    settings_ = json.loads(json.dumps(matrix.text_options))
    again = read(tmp_path / "x.txt", text=TextOptions.from_mapping(settings_, matrix.col_names))
    np.testing.assert_array_equal(dense(again), dense(matrix))
    assert again.col_names.tolist() == matrix.col_names.tolist()
