"""Bi-orthogonal tri-factorizations, which describe hard co-clusterings, as co-separable factorizations.

Notation
--------
F, G : nonnegative, F with orthogonal columns, G with orthogonal rows: at most one positive entry in each row of F and
    in each column of G
"""

from typing import Any

import numpy as np

from cosep.matrix.checks import check_number
from cosep.matrix.units import in_units_of_product
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.utils.types import Array, Indices


def from_biorthogonal(F: Any, S: Any, G: Any, *, tol: float = 1e-9) -> Factorization:
    """Write ``F S G`` with ``F'F`` and ``GG'`` diagonal as ``P1 X(rows, cols) P2``: it is co-separable.

    The property on bi-orthogonal tri-factorization of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023). The
    row (column) with the largest entry of each cluster, ``f_k = max_i F(i,k)`` and ``g_l = max_j G(l,j)``, is selected;
    then
    ``X(rows, cols) = diag(f) S diag(g)``. The core need not be the smallest one: see `compress`.

    Parameters
    ----------
    F : array-like of shape (m, r1)
        Nonnegative with orthogonal columns, of any length. Rows may be all zero.
    S : array-like of shape (r1, r2)
        Nonnegative.
    G : array-like of shape (r2, n)
        Nonnegative with orthogonal rows, of any length. Columns may be all zero.
    tol : float
        Entries of at most this share of the largest in their row of F or column of G count as zero.

    Returns
    -------
    Factorization
        ``row_factor`` is the identity on ``selection.row_indices``, ``col_factor`` on ``selection.col_indices``.

    Examples
    --------
    >>> from cosep.theory import from_biorthogonal
    >>> F = [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]]
    >>> answer = from_biorthogonal(F, S=[[1.0, 0.0], [1.0, 1.0]], G=[[1.0, 0.0], [0.0, 1.0]])
    >>> answer.selection.row_indices, answer.core
    (array([1, 2]), array([[3., 0.],
           [2., 2.]]))
    """
    tol = check_number(tol, "tol", 0.0, 1.0)
    left, middle, right = as_matrix(F, "F"), as_matrix(S, "S"), as_matrix(G, "G")
    shapes = left.shape, middle.shape, right.shape
    if shapes[0][1] != shapes[1][0] or shapes[1][1] != shapes[2][0]:
        msg = f"F, S and G must be matrices whose product exists, got shapes {shapes[0]}, {shapes[1]} and {shapes[2]}."
        raise ValueError(msg)
    P1, rows, f = _clusters(left.take(), "F", "column", tol)
    P2, cols, g = _clusters(right.T.take(), "G", "row", tol)
    core = in_units_of_product(f[:, None] * middle.take() * g, left, middle, right)
    return Factorization(P1, core, P2.T, selection=Selection(rows, cols))


def _clusters(F: Array, name: str, side: str, tol: float) -> tuple[Array, Indices, Array]:
    """Return the factor with the largest entry of each column scaled to one, the rows of these entries, and them."""
    members = F - tol * F.max(axis=1, keepdims=True) > 0
    several = int((members.sum(axis=1) > 1).sum())
    if several:
        other = "row" if side == "column" else "column"
        msg = (
            f"{name} must have orthogonal {side}s, but {several} of its {other}s have more than one positive entry; "
            f"keep the largest of each, or raise tol={tol:g}."
        )
        raise ValueError(msg)
    F = np.where(members, F, 0.0)
    largest = F.max(axis=0)
    if not largest.all():
        empty = int((largest == 0).sum())
        msg = f"{name} has {empty} {side}s without a positive entry; remove them and their part of S."
        raise ValueError(msg)
    return F / largest, F.argmax(axis=0), largest
