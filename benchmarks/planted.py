"""Blocks of a sparse co-separable matrix with any number of rows, and its planted rows and columns.

``X = P1 S P2`` with one percent of noise on every nonzero entry. Every row except the planted ones mixes two kinds,
each with a share of at least a quarter, and every other column mixes two core columns. Kinds that are frequent in rows
have few columns and vice versa, as with words: otherwise a matrix with 2000 columns and 20 kinds could not be as sparse
as one percent. The rows are drawn block by block.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.optimize import brentq

from cosep.utils.types import Array, Indices

BLOCK = 50_000
NOISE = 0.01
# Share of columns of the kind with the fewest, chosen for a density of one percent.
FEWEST = 2e-4


class Recipe(NamedTuple):
    """The parameters of a matrix: number of rows, planted rows, ``S P2``, planted columns, frequency of each kind."""

    m: int
    rows: Indices
    H: scipy.sparse.csr_array
    cols: Indices
    frequencies: Array


def recipe(m: int, n: int = 2000, r: int = 20, seed: int = 0) -> Recipe:
    """Return the parameters of a matrix with m rows, n columns and r kinds."""
    random = np.random.default_rng(seed)
    growth = brentq(lambda q: FEWEST * (q**r - 1) / (q - 1) - 1, 1.001, 1 / FEWEST)
    columns_share = FEWEST * growth ** np.arange(r)
    P2 = np.zeros((r, n))
    for j in range(n):
        kinds = random.choice(r, 2, replace=False, p=columns_share / columns_share.sum())
        share = random.uniform(0.25, 0.75)
        P2[kinds, j] = random.uniform(0.5, 1.0) * np.array([share, 1 - share])
    cols = np.sort(random.choice(n, r, replace=False))
    P2[:, cols] = np.eye(r)
    S = np.diag(random.uniform(1.0, 2.0, r))
    S[range(1, r), range(r - 1)] = 0.25
    rows = np.sort(random.choice(m, r, replace=False))
    return Recipe(m, rows, scipy.sparse.csr_array(S @ P2), cols, 1 / columns_share / (1 / columns_share).sum())


def blocks(of: Recipe, size: int = BLOCK, seed: int = 0) -> Iterator[scipy.sparse.csr_array]:
    """Yield the matrix in blocks of rows."""
    for start in range(0, of.m, size):
        yield block(of, start, min(start + size, of.m), seed)


def block(of: Recipe, start: int, stop: int, seed: int = 0) -> scipy.sparse.csr_array:
    """Return some rows, the same ones at every call."""
    random = np.random.default_rng((seed, start))
    m, r = stop - start, len(of.rows)
    first, second = random.choice(r, (2, m), p=of.frequencies)
    second = np.where(first == second, (first + 1) % r, second)
    share = random.uniform(0.25, 0.75, m)
    planted = np.flatnonzero((of.rows >= start) & (of.rows < stop))
    at = of.rows[planted] - start
    first[at], share[at] = planted, 1.0
    entries, kinds = np.stack([share, 1.0 - share], axis=1).ravel(), np.stack([first, second], axis=1).ravel()
    P1 = scipy.sparse.csr_array((entries, kinds, np.arange(0, 2 * m + 1, 2)), shape=(m, r))
    P1.eliminate_zeros()
    X = P1 @ of.H
    X.sort_indices()
    X.data *= 1.0 + NOISE * np.clip(random.standard_normal(len(X.data)), -3.0, 3.0)
    return X
