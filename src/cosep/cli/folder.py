"""A folder whose files are replaced all together, and single files that are complete or absent.

An answer is written to a hidden folder within ``out``, ``.part-...``, and published by renaming. Names are renamed one
by one, so that other files in ``out``, and shells that work in it, are not disturbed. What is in the hidden folder says
how far this has come:

- ``new``: the files are being written;
- ``new`` and ``old``: the files of the earlier answer are being moved to ``old``, the model first;
- ``ready`` and ``old``: all are written, and those of the new answer are being moved to ``out``, the model last;
- ``done``: the new answer is in place, and the rest can be removed.

Files of two answers are never in ``out`` together. An error or a signal undoes everything. What a killed process left
is undone or completed by the next run that uses the folder.
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
from cosep.utils.paths import is_not_a_folder

# The files that an answer may have; it always has the first. Those with this ending are folders.
FILES = ("model.npz", "rows.csv", "rows.zarr", "columns.csv", "core.csv", "summary.json", "report.html")
STORE = ".zarr"
PREFIX = ".part-"
NEW, OLD, READY, DONE = "new", "old", "ready", "done"
# Errors of writing that do not name the file.
UNNAMED_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
# Publishing takes some milliseconds; another run waits for it at most this many seconds.
MAX_WAIT = 30.0
# How often the removal of a folder is tried, a tenth of a second apart.
REMOVALS = 30


@contextmanager
def complete_folder(out: Path) -> Iterator[Path]:
    """Give a folder to write files to; when all are written, they replace those of an earlier answer in ``out``.

    Files of the earlier answer that the new one does not have are removed; other files are left alone. If the work ends
    before, for whatever reason, ``out`` stays as it was.

    Raises
    ------
    ValueError
        If ``out`` is a file, cannot be written, is being written by another run, or has files with the names of an
        answer that do not belong to one.
    """
    if is_not_a_folder(out):
        msg = f"out={shown(str(out))} is a file; name a folder."
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
        msg = f"out={shown(str(out))} is being written by another run of cosep; wait for it, or name another folder."
        raise ValueError(msg) from error
    except OSError as error:
        _remove_empty(made)
        if not _is_about(error, out):
            raise
        msg = f"out={shown(str(out))} cannot be written ({error.strerror}); name another folder, or free some space."
        raise ValueError(msg) from error
    except BaseException:
        _remove_empty(made)
        raise


def recover(out: Path) -> None:
    """Complete or undo the publishing that a killed run left unfinished; wait for a run that is publishing."""
    end = time.monotonic() + MAX_WAIT
    while _unfinished(out) and time.monotonic() < end:
        try:
            with Deferral(), locked(out) as held:
                if held:
                    _tidy(out)
                return
        except BusyError:
            time.sleep(0.05)


def _check_taken(out: Path) -> None:
    """Raise ValueError for a folder with files that have our names but are not ours."""
    taken = [name for name in FILES if os.path.lexists(out / name)]
    foreign = taken[:1] if taken and FILES[0] not in taken else []
    foreign += [name for name in taken if (out / name).is_dir() != name.endswith(STORE)]
    if foreign:
        msg = (
            f"out={shown(str(out))} has a {foreign[0]} that does not belong to an earlier answer; name another folder."
        )
        raise ValueError(msg)


def _publish(part: Path, out: Path) -> None:
    """Move the earlier answer away and the new one in, or leave everything as it was."""
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
    """Bring the earlier answer back, if the new one is not in place yet."""
    if not (part / OLD).is_dir():
        return
    if (part / READY).is_dir():  # then every file in out that has one of our names belongs to the new answer
        _move(out, part / READY)
        (part / READY).rename(part / NEW)
    _move(part / OLD, out, last=FILES[0])
    (part / OLD).rmdir()


def _move(source: Path, goal: Path, last: str = "") -> None:
    """Move all files of an answer: the model first, or last, so that it is never beside a part of its answer."""
    for name in sorted(FILES, key=last.__eq__):
        if os.path.lexists(source / name):
            (source / name).rename(goal / name)


def _unfinished(out: Path) -> list[Path]:
    """Return the folders in which publishing has begun and not ended."""
    return [part for part in out.glob(f"{PREFIX}*") if (part / OLD).is_dir()]


def _tidy(out: Path) -> None:
    """Undo, complete and remove what killed runs left. Only the run that holds the lock may call this."""
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
    """Remove a hidden folder, unless it still has an earlier answer that could not be brought back."""
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


def _is_about(error: OSError, out: Path) -> bool:
    """Tell whether an error is about writing to ``out``, and not about another file or a connection."""
    if error.filename is None:
        return error.errno in UNNAMED_ERRORS
    file, folder = (Path(os.path.abspath(os.fsdecode(path))) for path in (error.filename, out))  # noqa: PTH100 - links stay
    return file.is_relative_to(folder) or folder.is_relative_to(file)


@contextmanager
def complete_file(out: Path, option: str = "out") -> Iterator[Path]:
    """Give the path of a temporary file to write, which replaces ``out`` when it is complete."""
    try:
        with Deferral() as signals, replacing(out) as part, signals.allowed():
            yield part
    except OSError as error:
        reason = error.strerror or one_line(error)
        msg = f"{option}={shown(str(out))} cannot be written ({reason}); name another file, or free some space."
        raise ValueError(msg) from error
