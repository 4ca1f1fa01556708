"""A matrix and some of its columns enter; whether these mix to all columns leaves, with the weights that prove it."""

from dataclasses import dataclass
from typing import Any

from cosep.matrix.checks import as_matrix, check_indices, check_number
from cosep.theory.cone import cone_weights, on_simplex, unscaled
from cosep.utils.types import Array, Indices

# Weights come from Gram matrices: a mix is told from what is none to the square root of the rounding, and no further.
FINEST = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """``X = X(:, col_indices) @ weights`` with ``weights >= 0``: true if every column holds to within the tolerance.

    Parameters
    ----------
    col_indices : ndarray of int
        The selected columns.
    weights : csc_array of shape (r, n)
        Every column as a mix of the selected ones, at the least distance; the identity on the selected ones.
    residuals : ndarray of shape (n,)
        ``||x_j - X(:, col_indices) weights_j|| / ||x_j||`` in the units of `is_separable`: the sine of the angle of
        column j and the cone of the selected columns. Zero for an all-zero column.
    tol : float
        What the residuals are compared with.
    """

    col_indices: Indices
    weights: Any
    residuals: Array
    tol: float

    @property
    def residual(self) -> float:
        """The largest residual."""
        return float(self.residuals.max())

    def __bool__(self) -> bool:
        return self.residual <= self.tol

    def __len__(self) -> int:
        return len(self.col_indices)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({bool(self)}, r={len(self)}, residual={self.residual:.2g}, tol={self.tol:g})"


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
    Separability is a property of cones, which positive scaling of rows or columns does not change. So the residual of a
    column is taken after Curtis-Reid scaling, which brings the nonzero entries as near to one as it can, and is
    relative to the norm of the column: neither the units of X nor those of single rows and columns matter, and small
    entries count as much as large ones. That suits data without noise, where rounding, of float32 too, is relative to
    the entries. Set entries that are nothing but noise to zero first.

    Examples
    --------
    >>> from cosep.theory import is_separable
    >>> X = [[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]
    >>> bool(is_separable(X, [0, 1])), bool(is_separable(X, [0, 2]))
    (True, False)
    >>> is_separable(X, [0, 1]).weights.toarray()
    array([[1., 0., 2.],
           [0., 1., 3.]])
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    cols = check_indices(col_indices, "col_indices", M.shape[1], "n_features")
    simplex = on_simplex(M)
    V, residuals = cone_weights(simplex.C, cols)
    return Separability(cols, unscaled(V, simplex, cols, M.dtype), residuals, tol)


def check_tol(tol: Any) -> float:
    """Return the tolerance if the solvers can keep it."""
    return check_number(tol, "tol", FINEST, 1.0)
