"""The passes over blocks that search all rows for better candidates than those of the sample.

Notation
--------
Z : the small problem, weighted rows of the sample
H, U : its selected rows, of norm one, and the weights that explain all of Z by them, Z ~ U H
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from cosep.matrix.local import LocalMatrix, stacked
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array, Indices

# How many rows are kept for each direction.
ROWS_PER_DIRECTION = 8
# Rows whose largest score is found first.
GROUP = 64
# Scores that agree in this many decimals are tied, and the first row wins.
SCORE_DECIMALS = 9


class Directions(NamedTuple):
    """Where to search.

    Attributes
    ----------
    typical : ndarray of shape (n, k)
        Directions that a candidate should be similar to.
    extreme : ndarray of shape (n, k)
        Directions in which a candidate should be extreme.
    col_scale : ndarray of shape (n,) or None
        Columns are multiplied by this first.
    allowed : ndarray of int or None
        Positions of the rows to search, in ascending order; None for all.
    """

    typical: Array
    extreme: Array
    col_scale: Array | None
    allowed: Indices | None


class Candidates(NamedTuple):
    """The best rows for each direction.

    Attributes
    ----------
    scores : ndarray of shape (n_directions, ROWS_PER_DIRECTION)
        The largest scores, in descending order; ``-inf`` where there is no row.
    indices : ndarray of int, of the same shape
        Positions of these rows; -1 where there is no row.
    found : ndarray of int
        Positions of all these rows, each once.
    rows : LocalMatrix
        The rows of ``found``.
    """

    scores: Array
    indices: Indices
    found: Indices
    rows: LocalMatrix

    def merge(self, others: Sequence[Self]) -> "Candidates":
        """Add the candidates of the following rows, and keep the best."""
        parts = [self, *others]
        scores, indices = (
            np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("scores", "indices")
        )
        # Earlier blocks come first, so that the first of tied rows wins.
        order = np.argsort(-scores, axis=1, kind="stable")[:, :ROWS_PER_DIRECTION]
        scores, indices = np.take_along_axis(scores, order, 1), np.take_along_axis(indices, order, 1)
        kept = [np.flatnonzero(np.isin(part.found, indices)) for part in parts]
        return Candidates(
            scores,
            indices,
            np.concatenate([part.found[some] for part, some in zip(parts, kept, strict=True)]),
            stacked([part.rows.rows(some) for part, some in zip(parts, kept, strict=True)]),
        )


def directions(Z: LocalMatrix, selected: Indices) -> tuple[Array, Array]:
    """Return the typical and the extreme direction of each selected row, in which better rows would lie.

    Typical: what the other rows leave of the data that a selected row explains; a better row is similar to it.
    Extreme: the direction in which a selected row goes beyond all others. In a separable matrix the rows that go
    farthest in these directions are the vertices.
    """
    H = _unit_columns(Z.take(rows=selected).T).T
    U = coefficients(Z, H)
    rest = Z.cross(U) - H.T @ (U.T @ U) + H.T * np.einsum("ij,ij->j", U, U)
    return _unit_columns(np.maximum(rest, 0.0)), _unit_columns(np.asarray(np.linalg.pinv(H), dtype=np.float64))


def _unit_columns(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    return np.asarray(A / np.where(lengths > 0, lengths, 1.0))


def candidates(where: Directions, block: LocalMatrix, start: int) -> Candidates:
    """Return the best rows of one block."""
    E = np.ones(block.shape[1]) if where.col_scale is None else where.col_scale
    lengths, sums = np.sqrt(block.squared_lengths(E)), block.dot(E)
    excluded = lengths == 0
    if where.allowed is not None:
        excluded[~np.isin(np.arange(start, start + len(excluded)), where.allowed)] = True
    scores = np.empty((len(lengths), where.typical.shape[1] + where.extreme.shape[1]))
    typical, extreme = scores[:, : where.typical.shape[1]], scores[:, where.typical.shape[1] :]
    np.divide(block.dot(where.typical * E[:, None]), np.where(excluded, 1.0, lengths)[:, None], out=typical)
    np.divide(block.dot(where.extreme * E[:, None]), np.where(excluded, 1.0, sums)[:, None], out=extreme)
    np.round(scores, SCORE_DECIMALS, out=scores)
    scores[excluded] = -np.inf
    best = _first_largest(scores)
    values = np.where(best >= 0, np.take_along_axis(scores.T, np.maximum(best, 0), 1), -np.inf)
    found = np.unique(best[best >= 0])
    return Candidates(values, np.where(best >= 0, best + start, -1), found + start, block.rows(found))


def _first_largest(scores: Array) -> Indices:
    """Return for each column the positions of its largest entries in descending order, the first of tied ones.

    -1 stands for a missing one. Entries smaller than the largest entries of some groups of rows need not be sorted.
    """
    m, k = scores.shape
    best = np.full((k, ROWS_PER_DIRECTION), -1, dtype=np.intp)
    least = np.full(k, -np.inf)
    if m >= GROUP * ROWS_PER_DIRECTION:
        peaks = scores[: m - m % GROUP].reshape(-1, GROUP, k).max(axis=1)
        least = np.partition(peaks, -ROWS_PER_DIRECTION, axis=0)[-ROWS_PER_DIRECTION]
    rows, columns = np.divmod(np.flatnonzero((scores >= least) & (scores > -np.inf)), k)
    for j in range(k):
        strong = rows[columns == j]
        strong = strong[np.argsort(-scores[strong, j], kind="stable")][:ROWS_PER_DIRECTION]
        best[j, : len(strong)] = strong
    return best
