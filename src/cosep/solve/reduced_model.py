"""The self-dictionary model reduced to a working set of atoms: value, gradient, Hessian and duality gap of F(d).

The model and the notation are those of `cosep.solve.newton`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.bounded import bounded_columns
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices

# Columns of a block, and entries of the dense arrays that a block needs.
BLOCK_COLUMNS, BLOCK_ENTRIES = 4096, 1 << 22


class Point(NamedTuple):
    """F at one d.

    Attributes
    ----------
    d : ndarray
        Bounds of the atoms.
    X : ndarray
        Mixtures, one row for each data column.
    state : ndarray of int8
        Which entries of X are at a bound, for the kernel.
    rr, cr : float
        Sums of residuals, see the notation.
    g, H : ndarray
        Gradient and Hessian of the error with respect to d.
    """

    d: Array
    X: Array
    state: NDArray[np.int8]
    rr: float
    cr: float
    g: Array
    H: Array


class Certificate(NamedTuple):
    """A duality gap.

    Attributes
    ----------
    gap : float
        Upper bound of objective minus minimum.
    relative : float
        The gap over the objective.
    lam : float
        The lambda that it holds for.
    """

    gap: float
    relative: float
    lam: float


@dataclass
class ReducedModel:
    """The problem reduced to a working set of atoms.

    Attributes
    ----------
    C, D : LocalMatrix
        Normalised columns as atoms, and as data.
    om : ndarray
        Weights of the data columns.
    p : ndarray
        Prices of all columns of C.
    tau : float or None
        Prescribed ``sum p_t d_t``; None if lambda is prescribed.
    lam : float
        Prescribed lambda; not used with ``tau``.
    atoms : ndarray of int
        The working set.
    """

    C: LocalMatrix
    D: LocalMatrix
    om: Array
    p: Array
    tau: float | None
    lam: float
    atoms: Indices

    def __post_init__(self) -> None:
        self.CA = self.C.take(cols=self.atoms)
        self.G = self.CA.T @ self.CA
        self.price = self.p[self.atoms]
        size = max(1, min(BLOCK_COLUMNS, BLOCK_ENTRIES // max(self.C.shape)))
        n = self.D.shape[1]
        self.blocks = [slice(l, min(l + size, n)) for l in range(0, n, size)]
        # Products of the data columns with the atoms, unless there are too many to store.
        self.Q = self.D.cross(self.CA) if n <= BLOCK_COLUMNS else None

    def at(self, d: Array, X: Array, state: NDArray[np.int8]) -> Point:
        """Evaluate F at d, starting from the mixtures X and their state, which are overwritten."""
        g, H = np.zeros(len(d)), np.zeros((len(d), len(d)))
        rr = cr = 0.0
        for some in self.blocks:
            D, om = self.D.take(cols=some), self.om[some]
            Q = D.T @ self.CA if self.Q is None else self.Q[some]
            bounded_columns(self.G, Q, d, om, X[some], state[some], g, H)
            R = D - self.CA @ X[some].T
            rr += float(om @ np.einsum("ij,ij->j", R, R))
            cr += float(om @ np.einsum("ij,ij->j", D, R))
        return Point(d, X, state, rr, cr, g, H)

    def residuals(self, point: Point) -> Iterator[tuple[slice, Array]]:
        """Yield ``D - C X`` block by block."""
        for some in self.blocks:
            yield some, self.D.take(cols=some) - self.CA @ point.X[some].T

    def cold(self, d: Array) -> Point:
        """Evaluate F at d, starting from mixtures of zero."""
        shape = self.D.shape[1], len(d)
        return self.at(d, np.zeros(shape), np.zeros(shape, np.int8))

    def objective(self, point: Point) -> float:
        """Return what Newton's method minimises: the error, plus the penalty unless the trace is prescribed."""
        return 0.5 * point.rr + (0.0 if self.tau is not None else self.lam * float(self.price @ point.d))

    def slope(self, point: Point) -> Array:
        """Return the gradient of the objective."""
        return point.g if self.tau is not None else point.g + self.lam * self.price

    def certify(self, point: Point, s: Array, p: Array) -> Certificate:
        """Return the duality gap from the scores s of atoms with prices p: those of the working set, or all."""
        rr, cr = point.rr, point.cr
        usable = np.isfinite(p)
        s, p = s[usable], p[usable]
        if self.tau is not None:
            most, lam = best_spending(s, p, self.tau)
            dual = max(cr - 0.5 * rr - most, max(0.0, cr - most) ** 2 / (2.0 * rr) if rr > 0 else 0.0)
        else:
            lam = self.lam
            plain = cr - 0.5 * rr - float(np.maximum(s - lam * p, 0.0).sum())
            largest = float((lam * p[s > 0] / s[s > 0]).min(initial=np.inf))
            th = min(max(cr, 0.0) / rr if rr > 0 else 0.0, largest)
            dual = max(plain, th * cr - 0.5 * th * th * rr)
        gap = self.objective(point) - dual
        value = 0.5 * rr + lam * float(self.price @ point.d)
        return Certificate(gap, gap / max(value, 1e-12), lam)


def best_spending(s: Array, p: Array, tau: float) -> tuple[float, float]:
    """Return ``max s'd`` over ``0 <= d <= 1, p'd <= tau`` with prices 0 or 1, and its derivative in tau."""
    ranked = -np.sort(-s[p > 0])
    whole = min(int(tau), len(ranked))
    margin = float(ranked[whole]) if whole < len(ranked) else 0.0
    return float(s[p == 0].sum() + ranked[:whole].sum()) + (tau - whole) * margin, margin
