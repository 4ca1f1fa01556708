"""Input files, folders and the standard input as checked streams of bytes or text.

Compressed files are decompressed while they are read, up to the limits of `cosep.utils.memory`. Errors are one sentence
that names the file.
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
MAX_MESSAGE = 2000
DECOMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {
    "": lambda file: file,
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": lambda file: optional("pyarrow", "reading .zst", "cli").CompressedInputStream(file, "zstd"),
}
BUFFER_SIZE = 1 << 16
# The size of what was read so far is checked after this many entries.
CHECK_EVERY = 1 << 10
# Memory counted for a line, even a blank one, so that a file cannot hold many millions of them.
BYTES_PER_LINE = 128
# Suffixes of folders and of files that are not text.
BINARY = ("/", ".npy", ".npz", ".mat", ".h5ad", ".parquet", ".pq", ".xlsx", ".xlsm")

Entry = TypeVar("Entry")


class InputError(ValueError):
    """A file is not valid. The message names it, says what is wrong and what to do.

    The message is one line without control characters, also if it quotes the file.
    """

    def __init__(self, message: object) -> None:
        super().__init__(one_line(message, MAX_MESSAGE))


@dataclass(frozen=True)
class InputSource:
    """A regular file, a folder, or a temporary copy of the standard input.

    Parameters
    ----------
    path : Path
        Path of the file or folder.
    name : str
        Name for messages.
    suffix : str
        The suffix that determines the format, such as ".csv", or "/" for a folder.
    compression : str
        The suffix of the compression, a key of ``DECOMPRESSORS``, or "".
    missing : str, optional
        Which entries may be missing: "nan" or "unstored". Default: None, no entry.
    """

    path: Path
    name: str
    suffix: str
    compression: str
    missing: str | None = None

    @cached_property
    def size(self) -> int:
        """Bytes on disk, for a folder those of all files in it."""
        if self.path.is_dir():
            return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
        return self.path.stat().st_size

    @property
    def max_size(self) -> int:
        """Most bytes that the contents can have."""
        return most_bytes(self.size) if self.compression else self.size

    def fail(self, message: str) -> NoReturn:
        """Raise an error about the file. The message says what is wrong and what to do."""
        msg = f"{self.name}: {message}"
        raise InputError(msg)

    @contextmanager
    def expecting(self, what: str) -> Iterator[None]:
        """Convert whatever a library raises on a damaged file into an `InputError` of one sentence."""
        try:
            yield
        except (InputError, ImportError):
            raise
        except MemoryError as error:
            msg = (
                f"{self.name}: {what} of this size does not fit into memory; read a part of it, or use a sparse format."
            )
            raise InputError(msg) from error
        except Exception as error:
            if isinstance(error, UnicodeDecodeError) and self.suffix not in BINARY:
                msg = (
                    f"{self.name}: expected {what} in UTF-8, but byte {error.object[error.start]:#04x} is not valid "
                    "there; save it as UTF-8 first, for example with iconv -t UTF-8."
                )
                raise InputError(msg) from error
            reason = one_line(error) or type(error).__name__
            msg = f"{self.name}: expected {what}, but it cannot be read ({reason}); is it truncated, or another format?"
            raise InputError(msg) from error

    def check_memory(self, n_bytes: int, what: str) -> None:
        """Raise if data would not fit into memory, or is too large for the size of the file."""
        if problem := memory_problem(n_bytes, self.size, what):
            self.fail(problem)

    def limited(self, entries: Iterable[Entry], each: int, what: str) -> Iterator[Entry]:
        """Yield entries; raise if there are too many for the size of the file, at ``each`` bytes of memory each."""
        for count, entry in enumerate(entries, 1):
            if count % CHECK_EVERY == 0:
                self.check_growth(each * count, f"{what}, {count} or more,")
            yield entry

    def check_growth(self, n_bytes: int, what: str) -> None:
        """Raise if data is too large for the size of the file, even if parts of it would fit into memory."""
        if problem := growth_problem(n_bytes, self.size, what):
            self.fail(problem)

    @contextmanager
    def open_bytes(self, *, text: bool = False, growth: int = 1) -> Iterator[BinaryIO]:
        """Open the file, and decompress it.

        Parameters
        ----------
        text : bool, default False
            Whether to raise for bytes that no text contains.
        growth : int, default 1
            Memory that a byte will take. It lowers the limit for the contents of a compressed file.
        """
        with (
            self.path.open("rb") as file,
            DECOMPRESSORS[self.compression](file) as stream,
            io.BufferedReader(_LimitedStream(self, stream, text=text, growth=growth), BUFFER_SIZE) as limited,
        ):
            yield limited

    @contextmanager
    def open_text(self, *, growth: int = 1) -> Iterator[TextIO]:
        """Open the file as text in UTF-8, with or without a byte order mark. Line ends are not changed."""
        with (
            self.open_bytes(text=True, growth=growth) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
        ):
            yield text


class _LimitedStream(io.RawIOBase):
    """The bytes of a source; raises if there are too many, or if a text has a zero byte."""

    def __init__(self, source: InputSource, stream: Any, *, text: bool, growth: int) -> None:
        self.source, self.stream, self.text = source, stream, text
        self.count, self.limit = 0, source.max_size // growth

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(len(buffer))
        self.count += len(piece)
        if self.source.compression and self.count > self.limit:
            self.source.fail(
                f"decompresses to more than {self.limit} bytes, too many for its size, as only damaged or hostile "
                "files do; if you trust it, decompress it first."
            )
        if self.text and b"\0" in piece:
            self.source.fail("expected text in UTF-8, got binary data or UTF-16; save it as UTF-8, or fix the suffix.")
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def open_source(path: Any, kind: str | None) -> Iterator[InputSource]:
    """Check a path and yield its source. The standard input is copied to a temporary file."""
    checked = check_path(path, "path", "the name of a file or folder, or '-' for the standard input")
    if str(checked) != STANDARD_INPUT:
        yield _source_at(checked, str(path), kind)
        return
    if kind is None:
        msg = "path='-' is the standard input, which has no suffix; pass kind=, such as 'csv', 'txt' or 'mtx.gz'."
        raise ValueError(msg)
    with tempfile.NamedTemporaryFile(prefix="cosep-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield _source_at(Path(copy.name), "standard input", kind)


def _is_empty(path: Path) -> bool:
    """Return whether a file has no bytes; raise OSError if it cannot be read."""
    with path.open("rb") as file:
        return not file.read(1)


def _source_at(path: Path, name: str, kind: str | None) -> InputSource:
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
        msg = f"{name}: is not a regular file; pipe it to the standard input, with '-' as the path."
        raise InputError(msg)
    if empty:
        msg = f"{name}: is empty; expected data."
        raise InputError(msg)
    suffixes = Path(f"_.{kind}" if kind is not None else path.name).suffixes
    compression = suffixes.pop().lower() if suffixes and suffixes[-1].lower() in DECOMPRESSORS else ""
    return InputSource(path, name, suffixes[-1].lower() if suffixes else "", compression)


def check_folder(source: InputSource) -> None:
    """Raise if a folder has links to something outside of it, or anything but files and folders."""
    folders = [os.fspath(source.path)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    check_folder_entry(source, Path(entry.path))


def check_folder_entry(source: InputSource, path: Path) -> None:
    """Raise if a path in a folder is a link to something outside of it, or neither a file nor a folder."""
    if path.is_symlink() and not path.resolve().is_relative_to(source.path.resolve()):
        where = path.relative_to(source.path)
        source.fail(f"{where} is a link to something outside the folder; replace it by a copy of its target.")
    if not path.is_file() and not path.is_dir():
        source.fail(f"{path.relative_to(source.path)} is not a regular file; remove it from the folder.")


def fingerprint(path: Path) -> str:
    """Return a hash of the path, sizes and times of a file, or of all files in a folder."""
    digest = hashlib.sha256(str(path.resolve()).encode(errors="surrogateescape"))
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            found = file.stat()
            digest.update(
                f"{file.relative_to(path)} {found.st_size} {found.st_mtime_ns};".encode(errors="surrogateescape")
            )
    return digest.hexdigest()
