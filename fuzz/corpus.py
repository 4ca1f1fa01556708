"""Sample inputs: one small valid input of every kind that `cosep.io` reads."""

import bz2
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.io
import scipy.sparse
import zarr

from cosep import make_coseparable
from cosep.io import TextOptions, write_blocks

Files = Mapping[str, bytes]

N_ROWS, N_COLS = 24, 12
TEXTS = tuple(
    " ".join(words)
    for words in np.random.default_rng(0).choice(
        ["red", "green", "blue", "fish", "bird", "tree", "stone", "river", "cloud", "light"], size=(N_ROWS, 12)
    )
)
LABELS = tuple("ab"[k % 2] for k in range(N_ROWS))
ROW_NAMES = tuple(f"cell {k}" for k in range(N_ROWS))
COL_NAMES = tuple(f"gene {k}" for k in range(N_COLS))


class SampleInput(NamedTuple):
    """A valid input, and how to read it.

    Attributes
    ----------
    kind : str
        Kind of input, for the counts.
    entry : str
        The path that is passed to the reader.
    files : mapping of str to bytes
        Contents of the files by their relative paths.
    options : mapping
        Options of the reader.
    blocks : bool
        Whether to call `read_blocks` instead of `read`.
    """

    kind: str
    entry: str
    files: Files
    options: Mapping[str, Any] = MappingProxyType({})
    blocks: bool = False


def matrix() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the matrix of all sample inputs: planted rows and columns, half of the entries zero."""
    X: np.ndarray[Any, np.dtype[np.float64]] = make_coseparable(N_ROWS, N_COLS, 3, 3, noise=0.05, random_state=0)[0]
    X[np.median(X) > X] = 0.0
    return X.round(3)


def sample_inputs(folder: Path) -> list[SampleInput]:
    """Return all sample inputs; the folder is for formats that can only be written to files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*texts(), *tables(folder), *arrays(folder), *h5ad_files(folder), *stores(folder)]


def single(kind: str, name: str, data: bytes, **options: Any) -> SampleInput:
    """Return a sample input of one file."""
    return SampleInput(kind, name, {name: data}, options)


def wide_table(separator: str = ",", *, index: bool = True, labels: bool = False) -> str:
    """Return a table as text, with or without row names and labels."""
    X = matrix()
    head = [*(["name"] if index else []), *COL_NAMES, *(["class"] if labels else [])]
    lines = [
        [*([ROW_NAMES[i]] if index else []), *map(str, X[i].tolist()), *([LABELS[i]] if labels else [])]
        for i in range(N_ROWS)
    ]
    return "\n".join(separator.join(line) for line in [head, *lines]) + "\n"


def triplet_table(separator: str = ",") -> str:
    """Return the nonzeros as a table of triplets: row, column, value."""
    X = matrix()
    lines = [[ROW_NAMES[i], COL_NAMES[j], str(X[i, j])] for i, j in np.argwhere(X > 0).tolist()]
    return "\n".join(separator.join(line) for line in [["cell", "gene", "count"], *lines]) + "\n"


def zstd(data: bytes) -> bytes:
    """Compress as .zst."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


def texts() -> list[SampleInput]:
    """Return text formats: tables, triplets, lines, JSON lines, Matrix Market, folders."""
    lines = "\n".join(TEXTS)
    records = [json.dumps({"id": k, "text": text, "class": LABELS[k]}) for k, text in enumerate(TEXTS)]
    jsonl = "\n".join(records) + "\n"
    table = "\n".join(["id,text,class", *(f'{k},"{text}",{LABELS[k]}' for k, text in enumerate(TEXTS))])
    column = TextOptions(column="text")
    made = [
        single("csv", "x.csv", wide_table().encode()),
        single("csv", "x.csv", wide_table(index=False).encode()),
        single("csv", "x.csv", wide_table(labels=True).encode(), labels="class"),
        single("csv semicolons", "x.csv", wide_table(";").replace(".", ",").encode()),
        single("csv triplets", "x.csv", triplet_table().encode()),
        single("csv texts", "x.csv", table.encode(), text=column, index="id", labels="class"),
        single("tsv", "x.tsv", wide_table("\t").encode()),
        single("tsv triplets", "x.tsv", triplet_table("\t").encode(), layout="triplets"),
        single("txt", "x.txt", lines.encode()),
        single("jsonl", "x.jsonl", jsonl.encode(), labels="class"),
        *(single(f"csv{end}", f"x.csv{end}", pack(wide_table().encode())) for end, pack in COMPRESSORS.items()),
        single("txt.gz", "x.txt.gz", COMPRESSORS[".gz"](lines.encode())),
        single("jsonl.zst", "x.jsonl.zst", COMPRESSORS[".zst"](jsonl.encode())),
    ]
    folder = {f"texts/{'ab'[k % 2]}/{k}.txt": text.encode() for k, text in enumerate(TEXTS)}
    return [*made, SampleInput("folder of texts", "texts", folder), *matrix_market()]


def matrix_market() -> list[SampleInput]:
    """Return Matrix Market files."""
    X = matrix()
    found = {
        "coordinate": scipy.sparse.coo_array(X),
        "array": X,
        "symmetric": scipy.sparse.coo_array(np.round(X.T @ X, 2)),
    }
    made = []
    for kind, values in found.items():
        sink = io.BytesIO()
        scipy.io.mmwrite(sink, values, symmetry="symmetric" if kind == "symmetric" else "general")
        made.append(single(f"mtx {kind}", "x.mtx", sink.getvalue()))
    return [*made, single("mtx.gz", "x.mtx.gz", COMPRESSORS[".gz"](made[0].files["x.mtx"]))]


def tables(folder: Path) -> list[SampleInput]:
    """Return Parquet files: as pandas writes them with an index, wide, triplets, and a folder of them."""
    frame = pd.DataFrame(matrix(), index=pd.Index(ROW_NAMES, name="name"), columns=list(COL_NAMES))
    X = matrix()
    places = np.argwhere(X > 0)
    triplets = pd.DataFrame(
        {
            "cell": pd.Categorical([ROW_NAMES[i] for i in places[:, 0]]),
            "gene": [COL_NAMES[j] for j in places[:, 1]],
            "count": X[*places.T],
        }
    )
    made = [
        single("parquet", "x.parquet", frame.to_parquet()),
        single("parquet", "x.parquet", frame.reset_index().to_parquet(index=False, compression="zstd")),
        single("parquet triplets", "x.parquet", triplets.to_parquet(index=False)),
        single("xlsx", "x.xlsx", _workbook(frame)),
    ]
    parts = {f"parts/x{k}.parquet": frame.iloc[8 * k : 8 * k + 8].to_parquet() for k in range(3)}
    return [*made, SampleInput("folder of parquet", "parts", parts, blocks=True), *_matlab(folder)]


def _workbook(frame: Any) -> bytes:
    """Return an Excel file without the times of writing."""
    written, sink = io.BytesIO(), io.BytesIO()
    frame.to_excel(written)
    with zipfile.ZipFile(written) as book, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in book.namelist():
            part = re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2000-01-01T00:00:00Z", book.read(name))
            copy.writestr(zipfile.ZipInfo(name), part)
    return sink.getvalue()


def _matlab(folder: Path) -> list[SampleInput]:
    X = matrix()
    classes = np.arange(1.0, N_ROWS + 1)[:, None]
    made = []
    for kind, values, options in (
        ("mat", {"X": X, "labels": classes}, {}),
        ("mat sparse", {"X": scipy.sparse.csc_array(X), "labels": classes}, {}),
        ("mat packed", {"X": scipy.sparse.csc_array(X), "labels": classes}, {"do_compression": True}),
        ("mat 4", {"X": X}, {"format": "4"}),
    ):
        path = folder / "x.mat"
        scipy.io.savemat(path, values, **options)
        data = path.read_bytes()
        if kind != "mat 4":  # replace the header, which has the time of writing
            data = b"MATLAB 5.0 MAT-file".ljust(116) + data[116:]
        made.append(single(kind, "x.mat", data, **({} if kind == "mat 4" else {"variable": "X", "labels": "labels"})))
    return made


def arrays(folder: Path) -> list[SampleInput]:
    """Return arrays of numpy and scipy, and folders of them."""
    X = matrix()
    made = []
    for kind, values in (
        ("npy", X),
        ("npy", np.asfortranarray(X, dtype=np.float32)),
        ("npy", np.round(X).astype("<i2")),
    ):
        made.append(single(kind, "x.npy", _saved(np.save, values)))
    for form in ("csr", "csc", "coo", "dia", "bsr"):
        path = folder / "x.npz"
        with path.open("wb") as file:
            scipy.sparse.save_npz(file, getattr(scipy.sparse, f"{form}_array")(X), compressed=form != "csr")
        made.append(single(f"npz {form}", "x.npz", path.read_bytes()))
    made.append(single("npz", "x.npz", _saved(np.savez, X=X, other=X[:, 0]), variable="X"))
    made.append(single("npz", "x.npz", _saved(np.savez_compressed, X)))
    sparse = next(seed for seed in made if seed.kind == "npz csr").files["x.npz"]
    npy = {f"parts/x{k}.npy": _saved(np.save, X[8 * k : 8 * k + 8]) for k in range(3)}
    npz = {f"parts/x{k}.npz": sparse for k in range(2)}
    return [
        *made,
        SampleInput("folder of npy", "parts", npy, blocks=True),
        SampleInput("folder of npz", "parts", npz, blocks=True),
    ]


def _saved(save: Callable[..., None], *values: Any, **named: Any) -> bytes:
    sink = io.BytesIO()
    save(sink, *values, **named)
    return sink.getvalue()


def anndata_objects() -> dict[str, Any]:
    """Return AnnData objects with dense, csr and csc matrices, layers, raw, labels, and an empty entry in ``uns``."""
    X = matrix()

    def cells(values: Any) -> Any:
        obs = pd.DataFrame({"class": pd.Categorical(LABELS), "size": X.sum(axis=1)}, index=list(ROW_NAMES))
        return anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=list(COL_NAMES)))

    found = {"dense": cells(X), "csr": cells(scipy.sparse.csr_matrix(X)), "csc": cells(scipy.sparse.csc_matrix(X))}
    found["csr"].layers["counts"] = scipy.sparse.csr_matrix(np.round(X))
    found["raw"] = cells(scipy.sparse.csr_matrix(X))
    found["raw"].raw = found["raw"].copy()
    found["raw"].uns["log1p"] = {"base": None}  # as scanpy.pp.log1p writes it
    return found


def h5ad_files(folder: Path) -> list[SampleInput]:
    """Return AnnData files."""
    path = folder / "x.h5ad"
    made = []
    for kind, one in anndata_objects().items():
        one.write_h5ad(path, compression="gzip" if kind == "csc" else None)
        options = {"dense": {"labels": "class"}, "csr": {"layer": "counts"}, "raw": {"layer": "raw"}}
        made.append(single(f"h5ad {kind}", "x.h5ad", path.read_bytes(), **options.get(kind, {})))
        path.unlink()
    return made


def stores(folder: Path) -> list[SampleInput]:
    """Return Zarr stores of both formats: arrays, csr matrices and AnnData."""
    X = matrix()
    made = []
    for kind, blocks in (
        ("dense", [X[:10], X[10:]]),
        ("csr", [scipy.sparse.csr_array(X[:9]), scipy.sparse.csr_array(X[9:])]),
    ):
        write_blocks(folder / f"{kind}.zarr", blocks)
        made.append(SampleInput(f"zarr 3 {kind}", "x.zarr", files_in(folder / f"{kind}.zarr", "x.zarr"), blocks=True))
    array = zarr.create_array(str(folder / "two.zarr"), data=X, chunks=(8, 6), zarr_format=2)
    array.attrs["note"] = "two"
    made.append(SampleInput("zarr 2 dense", "x.zarr", files_in(folder / "two.zarr", "x.zarr"), blocks=True))
    for version in (2, 3):
        with anndata.settings.override(zarr_write_format=version):
            for kind, options in (("dense", {}), ("csr", {}), ("raw", {"layer": "raw"})):
                place = folder / f"anndata-{version}-{kind}.zarr"
                anndata_objects()[kind].write_zarr(place)
                files = files_in(place, "x.zarr")
                made.append(SampleInput(f"zarr {version} AnnData {kind}", "x.zarr", files, options, blocks=True))
    return made


def files_in(folder: Path, name: str) -> Files:
    """Return the files of a folder by their relative paths, below a new name."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: Files) -> None:
    """Write files to a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
