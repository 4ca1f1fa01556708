"""Mutations of arrays, archives of arrays, Parquet, MATLAB and HDF5 files that keep the container format readable."""

import io
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from random import Random
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from fuzz.canaries import CANARY_ARRAY, CANARY_HDF5, EXECUTED, Payload
from fuzz.mutations import DTYPE_NAMES, ODD_SIZES, TEXTS, mutate_bytes
from fuzz.text_mutations import ODD_CELLS


def mutate_array(random: Random, data: bytes, folder: Path) -> bytes:
    """Change the header of an array, with a correct length; or store Python objects."""
    if random.random() < 0.1:
        sink = io.BytesIO()
        np.save(sink, np.array([[Payload(folder / EXECUTED)]], dtype=object), allow_pickle=True)
        return sink.getvalue()
    size = struct.unpack_from("<H", data, 8)[0]
    text, rest = data[10 : 10 + size].decode("latin-1").strip(), data[10 + size :]
    shape = tuple(random.choice(ODD_SIZES) for _ in range(random.choice((0, 1, 2, 2, 2, 3, 33))))
    exact = (len(rest) // 8,)
    descr = random.choice((*map(repr, DTYPE_NAMES), "[('a', '<f8')]", "('<f8', (2,))", "[('a', '|O')]", "1" * 300))
    kind = random.random()
    if kind < 0.4:
        text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {exact}}}"
    elif kind < 0.8:
        text = f"{{'descr': '<f8', 'fortran_order': {random.choice((True, False, 7))}, 'shape': {shape}}}"
    else:
        text = mutate_bytes(random, text.encode("latin-1")).decode("latin-1")
    version = random.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    encoded = text.encode("latin-1", "replace") + b" \n"
    length = struct.pack("<H", len(encoded)) if version == b"\x01\x00" else struct.pack("<I", len(encoded))
    return b"\x93NUMPY" + version + length + encoded + (rest if random.random() < 0.7 else bytes(64))


def mutate_archive(random: Random, data: bytes, folder: Path) -> bytes:
    """Change entries of an archive of arrays: their bytes, headers, names and number."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(entries))
        name, held = entries[at]
        kind = random.random()
        if kind < 0.35:
            entries[at] = name, mutate_bytes(random, held)
        elif kind < 0.7:
            entries[at] = name, mutate_array(random, held, folder)
        elif kind < 0.8:
            entries[at] = random.choice(("../x.npy", f"{name}.npy", "x\x1b[31m.npy", "x/", "header.npy", "X")), held
        elif kind < 0.9:
            entries.append((random.choice((name, "more.npy", "a\nb.npy")), random.choice((held, b""))))
        elif len(entries) > 1:
            del entries[at]
    return write_archive(random, entries)


def write_archive(random: Random, entries: list[tuple[str, bytes]]) -> bytes:
    """Return an archive of these entries, with random compression."""
    sink = io.BytesIO()
    how = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with warnings.catch_warnings(), zipfile.ZipFile(sink, "w", how) as archive:
        warnings.simplefilter("ignore")  # two entries may have the same name
        for name, held in entries:
            archive.writestr(name, held)
    return sink.getvalue()


def mutate_parquet(random: Random, data: bytes, _: Path) -> bytes:
    """Replace, add, rename or drop columns of a Parquet file."""
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
        notes = {key: mutate_bytes(random, held) for key, held in table.schema.metadata.items()}
        table = table.replace_schema_metadata(notes)
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def mutate_matlab(random: Random, data: bytes, _: Path) -> bytes:
    """Change bytes or sizes inside a variable, compressed or not."""
    if data[126:128] != b"IM":
        return mutate_bytes(random, data)
    at, parts = 128, [data[:128]]
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + 8 + size]
        if random.random() < 0.7:
            body = (
                zlib.compress(_change_size(random, zlib.decompress(body))) if kind == 15 else _change_size(random, body)
            )
        parts.append(struct.pack("<II", kind, len(body)) + body)
        at += 8 + size
    return b"".join(parts)


def _change_size(random: Random, data: bytes) -> bytes:
    at = random.choice(range(0, min(len(data), 96), 4))
    new = struct.pack("<i", random.choice((0, 1, -1, 2, 5, 7, 14, 15, 24, 1 << 20, (1 << 31) - 1)))
    return mutate_bytes(random, data) if random.random() < 0.4 else data[:at] + new + data[at + 4 :]


def mutate_hdf5(random: Random, data: bytes, folder: Path) -> bytes:
    """Change nodes, attributes and links of an HDF5 file."""
    path = folder / "mutated.h5"
    path.write_bytes(data)
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(random.choice((1, 1, 2))):
            name = random.choice(names)
            if name in file:
                random.choice(HDF5_MUTATIONS)(random, file, name, folder)
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
        file.create_dataset(name, data=np.array(random.choice(ODD_CELLS[:12]).encode("utf-8", "replace")))
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
    """Replace a node by a link to another file, to another node, or in a circle."""
    dataset = isinstance(file[name], h5py.Dataset)
    del file[name]
    kind = random.randrange(4)
    if kind == 0:
        file[name] = h5py.ExternalLink(f"../{CANARY_HDF5}", random.choice(("X", f"/{name}", "/")))
    elif kind == 1:
        file[name] = h5py.SoftLink(random.choice((f"/{name}", "/", "/X", "/nowhere")))
    elif kind == 2:
        file[name] = file["/"]
    elif dataset:
        other_file = [(str(Path(file.filename).parent.parent / CANARY_ARRAY), 128, h5py.h5f.UNLIMITED)]
        file.create_dataset(name, shape=(24, 12), dtype="f8", external=other_file)


HDF5_MUTATIONS = (_delete_node, _replace_node, _replace_node, _attribute, _attribute, _link)
