"""Check that no output is one of the inputs. Files are compared, not their names."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from cosep.utils.messages import shown

STANDARD_INPUT = Path("-")
TEXT_SUFFIX = ".txt"


class FileId(NamedTuple):
    """What identifies a file: equal for two names that are links to one file."""

    device: int
    number: int


def refuse_inputs(
    option: str, out: Path | None, inputs: Mapping[str, Iterable[Path]], replaced: Iterable[Path] | None = None
) -> None:
    """Raise ValueError if an output is one of the inputs, contains one, or would become part of one.

    Standard output counts as an output too.

    Parameters
    ----------
    option : str
        The name of the option with ``out``.
    out : Path, optional
        The file or folder that is written.
    inputs : mapping
        What is read, by names that the user knows: files, folders, "-" for standard input.
    replaced : iterable of Path, optional
        What is replaced, if ``out`` is a folder. Default: ``out`` itself.

    Raises
    ------
    ValueError
        Before anything is read.
    """
    written = {file for path in ([out] if replaced is None else replaced) if path is not None for file in _files(path)}
    printed = _file_of_stream(1)
    for name, paths in inputs.items():
        for path in paths:
            shared = {file for file in _files(path) if file in written or file == printed} if written or printed else ()
            joins = out is not None and (replaced is None or path.is_dir()) and _would_join(out, path)
            if out is not None and (joins or written.intersection(shared)):
                msg = f"{option}={shown(str(out))} would replace {name} itself, or be part of it; name another."
                raise ValueError(msg)
            if shared:
                msg = f"Standard output is {name} itself; send it elsewhere."
                raise ValueError(msg)


def _would_join(out: Path, path: Path) -> bool:
    """Tell whether an output would be an input, or part of an input that is a folder."""
    from cosep.io.block_reading import is_blocks  # noqa: PLC0415 - help is quick without it

    goal = Path(os.path.realpath(out))
    if path == STANDARD_INPUT or not goal.is_relative_to(os.path.realpath(path)):
        return False
    return not path.is_dir() or is_blocks(path) or goal.suffix.lower() == TEXT_SUFFIX


def _files(path: Path) -> Iterator[FileId]:
    """Yield a file, or all files in a folder."""
    if path == STANDARD_INPUT:
        if (file := _file_of_stream(0)) is not None:
            yield file
        return
    # Names as text, since a store can have very many files.
    inside = (os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files)  # noqa: PTH118
    for name in inside if path.is_dir() else [path]:
        try:
            found = os.stat(name)  # noqa: PTH116 - there can be a million of them
        except OSError:  # not there yet
            continue
        if S_ISREG(found.st_mode):
            yield FileId(found.st_dev, found.st_ino)


def _file_of_stream(number: int) -> FileId | None:
    """Return the file that standard input or output is connected to, if it is one."""
    try:
        found = os.fstat(number)
    except OSError:  # closed
        return None
    return FileId(found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None
