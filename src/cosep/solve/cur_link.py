"""The CUR factorization through selected columns and rows.

Notation
--------
M : data, m x n, with entries of any sign
C = M(:,K2), R = M(K1,:) : the selected columns and rows; U : the small matrix that links them, M ~ C U R
"""

from collections.abc import Callable

import numpy as np

from cosep.matrix.checks import check_indices
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices

# Singular values below this share of the largest are zero in an inverse.
SINGULAR_VALUE_TOL = 1e-12


def optimal_link(M: LocalMatrix, rows: Indices, cols: Indices) -> Array:
    """``U = C^+ M R^+``, the U with the smallest error ``||M - C U R||_F``."""
    return _inverse(M.take(cols=cols)) @ M.dot(_inverse(M.take(rows=rows)))


def skeleton_link(M: LocalMatrix, rows: Indices, cols: Indices) -> Array:
    """``U = M(K1,K2)^+``, which depends on the selected rows and columns alone."""
    return _inverse(M.take(rows, cols))


def _inverse(A: Array) -> Array:
    return np.asarray(np.linalg.pinv(A, rcond=SINGULAR_VALUE_TOL), dtype=np.float64)


LINKS: dict[str, Callable[[LocalMatrix, Indices, Indices], Array]] = {
    "optimal": optimal_link,
    "skeleton": skeleton_link,
}


def link_selected(M: LocalMatrix, selection: Selection, link: str) -> Factorization:
    """Return C, U and R of a checked matrix."""
    rows = check_indices(selection.row_indices, "row_indices", M.shape[0], "n_samples")
    cols = check_indices(selection.col_indices, "col_indices", M.shape[1], "n_features")
    C, U, R = M.take(cols=cols), LINKS[link](M, rows, cols), M.take(rows=rows)
    U = M.in_units(U, -1)
    if not np.isfinite(U).all():
        msg = "X is too small for the inverse of its core to be a float; multiply X by a constant."
        raise ValueError(msg)
    return Factorization(
        narrow(M.in_units(C), M.dtype),
        narrow(U, M.dtype),
        narrow(M.in_units(R), M.dtype),
        selection=selection,
    )
