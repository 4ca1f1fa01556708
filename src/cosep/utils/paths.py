"""Checks of paths that a user passes."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from cosep.utils.messages import shown

LONGEST_SHOWN = 200


def check_path(value: Any, name: str, expected: str) -> Path:
    """Return a path that the operating system can look up; nothing need exist there."""
    path = None
    with suppress(Exception):  # a value of the user may raise anything
        path = None if isinstance(value, str) and not value else Path(value)
    if path is None:
        msg = f"{name}={shown(value)} must be {expected}."
        raise ValueError(msg)
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            msg = f"{name}={shown(str(path), LONGEST_SHOWN)} is not a name that a file can have; it must be {expected}."
            raise ValueError(msg) from error
    return path


def is_not_a_folder(path: Path) -> bool:
    """Return whether something other than a folder has this path; False if nothing has it.

    One look at the disk: after `Path.exists`, another process can remove a folder before `Path.is_dir`.
    """
    try:
        return not S_ISDIR(path.stat().st_mode)
    except OSError:
        return False
