"""Run one function on some matrices, measured: ``python -m benchmarks.peers.worker FOLDER``.

`benchmarks.peers.process` starts this module in the environment of the function, which need not have `cosep`. The
folder has ``job.json`` and the matrices; the answers and the measurements are written to it. The function is first
called on a tiny matrix, so that everything is loaded and compiled before the clock starts.
"""

import contextlib
import json
import resource
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

TINY_SHAPE, TINY_K = (40, 30), 3
NO_MEMORY = "out of memory"


def main(folder: Path) -> None:
    """Run the job in a folder."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    warnings.simplefilter("ignore")
    call = getattr(import_module(f"benchmarks.peers.calls.{job['module']}"), job["function"])
    matrices = [read_matrix(path) for path in sorted(folder.glob("matrix-*.npz"))]
    with contextlib.suppress(Exception), contextlib.redirect_stdout(sys.stderr):
        call(tiny(matrices[0]), TINY_K, 0, **job["options"])
    resource.setrlimit(resource.RLIMIT_DATA, (int(job["megabytes"] * 1e6),) * 2)
    measured = []
    for number, (at, seed) in enumerate(job["runs"]):
        reset_peak()
        limit(job["seconds"])
        before, start = resident("VmRSS"), time.process_time()
        with contextlib.redirect_stdout(sys.stderr):
            answer = call(matrices[at], job["k"], seed, **job["options"])
        seconds = time.process_time() - start
        measured.append({"seconds": seconds, "megabytes": max(resident("VmHWM") - before, 0.0) / 1e6})
        np.savez(folder / f"answer-{number:03d}.npz", **{name: np.asarray(part) for name, part in answer.items()})
    (folder / "measured.json").write_text(json.dumps(measured), encoding="utf-8")


def read_matrix(path: Path) -> Any:
    """Return the dense or sparse matrix in a file."""
    with np.load(path) as stored:
        if "dense" in stored:
            return stored["dense"]
        parts = stored["data"], stored["indices"], stored["indptr"]
        return scipy.sparse.csr_matrix(parts, shape=tuple(stored["shape"]))


def tiny(X: Any) -> Any:
    """Return a small matrix of the same kind."""
    random = np.random.default_rng(0)
    small = random.uniform(0.1, 1.0, (TINY_SHAPE[0], TINY_K)) @ random.uniform(0.1, 1.0, (TINY_K, TINY_SHAPE[1]))
    small = np.round(10 * small)
    return scipy.sparse.csr_matrix(small) if scipy.sparse.issparse(X) else small


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
    try:
        main(Path(sys.argv[1]))
    except MemoryError:
        sys.exit(NO_MEMORY)
