"""`compile_kernels()`: seconds with an empty cache of machine code, and with the cache in a new process.

Every selector and solver of the package runs once on a 30 x 20 matrix, and factors are fitted and explained. Importing
is not included. `again` is the same work repeated. A note names kernels that this does not call.
"""

import tempfile
from collections.abc import Iterator

from benchmarks.harness import Bar, Row, clock, isolated, say
from cosep import compile_kernels
from cosep.estimators.compilation import kernels

LIMITS = {"empty": 15.0, "filled": 1.0}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row for an empty cache, and one for the cache that it fills."""
    with tempfile.TemporaryDirectory() as folder:
        for state in LIMITS:
            say(f"  {state} cache")
            row, unreached = isolated(first_calls, cache=None if tiny else folder)()
            # Machine code from the cache includes that of the kernels it calls, which are not counted.
            note = f"not reached: {', '.join(unreached)}" if state == "empty" and unreached else ""
            yield {"cache": state, **row, "note": note}


def first_calls() -> tuple[Row, list[str]]:
    """Return the seconds of the first and the second calls, and the names of kernels that were not called."""
    first, second = clock(compile_kernels), clock(compile_kernels)
    unreached = sorted(name for name, kernel in kernels().items() if not kernel.signatures)
    return {"first_s": first.seconds, "again_s": second.seconds}, unreached


def bars(rows: list[Row]) -> list[Bar]:
    """Compare both start times with their limits."""
    seconds = {row["cache"]: row["first_s"] for row in rows}
    return [
        Bar(f"seconds of the first call of all kernels, {state} cache", seconds.get(state), limit)
        for state, limit in LIMITS.items()
    ]
