"""Script that reads one matrix of an ``.h5ad`` file, with the names of its rows and columns, in a process of its own.

The HDF5 library can hang, or crash its process, on a damaged file. So `cosep.io.child_process` runs this file as a
script, with limits on time and memory. The script imports nothing of the package. It opens only what was asked for,
and checks every object first: no links to other files, no data stored in other files, and no filters that HDF5 would
load as plug-ins.

Every message to the parent is one byte for its kind, its length, and its body: JSON or a piece of an array.
"""

import json
import os
import signal
import struct
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

import h5py
import numpy as np
from numpy.typing import NDArray

MESSAGE_HEADER = struct.Struct("<cQ")
JSON, DATA = b"J", b"D"
RAW = "raw"
# Filters that are part of HDF5 and h5py: gzip, shuffle, Fletcher's checksum, szip, n-bit, scale and offset, lzf.
BUILT_IN_FILTERS = (1, 2, 3, 4, 5, 6, 32000)
MAX_SOFT_LINKS = 16
# Bytes that are read at a time, and most characters of all names together.
PIECE, MAX_NAME_CHARACTERS = 1 << 24, 1 << 30
# Memory for a stored entry of a sparse matrix with its index, and for the name and pointer of a row or column.
BYTES_PER_ENTRY, BYTES_PER_NAME = 20, 64
# Memory for reading, in addition to the data.
OVERHEAD = 1 << 30


class InvalidFileError(Exception):
    """The file is not valid. The message is for the user and says what to do."""


def main() -> None:
    """Answer the request on the standard input."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    request = json.loads(sys.stdin.buffer.readline())
    limit(request["seconds"], request["bytes"])
    serve(request, sys.stdin.buffer, sys.stdout.buffer)


def limit(seconds: int, n_bytes: int) -> None:
    """Limit the processor time and the memory of this process."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime) + 1 + seconds,
    }
    if os.path.exists("/proc/self/statm"):  # noqa: PTH110 - one module less to load
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - as above
            limits[resource.RLIMIT_AS] = int(file.read().split()[0]) * resource.getpagesize() + OVERHEAD + n_bytes
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def serve(request: dict[str, Any], asking: BinaryIO, answers: BinaryIO) -> None:
    """Send which matrices there are, wait for the choice, and send the size of the chosen one.

    Then wait for the request to go on, and send its layout, its names and its numbers.
    """
    try:
        with h5py.File(request["path"], "r") as file:
            adata = AnnDataFile(file)
            send_json(answers, adata.matrices(request["layer"]))
            if not (choice := asking.readline()):
                return
            adata.choose(**json.loads(choice))
            send_json(answers, {"bytes": adata.n_bytes()})
            if not asking.readline():
                return
            send_json(answers, adata.facts(request["labels"]))
            for part in adata.parts:
                for piece in pieces(part):
                    send(answers, DATA, np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
    except InvalidFileError as error:
        send_json(answers, {"invalid": str(error)})
    except BrokenPipeError:
        return
    except MemoryError:
        send_json(answers, {"error": "it needs more memory than a file of this size should need"})
    except Exception as error:  # noqa: BLE001 - a damaged file can make HDF5 raise anything
        send_json(answers, {"error": f"{error}"[:1000] or type(error).__name__})


def send_json(stream: BinaryIO, facts: dict[str, Any]) -> None:
    """Send a message of JSON."""
    send(stream, JSON, json.dumps(facts).encode())


def send(stream: BinaryIO, kind: bytes, body: Any) -> None:
    """Send one message."""
    stream.write(MESSAGE_HEADER.pack(kind, len(body)))
    stream.write(body)
    stream.flush()


class AnnDataFile:
    """The parts of an AnnData on disk that were asked for."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.layers = child(file, "layers")
        # Versions before 0.7 stored the raw matrix as "raw.X" and "raw.var".
        self.raw = child(file, RAW) if child(file, "raw.X") is None else None
        self.raw_X = child(file, "raw.X") if self.raw is None else child(self.raw, "X")
        self.is_raw = False

    def matrices(self, layer: str | None) -> dict[str, Any]:
        """Return which matrices there are: layers by name, the raw matrix, and X if no layer is wanted."""
        X = child(self.file, "X") if layer is None else None
        return {
            "has_X": X is not None and text_attribute(X, "encoding-type") != "null",
            "layers": [] if self.layers is None else list(self.layers),
            "has_raw": self.raw_X is not None,
        }

    def choose(self, layer: str | None, *, is_raw: bool) -> None:
        """Take the raw matrix, X if ``layer`` is None, or a layer."""
        self.is_raw = is_raw
        matrix = self.raw_X if is_raw else child(self.file, "X") if layer is None else child(self.layers, layer)
        self.kind, self.shape, self.parts = parts_of(matrix)

    def n_bytes(self) -> int:
        """Return the size of the matrix in memory."""
        data = self.parts[0]
        each = (
            BYTES_PER_ENTRY if self.kind != "dense" else 4 if data.dtype == np.float32 else max(8, data.dtype.itemsize)
        )
        return int(each * data.size + BYTES_PER_NAME * sum(self.shape))

    def facts(self, labels: str | None) -> dict[str, Any]:
        """Return the layout of the matrix, the names of its rows and columns, and the labels."""
        obs, var = child(self.file, "obs"), child(self.file, "var")
        if self.is_raw:
            var = child(self.file, "raw.var") if self.raw is None else child(self.raw, "var")
        return {
            "kind": self.kind,
            "shape": self.shape,
            "parts": [{"dtype": part.dtype.str, "shape": part.shape} for part in self.parts],
            "rows": index_of(obs, self.shape[0]),
            "cols": index_of(var, self.shape[1]),
            "labels": None if labels is None else self.label_column(obs, labels),
        }

    def label_column(self, obs: Any, labels: str) -> list[str]:
        """Return a column of obs as text."""
        columns = columns_of(obs)
        if labels not in columns:
            fail(
                f"labels={labels!r:.80} is not a column of obs; the columns are: {', '.join(map(repr, columns)):.200}."
            )
        if isinstance(obs, h5py.Group):
            return column(obs, labels)
        codes = obs[labels]
        uns = child(self.file, "uns")
        names = None if uns is None else child(uns, f"{labels}_categories")
        if names is None or codes.dtype.kind not in "iu" or (codes >= names.size).any():
            return as_text(codes)
        return coded(codes, texts(names))


def child(parent: Any, name: str, followed: int = 0) -> Any:
    """Return an object of a group by its name, or None if there is none; raise for links to other files."""
    try:
        link = parent.get(name, getlink=True)
    except TypeError:
        link = "of a kind that HDF5 does not know"
    if link is None:
        return None
    if isinstance(link, h5py.SoftLink) and followed < MAX_SOFT_LINKS:
        found = parent.file if link.path.startswith("/") else parent
        for step in link.path.strip("/").split("/"):
            found = None if found is None else child(found, step, followed + 1)
        return found
    if not isinstance(link, h5py.HardLink):
        fail(f"{name!r:.80} is a link to another file, or to nothing; copy its target into the file.")
    return checked(parent.get(name), name)


def checked(found: Any, name: str) -> Any:
    """Return an object; raise for a dataset with data in other files, or with filters that are plug-ins."""
    if isinstance(found, h5py.Dataset):
        made = found.id.get_create_plist()
        if made.get_external_count() or made.get_layout() == h5py.h5d.VIRTUAL:
            fail(f"{name!r:.80} stores its data in other files; copy the data into this one.")
        filters = {made.get_filter(i)[0] for i in range(made.get_nfilters())}
        if others := filters - set(BUILT_IN_FILTERS):
            fail(
                f"{name!r:.80} is compressed by an HDF5 plug-in (filter {max(others)}); write the file again with "
                "compression='gzip'."
            )
    elif not isinstance(found, h5py.Group):
        fail(f"{name!r:.80} is neither a group nor a dataset; write the file again.")
    return found


def parts_of(matrix: Any) -> tuple[str, tuple[int, int], list[Any]]:
    """Return "dense", "csr" or "csc", the shape, and the datasets that hold the matrix."""
    if isinstance(matrix, h5py.Dataset):
        kind, parts, shape = "dense", [matrix], matrix.shape
    else:
        kind = text_attribute(matrix, "encoding-type") or text_attribute(matrix, "h5sparse_format") or "no matrix"
        kind = kind.removesuffix("_matrix")
        if kind not in {"csr", "csc"}:
            fail(f"expected a matrix, dense or sparse, got {kind!r:.80}; name another layer.")
        shape = tuple(int(size) for size in matrix.attrs.get("shape", matrix.attrs.get("h5sparse_shape")))
        parts = [child(matrix, name) for name in ("data", "indices", "indptr")]
    for part in parts:
        if not isinstance(part, h5py.Dataset) or part.shape is None or part.dtype.kind not in "fiub":
            fail(f"expected real numbers, got {getattr(part, 'dtype', 'none')}; convert them first.")
        if part.ndim != (2 if kind == "dense" else 1):
            fail(f"expected a matrix, got an array of {part.ndim} dimensions with shape {part.shape}; reshape it.")
    if len(shape) != 2:
        fail(f"expected a matrix, got shape {shape}; reshape it.")
    return kind, shape, parts


def pieces(part: Any) -> Iterator[NDArray[Any]]:
    """Yield a dataset in pieces of whole chunks."""
    if not part.size:
        return
    row = part.dtype.itemsize * part.size // len(part)
    chunk = part.chunks[0] if part.chunks else 1
    step = max(1, PIECE // (row * chunk)) * chunk
    for start in range(0, len(part), step):
        yield part[start : start + step]


def index_of(frame: Any, count: int) -> list[str]:
    """Return the names of rows or columns."""
    if frame is None:
        return [str(i) for i in range(count)]
    if isinstance(frame, h5py.Dataset):
        return as_text(frame[frame.dtype.names[0]])
    return column(frame, text_attribute(frame, "_index") or "_index")


def columns_of(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame."""
    if frame is None:
        return []
    if isinstance(frame, h5py.Dataset):
        return list(frame.dtype.names[1:])
    index = text_attribute(frame, "_index") or "_index"
    return [name for name in frame if name not in {index, "__categories"}]


def column(frame: Any, name: str) -> list[str]:
    """Return a column of a data frame as text."""
    found = child(frame, name)
    if isinstance(found, h5py.Dataset):
        # Versions before 0.8 store a reference to the categories.
        reference = found.attrs.get("categories")
        return texts(found) if reference is None else coded(found[()], texts(checked(found.parent[reference], name)))
    kind = None if found is None else text_attribute(found, "encoding-type")
    if kind == "categorical":
        return coded(child(found, "codes")[()], texts(child(found, "categories")))
    if kind is not None and kind.startswith("nullable-"):
        values, missing = texts(child(found, "values")), child(found, "mask")[()]
        return ["<NA>" if is_missing else value for value, is_missing in zip(values, missing, strict=True)]
    return fail(f"expected a column of names in {name!r:.80}, got {kind or 'nothing'}; write the file again.")


def coded(codes: NDArray[Any], names: list[str]) -> list[str]:
    """Return the names of category codes; negative codes are missing values."""
    if (codes >= len(names)).any():
        fail(f"has codes up to {codes.max()} for {len(names)} categories; write the file again.")
    return [names[code] if code >= 0 else "nan" for code in codes.tolist()]


def texts(found: Any) -> list[str]:
    """Return the entries of a dataset as text."""
    if not isinstance(found, h5py.Dataset) or found.shape is None or found.ndim > 1:
        fail("has names that are not a list of text; write the file again.")
    if found.ndim == 0:
        return as_text(np.atleast_1d(found[()]))
    names: list[str] = []
    length = 0
    for piece in pieces(found):
        names += as_text(piece)
        length += sum(map(len, names[-len(piece) :]))
        if length > MAX_NAME_CHARACTERS:
            fail(f"has names of more than {MAX_NAME_CHARACTERS} characters together; shorten them.")
    return names


def as_text(values: NDArray[Any]) -> list[str]:
    """Return the entries as text, numbers as Python prints them."""
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def text_attribute(node: Any, name: str) -> str | None:
    """Return an attribute that should be text."""
    value = node.attrs.get(name)
    return value.decode() if isinstance(value, bytes) else None if value is None else str(value)


def fail(message: str) -> NoReturn:
    """Raise InvalidFileError."""
    raise InvalidFileError(message)


if __name__ == "__main__":
    main()
