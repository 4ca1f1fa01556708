"""Shared parts of the benchmarks: processes with limited threads, clocks, memory, rows on disk, bars.

A benchmark is a module with a docstring that says what is measured, a generator ``measure(tiny)`` of rows, and a
function ``bars(rows)`` that compares the rows with their limits. A benchmark with many rows also has a function
``summary(rows)`` that returns the rows of a first, shorter table.
"""

import csv
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import cosep
from benchmarks.data import Problem, load
from cosep import CoSeparableNMF, SelectionWarning, fgm, make_coseparable
from experiments.data import MissingDataError

Row = dict[str, Any]
Clock = Callable[[], float]
Answer = TypeVar("Answer")
Options = ParamSpec("Options")

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ROUNDS = 3


class Bar(NamedTuple):
    """A figure, or None if it could not be measured, and the limit that it must reach or stay below."""

    what: str
    figure: float | None
    limit: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Return whether the limit is met."""
        if self.figure is None:
            return "not measured"
        return "met" if (self.figure >= self.limit if self.at_least else self.figure <= self.limit) else "missed"


class Timed(NamedTuple):
    """The shortest time of several calls in seconds, and the result of the last one."""

    seconds: float
    answer: Any


def say(text: str) -> None:
    """Print what is running to standard error."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def clock(call: Callable[[], Any], now: Clock = time.process_time) -> Timed:
    """Return the seconds of one call, and its result.

    With one thread, processor time is the time that an idle machine would take. Several threads need the wall clock.
    """
    start = now()
    answer = call()
    return Timed(now() - start, answer)


def race(now: Clock = time.process_time, **competitors: Callable[[], Any]) -> dict[str, Timed]:
    """Time several functions alternately, so that other load affects all of them; return the best round of each."""
    times: dict[str, list[Timed]] = {name: [] for name in competitors}
    for _ in range(ROUNDS):
        for name, call in competitors.items():
            times[name].append(clock(call, now))
    return {name: Timed(min(timed.seconds for timed in times[name]), times[name][-1].answer) for name in competitors}


def warm() -> None:
    """Load and compile everything before anything is timed."""
    X = make_coseparable(30, 20, 3, 3, noise=0.1, random_state=0)[0]
    for data in (X, scipy.sparse.csr_array(X)):
        for method in ("faithful", "cosfgm"):
            CoSeparableNMF(n_rows=3, n_cols=3, method=method).fit(data)
    fgm(X, 3, solver="fast-gradient", max_iter=2)


def isolated(call: Callable[Options, Answer], threads: int = 1, cache: str | None = None) -> Callable[Options, Answer]:
    """Return a function that runs in a new process, with this number of threads and this folder for numba's cache."""

    def caller(*args: Options.args, **kwargs: Options.kwargs) -> Answer:
        changes = dict.fromkeys(THREADS, str(threads)) | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
        with environment(changes), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(_capped, threads, partial(call, *args, **kwargs)).result()

    return caller


def _capped(threads: int, call: Callable[[], Answer]) -> Answer:
    warnings.simplefilter("ignore", SelectionWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(threads):
        return call()


@contextmanager
def environment(changes: dict[str, str]) -> Iterator[None]:
    """Change environment variables temporarily."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def with_memory(call: Callable[[], Any]) -> tuple[Timed, float]:
    """Time a call, and return its peak memory in addition to the memory before, in bytes. Linux only.

    The peak is that of the whole process: call this in a process that has not held anything larger before.
    """
    before = resident("VmRSS")
    timed = clock(call)
    return timed, resident("VmHWM") - before


def resident(name: str) -> float:
    """Return the resident memory of this process in bytes: at present (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def collect(name: str, *, tiny: bool) -> list[Row]:
    """Return all rows of a benchmark."""
    return list(import_module(f"benchmarks.{name}").measure(tiny=tiny))


def on_sets(names: Iterable[str], measure: Callable[[Problem], Row]) -> Iterator[Row]:
    """Yield one row per data set; for a missing data set the row says so."""
    return rows_on_sets(names, lambda problem: [measure(problem)])


def rows_on_sets(names: Iterable[str], measure: Callable[[Problem], Iterable[Row]]) -> Iterator[Row]:
    """Yield all rows of each data set; for a missing data set, one row that says so."""
    for name in names:
        say(f"  {name}")
        try:
            problem = load(name)
        except MissingDataError as missing:
            yield {"set": name, "note": str(missing)}
        else:
            yield from ({"set": name, **row} for row in measure(problem))


# What `stamp` returns is text: a commit may have digits only.
STAMPED = frozenset({"cosep", "commit", "date", "machine", "software", "version"})


def stamp() -> Row:
    """Return what every row includes: version, commit, date, machine and software."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - all literal
    software = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    return {
        "cosep": f"cosep {cosep.__version__}",
        "commit": commit or "no commit",
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} x {_processor()}",
        "software": f"Python {platform.python_version()}, {software}",
    }


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write rows to a CSV file, with all columns that any of them has."""
    names = dict.fromkeys(name for row in rows for name in row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(names))
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[Row]:
    """Read rows from a CSV file; numbers become numbers, except in a `stamp`, and empty fields are left out."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{name: text if name in STAMPED else _number(text) for name, text in row.items() if text} for row in rows]


def _number(text: str) -> int | float | str:
    """Return the number in a text; a checksum such as 012 or 12e4 stays text."""
    try:
        return int(text) if str(int(text)) == text else text
    except ValueError:
        pass
    try:
        return float(text) if {".", "+", "-"} & set(text) else text
    except ValueError:
        return text


def total(rows: Iterable[Row], name: str) -> float:
    """Sum one column."""
    return float(sum(row[name] for row in rows))
