"""Check of the chunks of a Zarr array of text, before they are decoded."""

import json
from pathlib import Path
from typing import Any

from cosep.utils.extras import optional

TEXT = "vlen-utf8"
# Compressors that need no parameters to decompress.
COMPRESSORS = {"blosc", "gzip", "zstd"}


def check_text_chunks(path: Path, array: Any) -> None:
    """Raise ValueError if a chunk claims to hold more texts than a chunk has.

    The first four bytes of a chunk are the number of its texts. numcodecs takes memory for that number before it looks
    at the texts: up to 32 GB for a few damaged bytes.

    Parameters
    ----------
    path : Path
        The folder of the array.
    array : zarr.Array
        With one dimension. Arrays without text of variable length, and those that are compressed in an unusual way,
        are not checked.
    """
    codecs = _compressors(path)
    if codecs is None:
        return
    for number in range(array.nchunks):
        file = path / array.metadata.encode_chunk_key((number,))
        data: Any = file.read_bytes() if file.is_file() else b""
        for codec in codecs if data else ():
            data = codec.decode(data)
        if int.from_bytes(bytes(data[:4]), "little") > array.chunks[0]:
            msg = f"a chunk of {path.name} claims more texts than it can hold"
            raise ValueError(msg)


def _compressors(path: Path) -> list[Any] | None:
    """Return what decompresses the chunks of an array of text, in order; None for other arrays."""
    if (path / "zarr.json").is_file():
        first, *names = [codec["name"] for codec in json.loads((path / "zarr.json").read_bytes())["codecs"]]
        is_text = first == TEXT
    else:
        metadata = json.loads((path / ".zarray").read_bytes())
        is_text = [codec["id"] for codec in metadata["filters"] or []] == [TEXT]
        names = [] if metadata["compressor"] is None else [metadata["compressor"]["id"]]
    if not is_text or not COMPRESSORS.issuperset(names):
        return None
    numcodecs = optional("numcodecs", "reading a Zarr store", "dask")
    return [numcodecs.get_codec({"id": name}) for name in reversed(names)]
