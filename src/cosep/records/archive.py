"""Named arrays in one ``.npz`` file. Nothing in a file is executed when it is read."""

import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.utils.atomic import replacing

# Level of compression; higher levels hardly make floats smaller.
COMPRESSION_LEVEL = 1
FIRST_SURROGATE, LAST_SURROGATE, LAST_CHARACTER = 0xD800, 0xDFFF, 0x10FFFF


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the arrays to a file with exactly this name; it appears only when it is complete."""
    with (
        replacing(path) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive,
    ):
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


class ArrayHeader(NamedTuple):
    """Shape and type that a file declares for an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def n_bytes(self) -> int:
        """Size in the file, before compression."""
        return self.n_entries * self.dtype.itemsize

    @property
    def n_bytes_used(self) -> int:
        """Size in memory, where all numbers but float32 become float64."""
        return self.n_entries * (self.dtype.itemsize if self.dtype == np.float32 else max(8, self.dtype.itemsize))

    @property
    def is_numeric(self) -> bool:
        """Whether it holds real numbers."""
        return self.dtype.kind in "fiub"


def array_headers(path: Path, known: Collection[str] | None = None) -> dict[str, ArrayHeader]:
    """Return the headers of the arrays of a file; raise ValueError for wrong sizes or names that are not known."""
    headers: dict[str, ArrayHeader] = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in headers or not info.filename.endswith(".npy") or (known is not None and name not in known):
                msg = f"unexpected entry {info.filename!r}"
                raise ValueError(msg)
            headers[name] = _header(archive, info)
    return headers


def read_arrays(path: Path, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Read arrays of a file that `array_headers` has checked."""
    with zipfile.ZipFile(path) as archive:
        return {name: _read_member(archive, f"{name}.npy") for name in names}


def _read_member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
    if not is_unicode(array):
        msg = f"{name} holds text that is not valid Unicode"
        raise ValueError(msg)
    return array


def is_unicode(array: NDArray[Any]) -> bool:
    """Return whether an array of text is valid Unicode: no lone surrogates, no characters beyond the range."""
    if array.dtype.kind != "U" or not array.nbytes:
        return True
    points = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.byteorder}u4")
    return bool((points < FIRST_SURROGATE).all()) or bool(
        ((points <= LAST_CHARACTER) & ((points < FIRST_SURROGATE) | (points > LAST_SURROGATE))).all()
    )


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader:
    """Return the header of an array; raise ValueError for objects, or if its size is not that of the entry."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = readers[version](member)
        header = ArrayHeader(shape, dtype)
        size = member.tell() + header.n_bytes
    if dtype.hasobject or size != info.file_size:
        msg = f"{info.filename} does not hold the array that it announces"
        raise ValueError(msg)
    return header
