"""Memory of a fit beyond the loaded process, as a multiple of the input, beside scikit-learn's NMF.

Run as ``python benchmarks/memory.py``. Every model is fitted in a process of its own, after a small fit that loads
and compiles everything; the resident set is sampled while the large fit runs. Linux only.
"""

import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from cosep import CoSeparableNMF, SelectionWarning

SHAPE, DENSITY, RANK = (20_000, 5_000), 0.01, 20
MODELS = {
    "CoSeparableNMF(20, 20)": lambda r: CoSeparableNMF(n_rows=r, n_cols=r),
    "CoSeparableNMF(20, 20, method='spa')": lambda r: CoSeparableNMF(n_rows=r, n_cols=r, method="spa"),
    "sklearn NMF(20, init='nndsvd')": lambda r: NMF(n_components=r, init="nndsvd", max_iter=200, tol=1e-3),
}


def counts(shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """Return sparse random counts."""
    random = np.random.default_rng(0)
    return scipy.sparse.random_array(
        shape, density=DENSITY, rng=random, format="csr", data_sampler=lambda size: random.poisson(1.0, size=size) + 1.0
    )


def resident() -> int:
    """Return the bytes that the process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def peak_of(model: BaseEstimator, X: scipy.sparse.csr_array) -> tuple[int, float]:
    """Return how much memory the fit needs beyond what is held already, and its seconds."""
    done = threading.Event()
    before = resident()
    peak = [before]

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return peak[0] - before, seconds


def measure(name: str, path: str) -> None:
    """Fit one model to the matrix in a file and print a line about it."""
    warnings.simplefilter("ignore", SelectionWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        MODELS[name](3).fit(counts((300, 200)))
        # Loaded, not drawn: what drawing it would leave behind in the allocator would hide what the fit needs.
        X = scipy.sparse.load_npz(path)
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        extra, seconds = peak_of(MODELS[name](RANK), X)
    print(f"{name:38} {extra / 1e6:6.0f} MB beyond the process, {extra / size:4.1f} x the input, {seconds:5.1f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*sys.argv[1:])
    else:
        X = counts(SHAPE)
        size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
        print(f"{SHAPE[0]} x {SHAPE[1]} sparse counts, density {DENSITY:.0%}, {size:.0f} MB, one thread", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "counts.npz"
            scipy.sparse.save_npz(path, X, compressed=False)
            for name in MODELS:
                subprocess.run([sys.executable, __file__, name, path], check=True)  # noqa: S603 - our own file
