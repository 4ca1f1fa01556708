"""Intact inputs in all variants of every format: what is read must be what was written."""

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import anndata
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse
import zarr

from cosep.io import TextOptions, read, read_blocks, write_blocks
from fuzz.corpus import COMPRESSORS
from fuzz.harness import Case
from fuzz.mutations import with_escapes
from fuzz.outcomes import WRONG_ANSWER, CaseEnded, origin_of

KIND = "intact"
NAMES = (
    "a", "b b", " c", "NA", "007", "1e5", "nan", "true", "=1+1", "-x", "+y", "@z", "comma,", 'quote"', "'", "new\nline",
    "ret\rurn", "tab\t", "\N{GRINNING FACE}", "\u00e9", "e\u0301", "\u202eleft", "0", "-1", "", "row 0", "x" * 300,
    "\\u0041", "#", "%", "a/b", "<b>",
)  # fmt: skip


class Expected(NamedTuple):
    """The matrix and the names that were written; None if the format has no names."""

    X: np.ndarray[Any, np.dtype[np.float64]]
    rows: list[str] | None
    cols: list[str] | None


def make(random: Random, folder: Path) -> Case:
    """Write a random matrix in a random format."""
    m, n = random.randint(2, 9), random.randint(2, 7)
    entries = [random.choice((0, 0, 1, 2.5, 1e-30, 1e30, 0.1, 1 / 3, 1e15, random.random())) for _ in range(m * n)]
    X = np.array(entries, dtype=float).reshape(m, n)
    X[random.randrange(m), random.randrange(n)] = 1.0
    truth = Expected(X, random.sample(NAMES, m), random.sample(NAMES, n))
    name = random.choice(sorted(WRITERS))
    path, truth, options = WRITERS[name](random, folder, truth)
    return Case(f"{KIND} {name}", partial(check, path, truth, options))


def check(path: Path, truth: Expected, options: dict[str, Any]) -> None:
    """Compare what is read with what was written; an error is a wrong answer."""
    try:
        compare(path, truth, options)
    except ValueError as error:
        raise CaseEnded(
            WRONG_ANSWER, f"a valid input raised an error: {error}", f"rejected, {origin_of(error)}"
        ) from error


def compare(path: Path, truth: Expected, options: dict[str, Any]) -> None:
    """Compare what is read with what was written."""
    if path.is_dir():
        blocks = read_blocks(path, **options)
        values = _dense(blocks.rows(np.arange(blocks.shape[0])).raw)
        names = (None if blocks.row_names is None else blocks.row_names(np.arange(blocks.shape[0])), blocks.col_names)
    else:
        found = read(path, **options)
        values, names = _dense(found.values), (found.row_names, found.col_names)
    if not np.array_equal(values, truth.X):
        raise CaseEnded(WRONG_ANSWER, f"another matrix was read: {values.shape} for {truth.X.shape}", "another matrix")
    for what, expected, got in zip(("rows", "columns"), truth[1:], names, strict=True):
        if expected is not None and (got is None or np.asarray(got).tolist() != expected):
            pairs = [] if got is None else list(zip(expected, np.asarray(got).tolist(), strict=True))
            first = next((pair for pair in pairs if pair[0] != pair[1]), None)
            raise CaseEnded(
                WRONG_ANSWER, f"other names of {what} were read, such as {first!r}", f"other names of {what}"
            )


def _dense(values: Any) -> Any:
    return values.toarray() if scipy.sparse.issparse(values) else values


WrittenInput = tuple[Path, Expected, dict[str, Any]]


def _text(random: Random, folder: Path, name: str, text: str) -> Path:
    """Write text, compressed or not, with or without a byte order mark."""
    data = ("\ufeff" if random.random() < 0.2 else "").encode() + text.encode()
    compression = random.choice(("", "", *COMPRESSORS))
    path = folder / f"{name}{compression}"
    path.write_bytes(COMPRESSORS[compression](data) if compression else data)
    return path


def _table(random: Random, rows: list[list[Any]], separator: str) -> str:
    sink = io.StringIO()
    quoting: Any = random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    if any("\r" in str(cell) for row in rows for cell in row):  # which the csv module does not quote
        quoting = csv.QUOTE_ALL
    csv.writer(sink, delimiter=separator, quoting=quoting, lineterminator=random.choice(("\n", "\r\n"))).writerows(rows)
    text = sink.getvalue()
    return text.rstrip("\r\n") if random.random() < 0.2 else text


def _wide(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    suffix, separator = random.choice(((".csv", ","), (".tsv", "\t")))
    rows, cols = [f"r{name}" for name in truth.rows or []], [f"c{name}" for name in truth.cols or []]
    lines = [["name", *cols], *([name, *map(repr, line)] for name, line in zip(rows, truth.X.tolist(), strict=True))]
    path = _text(random, folder, f"x{suffix}", _table(random, lines, separator))
    return path, Expected(truth.X, rows, cols), {"layout": "wide"}


def _triplets(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    """Write all entries, also zeros, row by row, so that names keep their order."""
    suffix, separator = random.choice(((".csv", ","), (".tsv", "\t")))
    rows, cols = truth.rows or [], truth.cols or []
    lines = [[rows[i], cols[j], repr(float(value))] for (i, j), value in np.ndenumerate(truth.X)]
    path = _text(random, folder, f"x{suffix}", _table(random, [["r", "c", "v"], *lines], separator))
    return path, truth, {"layout": "triplets"}


def _parquet(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    frame = pd.DataFrame(truth.X, columns=truth.cols)
    frame.insert(0, "the names", truth.rows)
    path = folder / "x.parquet"
    options: dict[str, Any] = {"compression": random.choice((None, "snappy", "gzip", "zstd"))}
    frame.to_parquet(path, index=False, row_group_size=random.choice((1, 3, 1000)), **options)
    return path, truth, {"index": "the names", "layout": "wide"}


def _matrix_market(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    places = [(i, j) for i, j in np.argwhere(truth.X).tolist()]
    random.shuffle(places)
    entries = [f"{i + 1}{random.choice((' ', '  ', chr(9)))}{j + 1} {float(truth.X[i, j])!r}" for i, j in places]
    head = random.choice(
        ("%%MatrixMarket matrix coordinate real general", "%%MatrixMarket MATRIX Coordinate Real General")
    )
    m, n = truth.X.shape
    lines = [head, *random.choice(([], ["% a comment"], ["%", "%"])), f"{m} {n} {len(entries)}", *entries]
    path = _text(random, folder, "x.mtx", random.choice(("\n", "\r\n")).join([*lines, ""]).removeprefix("\ufeff"))
    return path, Expected(truth.X, None, None), {}


def _npy(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    order: Any = random.choice("CF")
    values = truth.X.astype(random.choice(("<f8", ">f8")), order=order)
    with (folder / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, values, version=random.choice((None, (1, 0), (2, 0))))
    return folder / "x.npy", Expected(truth.X, None, None), {}


def _npz(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    form = random.choice(("csr", "csc", "coo", "dia", "bsr", "dense"))
    path = folder / "x.npz"
    if form == "dense":
        random.choice((np.savez, np.savez_compressed))(path, X=truth.X)
    else:
        values = getattr(scipy.sparse, f"{form}_{random.choice(('array', 'matrix'))}")(truth.X)
        if form in {"csr", "csc"} and random.random() < 0.5:
            values.indices, values.indptr = values.indices.astype(np.int64), values.indptr.astype(np.int64)
        scipy.sparse.save_npz(path, values, compressed=random.random() < 0.5)
    return path, Expected(truth.X, None, None), {}


def _matlab(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    form = random.choice((np.asarray, scipy.sparse.csc_array, scipy.sparse.csr_matrix))
    path = folder / "x.mat"
    scipy.io.savemat(path, {"X": form(truth.X)}, do_compression=random.random() < 0.5)
    return path, Expected(truth.X, None, None), {}


def _h5ad(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    adata = _random_anndata(random, truth)
    path = folder / "x.h5ad"
    options: dict[str, Any] = {"compression": random.choice((None, "gzip", "lzf"))}
    adata.write_h5ad(path, **options)
    return path, _with_names(adata, truth), {}


def _random_anndata(random: Random, truth: Expected) -> Any:
    form = random.choice((np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array))
    obs = pd.DataFrame({"class": pd.Categorical(["a", "b"] * len(truth.X))[: len(truth.X)]}, index=truth.rows)
    adata = anndata.AnnData(form(truth.X), obs=obs, var=pd.DataFrame(index=truth.cols))
    adata.uns["notes"] = random.choice(({"base": None}, {"a": "b"}, {"many": np.arange(3)}, {}))
    if random.random() < 0.3:
        adata.obsm["more"] = np.ones((len(truth.X), 2))
    if random.random() < 0.3:
        adata.raw = adata.copy()
    return adata


def _with_names(adata: Any, truth: Expected) -> Expected:
    return Expected(truth.X, adata.obs_names.tolist(), adata.var_names.tolist())


def _zarr_anndata(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    adata = _random_anndata(random, truth)
    with anndata.settings.override(zarr_write_format=random.choice((2, 3))):
        adata.write_zarr(folder / "x.zarr")
    return folder / "x.zarr", _with_names(adata, truth), {}


def _store(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    cut = random.randint(1, len(truth.X) - 1)
    form = random.choice((np.asarray, scipy.sparse.csr_array))
    path = folder / "x.zarr"
    if random.random() < 0.5:
        write_blocks(path, [form(truth.X[:cut]), form(truth.X[cut:])])
    else:
        chunks = random.randint(1, len(truth.X)), random.randint(1, truth.X.shape[1])
        zarr.create_array(str(path), data=truth.X, chunks=chunks, zarr_format=random.choice((2, 3)))
    return path, Expected(truth.X, None, None), {}


def _parts(random: Random, folder: Path, truth: Expected) -> WrittenInput:
    """Write a matrix to several files, numbered 8, 9, 10, ..."""
    cuts = sorted(random.sample(range(1, len(truth.X)), random.randint(1, len(truth.X) - 1)))
    place = folder / "parts"
    place.mkdir()
    kind = random.choice(("npy", "npz", "parquet"))
    names = [f"c{name}" for name in truth.cols or []]  # a first column without a name would hold row names
    for k, part in enumerate(np.split(truth.X, cuts)):
        path = place / f"block{k + 8}.{kind}"
        if kind == "npy":
            np.save(path, part)
        elif kind == "npz":
            scipy.sparse.save_npz(path, scipy.sparse.csr_array(part))
        else:
            pd.DataFrame(part, columns=names).to_parquet(path, index=False)
    return place, Expected(truth.X, None, names if kind == "parquet" else None), {}


def _words(random: Random, folder: Path, _: Expected) -> WrittenInput:
    """Write texts with known counts of words."""
    words = sorted(random.sample(("red", "green", "blue", "fish", "bird", "tree", "stone"), random.randint(2, 6)))
    X = np.array([[random.randint(0, 3) for _ in words] for _ in range(random.randint(2, 6))], dtype=float)
    X[0] = np.maximum(X[0], 1)
    options = {"text": TextOptions(min_df=1, stop_words=None)}
    texts = [" ".join(word for word, k in zip(words, line, strict=True) for _ in range(int(k))) or "." for line in X]
    if random.random() < 0.5:
        path = _text(random, folder, "x.txt", random.choice(("\n", "\r\n", "\n\n")).join(texts))
        return path, Expected(X, None, words), options
    records = [json.dumps({"text": text, "id": f"t{k}"}) for k, text in enumerate(texts)]
    records = [with_escapes(random, one) if random.random() < 0.3 else one for one in records]
    path = _text(random, folder, "x.jsonl", "\n".join(records))
    return path, Expected(X, [f"t{k}" for k in range(len(X))], words), options


WRITERS: dict[str, Callable[[Random, Path, Expected], WrittenInput]] = {
    "wide table": _wide,
    "triplets": _triplets,
    "parquet": _parquet,
    "mtx": _matrix_market,
    "npy": _npy,
    "npz": _npz,
    "mat": _matlab,
    "h5ad": _h5ad,
    "zarr AnnData": _zarr_anndata,
    "zarr": _store,
    "folder of blocks": _parts,
    "texts": _words,
}
