"""Changes to the structure of an input: cells of a table, headers, entries of an archive, nodes of HDF5 and Zarr.

What is changed stays readable for the layer below: an archive has right checksums, a compressed text is compressed
again. So the change gets as far as the code that has to judge it.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from fuzz.mutations import SIZES, TEXTS, TYPES, bytes_of, escaped, json_of
from fuzz.seeds import PACKERS, Files

# A number and a word that only files beside the input hold; no answer may know them.
SECRET_NUMBER, SECRET_WORD = 7777.25, "zzsecretword"
SECRET_ARRAY, SECRET_TEXT, SECRET_CELLS = "secret.npy", "secret.txt", "secret.h5"
EXECUTED = "executed"
CELLS = (
    *TEXTS,
    "9" * 20000,
    "9" * 400,
    "1" + "0" * 400 + ".5",
    "1e400",
    "-1",
    "-0",
    "1e-400",
    "0x10",
    "1_000",
    "1,5",
    "inf",
    "NaN",
    "null",
    "true",
    "+1",
    "1 2",
    '"',
    '""',
    'a"b',
    "'",
    "٣",
    "word " * 30000,
    "\ufeff",
)
METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


class Payload:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT | os.O_WRONLY)


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


def _table(random: Random, data: bytes, _: Path, separator: str = ",") -> bytes:
    """Change cells and lines of a table."""
    lines = [line.split(separator) for line in data.decode().split("\n")]
    for _round in range(random.choice((1, 1, 2, 5))):
        at = random.choice((0, random.randrange(len(lines))))
        line = lines[at]
        kind = random.random()
        if kind < 0.6:
            line[random.randrange(len(line))] = _cell(random)
        elif kind < 0.7:
            line.insert(random.randrange(len(line) + 1), _cell(random))
        elif kind < 0.8:
            del line[random.randrange(len(line))]
        elif kind < 0.9:
            lines.insert(random.randrange(len(lines) + 1), random.choice(([], [""], list(line), ["x"] * 50)))
        else:
            column = random.randrange(max(len(line), 1))
            lines = [[_cell(random) if j == column else cell for j, cell in enumerate(one)] for one in lines]
        lines = [one or [""] for one in lines]
    return "\n".join(map(separator.join, lines)).encode("utf-8", "surrogatepass")


def _cell(random: Random) -> str:
    cell = random.choice(CELLS)
    return '"' + cell.replace('"', '""') + '"' if random.random() < 0.5 else cell


def _tabs(random: Random, data: bytes, folder: Path) -> bytes:
    return _table(random, data, folder, "\t")


def _lines(random: Random, data: bytes, _: Path) -> bytes:
    """Change lines of text."""
    lines = data.decode().split("\n")
    for _round in range(random.choice((1, 2, 5))):
        at = random.randrange(len(lines))
        lines[at] = random.choice((_cell(random), "", " ".join(_cell(random) for _ in range(20)), lines[at] * 3))
    return random.choice(("\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")


def _json_lines(random: Random, data: bytes, _: Path) -> bytes:
    lines = data.decode().split("\n")
    for _round in range(random.choice((1, 2, 5))):
        at = random.randrange(len(lines))
        lines[at] = random.choice((json_of(random, lines[at]), json_of(random, lines[at]), "[" * 100000, _cell(random)))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _market(random: Random, data: bytes, _: Path) -> bytes:
    lines = [line.split(" ") for line in data.decode().split("\n")]
    at = random.choice((0, 1, 2, random.randrange(len(lines))))
    words = ("pattern", "complex", "hermitian", "skew-symmetric", "array", "coordinate", "integer", *map(str, SIZES))
    line = lines[min(at, len(lines) - 1)]
    line[random.randrange(len(line))] = random.choice((*words, _cell(random)))
    return "\n".join(map(" ".join, lines)).encode("utf-8", "surrogatepass")


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


def _npy(random: Random, data: bytes, folder: Path) -> bytes:
    """Change the header of an array, which still has the length that it says; or store objects."""
    if random.random() < 0.1:
        sink = io.BytesIO()
        np.save(sink, np.array([[Payload(folder / EXECUTED)]], dtype=object), allow_pickle=True)
        return sink.getvalue()
    size = struct.unpack_from("<H", data, 8)[0]
    text, rest = data[10 : 10 + size].decode("latin-1").strip(), data[10 + size :]
    shape = tuple(random.choice(SIZES) for _ in range(random.choice((0, 1, 2, 2, 2, 3, 33))))
    exact = (len(rest) // 8,)
    descr = random.choice((*map(repr, TYPES), "[('a', '<f8')]", "('<f8', (2,))", "[('a', '|O')]", "1" * 300))
    kind = random.random()
    if kind < 0.4:
        text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {exact}}}"
    elif kind < 0.8:
        text = f"{{'descr': '<f8', 'fortran_order': {random.choice((True, False, 7))}, 'shape': {shape}}}"
    else:
        text = bytes_of(random, text.encode("latin-1")).decode("latin-1")
    version = random.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    encoded = text.encode("latin-1", "replace") + b" \n"
    length = struct.pack("<H", len(encoded)) if version == b"\x01\x00" else struct.pack("<I", len(encoded))
    return b"\x93NUMPY" + version + length + encoded + (rest if random.random() < 0.7 else bytes(64))


def archive_of(random: Random, data: bytes, folder: Path) -> bytes:
    """Change entries of an archive of arrays: their bytes, headers, names and number."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(entries))
        name, held = entries[at]
        kind = random.random()
        if kind < 0.35:
            entries[at] = name, bytes_of(random, held)
        elif kind < 0.7:
            entries[at] = name, _npy(random, held, folder)
        elif kind < 0.8:
            entries[at] = random.choice(("../x.npy", f"{name}.npy", "x\x1b[31m.npy", "x/", "header.npy", "X")), held
        elif kind < 0.9:
            entries.append((random.choice((name, "more.npy", "a\nb.npy")), random.choice((held, b""))))
        elif len(entries) > 1:
            del entries[at]
    return archive_with(random, entries)


def archive_with(random: Random, entries: list[tuple[str, bytes]]) -> bytes:
    """Return an archive of these entries, compressed in any way."""
    sink = io.BytesIO()
    how = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with warnings.catch_warnings(), zipfile.ZipFile(sink, "w", how) as archive:
        warnings.simplefilter("ignore")  # of two entries with one name
        for name, held in entries:
            archive.writestr(name, held)
    return sink.getvalue()


def _parquet(random: Random, data: bytes, _: Path) -> bytes:
    """Replace or add a column of another type or name."""
    table = pa.parquet.read_table(pa.BufferReader(data))
    m = table.num_rows
    columns: tuple[Any, ...] = (
        pa.nulls(m),
        pa.array([[1.0]] * m),
        pa.array([{"a": 1}] * m),
        pa.array([b"\xff"] * m),
        pa.array(["9" * 500] * m),
        pa.array([True] * m),
        pa.array([1] * m, pa.timestamp("ns")),
        pa.array([None, *[1.5] * (m - 1)]),
        pa.array([-1.0] * m),
        pa.array([1 << 62] * m),
        pa.array([random.choice([text for text in TEXTS if text != "\ud800"]) for _ in range(m)]),
        pa.array([0.5] * m, pa.float16()) if hasattr(pa, "float16") else pa.nulls(m),
    )
    name = random.choice((*[text for text in TEXTS if text != "\ud800"], *table.column_names))
    at = random.randrange(table.num_columns)
    new = random.choice(columns)
    kind = random.random()
    if kind < 0.4:
        table = table.set_column(at, name, new)
    elif kind < 0.7:
        table = table.add_column(at, name, new)
    elif kind < 0.85:
        table = table.rename_columns([name if k == at else old for k, old in enumerate(table.column_names)])
    else:
        table = random.choice((table.slice(0, 0), table.select([]), table.select([at])))
    if random.random() < 0.3 and table.schema.metadata:
        notes = {key: bytes_of(random, held) for key, held in table.schema.metadata.items()}
        table = table.replace_schema_metadata(notes)
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def _matlab(random: Random, data: bytes, _: Path) -> bytes:
    """Change bytes within a variable that is compressed, or sizes of one that is not."""
    if data[126:128] != b"IM":
        return bytes_of(random, data)
    at, parts = 128, [data[:128]]
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + 8 + size]
        if random.random() < 0.7:
            body = zlib.compress(_sizes(random, zlib.decompress(body))) if kind == 15 else _sizes(random, body)
        parts.append(struct.pack("<II", kind, len(body)) + body)
        at += 8 + size
    return b"".join(parts)


def _sizes(random: Random, data: bytes) -> bytes:
    at = random.choice(range(0, min(len(data), 96), 4))
    new = struct.pack("<i", random.choice((0, 1, -1, 2, 5, 7, 14, 15, 24, 1 << 20, (1 << 31) - 1)))
    return bytes_of(random, data) if random.random() < 0.4 else data[:at] + new + data[at + 4 :]


def _cells(random: Random, data: bytes, folder: Path) -> bytes:
    """Change nodes, attributes and links of an HDF5 file."""
    path = folder / "changing.h5"
    path.write_bytes(data)
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(random.choice((1, 1, 2))):
            name = random.choice(names)
            if name in file:
                random.choice(HDF5_CHANGES)(random, file, name, folder)
    changed = path.read_bytes()
    path.unlink()
    return changed


def _delete_node(_random: Random, file: Any, name: str, _: Path) -> None:
    del file[name]


def _replace_node(random: Random, file: Any, name: str, _: Path) -> None:
    del file[name]
    kind = random.randrange(7)
    if kind == 0:
        file.create_group(name)
    elif kind == 1:
        file.create_dataset(name, data=h5py.Empty("f8"))
    elif kind == 2:
        file.create_dataset(name, data=np.array(random.choice(CELLS[:12]).encode("utf-8", "replace")))
    elif kind == 3:
        file.create_dataset(name, shape=random.choice(((1 << 40,), (1 << 20, 1 << 20), (0, 0), (3,), ())), dtype="f8")
    elif kind == 4:
        file.create_dataset(name, data=np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
    elif kind == 5:
        file.create_dataset(name, data=np.arange(24) + random.choice((-5, 0, 1 << 40)))
    else:
        file.create_dataset(name, data=np.array([file.ref] * 3, dtype=h5py.ref_dtype))


def _attribute(random: Random, file: Any, name: str, _: Path) -> None:
    notes = file[name].attrs
    key = random.choice([*notes, "shape", "_index", "encoding-type", "column-order"])
    kinds = ("array", "csr_matrix", "csc_matrix", "dataframe", "dict", "string-array", "categorical", "null", "raw")
    choices = (*kinds, *(text for text in TEXTS if "\0" not in text and text != "\ud800"), 1, -1, [1, 2], [1 << 40, 2])
    notes[key] = random.choice(choices)


def _link(random: Random, file: Any, name: str, _: Path) -> None:
    """Point out of the file, to another place in it, or in a circle."""
    dataset = isinstance(file[name], h5py.Dataset)
    del file[name]
    kind = random.randrange(4)
    if kind == 0:
        file[name] = h5py.ExternalLink(f"../{SECRET_CELLS}", random.choice(("X", f"/{name}", "/")))
    elif kind == 1:
        file[name] = h5py.SoftLink(random.choice((f"/{name}", "/", "/X", "/nowhere")))
    elif kind == 2:
        file[name] = file["/"]
    elif dataset:
        outside = [(str(folder_of(file) / SECRET_ARRAY), 128, h5py.h5f.UNLIMITED)]
        file.create_dataset(name, shape=(24, 12), dtype="f8", external=outside)


def folder_of(file: Any) -> Path:
    """Return where the secrets are: beside the folder of the case."""
    return Path(file.filename).parent.parent


HDF5_CHANGES = (_delete_node, _replace_node, _replace_node, _attribute, _attribute, _link)


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
    ".csv": _table,
    ".tsv": _tabs,
    ".txt": _lines,
    ".jsonl": _json_lines,
    ".mtx": _market,
    ".npy": _npy,
    ".npz": archive_of,
    ".parquet": _parquet,
    ".mat": _matlab,
    ".h5ad": _cells,
    **dict.fromkeys(METADATA, _json),
}
