"""Matrices larger than memory: time, memory and passes of `CoSeparableNMF` on a Zarr store, for more and more rows.

Planted sparse matrices (`benchmarks/planted.py`) with 10^5, 10^6 and 10^7 rows x 2000 columns, one percent of the
entries nonzero, 20 planted rows and columns, and one percent of noise. They are written block by block to a Zarr store
and fitted from there by Dask on one thread, each in a process of its own. Memory is the peak resident memory in
addition to the process before the fit. At 10^6 rows the comparison includes scikit-learn's `MiniBatchNMF.partial_fit`,
once over the same blocks, and `CoSeparableNMF` in memory, including reading: the default, and SPA+ (`method="spa"`).
Explained is the share of squares, 1 - ||X - WH||^2 / ||X||^2, in the plain norm, for MiniBatchNMF on the first block.
The two methods that work in blocks do not compute the row factor, which takes one more pass. Last, a matrix with 10^5
columns and random entries, one in 10^4 nonzero, shows the cost of very many columns; it has no structure to find.

The first table is the cost model of `docs/large.md`, with the passes of each run. The seconds of one core are a
constant for the small problem plus a rate per row, both from the two shorter runs with the same number of columns. They
predict the longest run, and 10^9 rows x 10^5 columns. Bytes moved and memory are the model's values for a cluster whose
workers have one thread; the measured memory is that of one process that does everything. Measured bytes read are those
of the compressed files on disk; the model counts them as they are in memory.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import ceil, log
from pathlib import Path
from typing import Any

import dask
import numpy as np
import scipy.sparse
from sklearn.decomposition import MiniBatchNMF

from benchmarks.harness import Bar, Row, isolated, say, with_memory
from benchmarks.planted import BLOCK, Recipe, blocks, recipe
from cosep import CoSeparableNMF, Factorization, row_blocks
from cosep.fit.gram_space import EXTRA_DIRECTIONS
from cosep.fit.in_blocks import DEFAULT_SAMPLE
from cosep.fit.sample_selection import MAX_SEARCHES
from cosep.io import read_blocks, write_blocks
from cosep.matrix.merging import MERGE_WIDTH, MOST_PARTS
from cosep.matrix.row_blocks import MOST_ENTRIES, MOST_ROWS, RowBlocks

SIZES = (100_000, 1_000_000, 10_000_000)
COMPARED = 1_000_000
COLUMNS, KINDS = 2000, 20
WIDE_SIZES, WIDE = (200_000, 1_000_000, 3_000_000), 100_000
OURS, BATCHES = "cosep, in blocks", "scikit-learn MiniBatchNMF, in blocks"
# Flops of a nonnegative least-squares problem on planted data, divided by the squared number of unknowns.
SOLVE = 4


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per size, and one per peer."""
    sizes, compared = ((3000, 6000), 3000) if tiny else (SIZES, COMPARED)
    for m in sizes:
        of = recipe(m, *((60, 4) if tiny else (COLUMNS, KINDS)))
        yield from on_store(blocks(of), of, METHODS if m == compared else (OURS,))
    for m in (3000, 6000) if tiny else WIDE_SIZES:
        yield from on_store(entries(m, 500 if tiny else WIDE), None, (OURS,))


def on_store(data: Iterable[Any], of: Recipe | None, names: Iterable[str]) -> Iterator[Row]:
    """Write blocks to a store, and yield one row per method."""
    with tempfile.TemporaryDirectory() as folder:
        store, stored = str(Path(folder) / "data.zarr"), 0

        def counted() -> Iterator[Any]:
            nonlocal stored
            for block in data:
                stored += block.nnz
                yield block

        write_blocks(store, counted())
        m, n = read_blocks(store).shape
        say(f"  {m} x {n}")
        for name in names:
            say(f"    {name}")
            row = {"rows": m, "columns": n, "nonzeros_a_row": stored / m, "method": name}
            yield {**row, **isolated(measured)(name, store, of)}


def entries(m: int, n: int) -> Iterator[Any]:
    """Yield blocks of random entries, ten per row."""
    random = np.random.default_rng(0)
    for start in range(0, m, BLOCK):
        size = min(BLOCK, m - start)
        where, ends = random.integers(0, n, 10 * size), np.arange(0, 10 * size + 1, 10)
        block = scipy.sparse.csr_array((random.exponential(size=10 * size), where, ends), shape=(size, n))
        block.sum_duplicates()
        yield block


def measured(name: str, store: str, of: Recipe | None) -> Row:
    """Fit one model to a store, and return its costs and results."""
    fit, r = METHODS[name], KINDS if of is None else len(of.rows)
    fit(row_blocks(list(blocks(recipe(1000, 100, 5), 250))), 5)
    data = read_blocks(store)
    size = sum(file.stat().st_size for file in Path(store).rglob("*") if file.is_file())
    start, before = time.perf_counter(), bytes_read()
    with dask.config.set(scheduler="threads", num_workers=1):
        timed, extra = with_memory(lambda: fit(data, r))
    row = {"data_mb": size / 1e6, "read_mb": (bytes_read() - before) / 1e6, "s": timed.seconds}
    row |= {"wall_clock_s": time.perf_counter() - start, "memory_mb": extra / 1e6}
    return {**row, **found(timed.answer, data, of)}


def bytes_read() -> float:
    """Return how many bytes this process has read so far. Linux only."""
    return float(Path("/proc/self/io").read_text(encoding="ascii").split()[1])


def found(model: Any, data: RowBlocks, of: Recipe | None) -> Row:
    """Return the passes of a model, the number of planted rows and columns found, and how much it explains."""
    if isinstance(model, MiniBatchNMF):
        X = next(pieces(data))
        parts = Factorization(model.transform(X), None, model.components_)
        return {"passes": 1, "explained_pct": 100 * (1.0 - parts.relative_error(X) ** 2)}
    planted = {} if of is None else {"planted_rows_found": of.rows, "planted_columns_found": of.cols}
    chosen = model.row_indices_, model.col_indices_
    return {
        "passes": getattr(model, "n_passes_", None),
        **{what: len(set(one) & set(truth)) for (what, truth), one in zip(planted.items(), chosen, strict=False)},
        "explained_pct": 100 * model.plain_fidelity_.refitted,
    }


def pieces(data: RowBlocks) -> Iterator[Any]:
    """Yield the blocks themselves."""
    for group in data.groups:
        yield scipy.sparse.vstack([piece() for piece in group], format="csr")


def in_blocks(data: RowBlocks, r: int) -> Any:
    """Fit in blocks; the row factor stays lazy."""
    return CoSeparableNMF(n_rows=r, n_cols=r).fit(data)


def in_batches(data: RowBlocks, r: int) -> Any:
    """Fit an NMF block by block, once over each."""
    model = MiniBatchNMF(n_components=r, random_state=0)
    for piece in pieces(data):
        model.partial_fit(piece)
    return model


def in_memory(data: RowBlocks, r: int, method: str) -> Any:
    """Load everything and fit."""
    return CoSeparableNMF(n_rows=r, n_cols=r, method=method).fit(scipy.sparse.vstack(list(pieces(data)), format="csr"))


METHODS: dict[str, Callable[[RowBlocks, int], Any]] = {
    OURS: in_blocks,
    "cosep, in memory": partial(in_memory, method="faithful"),
    "SPA+, in memory": partial(in_memory, method="spa"),
    BATCHES: in_batches,
}


def bars(rows: list[Row]) -> list[Bar]:
    """Compare growth, passes and planted items found with their limits."""
    ours = [row for row in rows if row["method"] == OURS and "planted_rows_found" in row]
    if not ours:
        return []
    first, last = ours[0], ours[-1]
    growth = log(last["s"] / first["s"]) / log(last["rows"] / first["rows"])
    missed = sum(2 * KINDS - row["planted_rows_found"] - row["planted_columns_found"] for row in ours)
    return [
        Bar("time of a fit in blocks ~ rows^x, x", growth, 1.1),
        Bar("planted rows and columns not found, over all sizes", float(missed), 0.0),
        Bar("passes with the most rows minus passes with the fewest", float(last["passes"] - first["passes"]), 0.0),
        *(Bar("seconds in blocks / seconds of one epoch of MiniBatchNMF", ratio, 1.5) for ratio in _ratios(rows)),
    ]


def _ratios(rows: list[Row]) -> list[float]:
    """Return our seconds over those of MiniBatchNMF, where both were measured."""
    others = {row["rows"]: row["s"] for row in rows if row["method"] == BATCHES}
    return [row["s"] / others[row["rows"]] for row in rows if row["method"] == OURS and row["rows"] in others]


def summary(rows: list[Row]) -> list[Row]:
    """Return the cost model for every size, and what was measured."""
    lines: list[Row] = []
    ours = [row for row in rows if row["method"] == OURS]
    for n in dict.fromkeys(row["columns"] for row in ours):
        runs = [row for row in ours if row["columns"] == n]
        if len(runs) < 2:
            continue
        rate = (runs[1]["s"] - runs[0]["s"]) / (runs[1]["rows"] - runs[0]["rows"])
        constant = runs[0]["s"] - rate * runs[0]["rows"]
        for row in [*runs, *([runs[-1] | {"rows": 10**9, "s": None, "memory_mb": None}] if n == WIDE else [])]:
            model = costs(row["rows"], n, row["nonzeros_a_row"], KINDS, row["passes"])
            line = {"rows": row["rows"], "columns": n, "passes": row["passes"], **model}
            line |= {"core_s": constant + rate * row["rows"], "measured_core_s": row["s"]}
            lines.append(line | {"measured_mb": row["memory_mb"]})
    return lines


def costs(m: int, n: int, z: float, r: int, passes: int) -> Row:
    """Return flops, bytes and memory of a fit: m x n with z nonzeros a row, r rows and columns to be chosen."""
    steps, wide = passes - 4 - MAX_SEARCHES, r + EXTRA_DIRECTIONS
    # A pass for factors multiplies by H, S'P1' and twice by the directions of the bound, the last one by six factors.
    products = r * (4 * MAX_SEARCHES + 4 * steps + 2 + 12) + wide * 4 * (steps + 1)
    solves = steps + 2
    in_block = min(MOST_ROWS, MOST_ENTRIES / z, m)
    parts = min(MOST_PARTS, ceil(m / in_block))
    sampled, levels, thin = 12 * z * min(DEFAULT_SAMPLE, m), 1 + log(parts, MERGE_WIDTH), 8.0 * n * (r + wide)
    return {
        "flops": m * (z * (8 + 8 * MAX_SEARCHES + 6 * steps) + products * z + SOLVE * solves * r * r),
        "read_gb": passes * m * (12 * z + 8) / 1e9,
        "moved_gb": (parts * (16 * n + (steps + 1) * thin) + sampled * levels) / 1e9,
        "worker_mb": (in_block * (36 * z + 12 * 8 * r) + (MERGE_WIDTH + 5) * thin) / 1e6,
    }
