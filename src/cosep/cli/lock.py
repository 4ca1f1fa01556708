"""A lock on a folder, for one run at a time. It ends with the process that holds it, however that ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

LOCK = ".cosep-lock"


class BusyError(Exception):
    """Another run holds the lock."""


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder, which is made if it is missing; give False if the file system has no locks.

    The lock is a file in the folder, removed at the end. A file that a killed run left does no harm.

    Raises
    ------
    BusyError
        If another run holds the lock.
    """
    path = folder / LOCK
    file = _opened(path)
    held = _lock(file)
    while not _is_at(file, path):  # the run before has just removed the file
        file.close()
        file = _opened(path)
        held = _lock(file)
    try:
        yield held
    finally:
        if sys.platform == "win32":  # where open files cannot be removed
            file.close()
        with suppress(OSError):
            path.unlink()
        file.close()


def _opened(path: Path) -> IO[str]:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a run that failed has just removed the folder
            return path.open("a")


def _is_at(file: IO[str], path: Path) -> bool:
    """Tell whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _lock(file: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - exists on Windows only

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - missing on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        file.close()
        raise BusyError from error
    except OSError:  # some network file systems
        return False
    return True
