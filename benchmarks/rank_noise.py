"""The recommendation of `choose_rank(X)` for several kinds of noise, compared with cross-validation of the SVD.

Ten matrices of 60 x 48 per line. `dense` are those of `make_coseparable`: every row mixes all planted rows about alike,
so that the first component is much larger than the others. `clusters` have a nearly diagonal core, and most rows and
columns are close to one planted row or column. `rank one` has no structure beyond its first component. Planted are
3, 4, ..., 8 rows and as many columns, or different numbers of identifiable rows and columns.

Gaussian noise has the given norm relative to that of X, and negative entries become zero. Poisson counts have the given
mean. Multiplicative noise is a factor with a gamma distribution, mean 1 and the given standard deviation. Uniform noise
is positive, with the given relative norm. Zeros replace the given share of the entries.

`found` counts how often the planted pair was recommended. `bias` is the mean of recommended minus planted, over rows
and columns, and `bias, longer` that of the longer side alone. `minimum` is the bias of the pair with the smallest
error. SVD is bi-cross-validation of the truncated SVD (Owen and Perry, 2009) with as many folds and in the same norm.
It returns the rank with the smallest error. The rank of X is at most the shorter side, and is compared with that.
"""

from collections.abc import Callable, Iterator
from itertools import cycle, islice

import numpy as np

from benchmarks.harness import Bar, Row, clock, warm
from cosep import choose_rank, make_coseparable
from cosep.matrix.scaling import scale
from cosep.utils.types import Array, Indices

SHAPE = (60, 48)
SEEDS = 10
RANKS = tuple((r, r) for r in range(3, 9))
PAIRS = ((3, 5), (5, 3), (4, 6), (6, 4), (4, 8), (8, 4))
N_FOLDS = 4
MOST_COMPONENTS = 16

Random = np.random.RandomState
Planted = tuple[Array, tuple[int, int]]


def dense(n_rows: int, n_cols: int, seed: int) -> Planted:
    """Draw a matrix whose rows mix all planted rows about alike, and count the planted ones that are identifiable."""
    X, truth = make_coseparable(*SHAPE, n_rows, n_cols, random_state=seed)
    identifiable = (np.asarray(one) for one in (truth.row_identifiable, truth.col_identifiable))
    n_rows, n_cols = (int(one.sum()) for one in identifiable)
    return X, (n_rows, n_cols)


def clusters(n_rows: int, n_cols: int, seed: int) -> Planted:
    """Draw a matrix whose core is nearly diagonal."""
    random = Random(seed)
    core = np.eye(n_rows, n_cols) + 0.1 * random.uniform(size=(n_rows, n_cols))
    sides = [
        np.vstack([np.eye(r), random.dirichlet(np.full(r, 0.5), size - r)])
        for r, size in zip(core.shape, SHAPE, strict=True)
    ]
    return sides[0] @ core @ sides[1].T, core.shape


def rank_one(_rows: int, _cols: int, seed: int) -> Planted:
    """Draw a matrix of rank one."""
    random = Random(seed)
    return np.outer(random.uniform(0.5, 1.0, SHAPE[0]), random.uniform(0.5, 1.0, SHAPE[1])), (1, 1)


def gaussian(X: Array, level: float, random: Random) -> Array:
    """Add Gaussian noise."""
    N = random.standard_normal(X.shape)
    return np.asarray(np.maximum(X + level * np.linalg.norm(X) / np.linalg.norm(N) * N, 0.0))


def poisson(X: Array, level: float, random: Random) -> Array:
    """Draw counts."""
    return np.asarray(random.poisson(X * (level / X.mean())), dtype=float)


def multiplicative(X: Array, level: float, random: Random) -> Array:
    """Multiply by positive factors."""
    return X * random.gamma(level**-2, level**2, X.shape)


def uniform(X: Array, level: float, random: Random) -> Array:
    """Add positive noise."""
    N = random.uniform(size=X.shape)
    return X + level * np.linalg.norm(X) / np.linalg.norm(N) * N


def zeros(X: Array, level: float, random: Random) -> Array:
    """Replace entries by zero."""
    return np.where(random.uniform(size=X.shape) < level, 0.0, X)


NOISES = {
    gaussian: (0.01, 0.1, 0.2, 0.5),
    poisson: (100.0, 10.0, 1.0),
    multiplicative: (0.1, 0.3, 1.0),
    uniform: (0.3,),
    zeros: (0.1,),
}
LINES = (
    *(
        (draw, RANKS, noise, level)
        for draw in (dense, clusters)
        for noise, levels in NOISES.items()
        for level in levels
    ),
    *((rank_one, RANKS, noise, level) for noise, level in ((gaussian, 0.5), (poisson, 1.0), (multiplicative, 1.0))),
    *((dense, PAIRS, gaussian, level) for level in (0.0, 0.01, 0.1)),
    *((dense, PAIRS, noise, level) for noise, level in ((poisson, 100.0), (multiplicative, 0.1))),
)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per kind of matrix and noise."""
    warm()
    choose_rank(make_coseparable(20, 15, 2, 2, random_state=0)[0], [2])
    for draw, ranks, noise, level in LINES[:1] if tiny else LINES:
        yield line(draw, list(islice(cycle(ranks), 1 if tiny else SEEDS)), noise, level)


def line(
    draw: Callable[[int, int, int], Planted],
    ranks: list[tuple[int, int]],
    noise: Callable[[Array, float, Random], Array],
    level: float,
) -> Row:
    """Compare the recommendations for some matrices with the planted numbers."""
    drawn = [draw(*rank, seed) for seed, rank in enumerate(ranks)]
    truth = np.array([planted for _, planted in drawn])
    data = [noise(X, level, Random(1000 + seed)) for seed, (X, _) in enumerate(drawn)]
    seconds, choices = clock(lambda: [choose_rank(X) for X in data])
    chosen = np.array([(choice.n_rows, choice.n_cols) for choice in choices])
    smallest = np.array([choice.best for choice in choices])
    rank_of_svd = np.array([svd_rank(X) for X in data])
    longer = truth.argmax(axis=1)[:, None]
    different = bool((truth[:, 0] != truth[:, 1]).any())
    return {
        "matrix": draw.__name__.replace("_", " ") + ", different numbers" * different,
        "noise": noise.__name__,
        "level": level,
        "found": int((chosen == truth).all(axis=1).sum()),
        "of": len(truth),
        "bias": float((chosen - truth).mean()),
        "bias, longer": float(np.take_along_axis(chosen - truth, longer, axis=1).mean()) if different else None,
        "minimum": float((smallest - truth).mean()),
        "found by SVD": int((rank_of_svd == truth.min(axis=1)).sum()),
        "bias of SVD": float((rank_of_svd - truth.min(axis=1)).mean()),
        "s": seconds,
    }


def svd_rank(X: Array) -> int:
    """Return the rank with the smallest error of ``A - B D_k^+ C`` over all blocks A, D_k the truncated SVD of D."""
    M = scale(X, "degree")[0].take()
    random = Random(0)
    rows, cols = (np.array_split(random.permutation(size), N_FOLDS) for size in M.shape)
    return 1 + int(np.mean([block_errors(M, I, J) for I in rows for J in cols], axis=0).argmin())


def block_errors(M: Array, I: Indices, J: Indices) -> list[float]:
    """Return the relative errors of the block M(I,J) predicted with 1, 2, ... components of the rest."""
    I_, J_ = (np.setdiff1d(np.arange(size), fold) for size, fold in zip(M.shape, (I, J), strict=True))
    U, s, Vt = np.linalg.svd(M[np.ix_(I_, J_)], full_matrices=False)
    left, right = M[np.ix_(I, J_)] @ Vt.T / s, U.T @ M[np.ix_(I_, J)]
    block = M[np.ix_(I, J)]
    norm = np.linalg.norm(block)
    return [
        float(np.linalg.norm(block - left[:, :k] @ right[:k]) / norm)
        for k in range(1, min(MOST_COMPONENTS, len(s)) + 1)
    ]


def bars(rows: list[Row]) -> list[Bar]:
    """Compare what was found with what the SVD finds, for equal numbers of rows and columns."""
    equal = [row for row in rows if row.get("bias, longer") is None]
    ours, theirs = (sum(row[one] for row in equal) for one in ("found", "found by SVD"))
    alone = [10 * row["found"] / row["of"] for row in rows if row["matrix"] == "rank one"]
    return [
        Bar("pairs found, relative to ranks found by the SVD", ours / theirs if theirs else None, 1.0, at_least=True),
        Bar("rank one recommended, of ten, for the worst noise", min(alone, default=None), 9.0, at_least=True),
    ]
