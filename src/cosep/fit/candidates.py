"""Directions enter; the rows of all blocks that go farthest in each leave.

Notation
--------
Z : the small problem, weighted rows of the sample
H, U : its chosen rows, of length one, and the weights that explain all of Z by them, Z ~ U H
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from cosep.matrix.block import stack
from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array, Indices

# Rows that are kept for each direction.
KEPT = 4
# Merits that agree in so many digits are a tie, which the first row wins.
DIGITS = 9


class Directions(NamedTuple):
    """Where to look: for rows that are most like a direction, and for those that are most extreme in one.

    Columns are multiplied by ``col_scale`` first. Rows must be among the ``allowed``, in ascending order, if any are
    named.
    """

    typical: Array
    extreme: Array
    col_scale: Array | None
    allowed: Indices | None


class Candidates(NamedTuple):
    """For every direction the rows with the largest merits, and these rows themselves.

    Both are of shape (directions, `KEPT`); the position -1 stands for no row.
    """

    merits: Array
    indices: Indices
    found: Indices
    rows: Any

    def merge(self, others: Sequence[Self]) -> "Candidates":
        """Let following rows compete."""
        parts = [self, *others]
        merits, indices = (
            np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("merits", "indices")
        )
        # Earlier blocks come first, so that the first of those that tie wins.
        order = np.argsort(-merits, axis=1, kind="stable")[:, :KEPT]
        merits, indices = np.take_along_axis(merits, order, 1), np.take_along_axis(indices, order, 1)
        kept = [np.isin(part.found, indices) for part in parts]
        return Candidates(
            merits,
            indices,
            np.concatenate([part.found[mask] for part, mask in zip(parts, kept, strict=True)]),
            stack([part.rows[mask] for part, mask in zip(parts, kept, strict=True)]),
        )


def directions(Z: LocalMatrix, chosen: Indices) -> tuple[Array, Array]:
    """Return where rows better than the chosen ones would lie, one direction each, in two ways.

    Typical: what the others leave of the data that a chosen row explains, which a row in its place should be like.
    Extreme: the direction in which it goes beyond all the others; of a separable matrix the rows that go farthest
    there are the vertices.
    """
    H = _unit(Z.take(rows=chosen).T).T
    U = coefficients(Z, H)
    left = Z.cross(U) - H.T @ (U.T @ U) + H.T * np.einsum("ij,ij->j", U, U)
    return _unit(np.maximum(left, 0.0)), _unit(np.asarray(np.linalg.pinv(H), dtype=np.float64))


def _unit(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    return np.asarray(A / np.where(lengths > 0, lengths, 1.0))


def candidates(where: Directions, block: LocalMatrix, start: int) -> Candidates:
    """Return the best rows of one block."""
    M = block if where.col_scale is None else block.scaled(np.ones(block.shape[0]), where.col_scale)
    lengths, sums = np.sqrt(M.T.squared_norms()), M.T.sums()
    out = lengths == 0
    if where.allowed is not None:
        out[~np.isin(np.arange(start, start + len(out)), where.allowed)] = True
    merits = np.hstack(
        [
            M.dot(part) / np.where(sizes > 0, sizes, 1.0)[:, None]
            for part, sizes in ((where.typical, lengths), (where.extreme, sums))
        ]
    )
    merits = np.round(merits, DIGITS, out=merits)
    merits[out] = -np.inf
    best = np.array([_first_largest(column) for column in np.ascontiguousarray(merits.T)])
    values = np.where(best >= 0, np.take_along_axis(merits.T, np.maximum(best, 0), 1), -np.inf)
    found = np.unique(best[best >= 0])
    return Candidates(values, np.where(best >= 0, best + start, -1), found + start, block.values[found])


def _first_largest(merits: Array) -> Indices:
    """Return where the largest merits are, largest first, of those that tie the first; -1 where there are no more."""
    least = np.partition(merits, -KEPT)[-KEPT] if len(merits) > KEPT else -np.inf
    strong = np.flatnonzero((merits >= least) & (merits > -np.inf))
    strong = strong[np.argsort(-merits[strong], kind="stable")][:KEPT]
    return np.pad(strong, (0, KEPT - len(strong)), constant_values=-1)
