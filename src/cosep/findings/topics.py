"""Links between the selected rows and the selected columns of a factorization: one topic for each selected row.

Notation
--------
S : core; U : weights of the rows, X ~ U X(rows,:)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.solve.labels import largest_shares
from cosep.utils.messages import shown
from cosep.utils.ties import SHARE_DIGITS
from cosep.utils.types import Array, Indices

# A column that has another home is an anchor too if its strength is at least this share of the topic's largest.
MIN_ANCHOR_STRENGTH = 0.5


@dataclass(frozen=True, eq=False)
class Topics:
    """How the selected rows are linked to the selected columns.

    Attributes
    ----------
    rows, cols : ndarray of int
        The selected rows and columns.
    core : ndarray of shape (r1, r2)
        The entries where they meet.
    row_weights, col_weights : ndarray of shape (m, r1) and (r2, n)
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    links : ndarray of shape (r1, r2)
        ``S[k,l] / sqrt(sum of row k * sum of column l)``, so that long rows and frequent columns do not stand out.
    homes : ndarray of int, of shape (r2,)
        The topic that each selected column is linked to most; -1 if it is zero in all selected rows.
    col_order : ndarray of int, of shape (r2,)
        The selected columns by home, the most strongly linked first.
    """

    rows: Indices
    cols: Indices
    core: Array
    row_weights: Array
    col_weights: Array
    links: Array
    homes: Indices
    col_order: Indices

    def anchors(self, k: int) -> list[int]:
        """Return the selected columns of a topic, strongest first: those at home in it, and others that are strong."""
        # A power of two out of the core, so that no product leaves the range of floats.
        core = np.ldexp(self.core[k], -np.frexp(self.core[k].max())[1])
        strengths = core * np.linalg.norm(self.col_weights, axis=1)
        strong = (self.homes == k) | (strengths >= MIN_ANCHOR_STRENGTH * strengths.max())
        ours = (self.core[k] > 0) & strong
        return [int(l) for l in np.argsort(-strengths, kind="stable") if ours[l]]


def held_topics(weights: Array, norms: Array, M: LocalMatrix) -> tuple[Indices, Array]:
    """Return for each row of M the topic that it holds most of, -1 for none, and the part of its length that this is.

    Row i holds ``U[i,k] ||x_k||`` of the k-th selected row, whose norm is given; the part is that divided by
    ``||x_i||``.
    """
    held = largest_shares(weights, norms)
    lengths = np.sqrt(M.T.squared_norms())
    return held.labels, held.amounts / np.where(lengths > 0, lengths, 1.0)


def closest_rows(labels: Indices, parts: Array, k: int, excluded: int, most: int) -> Indices:
    """Return the rows of topic k, those that hold most of it first; parts equal up to rounding are tied."""
    ours = np.flatnonzero((labels == k) & (np.arange(len(labels)) != excluded))
    return ours[np.argsort(-parts[ours].round(SHARE_DIGITS), kind="stable")[:most]]


def topics_of(factorization: Any) -> Topics:
    """Link the selected columns to the selected rows by the core.

    Raises
    ------
    ValueError
        If the factorization does not have a core of selected rows and columns, and the weights of both sides.
    """
    if not isinstance(factorization, Factorization):
        msg = f"factorization={shown(factorization)} must be a Factorization, such as CoSeparableNMF.factorization_."
        raise ValueError(msg)
    chosen, core = factorization.selection, factorization.core
    U, V = factorization.row_weights, factorization.col_weights
    rows, cols = (None, None) if chosen is None else (chosen.row_indices, chosen.col_indices)
    if core is None or U is None or V is None or rows is None or cols is None or core.shape != (len(rows), len(cols)):
        msg = (
            "factorization must have selected rows and columns, the core where they meet, and the weights of both "
            "sides; take that of a fitted CoSeparableNMF, or make one with cosep.mix."
        )
        raise ValueError(msg)
    S = np.asarray(core, dtype=np.float64)
    links = links_of(S)
    homes = np.where(links.any(axis=0), links.argmax(axis=0), -1)
    U, V = np.asarray(U, dtype=np.float64), np.asarray(V, dtype=np.float64)
    return Topics(rows, cols, S, U, V, links, homes, by_home(links))


def by_home(links: Array) -> Indices:
    """Return the columns in the order of the rows that they are linked to most, the strongest link first."""
    homes = np.where(links.any(axis=0), links.argmax(axis=0), len(links))
    return np.asarray(np.lexsort((-links.max(axis=0), homes)))


def links_of(S: Array) -> Array:
    """``S[k,l] / sqrt(sum of row k * sum of column l)``, and 0 where these sums are 0."""
    S = S / (float(S.max()) or 1.0)
    degrees = np.sqrt(S.sum(axis=1))[:, None] * np.sqrt(S.sum(axis=0))
    return np.asarray(S / np.where(degrees > 0, degrees, 1.0))
