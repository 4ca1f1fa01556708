"""The order in which selected columns are best left out.

Notation
--------
M : data; A : the selected columns, divided by their norms; B = M'A; G = A'A
V : the best nonnegative weights of the columns that are left, M ~ A V'
"""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import nonnegative_of
from cosep.utils.types import Array, Indices

# What is added to the diagonal of G before it is inverted: columns that depend on each other then have a small bound.
RIDGE = 1e-10


def kept_longest(M: LocalMatrix, chosen: Indices) -> Indices:
    """Return the chosen columns, those that are needed most first: the first s of them are a choice of size s.

    One column after the other is left out: always the one without which the squared error rises least, with the best
    weights of the others. Unlike columns added one by one, the first s of them can all be extreme: without noise, the
    columns of a smallest exact choice are kept until the end.
    """
    A = M.take(cols=chosen)
    norms = np.linalg.norm(A, axis=0)
    A /= np.where(norms > 0, norms, 1.0)
    B, G = M.cross(A), A.T @ A
    V, left = nonnegative_of(G, B, np.zeros_like(B), exact=True), np.arange(len(chosen))
    order: list[int] = []
    while len(left) > 1:
        k = _least_needed(G, B, V, left)
        order.append(int(left[k]))
        rows, rest = np.flatnonzero(V[:, left[k]]), np.delete(left, k)
        V[np.ix_(rows, rest)] = _without(G, B, V, rest, rows)
        V[:, left[k]] = 0.0
        left = rest
    return chosen[[*left, *reversed(order)]]


def _least_needed(G: Array, B: Array, V: Array, left: Indices) -> int:
    """Return the position, in ``left``, of the column without which the squared error rises least; the last of equals.

    At the minimum, a change D of the weights raises the squared error by at least ``<D, D G>``. It therefore rises by
    at least ``||V(:,k)||^2 / inverse(G)(k,k)`` without column k. Columns are compared in the order of these bounds,
    until a bound exceeds the smallest rise.
    """
    H = G[np.ix_(left, left)]
    bounds = np.einsum("ij,ij->j", V[:, left], V[:, left])
    bounds /= np.diagonal(np.linalg.inv(H + RIDGE * np.eye(len(left))))
    best, least = 0, np.inf
    for k in np.argsort(bounds, kind="stable").tolist():
        if bounds[k] > least:
            break
        rows, rest = np.flatnonzero(V[:, left[k]]), np.delete(left, k)
        before = np.vdot(B[np.ix_(rows, left)], V[np.ix_(rows, left)])
        rise = float(before - np.vdot(B[np.ix_(rows, rest)], _without(G, B, V, rest, rows)))
        if rise < least or (rise == least and k > best):
            best, least = k, rise
    return best


def _without(G: Array, B: Array, V: Array, rest: Indices, rows: Indices) -> Array:
    """Return the best weights of the rest in some rows of V."""
    return nonnegative_of(G[np.ix_(rest, rest)], B[np.ix_(rows, rest)], V[np.ix_(rows, rest)], exact=True)
