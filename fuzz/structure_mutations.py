"""Changes to the structure of an input: cells of a table, headers, entries of an archive, nodes of HDF5 and Zarr.

What is changed stays readable for the layer below: an archive has right checksums, a compressed text is compressed
again. So the change gets as far as the code that has to judge it.
"""

import bz2
import gzip
import json
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa

from fuzz.binary_changes import archive_of, array_of, hdf5_of, matlab_of, parquet_of
from fuzz.mutations import bytes_of, escaped, json_of
from fuzz.seeds import PACKERS, Files
from fuzz.text_changes import json_lines_of, lines_of, market_of, table_of, tabs_of
from fuzz.traps import EXECUTED, SECRET_ARRAY, SECRET_TEXT, Payload

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


def structure_of(random: Random, files: Files, folder: Path) -> dict[str, bytes]:
    """Return the files of an input with the structure of one of them changed.

    Links to files beside the input, which hold secrets, are made in ``folder`` right away.
    """
    changed = dict(files)
    name = random.choice(sorted(changed))
    if len(changed) > 1 and random.random() < 0.6:
        whole: Callable[..., None] = random.choice((_drop, _rename, _double, _empty, _link_out, _chunk))
        if not any(Path(one).name in METADATA for one in changed) or random.random() < 0.3:
            whole(random, changed, name, folder)
            return changed
        name = random.choice([one for one in sorted(changed) if Path(one).name in METADATA])
    changed[name] = file_of(random, name, changed[name], folder)
    return changed


def file_of(random: Random, name: str, data: bytes, folder: Path) -> bytes:
    """Return one file with its structure changed, or some bytes where its format is not known here."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in PACKERS else ""
    if packing:
        return PACKERS[packing](_changed(random, suffixes[-1], unpack(packing, data), folder))
    kind = Path(name).name if Path(name).name in METADATA else (suffixes or [""])[-1]
    return _changed(random, kind, data, folder)


def unpack(packing: str, data: bytes) -> bytes:
    """Return the contents of a compressed file."""
    if packing == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    return {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[packing](data)


def _changed(random: Random, kind: str, data: bytes, folder: Path) -> bytes:
    """Change the structure; what the writer of a format refuses to write gets other bytes instead."""
    if kind in CHANGES:
        try:
            return CHANGES[kind](random, data, folder)
        except Exception:  # noqa: BLE001 - writers refuse in many ways
            return bytes_of(random, data)
    return bytes_of(random, data)


def _json(random: Random, data: bytes, _: Path) -> bytes:
    """Change metadata of Zarr; sometimes the codecs above all."""
    if random.random() < 0.6:
        return json_of(random, data.decode()).encode("utf-8", "surrogatepass")
    found = json.loads(data)
    filters = (
        {"id": "pickle", "protocol": 5},
        {"name": "numcodecs.pickle", "configuration": {"protocol": 5}},
        {"name": "bytes", "configuration": {"endian": "big"}},
        {"name": "gzip", "configuration": {"level": 1 << 40}},
        {"id": "json2", "strict": True, "encoding": "utf-8"},
        {"name": "transpose", "configuration": {"order": [1, 0, 7]}},
        {"id": "blosc", "cname": "zstd", "clevel": 9, "shuffle": 7},
        {"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1], "codecs": [], "index_codecs": []}},
    )
    key = random.choice(("filters", "compressor")) if "compressor" in found else "codecs"
    many = [random.choice(filters) for _ in range(random.choice((1, 2)))]
    old = found.get(key)
    found[key] = many[0] if key == "compressor" else [*(old if isinstance(old, list) else []), *many]
    if random.random() < 0.3:
        random.shuffle(found[key]) if isinstance(found[key], list) else None
    return escaped(random, json.dumps(found)).encode()


def _drop(_random: Random, files: dict[str, bytes], name: str, _: Path) -> None:
    del files[name]


def _rename(random: Random, files: dict[str, bytes], name: str, _: Path) -> None:
    files[f"{name}{random.choice(('x', '.txt', ' ', '.npy'))}"] = files.pop(name)


def _double(random: Random, files: dict[str, bytes], name: str, _: Path) -> None:
    path = Path(name)
    files[str(path.with_name(f"{random.choice(('0', 'z', '.', '10'))}{path.name}"))] = files[name]


def _empty(_random: Random, files: dict[str, bytes], name: str, _: Path) -> None:
    files[name] = b""


def _chunk(random: Random, files: dict[str, bytes], name: str, folder: Path) -> None:
    """Store a pickled object, or another file of the input."""
    payload = pickle.dumps(Payload(folder / EXECUTED))
    files[name] = random.choice((payload, files[random.choice(sorted(files))]))


def _link_out(random: Random, files: dict[str, bytes], name: str, folder: Path) -> None:
    """Put a symbolic link to a secret file in the place of a file."""
    del files[name]
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    secret = SECRET_TEXT if name.endswith(".txt") else SECRET_ARRAY
    place.symlink_to(folder.parent / random.choice((secret, secret, "nowhere")))


CHANGES: dict[str, Callable[[Random, bytes, Path], bytes]] = {
    ".csv": table_of,
    ".tsv": tabs_of,
    ".txt": lines_of,
    ".jsonl": json_lines_of,
    ".mtx": market_of,
    ".npy": array_of,
    ".npz": archive_of,
    ".parquet": parquet_of,
    ".mat": matlab_of,
    ".h5ad": hdf5_of,
    **dict.fromkeys(METADATA, _json),
}
