"""Test whether a matrix is co-separable with given rows and columns, and find the smallest core.

Notation
--------
M : data, m x n
K1, K2 : selected rows and columns; S = M(K1,K2) the core
P1, P2 : nonnegative factors that are the identity on K1 and K2
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from cosep.matrix.checks import check_count, check_indices
from cosep.matrix.curtis_reid import balanced, rescaled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.theory.rays import ExtremeRays, extreme_rays
from cosep.theory.separability import SMALLEST_TOL, Separability, check_tol, is_separable
from cosep.utils.messages import shown
from cosep.utils.precision import narrow
from cosep.utils.types import Callback, Indices


@dataclass(frozen=True, eq=False, repr=False)
class CoSeparability:
    """Whether ``X = P1 S P2`` with the selected core S.

    True if each row and each column is a nonnegative combination of the selected ones, and ``error`` is within the
    tolerance.

    Parameters
    ----------
    data : LocalMatrix
        The matrix X.
    rows, cols : Separability
        Separability of the transpose by the selected rows, and of X by the selected columns. X is co-separable with
        this core if and only if both hold (Characterization 3).
    """

    data: LocalMatrix
    rows: Separability
    cols: Separability

    @property
    def selection(self) -> Selection:
        """The rows and columns of the core."""
        return Selection(self.rows.col_indices, self.cols.col_indices)

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the core, ``(r1, r2)``."""
        return len(self.rows), len(self.cols)

    @property
    def residual(self) -> float:
        """The largest residual of a row or a column, relative to its norm."""
        return max(self.rows.residual, self.cols.residual)

    @cached_property
    def factorization(self) -> Factorization:
        """P1, S and P2, dense: the identity on the selected rows, the core, the identity on the selected columns."""
        P1, P2 = self.rows.weights.T.toarray(), self.cols.weights.toarray()
        S = self.data.in_units(self.data.take(self.rows.col_indices, self.cols.col_indices))
        core = narrow(S, self.data.dtype)
        return Factorization(P1, core, P2, selection=self.selection, row_weights=P1, col_weights=P2)

    @cached_property
    def error(self) -> float:
        """``||A - Q1 T Q2||_F / ||A||_F``, with A and ``Q1 T Q2`` being X and ``P1 S P2`` in Curtis-Reid scaling.

        The error of the row weights and the column weights together (Characterization 1). Like the residuals, and
        unlike ``factorization.relative_error(X)``, it does not depend on the units of rows and columns.
        """
        A, r, c = balanced(self.data)
        rows, cols = self.rows.col_indices, self.cols.col_indices
        Q1 = rescaled(self.rows.weights.T.tocsr(), r, -r[rows])
        Q2 = rescaled(self.cols.weights.tocsr(), -c[cols], c)
        T = A.part(rows, cols)
        left = sum(np.linalg.norm(block - T.between(Q1[some], Q2.T)) ** 2 for some, block in A.dense_blocks())
        return float(np.sqrt(left / A.squared_norm())) if left else 0.0

    def __bool__(self) -> bool:
        return bool(self.rows) and bool(self.cols) and self.error <= self.cols.tol

    def __repr__(self) -> str:
        figures = f"residual={self.residual:.2g}, error={self.error:.2g}, tol={self.cols.tol:g}"
        return f"{type(self).__name__}({bool(self)}, shape={self.shape}, {figures})"


@dataclass(frozen=True, eq=False, repr=False)
class MinimalCore(CoSeparability):
    """The smallest core of X, whose rows and columns are the extreme rays of the cones of rows and of columns.

    ``rows.margins`` and ``cols.margins`` prove that none of them can be left out, at the tolerance, or at a smaller one
    if the core found at the tolerance has a larger error than the tolerance.

    Parameters
    ----------
    data : LocalMatrix
        The matrix X.
    rows, cols : ExtremeRays
        The extreme rays of the cone of the rows, as columns of the transpose, and of the cone of the columns.
    """

    rows: ExtremeRays
    cols: ExtremeRays

    def admits(self, n_rows: int, n_cols: int) -> bool:
        """Return whether X is co-(n_rows, n_cols)-separable: both are at least those of the smallest core.

        Parameters
        ----------
        n_rows, n_cols : int
            The size of a core.
        """
        m, n = self.data.shape
        asked = check_count(n_rows, "n_rows", m, "n_samples"), check_count(n_cols, "n_cols", n, "n_features")
        return all(size >= least for size, least in zip(asked, self.shape, strict=True))


def is_coseparable(X: Any, selection: Selection, *, tol: float = 1e-6) -> CoSeparability:
    """Test whether ``X = P1 X(rows, cols) P2`` for some ``P1, P2 >= 0`` that are the identity on the rows and columns.

    Definition 1 of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), decided through their Characterization
    3: if and only if ``X = P1 X(rows,:)`` and ``X = X(:,cols) P2``.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        Rows and columns.
    tol : float
        Largest residual of a row or column that counts as a nonnegative combination, and largest ``error``. Default:
        1e-6. See `is_separable`.

    Returns
    -------
    CoSeparability
        True or false, with P1, S, P2, the residuals and the error.

    Examples
    --------
    >>> from cosep import Selection
    >>> from cosep.theory import is_coseparable
    >>> X = [[1.0, 0.0, 2.0], [0.0, 1.0, 3.0], [1.0, 1.0, 5.0]]
    >>> answer = is_coseparable(X, Selection([0, 1], [0, 1]))
    >>> bool(answer), answer.factorization.row_factor
    (True, array([[1., 0.],
           [0., 1.],
           [1., 1.]]))
    """
    M = as_matrix(X)
    rows, cols = check_core(selection, M.shape)
    by_rows, by_cols = is_separable(M.T, rows, tol=tol), is_separable(M, cols, tol=tol)
    return CoSeparability(M, by_rows, by_cols)


def minimal_coseparable(X: Any, *, tol: float = 1e-6, callback: Callback | None = None) -> MinimalCore:
    """Find the smallest ``(r1, r2)`` for which X is co-(r1, r2)-separable, and a core of that size.

    X is co-(r1, r2)-separable if and only if r1 and r2 are at least the numbers of extreme rays of the cone of its
    rows and of the cone of its columns. So the smallest r1 and the smallest r2 are reached together; they may differ.
    Every matrix is co-(m, n)-separable: the question is how small the core can be.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    tol : float
        Largest residual of a row or column that counts as a nonnegative combination, and largest ``error``. Default:
        1e-6. See `is_separable`.
    callback : callable, optional
        Called as ``callback("rays", rows done, m, nan)`` and then as ``callback("rays", columns done, n, nan)``.

    Returns
    -------
    MinimalCore
        ``shape`` and ``selection`` of the core, ``factorization``, and the proof. ``admits(r1, r2)`` answers for any
        other size. The core of an all-zero matrix is its first entry.

    Examples
    --------
    >>> from cosep.theory import minimal_coseparable
    >>> minimal_coseparable([[1.0, 0.0, 2.0], [2.0, 0.0, 4.0], [0.0, 3.0, 3.0]])
    MinimalCore(True, shape=(2, 2), residual=..., tol=1e-06)

    Four rows on the edges of a cone in three dimensions need a core of four rows, but of three columns:

    >>> square = [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    >>> core = minimal_coseparable(square)
    >>> core.shape, core.admits(4, 3), core.admits(3, 3)
    ((4, 3), True, False)
    """
    M = as_matrix(X)
    tol = finer = check_tol(tol)
    while True:
        rows, cols = (_at_least_one(extreme_rays(side, tol=finer, callback=callback)) for side in (M.T, M))
        core = MinimalCore(M, replace(rows, tol=tol), replace(cols, tol=tol))
        if core or finer == SMALLEST_TOL:
            return core
        # All residuals are within the tolerance, but the error of both sides together is not: more rays are needed.
        finer = max(finer / 2, SMALLEST_TOL)


def compress(X: Any, selection: Selection, *, tol: float = 1e-6) -> CoSeparability:
    """Reduce a core ``S = X(rows, cols)`` that is itself co-separable to the smallest core of S.

    If ``X = P1 S P2`` and ``S = Q1 T Q2`` then ``X = (P1 Q1) T (Q2 P2)``. For a co-separable X the smallest core of S
    is a smallest core of X, found from S alone.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        Rows and columns, usually more than needed.
    tol : float
        As in `is_coseparable`.

    Returns
    -------
    CoSeparability
        Of X with the smaller core. False if X is not co-separable with it. If X is co-separable with the given
        selection, that happens only if the error is within a few times the tolerance.

    Examples
    --------
    >>> from cosep import Selection
    >>> from cosep.theory import compress
    >>> X = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
    >>> smaller = compress(X, Selection([0, 1, 2], [1, 2]))
    >>> smaller.selection.row_indices, smaller.shape, bool(smaller)
    (array([0, 2]), (2, 2), True)
    """
    M = as_matrix(X)
    rows, cols = check_core(selection, M.shape)
    core = minimal_coseparable(M.dense_part(rows, cols), tol=tol)
    left = Selection(rows[core.rows.col_indices], cols[core.cols.col_indices])
    return is_coseparable(M, left, tol=tol)


def check_core(selection: Any, shape: tuple[int, int]) -> tuple[Indices, Indices]:
    """Return the rows and columns of a selection that has both."""
    if not isinstance(selection, Selection) or selection.row_indices is None or selection.col_indices is None:
        msg = f"selection={shown(selection)} must be a Selection with row_indices and col_indices."
        raise ValueError(msg)
    return (
        check_indices(selection.row_indices, "row_indices", shape[0], "n_samples"),
        check_indices(selection.col_indices, "col_indices", shape[1], "n_features"),
    )


def _at_least_one(rays: ExtremeRays) -> ExtremeRays:
    """Select the first column of an all-zero matrix: a core has at least one row and one column."""
    if len(rays):
        return rays
    first = scipy.sparse.eye_array(1, rays.weights.shape[1], format="csc", dtype=rays.weights.dtype)
    return ExtremeRays(np.zeros(1, dtype=np.intp), first, rays.residuals, rays.tol, np.zeros(1))
