"""The same fit by local blocks and by Dask: differences of the selection and of the factors.

A sparse planted matrix and a dense one with noise, 20000 rows, of which 1000 are sampled: in memory as one block, then
cut evenly, unevenly and into many blocks. The blocks are evaluated in a loop, by Dask on threads, and by Dask on a
`LocalCluster` of two worker processes with one thread each. In the last row one of the two workers is killed during the
fit. The difference of factors is the largest difference of any entry of row and column factors and weights, relative to
the largest entry of that factor.
"""

import logging
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

from benchmarks.harness import Bar, Row, say
from benchmarks.planted import block, recipe
from cosep import CoSeparableNMF, make_coseparable
from cosep.matrix.dask import DaskBlocks
from cosep.matrix.row_blocks import RowBlocks

MANY = 100
# This many blocks are read before one of the workers is killed, in the third pass.
DEADLY = 250
# The number of blocks, and the share of the rows in each.
CUTS = {"even": np.ones(8), "uneven": 1.0 + np.arange(7) ** 2, "many": np.ones(MANY)}
FACTORS = ("row_factor_", "col_factor_", "row_weights_", "col_weights_")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per matrix, cut and executor."""
    m, sampled = (600, 100) if tiny else (20_000, 1000)
    matrices = {
        "sparse": (block(recipe(m), 0, m), 20),
        "dense": (make_coseparable(m, 100, 5, 5, noise=0.01, random_state=0)[0], 5),
    }
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
    }
    with nullcontext() if tiny else LocalCluster(**options) as cluster:
        for name, (X, r) in matrices.items():
            say(f"  {name}")
            alone = fitted(RowBlocks(*pieces(X, np.ones(1))), r, sampled)
            for cut, shares in list(CUTS.items())[:1] if tiny else CUTS.items():
                blocks = pieces(X, shares)
                row = {"matrix": name, "cut": cut, "blocks": len(shares)}
                yield {**row, "by": "turns", **apart(fitted(RowBlocks(*blocks), r, sampled), alone)}
                yield {**row, "by": "threads", **apart(fitted(DaskBlocks(*blocks), r, sampled), alone)}
                if cluster is not None:
                    with Client(cluster):
                        yield {**row, "by": "processes", **apart(fitted(DaskBlocks(*blocks), r, sampled), alone)}
            if cluster is None:
                continue
            with Client(cluster), tempfile.TemporaryDirectory() as folder:
                deadly = [partial(dying, piece, folder) for piece in blocks[0]]
                died = apart(fitted(DaskBlocks(deadly, *blocks[1:]), r, sampled), alone)
                yield {**row, "by": f"processes, {len(list(Path(folder).glob('dead')))} killed", **died}


def pieces(X: Any, shares: NDArray[Any]) -> tuple[list[Callable[[], Any]], list[int], int]:
    """Cut a matrix into blocks."""
    ends = np.round(np.cumsum([0, *shares]) / shares.sum() * X.shape[0]).astype(int)
    cut = [X[a:b] for a, b in pairwise(ends)]
    return [partial(itself, one) for one in cut], [one.shape[0] for one in cut], X.shape[1]


def itself(piece: Any) -> Any:
    """Return a block."""
    return piece


def dying(piece: Callable[[], Any], folder: str) -> Any:
    """Return a block; kill the process that reads the 250th, in the third pass over a hundred blocks."""
    tempfile.NamedTemporaryFile(dir=folder, prefix="read-", delete=False).close()
    dead = Path(folder) / "dead"
    if sum(1 for _ in Path(folder).iterdir()) >= DEADLY and not dead.exists():
        dead.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece()


def fitted(blocks: RowBlocks, r: int, sampled: int) -> dict[str, NDArray[Any]]:
    """Return all that a fit finds, as arrays."""
    model = CoSeparableNMF(r, r, sample_size=sampled).fit(blocks)
    names = (*FACTORS, "row_indices_", "col_indices_", "row_labels_", "column_labels_")
    return {name: np.asarray(getattr(model, name)) for name in names} | {"passes": np.array(model.n_passes_)}


def apart(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> Row:
    """Return the differences between two fits."""
    return {
        "passes": int(one["passes"]),
        "chosen_that_differ": sum(
            len(np.setxor1d(one[side], other[side])) for side in ("row_indices_", "col_indices_")
        ),
        "labels_that_differ": sum(int((one[side] != other[side]).sum()) for side in ("row_labels_", "column_labels_")),
        "largest_difference_of_factors": max(
            float(np.abs(one[name] - other[name]).max() / other[name].max()) for name in FACTORS
        ),
    }


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the differences with their limits."""
    if not rows:
        return []
    return [
        Bar(
            "largest number of selected rows and columns that differ",
            max(row["chosen_that_differ"] for row in rows),
            0.0,
        ),
        Bar("largest difference of factors", max(row["largest_difference_of_factors"] for row in rows), 1e-8),
    ]
