"""Input with missing entries: NaN in an array or a data frame, or what a sparse matrix does not store."""

from typing import Any

import numpy as np
import scipy.sparse

from cosep.matrix.checks import check_choice
from cosep.matrix.local import LocalMatrix
from cosep.matrix.observed import Observed
from cosep.matrix.positions import positions_of
from cosep.matrix.validation import as_matrix, float_values
from cosep.utils.messages import shown
from cosep.utils.warn import warn

# What ``missing`` may be, besides None.
NAN, UNSTORED = "nan", "unstored"
MISSING = (NAN, UNSTORED)


def check_missing(value: Any) -> str | None:
    """Return ``value`` if it is None or says which entries are missing."""
    return None if value is None else check_choice(value, "missing", MISSING)


def as_observed(X: Any, missing: str | None, name: str = "X") -> LocalMatrix | Observed:
    """Return X, checked: as a `LocalMatrix` if every entry was observed, else as an `Observed` matrix.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    missing : {"nan", "unstored"} or None
        Which entries are missing: those that are NaN, or those that a sparse matrix does not store.
    name : str
        Name of the parameter in error messages.

    Raises
    ------
    ValueError
        If X is not sparse, but unstored entries are to be missing, or if an observed entry is not a nonnegative number.
    """
    if isinstance(X, LocalMatrix | Observed) or missing is None:
        return X if isinstance(X, Observed) else as_matrix(X, name)
    if isinstance(X, np.ma.MaskedArray) and missing == NAN:
        X = np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X))
    values = float_values(X, name)
    if missing == UNSTORED:
        return _unstored(values, name)
    return _sparse_with_nan(values, name) if scipy.sparse.issparse(values) else _dense_with_nan(values, name)


def check_observed(X: Observed) -> None:
    """Raise ValueError if nothing was observed, and warn about rows and columns without an observed entry."""
    if X.n_observed == 0:
        msg = f"X of shape {X.shape} has no observed entry: all are missing; pass data with observed entries."
        raise ValueError(msg)
    parts = [
        f"{count} {what}(s) ({shown(where[:5].tolist())})"
        for what, side in (("row", X), ("column", X.T))
        if (count := len(where := np.flatnonzero(side.observed_per_row == 0)))
    ]
    if parts:
        warn(
            f"X has {' and '.join(parts)} without an observed entry; they are left out: their factors are zero, and "
            "their clusters -1.",
            UserWarning,
        )


def _unstored(values: Any, name: str) -> LocalMatrix | Observed:
    if not scipy.sparse.issparse(values):
        msg = (
            f"missing='unstored' is for a sparse matrix, whose stored entries are the observed ones, but {name} is "
            "dense; pass a sparse matrix, or mark missing entries by NaN and use missing='nan'."
        )
        raise ValueError(msg)
    zeroed = as_matrix(values, name)
    m, n = zeroed.shape
    stored = zeroed.stored_by_rows()
    if len(stored.raw.data) == m * n:
        return zeroed
    return Observed(stored, positions_of(stored.raw), lists_gaps=False)


def _dense_with_nan(values: Any, name: str) -> LocalMatrix | Observed:
    gaps = np.isnan(values)
    n_gaps = int(gaps.sum())
    if not n_gaps:
        return as_matrix(values, name)
    zeroed = values.copy(order="K")
    zeroed[gaps] = 0.0
    lists_gaps = 2 * n_gaps <= gaps.size
    listed = scipy.sparse.csr_array(gaps if lists_gaps else ~gaps)
    return Observed(as_matrix(zeroed, name), positions_of(listed), lists_gaps=lists_gaps)


def _sparse_with_nan(values: Any, name: str) -> LocalMatrix | Observed:
    gaps = np.isnan(values.data)
    if not gaps.any():
        return as_matrix(values, name)
    m, n = values.shape
    by_rows = values.tocsr()
    gaps = np.isnan(by_rows.data)
    zeroed = scipy.sparse.csr_array((by_rows.data.copy(), by_rows.indices.copy(), by_rows.indptr.copy()), shape=(m, n))
    listed = scipy.sparse.csr_array((gaps.astype(np.int8), by_rows.indices.copy(), by_rows.indptr.copy()), shape=(m, n))
    listed.eliminate_zeros()
    zeroed.data[gaps] = 0.0
    zeroed.eliminate_zeros()
    return Observed(as_matrix(zeroed, name), positions_of(listed), lists_gaps=True)
