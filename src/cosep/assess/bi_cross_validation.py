"""Bi-cross-validation of selected rows and columns: predictions of held-out blocks.

Notation
--------
M : data, m x n
I, J : a fold of rows and a fold of columns; the block M(I,J) is held out
K1, U : rows selected without the columns J, and the weights that explain all rows by them, refitted once
K2, V : columns selected without the rows I, and the weights that explain all columns by them, refitted once
C : the core, r1 x r2, fitted to everything but M(I,J); the block is predicted by U(I,:) C V(J,:)'
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from cosep.assess.predictions import SMALLEST_ERROR, Prediction, Trial
from cosep.assess.removals import kept_longest
from cosep.assess.selecting import select_without_warnings
from cosep.kernels.projections import project_orthant
from cosep.kernels.quadratic import fast_gradient
from cosep.matrix.checks import check_indices
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.solve.nonnegative import coefficients, nonnegative
from cosep.utils.blas import one_blas_thread
from cosep.utils.messages import shown
from cosep.utils.types import Array, Indices

# Numbers of rows and of columns to select.
Rank = tuple[int, int]
# Selected rows (columns), and the weights that explain all rows (columns) by them.
Weighted = tuple[Indices, Array]

# The rows, and the columns, are split into this many folds.
N_FOLDS = 4
# At least this many rows and columns are selected at a time; fewer ones are those of them that are needed most.
SMALLEST_LEVEL = 8
# The KKT residual to which the cores are fitted, and the maximum number of steps.
CORE_TOL, CORE_MAX_ITER = 1e-5, 300


class BiCrossValidation:
    """Predictions of all blocks of a matrix, each from selections that have not seen it.

    Parameters
    ----------
    M : LocalMatrix
        The data.
    select : callable
        A function ``(X, n_rows, n_cols) -> Selection``.
    seed : int
        Determines the folds, and is passed to a function that takes a random state.
    n_jobs : int or None
        Number of selections that run at the same time, each in a process of its own.
    """

    def __init__(self, M: LocalMatrix, select: Callable[..., Selection], seed: int, n_jobs: int | None) -> None:
        self.M = M
        self.select = select
        self.seed = seed
        self.n_jobs = n_jobs
        self.folds = [split(size, n_folds(M.shape), seed) for size in M.shape]
        self.blocks = [[M.part(I, J) for J in self.folds[1]] for I in self.folds[0]]
        self._orders: dict[tuple[bool, int, int], Indices] = {}
        self._weighted: dict[tuple[bool, int, int], Weighted] = {}

    @property
    def n_sides(self) -> int:
        """The number of sides from which is selected: all rows without each fold of columns, and likewise columns."""
        return 2 * len(self.blocks)

    def run(self, ranks: Sequence[Rank]) -> Iterator[tuple[Rank, Trial] | None]:
        """Yield None for each selection that is made, and then each pair of ranks with its result."""
        sides = list(product((False, True), range(len(self.blocks))))
        tasks: dict[tuple[bool, int, int], list[int]] = {}
        for transposed, fold in sides:
            for size in sorted({rank[transposed] for rank in ranks}):
                if (transposed, fold, size) not in self._weighted:
                    tasks.setdefault((transposed, fold, level_of(size)), []).append(size)
        # Processes, because all threads of a process share its warning filters.
        found = Parallel(n_jobs=self.n_jobs, backend="loky", return_as="generator")(
            delayed(explained)(
                self._outside(fold, transposed=transposed),
                self._orders.get((transposed, fold, level)),
                partial(ordered, self.select, level, self.seed, transposed=transposed),
                sizes,
            )
            for (transposed, fold, level), sizes in tasks.items()
        )
        for ((transposed, fold, level), sizes), (order, weights) in zip(tasks.items(), found, strict=True):
            self._orders[transposed, fold, level] = order
            self._weighted |= {(transposed, fold, size): one for size, one in zip(sizes, weights, strict=True)}
            yield None
        for rank in ranks:
            rows, cols = (
                [self._weighted[transposed, fold, rank[transposed]] for fold in range(len(self.blocks))]
                for transposed in (False, True)
            )
            with one_blas_thread:
                trial = self._trial(rank, rows, cols)
            yield rank, trial

    def _outside(self, fold: int, *, transposed: bool) -> LocalMatrix:
        """Return the columns of M outside a fold; transposed: its rows outside a fold, transposed."""
        m, n = self.M.shape
        kept = np.setdiff1d(np.arange(m if transposed else n), self.folds[0 if transposed else 1][fold])
        return self.M.part(kept, np.arange(n)).T if transposed else self.M.part(np.arange(m), kept)

    def _trial(self, rank: Rank, by_rows: list[Weighted], by_cols: list[Weighted]) -> Trial:
        """Predict every block from the rows selected without its columns and the columns selected without its rows."""
        sides = [
            [of_norm_one(W, size) for _, W in weighted] for weighted, size in zip((by_rows, by_cols), rank, strict=True)
        ]
        blocks, targets = [], []
        for V, I, some in zip(sides[1], self.folds[0], self.blocks, strict=True):
            M_V = self.M.dot(V)
            for U, J, block in zip(sides[0], self.folds[1], some, strict=True):
                if block.squared_norm() > 0:
                    blocks.append((block, (U, V), (U[I], V[J])))
                    targets.append(U.T @ M_V - U[I].T @ block.dot(V[J]))
        cores = fitted_cores([whole for _, whole, _ in blocks], [hidden for *_, hidden in blocks], targets)
        predictions = []
        for (block, _, (U, V)), C in zip(blocks, cores, strict=True):
            W = U @ C
            predictions.append(Prediction(W, V, float(np.vdot(block.cross(W), V)), block.squared_norm()))
        errors = np.array([max(np.sqrt(max(one.left(), 0.0) / one.total), SMALLEST_ERROR) for one in predictions])
        m, n = self.M.shape
        agreements = agreement([K for K, _ in by_rows], m), agreement([K for K, _ in by_cols], n)
        return Trial(errors, float(np.mean(agreements)), tuple(predictions))


def level_of(size: int) -> int:
    """Return how many rows (columns) are selected to find ``size`` of them: a power of two."""
    return max(SMALLEST_LEVEL, 1 << (size - 1).bit_length())


def ordered(select: Callable[..., Selection], level: int, seed: int, part: LocalMatrix, *, transposed: bool) -> Indices:
    """Select up to ``level`` rows, and as many columns, and return the rows, those that are needed most first.

    ``select`` is called on the part as it lies in the data, which is its transpose if ``transposed``.
    """
    data = part.T if transposed else part
    m, n = data.shape
    chosen = select_without_warnings(data, select, min(level, m), min(level, n), seed)
    indices = chosen.col_indices if transposed else chosen.row_indices
    rows = check_indices(indices, f"the indices of method={shown(select)}", part.shape[0], "their number")
    return kept_longest(part.T, rows)


def explained(
    part: LocalMatrix, order: Indices | None, select: Callable[[LocalMatrix], Indices], sizes: Sequence[int]
) -> tuple[Indices, list[Weighted]]:
    """Return rows in an order, and the first of them, for each of the sizes, with the weights of all rows.

    If ``order`` is None, the rows are selected.
    """
    if part.count_nonzero() == 0:
        none = np.zeros(0, dtype=np.intp)
        return none, [(none, np.zeros((part.shape[0], 0)))] * len(sizes)
    # One thread, so that sums, and therefore selections, do not depend on n_jobs.
    with one_blas_thread:
        order = select(part) if order is None else order
        weighted = []
        for size in sizes:
            H = part.take(rows=order[:size])
            weighted.append((order[:size], refitted(part, coefficients(part, H), H)))
        return order, weighted


def refitted(M: LocalMatrix, U: Array, H: Array) -> Array:
    """Return the weights U of all rows of M after one step of ``min ||M - U H||`` over nonnegative H, then U.

    Selected rows H are as noisy as any others. If they were used as they are, more of them would predict better only
    because their noise averages out, and the error would have its minimum beyond the structure of M.
    """
    H = nonnegative(U, M.T.dot(U), H.T).T
    return nonnegative(H.T, M.dot(H.T), U)


def of_norm_one(W: Array, size: int) -> Array:
    """Return ``size`` columns, zeros after those of W, each divided by its norm, and all by their spectral norm."""
    norms = np.linalg.norm(W, axis=0)
    W = W / np.where(norms > 0, norms, 1.0)
    spectral = np.sqrt(np.linalg.norm(W.T @ W, 2)) if W.any() else 1.0
    return np.pad(W / spectral, ((0, 0), (0, size - W.shape[1])))


def fitted_cores(
    weights: Sequence[tuple[Array, Array]], held_out: Sequence[tuple[Array, Array]], targets: Sequence[Array]
) -> Array:
    """Solve ``min_C ||M - U C V'||^2 - ||M(I,J) - U(I,:) C V(J,:)'||^2`` over ``C >= 0`` for several blocks.

    ``weights`` are pairs of U and V with spectral norm one, ``held_out`` their rows I and J, and ``targets`` are
    ``U' M V`` without the block. All blocks are solved together, which is faster if they are small.
    """
    if not targets:
        return np.zeros((0, 0, 0))
    G, H = (np.stack([pair[side].T @ pair[side] for pair in weights]) for side in (0, 1))
    G0, H0 = (np.stack([pair[side].T @ pair[side] for pair in held_out]) for side in (0, 1))
    target = np.stack(targets)
    best = fast_gradient(
        lambda C: G @ C @ H - G0 @ C @ H0,
        target,
        project_orthant,
        np.zeros_like(target),
        lipschitz=1.0,
        tol=CORE_TOL,
        max_iter=CORE_MAX_ITER,
    )
    return best.Y


def agreement(choices: list[Indices], size: int) -> float:
    """Return the share of indices that two choices have in common, corrected for chance, averaged over all pairs.

    1 if all choices are equal, 0 on average if they are random choices from ``size`` indices.
    """
    shares = []
    for one, other in combinations(choices, 2):
        r = max(len(one), len(other), 1)
        chance = r / size
        shares.append((len(np.intersect1d(one, other)) / r - chance) / (1.0 - chance))
    return float(np.mean(shares))


def n_folds(shape: tuple[int, int]) -> int:
    """Return the number of folds of the rows, and of the columns, of a matrix of this shape."""
    return min(N_FOLDS, *shape)


def split(size: int, h: int, seed: int) -> list[Indices]:
    """Return h random folds that depend only on the size and the seed, so that transposing X swaps them."""
    order = np.random.RandomState(seed).permutation(size)
    return [np.sort(part) for part in np.array_split(order, h)]
