"""Memory of a fit in addition to the loaded process, as a multiple of the input, compared with scikit-learn's NMF.

20000 x 5000 sparse random counts, one percent of them nonzero, rank 20. Every model is fitted in a process of its own,
after a small fit that loads everything. The peak is that of the resident memory. ``python -m benchmarks.memory 200``
prints the memory of the default at another rank, with only two alternations.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import NMF

from benchmarks.harness import Bar, Row, isolated, say, with_memory
from cosep import CoSeparableNMF

SHAPE, RANK = (20_000, 5_000), 20
MODELS: dict[str, Callable[[int], Any]] = {
    "CoSeparableNMF": lambda r: CoSeparableNMF(n_rows=r, n_cols=r),
    "CoSeparableNMF, method='cosfgm'": lambda r: CoSeparableNMF(n_rows=r, n_cols=r, method="cosfgm"),
    "CoSeparableNMF, method='spa'": lambda r: CoSeparableNMF(n_rows=r, n_cols=r, method="spa"),
    "scikit-learn NMF": lambda r: NMF(n_components=r, init="nndsvd", max_iter=200, tol=1e-3, random_state=0),
}


def counts(shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """Return sparse random counts."""
    random = np.random.default_rng(0)
    return scipy.sparse.random_array(
        shape, density=0.01, rng=random, format="csr", data_sampler=lambda size: random.poisson(1.0, size=size) + 1.0
    )


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per model."""
    with tempfile.TemporaryDirectory() as folder:
        # Loaded from a file: memory that drawing it leaves in the allocator would hide what the fit needs.
        file = Path(folder) / "counts.npz"
        scipy.sparse.save_npz(file, counts((400, 300) if tiny else SHAPE), compressed=False)
        for name in MODELS:
            say(f"  {name}")
            yield {"model": name, **isolated(fit)(name, str(file), 5 if tiny else RANK)}


def fit(name: str, path: str, r: int) -> Row:
    """Fit one model to the matrix in a file."""
    MODELS[name](3).fit(counts((300, 200)))
    X = scipy.sparse.load_npz(path)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    timed, extra = with_memory(lambda: MODELS[name](r).fit(X))
    return {"input_mb": size / 1e6, "memory_mb": extra / 1e6, "times_input": extra / size, "s": timed.seconds}


def print_at_rank(r: int) -> None:
    """Print the memory of a fit with the default method at any rank."""
    X = counts(SHAPE)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    extra = isolated(_short_fit)(X, r)
    print(f"rank {r}: {extra / 1e6:.0f} MB, {extra / size:.1f} times the input")


def _short_fit(X: Any, r: int) -> float:
    CoSeparableNMF(3, 3).fit(counts((300, 200)))
    return with_memory(lambda: CoSeparableNMF(r, r, max_iter=2).fit(X))[1]


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - compared with a peer, without a bar
    """Return no bars."""
    return []


if __name__ == "__main__":
    print_at_rank(int(sys.argv[1]))
