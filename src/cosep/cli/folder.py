"""A path enters; a folder leaves in which all files of an answer appear at once, or none."""

import csv
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO


@contextmanager
def complete_folder(out: Path, owned: tuple[str, ...]) -> Iterator[Path]:
    """Give a place to write files to; when all are written they replace those of an earlier answer in ``out``.

    Owned are the names that an answer may have, the first of them in any case. Those that it does not write are
    removed, so that the folder never tells of two answers; other files are left alone, and a folder that has owned
    names but not the first is refused. Whatever ends the work before leaves ``out`` as it was.
    """
    if out.exists() and not out.is_dir():
        msg = f"out={str(out)!r} is a file; name a folder, new or not."
        raise ValueError(msg)
    taken = [name for name in owned if (out / name).exists()]
    if taken and owned[0] not in taken:
        msg = f"out={str(out)!r} has a {taken[0]} that is of no earlier answer; name another folder."
        raise ValueError(msg)
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".part-", dir=out) as part:
            yield Path(part)
            written = sorted(file.name for file in Path(part).iterdir())
            for name in written:
                if (out / name).is_dir():  # which cannot be replaced
                    _remove(out / name)
                (Path(part) / name).replace(out / name)
        for name in set(owned) - set(written):
            _remove(out / name)
    except BaseException as error:
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        if isinstance(error, OSError):
            msg = f"out={str(out)!r} cannot be written ({error.strerror or error}); name another folder, or make room."
            raise ValueError(msg) from error
        raise


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


@contextmanager
def complete_file(out: Path, option: str = "out") -> Iterator[Path]:
    """Give the path of a file to write, which becomes ``out`` when it is complete."""
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(out)
    except OSError as error:
        msg = f"{option}={str(out)!r} cannot be written ({error.strerror or error}); name another file, or make room."
        raise ValueError(msg) from error
    finally:
        if part.exists():
            part.unlink()


def write_table(file: TextIO, columns: dict[str, Iterable[Any]], *, heading: bool = True) -> None:
    """Write columns of one length as CSV, with a heading unless it stands there already."""
    writer = csv.writer(file, lineterminator="\n")
    if heading:
        writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def save_table(path: Path, columns: dict[str, Iterable[Any]]) -> None:
    """Write columns of one length to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        write_table(file, columns)
