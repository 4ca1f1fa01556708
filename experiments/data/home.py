"""The folder of published data, and paths of files in it whose checksums are verified."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from cosep.utils.messages import shown
from cosep.utils.paths import check_path

VARIABLE = "COSEP_DATA"
Folder = str | os.PathLike[str]


class MissingDataError(ValueError):
    """A file of published data is missing or is not the expected one; the message says which file to put where."""


def data_home(path: Folder | None = None) -> Path:
    """Return the folder of published data: ``path`` or, if None, the one named by the variable COSEP_DATA."""
    if path is None:
        named = os.environ.get(VARIABLE, "")
    else:
        expected = f"the path of a folder, or None for the one named by {VARIABLE}"
        named = "" if isinstance(path, str) and not path else str(check_path(path, "home", expected))
    if not named:
        msg = f"The folder of published data is not known: pass home, or set the environment variable {VARIABLE}."
        raise MissingDataError(msg)
    folder = Path(os.path.expanduser(named))  # noqa: PTH111 - pathlib's raises where there is no such user
    if not folder.is_dir():
        source = VARIABLE if path is None else "home"
        msg = (
            f"{source}={shown(named, 200)} is not a folder: pass another home, or set {VARIABLE} to the folder of "
            "published data."
        )
        raise MissingDataError(msg)
    return folder


def verified(home: Folder | None, relative_path: str, checksum: str, what: str) -> Path:
    """Return the path of a regular file below the data home whose sha256 is ``checksum``.

    A file is hashed again only if its size or time of change differs. ``what`` describes the contents in the error
    message.
    """
    wanted = f"{relative_path}, which is {what}, with sha256 {checksum}"
    try:
        folder = data_home(home)
    except MissingDataError as error:
        msg = f"{error} The folder should have {wanted}."
        raise MissingDataError(msg) from None
    path = folder / relative_path
    if not path.is_file():
        msg = f"There is no file {relative_path} in {folder}: obtain {wanted}, and put it there."
        raise MissingDataError(msg)
    try:
        status = path.stat()
        found = _sha256(path.absolute(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}): allow it, or obtain {wanted}, and put it there."
        raise MissingDataError(msg) from error
    if found != checksum:
        msg = (
            f"{path} is cut short, changed or another edition, its sha256 is {found}: "
            f"replace it by {wanted}, or pass another home."
        )
        raise MissingDataError(msg)
    return path


@lru_cache(maxsize=256)
def _sha256(path: Path, size: int, changed: int) -> str:  # noqa: ARG001 - size and time are part of the cache key
    """Return the checksum of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
