"""Matrices in blocks of rows for the tests."""

import os
import signal
from functools import partial
from itertools import pairwise
from pathlib import Path

import dask
import numpy as np
import scipy.sparse

from cosep import make_coseparable
from cosep.fit.candidates import Directions
from cosep.matrix.dask import DaskBlocks, from_array
from cosep.matrix.row_blocks import RowBlocks

FORMATS = {
    "dense": np.asarray,
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
    "coo": scipy.sparse.coo_array,
}


def lengths_of(m, count, *, ragged=False):
    """Return the lengths of ``count`` blocks; ragged ones differ, and some are empty."""
    if not ragged:
        return [len(part) for part in np.array_split(np.arange(m), count)]
    cuts = np.sort(np.random.default_rng(count).integers(0, m, count - 3))
    return [0, *np.diff([0, *cuts, m]).tolist(), 0]


def piece(block):
    return block


def cut(X, lengths, make=np.asarray):
    """Return the blocks of a matrix as functions."""
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return [partial(piece, make(X[a:b])) for a, b in pairwise(ends)]


def local(X, lengths, make=np.asarray, **facts):
    """Return a matrix in blocks that are evaluated one after the other."""
    return RowBlocks(cut(X, lengths, make), lengths, X.shape[1], dtype=X.dtype, **facts)


def by_dask(X, lengths, make=np.asarray, **facts):
    """Return a matrix in blocks that are functions, evaluated by Dask."""
    return DaskBlocks(cut(X, lengths, make), lengths, X.shape[1], dtype=X.dtype, **facts)


def array(X, lengths, make=np.asarray):
    """Return a Dask array with such chunks, each a delayed block."""
    parts = [
        dask.array.from_delayed(dask.delayed(one)(), (length, X.shape[1]), X.dtype)
        for one, length in zip(cut(X, lengths, make), lengths, strict=True)
    ]
    return dask.array.concatenate(parts)


def chunked(X, lengths, make=np.asarray):
    """Return a matrix in blocks that are the chunks of a Dask array, none put together."""
    return from_array(array(X, lengths, make))


def noted(folder, block, name):
    """Return a block, and write down that it was read."""
    with Path(folder, f"{name}-{os.getpid()}").open("a", encoding="utf-8") as notes:
        notes.write("x")
    return block


def reads(folder):
    """Return how many blocks were read."""
    return sum(len(path.read_text("utf-8")) for path in Path(folder).iterdir())


def deadly(marker, block, after):
    """Return a block; once, after ``after`` reads, kill the process instead."""
    with Path(marker, "reads").open("a", encoding="utf-8") as notes:
        notes.write("x")
    if len(Path(marker, "reads").read_text("utf-8")) > after and not Path(marker, "dead").exists():
        Path(marker, "dead").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def failing(message):
    raise OSError(message)


def some_directions(n, seed=0, **others):
    """Return directions in which to search for rows."""
    random = np.random.default_rng(seed)
    typical, extreme = random.uniform(size=(n, 3)), random.standard_normal((n, 2))
    return Directions(typical, extreme, others.get("col_scale"), others.get("allowed"))


def noisy(m=900, n=40, *, seed=0):
    """A co-separable matrix with noise, with more rows than columns to select."""
    return make_coseparable(m, n, 5, 3, noise=0.05, random_state=seed)[0]


def counts(m=900, n=60, *, seed=0):
    """Counts, most of them zero: short and long rows, some empty rows, and an empty column."""
    random = np.random.default_rng(seed)
    topics = random.dirichlet(np.full(n, 0.1), size=6)
    shares = random.dirichlet(np.full(6, 0.2), size=m)
    X = random.poisson(shares @ topics * random.uniform(5, 60, size=(m, 1))).astype(np.float64)
    X[::50] = 0
    X[:, 7] = 0
    return X


def repeated(m=900, n=30, *, seed=0):
    """Rows that all occur many times, and rows and columns of zeros."""
    random = np.random.default_rng(seed)
    few = np.round(random.uniform(size=(40, n)) * (random.uniform(size=(40, n)) < 0.5), 3)
    X = few[random.integers(0, 40, size=m)]
    X[random.integers(0, m, size=m // 10)] = 0
    X[:, [0, n - 1]] = 0
    return X


DATA = {"noisy": noisy(), "counts": counts(), "repeated": repeated()}
