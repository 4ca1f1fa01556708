"""An invalid file raises a ValueError of one sentence that names it, and nothing in it is executed."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import struct
import zipfile

import anndata
import h5py
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse

from cosep.io import TextOptions, read, read_labels, read_names

MARKET = "%%MatrixMarket matrix coordinate real general\n"


class Payload:
    """An object that creates a folder when it is unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("executed",))


def npy(array, **header):
    """Return an array as the bytes of a file, with parts of its header replaced."""
    stream = io.BytesIO()
    facts = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | header
    np.lib.format.write_array_header_1_0(stream, facts)
    return stream.getvalue() + array.tobytes()


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return stream.getvalue()


def saved(save, *values, **options):
    stream = io.BytesIO()
    save(stream, *values, **options)
    return stream.getvalue()


def sparse_parts(**parts):
    plain = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2), "indices": np.array([0, 1]),
             "indptr": np.array([0, 1, 2])}  # fmt: skip
    return archive(**{name: npy(np.asarray(part)) for name, part in (plain | parts).items()})


MAT = saved(scipy.io.savemat, {"X": np.eye(3)})
OBJECTS = saved(np.save, np.array([[Payload()]], dtype=object), allow_pickle=True)
CELLS = saved(scipy.io.savemat, {"X": np.array([[1, "a"]], dtype=object), "S": {"a": np.eye(2)}})
PARQUET = saved(lambda stream, table: pq.write_table(table, stream), pa.table({"a": [1.0, 2.0], "b": [1.0, 2.0]}))


def write_zip(stream, files):
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def workbook(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return saved(book.save)


HOSTILE = {
    "x.csv": {
        b"": "is empty",
        b"\n\n\n": "no rows",
        b"a,b\n": "no rows",
        b"a;b\n1,2\n": "the header 'a;b' is not separated as the rows are; .* pass it as sep=",
        b"a,b\n1;2\n": "the header has 2 columns, the first row 1",
        b"n;a;b\nr;1,5;2.5\n": "commas and with points, such as '1,5' and '2.5'; pass decimal=",
        b"n;a;b;c\nr;1.234;2;3\n": "'1.234' could be a number with thousands, or with three decimals; pass decimal=",
        b'n,a,b,c\nr,"1,234",2,3\n': "'1,234' could be a number with thousands",
        b'n,a,b,c\nr,"1,234.5",2,3\n': "column 'a' holds text, such as '1,234.5'; write numbers without separators",
        b"n;a;b;c\nr;1;2;3\n" + b"s;1;2;3\n" * 200 + b"t;1,5;2;3\n": "row 202, column 'a', got '1,5'; pass decimal=','",
        b"n,a,kind,b\nr,1,x,2\ns,2,y,3\n": "column 'kind' holds text, such as 'x'; leave it out by drop='kind', or",
        b"n,p,q,r,a,s\nr,x,y,z,1,w\n": "columns 'p', 'q', 'r' and 1 more hold text, such as 'x'; .* drop='p,q,r,s'",
        b"a,b,c,d\n1,2,3\n": "the header has 4 columns, the first row 3",
        b"a,b\n1,2\n3,4,5\n": "row 2 has 3 columns instead of 2; fix it",
        b"n,a,b\nr,1.5,2.5\ns,3\n": "row 2 has 2 columns instead of 3",
        b"n,a,b\nr,1.5,2.5\ns,,4\n": "row 's', column 'a' is missing; fill or drop",
        b"a,b\n1,2.5\n3,NA\n": "row 1, column 'b' is missing; fill or drop",
        b"n,m,v\nr,c,NA\nr,d,1\n": "the value of 'r' and 'c', column 'v' is missing",
        b"n,a,b,c\nr,1,2.5,3\ns,x y,4,5\n": "expected a number in row 2, column 'a', got 'x y'",
        b"n,a,b\nr,1.5,2.5\ns,-3,4\n": r"row 's', column 'a' is -3, but no entry may be negative \(1 such entry\)",
        b"n,a,b\nr,1.5,2.5\ns,1e999,4\n": "row 's', column 'a' is infinite",
        b"n,a,b,c\nr,1,2.5,3\ns,inf,4,5\n": "row 's', column 'a' is infinite",
        b"n,a,b,c\nr,1,2,3\n" + b"s,3,4,5\n" * 200 + b"t,x,1,1\n": "expected a number in row 202, column 'a', got 'x'",
        b"n,a,b\nr,1,2.5\ns,3,4\n": "three columns .* pass layout='triplets' or layout='wide'",
        b"n,a,b\nr,1,2.5\ns,inf,4\n": "row 's', column 'a' is infinite",
        b"n,a,b\nr,c,-1\n": "row 'r', column 'c' is -1",
        b"1,2\n3,4\n": "the first line has only numbers",
        b"name\nx\ny\n": "has no columns of numbers",
        b"a,b\n1,\xff\xfe\n": "UTF-8",
        b"a,b\n1,2\n\x00,2\n": "got binary data or UTF-16",
        "a,b\n1,2\n".encode("utf-16"): "UTF-8|UTF-16",
        PARQUET: "got binary data",
        b'a,b\n"1,2\n' + b"3,4\n" * 3: "the first row 1; make them equal",
    },
    "x.csv.gz": {
        b"a,b\n1,2\n": "cannot be read .*gzip",
        gzip.compress(b"a,b\n1,2\n" * 99)[:-12]: "cannot be read",
        gzip.compress(b"a,b\n1,2\n" * 99)[:-8] + b"12345678": "cannot be read",
    },
    "x.txt.bz2": {bz2.compress(b"red fish\n" * 9)[:-4]: "cannot be read", b"BZh9junk": "cannot be read"},
    "x.txt.xz": {lzma.compress(b"red fish\n" * 9)[:-4]: "cannot be read"},
    "x.txt.zst": {b"junk": "cannot be read"},
    "x.txt": {
        b"\n \n": "has no texts",
        b"caf\xe9 noir\ncaf\xe9\n": "byte 0xe9 is not valid there; save it as UTF-8",
        b"one\nword each\n": "no word of the 2 texts remains .* lower min_df",
        b"a\n": "no word of the 1 texts remains .* lower min_df",
        b"a\x00b\n": "got binary data",
    },
    "x.jsonl": {
        b'{"text": "a"}\n{"text": \n': "line 2 is not valid JSON",
        b'["a"]\n': "line 1 is not a JSON object",
        b'{"body": "a"}\n': "line 1 has no field 'text'; its fields are 'body'",
        b'{"text": 3}\n': "line 1: 'text' is 3, not text",
        b'{"text": "\\ud800 a"}\n': "not valid Unicode",
        b"[" * 100_000 + b"\n": "line 1 is not valid JSON",
        b"\n": "has no texts",
    },
    "x.mtx": {
        b"hello\n": "first line is not '%%MatrixMarket",
        b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n": "expected real .* of type complex",
        b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n": "skew-symmetric .* convert it",
        b"%%MatrixMarket vector array real general\n1 1\n1\n": "first line",
        b"%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n": "a symmetric matrix must be square, got 2 x 3",
        MARKET.encode(): "expected a line with 3 sizes",
        f"{MARKET}2 2\n1 1 1\n".encode(): "expected a line with 3 sizes",
        f"{MARKET}0 2 0\n".encode(): "the header states a matrix of 0 x 2",
        f"{MARKET}-1 2 0\n".encode(): "expected a line with 3 sizes",
        f"{MARKET}2 2 99999999999\n1 1 1\n".encode(): "states 99999999999 entries, more than the file can hold",
        f"{MARKET}99999999999 99999999999 1\n1 1 1\n".encode(): "would take",
        f"{MARKET}99999999999999999999 1 1\n1 1 1\n".encode(): "expected a line with 3 sizes",
        f"{MARKET}2 2 2\n1 1 1\n".encode(): "states 2 entries, but the file has 1; it is truncated",
        f"{MARKET}2 2 1\n1 1 1\n2 2 1\n".encode(): "states 1 entries, but the file has 2",
        f"{MARKET}2 2 1\n3 1 1\n".encode(): "entry 1 is at row 3, column 1, which a matrix of 2 x 2 does not have",
        f"{MARKET}2 2 1\n0 1 1\n".encode(): "entry 1 is at row 0",
        f"{MARKET}2 2 1\n1.5 1 1\n".encode(): "entry 1 is at row 1.5",
        f"{MARKET}2 2 1\n1 1\n".encode(): "expected 3 numbers on a line, got 2",
        f"{MARKET}2 2 1\n1 1 x\n".encode(): "cannot be read",
        f"{MARKET}2 2 2\n1 1 3-2 2 7-".encode(): "cannot be read",
        f"{MARKET}2 2 1\n1 1 -4\n".encode(): "row 0, column 0 is -4",
        f"{MARKET}2 2 1\n2 1 nan\n".encode(): "row 1, column 0 is missing",
        f"{MARKET}2 2 1\n1 1 1e999\n".encode(): "row 0, column 0 is infinite",
        f"{MARKET}2 2 1\n1 1 \x003\n".encode(): "got binary data",
    },
    "x.npy": {
        pickle.dumps(Payload()): "expected an array saved by numpy.save",
        OBJECTS: "expected an array saved by numpy.save",
        npy(np.eye(2))[:-3]: "cannot be read",
        npy(np.ones(1), shape=(1 << 40, 1 << 20)): "cannot be read",
        npy(np.ones(3)): r"got an array of float64 with shape \(3,\)",
        npy(np.ones((2, 2, 2))): "with shape",
        npy(np.ones((2, 2), dtype=complex)): "complex128",
        npy(np.array([["a"]])): "expected a matrix of real numbers",
        npy(np.array([[1, -2]])): "row 0, column 1 is -2",
        b"\x93NUMPY": "cannot be read",
    },
    "x.npz": {
        pickle.dumps(Payload()): "not a zip",
        archive(X=pickle.dumps(Payload())): "cannot be read",
        archive(X=OBJECTS): "does not hold the array that it announces",
        archive(X=npy(np.eye(2), shape=(1 << 30, 2))): "does not hold the array that it announces",
        archive(X=npy(np.zeros((1 << 14, 1 << 14), dtype=np.float64)[:0], shape=(0, 4))): "0 sample",
        archive(X=npy(np.eye(2)))[:-30]: "cannot be read",
        archive(x=npy(np.ones(2)), y=npy(np.array("a"))): "expected one matrix of numbers, got 0",
        sparse_parts(format=np.array(b"lil")): "got 'lil'",
        sparse_parts(format=np.array([1, 2])): "cannot be read",
        sparse_parts(indices=np.array([0, 7])): "broken|cannot be read",
        sparse_parts(indptr=np.array([0, 5, 2])): "broken|cannot be read",
        sparse_parts(shape=np.array([1 << 50, 2])): "would take",
        sparse_parts(shape=np.array([-2, 2])): "cannot be read",
        sparse_parts(data=np.array([1.0, -1.0])): "row 1, column 1 is -1",
        sparse_parts(data=np.array([1.0, np.nan])): "row 1, column 1 is missing",
    },
    "x.mat": {
        b"junk" * 99: "expected a MATLAB file",
        MAT[:-20]: "expected a MATLAB file",
        MAT[:100]: "expected a MATLAB file",
        CELLS: "expected one matrix of numbers, got 0",
        b"\x89HDF\r\n\x1a\n" + bytes(600): "save it with -v7",
        saved(scipy.io.savemat, {"X": np.eye(2) * 1j}): "real numbers|Complex",
        saved(scipy.io.savemat, {"X": scipy.sparse.csc_array(-np.eye(2))}): "row 0, column 0 is -1",
        saved(scipy.io.savemat, {"X": np.ones((2, 2, 2))}): "got 0",
    },
    "x.parquet": {b"PAR1junkPAR1": "expected a Parquet file", PARQUET[:-9]: "expected a Parquet file"},
    "x.h5ad": {b"\x89HDF\r\n\x1a\n" + bytes(99): "expected an .h5ad file", b"junk": "expected an .h5ad file"},
    "x.npy.gz": {gzip.compress(npy(np.eye(2))): "cannot be read if compressed by .gz; decompress it first"},
    "x.xls": {b"PK": "the suffix '.xls' is not a known format; expected one of .csv"},
    "x.xlsx": {
        b"PK": "expected an Excel workbook, but it cannot be read",
        saved(write_zip, {"a": b"1"}): "expected an Excel workbook, but it cannot be read",
        workbook([["a", "b"]]): "the sheet has no header, or no rows below it",
        workbook([]): "the sheet has no header, or no rows below it",
        workbook([["n", "a", "b", "c"], ["r", 1, 2, 3, 4]]): "a row has 5 cells, but the header has 4",
        workbook([["n", "a", "b", "c"], ["r", 1, None, 3]]): "row 'r', column 'b' is missing",
        workbook(
            [["n", "a", "b", "c"], ["r", 1, 2, 3], ["s", 1, 2, 3], ["t", 1, "x", 3]]
        ): "row 3, column 'b', got 'x'",
        workbook([["n", "a", "b", "c"], ["r", 1, "x", 3]]): "column 'b' holds text, such as 'x'; leave it out by drop=",
        workbook([["n", "a", "b", "c"], ["r", -1, 2, 3]]): "row 'r', column 'a' is -1",
    },
    "noname": {b"a": "the suffix '' is not a known format"},
}
CASES = [(name, content, reason) for name, contents in HOSTILE.items() for content, reason in contents.items()]


@pytest.mark.parametrize(
    ("name", "content", "reason"), CASES, ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(CASES)]
)
def test_a_bad_file_raises_in_one_sentence(name, content, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=reason) as raised:
        read(tmp_path / name)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / name}: ")
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("x.csv.gz", gzip.compress),
        ("x.mtx.bz2", bz2.compress),
        ("x.txt.xz", lzma.compress),
        ("x.jsonl.zst", lambda data: pa.compress(data, "zstd", asbytes=True)),
    ],
)
def test_a_file_that_decompresses_without_end_raises(name, pack, tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    start = {"x.csv.gz": b"a,b\n", "x.mtx.bz2": f"{MARKET}5 5 9\n".encode(), "x.txt.xz": b"", "x.jsonl.zst": b""}[name]
    (tmp_path / name).write_bytes(pack(start + bytes([32]) * (1 << 24)))
    with pytest.raises(
        ValueError, match=r"decompresses to more than \d+ bytes, too many for its size.* decompress it first"
    ):
        read(tmp_path / name)


def words(count):
    return b" ".join(b"%06x" % number for number in range(count))


GROWING = {
    "lines.txt": (b"aa\n" * 20_000, "its texts, 5120 or more, would take"),
    "one-line.txt": (b"a" * 400_000, "decompresses to more than 262144 bytes"),
    "words.txt": (b"ab " * 80_000, "counts of its words would take"),
    "distinct.txt": (words(9000), "counts of its words would take"),
    "texts.jsonl": (b'{"text": "a"}\n' * 9000, "its objects, 5120 or more, would take"),
    "nested.jsonl": (b'{"text": "a", "b": [' + b"[]," * 9000 + b"0]}", "line 1 would take"),
    "blank.txt": (b"\n" * 99_999, "its lines, 9216 or more, would take"),
    "blank.jsonl": (b"\n" * 99_999, "its lines, 9216 or more, would take"),
    "blank.csv": (b"a,b\n" + b"\n" * 99_999, "its lines, 9216 or more, would take"),
    "rows.csv": (b"a\n" + b"1\n" * 30_000, "the table would take"),
    "named.csv": (b"n,a,b,c\n" + b"r,1,2,3\n" * 20_000, "the table would take"),
    "triplets.csv": (b"n,m,v\n" + b"r,c,1\n" * 30_000, "the table would take"),
    "entries.mtx": (f"{MARKET}9 9 99999\n".encode() + b"1 1 1\n" * 99_999, "a matrix of 99999 entries would take"),
    "columns.csv": (b"a," * 40_000 + b"\n", "a line of 40001 fields would take"),
}


@pytest.mark.parametrize("name", GROWING)
def test_contents_that_grow_beyond_their_file_raise(name, tmp_path, monkeypatch):
    """The limits are scaled down to a megabyte instead of a gigabyte."""
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    monkeypatch.setattr("cosep.utils.memory.LARGEST_RATIO", 1)
    monkeypatch.setattr("cosep.io.csv_table.PIECE_BYTES", 1 << 12)
    content, message = GROWING[name]
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=rf"{name}\.gz: {message}"):
        read(tmp_path / f"{name}.gz", text=TextOptions(min_df=1) if ".csv" not in name else None)


def test_a_column_of_texts_and_labels_that_grow_raise(tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    monkeypatch.setattr("cosep.utils.memory.LARGEST_RATIO", 1)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,t\n" + b"1,aa\n" * 30_000))
    with pytest.raises(ValueError, match="its texts would take"):
        read(tmp_path / "x.csv.gz", text=TextOptions(column="t"))
    with pytest.raises(ValueError, match="its rows, 5120 or more, would take"):
        read_labels(tmp_path / "x.csv.gz", ["a"])
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"\n" * 30_000))
    with pytest.raises(ValueError, match="its lines, 5120 or more, would take"):
        read_names(tmp_path / "x.txt.gz")


def test_arrays_with_headers_larger_than_the_file_raise(tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    (tmp_path / "x.npz").write_bytes(archive(X=npy(np.zeros((2000, 2000)))))
    scipy.io.savemat(tmp_path / "x.mat", {"X": np.zeros((2000, 2000))}, do_compression=True)
    pq.write_table(pa.table({"a": np.zeros(1 << 22), "b": np.zeros(1 << 22)}), tmp_path / "x.parquet")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_dataset("X", (1 << 20, 1 << 20), chunks=(1 << 10, 1 << 10), dtype=float)
    for suffix in ("npz", "mat", "parquet", "h5ad"):
        with pytest.raises(ValueError, match=r"would take .* bytes, from a file of \d+; is the file sound\?"):
            read(tmp_path / f"x.{suffix}")


@pytest.mark.parametrize("name", ["x.npz", "x.npy"])
@pytest.mark.parametrize("shape", [(1000, 1000), (20_000, 1)])
def test_a_matrix_too_large_for_the_file_raises(name, shape, tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    monkeypatch.setattr("cosep.utils.memory.LARGEST_RATIO", 1)
    small = np.zeros(shape, dtype=np.int8)
    (tmp_path / name).write_bytes(npy(small) if name == "x.npy" else archive(X=npy(small)))
    with pytest.raises(ValueError, match=r"a matrix of \(\d+, \d+\) would take .* is the file sound"):
        read(tmp_path / name)


def test_the_shape_of_a_sparse_matrix_is_small(tmp_path):
    (tmp_path / "x.npz").write_bytes(sparse_parts(shape=np.ones(1 << 20)))
    with pytest.raises(ValueError, match="expected a matrix of real numbers"):
        read(tmp_path / "x.npz")


ESCAPE = "\x1b]0;owned\x07\x1b[31m\r\n\u202e\x9b"


def with_escapes(path):
    """Write files with control characters in their names; each causes a message that quotes them."""
    np.savez(path / "x.npz", **{f"a{ESCAPE}": np.ones(2), "b": np.ones(3)})
    np.savez(path / "y.npz", **{"format": np.array(ESCAPE), "data": np.ones(1), ESCAPE: np.ones(2)})
    scipy.io.savemat(path / "x.mat", {"AAAAAAAA": np.eye(2), "BBBBBBBB": np.eye(2)})
    (path / "x.mat").write_bytes((path / "x.mat").read_bytes().replace(b"AAAAAAAA", b"\x1b[31m\r\n\x07"))
    pq.write_table(pa.table({"d": [1.0, 2.0], f"c{ESCAPE}": [[1.0], [2.0]]}), path / "x.parquet")
    (path / "x.csv").write_bytes(f'n,"{ESCAPE}",b,c\nr,1,2,3\ns,x,2,3\n'.encode())
    (path / "x.mtx").write_bytes(b"%%MatrixMarket matrix \x1b[31m\x9b \x07 general\n")
    (path / f"{ESCAPE}.csv").write_bytes(b"a,b\n")


def test_what_a_terminal_obeys_never_reaches_a_message(tmp_path):
    with_escapes(tmp_path)
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=r".") as raised:
            read(path)
        assert str(raised.value).isprintable(), ascii(str(raised.value))


@pytest.mark.parametrize("version", ["4", "5"])
def test_a_sparse_matrix_of_matlab_with_too_many_rows_raises(version, tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    tall = scipy.sparse.csc_matrix(([1.0], ([0], [0])), shape=(1 << 20, 2))
    scipy.io.savemat(tmp_path / "x.mat", {"X": tall}, format=version)
    with pytest.raises(ValueError, match=r"X of 1048576 x 2 would take .* is the file sound"):
        read(tmp_path / "x.mat")


def test_more_than_the_memory_raises(tmp_path, monkeypatch):
    np.savez(tmp_path / "x.npz", np.eye(9))
    monkeypatch.setattr(os, "sysconf", lambda _: 4)
    with pytest.raises(ValueError, match="while this machine has 16; take a part of it"):
        read(tmp_path / "x.npz")


def test_names_that_would_fill_the_memory_raise(tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.io.named_matrix.MAX_NAMES_BYTES", 1000)
    (tmp_path / "x.csv").write_text(f"n,a,b,c\n{'x' * 500},1,2,3\n")
    with pytest.raises(ValueError, match="a name of 500 characters among 1 names is too long"):
        read(tmp_path / "x.csv")


def test_a_path_that_is_not_a_file_raises(tmp_path):
    for path, reason in (
        (tmp_path / "none.csv", "No such file"),
        (f"{tmp_path}/\0.csv", "is not a name that a file can have"),
        (tmp_path, "the folder has no .txt files"),
        ("/dev/null", "is not a regular file"),
        (tmp_path / ("x" * 999), "is not a name that a file can have"),
        (3, "path=3 must be the name of a file"),
        (b"x.csv", "must be the name of a file"),
        (None, "path=None must be"),
    ):
        with pytest.raises(ValueError, match=reason):
            read(path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="is not a regular file; pipe it to"):
        read(tmp_path / "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_raises(tmp_path):
    (tmp_path / "x.csv").touch(mode=0)
    with pytest.raises(ValueError, match=r"Permission denied.*check the name and the permissions"):
        read(tmp_path / "x.csv")


def test_an_unreadable_file_says_why(tmp_path, monkeypatch):
    (tmp_path / "x.npy").write_bytes(npy(np.eye(2)))

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("numpy.lib.format.open_memmap", fail)
    with pytest.raises(ValueError, match="does not fit into memory"):
        read(tmp_path / "x.npy")


def test_an_empty_anndata_raises(tmp_path):
    anndata.AnnData(np.zeros((0, 2))).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(ValueError, match=r"x.h5ad: .*at least one row"):
        read(tmp_path / "x.h5ad")
    anndata.AnnData(shape=(2, 2)).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(ValueError, match=r"x\.h5ad: X is empty; add a matrix, there are no layers"):
        read(tmp_path / "x.h5ad")


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "u2", "u1", ">f8"])
def test_matrices_of_matlab_version_4_are_read(dtype, tmp_path):
    X = np.arange(12.0).reshape(3, 4).astype(dtype)
    scipy.io.savemat(tmp_path / "x.mat", {"name": "text", "X": X}, format="4")
    scipy.io.savemat(tmp_path / "sparse.mat", {"S": scipy.sparse.csc_array(X.astype(float))}, format="4")
    np.testing.assert_array_equal(read(tmp_path / "x.mat").values, X)
    np.testing.assert_array_equal(read(tmp_path / "sparse.mat").values.toarray(), X)


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((0, 1 << 30, 1 << 30, 0, 2), "truncated, or another format"),
        ((0, -1, 3, 0, 2), "negative size"),
        ((0, 1, 1, 1, 2), "complex entries"),
        ((70, 1, 1, 0, 2), "truncated, or another format"),
    ],
)
def test_a_damaged_file_of_matlab_version_4_raises_without_its_memory(numbers, reason, tmp_path):
    (tmp_path / "x.mat").write_bytes(struct.pack("<5i", *numbers) + b"X\0" + np.ones(2).tobytes())
    with pytest.raises(ValueError, match=reason):
        read(tmp_path / "x.mat")


def test_a_sparse_matrix_of_matlab_version_4_with_a_huge_shape_raises(tmp_path):
    listed = np.array([[1.0, 1.0, 1.0], [2.0**40, 2.0**40, 0.0]])
    (tmp_path / "x.mat").write_bytes(struct.pack("<5i", 2, 2, 3, 0, 2) + b"X\0" + listed.tobytes(order="F"))
    with pytest.raises(ValueError, match="would take"):
        read(tmp_path / "x.mat")


def test_a_workbook_has_limits(tmp_path, monkeypatch):
    """A zip file of zeros, and rows far below the others, would take memory and time."""
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 20)
    (tmp_path / "x.xlsx").write_bytes(saved(write_zip, {"xl/worksheets/sheet1.xml": bytes(1 << 24)}))
    with pytest.raises(ValueError, match=r"x\.xlsx: the workbook would take 3.36e\+07 bytes"):
        read(tmp_path / "x.xlsx")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active["B1000000"] = 1
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(ValueError, match=r"x\.xlsx: its rows, \d+ or more, would take"):
        read(tmp_path / "x.xlsx")
