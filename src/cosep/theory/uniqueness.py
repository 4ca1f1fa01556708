"""Test whether a matrix has only one smallest co-separable factorization, with a second one as proof if not.

Notation
--------
A : the extreme rays of one side, as columns of norm one
v : weights of a column; F the rays with positive weight
z : a change of weights with ``A z = 0`` that is nonnegative outside F
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cosep.kernels.quadratic import orthant_active_set
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.theory.cone import columns, on_simplex
from cosep.theory.coseparability import MinimalCore, minimal_coseparable
from cosep.theory.rays import ExtremeRays, Points
from cosep.utils.types import Array, Indices


class Exchange(NamedTuple):
    """A row (column) that can replace a selected one, because it is a multiple of it.

    Parameters
    ----------
    side : {"row", "column"}
        Whether these are rows or columns.
    selected : int
        The selected row (column).
    other : int
        The row (column) that can replace it.
    """

    side: str
    selected: int
    other: int


class TwoMixes(NamedTuple):
    """A row (column) that is a nonnegative combination of the selected ones in two ways.

    Parameters
    ----------
    side : {"row", "column"}
        Whether this is a row or a column.
    position : int
        Its position.
    weights, other_weights : ndarray
        Two different vectors of weights of the selected rows (columns).
    """

    side: str
    position: int
    weights: Array
    other_weights: Array


@dataclass(frozen=True, eq=False, repr=False)
class Uniqueness:
    """Whether the smallest factorization ``P1 X(K1,K2) P2`` is unique: true if both its indices and its factors are.

    Parameters
    ----------
    core : MinimalCore
        The factorization.
    exchange : Exchange or None
        A row or column that can replace one in K1 or K2; None if the indices are unique.
    two_mixes : TwoMixes or None
        A row or column with two different weights for the same K1 and K2; None if P1 and P2 are unique.
    """

    core: MinimalCore
    exchange: Exchange | None
    two_mixes: TwoMixes | None

    def __bool__(self) -> bool:
        return self.exchange is None and self.two_mixes is None

    def __repr__(self) -> str:
        return f"Uniqueness({bool(self)}: {self.reason})"

    @property
    def reason(self) -> str:
        """The reason for the answer, in words."""
        reasons = []
        if self.exchange is not None:
            side, selected, other = self.exchange
            reasons.append(f"{side} {other} is a multiple of the selected {side} {selected} and can replace it")
        if self.two_mixes is not None:
            side, position = self.two_mixes.side, self.two_mixes.position
            reasons.append(f"{side} {position} is a mixture of the selected {side}s in two ways")
        return "; ".join(reasons) or "no selected row or column has a multiple, and all others are mixtures in one way"


def is_unique(X: Any, *, tol: float = 1e-6) -> Uniqueness:
    """Test whether X has only one co-separable factorization ``P1 X(K1,K2) P2`` of the smallest size.

    The index sets are those of the extreme rays, so they are unique if and only if no other row or column is a multiple
    of a selected one. The factors are unique, given the index sets, if and only if every row and every column is a
    nonnegative combination of the selected ones in one way. For that it is enough that the rank of X is the number of
    selected rows and of selected columns (Pan and Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023, on uniqueness),
    but it is not necessary: here it is decided for each row and each column.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    tol : float
        As in `minimal_coseparable`.

    Returns
    -------
    Uniqueness
        True or false, the ``reason`` in words, and other indices or other weights as proof if false.

    Examples
    --------
    >>> from cosep.theory import is_unique
    >>> bool(is_unique([[1.0, 0.0, 1.0], [0.0, 1.0, 3.0]]))
    True
    >>> answer = is_unique([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    >>> bool(answer), answer.reason
    (False, 'column 2 is a multiple of the selected column 0 and can replace it')
    """
    M = as_matrix(X)
    core = minimal_coseparable(M, tol=tol)
    sides = (("row", M.T, core.rows), ("column", M, core.cols))
    exchanges = (_exchange(name, side, rays) for name, side, rays in sides)
    mixes = (_two_mixes(name, side, rays) for name, side, rays in sides)
    return Uniqueness(core, next(filter(None, exchanges), None), next(filter(None, mixes), None))


def _exchange(name: str, M: LocalMatrix, rays: ExtremeRays) -> Exchange | None:
    """Return the first column that is a multiple of a selected one."""
    simplex = on_simplex(M)
    nonzero = simplex.nonzero
    if not nonzero.size:
        return Exchange(name, 0, 1) if M.shape[1] > 1 else None
    cols = np.searchsorted(nonzero, rays.col_indices)
    same = Points(columns(simplex.C, nonzero), rays.tol).on_ray(cols)
    same[cols, np.arange(len(cols))] = False
    if not same.any():
        return None
    other, k = np.argwhere(same)[0]
    return Exchange(name, int(rays.col_indices[k]), int(nonzero[other]))


def _two_mixes(name: str, M: LocalMatrix, rays: ExtremeRays) -> TwoMixes | None:
    """Return the first column that is a combination of the selected ones in two ways."""
    simplex, cols = on_simplex(M), rays.col_indices
    A = simplex.C.take(cols=cols)
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    A /= norms
    if np.linalg.matrix_rank(A, tol=rays.tol) == A.shape[1]:
        return None
    weights = rays.weights.astype(np.float64)
    changes: dict[bytes, Array | None] = {}
    for j in np.flatnonzero(np.diff(weights.indptr) > 1):
        mix = weights[:, [j]].toarray()[:, 0]
        v = simplex.weights_of_points(mix, cols, j) * norms
        # A weight that is only rounding cannot be reduced.
        used = np.flatnonzero(v > rays.tol * v.sum())
        key = used.tobytes()
        if key not in changes:
            changes[key] = _null_change(A, used, rays.tol)
        z = changes[key]
        if z is not None:
            falling = z < 0
            step = float((v[falling] / -z[falling]).min())
            other = simplex.weights_of_data(np.maximum(v + step * z, 0.0) / norms, cols, j)
            return TwoMixes(name, int(j), mix, other)
    return None


def _null_change(A: Array, used: Indices, tol: float) -> Array | None:
    """Return a nonzero z with ``A z = 0`` that is nonnegative except for the used columns; None if there is none.

    Let B be the other columns, projected on the complement of the span of the used columns. z exists if and only if
    zero is in the convex hull of B (Gordan): then ``min ||B u||^2 + (1 - sum(u))^2`` over ``u >= 0`` is zero; otherwise
    it is ``d^2 / (1 + d^2)`` at the sum ``1 / (1 + d^2)``, with d the distance of zero from the hull.
    """
    others = np.setdiff1d(np.arange(A.shape[1]), used)
    if not others.size:
        return None
    Q = np.linalg.qr(A[:, used])[0]
    B = A[:, others] - Q @ (Q.T @ A[:, others])
    u = np.zeros((1, len(others)))
    orthant_active_set(B.T @ B + 1.0, np.ones((1, len(others))), u)
    if not u.any() or np.linalg.norm(B @ u[0]) > tol * u.sum():
        return None
    z = np.zeros(A.shape[1])
    z[others] = u[0]
    z[used] = -np.linalg.lstsq(A[:, used], A[:, others] @ u[0], rcond=None)[0]
    return z if (z < 0).any() else None
