"""A matrix and some of its columns enter; whether these mix to all columns leaves, with the weights that prove it.

Notation
--------
C : the data in units of its own, with columns that sum to one, so that every column is a point of the simplex
A : the selected columns of C
V : weights, one column of C a row
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import as_matrix, check_indices, check_number
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import coefficients, narrow
from cosep.scaling import inverse

# Weights come from Gram matrices: a mix is told from what is none to the square root of the rounding, and no further.
FINEST = 1e-7


@dataclass(frozen=True, eq=False)
class Separability:
    """``X = X(:, col_indices) @ weights`` with ``weights >= 0``: true if every column holds to within the tolerance.

    Parameters
    ----------
    col_indices : ndarray of int
        The selected columns.
    weights : ndarray of shape (r, n)
        Every column as a mix of the selected ones, at the least distance; the identity on the selected ones.
    residuals : ndarray of shape (n,)
        ``||x_j - X(:, col_indices) weights_j|| / ||x_j||`` in the units of `is_separable`: the sine of the angle of
        column j and the cone of the selected columns. Zero for an all-zero column.
    tol : float
        What the residuals are compared with.
    """

    col_indices: Indices
    weights: NDArray[Any]
    residuals: Array
    tol: float

    @property
    def residual(self) -> float:
        """The largest residual."""
        return float(self.residuals.max())

    def __bool__(self) -> bool:
        return self.residual <= self.tol


def is_separable(X: Any, col_indices: Any, *, tol: float = 1e-6) -> Separability:
    """Tell whether ``X = X(:, col_indices) @ H`` for some ``H >= 0`` that is the identity on those columns.

    That is r-separability with a given choice of the r columns (equation 1 of Pan and Ng, SIAM J. Matrix Anal. Appl.
    44, 1393-1420, 2023). How few columns are enough is told by `extreme_rays`; rows are the columns of the transpose.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    col_indices : list of int
    tol : float
        Largest residual of a column that still counts as a mix, from 1e-7 to 1.

    Returns
    -------
    Separability
        True or false, with ``weights`` and ``residuals``.

    Notes
    -----
    Separability is a property of cones, which no positive scaling of rows or columns changes. So each residual is
    relative to the norm of its own column, and before it is taken the columns are divided by their sums and then the
    rows by theirs; a small column or row counts as much as a large one. That suits data without noise, where rounding,
    of float32 too, is relative to the entries. Set rows and columns that are nothing but noise to zero first.

    Examples
    --------
    >>> from cosep.theory import is_separable
    >>> X = [[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]
    >>> bool(is_separable(X, [0, 1])), bool(is_separable(X, [0, 2]))
    (True, False)
    >>> is_separable(X, [0, 1]).weights
    array([[1., 0., 2.],
           [0., 1., 3.]])
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    cols = check_indices(col_indices, "col_indices", M.shape[1], "n_features")
    C, s = on_simplex(M)
    V, residuals = cone_weights(C, cols)
    return Separability(cols, unscaled(V, s, cols, M.dtype), residuals, tol)


def check_tol(tol: Any) -> float:
    """Return the tolerance if the solvers can keep it."""
    return check_number(tol, "tol", FINEST, 1.0)


def on_simplex(M: LocalMatrix) -> tuple[LocalMatrix, Array]:
    """Return ``C = diag(1/r) M diag(1/s)`` with columns that sum to one, and s.

    r are the row sums once the columns sum to one. All-zero rows and columns are left alone; theirs are zero.
    """
    rows = inverse(M.dot(inverse(M.sums())))
    s = M.cross(rows)
    return LocalMatrix(M.scaled(rows, inverse(s)).values), s


def cone_weights(C: LocalMatrix, cols: Indices) -> tuple[Array, Array]:
    """Return the nearest mix of the columns ``cols`` to every column, as weights a row, and the residuals."""
    V, residuals = nearest_mixes(C, C.take(cols=cols))
    V[cols], residuals[cols] = np.eye(len(cols)), 0.0
    return V, residuals


def nearest_mixes(C: LocalMatrix, A: Array) -> tuple[Array, Array]:
    """Return the nearest mix of the columns of A to every column of C, as weights a row, and the residuals."""
    V = coefficients(C.T, A.T)
    return V, mix_residuals(C, A, V)


def mix_residuals(C: LocalMatrix, A: Array, V: Array) -> Array:
    """Return how far each column of C is from its mix of the columns of A, relative to its norm."""
    residuals = [relative_norms(block - V[part] @ A.T, block) for part, block in C.T.row_blocks()]
    return np.concatenate(residuals)


def relative_norms(difference: Array, of: Array) -> Array:
    """Return the norms of rows relative to those of other rows; a row of nothing is missed by nothing."""
    norms = np.linalg.norm(of, axis=1)
    return np.asarray(np.divide(np.linalg.norm(difference, axis=1), norms, out=np.zeros(len(norms)), where=norms > 0))


def unscaled(V: Array, s: Array, cols: Indices, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Turn weights of columns that sum to one into weights of the columns of the data, one column a column."""
    weights = V.T * inverse(s[cols])[:, None] * s
    # Rounding of a sum over itself must not touch the identity.
    weights[:, cols] = np.eye(len(cols))
    return narrow(weights, dtype)
