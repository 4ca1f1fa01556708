"""Atomic writes: a file appears under its name only when it is complete.

Every writer of the package uses `replacing`. The temporary name has a random part, so threads and processes that write
to the same path do not disturb each other: the path ends up with the complete file of one of them.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryDirectory

# Number of characters of the target's name in the temporary name, which must stay below 255 bytes.
KEPT_LETTERS = 50
# Linux follows this many symbolic links.
MAX_LINKS = 40


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces ``path`` when the block ends, or is removed if the block fails.

    The temporary file is in the folder of the target. It gets the permissions of the file that it replaces, or those of
    any new file. A symbolic link is kept, and the file that it points to is replaced. A device, a pipe or an open file
    of a process (such as /dev/stdout) cannot be replaced: the content is appended to it.

    Raises
    ------
    OSError
        If the path is a folder or cannot be written; where possible, before the block starts.
    """
    target = _followed(path)
    if target is None:
        with TemporaryDirectory() as folder:
            part = Path(folder) / "part"
            part.touch()
            yield part
            with part.open("rb") as file, path.open("ab") as special:
                shutil.copyfileobj(file, special)
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    part = target.with_name(f"{_beginning(target)}{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None  # the name that the caller knows
    try:
        yield part
        flush(part)
        with suppress(OSError):  # a new file, or a file system without permissions
            part.chmod(S_IMODE(target.stat().st_mode))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until the content of a file is on disk, so that a power failure cannot leave a name without content."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def unfinished(path: Path) -> list[Path]:
    """Return the temporary files of this path: those of running writers and those of killed ones."""
    try:
        return list(path.parent.glob(f"{escape(_beginning(path))}*.part"))
    except FileNotFoundError:  # another process removed the folder while it was listed
        return []


def _beginning(path: Path) -> str:
    return f".{path.name[:KEPT_LETTERS]}."


def _followed(path: Path) -> Path | None:
    """Return the file that a path points to, with all links followed, or None if it cannot be replaced."""
    for _ in range(MAX_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if path.parts[1:2] == ("proc",) or path.parts[1:3] == ("dev", "fd"):  # open files
            return None
        if not path.is_symlink():
            return path if path.is_file() or path.is_dir() or not path.exists() else None
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
