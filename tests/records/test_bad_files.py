"""Saving what cannot be saved, and loading files that are broken or hostile."""

import io
import json
import re
import struct
import zipfile

import numpy as np
import pytest

from calls import (
    ONES,
    H,
    W,
    indices,
    peak,
    refused,
    right_or_refused,
)
from cosep import (
    Factorization,
    Scaling,
    Selection,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def there_and_back(path, **parts):
    Factorization(W, None, H, **parts).save(path)
    return Factorization.load(path)


def test_lists_of_names_and_labels_can_be_transposed_and_saved(path):
    loaded = there_and_back(path, row_names=["a", "b", "c"], row_labels=[0, 0, 0])
    assert (loaded.row_names.tolist(), loaded.row_labels.tolist()) == (["a", "b", "c"], [0, 0, 0])
    assert (loaded.T.col_names.tolist(), loaded.T.col_labels.tolist()) == (["a", "b", "c"], [0, 0, 0])


def test_a_gap_and_a_number_of_iterations_of_numpy_types_can_be_saved(path):
    loaded = there_and_back(path, selection=Selection([0], None, np.float32(0.5), np.int64(3)))
    assert (loaded.selection.gap, loaded.selection.n_iter) == (0.5, 3)


def nested(depth):
    inner = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


CIRCLE = {}
CIRCLE["again"] = CIRCLE


@pytest.mark.parametrize(
    "meta",
    [{"a": np.ones(2)}, {"a": {1, 2}}, {"a": 1j}, {"a": print}, {("a", "b"): 1}, CIRCLE, nested(100_000)],
    ids=["an array", "a set", "complex", "a function", "a pair as key", "a circle", "too deep"],
)
def test_meta_that_json_cannot_hold_is_refused_under_its_name(meta, tmp_path, path):
    with refused("meta"):
        Factorization(W, None, H, meta=meta).save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("meta", [{1: "one"}, {None: 1}, {True: 1}], ids=repr)
def test_keys_that_json_would_turn_into_text_come_back_or_are_refused(meta, path):
    right_or_refused(lambda: there_and_back(path, meta=meta).meta, lambda loaded: loaded == meta, "meta")


def test_saving_where_no_file_can_be_is_an_error_and_leaves_nothing_behind(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        ONES.save(tmp_path / "missing" / "model.npz")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises((OSError, ValueError), match="folder"):
        ONES.save(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("path", [None, 5, b"model.npz", io.BytesIO()], ids=["None", "a number", "bytes", "a stream"])
def test_a_path_of_the_wrong_type_is_refused_under_its_name(path):
    for call in (ONES.save, Factorization.load):
        with refused("path"):
            call(path)


# ---------------------------------------------------------------------------------------------------------------------
# Loading what is broken or hostile

HEADER = {"format": "cosep-factorization", "version": 1, "meta": {}}
REPORT = {"gap": None, "n_iter": None, "history": []}
SCALES = {"scaling_rows": np.ones(3), "scaling_cols": np.ones(2)}


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), **options)
    return stream.getvalue()


def forged(header, body=b""):
    """Return an array file with any header at all: the fields of an array, or raw bytes."""
    if isinstance(header, dict):
        header = repr({"descr": "<f8", "fortran_order": False, "shape": (3, 1)} | header).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def write(path, change=(), method=zipfile.ZIP_DEFLATED, **members):
    """Write a file like those of `save`, with members added, replaced or left out (None), and header fields changed."""
    members = {"row_factor": W, "col_factor": H, "header": np.asarray(json.dumps(HEADER | dict(change)))} | members
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, part in members.items():
            if part is not None:
                archive.writestr(f"{name}.npy", part if isinstance(part, bytes) else npy(part))


def test_a_file_written_by_hand_in_the_format_of_save_is_read(path):
    write(path)
    np.testing.assert_array_equal(Factorization.load(path).reconstruct(), np.ones((3, 2)))
    write(path, {"selection": REPORT}, row_indices=np.array([2]), col_indices=np.array([1]))
    assert indices(Factorization.load(path).selection) == [[2], [1]]
    write(path, {"scaling": "rows"}, **SCALES)
    assert Factorization.load(path).scaling.name == "rows"


HOSTILE = {
    "no header": {"header": None},
    "no row factor": {"row_factor": None},
    "no column factor": {"col_factor": None},
    "a header that is not JSON": {"header": np.asarray("{oops")},
    "an empty header": {"header": np.asarray("")},
    "a list for a header": {"header": np.asarray("[1, 2]")},
    "a number for a header": {"header": np.asarray("5")},
    "null for a header": {"header": np.asarray("null")},
    "a word for a header": {"header": np.asarray('"words"')},
    "a header of numbers": {"header": np.ones(3)},
    "a header of bytes": {"header": np.asarray(json.dumps(HEADER).encode())},
    "a header nested without end": {"header": np.asarray("[" * 100_000)},
    "objects nested without end": {"header": np.asarray('{"a":' * 100_000)},
    "a pickle for a header": {"header": npy(np.array(HEADER, dtype=object), allow_pickle=True)},
    "a pickle for a factor": {"row_factor": npy(np.array([[{}]], dtype=object), allow_pickle=True)},
    "a pickle in a field": {"row_factor": forged({"descr": [("a", "|O")]}, bytes(24))},
    "integers for a factor": {"row_factor": W.astype(int)},
    "complex numbers for a factor": {"row_factor": W * 1j},
    "words for a factor": {"row_factor": W.astype(str)},
    "dates for a factor": {"row_factor": np.zeros((3, 1), dtype="M8[D]")},
    "records for a factor": {"row_factor": np.zeros((3, 1), dtype=[("a", "<f8")])},
    "a vector for a factor": {"row_factor": np.ones(3)},
    "a number for a factor": {"row_factor": np.float64(3.0)},
    "NaN in a factor": {"row_factor": W * np.nan},
    "infinity in a factor": {"col_factor": H * np.inf},
    "NaN in the core": {"core": np.full((1, 1), np.nan)},
    "factors that do not multiply": {"row_factor": np.ones((3, 2))},
    "a core that does not fit": {"core": np.ones((2, 2))},
    "labels that do not fit": {"row_labels": np.zeros(4, dtype=int)},
    "fractions for labels": {"row_labels": np.zeros(3)},
    "numbers for names": {"row_names": np.arange(3)},
    "names that do not fit": {"col_names": np.array(["a", "b", "c"])},
    "weights that do not fit": {"row_weights": np.ones((2, 1))},
    "indices that the header does not announce": {"row_indices": np.array([0])},
    "an empty array file": {"row_factor": b""},
    "half a magic number": {"row_factor": b"\x93NUM"},
    "text for an array file": {"row_factor": b"1,2,3\n"},
    "an array file of an unknown version": {"row_factor": b"\x93NUMPY\x09\x00" + npy(W)[8:]},
    "an array file without its data": {"row_factor": npy(W)[:-24]},
    "an array file with a byte missing": {"row_factor": npy(W)[:-1]},
    "an array file with a byte too many": {"row_factor": npy(W) + b"\0"},
    "a shape of 10**15 entries": {"row_factor": forged({"shape": (10**15, 1)}, bytes(24))},
    "a shape beyond int64": {"row_factor": forged({"shape": (10**30, 1)}, bytes(24))},
    "a shape whose product wraps to 3": {"row_factor": forged({"shape": (2**64 + 3, 1)}, bytes(24))},
    "names of no length, 10**15 of them": {"row_names": forged({"descr": "<U0", "shape": (10**15,)})},
    "a negative shape": {"row_factor": forged({"shape": (-3, 1)}, bytes(24))},
    "a shape of two negative numbers": {"row_factor": forged({"shape": (-3, -1)}, bytes(24))},
    "a shape of fractions": {"row_factor": forged({"shape": (3.0, 1)}, bytes(24))},
    "a shape of words": {"row_factor": forged({"shape": ("a",)}, bytes(24))},
    "a type that is code": {"row_factor": forged({"descr": "__import__('os')"}, bytes(24))},
    "a type that is no type": {"row_factor": forged({"descr": 5}, bytes(24))},
    "a type of arrays": {"row_factor": forged({"descr": ("<f8", (2,))}, bytes(48))},
    "an array header that is no dict": {"row_factor": forged(b"5")},
    "an array header of brackets": {"row_factor": forged(b"(" * 9000)},
    "an array header of signs": {"row_factor": forged(b"{'shape': (" + b"-" * 9000 + b"1,)}")},
    "an array header of sums": {"row_factor": forged(b"{'shape': (" + b"1+" * 4500 + b"1,)}")},
    "an array header of raw bytes": {"row_factor": forged(bytes(range(1, 255)))},
    "an array header too long to trust": {"row_factor": forged(b" " * 20_000)},
    **{
        f"a header with {field}={value!r}": {"change": {field: value}}
        for field, value in [
            ("format", "numpy"),
            ("format", None),
            ("version", 2),
            ("version", "1"),
            ("version", True),
            ("version", None),
            ("meta", [1, 2]),
            ("meta", None),
        ]
    },
    **{
        f"a header with selection={value!r}": {"change": {"selection": value}, "row_indices": np.array([0])}
        for value in (
            *(5, None, {}),
            *(REPORT | change for change in ({"gap": "small"}, {"n_iter": "many"}, {"history": 5}, {"history": "ab"})),
        )
    },
    "a header with a list for a scaling": {"change": {"scaling": ["rows"]}, **SCALES},
    "a header with null for a scaling": {"change": {"scaling": None}, **SCALES},
    **{
        f"a scaling with {what}": {"change": {"scaling": "rows"}, **SCALES, **change}
        for what, change in {
            "rows too many": {"scaling_rows": np.ones(4)},
            "columns too many": {"scaling_cols": np.ones(3)},
            "rows in a matrix": {"scaling_rows": np.ones((3, 1))},
            "rows of zero": {"scaling_rows": np.zeros(3)},
            "negative columns": {"scaling_cols": -np.ones(2)},
            "rows that are NaN": {"scaling_rows": np.full(3, np.nan)},
            "no rows": {"scaling_rows": None},
            "no columns": {"scaling_cols": None},
        }.items()
    },
}


def not_readable(*words):
    return refused("path", "model.npz", "is not a readable factorization", *words, "Factorization.save")


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_under_its_path(case, path):
    write(path, **HOSTILE[case])
    with not_readable():
        Factorization.load(path)


@pytest.mark.parametrize("field", HEADER)
def test_a_header_with_a_field_missing_is_refused(field, path):
    write(path, header=np.asarray(json.dumps({name: value for name, value in HEADER.items() if name != field})))
    with not_readable(field):
        Factorization.load(path)


@pytest.mark.parametrize(
    "positions", [[99], [-1], [0, 0], np.zeros(0, dtype=int), np.uint64([2**64 - 1]), [0.0], [True], [[0]]], ids=repr
)
@pytest.mark.parametrize("side", ["row_indices", "col_indices"])
def test_a_file_with_indices_that_do_not_fit_its_factors_is_refused(side, positions, path):
    write(path, {"selection": REPORT}, **{side: np.array(positions)})
    with not_readable(side):
        Factorization.load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "name", ["row_factor.npy", "row_factor", "extra.npy", "../../row_factor.npy", "notes.txt", "folder/", "zeros.npy"]
)
def test_a_file_with_an_unexpected_entry_is_refused_before_that_is_unpacked(name, path):
    write(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, npy(np.zeros(1 << 22)))
    assert path.stat().st_size < 1e6

    def load():
        with not_readable("unexpected entry", re.escape(repr(name))):
            Factorization.load(path)

    assert peak(load)[1] < 8e6  # it would be 32 MB


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a full file."""
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    Factorization(
        np.array([[0.25], [1 / 3], [0.0]]),
        np.array([[3.0]]),
        np.array([[1.0, 1 / 7]]),
        selection=Selection(np.array([1]), np.array([0]), gap=1e-5, n_iter=2, history=((0.5, None),)),
        row_labels=np.array([0, 0, -1]),
        col_names=np.array(["tea", "jam"]),
        scaling=Scaling("degree", np.array([1.0, 2.0, 1.0]), np.array([1.0, 0.5])),
        meta={"objective": [0.5, 0.25]},
    ).save(path)
    return path.read_bytes()


def outcome(path, content):
    """Return what loading these bytes gives: all of the record as text, "refused", or the name of an exception."""
    path.write_bytes(content)
    try:
        loaded = Factorization.load(path)
    except ValueError as error:
        return "refused" if "is not a readable factorization" in str(error) else str(error)
    except Exception as error:  # noqa: BLE001 - the exceptions that must not come out are what is looked for
        return type(error).__name__
    records = [vars(record) for record in (loaded, loaded.selection, loaded.scaling) if record is not None]
    plain = [part for record in records for part in record.values() if not isinstance(part, (Selection, Scaling))]
    return repr([part.tolist() if isinstance(part, np.ndarray) else part for part in plain])


def damage(path, content, positions, mask):
    """Return the outcome for each position at which changing a byte is neither noticed nor harmless."""
    intact = outcome(path, content)
    assert intact.startswith("[")
    changed = {at: content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :] for at in positions}
    results = {at: outcome(path, damaged) for at, damaged in changed.items()}
    return {at: result for at, result in results.items() if result not in {"refused", intact}}


def test_a_file_cut_off_anywhere_is_refused(saved, path):
    results = {length: outcome(path, saved[:length]) for length in range(0, len(saved), 11)}
    assert {length: result for length, result in results.items() if result != "refused"} == {}


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x20, 0x80])
def test_a_file_with_a_byte_changed_is_refused_or_gives_what_was_saved(mask, saved, path):
    assert damage(path, saved, range(mask % 7, len(saved), 7), mask) == {}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_a_damaged_file_packed_in_another_way_is_refused_or_read(method, path):
    write(path, method=method)
    content = path.read_bytes()
    assert damage(path, content, range(0, len(content), 5), 0xFF) == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"not a zip file", b"PK", b"PK\x05\x06" + bytes(18), npy(W), b"\x80\x04}\x94."],
    ids=["empty", "one byte", "text", "two letters", "an empty zip", "a single array", "a pickle"],
)
def test_a_file_that_is_not_an_archive_of_arrays_is_refused(content, path):
    path.write_bytes(content)
    with not_readable():
        Factorization.load(path)


def test_an_archive_of_other_arrays_is_refused(path):
    np.savez(path, W=W, H=H)
    with not_readable("unexpected entry 'W.npy'"):
        Factorization.load(path)


def test_a_folder_is_refused_and_a_missing_file_is_missing(tmp_path):
    with refused("path", re.escape(tmp_path.name)):
        Factorization.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Factorization.load(tmp_path / "nowhere.npz")
    with refused("path"):
        Factorization.load("a\0b")
