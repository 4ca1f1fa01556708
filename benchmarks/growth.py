"""Growth with the number of columns: the convex model, 20 rows and r = 20, with 1000 to 100000 columns.

`solve_newton` with trace `r/2 + 1` and its default tolerance, 1e-4. Dense: Poisson counts of a random topic model, 19
of 20 entries nonzero. Sparse: shorter documents of more distinct topics, 5 of 20 entries nonzero. Every size runs in a
process of its own; memory is its peak in addition to the process with the block loaded. Sizes above 10000 columns are
timed once. The exponent is a least-squares fit to the logarithms over all sizes.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import topics
from benchmarks.harness import ROUNDS, Bar, Row, clock, isolated, say, with_memory
from cosep.solve.newton import solve_newton

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
KINDS = {"dense": {}, "sparse": {"words": 0.05, "mixture": 0.02, "length": 30.0}}
R = 20
# Larger sizes take long enough to be timed only once.
LARGE = 10_000


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per kind and size."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "block.npy"
        for kind, options in KINDS.items():
            for n in (100, 200) if tiny else SIZES:
                say(f"  {kind} {n}")
                np.save(file, topics(R, n, **options))
                yield {"kind": kind, "columns": n, **isolated(solve)(str(file), 1 if n > LARGE else ROUNDS)}


def solve(path: str, rounds: int) -> Row:
    """Solve the model for the block in a file."""
    small = topics(R, 100)
    solve_newton(small, small.sum(axis=0), r=R, trace=R / 2 + 1)
    B = np.load(path)
    w = B.sum(axis=0)
    first, extra = with_memory(lambda: solve_newton(B, w, r=R, trace=R / 2 + 1))
    others = [clock(lambda: solve_newton(B, w, r=R, trace=R / 2 + 1)) for _ in range(rounds - 1)]
    seconds = min(timed.seconds for timed in (first, *others))
    return {"s": seconds, "memory_mb": extra / 1e6, "gap": first.answer.relative_gap}


def exponent(rows: list[Row], kind: str) -> float | None:
    """Return the slope of log seconds over log columns."""
    sizes, seconds = (np.log([row[name] for row in rows if row["kind"] == kind]) for name in ("columns", "s"))
    return float(np.polyfit(sizes, seconds, 1)[0]) if len(sizes) > 1 else None


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the exponents, and the memory of the largest size, with their limits."""
    most = max((row["memory_mb"] for row in rows), default=None)
    return [
        *(Bar(f"exponent of the time in the number of columns, {kind}", exponent(rows, kind), 1.15) for kind in KINDS),
        Bar("largest memory, MB", most, 1000),
    ]
