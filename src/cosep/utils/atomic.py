"""Atomic writing: a file appears under its name when it is complete, or not at all.

Every writer of the package goes through `replacing`. The temporary name has a random part, so that threads and
processes that write to one path do not meet: the path ends with the file of one of them, whole.
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

# Characters of the target's name that the temporary name keeps, so that it stays below 255 bytes.
KEPT_LETTERS = 50
# As many symbolic links are followed as Linux follows.
MOST_LINKS = 40


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it replaces ``path`` when the block ends, and is removed if it fails.

    The temporary file is in the folder of the target, and has the permissions of the file that it replaces, or those
    that any new file has. A symbolic link stays: the file that it points to is replaced. A device, a pipe or an open
    file of a process (such as /dev/stdout) cannot be replaced: what was written is appended to it.

    Raises
    ------
    OSError
        If the path is a folder, or cannot be written: as far as it can be known, before the block starts.
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
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield part
        flush(part)
        with suppress(OSError):  # a new file, or a file system without permissions
            part.chmod(S_IMODE(target.stat().st_mode))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file is on disk: after a power failure, a name must not stand for a file without its contents."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def unfinished(path: Path) -> list[Path]:
    """Return the temporary files of this path: of writers at work, and of those that were killed."""
    try:
        return list(path.parent.glob(f"{escape(_beginning(path))}*.part"))
    except FileNotFoundError:  # another process removed the folder while it was listed
        return []


def _beginning(path: Path) -> str:
    return f".{path.name[:KEPT_LETTERS]}."


def _followed(path: Path) -> Path | None:
    """Return the file that a path stands for, all links followed; None if it is something that cannot be replaced."""
    for _ in range(MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if path.parts[1:2] == ("proc",) or path.parts[1:3] == ("dev", "fd"):  # open files
            return None
        if not path.is_symlink():
            return path if path.is_file() or path.is_dir() or not path.exists() else None
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
