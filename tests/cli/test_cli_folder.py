"""The folder of an answer: one answer in it, whole, whatever ends the run that writes another."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cosep.cli.folder import FILES, complete_file, complete_folder, recover
from cosep.cli.process import Terminated

# One of a matrix in memory, the other of blocks of rows: they do not have the same files.
OLD = {name: "old" for name in FILES if name != "rows.zarr"}
NEW = {name: "new" for name in FILES if name not in {"rows.csv", "report.html"}}
NOTES = {"notes.txt": "mine"}


def write(folder, answer):
    for name, text in answer.items():
        path = folder / name
        if name == "rows.zarr":
            path.mkdir()
            path /= "zarr.json"
        path.write_text(text)


def state(folder):
    """Return everything in a folder, what is hidden too."""
    return {
        path.name: (path / "zarr.json").read_text() if path.name == "rows.zarr" else path.is_dir() or path.read_text()
        for path in folder.iterdir()
    }


@pytest.fixture
def out(tmp_path):
    """A folder with an answer and a file of the user."""
    folder = tmp_path / "out"
    folder.mkdir()
    write(folder, OLD | NOTES)
    return folder


def publish(folder, answer=NEW):
    with complete_folder(folder) as part:
        write(part, answer)


def test_a_new_folder_appears_complete_or_not_at_all(tmp_path):
    out = tmp_path / "deep" / "answer"
    with pytest.raises(ZeroDivisionError), complete_folder(out) as part:
        write(part, {"model.npz": f"half {1 / 0}"})
    assert not (tmp_path / "deep").exists()
    publish(out)
    assert state(out) == NEW


def test_one_answer_replaces_the_other_and_nothing_else(out):
    for answer in (NEW, OLD, NEW, NEW):
        publish(out, answer)
        assert state(out) == answer | NOTES


def test_a_file_is_complete_or_as_it_was(tmp_path):
    out = tmp_path / "a.txt"
    out.write_text("before")
    with pytest.raises(ZeroDivisionError), complete_file(out) as part:
        part.write_text(f"half {1 / 0}")
    assert state(tmp_path) == {"a.txt": "before"}


class Renames:
    """Stands for ``Path.rename``: raises at one call, or whenever a file has one name."""

    def __init__(self, monkeypatch, error, at=None, name=None):
        self.count, original = 0, Path.rename

        def rename(path, goal):
            self.count += 1
            if self.count == at or path.name == name:
                raise error
            original(path, goal)

        monkeypatch.setattr(Path, "rename", rename)


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), Terminated(signal.SIGTERM)],
    ids=["full", "Ctrl-C", "SIGTERM"],
)
def test_whatever_ends_publishing_leaves_the_earlier_answer(error, out, monkeypatch):
    """At every step that there is."""
    expected = ValueError if isinstance(error, OSError) else type(error)
    for at in range(1, len(OLD) + len(NEW) + 3):
        with monkeypatch.context() as patch:
            renames = Renames(patch, error, at)
            with pytest.raises(expected):
                publish(out)
        assert renames.count >= at
        assert state(out) == OLD | NOTES
    with monkeypatch.context() as patch:
        renames = Renames(patch, error, at + 1)
        publish(out)
    assert renames.count == at
    assert state(out) == NEW | NOTES


@pytest.fixture
def ctrl_c():
    """Let SIGINT raise KeyboardInterrupt, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("call", "answer"), [("rename", NEW), ("unlink", NEW), ("rmdir", NEW), ("mkdir", OLD)])
def test_a_signal_waits_until_files_are_in_order(call, answer, out, monkeypatch):
    """Each call that changes a file gets a signal; one answer is there as a whole, and nothing else is left."""
    original = getattr(os, call)

    def interrupted(*args, **options):
        signal.raise_signal(signal.SIGINT)
        return original(*args, **options)

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(out)
    monkeypatch.undo()
    assert state(out) == answer | NOTES


@pytest.mark.usefixtures("ctrl_c")
def test_signals_interrupt_the_work_and_the_earlier_answer_stays(out):
    with pytest.raises(KeyboardInterrupt), complete_folder(out):
        signal.raise_signal(signal.SIGINT)
    assert state(out) == OLD | NOTES


def test_what_a_thread_still_writes_is_removed(out):
    def write_on(folder):
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
                (folder / "chunk").write_text("0")

    def interrupted_while_writing(folder):
        threading.Thread(target=write_on, args=(folder / "rows.zarr",)).start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), complete_folder(out) as folder:
        interrupted_while_writing(folder)
    assert state(out) == OLD | NOTES


@pytest.mark.parametrize("name", sorted(OLD.keys() | NEW.keys()))
def test_a_file_that_cannot_be_replaced_leaves_the_earlier_answer(name, out, monkeypatch):
    with monkeypatch.context() as patch:
        Renames(patch, PermissionError(errno.EPERM, "Operation not permitted", str(out / name)), name=name)
        with pytest.raises(ValueError, match=r"out=.* cannot be written \(Operation not permitted\)"):
            publish(out)
    assert state(out) == OLD | NOTES


KILLED = """
import os, signal, sys
from pathlib import Path
from cosep.cli.folder import complete_folder
rename, at, after, count = Path.rename, int(sys.argv[2]), sys.argv[3] == "after", 0

def dying(path, goal):
    global count
    count += 1
    if count == at and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(path, goal)
    if count == at:
        os.kill(os.getpid(), signal.SIGKILL)

Path.rename = dying
with complete_folder(Path(sys.argv[1])) as part:
    for name in sys.argv[4].split():
        path = part / name
        if name == "rows.zarr":
            path.mkdir()
            path /= "zarr.json"
        path.write_text("new")
"""


def killed(out, at, when):
    """Publish NEW in a process that kills itself at one of its renames; tell whether it did."""
    command = [sys.executable, "-c", KILLED, out, str(at), when, " ".join(NEW)]
    return subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="of POSIX")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, len(OLD) + len(NEW) + 3))
def test_what_a_killed_run_left_is_undone_or_completed(at, when, out):
    """At every step: the folder never has files of two answers, and the next command finds one of them, whole."""
    assert killed(out, at, when)
    seen = {text for name, text in state(out).items() if name in FILES}
    assert len(seen) <= 1
    assert (out / "notes.txt").read_text() == "mine"
    if at % 2:
        recover(out)
        assert visible(out) in (OLD | NOTES, NEW | NOTES)
    with pytest.raises(ZeroDivisionError), complete_folder(out) as part:
        write(part, {"model.npz": f"half {1 / 0}"})
    assert state(out) in (OLD | NOTES, NEW | NOTES)
    publish(out, OLD)
    assert state(out) == OLD | NOTES


def visible(folder):
    return {name: text for name, text in state(folder).items() if not name.startswith(".")}


def test_what_a_run_that_was_killed_earlier_left_is_removed(out):
    """Of this version, and of one that wrote its files right into the hidden folder."""
    write_stale(out / ".part-abcdefgh" / "new")
    write_stale(out / ".part-12345678")
    mine = out / ".part-time"
    mine.mkdir()
    (mine / "job.txt").write_text("mine")
    (out / ".cosep-lock").touch()
    publish(out)
    assert state(out) == NEW | NOTES | {".part-time": True}
    assert (mine / "job.txt").read_text() == "mine"


def write_stale(folder):
    folder.mkdir(parents=True)
    (folder / "core.csv").write_text("half")
    (folder / ".model.npz.123.part").write_text("half")


def test_a_second_run_into_one_folder_is_refused_and_disturbs_nothing(out):
    with complete_folder(out) as part:
        write(part, NEW)
        with pytest.raises(ValueError, match="is being written by another run"):
            publish(out, OLD)
        recover(out)
        assert part.is_dir()
    assert state(out) == NEW | NOTES


def test_many_runs_into_one_folder_leave_one_answer_whole(tmp_path):
    out, done, refused = tmp_path / "deep" / "out", [], []

    def run(k):
        for _ in range(10):
            try:
                publish(out, {name: str(k) for name in (OLD if k % 2 else NEW)})
                done.append(k)
            except ValueError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done
    assert all("another run" in sentence for sentence in refused)
    found = state(out)
    assert len(set(found.values())) == 1
    assert found.keys() in (OLD.keys(), NEW.keys())


def test_whoever_needs_the_model_waits_while_it_is_replaced(out, monkeypatch):
    begun, rename = threading.Event(), Path.rename

    def slow(path, goal):
        rename(path, goal)
        begun.set()
        time.sleep(0.05)

    monkeypatch.setattr(Path, "rename", slow)
    thread = threading.Thread(target=publish, args=(out,))
    thread.start()
    assert begun.wait(30)
    recover(out)
    assert (out / "model.npz").read_text() == "new"
    thread.join()
    assert state(out) == NEW | NOTES


@pytest.mark.parametrize("name", ["core.csv", "model.npz"])
def test_a_folder_of_the_user_with_one_of_our_names_is_refused(name, out):
    (out / name).unlink()
    (out / name).mkdir()
    (out / name / "precious").write_text("mine")
    with pytest.raises(ValueError, match=f"has a {name} that does not belong to an earlier answer"):
        publish(out)
    assert (out / name / "precious").read_text() == "mine"
    assert state(out) == OLD | NOTES | {name: True}


def test_a_folder_of_the_user_that_appears_during_the_work_is_kept(out):
    (out / "core.csv").unlink()
    with (
        pytest.raises(ValueError, match=r"has a core\.csv that does not belong to an earlier answer"),
        complete_folder(out),
    ):
        (out / "core.csv").mkdir()
    assert state(out) == OLD | NOTES | {"core.csv": True}


@pytest.mark.skipif(sys.platform == "win32", reason="of POSIX")
def test_a_link_with_one_of_our_names_is_replaced_and_its_file_is_not(out, tmp_path):
    (tmp_path / "precious").write_text("mine")
    (out / "core.csv").unlink()
    (out / "core.csv").symlink_to(tmp_path / "precious")
    publish(out)
    assert (tmp_path / "precious").read_text() == "mine"
    assert state(out) == NEW | NOTES


def test_a_file_system_without_locks_is_enough(out, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def missing(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", missing)
    publish(out)
    assert state(out) == NEW | NOTES


def test_errors_of_other_files_and_of_connections_are_not_blamed_on_the_folder(out, tmp_path):
    for error in (FileNotFoundError(errno.ENOENT, "No such file", str(tmp_path / "input")), ConnectionError("lost")):
        with pytest.raises(type(error)), complete_folder(out):
            raise error
    with pytest.raises(ValueError, match=r"out=.* cannot be written"), complete_folder(out):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert state(out) == OLD | NOTES


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_refused(out):
    out.chmod(0o555)
    with pytest.raises(ValueError, match=r"cannot be written \(Permission denied\)"):
        publish(out)
    out.chmod(0o755)
    assert state(out) == OLD | NOTES
