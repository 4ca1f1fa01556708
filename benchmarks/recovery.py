"""Planted rows and columns found by `faithful` and by SNPA on both sides, without and with noise.

Without noise: how many of 60 planted matrices are found exactly, ten of each shape and size of the core. Only matrices
all of whose planted rows and columns can be identified are drawn: with a core that is not square, planted rows are
often mixtures of others. With noise: the mean share of planted rows and columns that are found (`index_accuracy`), ten
matrices for each level. The level is the norm of the noise relative to that of the matrix.
"""

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from benchmarks.harness import Bar, Row
from cosep import Selection, both_sides, faithful, index_accuracy, make_coseparable, snpa
from cosep.datasets.synthetic import Planted

# Numbers of rows and columns, and of planted rows and columns.
SIZES = ((20, 15, 2, 2), (30, 20, 4, 3), (60, 50, 6, 6), (50, 100, 5, 8), (150, 100, 10, 10), (200, 40, 8, 4))
NOISY_SIZE = (60, 50, 6, 6)
LEVELS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
SEEDS = 10
METHODS: dict[str, Callable[[Any, int, int], Selection]] = {"faithful": faithful, "snpa": both_sides(snpa)}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per size without noise, then one per level."""
    seeds = 2 if tiny else SEEDS
    for size in SIZES[:2] if tiny else SIZES:
        found = accuracies(size, 0.0, seeds)
        exact = {f"{name}_exact": f"{sum(share == 1.0 for share in shares)} of {seeds}" for name, shares in found}
        yield {"size": size_shown(size), "noise": 0, **exact, **means(found)}
    for level in LEVELS[:2] if tiny else LEVELS:
        yield {"size": size_shown(NOISY_SIZE), "noise": level, **means(accuracies(NOISY_SIZE, level, seeds))}


def size_shown(size: tuple[int, int, int, int]) -> str:
    """Return the shape of the matrix and of the core."""
    m, n, r1, r2 = size
    return f"{m} x {n}, core {r1} x {r2}"


def accuracies(size: tuple[int, int, int, int], noise: float, seeds: int) -> list[tuple[str, list[float]]]:
    """Return for each method the shares of the planted rows and columns that it finds."""
    m, n, r1, r2 = size
    every = (make_coseparable(m, n, r1, r2, noise=noise, random_state=seed) for seed in count())
    drawn = list(islice((pair for pair in every if identifiable(pair[1])), seeds))
    return [
        (name, [float(index_accuracy(select(X, r1, r2), truth)) for X, truth in drawn])
        for name, select in METHODS.items()
    ]


def identifiable(truth: Planted) -> bool:
    """Return whether all planted rows and columns can be identified, as far as that is known."""
    return all(known is None or known.all() for known in (truth.row_identifiable, truth.col_identifiable))


def means(found: list[tuple[str, list[float]]]) -> Row:
    """Return the mean accuracy of each method in percent."""
    return {f"{name}_pct": 100 * float(np.mean(shares)) for name, shares in found}


def bars(rows: list[Row]) -> list[Bar]:
    """Compare what is found without noise with the limit."""
    exact = [tuple(map(int, row["faithful_exact"].split(" of "))) for row in rows if "faithful_exact" in row]
    found, drawn = (sum(column) for column in zip(*exact, strict=True)) if exact else (0, 0)
    share = found / drawn if drawn else None
    return [Bar(f"share of {drawn} matrices without noise found exactly", share, 1, at_least=True)]
