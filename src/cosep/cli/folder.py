"""A folder in which all files of an answer are replaced together, and single files that are complete or not there.

An answer is written to a hidden folder within ``out``, ``.part-...``, and published by renaming. Names are renamed one
by one, so that other files in ``out``, and whoever stands in it, are not disturbed. The state is always told by what is
in the hidden folder:

- ``new``: the files are being written;
- ``new`` and ``old``: the files of the earlier answer are being moved to ``old``, the model first;
- ``ready`` and ``old``: all are there, and those of the new answer are being moved to ``out``, the model last;
- ``done``: the new answer stands, and what is left can be removed.

Files of two answers never stand in ``out`` together. An error or a signal undoes it all. What a killed process left is
undone or completed by the next run that touches the folder.
"""

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cosep.cli.lock import BusyError, locked
from cosep.cli.process import Deferral
from cosep.utils.atomic import flush, replacing
from cosep.utils.messages import one_line, shown

# The names that an answer may have; it has the first in any case. Those with this ending are folders.
FILES = ("model.npz", "rows.csv", "rows.zarr", "columns.csv", "core.csv", "summary.json", "report.html")
STORE = ".zarr"
PREFIX = ".part-"
NEW, OLD, READY, DONE = "new", "old", "ready", "done"
# Errors of writing that do not tell the name of the file.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
# Publishing takes some milliseconds; so many seconds another run waits for it.
PATIENCE = 30.0
# How often the removal of a folder is tried, a tenth of a second apart.
REMOVALS = 30


@contextmanager
def complete_folder(out: Path) -> Iterator[Path]:
    """Give a place to write files to; when all are written they replace those of an earlier answer in ``out``.

    Files of the earlier answer that the new one does not have are removed; other files are left alone. Whatever ends
    the work before leaves ``out`` as it was.

    Raises
    ------
    ValueError
        If ``out`` is a file, cannot be written, is written by another run, or has files with the names of an answer
        that are not of an earlier answer.
    """
    if out.exists() and not out.is_dir():
        msg = f"out={shown(str(out))} is a file; name a folder, new or not."
        raise ValueError(msg)
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        with Deferral() as signals, locked(out) as held:
            if held:
                _tidy(out)
            _check_taken(out)
            part = out / f"{PREFIX}{secrets.token_hex(8)}"
            try:
                (part / NEW).mkdir(parents=True)
                with signals.allowed():
                    yield part / NEW
                _publish(part, out)
            finally:
                _discard(part)
    except BusyError as error:
        msg = f"out={shown(str(out))} is being written by another run of cosep; let it end, or name another folder."
        raise ValueError(msg) from error
    except OSError as error:
        _remove_empty(made)
        if not _is_of(error, out):
            raise
        msg = f"out={shown(str(out))} cannot be written ({error.strerror}); name another folder, or make room."
        raise ValueError(msg) from error
    except BaseException:
        _remove_empty(made)
        raise


def recover(out: Path) -> None:
    """Complete or undo what a killed run left of publishing; wait for one that is at work."""
    end = time.monotonic() + PATIENCE
    while _unfinished(out) and time.monotonic() < end:
        try:
            with Deferral(), locked(out) as held:
                if held:
                    _tidy(out)
                return
        except BusyError:
            time.sleep(0.05)


def _check_taken(out: Path) -> None:
    """Refuse a folder with files that have our names but are not ours."""
    taken = [name for name in FILES if os.path.lexists(out / name)]
    foreign = taken[:1] if taken and FILES[0] not in taken else []
    foreign += [name for name in taken if (out / name).is_dir() != name.endswith(STORE)]
    if foreign:
        msg = f"out={shown(str(out))} has a {foreign[0]} that is of no earlier answer; name another folder."
        raise ValueError(msg)


def _publish(part: Path, out: Path) -> None:
    """Move the earlier answer out and the new one in, or leave everything as it was."""
    _check_taken(out)  # again: the work may have taken hours
    for folder, _, names in os.walk(part / NEW):
        for name in names:
            flush(Path(folder, name))
    try:
        (part / OLD).mkdir()
        _move(out, part / OLD)
        (part / NEW).rename(part / READY)
        _move_in(part, out)
    except BaseException:
        _undo(part, out)
        raise


def _move_in(part: Path, out: Path) -> None:
    _move(part / READY, out, last=FILES[0])
    (part / OLD).rename(part / DONE)


def _undo(part: Path, out: Path) -> None:
    """Bring the earlier answer back, if the new one does not stand yet."""
    if not (part / OLD).is_dir():
        return
    if (part / READY).is_dir():  # then everything in out that has our names is of the new answer
        _move(out, part / READY)
        (part / READY).rename(part / NEW)
    _move(part / OLD, out, last=FILES[0])
    (part / OLD).rmdir()


def _move(source: Path, goal: Path, last: str = "") -> None:
    """Move all files of an answer; the model first, so that none stands beside parts of its answer, or last."""
    for name in sorted(FILES, key=last.__eq__):
        if os.path.lexists(source / name):
            (source / name).rename(goal / name)


def _unfinished(out: Path) -> list[Path]:
    """Return the folders in which publishing has begun and not ended."""
    return [part for part in out.glob(f"{PREFIX}*") if (part / OLD).is_dir()]


def _tidy(out: Path) -> None:
    """Undo, complete and remove what killed runs left; to be called by the one run that holds the lock."""
    for part in _unfinished(out):
        if (part / READY).is_dir():
            try:
                _move_in(part, out)
            except OSError:
                _undo(part, out)
        else:
            _undo(part, out)
    for part in out.glob(f"{PREFIX}*"):
        names = {path.name for path in part.iterdir()} if part.is_dir() else {""}
        if all(name in {NEW, READY, DONE, *FILES} or name.endswith(".part") for name in names):
            _discard(part)


def _discard(part: Path) -> None:
    """Remove a hidden folder; not if it still has the earlier answer, which could not be brought back."""
    if (part / OLD).is_dir():
        return
    for _ in range(REMOVALS):
        shutil.rmtree(part, ignore_errors=True)
        if not part.exists():
            return
        time.sleep(0.1)  # threads of an interrupted run may still write files of a store


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # not empty: another run has begun
            folder.rmdir()


def _is_of(error: OSError, out: Path) -> bool:
    """Tell whether an error is one of writing to ``out``, and not of a file elsewhere or of a connection."""
    if error.filename is None:
        return error.errno in FULL
    file, folder = (Path(os.path.abspath(os.fsdecode(path))) for path in (error.filename, out))  # noqa: PTH100 - links stay
    return file.is_relative_to(folder) or folder.is_relative_to(file)


@contextmanager
def complete_file(out: Path, option: str = "out") -> Iterator[Path]:
    """Give the path of a file to write, which becomes ``out`` when it is complete."""
    try:
        with Deferral() as signals, replacing(out) as part, signals.allowed():
            yield part
    except OSError as error:
        reason = error.strerror or one_line(error)
        msg = f"{option}={shown(str(out))} cannot be written ({reason}); name another file, or make room."
        raise ValueError(msg) from error
