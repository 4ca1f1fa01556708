"""Growth with the number of columns: the convex model, 20 rows and r = 20, at 1000 to 100000 columns.

`solve_newton` at trace `r/2 + 1` and its default tolerance, 1e-4. Dense: Poisson counts of a random topic model, 19 of
20 entries nonzero; sparse: shorter documents of more distinct topics, 5 of 20. Every size runs in a process of its own;
memory is its peak beyond what it held with the block loaded. Above 10000 columns it is timed once. The exponent is
fitted by least squares to the logarithms over all sizes.
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
# Sizes above this take long enough to be timed once.
LARGE = 10_000


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row for each kind and size."""
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
    """Hold the exponents, and the memory of the largest size, against the promise."""
    most = max((row["memory_mb"] for row in rows), default=None)
    return [
        *(Bar(f"exponent of seconds in the columns, {kind}", exponent(rows, kind), 1.3) for kind in KINDS),
        Bar("most memory, MB", most, 2000),
    ]
