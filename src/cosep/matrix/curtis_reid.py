"""Curtis-Reid scaling: powers of two that bring the nonzero entries of a matrix as close to one as possible.

Whether a matrix is co-separable does not change when rows and columns are multiplied by positive numbers. So
`cosep.theory` answers for the scaled matrix, in which the units of rows and columns no longer matter.

Notation
--------
E : ones at the nonzero entries, zero elsewhere
L : logarithms to base two of the nonzero entries, zero elsewhere
r, c : exponents of rows and columns
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import SAFE_SHARE

# The integers that numpy.ldexp takes on every platform.
Exponents = NDArray[np.intc]

# The mean logarithm of each row is brought this close to zero. Rounding to whole numbers allows one half.
MEAN_LOG_TOL = 1e-6
MAX_STEPS = 1000
# Halves are common among exponents. This keeps rounding errors from deciding which way each of them is rounded.
TIE_SHIFT = 1e-3
# Larger than the exponent of any entry, so that exponents plus this are positive.
EXPONENT_OFFSET = 1 << 14


class Balanced(NamedTuple):
    """A matrix in Curtis-Reid scaling. Powers of two do not round anything.

    Parameters
    ----------
    A : LocalMatrix
        ``A(i,j) = X(i,j) * 2**(rows[i] + cols[j])`` for the data X, in float64.
    rows, cols : ndarray of int
        The exponents of rows and columns.
    """

    A: LocalMatrix
    rows: Exponents
    cols: Exponents


def balanced(M: LocalMatrix) -> Balanced:
    """Return M in Curtis-Reid scaling, times a power of two that brings the largest entry below one."""
    X = _without_negligible(M)
    rows, cols = curtis_reid(X)
    cols = cols - _column_exponents(X, rows, cols).max()
    return Balanced(_multiplied(X, rows, cols), rows, cols - np.intc(M._exponent))


def balanced_rows(M: LocalMatrix) -> Balanced:
    """Return M with its rows in Curtis-Reid scaling and the largest entry of each column between 1/2 and 1."""
    X = _without_negligible(M)
    rows, cols = curtis_reid(X)
    cols = cols - _column_exponents(X, rows, cols)
    return Balanced(_multiplied(X, rows, cols), rows, cols - np.intc(M._exponent))


def rescaled(values: Any, rows: Exponents, cols: Exponents) -> Any:
    """Return an ndarray or a csr or csc array in float64, with entry (i, j) times ``2**(rows[i] + cols[j])``."""
    return _multiplied(LocalMatrix(values), rows, cols).raw


def curtis_reid(M: LocalMatrix) -> tuple[Exponents, Exponents]:
    """Minimise ``sum (log2 M(i,j)/max(M) + r_i + c_j)^2`` over the nonzero entries; return r and c as whole numbers.

    If ``r, c`` is the answer for M, then ``r - a, c - b`` is the answer for ``diag(2**a) M diag(2**b)``. So the scaled
    matrix does not depend on the units of rows and columns, except for rounding to whole numbers. All-zero rows and
    columns get the exponent 0.

    A. R. Curtis and J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, IMA J. Appl. Math. 10,
    118-124, 1972, doi:10.1093/imamat/10.1.118: eliminate c, and solve for r by conjugate gradients.
    """
    present = _entries(M) > 0
    logarithms = np.zeros(present.shape)
    np.log2(_entries(M), out=logarithms, where=present)
    # Relative to the largest entry, so that a multiple of M gets exactly the same exponents.
    logarithms[present] -= logarithms.max(where=present, initial=-np.inf)
    E, L = _with_entries(M, present.astype(np.float64)), _with_entries(M, logarithms)
    row_counts, col_counts = np.maximum(E.T.sums(), 1.0), np.maximum(E.sums(), 1.0)
    col_sums = L.sums()
    r, step, before = np.zeros(M.shape[0]), np.zeros(M.shape[0]), 1.0
    gradient = L.T.sums() - E.dot(col_sums / col_counts)
    for _ in range(MAX_STEPS):
        means = gradient / row_counts
        if np.abs(means).max() <= MEAN_LOG_TOL:
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


def _entries(M: LocalMatrix) -> Any:
    """Return the stored entries: all of a dense matrix, in its shape, or those of a sparse one, in a row."""
    return M.raw.data if M.is_sparse else M.raw


def _with_entries(M: LocalMatrix, entries: Any) -> LocalMatrix:
    """Return a matrix with other stored entries at the same places."""
    X = M.raw
    return LocalMatrix(type(X)((entries, X.indices, X.indptr), shape=X.shape) if M.is_sparse else entries)


def _without_negligible(M: LocalMatrix) -> LocalMatrix:
    """Set entries to zero that are below `SAFE_SHARE` of the largest one in their row, and in their column.

    Nothing that is computed from squares can tell them from zero, but their logarithms would dominate the scaling.
    """
    peaks = (M.raw.max(axis=axis) for axis in (1, 0))
    rows, cols = _per_entry(M, *(np.ravel(peak.toarray() if M.is_sparse else peak) for peak in peaks))
    entries = _entries(M)
    negligible = (entries > 0) & (entries < SAFE_SHARE * np.minimum(rows, cols))
    return _with_entries(M, np.where(negligible, 0, entries)) if negligible.any() else M


def _per_entry(M: LocalMatrix, rows: NDArray[Any], cols: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each stored entry the value of its row and the value of its column."""
    if not M.is_sparse:
        return rows[:, None], cols[None]
    X = M.raw
    if X.format == "csr":
        return np.repeat(rows, np.diff(X.indptr)), cols[X.indices]
    return rows[X.indices], np.repeat(cols, np.diff(X.indptr))


def _exponents_per_entry(M: LocalMatrix, rows: Exponents, cols: Exponents) -> Exponents:
    """Return ``rows[i] + cols[j]`` for each stored entry."""
    row_exponents, col_exponents = _per_entry(M, rows, cols)
    return np.asarray(row_exponents + col_exponents)


def _multiplied(M: LocalMatrix, rows: Exponents, cols: Exponents) -> LocalMatrix:
    """Return M with entry (i, j) times ``2**(rows[i] + cols[j])``."""
    with np.errstate(over="ignore"):
        return _with_entries(M, np.ldexp(_entries(M).astype(np.float64), _exponents_per_entry(M, rows, cols)))


def _column_exponents(M: LocalMatrix, rows: Exponents, cols: Exponents) -> Exponents:
    """Return the exponent of the largest entry of each column of the scaled matrix; 0 for an all-zero column."""
    exponents = np.frexp(_entries(M))[1] + _exponents_per_entry(M, rows, cols) + EXPONENT_OFFSET
    # Entries that are not stored count as zero, below all exponents.
    peaks = _with_entries(M, np.where(_entries(M) > 0, exponents, 0)).raw.max(axis=0)
    peaks = np.ravel(peaks.toarray() if M.is_sparse else peaks)
    return np.where(peaks > 0, peaks - EXPONENT_OFFSET, 0).astype(np.intc)
