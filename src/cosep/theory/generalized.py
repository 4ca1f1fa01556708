"""Test whether a matrix is generalized separable by given rows and columns, with the weights as proof.

Notation
--------
L1, L2 : selected rows and columns; one side may be missing
Z1, Z2 : nonnegative weights, the identity on L1 and L2
N : the submatrix of rows and columns that are not selected; C and R the selected columns and rows beside it
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.kernels.quadratic import orthant_active_set, orthant_descent
from cosep.matrix.checks import check_indices
from cosep.matrix.curtis_reid import balanced, rescaled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.theory.coseparability import minimal_coseparable
from cosep.theory.separability import check_tol, is_separable
from cosep.utils.messages import shown
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices

# With more unknowns, the problem for all weights takes minutes.
MAX_UNKNOWNS = 3000


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizedSeparability:
    """Whether ``X = X(:,L2) Z2 + Z1 X(L1,:)`` with ``Z1, Z2 >= 0``: true if ``error`` is within the tolerance.

    Parameters
    ----------
    factorization : Factorization
        ``row_factor`` is ``[Z1, X(:,L2)]``, ``col_factor`` is ``[X(L1,:); Z2]``.
    error : float
        ``||X - X(:,L2) Z2 - Z1 X(L1,:)||_F / ||X||_F`` in Curtis-Reid scaling, where the units of rows and columns do
        not matter. It is relative to the whole matrix, because an entry is explained by its row and its column
        together.
    tol : float
        The largest error that counts as zero.
    """

    factorization: Factorization
    error: float
    tol: float

    def __bool__(self) -> bool:
        return self.error <= self.tol

    def __repr__(self) -> str:
        return f"GeneralizedSeparability({bool(self)}, error={self.error:.2g}, tol={self.tol:g})"


def is_generalized_separable(X: Any, selection: Selection, *, tol: float = 1e-6) -> GeneralizedSeparability:
    """Test whether ``X = X(:,cols) Z2 + Z1 X(rows,:)`` for ``Z1, Z2 >= 0`` that are the identity on rows and columns.

    Pan and Gillis, *Generalized separable nonnegative matrix factorization*, IEEE Trans. Pattern Anal. Mach. Intell.,
    with the nonnegativity that Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023) omit when they restate it.
    It implies ``X(rows, cols) = 0``.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        Rows, columns or both. Indices that are None select nothing.
    tol : float
        Largest error that counts as zero. Default: 1e-6.

    Returns
    -------
    GeneralizedSeparability
        True or false, with the weights and the error.

    Notes
    -----
    A co-separable matrix ``P1 S P2`` is generalized separable by rows and columns of its core if and only if S is:
    ``S = S(:,L2) Z2 + Z1 S(L1,:)`` gives ``X = X(:,L2) (Z2 P2) + (P1 Z1) X(L1,:)``. So the weights are
    computed for the smallest core, joined with the selected rows and columns, by nonnegative least squares after
    scaling: about ``r1 l1 + r2 l2`` unknowns, at a cost of that number cubed.

    Examples
    --------
    >>> from cosep import Selection
    >>> from cosep.theory import is_generalized_separable
    >>> X = [[1.0, 2.0, 8.0, 7.0], [2.0, 2.0, 8.0, 7.0], [2.0, 1.0, 7.0, 5.0], [0.0, 0.0, 2.0, 1.0]]
    >>> bool(is_generalized_separable(X, Selection([3], [0, 1])))
    True
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    rows, cols = _check_sides(selection, M.shape)
    Z1, Z2 = _weights(M, rows, cols, tol)
    C, R = M.in_units(M.take(cols=cols)), M.in_units(M.take(rows=rows))
    left, right = (narrow(part, M.dtype) for part in (np.hstack([Z1, C]), np.vstack([R, Z2])))
    factorization = Factorization(left, None, right, selection=selection)
    return GeneralizedSeparability(factorization, _balanced_error(M, rows, cols, left, right), tol)


def _balanced_error(M: LocalMatrix, rows: Indices, cols: Indices, left: Array, right: Array) -> float:
    """Return the relative error of ``left @ right`` in Curtis-Reid scaling, the same in any units."""
    A, r, c = balanced(M)
    # The exponents of the components: selected rows first, then selected columns.
    between = np.concatenate([-r[rows], c[cols]])
    W, H = rescaled(left, r, between), rescaled(right, -between, c)
    return Factorization(W, None, H).relative_error(A)


def _check_sides(selection: Any, shape: tuple[int, int]) -> tuple[Indices, Indices]:
    if not isinstance(selection, Selection) or (selection.row_indices is None and selection.col_indices is None):
        msg = f"selection={shown(selection)} must be a Selection with row_indices, col_indices or both."
        raise ValueError(msg)
    nothing = np.zeros(0, dtype=np.intp)
    rows, cols = selection.row_indices, selection.col_indices
    return (
        nothing if rows is None else check_indices(rows, "row_indices", shape[0], "n_samples"),
        nothing if cols is None else check_indices(cols, "col_indices", shape[1], "n_features"),
    )


def _weights(M: LocalMatrix, rows: Indices, cols: Indices, tol: float) -> tuple[Array, Array]:
    """Return the best Z1 and Z2, computed for the smallest core if both rows and columns are selected."""
    if not rows.size:
        return np.zeros((M.shape[0], 0)), is_separable(M, cols, tol=tol).weights.toarray()
    if not cols.size:
        return is_separable(M.T, rows, tol=tol).weights.T.toarray(), np.zeros((0, M.shape[1]))
    core = minimal_coseparable(M, tol=tol)
    K1, K2 = np.union1d(core.rows.col_indices, rows), np.union1d(core.cols.col_indices, cols)
    P1, P2 = is_separable(M.T, K1, tol=tol).weights.T, is_separable(M, K2, tol=tol).weights
    S, r, c = balanced(M.dense_part(K1, K2))
    l1, l2 = np.searchsorted(K1, rows), np.searchsorted(K2, cols)
    Z1, Z2 = _core_weights(S.take(), l1, l2)
    return P1 @ rescaled(Z1, -r, r[l1]), rescaled(Z2, c[l2], -c) @ P2


def _core_weights(S: Array, rows: Indices, cols: Indices) -> tuple[Array, Array]:
    """Minimise ``||S - S(:,cols) Z2 - Z1 S(rows,:)||_F`` over ``Z1, Z2 >= 0``, the identity on rows and cols."""
    (m, n), l1, l2 = S.shape, len(rows), len(cols)
    unknowns = (m - l1) * l1 + (n - l2) * l2
    if unknowns > MAX_UNKNOWNS:
        msg = (
            f"selection needs {unknowns} weights at once, more than {MAX_UNKNOWNS}: the smallest core of X, joined "
            f"with it, has shape {(m, n)}. Select fewer rows and columns, or increase tol if X is noisy."
        )
        raise ValueError(msg)
    rest_rows, rest_cols = np.setdiff1d(np.arange(m), rows), np.setdiff1d(np.arange(n), cols)
    Z1, Z2 = np.zeros((m, l1)), np.zeros((l2, n))
    Z1[rows], Z2[:, cols] = np.eye(l1), np.eye(l2)
    N, C, R = S[np.ix_(rest_rows, rest_cols)], S[np.ix_(rest_rows, cols)], S[np.ix_(rows, rest_cols)]
    if N.size:
        Z1[rest_rows], Z2[:, rest_cols] = _joint_weights(N, C, R)
    return Z1, Z2


def _joint_weights(N: Array, C: Array, R: Array) -> tuple[Array, Array]:
    """Minimise ``||N - C Z2 - Z1 R||_F`` over ``Z1, Z2 >= 0``: all entries of both are the unknowns of one problem.

    The two terms meet in ``<C e_a e_j', e_i e_b' R> = C(i,a) R(b,j)``.
    """
    (p, q), l2, l1 = N.shape, C.shape[1], R.shape[0]
    col_norms, row_norms = _safe(np.linalg.norm(C, axis=0)), _safe(np.linalg.norm(R, axis=1))
    C, R = C / col_norms, R / row_norms[:, None]
    G = np.block(
        [
            [np.kron(np.eye(q), C.T @ C), np.einsum("ia,bj->jaib", C, R).reshape(q * l2, p * l1)],
            [np.einsum("ia,bj->ibja", C, R).reshape(p * l1, q * l2), np.kron(np.eye(p), R @ R.T)],
        ]
    )
    b = np.concatenate([(N.T @ C).ravel(), (N @ R.T).ravel()])[None]
    v = np.zeros_like(b)
    # Coordinate descent finds nearly all of the support much faster than an active set that changes entry by entry.
    orthant_descent(G, b, v, 1e-12, 1000)
    orthant_active_set(G, b, v)
    Z2, Z1 = v[0, : q * l2].reshape(q, l2).T, v[0, q * l2 :].reshape(p, l1)
    return Z1 / row_norms, Z2 / col_norms[:, None]


def _safe(norms: Array) -> Array:
    """Return norms to divide by: one instead of zero."""
    return np.where(norms > 0, norms, 1.0)
