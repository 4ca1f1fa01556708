"""Atomic writing: whoever reads a path finds a complete file, whatever happens to those who write it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from cosep import CoSeparableNMF, Factorization, make_coseparable
from cosep.report import write_report
from cosep.utils.atomic import replacing, unfinished

posix = pytest.mark.skipif(sys.platform == "win32", reason="of POSIX")


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, text):
    with replacing(path) as part:
        part.write_text(text)


def together(*calls):
    """Run functions in threads that start at the same time; return what they raised."""
    start, errors = threading.Barrier(len(calls)), []

    def run(call):
        start.wait()
        try:
            call()
        except Exception as error:  # noqa: BLE001 - all are looked at
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_that_save_to_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "model.npz"
    records = [Factorization(np.full((200, 2), k), None, np.full((2, 100), k)) for k in range(6)]
    seen = []

    def hammer(record):
        for _ in range(5):
            record.save(path)
            seen.append(Factorization.load(path))

    assert together(*(lambda record=record: hammer(record) for record in records)) == []
    assert len(seen) == 30
    assert all((one.row_factor == one.row_factor[0, 0]).all() for one in seen)
    assert listed(tmp_path) == ["model.npz"]


def test_threads_that_write_one_report_leave_a_whole_page(tmp_path):
    X, _ = make_coseparable(20, 15, 2, 2, random_state=0)
    record = CoSeparableNMF(2, 2).fit(X).factorization_
    write_report(X, record, tmp_path / "alone.html")
    page = tmp_path / "page.html"
    assert together(*[lambda: write_report(X, record, page)] * 4) == []
    assert page.read_bytes() == (tmp_path / "alone.html").read_bytes()
    assert listed(tmp_path) == ["alone.html", "page.html"]


def test_processes_that_write_to_one_path_leave_one_whole_file(tmp_path):
    code = (
        "import sys; from pathlib import Path; from cosep.utils.atomic import replacing\n"
        "for _ in range(200):\n"
        "    with replacing(Path(sys.argv[1])) as part:\n"
        "        part.write_text(sys.argv[2] * 10_000)\n"
    )
    path = tmp_path / "file"
    started = [subprocess.Popen([sys.executable, "-c", code, path, letter]) for letter in "abc"]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    assert path.read_text() in {letter * 10_000 for letter in "abc"}
    assert listed(tmp_path) == ["file"]


def test_what_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write(path, "before")
    with pytest.raises(ZeroDivisionError), replacing(path) as part:
        part.write_text(f"half {1 / 0}")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError):
        write(path, "after")
    assert path.read_text() == "before"
    assert listed(tmp_path) == ["file"]


def test_a_folder_is_refused_before_the_work(tmp_path):
    for bad in (tmp_path, tmp_path / "absent" / "file"):
        with pytest.raises(OSError, match="directory"), replacing(bad):
            pytest.fail("was started")
    assert listed(tmp_path) == []


def test_the_longest_name_is_no_problem(tmp_path):
    path = tmp_path / ("é" * 127)
    write(path, "x")
    assert path.read_text() == "x"


def test_unfinished_files_are_known_by_the_name_of_their_target(tmp_path):
    path = tmp_path / "a[1].npz"
    with replacing(tmp_path / "a1.npz"), replacing(path) as part:
        assert unfinished(path) == [part]
    assert unfinished(path) == []


def test_a_folder_that_disappears_while_it_is_listed_has_no_unfinished_files(tmp_path, monkeypatch):
    def removed(*_args, **_options):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "glob", removed)
    assert unfinished(tmp_path / "kept.npz") == []


@posix
def test_permissions_are_those_of_any_file(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        write(new, "x")
        (tmp_path / "plain").touch()
    finally:
        os.umask(before)
    write(old, "x")
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert old.stat().st_mode & 0o777 == 0o640


@posix
def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(other)
    other.symlink_to("folder/file")  # which is not there yet
    write(link, "one")
    write(link, "two")
    assert link.is_symlink()
    assert other.is_symlink()
    assert (folder / "file").read_text() == "two"
    assert listed(folder) == ["file"]


@posix
def test_a_circle_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        write(tmp_path / "a", "x")
    assert listed(tmp_path) == ["a", "b"]


@posix
def test_what_cannot_be_replaced_is_written_to(tmp_path):
    write(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()
    code = (
        "from pathlib import Path; from cosep.utils.atomic import replacing\n"
        "with replacing(Path('/dev/stdout')) as part: part.write_text('said')"
    )
    (tmp_path / "all").write_text("before ")
    with (tmp_path / "all").open("a") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "all").read_text() == "before said"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert piped.stdout == "said"
