"""Test whether all columns of a matrix are nonnegative combinations of some of them, with the weights as proof."""

from dataclasses import dataclass
from typing import Any

from cosep.matrix.checks import check_indices, check_number
from cosep.matrix.validation import as_matrix
from cosep.theory.cone import cone_weights, on_simplex, unscaled
from cosep.utils.types import Array, Indices

# The smallest tolerance. Weights come from Gram matrices, so residuals are only accurate to about the square root of
# machine precision.
SMALLEST_TOL = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """Whether ``X = X(:, col_indices) @ weights`` with ``weights >= 0``: true if all residuals are within tol.

    Parameters
    ----------
    col_indices : ndarray of int
        The selected columns.
    weights : csc_array of shape (r, n)
        The weights of the selected columns in each column, such that its residual is smallest; the identity on the
        selected columns.
    residuals : ndarray of shape (n,)
        ``||x_j - X(:, col_indices) weights_j|| / ||x_j||`` in the scaling of `is_separable`: the sine of the angle
        between column j and the cone of the selected columns. Zero for an all-zero column.
    tol : float
        The largest residual that counts as zero.
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
    """Test whether ``X = X(:, col_indices) @ H`` for some ``H >= 0`` that is the identity on those columns.

    That is r-separability with a given choice of the r columns (equation 1 of Pan and Ng, SIAM J. Matrix Anal. Appl.
    44, 1393-1420, 2023). `extreme_rays` finds the smallest such choice. For rows, pass the transpose of X.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    col_indices : list of int
        The selected columns, counted from 0.
    tol : float
        Largest residual of a column that counts as a nonnegative combination, from 1e-7 to 1. Default: 1e-6. Increase
        it for data with rounding errors or noise.

    Returns
    -------
    Separability
        True or false, with ``weights`` and ``residuals``.

    Notes
    -----
    Separability is a property of cones, which positive scaling of rows or columns does not change. So residuals are
    computed after Curtis-Reid scaling, which brings the nonzero entries as close to one as possible, and are relative
    to the norm of the column. The units of X and of single rows and columns do not matter, and small entries count as
    much as large ones. That suits data without noise, where rounding errors, also of float32, are relative to the
    entries. Set entries that are only noise to zero first.

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
    """Return the tolerance if the solvers can reach it."""
    return check_number(tol, "tol", SMALLEST_TOL, 1.0)
