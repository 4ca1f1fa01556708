"""Selected columns, added one after the other: always the one that lowers the error most.

Notation
--------
M : data in the norm of the model; A : the selected columns, divided by their norms; B = M'A; G = A'A
V : the best weights of the columns that are added already, M ~ A V'; zero for all others
Q : what G becomes when the columns that are added are projected out of all others
"""

from typing import NamedTuple

import numpy as np

from cosep.kernels.quadratic import orthant_active_set
from cosep.matrix.local import LocalMatrix
from cosep.records.product import relative_error
from cosep.solve.nonnegative import nonnegative_of
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Indices

# Gains that differ by less than `TIE_TOL` times this share of the matrix are equal.
SMALL_SHARE = 1e-3
# A column of norm one that is closer than this, squared, to the span of others depends on them.
DEPENDENT_TOL = 1e-10
# A slope of a weight below this, relative to the norm of its column of M, is rounding.
ZERO_SLOPE = 1e-12


def fidelity(M: LocalMatrix, W: Array, V: Array) -> float:
    """``1 - ||M - W V'||^2 / ||M||^2``; W is overwritten."""
    return 1.0 - relative_error(M, W, V.T, 0) ** 2


class Addition(NamedTuple):
    """What adding a column changes.

    Attributes
    ----------
    k : int
        The column, as a position in the selection.
    gain : float
        By how much the squared error falls.
    changed : ndarray of int
        The columns of M whose weights change.
    V : ndarray
        Their weights of all selected columns.
    """

    k: int
    gain: float
    changed: Indices
    V: Array


class Additions:
    """The selected columns, added one after the other.

    Parameters
    ----------
    M : LocalMatrix
    chosen : ndarray of int
        The selected columns.

    Attributes
    ----------
    norms : ndarray
        The norms of the selected columns; 1 for a column of zeros.
    added : list of int
        Those that are added, as positions in the selection, in this order.
    fidelities : list of float
        The share of M that they explain after each of them.
    V : ndarray of shape (n, r)
        The weights of all selected columns, divided by their norms.
    """

    def __init__(self, M: LocalMatrix, chosen: Indices) -> None:
        A = M.take(cols=chosen)
        self.norms = np.linalg.norm(A, axis=0)
        self.norms[self.norms == 0] = 1.0
        self.M, self.A = M, A / self.norms
        self.B, self.G = M.cross(self.A), self.A.T @ self.A
        self.V, self.Q = np.zeros_like(self.B), self.G.copy()
        self.slope_tol = ZERO_SLOPE * np.sqrt(M.squared_norms())[:, None]
        self.added: list[int] = []
        self.fidelities: list[float] = []

    def add_next(self) -> None:
        """Add the column that lowers the error most, if one is left."""
        if len(self.added) == len(self.G):
            return
        best = self._best()
        self.added.append(best.k)
        self.V[best.changed] = best.V
        if len(self.added) == len(self.G):
            # All of them again, as the model does: several weights can be best if the columns depend on each other.
            self.V = nonnegative_of(self.G, self.B, self.V, exact=True)
        self.fidelities.append(fidelity(self.M, self.A[:, self.added], self.V[:, self.added]))
        if self.Q[best.k, best.k] > DEPENDENT_TOL:
            self.Q -= np.outer(self.Q[:, best.k], self.Q[best.k]) / self.Q[best.k, best.k]

    def _best(self) -> Addition:
        """Return the addition with the largest gain, the first of equal ones.

        With slopes ``P = max(B - V G, 0)``, the k-th column lowers the squared error by at most
        ``||P(:,k)||^2 / Q(k,k)``: by the KKT conditions, a change of the other weights alone lowers nothing. Columns
        are compared in the order of these bounds, until no bound reaches the largest gain.
        """
        P = self.B - self.V @ self.G
        P[self.slope_tol > P] = 0.0
        squares, free = np.einsum("ij,ij->j", P, P), np.diagonal(self.Q) > DEPENDENT_TOL
        most = np.where(free, squares / np.where(free, np.diagonal(self.Q), 1.0), np.inf)
        most[squares == 0] = 0.0
        least = SMALL_SHARE * self.M.squared_norm()
        best: Addition | None = None
        for k in np.argsort(-most, kind="stable").tolist():
            if k in self.added:
                continue
            tie = TIE_TOL * max(best.gain, least) if best is not None else 0.0
            if best is not None and most[k] < best.gain - tie:
                break
            other = self._with(k, P[:, k])
            if best is None or other.gain > best.gain + tie or (other.gain >= best.gain - tie and k < best.k):
                best = other
        assert best is not None  # noqa: S101 - a column is left
        return best

    def _with(self, k: int, slopes: Array) -> Addition:
        """Return what adding the k-th column changes: only columns of M with a slope get other weights."""
        changed, positions = np.flatnonzero(slopes), np.array([*self.added, k])
        G, B = self.G[np.ix_(positions, positions)], self.B[np.ix_(changed, positions)]
        before = self.V[np.ix_(changed, positions)]
        after = before.copy()
        after[:, -1] = slopes[changed]
        orthant_active_set(G, B, after)
        step, V = after - before, self.V[changed]
        V[:, positions] = after
        return Addition(k, float(np.vdot(2.0 * (B - before @ G) - step @ G, step)), changed, V)
