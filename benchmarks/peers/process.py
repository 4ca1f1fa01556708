"""Calls of tools in processes of their own, with limits of time and memory, in the environment of the tool."""

import atexit
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.environments import Environment, RivalError
from benchmarks.harness import THREADS
from benchmarks.peers.worker import ANSWER, NO_MEMORY

ROOT = Path(__file__).parents[2]
# A process may wait this many times its processor seconds, and this long besides, on a machine that others use too.
PATIENCE, GRACE = 10.0, 120.0


# The line of a traceback that says what was raised; some messages have further lines.
ERROR = re.compile(r"[\w.]+(Error|Exception): ")


class Limits(NamedTuple):
    """Processor seconds of one call, and megabytes of its process."""

    seconds: float
    megabytes: float = 4096.0


class Call(NamedTuple):
    """A function of `benchmarks.peers.calls`, the environment that it needs (None: that of `cosep`), its options."""

    module: str
    function: str
    environment: Environment | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Run(NamedTuple):
    """The answer of one call, its processor seconds, and its peak memory in addition to the data."""

    answer: dict[str, Any]
    seconds: float
    megabytes: float


class StoppedError(RivalError):
    """A call that reached a limit; larger data would too."""


def run_all(call: Call, matrices: Sequence[Any], k: int, seeds: Sequence[int], limits: Limits) -> list[Run]:
    """Call a function on each matrix with each seed, all in one process.

    Raises
    ------
    RivalError
        If the environment cannot be made, or the call fails.
    StoppedError
        If the call reaches a limit.
    """
    worker = worker_of(call.module, call.environment)
    runs = [(at, seed) for at in range(len(matrices)) for seed in seeds]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for at, X in enumerate(matrices):
            write_matrix(folder / f"matrix-{at:03d}.npz", X)
        job = {"function": call.function, "options": call.options, **limits._asdict(), "k": k, "runs": runs}
        job |= {"sparse": scipy.sparse.issparse(matrices[0])}
        job |= {"patience": PATIENCE * limits.seconds * len(runs) + GRACE}
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        explain(worker.run(folder), folder, limits)
        measured = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
        answers = [dict(np.load(path)) for path in sorted(folder.glob("answer-*.npz"))]
    return [Run(answer, **figures) for answer, figures in zip(answers, measured, strict=True)]


def explain(code: int, folder: Path, limits: Limits) -> None:
    """Raise the error that says what ended a job, unless it finished."""
    if code == 0:
        return
    path = folder / "stderr.txt"
    errors = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = errors.strip().splitlines() or [f"ended with code {code}"]
    last = next((line for line in reversed(lines) if ERROR.match(line)), lines[-1])
    if code in {-signal.SIGXCPU, -signal.SIGALRM}:
        msg = f"more than {limits.seconds:g} s"
        raise StoppedError(msg)
    if last == NO_MEMORY or any(word in errors for word in ("bad_alloc", "memory allocation", "MemoryError")):
        msg = f"more than {limits.megabytes:g} MB"
        raise StoppedError(msg)
    raise RivalError(last[:200])


class Worker:
    """A process of `benchmarks.peers.worker`, which starts one more for each job."""

    def __init__(self, module: str, python: Path, *, own: bool) -> None:
        paths = [str(ROOT), *([] if own else [os.environ.get("PYTHONPATH", "")])]
        # GNU OpenMP, which numba would take otherwise, cannot be used before a fork.
        changes = dict.fromkeys(THREADS, "1") | {"NUMBA_THREADING_LAYER": "workqueue"}
        changes |= {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self.process = subprocess.Popen(  # noqa: S603 - our own worker
            [str(python), "-m", "benchmarks.peers.worker", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | changes,
        )
        atexit.register(self.process.kill)

    def run(self, folder: Path) -> int:
        """Run the job in a folder; return the code that its process ended with."""
        if self.process.stdin is None or self.process.stdout is None or self.process.poll() is not None:
            msg = f"its process ended with code {self.process.poll()}"
            raise RivalError(msg)
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(ANSWER):
                return int(line[1:])
        msg = f"its process ended with code {self.process.wait()}"
        raise RivalError(msg)


@cache
def worker_of(module: str, environment: Environment | None) -> Worker:
    """Return the worker of a module of functions, which is started if there is none."""
    python = Path(sys.executable) if environment is None else environment.python()
    return Worker(module, python, own=environment is not None)


def write_matrix(path: Path, X: Any) -> None:
    """Write a dense or sparse matrix."""
    if scipy.sparse.issparse(X):
        S = scipy.sparse.csr_array(X)
        parts = {"indices": S.indices.astype(np.int32), "indptr": S.indptr.astype(np.int32)}
        np.savez(path, data=S.data, shape=S.shape, **parts)
    else:
        np.savez(path, dense=np.ascontiguousarray(X))
