"""The smallest core of a matrix in other units: `minimal_coseparable` must find the same shape.

400 random matrices with 2 to 8 rows and columns: counts, sparse counts, products of three matrices of counts, products
of two matrices of uniform numbers. The rows and the columns of each are multiplied by random factors, log-uniform from
1/s to s, for every scale s from 1 to 10^8. `wrong` counts the matrices whose shape changes, `unproven` those whose core
does not hold at the tolerance of 1e-6. `error` is the largest error of a core in the scaling that `cosep.theory` uses;
`error in units` is the largest relative error in the units of the matrix.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Bar, Row
from cosep.theory import minimal_coseparable
from cosep.utils.types import Array

MATRICES = 400
SCALES = range(9)


def matrices(count: int) -> Iterator[Array]:
    """Yield random nonzero matrices, a quarter of each kind."""
    random = np.random.default_rng(0)
    for k in range(count):
        m, n, r, s = random.integers(2, 9, 4)
        counts = random.integers(0, 4, (m, n)).astype(np.float64)
        kinds = (
            counts,
            counts * (random.uniform(size=(m, n)) < 0.4),
            random.integers(0, 3, (m, r)) @ random.integers(0, 4, (r, s)) @ random.integers(0, 3, (s, n)),
            random.uniform(size=(m, min(r, m))) @ random.uniform(size=(min(r, m), n)),
        )
        B = kinds[k % 4].astype(np.float64)
        B[0, 0] += not B.any()
        yield B


def in_other_units(B: Array, decades: float, random: np.random.Generator) -> Array:
    """Multiply rows and columns by random factors of at most this many decades."""
    rows, cols = (10.0 ** random.uniform(-decades, decades, size) for size in B.shape)
    return np.asarray(rows[:, None] * B * cols)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per scale."""
    some = list(matrices(8 if tiny else MATRICES))
    shapes = [minimal_coseparable(B).shape for B in some]
    for decades in SCALES:
        random = np.random.default_rng(decades)
        scaled = [in_other_units(B, decades, random) for B in some]
        cores = [minimal_coseparable(X) for X in scaled]
        yield {
            "scale": f"1e{decades}",
            "matrices": len(some),
            "wrong": sum(core.shape != shape for core, shape in zip(cores, shapes, strict=True)),
            "unproven": sum(not core for core in cores),
            "error": max(core.error for core in cores),
            "error_in_units": max(core.factorization.relative_error(X) for core, X in zip(cores, scaled, strict=True)),
        }


def bars(rows: list[Row]) -> list[Bar]:
    """Allow no change of a shape."""
    wrong = sum(row["wrong"] + row["unproven"] for row in rows) if rows else None
    return [Bar(f"wrong or unproven cores of {sum(row['matrices'] for row in rows)} matrices in other units", wrong, 0)]
