"""Check of the metadata of Zarr arrays and groups: which codecs may decode their chunks.

A store names the codecs that decode it, and some codecs that can be installed execute what is stored. So only codecs
that are known to be harmless are allowed, wherever in the metadata Zarr would find them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

COMPRESSORS = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")
CHECKSUMS = ("adler32", "crc32", "crc32c", "fletcher32")
FILTERS = ("bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle", "vlen-utf8")
SHARDING = "sharding_indexed"
# Format 3 has its own codecs, and allows those of numcodecs under a longer name.
ALLOWED = {
    2: {*COMPRESSORS, *CHECKSUMS, *FILTERS},
    3: {
        *("blosc", "bytes", "crc32c", "gzip", SHARDING, "transpose", "vlen-utf8", "zstd"),
        *(f"numcodecs.{name}" for name in (*COMPRESSORS, *CHECKSUMS, *FILTERS)),
    },
}
CHUNK_KEYS = ("default", "v2")


def codec_problem(metadata: Any) -> str:
    """Return why the metadata of a node is not safe to use, or "" if it is.

    Parameters
    ----------
    metadata : parsed JSON
        Of ``zarr.json``, ``.zarray``, ``.zgroup`` or ``.zmetadata``.
    """
    for node in _nodes(metadata):
        kind = 3 if node.get("zarr_format") == 3 else 2
        for name in _codecs_3(node.get("codecs")) if kind == 3 else _codecs_2(node):
            if not isinstance(name, str) or name not in ALLOWED[kind]:
                return f"it is encoded by {str(name)[:50]!r:.80}, which is not one of the safe codecs"
        if kind == 2 and "O" in str(node.get("dtype", "")) and "vlen-utf8" not in _codecs_2(node):
            return "it holds Python objects, which are not safe to read"
        if kind == 3 and node.get("storage_transformers"):
            return "it has storage transformers, which are not safe to read"
        keys = node.get("chunk_key_encoding")
        if kind == 3 and keys is not None and _name(keys) not in CHUNK_KEYS:
            return "it names its chunks by an unknown rule"
    return ""


def _nodes(metadata: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the metadata of a node, and the copies of the metadata of all nodes below it."""
    if not isinstance(metadata, Mapping):
        return
    yield metadata
    # Format 2 stores the copies in ``.zmetadata``, format 3 in ``zarr.json``.
    for copies in (metadata.get("metadata"), metadata.get("consolidated_metadata")):
        if isinstance(copies, Mapping):
            inner = copies.get("metadata", copies)
            for node in inner.values() if isinstance(inner, Mapping) else ():
                yield from _nodes(node)


def _name(codec: Any) -> Any:
    return codec.get("name") if isinstance(codec, Mapping) else codec


def _codecs_3(codecs: Any) -> Iterator[Any]:
    """Yield the names of codecs, also of those inside shards."""
    for codec in () if codecs is None else codecs:
        yield _name(codec)
        if isinstance(codec, Mapping) and isinstance(inner := codec.get("configuration"), Mapping):
            for part in ("codecs", "index_codecs"):
                yield from _codecs_3(inner.get(part))


def _codecs_2(node: Mapping[str, Any]) -> list[Any]:
    """Return the names of the compressor and the filters."""
    parts = [node.get("compressor"), node.get("object_codec"), *(node.get("filters") or ())]
    return [part.get("id") if isinstance(part, Mapping) else part for part in parts if part is not None]
