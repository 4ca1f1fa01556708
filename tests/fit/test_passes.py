import errno
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import cosep.fit.checkpoint
from cosep import Pool
from cosep.fit.candidates import Candidates, candidates
from cosep.fit.checkpoint import Checkpoint
from cosep.fit.explainer import RowExplainer
from cosep.fit.factor_sums import ColumnSide, FactorSums, factor_sums
from cosep.fit.outcome import MeasuredSide, Outcome, outcome
from cosep.fit.passes import Passes
from cosep.fit.statistics import Draw, Drawn, Statistics, drawn_rows, statistics
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import norm_of
from cosep.records.archive import array_headers, read_arrays, write_arrays
from in_blocks import DATA, FORMATS, lengths_of, local, some_directions

X = DATA["counts"]
NORM = norm_of(LocalMatrix(X), "columns")


def states():
    random = np.random.default_rng(0)
    rows, cols, n = np.array([1, 2, 3]), np.array([4, 5]), X.shape[1]
    S, P2, Z = X[np.ix_(rows, cols)], random.uniform(size=(2, n)), random.uniform(size=(n, 3))
    norm = norm_of(LocalMatrix(X), "degree")
    fit = RowExplainer(S, cols, S @ P2, X[rows], P2, norm)
    return {
        "statistics": (Statistics, statistics, Draw(0, 50, norm)),
        "draw": (Drawn, drawn_rows, Draw(0, 50, norm)),
        "candidates": (Candidates, candidates, some_directions(n)),
        "factors": (FactorSums, factor_sums, ColumnSide(S, cols, S @ P2, Z, norm)),
        "later factors": (FactorSums, factor_sums, ColumnSide(S, cols[:0], S @ P2, 2 * Z, norm)),
        "outcome": (Outcome, outcome, MeasuredSide(fit, Z)),
    }


def started(data, checkpoint):
    """Return passes with a checkpoint, or with the path of a folder that is removed at the end."""
    return Passes(data, checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint, temporary=True))


def refuse(*_anything):
    msg = "the result should have been kept"
    raise AssertionError(msg)


def same(a, b):
    """Return whether two records agree in every bit and type."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, LocalMatrix):
        return a.is_sparse == b.is_sparse and all(
            key == other and same(part, twin)
            for (key, part), (other, twin) in zip(a.to_arrays().items(), b.to_arrays().items(), strict=True)
        )
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


def blocks(A=X, count=5, make=np.asarray, **facts):
    return local(A, lengths_of(len(A), count), make, **facts)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", states())
def test_results_are_kept_bit_for_bit(what, name, tmp_path):
    kind, task, state = states()[what]
    found = started(blocks(make=FORMATS[name]), tmp_path).reduce(what, kind, task, state)
    again = started(blocks(make=FORMATS[name]), tmp_path).reduce(what, kind, refuse, state)
    assert same(found, again)


@pytest.mark.parametrize("name", FORMATS)
def test_rows_are_kept_bit_for_bit(name, tmp_path):
    wanted = np.array([3, 50, 899])
    found = started(blocks(make=FORMATS[name]), tmp_path).rows("sample", wanted)
    passes = started(blocks(make=FORMATS[name]), tmp_path)
    passes.blocks.rows = refuse
    assert same(found, passes.rows("sample", wanted))


def test_passes_are_counted_whether_kept_or_not(tmp_path):
    for _ in range(2):
        passes = started(blocks(), tmp_path)
        passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
        passes.rows("sample", np.array([1]))
        assert passes.count == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: started(blocks(X * 2), folder),
        lambda folder: started(blocks(np.vstack([X[:899], X[0]])), folder),
        lambda folder: started(blocks(count=6), folder),
        lambda folder: started(blocks(names=[f"file {i}" for i in range(5)]), folder),
        lambda folder: started(blocks(identity="other"), folder),
    ],
    ids=["other data", "one other row", "other blocks", "other names", "other identity"],
)
def test_results_of_other_data_are_not_used(other, tmp_path):
    started(blocks(), tmp_path).reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    with pytest.raises(AssertionError):
        other(tmp_path).reduce("statistics", Statistics, refuse, Draw(0, 5, NORM))


def test_results_of_another_task_are_not_used(tmp_path):
    started(blocks(), tmp_path).reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    for state in (Draw(1, 5, NORM), Draw(0, 6, NORM)):
        with pytest.raises(AssertionError):
            started(blocks(), tmp_path).reduce("statistics", Statistics, refuse, state)


def test_pools_of_many_positions_have_different_keys(tmp_path):
    pool = np.arange(5000)
    other = pool.copy()
    other[2500] = 7000
    answers = [
        started(blocks(), tmp_path).recall("selection", None, {"pool": Pool(candidates=one)}, lambda one=one: one)
        for one in (pool, other)
    ]
    np.testing.assert_array_equal(answers, [pool, other])


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def foreign(path):
    write_arrays(path, {".value": np.arange(3)})


def borrowed(path):
    """The result of another task, under the name of this one."""
    arrays = read_arrays(path, array_headers(path))
    arrays["made_from"] = np.array("0" * 64)
    write_arrays(path, arrays)


def objects(path):
    with path.open("wb") as file:
        np.savez(file, made_from=np.array([print], dtype=object))


@pytest.mark.parametrize(
    "damage",
    [
        truncated,
        flipped,
        foreign,
        borrowed,
        objects,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("x"),
    ],
)
def test_a_damaged_result_is_computed_again(damage, tmp_path):
    ask = ("statistics", Statistics, statistics, Draw(0, 5, NORM))
    found = started(blocks(), tmp_path).reduce(*ask)
    (path,) = tmp_path.iterdir()
    intact = path.read_bytes()
    damage(path)
    assert same(started(blocks(), tmp_path).reduce(*ask), found)
    assert read_arrays(path, array_headers(path)).keys() == {*array_headers(path)}
    assert len(path.read_bytes()) == len(intact)


def test_a_complete_fit_removes_its_checkpoint(tmp_path):
    folder = tmp_path / "a" / "b"
    passes = started(blocks(), folder)
    passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    (path,) = folder.iterdir()
    (folder / f".{path.name}.123.part").write_text("half of it")
    passes.finish()
    assert not folder.exists()


def together(*calls):
    """Run functions in threads that start at the same time; return what they return."""
    start = Barrier(len(calls))

    def run(call):
        start.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_several_fits_may_share_a_checkpoint(tmp_path):
    """All return the same result, also if one that ends earlier removes files that others need."""
    expected = blocks().reduce(statistics, Draw(0, 50, NORM))

    def fit():
        found = []
        for _ in range(5):
            passes = started(blocks(), tmp_path / "kept")
            found += [
                passes.reduce(name, Statistics, statistics, Draw(0, 50, NORM)) for name in ("statistics", "again")
            ]
            passes.finish()
        return found

    for found in together(*[fit] * 6):
        assert all(same(one, expected) for one in found)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_fit_removes_is_made_again(tmp_path, monkeypatch):
    passes, removed = started(blocks(), tmp_path / "kept"), []

    def write_after_removal(path, arrays):
        if len(removed) < 3:
            removed.append(path)
            path.parent.rmdir()
        write_arrays(path, arrays)

    monkeypatch.setattr(cosep.fit.checkpoint, "write_arrays", write_after_removal)
    passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert len(removed) == 3


def test_a_full_disk_names_the_checkpoint(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    passes = started(blocks(), tmp_path)
    monkeypatch.setattr(cosep.fit.checkpoint, "write_arrays", full)
    with pytest.raises(ValueError, match=r"checkpoint='.*' cannot be written to \(No space left on device\)"):
        passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))


def test_a_checkpoint_of_the_caller_is_removed_by_the_caller(tmp_path):
    checkpoint = Checkpoint(tmp_path / "kept")
    passes = started(blocks(), checkpoint)
    passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    passes.finish()
    assert len(list((tmp_path / "kept").iterdir())) == 1
    checkpoint.forget()
    assert not (tmp_path / "kept").exists()


def test_other_files_in_the_folder_stay(tmp_path):
    (tmp_path / "notes").write_text("mine")
    passes = started(blocks(), tmp_path)
    passes.reduce("statistics", Statistics, statistics, Draw(0, 5, NORM))
    passes.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_path_that_is_not_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for bad, message in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "file" / "below", "cannot be written to"),
        (7, "path of a folder"),
        ("", "path of a folder"),
        (b"bytes", "path of a folder"),
    ):
        with pytest.raises(ValueError, match=f"checkpoint=.*{message}"):
            started(blocks(), bad)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_refused_before_anything_is_read(tmp_path):
    tmp_path.chmod(stat.S_IREAD | stat.S_IEXEC)
    with pytest.raises(ValueError, match="cannot be written to"):
        started(blocks(), tmp_path)


def test_blocks_with_an_identity_are_not_read_for_it(tmp_path):
    known = blocks(identity="a file, and its age")
    known.reduce = refuse
    started(known, tmp_path)
