"""A path enters; streams of its bytes or its text leave, or one sentence that says what is wrong with it.

A compressed file is unpacked while it is read. It is refused once it has grown beyond both `LARGEST_UNPACKED` bytes and
`LARGEST_RATIO` times its size on disk: what honest data rarely is, and what a bomb must be.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from cosep.io.extras import optional
from cosep.paths import check_path

STANDARD_INPUT = "-"
LARGEST_UNPACKED = 1 << 30
LARGEST_RATIO = 200
UNPACKERS: dict[str, Callable[[BinaryIO], Any]] = {
    "": lambda file: file,
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": lambda file: optional("pyarrow", "reading .zst", "cli").CompressedInputStream(file, "zstd"),
}
PIECE = 1 << 16


class InputError(ValueError):
    """A file is not what it should be; the message names it, what is wrong and the way out."""


@dataclass(frozen=True)
class Source:
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

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    @property
    def largest(self) -> int:
        """How many bytes the contents can have at most."""
        return max(LARGEST_UNPACKED, LARGEST_RATIO * self.size) if self.packing else self.size

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
        except UnicodeDecodeError as error:
            msg = (
                f"{self.name}: expected {what} in UTF-8, but byte {error.object[error.start]:#04x} does not belong "
                "there; save it as UTF-8 first, for example with iconv -t UTF-8."
            )
            raise InputError(msg) from error
        except MemoryError as error:
            msg = f"{self.name}: {what} of this size does not fit into memory; read a part of it, or keep it sparse."
            raise InputError(msg) from error
        except Exception as error:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            msg = f"{self.name}: expected {what}, but it cannot be read ({reason}); is it cut short or another format?"
            raise InputError(msg) from error

    def check_memory(self, n_bytes: int, what: str) -> None:
        """Refuse what would not fit into the memory of this machine, or what the file can hardly hold."""
        if n_bytes > LARGEST_UNPACKED and n_bytes > LARGEST_RATIO * self.size:
            self.fail(f"{what} would take {n_bytes:.3g} bytes, from a file of {self.size}; is the file sound?")
        if hasattr(os, "sysconf") and n_bytes > (memory := os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")):
            self.fail(f"{what} would take {n_bytes:.3g} bytes, while this machine has {memory:.3g}; take a part of it.")

    @contextmanager
    def open_bytes(self, *, text: bool = False) -> Iterator[BinaryIO]:
        """Open the file, unpacked if it is compressed; with ``text``, only if it holds what a text may."""
        with (
            self.path.open("rb") as file,
            UNPACKERS[self.packing](file) as stream,
            io.BufferedReader(_Bounded(self, stream, text=text), PIECE) as bounded,
        ):
            yield bounded

    @contextmanager
    def open_text(self) -> Iterator[TextIO]:
        """Open the file as text in UTF-8, with or without a byte order mark; line ends stay as they are."""
        with self.open_bytes(text=True) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text


class _Bounded(io.RawIOBase):
    """Bytes of a source, until there are too many of them or, in a text, one that no text has."""

    def __init__(self, source: Source, stream: Any, *, text: bool) -> None:
        self.source, self.stream, self.text = source, stream, text
        self.count, self.limit = 0, source.largest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(len(buffer))
        self.count += len(piece)
        if self.source.packing and self.count > self.limit:
            self.source.fail(
                f"unpacks to more than {self.limit} bytes, over {LARGEST_RATIO} times its size, as only broken or "
                "hostile files do; if you trust it, unpack it first."
            )
        if self.text and b"\0" in piece:
            self.source.fail("expected text in UTF-8, got binary data or UTF-16; save it as UTF-8, or mend the suffix.")
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(path: Any, kind: str | None) -> Iterator[Source]:
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


def _located(path: Path, name: str, kind: str | None) -> Source:
    try:
        mode = path.stat().st_mode
        empty = stat.S_ISREG(mode) and _is_empty(path)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        msg = f"{name}: cannot be opened ({what}); check the name and the permissions."
        raise InputError(msg) from error
    if stat.S_ISDIR(mode):
        return Source(path, name, "/", "")
    if not stat.S_ISREG(mode):
        msg = f"{name}: is no regular file; pipe it in with '-' as the path."
        raise InputError(msg)
    if empty:
        msg = f"{name}: is empty; expected data."
        raise InputError(msg)
    suffixes = Path(f"_.{kind}" if kind is not None else path.name).suffixes
    packing = suffixes.pop().lower() if suffixes and suffixes[-1].lower() in UNPACKERS else ""
    return Source(path, name, suffixes[-1].lower() if suffixes else "", packing)


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
