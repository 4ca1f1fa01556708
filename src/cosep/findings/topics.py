"""A factorization by selected rows and columns enters; its topics leave, one for each selected row.

Notation
--------
S : core; U : weights of the rows, X ~ U X(rows,:)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.utils.messages import shown
from cosep.utils.types import Array, Indices

# A column belongs to a topic that is not its own, too, from this share of the strongest tie of the topic on.
STRONG = 0.5
# Rows whose parts agree in so many digits are tied, and the first comes first.
TIED = 9


@dataclass(frozen=True, eq=False)
class Topics:
    """What the selected rows have to do with the selected columns.

    Parameters
    ----------
    rows, cols : ndarray of int
        The selected rows and columns.
    core : ndarray of shape (r1, r2)
        Where they cross.
    row_weights, col_weights : ndarray of shape (m, r1) and (r2, n)
    ties : ndarray of shape (r1, r2)
        ``S[k,l] / sqrt(sum of row k * sum of column l)``: neither a long row nor a frequent column stands out for that.
    homes : ndarray of int, of shape (r2,)
        The topic that each selected column is tied to most; -1 if it is zero in all selected rows.
    col_order : ndarray of int, of shape (r2,)
        The selected columns by topic, the closest first.
    """

    rows: Indices
    cols: Indices
    core: Array
    row_weights: Array
    col_weights: Array
    ties: Array
    homes: Indices
    col_order: Indices

    def anchors(self, k: int) -> list[int]:
        """Return the selected columns of a topic, strongest first: its own ones, and others with a strong tie."""
        # A power of two out of the core, so that no product leaves the range of floats.
        core = np.ldexp(self.core[k], -np.frexp(self.core[k].max())[1])
        strengths = core * np.linalg.norm(self.col_weights, axis=1)
        ours = (self.core[k] > 0) & ((self.homes == k) | (strengths >= STRONG * strengths.max()))
        return [int(l) for l in np.argsort(-strengths, kind="stable") if ours[l]]

    def closest(self, k: int, labels: Indices, parts: Array, most: int) -> Indices:
        """Return the rows that a topic speaks for, those made of it most in front, without the selected one."""
        ours = np.flatnonzero((labels == k) & (np.arange(len(labels)) != self.rows[k]))
        return ours[np.argsort(-parts[ours].round(TIED), kind="stable")[:most]]

    def speakers(self, M: LocalMatrix) -> tuple[Indices, Array]:
        """Return for each row of X the topic it is mostly made of, -1 if none, and what part of its length that is.

        Row i holds ``U[i,k] ||x_k||`` of the k-th selected row; the part is that divided by ``||x_i||``.
        """
        norms = np.sqrt(M.T.squared_norms())
        labels = factor_labels(self.row_weights, norms[self.rows])
        held = (self.row_weights * norms[self.rows])[np.arange(len(labels)), labels]
        return labels, np.where(labels < 0, 0.0, held / np.where(norms > 0, norms, 1.0))


def topics_of(factorization: Any) -> Topics:
    """Tie the selected columns to the selected rows by the core.

    Raises
    ------
    ValueError
        If this is no factorization by the core of selected rows and columns.
    """
    if not isinstance(factorization, Factorization):
        msg = f"factorization={shown(factorization)} must be a Factorization, such as CoSeparableNMF.factorization_."
        raise ValueError(msg)
    chosen, core = factorization.selection, factorization.core
    U, V = factorization.row_weights, factorization.col_weights
    rows, cols = (None, None) if chosen is None else (chosen.row_indices, chosen.col_indices)
    if core is None or U is None or V is None or rows is None or cols is None or core.shape != (len(rows), len(cols)):
        msg = (
            "factorization must have selected rows and columns, the core where they cross, and the weights of both "
            "sides; take that of a fitted CoSeparableNMF, or make one with cosep.mix."
        )
        raise ValueError(msg)
    S = np.asarray(core, dtype=np.float64)
    ties = ties_of(S)
    homes = np.where(ties.any(axis=0), ties.argmax(axis=0), -1)
    return Topics(rows, cols, S, U.astype(np.float64), V.astype(np.float64), ties, homes, by_home(ties))


def by_home(ties: Array) -> Indices:
    """Return the columns in the order of the rows that they are tied to most, the closest first, all-zero ones last."""
    homes = np.where(ties.any(axis=0), ties.argmax(axis=0), len(ties))
    return np.asarray(np.lexsort((-ties.max(axis=0), homes)))


def ties_of(S: Array) -> Array:
    """``S[k,l] / sqrt(sum of row k * sum of column l)``, and 0 where these are."""
    S = S / (float(S.max()) or 1.0)
    degrees = np.sqrt(S.sum(axis=1))[:, None] * np.sqrt(S.sum(axis=0))
    return np.asarray(S / np.where(degrees > 0, degrees, 1.0))
