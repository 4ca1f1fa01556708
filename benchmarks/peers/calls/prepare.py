"""What users do to data before they give it to a tool, and how they read rows out of centres."""

from typing import Any

import numpy as np
import scipy.sparse


def dense(X: Any) -> Any:
    """Return a dense array."""
    return X.toarray() if scipy.sparse.issparse(X) else X


def unit_rows(X: Any) -> Any:
    """Return rows of norm one, dense."""
    X = dense(X)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


def standard(X: Any) -> Any:
    """Return columns with mean zero and spread one, dense."""
    X = dense(X)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def standard_rows(X: Any) -> Any:
    """Return rows with mean zero and spread one, dense: for rows that are variables."""
    return standard(dense(X).T).T


def degree(X: Any) -> Any:
    """Return the matrix divided by the square roots of the sums of its rows and columns."""
    D, E = (inverse_root(np.asarray(X.sum(axis=axis)).ravel()) for axis in (1, 0))
    if scipy.sparse.issparse(X):
        return scipy.sparse.csr_matrix(scipy.sparse.diags_array(D) @ X @ scipy.sparse.diags_array(E))
    return D[:, None] * X * E


def inverse_root(sums: Any) -> Any:
    """``1 / sqrt(sums)``, and 0 for a sum of zero."""
    return np.divide(1.0, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)


def as_it_is(X: Any) -> Any:
    """Return the data, dense."""
    return dense(X)


PREPARED = {"": as_it_is, "unit": unit_rows, "standard": standard, "standard rows": standard_rows}


def nearest(X: Any, centres: Any) -> Any:
    """Return the row nearest to each centre, without repetition."""
    X = dense(X)
    distances = (X**2).sum(axis=1)[:, None] - 2.0 * X @ centres.T + (centres**2).sum(axis=1)
    chosen: list[int] = []
    for column in distances.T:
        column[chosen] = np.inf
        chosen.append(int(column.argmin()))
    return np.array(chosen)
