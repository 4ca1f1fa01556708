"""A matrix enters, the extreme rays of the cone of its columns leave, with the proof that these and no fewer will do.

Notation
--------
C : the data with columns that sum to one: its rays are the vertices of the hull of these points
A : the vertices found so far
D : directions, one a column
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.factorization import Callback
from cosep.kernels.quadratic import orthant_active_set
from cosep.matrix.checks import as_matrix, check_callback
from cosep.matrix.local import BLOCK_ENTRIES, Array, Indices, LocalMatrix
from cosep.mixing import coefficients
from cosep.theory.separability import (
    Separability,
    check_tol,
    cone_weights,
    nearest_mixes,
    on_simplex,
    relative_norms,
    unscaled,
)

# Columns tested at a time.
BATCH = 256
# Points this close in a direction are equally far.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class ExtremeRays(Separability):
    """The fewest columns that mix to all others, each proven to be needed.

    Parameters
    ----------
    margins : ndarray of shape (r,)
        A lower bound, up to rounding, on the distance of each selected column from the cone of the other selected
        ones, relative to its norm, in the units of `is_separable`: there is a functional of norm one that is at most
        zero on those and this large on it.
    """

    margins: Array

    def __len__(self) -> int:
        return len(self.col_indices)


def extreme_rays(X: Any, *, tol: float = 1e-6, callback: Callback | None = None) -> ExtremeRays:
    """Find the extreme rays of ``{X y: y >= 0}``, one column for each: the lowest among columns on one ray.

    X is r-separable if and only if it has at most r of them. To within the tolerance: every column is a mix of those
    returned, and none of those returned can be left out.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    tol : float
        Largest distance, relative to its norm, of a column that counts as a mix; see `is_separable`.
    callback : callable, optional
        Called as ``callback("rays", columns settled, n, nan)``.

    Returns
    -------
    ExtremeRays
        ``col_indices`` in rising order; ``weights`` and ``residuals`` prove that they are enough, ``margins`` that
        each is needed. An all-zero matrix has no ray.

    Notes
    -----
    The rows are scaled as in `is_separable` and the columns divided by their sums; rays become vertices of a convex
    hull. The residual of a column outside the cone of the vertices known so far is a direction in which some point lies
    beyond all of them, and of the farthest points in any direction the one with the largest norm is a vertex. So each
    failed test finds a new vertex, and there are n plus r tests, each against r points at the most:
    K. L. Clarkson, doi:10.1109/SFCS.1994.365723.

    Examples
    --------
    >>> from cosep.theory import extreme_rays
    >>> rays = extreme_rays([[1.0, 0.0, 1.0, 5.0], [0.0, 2.0, 1.0, 0.0]])
    >>> rays.col_indices
    array([0, 1])
    >>> rays.weights
    array([[1. , 0. , 1. , 5. ],
           [0. , 1. , 0.5, 0. ]])
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    check_callback(callback)
    C, s = on_simplex(M)
    live = np.flatnonzero(s > 0)
    if not live.size:
        nothing = np.zeros(0, dtype=np.intp)
        weights = np.zeros((0, M.shape[1]), dtype=M.dtype)
        return ExtremeRays(nothing, weights, np.zeros(M.shape[1]), tol, np.zeros(0))
    points = Points(LocalMatrix(C.values[:, live]), tol)
    found = _grow(points, callback)
    found = _prune(points, found)
    cols = live[found]
    V, residuals = cone_weights(C, cols)
    margins = _margins(points, found)
    return ExtremeRays(cols, unscaled(V, s, cols, M.dtype), residuals, tol, margins)


class Points:
    """The columns of a matrix that sum to one, as points that are asked for the farthest in a direction."""

    def __init__(self, C: LocalMatrix, tol: float) -> None:
        self.C = C
        self.norms = np.sqrt(C.squared_norms())
        self.same = 1.0 - 0.5 * tol**2 - 1e-14
        self.tol = tol

    def vertices(self, D: Array) -> Indices:
        """Return for each direction the vertex that is farthest in it."""
        reach = self.C.cross(D)
        ties = reach >= reach.max(axis=0) - TIE * np.linalg.norm(D, axis=0)
        norms = np.where(ties, self.norms[:, None], 0.0)
        return np.asarray((norms >= norms.max(axis=0) * (1.0 - TIE)).argmax(axis=0))

    def first_on_ray(self, cols: Indices) -> Indices:
        """Return for each of the points the lowest index of all that are the same, to within the tolerance."""
        return np.asarray(self.on_ray(cols).argmax(axis=0))

    def on_ray(self, cols: Indices) -> Any:
        """Tell which points are the same as which of ``cols``, to within the tolerance, one of these a column."""
        cosines = self.C.cross(self.C.take(cols=cols) / self.norms[cols]) / self.norms[:, None]
        same = cosines >= self.same
        same[cols, np.arange(len(cols))] = True
        return same


def _grow(points: Points, callback: Callback | None) -> Indices:
    """Return enough points for all others to be mixes of them; vertices all, but for rounding."""
    C = points.C
    m, n = C.shape
    known = np.zeros(n, dtype=bool)
    size = min(BATCH, max(1, BLOCK_ENTRIES // m))
    mean = C.dot(np.full(n, 1.0 / n))
    crowded = True
    for start in range(0, n, size):
        waiting = np.arange(start, min(start + size, n))
        if crowded:
            # Where most points are vertices, most are the farthest from the mean in their own direction.
            own = C.take(cols=waiting) - mean[:, None]
            known[_fresh(points, known, points.vertices(own))] = True
            crowded = 2 * int(known[waiting].sum()) > len(waiting)
        while (waiting := waiting[~known[waiting]]).size:
            block, A = C.take(cols=waiting).T, C.take(cols=np.flatnonzero(known))
            outside = block - coefficients(LocalMatrix(block), A.T) @ A.T
            far = relative_norms(outside, block) > points.tol
            if not far.any():
                break
            waiting, outside = waiting[far], outside[far]
            fresh = _fresh(points, known, points.vertices(outside.T))
            # Rounding can hide the new vertex behind a known one; then the column that is no mix stands for itself.
            known[fresh if fresh.size else waiting[:1]] = True
        if callback is not None:
            callback("rays", min(start + size, n), n, np.nan)
    return np.flatnonzero(known)


def _fresh(points: Points, known: Any, vertices: Indices) -> Indices:
    """Return the vertices that are new, each by the first on its ray unless that one is known."""
    new = np.unique(vertices[~known[vertices]])
    if not new.size:
        return new
    first = points.first_on_ray(new)
    return np.unique(np.where(known[first], new, first))


def _prune(points: Points, found: Indices) -> Indices:
    """Leave out those within the tolerance of the cone of the others, as long as no column misses them."""
    margins = _margins(points, found)
    doubtful = found[margins <= points.tol]
    if not doubtful.size or len(found) == 1:
        return found
    V, _ = cone_weights(points.C, found)
    users = {int(j): np.flatnonzero(V[:, k]) for k, j in enumerate(found)}
    for j in doubtful[np.argsort(margins[margins <= points.tol], kind="stable")]:
        rest = found[found != j]
        V, residuals = nearest_mixes(LocalMatrix(points.C.values[:, users[int(j)]]), points.C.take(cols=rest))
        if residuals.max() <= points.tol:
            found = rest
            for k, i in enumerate(rest):
                users[int(i)] = np.union1d(users[int(i)], users[int(j)][V[:, k] > 0])
    return found


def _margins(points: Points, found: Indices) -> Array:
    """Return how far each of the points is from the cone of the others at the least, relative to its norm.

    With ``d = c_j - mean`` and t the farthest that another point reaches in that direction, ``y = d - t`` is at most
    zero on the others, and ``y'c_j / (||y|| ||c_j||)`` a bound. Where it does not exceed the tolerance, the residual of
    the nearest mix of the others is the best such y.
    """
    C, k = points.C, len(found)
    if k == 1:
        return np.ones(1)
    A, norms = C.take(cols=found), points.norms[found]
    mean = C.dot(np.full(C.shape[1], 1.0 / C.shape[1]))
    G = A.T @ A
    reach = G - mean @ A
    own = np.diagonal(reach).copy()
    np.fill_diagonal(reach, -np.inf)
    beyond = reach.max(axis=1)
    lengths = np.sqrt(np.linalg.norm(A - mean[:, None], axis=0) ** 2 + C.shape[0] * beyond**2)
    margins = np.divide(own - beyond, lengths * norms, out=np.zeros(k), where=lengths > 0)
    G /= norms[:, None] * norms
    for j in np.flatnonzero(margins <= points.tol):
        # A variable without curvature stays at zero: the mix is one of the others.
        curvature, G[j, j] = G[j, j], 0.0
        v = np.zeros((1, k))
        orthant_active_set(G, G[j : j + 1].copy(), v)
        G[j, j] = curvature
        margins[j] = np.linalg.norm(A[:, j] / norms[j] - (A / norms) @ v[0])
    return np.asarray(margins)
