"""The convex model at a few hundred columns: the published fast gradient and Newton's method, to the same accuracy.

Run as ``python benchmarks/solvers.py``. For each problem lambda is the multiplier of trace ``r/2 + 1``. The clock of
the published solver stops when its objective is within the tolerance of the optimum, which it cannot know; ours stops
when its own duality gap says so. One thread, best of three for ours. Problems on real data need ``COSEP_DATA``.
"""

import io
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cosep import make_coseparable, spa
from cosep.select.fastgradient import solve_fast_gradient
from cosep.select.newton import solve_newton

Block = NDArray[np.float64]
MOST_ITERATIONS = 5_000


def topics(m: int, n: int) -> Block:
    """Return Poisson counts of a random topic model."""
    random = np.random.default_rng(0)
    words = random.gamma(0.3, size=(m, m))
    counts = random.poisson(200 * (words / words.sum(axis=0)) @ random.dirichlet(np.full(m, 0.1), n).T)
    return counts[:, counts.sum(axis=0) > 0].astype(float)


def tdt(home: Path) -> Block:
    """Return 30 of the 1000 most frequent words of TDT2, chosen by SPA, in the 500 documents that use them most."""
    X = scipy.io.loadmat(home / "documents" / "TDT2.mat")["fea"].astype(float).tocsc()
    X = X[:, np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")[:1000]]
    block = X[:, spa(X, 30, normalize=False).col_indices].toarray().T
    return block[:, np.argsort(-block.sum(axis=0), kind="stable")[:500]]


def faces(home: Path) -> Block:
    """Return 40 pixels, chosen by SPA, of the 400 ORL faces, reduced to 23 x 19 by averaging."""
    with tarfile.open(home / "faces" / "orl_faces.tar.gz") as archive:
        names = sorted(name for name in archive.getnames() if name.endswith(".pgm"))
        images = [pgm(archive.extractfile(name).read()) for name in names]
    small = np.stack([image[:110, :92].reshape(22, 5, 23, 4).mean(axis=(1, 3)).ravel() for image in images], axis=1)
    return small[spa(small.T, 40).col_indices] / 255


def pgm(data: bytes) -> NDArray[np.float64]:
    """Decode an 8-bit binary PGM."""
    stream = io.BytesIO(data)
    stream.readline()
    width, height = map(int, stream.readline().split())
    stream.readline()
    return np.frombuffer(stream.read(), np.uint8).reshape(height, width).astype(float)


def problems() -> Iterator[tuple[str, Block, int]]:
    """Yield names, blocks and ranks."""
    yield "topics 20 x 500", topics(20, 500), 20
    yield "planted 100 x 100", make_coseparable(100, 100, 10, 10, noise=0.01, random_state=0)[0], 10
    if home := os.environ.get("COSEP_DATA"):
        yield "TDT2 30 x 500", tdt(Path(home)), 30
        yield "faces 40 x 400", faces(Path(home)), 40


def main() -> None:
    """Print one line for each problem and tolerance."""
    print("| problem | tolerance | fast gradient, s | Newton, s | ratio | gap proven |")
    print("|---|---|---|---|---|---|")
    for name, B, r in problems():
        w = B.sum(axis=0)
        solve_newton(B, w, r=r, trace=1.0)
        optimum = solve_newton(B, w, r=r, trace=r / 2 + 1, tol=1e-10)
        lam = optimum.penalty
        best = solve_newton(B, w, r=r, penalty=lam, tol=1e-10)
        solve_fast_gradient(B, w, r=r, penalty=lam, max_iter=2)
        start = time.perf_counter()
        theirs = solve_fast_gradient(B, w, r=r, penalty=lam, tol=0.0, max_iter=MOST_ITERATIONS)
        each = (time.perf_counter() - start) / theirs.n_iter
        values = np.array([value for value, _, _ in theirs.history])
        for tol in (1e-4, 1e-6):
            reached = np.flatnonzero(values <= best.objective * (1 + tol))
            slow = each * (reached[0] + 1) if len(reached) else each * MOST_ITERATIONS
            fast = []
            for _ in range(3):
                start = time.perf_counter()
                ours = solve_newton(B, w, r=r, penalty=lam, tol=tol)
                fast.append(time.perf_counter() - start)
            more = "" if len(reached) else "> "
            times = f"{more}{slow:.2f} | {min(fast):.3f} | {more}{slow / min(fast):.0f}"
            print(f"| {name} | {tol:g} | {times} | {ours.relative_gap:.0e} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
