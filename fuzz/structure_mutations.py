"""Mutations of the structure of an input: cells of a table, headers, entries of an archive, nodes of HDF5 and Zarr.

The result stays readable for the container format: an archive has correct checksums, a compressed text is compressed
again. So the change reaches the code that has to detect it.
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

from fuzz.binary_mutations import mutate_archive, mutate_array, mutate_hdf5, mutate_matlab, mutate_parquet
from fuzz.canaries import CANARY_ARRAY, CANARY_TEXT, EXECUTED, Payload
from fuzz.corpus import COMPRESSORS, Files
from fuzz.mutations import mutate_bytes, mutate_json, with_escapes
from fuzz.text_mutations import mutate_csv, mutate_json_lines, mutate_lines, mutate_matrix_market, mutate_tsv

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


def mutate_structure(random: Random, files: Files, folder: Path) -> dict[str, bytes]:
    """Return the files of an input, one of them with a changed structure.

    Symbolic links to canary files are created in ``folder`` at once.
    """
    changed = dict(files)
    name = random.choice(sorted(changed))
    if len(changed) > 1 and random.random() < 0.6:
        change_files: Callable[..., None] = random.choice((_drop, _rename, _double, _empty, _link_out, _chunk))
        if not any(Path(one).name in METADATA for one in changed) or random.random() < 0.3:
            change_files(random, changed, name, folder)
            return changed
        name = random.choice([one for one in sorted(changed) if Path(one).name in METADATA])
    changed[name] = mutate_file(random, name, changed[name], folder)
    return changed


def mutate_file(random: Random, name: str, data: bytes, folder: Path) -> bytes:
    """Return one file with a changed structure, or with changed bytes if its format has no mutation."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSORS else ""
    if compression:
        return COMPRESSORS[compression](_changed(random, suffixes[-1], decompress(compression, data), folder))
    kind = Path(name).name if Path(name).name in METADATA else (suffixes or [""])[-1]
    return _changed(random, kind, data, folder)


def decompress(compression: str, data: bytes) -> bytes:
    """Return the contents of a compressed file."""
    if compression == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    return {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[compression](data)


def _changed(random: Random, kind: str, data: bytes, folder: Path) -> bytes:
    """Change the structure, or bytes if the writer of the format rejects the change."""
    if kind in MUTATIONS_BY_SUFFIX:
        try:
            return MUTATIONS_BY_SUFFIX[kind](random, data, folder)
        except Exception:  # noqa: BLE001 - writers raise many types
            return mutate_bytes(random, data)
    return mutate_bytes(random, data)


def _json(random: Random, data: bytes, _: Path) -> bytes:
    """Change metadata of Zarr, often the codecs."""
    if random.random() < 0.6:
        return mutate_json(random, data.decode()).encode("utf-8", "surrogatepass")
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
    return with_escapes(random, json.dumps(found)).encode()


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
    """Replace a file by a pickled object, or by another file of the input."""
    payload = pickle.dumps(Payload(folder / EXECUTED))
    files[name] = random.choice((payload, files[random.choice(sorted(files))]))


def _link_out(random: Random, files: dict[str, bytes], name: str, folder: Path) -> None:
    """Replace a file by a symbolic link to a canary file."""
    del files[name]
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    canary = CANARY_TEXT if name.endswith(".txt") else CANARY_ARRAY
    place.symlink_to(folder.parent / random.choice((canary, canary, "nowhere")))


MUTATIONS_BY_SUFFIX: dict[str, Callable[[Random, bytes, Path], bytes]] = {
    ".csv": mutate_csv,
    ".tsv": mutate_tsv,
    ".txt": mutate_lines,
    ".jsonl": mutate_json_lines,
    ".mtx": mutate_matrix_market,
    ".npy": mutate_array,
    ".npz": mutate_archive,
    ".parquet": mutate_parquet,
    ".mat": mutate_matlab,
    ".h5ad": mutate_hdf5,
    **dict.fromkeys(METADATA, _json),
}
