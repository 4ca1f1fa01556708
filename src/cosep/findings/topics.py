"""Links between the selected rows and the selected columns of a factorization: one topic for each selected row.

Notation
--------
S : core; P1, P2 : fitted factors of rows and columns, X ~ P1 S P2, H = S P2
D, E : factors of rows and columns in the norm of the model
"""

from dataclasses import dataclass

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
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
    row_factor, col_factor : ndarray of shape (m, r1) and (r2, n)
        P1 and P2.
    row_strengths, col_strengths : ndarray of shape (r1,) and (r2,)
        Norms of what each column of P1, and each row of P2, is multiplied by: ``||H[k,:] E||``, ``||D P1 S[:,l]||``,
        in units of ``2**exponent``.
    exponent : int
        The power of two that is taken out of the strengths.
    row_scale, col_scale : ndarray of shape (m,) and (n,)
        D and E.
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
    row_factor: Array
    col_factor: Array
    row_strengths: Array
    col_strengths: Array
    exponent: int
    row_scale: Array
    col_scale: Array
    links: Array
    homes: Indices
    col_order: Indices

    @property
    def components(self) -> Array:
        """H, what the fitted factor of the rows is multiplied by."""
        return np.asarray(self.core @ self.col_factor)

    def anchors(self, k: int) -> list[int]:
        """Return the selected columns of a topic, strongest first: those at home in it, and others that are strong."""
        # A power of two out of the core, so that no product leaves the range of floats.
        core = np.ldexp(self.core[k], -np.frexp(self.core[k].max())[1])
        strengths = core * np.linalg.norm(self.col_factor * self.col_scale, axis=1)
        strong = (self.homes == k) | (strengths >= MIN_ANCHOR_STRENGTH * strengths.max())
        ours = (self.core[k] > 0) & strong
        return [int(l) for l in np.argsort(-strengths, kind="stable") if ours[l]]


def held_parts(
    factor: Array, labels: Indices, strengths: Array, M: LocalMatrix, scale: Array, exponent: int = 0
) -> Array:
    """Return the part of the length of each row of M that its topic makes up.

    Row i holds ``P1[i,k] ||H[k,:] E||`` of its topic k; the part is that divided by ``||x_i E||``. ``exponent`` is the
    power of two that is taken out of the strengths ``||H[k,:] E||``.
    """
    amounts = np.where(labels < 0, 0.0, factor[np.arange(len(labels)), labels] * strengths[labels])
    lengths = np.sqrt(M.scaled(np.ones(M.shape[0]), scale).T.squared_norms())
    return M.in_units(amounts / np.where(lengths > 0, lengths, 1.0), -1, shift=exponent)


def closest_rows(labels: Indices, parts: Array, k: int, excluded: int, most: int) -> Indices:
    """Return the rows of topic k, those that hold most of it first; parts equal up to rounding are tied."""
    ours = np.flatnonzero((labels == k) & (np.arange(len(labels)) != excluded))
    return ours[np.argsort(-parts[ours].round(SHARE_DIGITS), kind="stable")[:most]]


def topics_of(factorization: Factorization) -> Topics:
    """Link the selected columns to the selected rows by the core.

    Raises
    ------
    ValueError
        If the factorization does not have a core of selected rows and columns, and the weights of both sides.
    """
    chosen, core = factorization.selection, factorization.core
    U, V = factorization.row_weights, factorization.col_weights
    rows, cols = (None, None) if chosen is None else (chosen.row_indices, chosen.col_indices)
    if core is None or U is None or V is None or rows is None or cols is None or core.shape != (len(rows), len(cols)):
        msg = (
            "model must have selected rows and columns, the core where they meet, and the weights of both sides; pass "
            "a fitted CoSeparableNMF, or make a factorization with cosep.mix."
        )
        raise ValueError(msg)
    # Powers of two out of the core and the scales, so that no product leaves the range of floats.
    S = np.asarray(core, dtype=np.float64)
    exponent = int(np.frexp(S.max(initial=0.0))[1])
    links, unit = links_of(S), np.ldexp(S, -exponent)
    homes = np.where(links.any(axis=0), links.argmax(axis=0), -1)
    P1, P2 = (np.asarray(part, dtype=np.float64) for part in (factorization.row_factor, factorization.col_factor))
    scaling = factorization.scaling
    D, E = (np.ones(len(P1)), np.ones(P2.shape[1])) if scaling is None else scaling.unit()
    strengths = np.linalg.norm(unit @ (P2 * E), axis=1), np.linalg.norm((P1 * D[:, None]) @ unit, axis=0)
    return Topics(rows, cols, S, P1, P2, *strengths, exponent, D, E, links, homes, by_home(links))


def by_home(links: Array) -> Indices:
    """Return the columns in the order of the rows that they are linked to most, the strongest link first."""
    homes = np.where(links.any(axis=0), links.argmax(axis=0), len(links))
    return np.asarray(np.lexsort((-links.max(axis=0), homes)))


def links_of(S: Array) -> Array:
    """``S[k,l] / sqrt(sum of row k * sum of column l)``, and 0 where these sums are 0."""
    S = S / (float(S.max()) or 1.0)
    degrees = np.sqrt(S.sum(axis=1))[:, None] * np.sqrt(S.sum(axis=0))
    return np.asarray(S / np.where(degrees > 0, degrees, 1.0))
