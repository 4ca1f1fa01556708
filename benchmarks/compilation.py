"""The first call of all kernels: seconds with an empty cache of machine code, and with the cache in a new process.

Every selector and solver of the package runs once on a 30 x 20 matrix, and the factors are fitted. Importing is not
included. `again` is the same work repeated. A note names kernels that this does not call.
"""

import pkgutil
import tempfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import cosep.kernels
from benchmarks.harness import Bar, Row, clock, isolated, say
from cosep import CoSeparableNMF, fgm, make_coseparable
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from cosep.select.fgm import SOLVERS

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
    names = [module.name for module in pkgutil.iter_modules(cosep.kernels.__path__, "cosep.kernels.")]
    compiled: dict[str, Any] = {}
    for name in names:
        compiled |= {key: value for key, value in vars(import_module(name)).items() if hasattr(value, "py_func")}
    first, second = clock(call_everything), clock(call_everything)
    unreached = sorted(name for name, kernel in compiled.items() if not kernel.signatures)
    return {"first_s": first.seconds, "again_s": second.seconds}, unreached


def call_everything() -> None:
    """Call all selectors and fit the factors."""
    X = make_coseparable(30, 20, 3, 3, noise=0.1, random_state=0)[0]
    for select in (*COLUMN_SELECTORS.values(), *EITHER_SELECTORS.values()):
        select(X, 3)
    for select in BOTH_SELECTORS.values():
        select(X, 3, 3)
    for solver in SOLVERS:
        fgm(X, 3, solver=solver, max_iter=50)
    CoSeparableNMF(n_rows=3, n_cols=3).fit(X)


def bars(rows: list[Row]) -> list[Bar]:
    """Compare both start times with their limits."""
    seconds = {row["cache"]: row["first_s"] for row in rows}
    return [
        Bar(f"seconds of the first call of all kernels, {state} cache", seconds.get(state), limit)
        for state, limit in LIMITS.items()
    ]
