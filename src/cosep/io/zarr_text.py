"""Check of the chunks of a Zarr array of text, before they are decoded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosep.utils.extras import optional

TEXT, SHARDS = "vlen-utf8", "sharding_indexed"
# Compressors that need no parameters to decompress.
COMPRESSORS = {"blosc", "gzip", "zstd"}
# The index of a shard, as Zarr writes it by default: offset and size of each chunk, and a checksum of four bytes.
SHARD_INDEX = ["bytes", "crc32c"]
NO_CHUNK = np.iinfo(np.uint64).max


class TextLayout(NamedTuple):
    """How the chunks of an array of text are stored.

    Attributes
    ----------
    compressors : list of str
        Names of the compressors, in the order in which chunks are decompressed.
    in_shards : bool
        Whether a file holds several chunks.
    """

    compressors: list[str]
    in_shards: bool


def check_text_chunks(path: Path, array: Any) -> None:
    """Raise ValueError if a chunk claims to hold more texts than a chunk has.

    The first four bytes of a chunk are the number of its texts. numcodecs takes memory for that number before it looks
    at the texts: up to 32 GB for a few damaged bytes.

    Parameters
    ----------
    path : Path
        The folder of the array.
    array : zarr.Array
        With one dimension. Arrays without text of variable length, and those that are stored in an unusual way, are not
        checked.
    """
    layout = _text_layout(path)
    if layout is None:
        return
    numcodecs = optional("numcodecs", "reading a Zarr store", "dask")
    codecs = [numcodecs.get_codec({"id": name}) for name in layout.compressors]
    for chunk in _stored_chunks(path, array, in_shards=layout.in_shards):
        data: Any = chunk
        for codec in codecs:
            data = codec.decode(data)
        if int.from_bytes(bytes(data[:4]), "little") > array.chunks[0]:
            msg = f"a chunk of {path.name} claims more texts than it can hold"
            raise ValueError(msg)


def _stored_chunks(path: Path, array: Any, *, in_shards: bool) -> Iterator[bytes]:
    """Yield the bytes of every chunk that is stored."""
    length = (array.shards if in_shards else array.chunks)[0]
    n_chunks = length // array.chunks[0]
    for number in range(-(-array.shape[0] // length)):
        file = path / array.metadata.encode_chunk_key((number,))
        data = file.read_bytes() if file.is_file() else b""
        if not in_shards:
            yield from [data] if data else []
        elif data:
            index = np.frombuffer(data[-16 * n_chunks - 4 : -4], dtype="<u8").reshape(n_chunks, 2)
            yield from (data[start : start + size] for start, size in index.tolist() if start != NO_CHUNK)


def _text_layout(path: Path) -> TextLayout | None:
    """Return how an array of text is stored; None for other arrays, and for layouts that are not checked."""
    if (path / "zarr.json").is_file():
        codecs = json.loads((path / "zarr.json").read_bytes())["codecs"]
        in_shards = codecs[0]["name"] == SHARDS
        if in_shards:
            settings = codecs[0]["configuration"]
            index = [codec["name"] for codec in settings["index_codecs"]]
            if len(codecs) > 1 or index != SHARD_INDEX or settings.get("index_location", "end") != "end":
                return None
            codecs = settings["codecs"]
        first, *names = [codec["name"] for codec in codecs]
        layout = TextLayout(names[::-1], in_shards)
        is_text = first == TEXT
    else:
        metadata = json.loads((path / ".zarray").read_bytes())
        is_text = [codec["id"] for codec in metadata["filters"] or []] == [TEXT]
        layout = TextLayout([] if metadata["compressor"] is None else [metadata["compressor"]["id"]], in_shards=False)
    return layout if is_text and COMPRESSORS.issuperset(layout.compressors) else None
