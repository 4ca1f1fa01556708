"""Exchanges of one chosen column for another that lower the sum of errors.

Notation
--------
M : data; A, V : chosen columns, and the weights that explain all columns by them, M ~ A V'; B = M'A
U : the weights that explain all rows by the chosen ones, fixed here; S the core of chosen rows and columns
k : position of a chosen column; j : its rival; R : what the other chosen columns leave of M
"""

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.exchange import exchange_atom, expected_sums
from cosep.matrix.local import LocalMatrix
from cosep.select.column_choice import CORE_WEIGHT, ColumnChoice, explained_by
from cosep.select.fixed_rows import FixedRows, fixed_rows
from cosep.solve.nonnegative import dependent_grams
from cosep.solve.pursuit import Positions, several_largest
from cosep.utils.threads import for_each, slices
from cosep.utils.ties import descending
from cosep.utils.types import Array, Indices

# Rivals of each chosen column that are considered: near ones and far ones, see `promising`.
N_NEAR, N_FAR = 6, 4
# How many exchanges are solved exactly at a time: as many as this number of weights allows, within limits.
TRIAL_WORK, MIN_TRIALS, MAX_TRIALS = 700_000, 4, 32
NO_WEIGHTS = np.empty((0, 0, 0))
# Weights of new atoms in a piece of the exact solves, for threads to share.
PIECE_WORK = 20_000
# Sums of errors that differ by a smaller share, or by less than the second number, are equal.
EQUAL_SUM_TOL, EQUAL_ERROR_TOL = 1e-7, 1e-12


def exchange(
    M: LocalMatrix, positions: Positions, cols: ColumnChoice, rows: ColumnChoice | None, *, to_fill: bool = False
) -> ColumnChoice:
    """Try the most promising exchanges of chosen columns, and keep those that lower the sum of errors.

    A closed form ranks all columns; the best few are judged by the exact sum. Each position is exchanged at most once.
    ``to_fill`` tries only exchanges that leave fewer rows and columns of the core all zero. Returns ``cols`` itself if
    none is kept.
    """
    if to_fill and rows is not None and not has_zeros(M.take(rows.chosen, cols.chosen)):
        return cols
    fixed = fixed_rows(M, rows)
    useful = filling(fixed.H, cols.chosen) if to_fill else None
    trials = trials_of(promising(M, positions, cols, fixed, useful), n_trials(positions, len(cols.chosen)))
    exchanges = Exchanges(M, cols, fixed, products_of(M, trials))
    now, kept = fixed.sum_of(M, cols), cols
    totals = fixed.sum_with(*exchanges.errors(trials, keep=True))
    better = [trials[i] for i in descending(-totals) if totals[i] < now - equal_below(now)]
    exchanged: set[int] = set()
    for k, j in better:
        if k in exchanged or j in kept.chosen:
            continue
        other, core_error = exchanges.choice((k, j))
        total = float(fixed.sum_with(other.error, core_error))
        if total < now - equal_below(now):
            kept, now = other, total
            exchanges = Exchanges(M, kept, fixed, exchanges.products)
            exchanged.add(k)
    return kept


def equal_below(total: float) -> float:
    """Return the difference from a sum of errors below which another one is equal to it."""
    return EQUAL_SUM_TOL * total + EQUAL_ERROR_TOL


def n_trials(positions: Positions, r: int) -> int:
    """Return how many exchanges of r chosen columns are solved exactly at a time.

    Copies count like columns, so that weights change nothing but the storage.
    """
    n_copies = max(len(positions.allowed), float(np.sum(positions.copies)))
    return int(np.clip(TRIAL_WORK // (n_copies * r), MIN_TRIALS, MAX_TRIALS))


def trials_of(ranked: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """Return the first of some pairs of a position and a rival; at least one for every position if there is room."""
    first: dict[int, int] = {}
    for k, j in ranked:
        first.setdefault(k, j)
    if len(first) > count:
        return ranked[:count]
    others = [(k, j) for k, j in ranked if first[k] != j][: count - len(first)]
    chosen = {*first.items(), *others}
    return [pair for pair in ranked if pair in chosen]


def products_of(M: LocalMatrix, trials: list[tuple[int, int]]) -> dict[int, Array]:
    """Return ``M'M(:,j)`` for every rival j."""
    rivals = np.unique([j for _, j in trials]).astype(np.intp)
    return dict(zip(rivals.tolist(), np.ascontiguousarray(M.gram(rivals).T), strict=True))


class Exchanges:
    """Exchanges of one of the chosen columns for another, solved exactly.

    Parameters
    ----------
    M : LocalMatrix
    cols : ColumnChoice
        The chosen columns.
    fixed : FixedRows
    products : dict
        ``M'M(:,j)`` for every rival j.
    """

    def __init__(self, M: LocalMatrix, cols: ColumnChoice, fixed: FixedRows, products: dict[int, Array]) -> None:
        self.M, self.cols, self.fixed, self.products = M, cols, fixed, products
        self.B, self.V = np.ascontiguousarray(cols.B), np.ascontiguousarray(cols.V)
        G = self.B[cols.chosen]
        self.G = (G + G.T) / 2.0
        self.core_error = fixed.core_error(M, cols)
        self._kept: dict[tuple[int, int], tuple[Array, float, float]] = {}

    def errors(self, trials: list[tuple[int, int]], *, keep: bool = False) -> tuple[Array, Array]:
        """Return the errors of the columns, and of the core, with column j at position k, for each pair (k, j).

        ``keep`` keeps the weights, for `choice`: an array of the size of V for each pair.
        """
        if not trials:
            return np.zeros(0), np.zeros(0)
        total = self.M.squared_norm()
        dependent = dependent_grams(np.stack([self._gram(k, j) for k, j in trials]))
        solved = np.flatnonzero(~dependent)
        errors = np.empty((len(trials), 2))
        W = np.empty((len(solved), *self.V.shape)) if keep else NO_WEIGHTS
        more, core = self._changes([trials[t] for t in solved], W).T
        errors[solved, 0] = np.maximum(self.cols.error - more / total, 0.0)
        errors[solved, 1] = np.maximum(self.core_error + core / total, 0.0)
        for t in np.flatnonzero(dependent):
            other = explained_by(self.M, self._chosen(*trials[t]))
            errors[t] = other.error, self.fixed.core_error(self.M, other)
        self._kept.update((trials[t], (weights, *errors[t].tolist())) for t, weights in zip(solved, W, strict=keep))
        return errors[:, 0], errors[:, 1]

    def choice(self, trial: tuple[int, int]) -> tuple[ColumnChoice, float]:
        """Return the choice with column j at position k, and its error of the core."""
        (k, j), chosen = trial, self._chosen(*trial)
        if trial not in self._kept:
            self.errors([trial], keep=True)
        if trial not in self._kept:  # the columns depend on each other
            other = explained_by(self.M, chosen)
            return other, self.fixed.core_error(self.M, other)
        W, error, core_error = self._kept[trial]
        B = self.B.copy()
        B[:, k] = self.products[j]
        return ColumnChoice(chosen, W.copy(), error, B), core_error

    def _changes(self, trials: list[tuple[int, int]], W: Array) -> Array:
        """Return by how much what the columns explain, and the error of the core, change with each exchange."""
        fixed, (n, r) = self.fixed, self.V.shape
        if not trials:
            return np.zeros((0, 2))
        positions, rivals = np.array(trials, dtype=np.intp).T
        S, cores = fixed.H[:, self.cols.chosen], np.stack([fixed.H[:, self._chosen(*trial)] for trial in trials])
        C, c = fixed.M_U @ S, fixed.M_U @ fixed.H[:, rivals]
        of_core = np.einsum("ij,ij->i", self.V @ (S.T @ fixed.U_U @ S) - 2.0 * C, self.V)
        before = np.column_stack([np.einsum("ij,ij->i", self.B, self.V), of_core])
        b, k = np.stack([self.products[int(j)] for j in rivals], axis=1), np.ascontiguousarray(positions)
        g, squares = b[self.cols.chosen], b[rivals, np.arange(len(trials))]
        Q = cores.transpose(0, 2, 1) @ fixed.U_U @ cores
        pieces = slices(n, PIECE_WORK // (len(trials) * r))
        sums = np.zeros((len(pieces), len(trials), 2))

        def solve(number: int) -> None:
            some = pieces[number]
            exchange_atom(
                self.G, self.B, self.V, k, g, squares, b, C, c, Q, before, some.start, some.stop, sums[number], W
            )

        for_each(solve, range(len(pieces)))
        return np.asarray(sums.sum(axis=0))

    def _chosen(self, k: int, j: int) -> Indices:
        chosen = self.cols.chosen.copy()
        chosen[k] = j
        return chosen

    def _gram(self, k: int, j: int) -> Array:
        """Return the Gram matrix of the chosen columns with column j at position k."""
        chosen = self._chosen(k, j)
        G = self.cols.B[chosen]
        G[:, k] = self.products[j][chosen]
        return np.asarray((G + G.T) / 2.0)


def has_zeros(core: Array) -> bool:
    """Return whether a row or a column of the core is all zero."""
    return not (core.any(axis=0).all() and core.any(axis=1).all())


def filling(H: Array, chosen: Indices) -> NDArray[np.bool_]:
    """Return which columns j leave fewer rows and columns of the core all zero at position k, as an n x r array.

    H are the chosen rows. A row that is zero in the core adds nothing to it, and its component is empty.
    """
    core, zero = H[:, chosen] != 0, (H == 0).astype(np.float64)
    # Rows that are zero without column k, and columns other than k that are zero.
    lost = core.sum(axis=1)[:, None] == core
    empty_cols = ~core.any(axis=0)
    others = empty_cols.sum() - empty_cols
    after = zero.T @ lost + others + np.logical_not(H.any(axis=0))[:, None]
    return np.asarray(after < (~core.any(axis=1)).sum() + empty_cols.sum())


def promising(
    M: LocalMatrix,
    positions: Positions,
    cols: ColumnChoice,
    fixed: FixedRows,
    useful: NDArray[np.bool_] | None = None,
) -> list[tuple[int, int]]:
    """Return pairs of a position and a rival for it, those with the smallest expected sum of errors first.

    Only ``useful`` rivals j of position k are considered, if that n x r array is given.

    The expected errors have a closed form: the rival gets the weights of the column that it replaces (it is near), or
    those of the strongest direction in what the others leave of the data, by one step of the power method (it is far),
    times the best factor, and it explains itself.
    """
    V, r = cols.V, len(cols.chosen)
    taken = ~positions.allowed
    taken[cols.chosen] = True
    near = np.where(V.any(axis=0), V, 1.0)
    products = left_by_others(M, cols, near)
    far = np.maximum(products - V @ products[cols.chosen] + V * np.diagonal(products[cols.chosen]), 0.0)
    far /= np.maximum(np.linalg.norm(far, axis=0), np.finfo(np.float64).tiny)
    best: dict[tuple[int, int], float] = {}

    def rank(weights: Array, products: Array, number: int) -> None:
        expected = _expected(M, cols, fixed, weights, products, positions.sizes)
        decrease = np.subtract(expected.max(), expected)
        decrease[taken] = 0.0
        if useful is not None:
            decrease[~useful] = 0.0
        for k in range(len(positions.include), r):
            for j in several_largest(decrease[:, k], number):
                best[k, int(j)] = min(best.get((k, int(j)), np.inf), float(expected[j, k]))

    rank(near, products, N_NEAR)
    del near, products
    rank(far, left_by_others(M, cols, far), N_FAR)
    pairs = list(best)
    return [pairs[i] for i in descending(-np.array(list(best.values())))]


def left_by_others(M: LocalMatrix, cols: ColumnChoice, weights: Array) -> Array:
    """Return the products of all columns with what the others than the k-th leave, ``M'R_k weights(:,k)``, for each k.

    What they leave is summed with weights. ``B = M'A`` is known, so that A itself is not needed.
    """
    inside = cols.V.T @ weights
    np.fill_diagonal(inside, 0.0)
    products = M.cross(M.dot(weights))
    products -= cols.B @ inside
    return products


def _expected(
    M: LocalMatrix, cols: ColumnChoice, fixed: FixedRows, weights: Array, products: Array, lone: Array
) -> Array:
    """Return the expected sum of errors with column j at position k, for all j and k.

    Column j has the best multiple of weights(:,k), which sum what is left of the data to ``products``. ``lone`` are the
    squared norms of single copies of the columns.
    """
    total, norms, sizes = M.squared_norm(), M.squared_norms(), np.einsum("ij,ij->j", weights, weights)
    norms[norms == 0] = 1.0
    factors = np.maximum(products, 0.0) / norms[:, None] / np.where(sizes > 0, sizes, np.inf)
    S, H, V = fixed.H[:, cols.chosen], fixed.H, cols.V
    quadratic = np.einsum("ij,ij->j", H, fixed.U_U @ H) / total
    # What the k-th column explains, the others being fixed.
    lengths = np.einsum("ij,ij->j", V, V)
    of_columns = lengths * norms[cols.chosen] / total
    of_core = (
        2.0 * np.einsum("ij,ij->j", S, _left_of_core(cols, fixed, S, V)) / total - lengths * quadratic[cols.chosen]
    )
    without = np.stack([cols.error + of_columns, fixed.core_error(M, cols) + of_core])
    linear = H.T @ _left_of_core(cols, fixed, S, weights) / total
    # A column explains itself, whatever the weights of the others are.
    explained = np.einsum("ij,ij->i", cols.B, V)
    itself = np.maximum(norms[:, None] - explained[:, None] + cols.B * V, 0.0) / norms[:, None]
    squares, sums = np.stack([norms / total, lone / total, quadratic]), np.empty_like(V)
    weight = CORE_WEIGHT if len(H) else 0.0
    expected_sums(factors, weights, itself, squares, sizes, linear, without, fixed.error, weight, sums)
    return sums


def _left_of_core(cols: ColumnChoice, fixed: FixedRows, S: Array, weights: Array) -> Array:
    """Return ``U'R`` times the weights, where R is what the core of the other columns leaves of the data."""
    inside = cols.V.T @ weights
    return np.asarray(fixed.M_U.T @ weights - fixed.U_U @ (S @ inside - S * np.diagonal(inside)))
