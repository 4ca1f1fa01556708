"""Bi-cross-validation of selected rows and columns: errors of held-out blocks.

Notation
--------
M : data, m x n
I, J : a fold of rows and a fold of columns; the block M(I,J) is held out
K1, U : rows selected without the columns J, and the weights that explain all rows by them, refitted once
K2, V : columns selected without the rows I, and the weights that explain all columns by them, refitted once
C : the core, r1 x r2, fitted to everything but M(I,J)
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from cosep.assess.selecting import select_without_warnings
from cosep.kernels.projections import project_orthant
from cosep.kernels.quadratic import fast_gradient
from cosep.matrix.checks import check_indices
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.solve.alternation import half_squared_error
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
# Smaller relative errors count as this: below it they are rounding.
SMALLEST_ERROR = 1e-4
# The KKT residual to which the core is fitted, and the maximum number of steps.
CORE_TOL, CORE_MAX_ITER = 1e-5, 300


class Trial(NamedTuple):
    """The result of bi-cross-validation for one pair of ranks.

    Parameters
    ----------
    errors : ndarray
        The relative errors of all held-out blocks that are not zero.
    stability : float
        The agreement of the selections without different folds, see `agreement`.
    """

    errors: Array
    stability: float

    @property
    def error(self) -> float:
        """The mean of the errors."""
        return float(self.errors.mean())


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

    @property
    def n_selections(self) -> int:
        """The number of selections for one pair of ranks: one without each fold."""
        return 2 * len(self.blocks)

    def run(self, ranks: Sequence[Rank]) -> Iterator[tuple[Rank, Trial | None]]:
        """Yield each pair of ranks after each of its selections: with None, and with the result after the last one."""
        h = len(self.blocks)
        sides = product((False, True), range(h))
        outside = [(transposed, self._outside(fold, transposed=transposed)) for transposed, fold in sides]
        # Processes, because all threads of a process share its warning filters.
        found = Parallel(n_jobs=self.n_jobs, backend="loky", return_as="generator")(
            delayed(explained)(self.M, kept, self.select, rank, self.seed, transposed=transposed)
            for rank in ranks
            for transposed, kept in outside
        )
        for rank in ranks:
            weighted: list[Weighted] = []
            while len(weighted) < self.n_selections - 1:
                weighted.append(next(found))
                yield rank, None
            weighted.append(next(found))
            with one_blas_thread:
                trial = self._trial(weighted[:h], weighted[h:])
            yield rank, trial

    def _outside(self, fold: int, *, transposed: bool) -> Indices:
        """Return the columns (rows if transposed) outside a fold."""
        axis = 0 if transposed else 1
        return np.setdiff1d(np.arange(self.M.shape[axis]), self.folds[axis][fold])

    def _trial(self, by_rows: list[Weighted], by_cols: list[Weighted]) -> Trial:
        """Predict every block from the rows selected without its columns and the columns selected without its rows."""
        errors = []
        for (K2, V), I, blocks in zip(by_cols, self.folds[0], self.blocks, strict=True):
            M_V = self.M.dot(V)
            for (K1, U), J, block in zip(by_rows, self.folds[1], blocks, strict=True):
                total = block.squared_norm()
                if total > 0:
                    S = self.M.take(K1, K2)
                    S[np.ix_(np.isin(K1, I), np.isin(K2, J))] = 0.0
                    W = U[I] @ fitted_core(S, (U, V), (U[I], V[J]), U.T @ M_V - U[I].T @ block.dot(V[J]))
                    squared = 2.0 * half_squared_error(total, W, block.cross(W), V[J])
                    errors.append(max(float(np.sqrt(max(squared, 0.0))), SMALLEST_ERROR))
        m, n = self.M.shape
        agreements = agreement([K for K, _ in by_rows], m), agreement([K for K, _ in by_cols], n)
        return Trial(np.array(errors), float(np.mean(agreements)))


def explained(
    M: LocalMatrix, kept: Indices, select: Callable[..., Selection], rank: Rank, seed: int, *, transposed: bool
) -> Weighted:
    """Select rows by the kept columns, and return them with the weights of all rows.

    Transposed: select columns by the kept rows, and return them with the weights of all columns.
    """
    m, n = M.shape
    part = M.part(kept, np.arange(n)) if transposed else M.part(np.arange(m), kept)
    if part.count_nonzero() == 0:
        return np.zeros(0, dtype=np.intp), np.zeros((part.shape[1 if transposed else 0], 0))
    # One thread, so that sums, and therefore selections, do not depend on n_jobs.
    with one_blas_thread:
        chosen = select_without_warnings(part, select, *rank, seed)
        part, indices = (part.T, chosen.col_indices) if transposed else (part, chosen.row_indices)
        rows = check_indices(indices, f"the indices of method={shown(select)}", part.shape[0], "their number")
        H = part.take(rows=rows)
        return rows, refitted(part, coefficients(part, H), H)


def refitted(M: LocalMatrix, U: Array, H: Array) -> Array:
    """Return the weights U of all rows of M after one step of ``min ||M - U H||`` over nonnegative H, then U.

    Selected rows H are as noisy as any others. If they were used as they are, more of them would predict better only
    because their noise averages out, and the error would have its minimum beyond the structure of M.
    """
    H = nonnegative(U, M.T.dot(U), H.T).T
    return nonnegative(H.T, M.dot(H.T), U)


def fitted_core(S: Array, weights: tuple[Array, Array], held_out: tuple[Array, Array], target: Array) -> Array:
    """Solve ``min_C ||M - U C V'||^2 - ||M(I,J) - U(I,:) C V(J,:)'||^2`` over ``C >= 0``, from S.

    ``weights`` are U and V, ``held_out`` their rows I and J, and ``target`` is ``U' M V`` without the block.
    """
    if S.size == 0:
        return S
    scales = [np.linalg.norm(W, axis=0) for W in weights]
    for scale in scales:
        scale[scale == 0] = 1.0
    G, H = (W.T @ W / np.outer(scale, scale) for W, scale in zip(weights, scales, strict=True))
    G0, H0 = (W.T @ W / np.outer(scale, scale) for W, scale in zip(held_out, scales, strict=True))
    scale = np.outer(*scales)
    best = fast_gradient(
        lambda C: G @ C @ H - G0 @ C @ H0,
        target / scale,
        project_orthant,
        S * scale,
        lipschitz=float(np.linalg.norm(G, 2) * np.linalg.norm(H, 2)),
        tol=CORE_TOL,
        max_iter=CORE_MAX_ITER,
    )
    return np.asarray(best.Y / scale)


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


def standard_error(errors: Array) -> float:
    """Return the standard error of the mean."""
    return float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0


def n_folds(shape: tuple[int, int]) -> int:
    """Return the number of folds of the rows, and of the columns, of a matrix of this shape."""
    return min(N_FOLDS, *shape)


def split(size: int, h: int, seed: int) -> list[Indices]:
    """Return h random folds that depend only on the size and the seed, so that transposing X swaps them."""
    order = np.random.RandomState(seed).permutation(size)
    return [np.sort(part) for part in np.array_split(order, h)]
