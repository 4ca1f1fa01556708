"""Run functions on matrices, each job in a process of its own: ``python -m benchmarks.peers.worker MODULE``.

`benchmarks.peers.process` starts this module in the environment of the functions, which need not have `cosep`. The
module of functions is loaded once. Each line of standard input names a folder with ``job.json`` and matrices; the job
runs in a forked process with limits of time and memory, which writes its answers to the folder. One line of standard
output says how it ended. A function is first called on a tiny matrix, so that everything is loaded and compiled before
the clock starts.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

TINY_SHAPE, TINY_K = (40, 30), 3
# Seconds for the first call, most of which is loading and compiling.
WARM_LIMIT = 120
NO_MEMORY = "out of memory"
PR_SET_PDEATHSIG = 1
# The first character of what a worker answers; packages may print as they like.
ANSWER = "\x1e"


def serve(module: Any) -> None:
    """Run the jobs that standard input names."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr
    warm: set[str] = set()
    for line in sys.stdin:
        folder = Path(line.strip())
        job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        name = json.dumps([job["function"], job["options"], job["sparse"]])
        if name not in warm:
            warm.add(name)
            with contextlib.suppress(Exception), at_most(WARM_LIMIT):
                getattr(module, job["function"])(tiny(sparse=job["sparse"]), TINY_K, 0, **job["options"])
        child = os.fork()
        if child == 0:
            os._exit(guarded(module, folder, job))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"{ANSWER}{code}", file=answers, flush=True)


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after this many seconds."""

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def guarded(module: Any, folder: Path, job: dict[str, Any]) -> int:
    """Run one job; write what went wrong to the folder."""
    end_with_parent()
    with (folder / "stderr.txt").open("w", encoding="utf-8") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            run(getattr(module, job["function"]), folder, job)
        except MemoryError:
            print(NO_MEMORY, file=sys.stderr, flush=True)
            return 1
        except BaseException:  # noqa: BLE001 - a package may raise anything, SystemExit included
            traceback.print_exc()
            return 1
        finally:
            sys.stderr.flush()
    return 0


def end_with_parent() -> None:
    """Let the system end this process with the one that started it, where the system is Linux."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(call: Any, folder: Path, job: dict[str, Any]) -> None:
    """Run one job within its limits."""
    signal.alarm(int(job["patience"]))
    resource.setrlimit(resource.RLIMIT_DATA, (int(job["megabytes"] * 1e6),) * 2)
    matrices = [read_matrix(path) for path in sorted(folder.glob("matrix-*.npz"))]
    measured = []
    for number, (at, seed) in enumerate(job["runs"]):
        reset_peak()
        limit(job["seconds"])
        before, start = resident("VmRSS"), time.process_time()
        answer = call(matrices[at], job["k"], seed, **job["options"])
        seconds = time.process_time() - start
        measured.append({"seconds": seconds, "megabytes": max(resident("VmHWM") - before, 0.0) / 1e6})
        parts: Any = {name: np.asarray(part) for name, part in answer.items()}
        np.savez(folder / f"answer-{number:03d}.npz", **parts)
    (folder / "measured.json").write_text(json.dumps(measured), encoding="utf-8")


def read_matrix(path: Path) -> Any:
    """Return the dense or sparse matrix in a file."""
    with np.load(path) as stored:
        if "dense" in stored:
            return stored["dense"]
        parts = stored["data"], stored["indices"], stored["indptr"]
        return scipy.sparse.csr_matrix(parts, shape=tuple(stored["shape"]))


def tiny(*, sparse: bool) -> Any:
    """Return a small matrix of the kind of the job's."""
    random = np.random.default_rng(0)
    small = random.uniform(0.1, 1.0, (TINY_SHAPE[0], TINY_K)) @ random.uniform(0.1, 1.0, (TINY_K, TINY_SHAPE[1]))
    small = np.round(10 * small)
    return scipy.sparse.csr_matrix(small) if sparse else small


def limit(seconds: float) -> None:
    """Let the system end this process after so much more processor time."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, hard))


def reset_peak() -> None:
    """Forget the peak of the memory so far."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def resident(name: str) -> float:
    """Return the resident memory in bytes: at present (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    serve(import_module(f"benchmarks.peers.calls.{sys.argv[1]}"))
