"""Extreme rays of the cone of the columns of a matrix, with the proof that all of them are needed.

Notation
--------
C : the data with columns that sum to one: its rays are the vertices of the hull of these points
A : the vertices found so far
D : directions, one per row
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from cosep.matrix.checks import check_callback
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.theory.cone import Cone, batches, columns, cone_weights, on_simplex, relative_norms, unscaled
from cosep.theory.separability import Separability, check_tol
from cosep.utils.types import Array, Callback, Indices

# Points are equally far in a direction if their positions differ by less than this.
POSITION_TOL = 1e-12
# Covariance matrices are used if they have at most this many rows.
LARGEST_COVARIANCE = 1500
# Share of the trace that is added to the diagonal of a covariance matrix; smaller eigenvalues are rounding errors.
RIDGE = 1e-12
# There are many vertices if more than one point in this many is a vertex.
MANY_VERTICES = 10


@dataclass(frozen=True, eq=False, repr=False)
class ExtremeRays(Separability):
    """The fewest columns of which all columns are nonnegative combinations, each proven to be needed.

    Parameters
    ----------
    col_indices, weights, residuals, tol
        As in `Separability`.
    margins : ndarray of shape (r,)
        A lower bound, up to rounding, on the distance of each selected column from the cone of the other selected
        ones, relative to its norm, in the scaling of `is_separable`: there is a functional of norm one that is at most
        zero on those and has this value on it.
    """

    margins: Array


def extreme_rays(X: Any, *, tol: float = 1e-6, callback: Callback | None = None) -> ExtremeRays:
    """Find the extreme rays of ``{X y: y >= 0}``, one column for each: the first of the columns on one ray.

    X is r-separable if and only if it has at most r of them. Within the tolerance, every column is a nonnegative
    combination of the columns returned, and none of these can be left out.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    tol : float
        Largest relative distance of a column that counts as a nonnegative combination. Default: 1e-6. See
        `is_separable`.
    callback : callable, optional
        Called as ``callback("rays", columns done, n, nan)`` after each batch of columns.

    Returns
    -------
    ExtremeRays
        ``col_indices`` in ascending order; ``weights`` and ``residuals`` prove that they are enough, ``margins`` that
        each is needed. An all-zero matrix has no ray.

    Notes
    -----
    Rows and columns are scaled as in `is_separable` and the columns are divided by their sums, so that rays become
    vertices of a convex hull. The residual of a column outside the cone of the known vertices is a direction in which
    some point lies beyond all of them. Among the farthest points in any direction, the one with the largest norm is a
    vertex. So each failed test finds a new vertex, and there are n + r tests, each against at most r points:
    K. L. Clarkson, doi:10.1109/SFCS.1994.365723.

    Examples
    --------
    >>> from cosep.theory import extreme_rays
    >>> rays = extreme_rays([[1.0, 0.0, 1.0, 5.0], [0.0, 2.0, 1.0, 0.0]])
    >>> rays.col_indices
    array([0, 1])
    >>> rays.weights.toarray()
    array([[1. , 0. , 1. , 5. ],
           [0. , 1. , 0.5, 0. ]])
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    check_callback(callback)
    simplex = on_simplex(M)
    points = Points(columns(simplex.C, simplex.nonzero), tol)
    found = _prune(points, _grow(points, callback))
    cols = simplex.nonzero[found]
    V, residuals = cone_weights(simplex.C, cols)
    return ExtremeRays(cols, unscaled(V, simplex, cols, M.dtype), residuals, tol, _margins(points, found))


class Points:
    """Points of the simplex, as columns of a matrix, with searches for the farthest point in a direction."""

    def __init__(self, C: LocalMatrix, tol: float) -> None:
        n = C.shape[1]
        self.C = C
        self.tol = tol
        self.norms = np.sqrt(C.squared_norms())
        self.mean = C.dot(np.full(n, 1.0 / max(n, 1)))
        self.same = 1.0 - 0.5 * tol**2 - 1e-14
        self._covariance: Any = None

    def directions(self, cols: Indices) -> Array:
        """Return for each of the given points a direction in which it is likely to be the farthest, one per row.

        It points away from the mean; after the first call of `sharp_directions`, in the Mahalanobis distance.
        """
        if self._covariance is None or self.C.shape[0] <= self.C.shape[1]:
            away = self.C.take(cols=cols) - self.mean[:, None]
            return np.asarray((away if self._covariance is None else cho_solve(self._covariance, away)).T)
        Y = cho_solve(self._covariance, np.eye(self.C.shape[1])[:, cols])
        return np.asarray((self.C.dot(Y) - np.outer(self.mean, Y.sum(axis=0))).T)

    def sharp_directions(self, cols: Indices) -> Array:
        """Return directions in the Mahalanobis distance, which find vertices due to noise around a subspace.

        ``(B B' + e)^-1 B = B (B'B + e)^-1`` for the points B without their mean, so the smaller side is enough.
        """
        m, n = self.C.shape
        if self._covariance is None and min(m, n) <= LARGEST_COVARIANCE:
            if m <= n:
                K = self.C.T.gram() - n * np.outer(self.mean, self.mean)
            else:
                K = self.C.gram()
                K -= K.mean(axis=0)
                K -= K.mean(axis=1, keepdims=True)
            K[np.diag_indices_from(K)] += RIDGE * float(self.norms @ self.norms)
            self._covariance = cho_factor(K, overwrite_a=True, check_finite=False)
        return self.directions(cols)

    def vertices(self, D: Array) -> Indices:
        """Return the farthest vertex in each direction, one direction per row."""
        reach = self.C.cross(D.T)
        ties = reach >= reach.max(axis=0) - POSITION_TOL * np.linalg.norm(D, axis=1)
        norms = np.where(ties, self.norms[:, None], 0.0)
        return np.asarray((norms >= norms.max(axis=0) * (1.0 - POSITION_TOL)).argmax(axis=0))

    def sure_vertices(self, D: Array) -> Indices:
        """Return the farthest vertices in those directions in which all points on other rays are behind by a margin."""
        reach, found = self.C.cross(D.T), self.vertices(D)
        ahead = reach[found, np.arange(len(found))]
        behind = np.where(self.on_ray(found), -np.inf, reach).max(axis=0)
        return found[bounds(D, ahead, np.where(np.isfinite(behind), behind, 0.0)) > self.tol * self.norms[found]]

    def on_ray(self, cols: Indices) -> NDArray[np.bool_]:
        """Return which points (rows) equal which of the points ``cols`` (columns), within the tolerance."""
        cosines = self.C.cross(self.C.take(cols=cols) / self.norms[cols]) / self.norms[:, None]
        same = cosines >= self.same
        same[cols, np.arange(len(cols))] = True
        return np.asarray(same)


def _grow(points: Points, callback: Callback | None) -> Indices:
    """Return points of which all others are nonnegative combinations; all are vertices, up to rounding."""
    C = points.C
    m, n = C.shape
    known = np.zeros(n, dtype=bool)
    if n:
        # In the direction zero all points are equally far, and the one with the largest norm is a vertex.
        known[_fresh(points, known, points.vertices(np.zeros((1, m))))] = True
    for batch in batches(np.arange(n), m):
        # If many points are vertices, most of them are the farthest in a direction of their own.
        for attempt in (points.directions, points.sharp_directions):
            known[_fresh(points, known, points.sure_vertices(attempt(batch)))] = True
            if MANY_VERTICES * int(known[batch].sum()) > len(batch):
                break
        else:
            break
    waiting = np.flatnonzero(~known)
    while waiting.size:
        unsettled = waiting[:0]
        for batch in batches(waiting, m):
            unsettled = np.append(unsettled, _outside(points, known, batch[~known[batch]]))
            if callback is not None:
                rest = len(unsettled) + int((waiting > batch[-1]).sum())
                callback("rays", n - rest, n, np.nan)
        waiting = unsettled
    return np.flatnonzero(known)


def _outside(points: Points, known: NDArray[np.bool_], batch: Indices) -> Indices:
    """Return the points of the batch outside the cone of known vertices; mark a vertex beyond each as known."""
    if not batch.size:
        return batch
    block = points.C.take(cols=batch).T
    residuals = Cone(columns(points.C, np.flatnonzero(known))).nearest(block)[1]
    far = relative_norms(residuals, block) > points.tol
    if far.any():
        fresh = _fresh(points, known, points.vertices(residuals[far]))
        # Rounding can hide the new vertex behind a known one. Then take the first point that is outside the cone.
        known[fresh if fresh.size else batch[far][:1]] = True
    return batch[far]


def _fresh(points: Points, known: NDArray[np.bool_], vertices: Indices) -> Indices:
    """Return the vertices that are not known, each replaced by the first point on its ray unless that one is known."""
    new = np.unique(vertices[~known[vertices]])
    if not new.size:
        return new
    first = points.on_ray(new).argmax(axis=0)
    return np.unique(np.where(known[first], new, first))


def _prune(points: Points, found: Indices) -> Indices:
    """Remove points within the tolerance of the cone of the others, as long as all residuals stay within it."""
    margins = _margins(points, found)
    order = np.argsort(margins, kind="stable")
    doubtful = found[order[margins[order] <= points.tol]]
    if not doubtful.size:
        return found
    V = cone_weights(points.C, found)[0].tocsc()
    users = {int(j): V[:, [k]].nonzero()[0] for k, j in enumerate(found)}
    for j in doubtful:
        rest, needy = found[found != j], users[int(j)]
        V, residuals = cone_weights(columns(points.C, np.concatenate([rest, needy])), np.arange(len(rest)))
        if residuals.max() <= points.tol:
            found = rest
            V = V[len(rest) :].tocsc()
            for k, i in enumerate(rest):
                users[int(i)] = np.union1d(users[int(i)], needy[V[:, [k]].nonzero()[0]])
    return found


def bounds(D: Array, own: Array, beyond: Array) -> Array:
    """Return ``(own - beyond) / ||d - beyond||`` for each direction d.

    Points sum to one. So the functional ``d - beyond`` is ``own - beyond`` at a point with position ``own`` in the
    direction d, and at most zero at all points with positions up to ``beyond``.
    """
    lengths = np.linalg.norm(D - beyond[:, None], axis=1)
    return np.asarray(np.divide(own - beyond, lengths, out=np.zeros(len(lengths)), where=lengths > 0))


def _margins(points: Points, found: Indices) -> Array:
    """Return a lower bound on the distance of each point from the cone of the others, relative to its norm.

    With d its direction and t the largest position of another point in it, ``y = d - t`` is at most zero on the others,
    and ``y'c_j / (||y|| ||c_j||)`` is a bound. If that does not exceed the tolerance, use the best such y: the residual
    of the nearest point of the cone of the others.
    """
    if len(found) <= 1:
        return np.ones(len(found))
    A, norms = columns(points.C, found), points.norms[found]
    margins = np.zeros(len(found))
    for some in batches(np.arange(len(found)), A.shape[0]):
        D = points.directions(found[some])
        reach = A.cross(D.T)
        own = reach[some, np.arange(len(some))]
        reach[some, np.arange(len(some))] = -np.inf
        margins[some] = bounds(D, own, reach.max(axis=0)) / norms[some]
    doubtful = np.flatnonzero(margins <= points.tol)
    if doubtful.size:
        cone = Cone(A)
        margins[doubtful] = [np.linalg.norm(cone.nearest_to_others(int(k))[1]) / norms[k] for k in doubtful]
    return margins
