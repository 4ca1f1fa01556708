"""The choice of `faithful` compared with the best choice of all, found by trying every pair of subsets.

Small matrices, 10 x 9, of eight families, thirty of each; two rows and two columns, and three of each, are chosen. The
ratio is the sum of errors that `faithful` lowers, of its choice, divided by the smallest sum of all pairs
of subsets; `1e-9` is added to both sums, so that a choice without error counts as one. Errors are relative to
`||X||^2`, with the best nonnegative weights of each side. `best` is the share of matrices for which the smallest sum is
found, up to a thousandth.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Bar, Row
from cosep import faithful, make_coseparable
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by, sum_of_errors, summed
from cosep.utils.types import Array, Indices

SHAPE = (10, 9)
SIZES = (2, 3)
N_MATRICES = 30
TINY_SUM = 1e-9
# A weight that is negative by less, relative to the largest of its subset, is zero up to rounding.
NEGATIVE_TOL = 1e-12
# Ratios up to this count as the best choice.
SAME_SUM = 1.001

Random = np.random.Generator


def uniform(random: Random) -> Array:
    """Return entries between 0 and 1."""
    return random.uniform(size=SHAPE)


def planted(random: Random) -> Array:
    """Return a co-separable matrix with noise of one to thirty percent."""
    noise = 10.0 ** random.uniform(-2.0, -0.5)
    r = int(random.integers(2, 4))
    return make_coseparable(*SHAPE, r, r, noise=noise, random_state=int(random.integers(2**31)))[0]


def poisson(random: Random) -> Array:
    """Return counts of a model with three topics; the mean entry is about one."""
    means = random.gamma(0.5, size=(SHAPE[0], 3)) @ random.gamma(0.5, size=(3, SHAPE[1]))
    return filled(np.asarray(random.poisson(means / means.mean()), dtype=np.float64))


def collinear(random: Random) -> Array:
    """Return rows that differ by one to ten percent from multiples of one row."""
    base = np.outer(random.uniform(0.5, 1.5, SHAPE[0]), random.uniform(0.5, 1.5, SHAPE[1]))
    return np.asarray(base * (1.0 + 10.0 ** random.uniform(-2.0, -1.0) * random.uniform(-1.0, 1.0, SHAPE)))


def power_law(random: Random) -> Array:
    """Return a matrix whose rows and columns have norms that follow a power law."""
    rows, cols = (random.permutation(np.arange(1.0, size + 1) ** -random.uniform(0.5, 2.0)) for size in SHAPE)
    return np.asarray(rows[:, None] * random.gamma(0.5, size=SHAPE) * cols)


def large_mixtures(random: Random) -> Array:
    """Return three short pure rows, and mixtures of them that are about ten to a hundred times longer."""
    pure = random.gamma(0.3, size=(3, SHAPE[1])) + 1e-3
    mixtures = 10.0 ** random.uniform(1.0, 2.0) * random.dirichlet(np.full(3, 2.0), SHAPE[0] - 3) @ pure
    X = np.vstack([pure, mixtures]) * (1.0 + 0.05 * random.uniform(-1.0, 1.0, SHAPE))
    return X[random.permutation(SHAPE[0])]


def outlier(random: Random) -> Array:
    """Return a uniform matrix with one row or column that is thirty times larger."""
    X = random.uniform(size=SHAPE)
    if random.integers(2):
        X[random.integers(SHAPE[0])] *= 30.0
    else:
        X[:, random.integers(SHAPE[1])] *= 30.0
    return X


def ties(random: Random) -> Array:
    """Return integers from 0 to 2; some rows and columns are repeated."""
    X = filled(random.integers(0, 3, SHAPE).astype(np.float64))
    X[random.integers(SHAPE[0], size=3)] = X[random.integers(SHAPE[0], size=3)]
    X[:, random.integers(SHAPE[1], size=2)] = X[:, random.integers(SHAPE[1], size=2)]
    return X


def filled(X: Array) -> Array:
    """Return X with a one in each row and column that would be zero."""
    X[~X.any(axis=1), 0] = 1.0
    X[0, ~X.any(axis=0)] = 1.0
    return X


FAMILIES: dict[str, Callable[[Random], Array]] = {
    "uniform": uniform,
    "planted with noise": planted,
    "Poisson": poisson,
    "nearly collinear": collinear,
    "power-law norms": power_law,
    "large mixtures": large_mixtures,
    "outlier": outlier,
    "ties": ties,
}


class Side(NamedTuple):
    """All subsets of r columns: their indices, how each approximates the matrix, and its error.

    ``maps[b]`` is the n x n matrix T with ``M T = M(:,K) V'``; errors are relative to ``||M||^2``.
    """

    subsets: NDArray[np.intp]
    maps: Array
    errors: Array


def side(M: Array, r: int) -> Side:
    """Explain all columns by every subset of r columns."""
    n = M.shape[1]
    subsets = np.array(list(combinations(range(n), r)))
    V = best_weights(np.moveaxis(M[:, subsets], 1, 0), M)
    maps = np.zeros((len(subsets), n, n))
    maps[np.arange(len(subsets))[:, None], subsets] = V
    errors = ((M - M @ maps) ** 2).sum(axis=(1, 2)) / (M**2).sum()
    return Side(subsets, maps, errors)


def best_weights(A: Array, M: Array) -> Array:
    """Return for each ``A[b]`` the nonnegative weights Y with the smallest ``||M - A[b] Y||``.

    The solution is the best of the unconstrained ones over all sets of positive weights that are nonnegative.
    """
    count, _, r = A.shape
    best, smallest = np.zeros((count, r, M.shape[1])), np.full((count, M.shape[1]), np.inf)
    for size in range(r + 1):
        for support in combinations(range(r), size):
            some = list(support)
            Y = np.zeros_like(best)
            Y[:, some] = np.linalg.pinv(A[:, :, some]) @ M
            lowest, largest = Y.min(axis=1), np.abs(Y).max(axis=(1, 2))[:, None]
            allowed = lowest >= -NEGATIVE_TOL * largest
            Y = np.maximum(Y, 0.0)
            errors = np.where(allowed, ((M - A @ Y) ** 2).sum(axis=1), np.inf)
            better = errors < smallest
            best = np.where(better[:, None, :], Y, best)
            smallest = np.where(better, errors, smallest)
    return best


def sums(M: Array, r: int) -> tuple[Side, Side, Array]:
    """Return both sides, and the sum of errors of every pair of subsets."""
    rows, cols = side(M.T, r), side(M, r)
    m, n = M.shape
    by_rows = np.swapaxes(rows.maps, 1, 2) @ M
    cores = by_rows.reshape(-1, n) @ np.moveaxis(cols.maps, 0, 1).reshape(n, -1)
    left = M[None, :, None, :] - cores.reshape(len(by_rows), m, len(cols.maps), n)
    core_errors = np.einsum("aibj,aibj->ab", left, left) / (M**2).sum()
    return rows, cols, np.asarray(summed(rows.errors[:, None], cols.errors, core_errors))


def ratio(X: Array, r: int) -> float:
    """Return the sum of errors of `faithful` as a multiple of the smallest."""
    rows, cols, all_sums = sums(X, r)
    found = faithful(X, r, r)
    pair = tuple(map(np.asarray, (found.row_indices, found.col_indices)))
    at = (position(rows.subsets, pair[0]), position(cols.subsets, pair[1]))
    total = exact_sum(X, *pair) if None in at else all_sums[at]
    return float((total + TINY_SUM) / (all_sums.min() + TINY_SUM))


def position(subsets: NDArray[np.intp], chosen: Indices) -> int | None:
    """Return the position of a subset; None for fewer columns than asked for."""
    if len(chosen) < subsets.shape[1]:
        return None
    return int((subsets == np.sort(chosen)).all(axis=1).argmax())


def exact_sum(X: Any, rows: Indices, cols: Indices) -> float:
    """Return the sum of errors by the library."""
    M = as_matrix(X)
    of_rows, of_cols = explained_by(M.T, rows), explained_by(M, cols)
    return sum_of_errors(M, of_rows, of_cols)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per family and size."""
    for number, (family, draw) in enumerate(FAMILIES.items()):
        for r in SIZES:
            random = np.random.default_rng((number, r))
            ratios = np.array([ratio(draw(random), r) for _ in range(2 if tiny else N_MATRICES)])
            yield {
                "family": family,
                "r": r,
                "mean_ratio": float(ratios.mean()),
                "worst_ratio": float(ratios.max()),
                "best_pct": 100 * float((ratios <= SAME_SUM).mean()),
            }


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the means and the worst ratios of the worst family with their limits."""
    return [
        Bar(
            f"sum of errors as a multiple of the smallest, {what}, worst of {len(rows)} families and sizes",
            max((row[name] for row in rows), default=None),
            limit,
        )
        for what, name, limit in (("mean", "mean_ratio", 1.05), ("largest", "worst_ratio", 1.5))
    ]
