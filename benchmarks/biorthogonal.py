"""Bi-orthogonal tri-factorization of NG10: 9963 documents, 1000 words, rank 10, 1000 iterations.

The paper prints 4175 s, its mean over all document sets, and an approximation of 0.01 % on NG10. The updates, run from
our start, reach another value. Products are computed from the right, O(nnz r) per iteration. Orthogonality is the
residual that `biorthogonal` reports: 0 for hard clusters.
"""

from collections.abc import Iterator

from benchmarks.data import TINY, Problem
from benchmarks.harness import Bar, Row, clock, on_sets, warm
from cosep import relative_approximation
from cosep.nmf.biorthogonal import biorthogonal

ITERATIONS = 1000
PRINTED_SECONDS = 4174.8


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row."""
    warm()
    return on_sets(TINY if tiny else ("NG10",), fit)


def fit(problem: Problem) -> Row:
    """Run all iterations."""
    X, r = problem.X, problem.r
    seconds, factors = clock(lambda: biorthogonal(X, r, max_iter=ITERATIONS, tol=0.0))
    return {
        "s": seconds,
        "printed_s": PRINTED_SECONDS,
        "ratio": PRINTED_SECONDS / seconds,
        "iterations": len(factors.meta["objective"]) - 1,
        "approximation": 100 * relative_approximation(X, factors),
        "orthogonality": factors.meta["orthogonality"],
    }


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the time with a limit of minutes."""
    minutes = max((row["s"] / 60 for row in rows if "s" in row), default=None)
    return [Bar(f"minutes of {ITERATIONS} bi-orthogonal iterations on NG10", minutes, 10)]
