"""A path enters; streams of its bytes or its text leave, or one sentence that says what is wrong with it.

A compressed file is unpacked while it is read. It is refused once it has grown beyond the limits of
`cosep.utils.memory`.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO, TypeVar

from cosep.utils.extras import optional
from cosep.utils.memory import growth_problem, memory_problem, most_bytes
from cosep.utils.messages import one_line
from cosep.utils.paths import check_path

STANDARD_INPUT = "-"
LONGEST_MESSAGE = 2000
UNPACKERS: dict[str, Callable[[BinaryIO], Any]] = {
    "": lambda file: file,
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": lambda file: optional("pyarrow", "reading .zst", "cli").CompressedInputStream(file, "zstd"),
}
PIECE = 1 << 16
# How often entries are counted while they are read.
COUNTED = 1 << 10
# What a line is taken to cost, even a blank one: nobody waits for millions of them.
BYTES_A_LINE = 128
# Suffixes of files, and of folders, that are more than text.
BINARY = ("/", ".npy", ".npz", ".mat", ".h5ad", ".parquet", ".pq")

Entry = TypeVar("Entry")


class InputError(ValueError):
    """A file is not what it should be; the message names it, what is wrong and the way out.

    Whatever the file puts into the message, it is one line without control characters.
    """

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message, LONGEST_MESSAGE))


@dataclass(frozen=True)
class InputSource:
    """A regular file, a folder, or the standard input once it is a file.

    Parameters
    ----------
    path : Path
        Where the bytes are.
    name : str
        What the user calls it.
    suffix : str
        What decides the format, such as ".csv".
    packing : str
        How it is compressed: a key of ``UNPACKERS``, or "" if it is not.
    """

    path: Path
    name: str
    suffix: str
    packing: str

    @cached_property
    def size(self) -> int:
        """Bytes on disk, of a folder those of all files in it."""
        if self.path.is_dir():
            return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
        return self.path.stat().st_size

    @property
    def largest(self) -> int:
        """How many bytes the contents can have at most."""
        return most_bytes(self.size) if self.packing else self.size

    def fail(self, what: str) -> NoReturn:
        """Refuse the file for what is wrong with it, with the way out."""
        msg = f"{self.name}: {what}"
        raise InputError(msg)

    @contextmanager
    def expecting(self, what: str) -> Iterator[None]:
        """Turn whatever a reader raises on a bad file into one sentence.

        A hostile or broken file can make the readers of its layers raise anything.
        """
        try:
            yield
        except (InputError, ImportError):
            raise
        except MemoryError as error:
            msg = f"{self.name}: {what} of this size does not fit into memory; read a part of it, or keep it sparse."
            raise InputError(msg) from error
        except Exception as error:
            if isinstance(error, UnicodeDecodeError) and self.suffix not in BINARY:
                msg = (
                    f"{self.name}: expected {what} in UTF-8, but byte {error.object[error.start]:#04x} does not belong "
                    "there; save it as UTF-8 first, for example with iconv -t UTF-8."
                )
                raise InputError(msg) from error
            reason = one_line(error) or type(error).__name__
            msg = f"{self.name}: expected {what}, but it cannot be read ({reason}); is it cut short or another format?"
            raise InputError(msg) from error

    def check_memory(self, n_bytes: int, what: str) -> None:
        """Refuse what would not fit into the memory of this machine, or what the file can hardly hold."""
        if problem := memory_problem(n_bytes, self.size, what):
            self.fail(problem)

    def bounded(self, entries: Iterable[Entry], each: int, what: str) -> Iterator[Entry]:
        """Yield entries, unless there are more than the file can hold if one takes ``each`` bytes of memory."""
        for count, entry in enumerate(entries, 1):
            if count % COUNTED == 0:
                self.check_growth(each * count, f"{what}, {count} and more,")
            yield entry

    def check_growth(self, n_bytes: int, what: str) -> None:
        """Refuse what the file can hardly hold; a part of it at a time may still fit into memory."""
        if problem := growth_problem(n_bytes, self.size, what):
            self.fail(problem)

    @contextmanager
    def open_bytes(self, *, text: bool = False, growth: int = 1) -> Iterator[BinaryIO]:
        """Open the file, unpacked if it is compressed; with ``text``, only if it holds what a text may.

        If a byte will take ``growth`` bytes of memory, a compressed file may hold that many times fewer.
        """
        with (
            self.path.open("rb") as file,
            UNPACKERS[self.packing](file) as stream,
            io.BufferedReader(_Bounded(self, stream, text=text, growth=growth), PIECE) as bounded,
        ):
            yield bounded

    @contextmanager
    def open_text(self, *, growth: int = 1) -> Iterator[TextIO]:
        """Open the file as text in UTF-8, with or without a byte order mark; line ends stay as they are."""
        with (
            self.open_bytes(text=True, growth=growth) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
        ):
            yield text


class _Bounded(io.RawIOBase):
    """Bytes of a source, until there are too many of them or, in a text, one that no text has."""

    def __init__(self, source: InputSource, stream: Any, *, text: bool, growth: int) -> None:
        self.source, self.stream, self.text = source, stream, text
        self.count, self.limit = 0, source.largest // growth

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(len(buffer))
        self.count += len(piece)
        if self.source.packing and self.count > self.limit:
            self.source.fail(
                f"unpacks to more than {self.limit} bytes, too many for its size, as only broken or hostile files "
                "do; if you trust it, unpack it first."
            )
        if self.text and b"\0" in piece:
            self.source.fail("expected text in UTF-8, got binary data or UTF-16; save it as UTF-8, or mend the suffix.")
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(path: Any, kind: str | None) -> Iterator[InputSource]:
    """Find out what a path stands for; the standard input is copied to a temporary file meanwhile."""
    checked = check_path(path, "path", "the name of a file or folder, or '-' for the standard input")
    if str(checked) != STANDARD_INPUT:
        yield _located(checked, str(path), kind)
        return
    if kind is None:
        msg = "path='-' is the standard input, which has no suffix: say its kind, such as 'csv', 'txt' or 'mtx.gz'."
        raise ValueError(msg)
    with tempfile.NamedTemporaryFile(prefix="cosep-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield _located(Path(copy.name), "standard input", kind)


def _is_empty(path: Path) -> bool:
    """Tell whether a file has no bytes; raise if it may not be read."""
    with path.open("rb") as file:
        return not file.read(1)


def _located(path: Path, name: str, kind: str | None) -> InputSource:
    try:
        mode = path.stat().st_mode
        empty = stat.S_ISREG(mode) and _is_empty(path)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        msg = f"{name}: cannot be opened ({what}); check the name and the permissions."
        raise InputError(msg) from error
    if stat.S_ISDIR(mode):
        return InputSource(path, name, "/", "")
    if not stat.S_ISREG(mode):
        msg = f"{name}: is no regular file; pipe it in with '-' as the path."
        raise InputError(msg)
    if empty:
        msg = f"{name}: is empty; expected data."
        raise InputError(msg)
    suffixes = Path(f"_.{kind}" if kind is not None else path.name).suffixes
    packing = suffixes.pop().lower() if suffixes and suffixes[-1].lower() in UNPACKERS else ""
    return InputSource(path, name, suffixes[-1].lower() if suffixes else "", packing)


def check_within(source: InputSource) -> None:
    """Refuse a folder with links that lead out of it, or with anything but files and folders."""
    folders = [os.fspath(source.path)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    check_inside(source, Path(entry.path))


def check_inside(source: InputSource, path: Path) -> None:
    """Refuse a path within a folder that is a link to something outside it, or neither a file nor a folder."""
    if path.is_symlink() and not path.resolve().is_relative_to(source.path.resolve()):
        where = path.relative_to(source.path)
        source.fail(f"{where} is a link that leads out of the folder; replace it by a copy of what it stands for.")
    if not path.is_file() and not path.is_dir():
        source.fail(f"{path.relative_to(source.path)} is no regular file; take it out of the folder.")


def fingerprint(path: Path) -> str:
    """Return what changes if a file, or any file of a folder, is moved, changes its size or is written again."""
    digest = hashlib.sha256(str(path.resolve()).encode(errors="surrogateescape"))
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            found = file.stat()
            digest.update(
                f"{file.relative_to(path)} {found.st_size} {found.st_mtime_ns};".encode(errors="surrogateescape")
            )
    return digest.hexdigest()
