"""What to say of any row or column that a reader asks for: its mix, its representative, and why it is not one.

Notation
--------
D, E : factors of rows and columns in the norm of the model; A = D X E
P : fitted factor of the rows times D; H : what it is multiplied by, times E
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosep.findings.describe import heaviest
from cosep.findings.tables import scaled_components
from cosep.findings.topics import Topics
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices, Table

# Rows, and columns, that can be looked up, if there are more.
MOST_KEPT = 2000
# Multiplications that measuring all of them may take: some seconds.
MOST_PRODUCTS = 1 << 30
# The fewest that can be looked up, if there are as many.
FEWEST_KEPT = 100
# Topics in a mix, those with the largest shares first.
MOST_MIXED = 4
# Numbers in a block of products.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class LookUp:
    """Rows, or columns, that can be looked up, the selected ones first.

    Attributes
    ----------
    indices : ndarray of int
        Their positions.
    n_all : int
        How many rows there are.
    topics : ndarray of int, of shape (kept, mixed)
        The topics that each holds most of, the largest share first; the first is its cluster. -1 where there is none.
    shares : ndarray of shape (kept, mixed)
        The shares of these topics in all that it holds of topics.
    similarity : ndarray
        The cosine of each with the representative of its cluster, in the norm of the columns; nan if there is none.
    instead : ndarray
        What it would explain in the place of its topic: with the other topics as they are, the share of all squares
        that multiples of it would explain of what they leave. nan if it has no topic.
    own : ndarray
        The same for the representative of the topic.
    """

    indices: Indices
    n_all: int
    topics: Indices
    shares: Array
    similarity: Array
    instead: Array
    own: Array


def look_up(topics: Topics, table: Table, M: LocalMatrix, named: Sequence[int] = ()) -> LookUp:
    """Return what to say of the rows; for the columns pass the transposes.

    All rows are kept up to 2,000. Beyond that, and for data so large that measuring 2,000 takes more than some seconds,
    those that are selected or named elsewhere are kept, and of the others those that weigh most in the norm of the
    model.

    Parameters
    ----------
    topics : Topics
    table : dict of ndarray
        The table of the rows.
    M : LocalMatrix
    named : sequence of int
        Positions of rows that are named elsewhere on the page.
    """
    clusters, m = table["cluster"], M.shape[0]
    A = M.mantissa.scaled(topics.row_scale, topics.col_scale)
    stored = A.count_nonzero() if A.is_sparse else m * M.shape[1]
    most = int(np.clip(MOST_PRODUCTS // (stored + m * len(topics.rows)), FEWEST_KEPT, MOST_KEPT))
    first = list(dict.fromkeys([*map(int, topics.rows), *map(int, named)]))
    others = np.setdiff1d(np.arange(m), first)
    rest = heaviest(others, A.T.squared_norms(), max(most - len(first), 0))
    indices = np.concatenate([np.array(first, dtype=np.intp), rest])
    parts = topics.row_factor[indices] * topics.row_strengths
    order = _own_first(parts, clusters[indices])[:, :MOST_MIXED]
    shares = np.take_along_axis(parts, order, 1) / np.where((sums := parts.sum(axis=1)) > 0, sums, 1.0)[:, None]
    similarity, instead = _in_its_place(topics, M, A, indices, clusters[indices])
    place = {int(i): position for position, i in enumerate(indices)}
    of_topic = instead[[place[int(i)] for i in topics.rows]]
    # A representative can belong to another cluster than its own topic; then it is measured in its own.
    for k in np.flatnonzero(clusters[topics.rows] != np.arange(len(topics.rows))):
        of_topic[k] = _in_its_place(topics, M, A, topics.rows[[k]], np.array([k]))[1][0]
    has_topic = clusters[indices] >= 0
    return LookUp(
        indices,
        m,
        np.where(has_topic[:, None] & (shares > 0), order, -1),
        shares,
        similarity,
        instead,
        np.where(has_topic, of_topic[clusters[indices]], np.nan),
    )


def _own_first(parts: Array, clusters: Indices) -> Indices:
    """Return the topics of each row, its cluster first, then those with the largest parts."""
    lead = parts.copy()
    rows = np.flatnonzero(clusters >= 0)
    lead[rows, clusters[rows]] = np.inf
    return np.argsort(-lead, axis=1, kind="stable")


def _in_its_place(topics: Topics, M: LocalMatrix, A: LocalMatrix, rows: Indices, own: Indices) -> tuple[Array, Array]:
    """Return the cosine of rows with the representatives of their topics, and what they explain in their place.

    With ``R = A - sum over l != k of p_l h_l`` and the row c, that is ``sum_i max(0, <r_i, c>)^2 / (||c|| ||A||)^2``.
    """
    P, H = topics.row_factor * topics.row_scale[:, None], scaled_components(topics, M)
    chosen = _unit(M.mantissa.take(rows=topics.rows) * topics.col_scale)
    similarity, instead = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    step = max(1, BLOCK // max(M.shape))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        k, C = own[part], _unit(M.mantissa.take(rows=rows[part]) * topics.col_scale)
        with_topics = H @ C.T
        left = A.dot(C.T) - P @ with_topics + P[:, k] * with_topics[k, np.arange(len(k))]
        gains = (np.maximum(left, 0.0) ** 2).sum(axis=0) / A.squared_norm()
        known = (k >= 0) & C.any(axis=1)
        instead[part] = np.where(known, gains, np.nan)
        similarity[part] = np.where(known, np.einsum("ij,ij->i", C, chosen[k]), np.nan)
    return similarity, instead


def _unit(rows: Array) -> Array:
    """Return rows divided by their norms; an all-zero row stays as it is."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
