"""Time `faithful`, for `benchmarks.selection_time`: read the names of a data set and a norm, write seconds.

The process imports cosep from the folder that its only argument names. The first answer comes after small choices that
load and compile everything.
"""

import sys
import warnings
from pathlib import Path

import scipy.sparse
from threadpoolctl import threadpool_limits

import cosep
from benchmarks.data import load
from benchmarks.harness import clock
from cosep import faithful, make_coseparable
from cosep.matrix.scaling import scale


def main(source: Path) -> None:
    """Answer until the input ends."""
    loaded = Path(cosep.__file__).resolve()
    if not loaded.is_relative_to(source):
        msg = f"cosep was imported from {loaded}, not from {source}."
        raise RuntimeError(msg)
    warnings.simplefilter("ignore")
    X = make_coseparable(30, 20, 3, 3, noise=0.1, random_state=0)[0]
    for small in (X, scipy.sparse.csr_array(X)):
        faithful(small, 3, 3)
    for line in sys.stdin:
        name, norm = line.split()
        problem = load(name)
        A = problem.X if norm == "plain" else scale(problem.X, norm)[0].raw  # earlier versions have no scaling=None
        print(clock(lambda A=A, r=problem.r: faithful(A, r, r)).seconds, flush=True)  # type: ignore[misc]


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Path(sys.argv[1]))
