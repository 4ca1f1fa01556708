"""Named arrays enter, one ``.npz`` file leaves, and the other way round; nothing in a file is ever executed."""

import os
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the arrays under exactly this name, and only once they are complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(path: Path, known: Collection[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file that holds none but known ones, trusting no size that the file does not hold."""
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        for info in members:
            name = info.filename.removesuffix(".npy")
            if name not in known or name in arrays or not info.filename.endswith(".npy"):
                msg = f"unexpected entry {info.filename!r}"
                raise ValueError(msg)
            _check_member(archive, info)
            with archive.open(info) as member:
                arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
    return arrays


def _check_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Refuse objects, and an array that announces another size than its entry has."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = readers[version](member)
        size = member.tell() + int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.hasobject or size != info.file_size:
        msg = f"{info.filename} does not hold the array that it announces"
        raise ValueError(msg)
