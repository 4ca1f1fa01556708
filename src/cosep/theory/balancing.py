"""Curtis-Reid scaling: powers of two that bring the nonzero entries of a matrix as near to one as they can.

Multiplying rows and columns by positive numbers does not change what the functions of this folder answer. So they
answer for the scaled matrix, in which the units of the rows and columns no longer matter.

Notation
--------
E : ones at the nonzero entries, zero elsewhere
L : logarithms to base two of the nonzero entries, zero elsewhere
r, c : exponents of rows and columns
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import SAFE_SHARE
from cosep.matrix.local import LocalMatrix

# The integers that numpy.ldexp takes on every platform.
Exponents = NDArray[np.intc]

# The mean logarithm of each row is brought this near to zero. Rounding to whole numbers allows one half.
MEAN_TOL = 1e-6
MAX_STEPS = 1000
# Halves are common among exponents. This keeps rounding errors from deciding which way each of them goes.
TIE_SHIFT = 1e-3
# Larger than any exponent of an entry.
OFFSET = 1 << 14


class Balanced(NamedTuple):
    """``A(i,j) = M(i,j) * 2**(rows[i] + cols[j])``. Powers of two do not round anything."""

    A: LocalMatrix
    rows: Exponents
    cols: Exponents


def balanced(M: LocalMatrix) -> Balanced:
    """Return M in Curtis-Reid scaling, times a power of two that brings the largest entry below one."""
    M = _without_dust(M)
    rows, cols = curtis_reid(M)
    cols = cols - _peaks(M, rows, cols).max()
    return Balanced(_shifted(M, rows, cols), rows, cols)


def balanced_rows(M: LocalMatrix) -> Balanced:
    """Return M with its rows in Curtis-Reid scaling and the largest entry of each column between 1/2 and 1."""
    M = _without_dust(M)
    rows, cols = curtis_reid(M)
    cols = cols - _peaks(M, rows, cols)
    return Balanced(_shifted(M, rows, cols), rows, cols)


def rescaled(values: Any, rows: Exponents, cols: Exponents) -> Any:
    """Return an ndarray or a csr or csc array in float64, with entry (i, j) times ``2**(rows[i] + cols[j])``."""
    return _shifted(LocalMatrix(values), rows, cols).values


def curtis_reid(M: LocalMatrix) -> tuple[Exponents, Exponents]:
    """Minimise ``sum (log2 M(i,j)/max(M) + r_i + c_j)^2`` over the nonzero entries; return r and c as whole numbers.

    If ``r, c`` is the answer for M, then ``r - a, c - b`` is the answer for ``diag(2**a) M diag(2**b)``. So the scaled
    matrix does not depend on the units of rows and columns, except for rounding to whole numbers. All-zero rows and
    columns get the exponent 0.

    A. R. Curtis and J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, IMA J. Appl. Math. 10,
    118-124, 1972, doi:10.1093/imamat/10.1.118: eliminate c, and solve for r by conjugate gradients.
    """
    present = _stored(M) > 0
    logarithms = np.zeros(present.shape)
    np.log2(_stored(M), out=logarithms, where=present)
    # Relative to the largest entry, so that a multiple of M gets the same exponents to the last one.
    logarithms[present] -= logarithms.max(where=present, initial=-np.inf)
    E, L = _alike(M, present.astype(np.float64)), _alike(M, logarithms)
    row_counts, col_counts = np.maximum(E.T.sums(), 1.0), np.maximum(E.sums(), 1.0)
    col_sums = L.sums()
    r, step, before = np.zeros(M.shape[0]), np.zeros(M.shape[0]), 1.0
    gradient = L.T.sums() - E.dot(col_sums / col_counts)
    for _ in range(MAX_STEPS):
        means = gradient / row_counts
        if np.abs(means).max() <= MEAN_TOL:
            break
        length = float(gradient @ means)
        step = length / before * step - means
        curved = row_counts * step - E.dot(E.cross(step) / col_counts)
        share = length / float(step @ curved)
        r += share * step
        gradient += share * curved
        before = length
    c = -(col_sums + E.cross(r)) / col_counts
    return np.rint(r + TIE_SHIFT).astype(np.intc), np.rint(c + TIE_SHIFT).astype(np.intc)


def _stored(M: LocalMatrix) -> Any:
    return M.values.data if M.is_sparse else M.values


def _alike(M: LocalMatrix, entries: Any) -> LocalMatrix:
    """Return a matrix with other entries, stored as those of M are."""
    X = M.values
    return LocalMatrix(type(X)((entries, X.indices, X.indptr), shape=X.shape) if M.is_sparse else entries)


def _without_dust(M: LocalMatrix) -> LocalMatrix:
    """Set entries to zero that are below `SAFE_SHARE` of the largest one in their row, and in their column.

    Nothing that is computed from squares can tell them from zero, but their logarithms would decide the scaling.
    """
    peaks = (M.values.max(axis=axis) for axis in (1, 0))
    rows, cols = _of_entries(M, *(np.ravel(peak.toarray() if M.is_sparse else peak) for peak in peaks))
    entries = _stored(M)
    dust = (entries > 0) & (entries < SAFE_SHARE * np.minimum(rows, cols))
    return _alike(M, np.where(dust, 0, entries)) if dust.any() else M


def _of_entries(M: LocalMatrix, rows: NDArray[Any], cols: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what belongs to the row and to the column of each stored entry."""
    if not M.is_sparse:
        return rows[:, None], cols[None]
    X = M.values
    if X.format == "csr":
        return np.repeat(rows, np.diff(X.indptr)), cols[X.indices]
    return rows[X.indices], np.repeat(cols, np.diff(X.indptr))


def _exponents(M: LocalMatrix, rows: Exponents, cols: Exponents) -> Exponents:
    """Return ``rows[i] + cols[j]`` for each stored entry."""
    of_row, of_col = _of_entries(M, rows, cols)
    return np.asarray(of_row + of_col)


def _shifted(M: LocalMatrix, rows: Exponents, cols: Exponents) -> LocalMatrix:
    with np.errstate(over="ignore"):
        return _alike(M, np.ldexp(_stored(M).astype(np.float64), _exponents(M, rows, cols)))


def _peaks(M: LocalMatrix, rows: Exponents, cols: Exponents) -> Exponents:
    """Return the exponent of the largest entry of each column after a shift; 0 for an all-zero column."""
    exponents = np.frexp(_stored(M))[1] + _exponents(M, rows, cols) + OFFSET
    # What is not stored counts as zero, below all exponents.
    peaks = _alike(M, np.where(_stored(M) > 0, exponents, 0)).values.max(axis=0)
    peaks = np.ravel(peaks.toarray() if M.is_sparse else peaks)
    return np.where(peaks > 0, peaks - OFFSET, 0).astype(np.intc)
