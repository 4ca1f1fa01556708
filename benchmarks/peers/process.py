"""Calls of tools in processes of their own, with limits of time and memory, in the environment of the tool."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.environments import Environment, RivalError
from benchmarks.harness import THREADS
from benchmarks.peers.worker import NO_MEMORY

ROOT = Path(__file__).parents[2]
# A process may wait this many times its processor seconds, and this long besides, on a machine that others use too.
PATIENCE, GRACE = 10.0, 120.0


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
    python = Path(sys.executable) if call.environment is None else call.environment.python()
    runs = [(at, seed) for at in range(len(matrices)) for seed in seeds]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for at, X in enumerate(matrices):
            write_matrix(folder / f"matrix-{at:03d}.npz", X)
        job = call._asdict() | limits._asdict() | {"k": k, "runs": runs}
        del job["environment"]
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        run_worker(python, folder, limits, len(runs), own=call.environment is not None)
        measured = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
        answers = [dict(np.load(path)) for path in sorted(folder.glob("answer-*.npz"))]
    return [Run(answer, **figures) for answer, figures in zip(answers, measured, strict=True)]


def run_worker(python: Path, folder: Path, limits: Limits, n_runs: int, *, own: bool) -> None:
    """Run the worker on a folder, and say what ended it if it did not finish."""
    paths = [str(ROOT), *([] if own else [os.environ.get("PYTHONPATH", "")])]
    changes = dict.fromkeys(THREADS, "1") | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "TMPDIR": str(folder)}
    command = [str(python), "-m", "benchmarks.peers.worker", str(folder)]
    seconds, megabytes = f"more than {limits.seconds:g} s", f"more than {limits.megabytes:g} MB"
    try:
        done = subprocess.run(  # noqa: S603 - our own worker
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE * limits.seconds * n_runs + GRACE,
            env=os.environ | changes,
            cwd=folder,
        )
    except subprocess.TimeoutExpired as late:
        raise StoppedError(seconds) from late
    if done.returncode == 0:
        return
    last = (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1][:200]
    if done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        raise StoppedError(seconds)
    if last == NO_MEMORY or any(word in done.stderr for word in ("bad_alloc", "memory allocation", "MemoryError")):
        raise StoppedError(megabytes)
    raise RivalError(last)


def write_matrix(path: Path, X: Any) -> None:
    """Write a dense or sparse matrix."""
    if scipy.sparse.issparse(X):
        S = scipy.sparse.csr_array(X)
        parts = {"indices": S.indices.astype(np.int32), "indptr": S.indptr.astype(np.int32)}
        np.savez(path, data=S.data, shape=S.shape, **parts)
    else:
        np.savez(path, dense=np.ascontiguousarray(X))
