"""Memory of the workers of a cluster whose limits are far below the size of the data: it does not grow with the rows.

Dense matrices with 500 columns, ten planted rows and columns and noise, of 1, 2 and 4 GB. They are written block by
block to a Zarr store and fitted by a `LocalCluster` of two worker processes with one thread and a limit of 1 GB each.
Then the factor of all rows is written to another store. Each matrix gets new workers. The peaks are the resident memory
of the larger worker (its memory before it has read data is in the column "at start"), and that of the client.
"""

import logging
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.harness import Bar, Row, isolated, resident, say
from cosep import CoSeparableNMF
from cosep.io import read_blocks, write_blocks
from cosep.utils.types import Indices

COLUMNS, KINDS, BLOCK = 500, 10, 20_000
SIZES = (250_000, 500_000, 1_000_000)
LIMIT = 1_000_000_000
NOISE = 0.01


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per size."""
    for m in (4000,) if tiny else SIZES:
        say(f"  {m} rows")
        with tempfile.TemporaryDirectory() as folder:
            yield {"rows": m, **isolated(limited)(m, 30 if tiny else COLUMNS, folder)}


def limited(m: int, n: int, folder: str) -> Row:
    """Fit one matrix on workers with little memory, and write its row factor."""
    store, random = Path(folder) / "data.zarr", np.random.default_rng(0)
    rows = np.sort(random.choice(m, KINDS, replace=False))
    cols = np.sort(random.choice(n, KINDS, replace=False))
    write_blocks(store, blocks(m, n, rows, cols))
    options: dict[str, Any] = {"threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **options) as cluster, Client(cluster) as client:
        client.run(_loaded)
        start = max(client.run(resident, "VmRSS").values())
        pids = set(client.run(os.getpid).values())
        begin = time.perf_counter()
        model: Any = CoSeparableNMF(n_rows=KINDS, n_cols=KINDS).fit(read_blocks(store))
        fitted = time.perf_counter() - begin
        model.row_factor_.rechunk((BLOCK, KINDS)).to_zarr(str(Path(folder) / "row_factor.zarr"))
        return {
            "data_mb": m * n * 8 / 1e6,
            "limit_mb": LIMIT / 1e6,
            "worker_at_start_mb": start / 1e6,
            "worker_peak_mb": max(client.run(resident, "VmHWM").values()) / 1e6,
            "client_peak_mb": resident("VmHWM") / 1e6,
            "moved_mb": sum(client.run(_moved).values()) / 1e6,
            "workers_lost": len(pids - set(client.run(os.getpid).values())),
            "passes": model.n_passes_,
            "planted_rows_found": len(np.intersect1d(model.row_indices_, rows)),
            "planted_columns_found": len(np.intersect1d(model.col_indices_, cols)),
            "fit_wall_clock_s": fitted,
            "with_factor_wall_clock_s": time.perf_counter() - begin,
        }


def blocks(m: int, n: int, rows: Indices, cols: Indices) -> Iterator[Any]:
    """Yield a dense planted matrix in blocks: all rows and columns are mixtures of the planted ones."""
    random = np.random.default_rng(1)
    P2 = random.dirichlet(np.full(KINDS, 0.3), n).T
    P2[:, cols] = np.eye(KINDS)
    H = random.uniform(0.1, 1.0, (KINDS, KINDS)) @ P2
    for start in range(0, m, BLOCK):
        size = min(BLOCK, m - start)
        P1 = random.dirichlet(np.full(KINDS, 0.5), size)
        planted = np.flatnonzero((rows >= start) & (rows < start + size))
        P1[rows[planted] - start] = np.eye(KINDS)[planted]
        X = P1 @ H
        yield X * (1.0 + NOISE * random.uniform(-1.0, 1.0, X.shape))


def _loaded() -> None:
    """Load everything that a worker needs before its memory is measured."""
    CoSeparableNMF(2, 2).fit(np.eye(4))


def _moved(dask_worker: Any) -> float:
    """Return the number of bytes that a worker sent to other workers and to the client."""
    return float(dask_worker.transfer_outgoing_bytes_total)


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the peaks with the limit, and the last peak with the first."""
    if not rows:
        return []
    peaks = [row["worker_peak_mb"] for row in rows]
    return [
        Bar("largest peak memory of a worker / its limit", max(peaks) / rows[0]["limit_mb"], 1.0),
        Bar("peak memory of a worker, most rows / fewest rows", peaks[-1] / peaks[0], 1.2),
        Bar("workers lost to the limit", float(sum(row["workers_lost"] for row in rows)), 0.0),
    ]
