"""First choices of columns, of different character: extreme ones, typical ones, and a greedy basis.

Notation
--------
M : data; T : coordinates of its columns in the leading left singular vectors, n x p
"""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import inverse
from cosep.select.column_choice import ColumnChoice, explained_by
from cosep.solve.alternation import Budget
from cosep.solve.plain_nmf import extrapolated
from cosep.solve.pursuit import Positions, largest, one_by_one
from cosep.solve.successive_projections import orthogonal, pursue
from cosep.solve.svd_start import Triplets
from cosep.utils.ties import TIE_TOL, descending, first_largest
from cosep.utils.types import Array, Callback, Indices

# Stopping rule of the nonnegative factorization that has the topics as components.
TOPICS_TOL, TOPICS_ITER = 1e-3, 20
# A column is not added to a basis if what the basis leaves of it has a smaller share of its squared norm.
SPANNED_TOL = 1e-9


def topics_of(
    M: LocalMatrix, r: int, triplets: Triplets, callback: Callback | None, copies: Array | None = None
) -> tuple[Array, Array]:
    """Return r topics of the columns, as mixes of rows, and of the rows, from the leading singular triplets."""
    return extrapolated(M, r, Budget("topics", TOPICS_ITER, TOPICS_TOL, callback), copies, triplets)


def first_choices(
    M: LocalMatrix, r: int, positions: Positions, topics: Array, basis: Indices, copies: tuple[Array, Array]
) -> list[ColumnChoice]:
    """Return three choices of r columns: extreme ones by SPA, typical ones, and a greedy basis, which is given.

    ``copies`` are those that rows and columns of M stand for. SPA divides columns by their sums over all copies of the
    rows, and single copies of columns are compared.
    """
    sizes = M.squared_norms() / copies[1]
    extreme = pursue(M, r, inverse(M.cross(np.sqrt(copies[0]))), positions=positions, sizes=sizes)[0]
    return [
        fill_up(M, chosen, r, positions, copies[1])
        for chosen in (extreme, typical(M, r, positions, topics, sizes), basis)
    ]


def first_typical(M: LocalMatrix, r: int, positions: Positions, topics: Array, copies: Array) -> ColumnChoice:
    """Return a choice of r columns that are similar to topics; a column stands for some copies of it."""
    return fill_up(M, typical(M, r, positions, topics, M.squared_norms() / copies), r, positions, copies)


def typical(M: LocalMatrix, r: int, positions: Positions, topics: Array, sizes: Array) -> Indices:
    """Choose the column most similar to each topic, the most similar ones of all topics first.

    A column that must be included stands for the topic that it is most similar to, which needs no other column.
    """
    norms, lengths = M.squared_norms(), np.linalg.norm(topics, axis=0)
    likeness = M.cross(topics) / np.sqrt(np.where(norms > 0, norms, np.inf))[:, None] / np.where(lengths, lengths, 1.0)
    likeness[~positions.allowed] = 0.0
    chosen = positions.include.tolist()
    left = np.ones(likeness.shape[1], dtype=bool)
    for j in positions.include[: len(left)]:
        left[first_largest(np.where(left, likeness[j], -1.0))] = False
    topics_left = np.flatnonzero(left)
    for k in topics_left[descending(likeness.max(axis=0)[topics_left])]:
        likeness[chosen, k] = 0.0
        if len(chosen) < r and likeness[:, k].any():
            chosen.append(largest(likeness[:, k], sizes))
    return np.array(chosen, dtype=np.intp)


def greedy_basis(M: LocalMatrix, r: int, positions: Positions, T: Array, copies: Array) -> Indices:
    """Choose columns one by one, each time the one whose span holds most of the leading part of what is left.

    This is greedy column subset selection (see `greedy`) that measures only in the leading singular vectors, so that
    no products of all columns with each other are needed. A column of M stands for some copies of it.
    """
    T, original = T.copy(), M.squared_norms()
    left, sizes = original.copy(), original / copies
    basis = np.zeros((M.shape[0], 0))

    def merits() -> Array:
        inside = np.einsum("ij,ij->i", T, T)
        # The rest of a column, outside the leading part, is explained by the column itself only.
        rest = np.maximum(left**2 - inside**2, 0.0) / copies
        held = np.einsum("ij,ij->i", T @ (T.T @ T), T) + rest
        return np.where(left > SPANNED_TOL * original, held / np.where(left > 0, left, 1.0), 0.0)

    def add(j: int) -> tuple[None, bool]:
        nonlocal T, left, basis
        column = M.column(j)
        u = orthogonal(column, basis)
        length = float(np.linalg.norm(u))
        if length**2 <= SPANNED_TOL * float(column @ column):
            return None, True
        w = M.cross(u / length)
        T = T - np.outer(w, T[j] / length)
        left = np.maximum(left - w**2, 0.0)
        basis = np.column_stack([basis, u / length])
        return None, False

    return one_by_one(r, positions, sizes, merits, add)[0]


def fill_up(M: LocalMatrix, chosen: Indices, r: int, positions: Positions, copies: Array) -> ColumnChoice:
    """Add the column with the largest residual of one copy until there are r, or until nothing is left to explain."""
    norms = M.squared_norms() / copies
    choice = explained_by(M, chosen)
    while len(choice.chosen) < r:
        explained = np.einsum("ij,ij->i", choice.B, choice.V) / copies
        left = np.where(positions.allowed, norms - explained, 0.0)
        left[choice.chosen] = 0.0
        if left.max() <= TIE_TOL * norms.max():
            break
        choice = explained_by(M, np.append(choice.chosen, largest(left, norms)))
    return choice


def best_first(M: LocalMatrix, choice: ColumnChoice, positions: Positions) -> Indices:
    """Return the chosen columns: first those that must be included, then the others by how much they explain."""
    explained = np.linalg.norm(choice.V, axis=0) * np.sqrt(M.squared_norms()[choice.chosen])
    given = len(positions.include)
    free = given + np.argsort(choice.chosen[given:])
    return np.concatenate([choice.chosen[:given], choice.chosen[free[descending(explained[free])]]])
