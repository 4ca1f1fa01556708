"""One small sound input of every kind that `cosep.io` reads, written by the project itself and its dependencies."""

import bz2
import gzip
import io
import json
import lzma
import warnings
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


class Seed(NamedTuple):
    """An input as the bytes of its files, and how it is read.

    ``files`` are by their paths within a folder, ``entry`` is the path that is passed to the reader.
    """

    kind: str
    entry: str
    files: Files
    options: Mapping[str, Any] = MappingProxyType({})
    blocks: bool = False


def matrix() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the matrix that all seeds hold: planted rows and columns, half of the entries zero."""
    X: np.ndarray[Any, np.dtype[np.float64]] = make_coseparable(N_ROWS, N_COLS, 3, 3, noise=0.05, random_state=0)[0]
    X[np.median(X) > X] = 0.0
    return X.round(3)


def seeds(folder: Path) -> list[Seed]:
    """Return all seeds; the folder is for what can only be written to files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*texts(), *tables(folder), *arrays(folder), *cells(folder), *stores(folder)]


def single(kind: str, name: str, data: bytes, **options: Any) -> Seed:
    """Return the seed of one file."""
    return Seed(kind, name, {name: data}, options)


def wide_table(separator: str = ",", *, index: bool = True, labels: bool = False) -> str:
    """Return a table as text, with row names and classes or without."""
    X = matrix()
    head = [*(["name"] if index else []), *COL_NAMES, *(["class"] if labels else [])]
    lines = [
        [*([ROW_NAMES[i]] if index else []), *map(str, X[i].tolist()), *([LABELS[i]] if labels else [])]
        for i in range(N_ROWS)
    ]
    return "\n".join(separator.join(line) for line in [head, *lines]) + "\n"


def triplet_table(separator: str = ",") -> str:
    """Return the nonzeros as text: row, column, value."""
    X = matrix()
    lines = [[ROW_NAMES[i], COL_NAMES[j], str(X[i, j])] for i, j in np.argwhere(X > 0).tolist()]
    return "\n".join(separator.join(line) for line in [["cell", "gene", "count"], *lines]) + "\n"


def zstd(data: bytes) -> bytes:
    """Compress as .zst."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


def texts() -> list[Seed]:
    """Return seeds that are text: tables, triplets, lines, JSON lines, Matrix Market, folders."""
    lines = "\n".join(TEXTS)
    records = [json.dumps({"id": k, "text": text, "class": LABELS[k]}) for k, text in enumerate(TEXTS)]
    jsonl = "\n".join(records) + "\n"
    table = "\n".join(["id,text,class", *(f'{k},"{text}",{LABELS[k]}' for k, text in enumerate(TEXTS))])
    column = TextOptions(column="text")
    made = [
        single("csv", "x.csv", wide_table().encode()),
        single("csv", "x.csv", wide_table(index=False).encode()),
        single("csv", "x.csv", wide_table(labels=True).encode(), labels="class"),
        single("csv triplets", "x.csv", triplet_table().encode()),
        single("csv texts", "x.csv", table.encode(), text=column, index="id", labels="class"),
        single("tsv", "x.tsv", wide_table("\t").encode()),
        single("tsv triplets", "x.tsv", triplet_table("\t").encode(), layout="triplets"),
        single("txt", "x.txt", lines.encode()),
        single("jsonl", "x.jsonl", jsonl.encode(), labels="class"),
        *(single(f"csv{end}", f"x.csv{end}", pack(wide_table().encode())) for end, pack in PACKERS.items()),
        single("txt.gz", "x.txt.gz", PACKERS[".gz"](lines.encode())),
        single("jsonl.zst", "x.jsonl.zst", PACKERS[".zst"](jsonl.encode())),
    ]
    folder = {f"texts/{'ab'[k % 2]}/{k}.txt": text.encode() for k, text in enumerate(TEXTS)}
    return [*made, Seed("folder of texts", "texts", folder), *market()]


def market() -> list[Seed]:
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
    return [*made, single("mtx.gz", "x.mtx.gz", PACKERS[".gz"](made[0].files["x.mtx"]))]


def tables(folder: Path) -> list[Seed]:
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
    ]
    parts = {f"parts/x{k}.parquet": frame.iloc[8 * k : 8 * k + 8].to_parquet() for k in range(3)}
    return [*made, Seed("folder of parquet", "parts", parts, blocks=True), *_matlab(folder)]


def _matlab(folder: Path) -> list[Seed]:
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
        if kind != "mat 4":  # the time of writing
            data = b"MATLAB 5.0 MAT-file".ljust(116) + data[116:]
        made.append(single(kind, "x.mat", data, **({} if kind == "mat 4" else {"variable": "X", "labels": "labels"})))
    return made


def arrays(folder: Path) -> list[Seed]:
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
        Seed("folder of npy", "parts", npy, blocks=True),
        Seed("folder of npz", "parts", npz, blocks=True),
    ]


def _saved(save: Callable[..., None], *values: Any, **named: Any) -> bytes:
    sink = io.BytesIO()
    save(sink, *values, **named)
    return sink.getvalue()


def annotated() -> dict[str, Any]:
    """Return cells of every storage: dense, csr, csc, with layers, raw, classes, and notes with nothing in them."""
    X = matrix()

    def cells(values: Any) -> Any:
        obs = pd.DataFrame({"class": pd.Categorical(LABELS), "size": X.sum(axis=1)}, index=list(ROW_NAMES))
        return anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=list(COL_NAMES)))

    found = {"dense": cells(X), "csr": cells(scipy.sparse.csr_matrix(X)), "csc": cells(scipy.sparse.csc_matrix(X))}
    found["csr"].layers["counts"] = scipy.sparse.csr_matrix(np.round(X))
    found["raw"] = cells(scipy.sparse.csr_matrix(X))
    found["raw"].raw = found["raw"].copy()
    found["raw"].uns["log1p"] = {"base": None}  # as scanpy.pp.log1p leaves it
    return found


def cells(folder: Path) -> list[Seed]:
    """Return AnnData files."""
    path = folder / "x.h5ad"
    made = []
    for kind, one in annotated().items():
        one.write_h5ad(path, compression="gzip" if kind == "csc" else None)
        options = {"dense": {"labels": "class"}, "csr": {"layer": "counts"}, "raw": {"layer": "raw"}}
        made.append(single(f"h5ad {kind}", "x.h5ad", path.read_bytes(), **options.get(kind, {})))
        path.unlink()
    return made


def stores(folder: Path) -> list[Seed]:
    """Return Zarr stores of both formats: arrays, csr matrices and AnnData."""
    X = matrix()
    made = []
    for kind, blocks in (
        ("dense", [X[:10], X[10:]]),
        ("csr", [scipy.sparse.csr_array(X[:9]), scipy.sparse.csr_array(X[9:])]),
    ):
        write_blocks(folder / f"{kind}.zarr", blocks)
        made.append(Seed(f"zarr 3 {kind}", "x.zarr", files_in(folder / f"{kind}.zarr", "x.zarr"), blocks=True))
    array = zarr.create_array(str(folder / "two.zarr"), data=X, chunks=(8, 6), zarr_format=2)
    array.attrs["note"] = "two"
    made.append(Seed("zarr 2 dense", "x.zarr", files_in(folder / "two.zarr", "x.zarr"), blocks=True))
    for version in (2, 3):
        with anndata.settings.override(zarr_write_format=version):
            for kind in ("dense", "csr"):
                place = folder / f"cells-{version}-{kind}.zarr"
                annotated()[kind].write_zarr(place)
                files = files_in(place, "x.zarr")
                made.append(Seed(f"zarr {version} AnnData {kind}", "x.zarr", files, blocks=True))
    return made


def files_in(folder: Path, name: str) -> Files:
    """Return the files of a folder, by their paths below a new name."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def put(folder: Path, files: Files) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
