"""Seconds of bi-orthogonal NMF on NG10, beside what the paper prints for it.

Run as ``python benchmarks/biorthogonal.py``, with COSEP_DATA set to the folder of the published data sets. 9963
documents, 1000 words, rank 10, 1000 iterations, one thread. The paper's 4175 s are the mean over its 15 document sets,
its approximation is that of NG10.
"""

import os
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from threadpoolctl import threadpool_limits

from cosep import relative_approximation
from cosep.nmf.biorthogonal import biorthogonal

RANK, ITERATIONS, WORDS, CLASSES = 10, 1000, 1000, 10
PRINTED_SECONDS, PRINTED_APPROXIMATION = 4174.8, 0.01


def ng10(folder: Path) -> scipy.sparse.csr_array:
    """Return the counts of the 1000 most frequent words in the documents of the first ten newsgroups."""
    data = scipy.io.loadmat(folder / "documents" / "NG20.mat")
    counts = scipy.sparse.csr_array(data["dtm"].astype(np.float64))[data["classid"].ravel() <= CLASSES]
    return counts[:, np.argsort(-counts.sum(axis=0), kind="stable")[:WORDS]]


if __name__ == "__main__":
    X = ng10(Path(os.environ["COSEP_DATA"]))
    with threadpool_limits(1):
        biorthogonal(X[:100], 2, max_iter=2)
        start = time.perf_counter()
        fit = biorthogonal(X, RANK, max_iter=ITERATIONS, tol=0.0)
        seconds = time.perf_counter() - start
    approximation = 100 * relative_approximation(X, fit)
    iterations = len(fit.meta["objective"]) - 1
    print("| | seconds | iterations | approximation, % | orthogonality residual |")
    print("|---|---|---|---|---|")
    print(f"| cosep | {seconds:.1f} | {iterations} | {approximation:.2f} | {fit.meta['orthogonality']:.2f} |")
    print(f"| printed | {PRINTED_SECONDS:.1f} | {ITERATIONS} | {PRINTED_APPROXIMATION:.2f} | - |")
