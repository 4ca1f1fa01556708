"""Co-separable factorizations as exact CUR decompositions, and nonnegative CUR decompositions as co-separable ones.

Notation
--------
C = X(:,K2), R = X(K1,:), S = X(K1,K2)
U : any matrix with ``S U S = S``
"""

from typing import Any

import numpy as np
import scipy.sparse

from cosep.matrix.curtis_reid import balanced, rescaled
from cosep.matrix.local import LocalMatrix
from cosep.matrix.units import in_units_of_product
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.theory.cone import on_simplex, relative_norms
from cosep.theory.coseparability import CoSeparability, check_core
from cosep.theory.separability import Separability, check_tol
from cosep.utils.messages import shown
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices


def to_cur(X: Any, selection: Selection, *, tol: float = 1e-6) -> Factorization:
    """Return ``C U R`` with the selected columns C, the selected rows R and a generalized inverse U of the core.

    If ``X = P1 S P2`` then ``C U R = P1 S U S P2 = X`` for any rank of the core: a co-separable matrix has an
    exact CUR decomposition with the same rows and columns (Pan and Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023,
    on the relationship with CUR). For any other matrix the product is an approximation.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        Rows and columns.
    tol : float
        Singular values of the scaled core of at most this share of the largest count as zero.

    Returns
    -------
    Factorization
        ``row_factor`` C, ``core`` U, ``col_factor`` R. Its ``relative_error(X)`` is zero, up to rounding, if the
        decomposition is exact.

    Notes
    -----
    U is the Moore-Penrose inverse of the core in Curtis-Reid scaling, scaled back: ``Dc (Dr S Dc)^+ Dr``. So the rank
    of the core does not depend on the units of single rows and columns. It is the inverse of S when S is invertible.

    Examples
    --------
    >>> from cosep import Selection
    >>> from cosep.theory import to_cur
    >>> X = [[1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [0.0, 1.0, 1.0]]
    >>> to_cur(X, Selection([0, 1, 2], [0, 1])).relative_error(X) < 1e-12
    True
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    rows, cols = check_core(selection, M.shape)
    S, r, c = balanced(M.dense_part(rows, cols))
    C, R = (narrow(M.in_units(part), M.dtype) for part in (M.take(cols=cols), M.take(rows=rows)))
    U = rescaled(np.linalg.pinv(S.take(), rcond=tol), c, r)
    if not np.isfinite(U).all():
        msg = "X is too small for the inverse of its core, which exceeds the largest float; multiply X by a constant."
        raise ValueError(msg)
    return Factorization(C, U, R, selection=selection)


def from_cur(X: Any, cur: Factorization, *, tol: float = 1e-6) -> CoSeparability:
    """Test whether the decomposition ``X = C U R`` with ``U >= 0`` holds, and write it as ``P1 S P2``.

    ``C U`` and ``U R`` are weights: ``X = (C U) R = C (U R)``. So a matrix with such a decomposition is co-separable
    with the core ``S = X(rows, cols)`` (Pan and Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023).
    The core need not be the smallest one: see `compress`.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    cur : Factorization
        Its ``selection`` gives the rows and columns. Its ``core``, of shape (n_cols, n_rows), is U.
    tol : float
        Largest residual of a row or column, relative to its own norm. Default: 1e-6. See `is_separable`.

    Returns
    -------
    CoSeparability
        With the weights ``C U`` and ``U R``, which need not have the smallest residuals. False if the decomposition is
        not exact.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection
    >>> from cosep.theory import from_cur, to_cur
    >>> X = np.outer([1.0, 2.0, 3.0], [4.0, 5.0])
    >>> bool(from_cur(X, to_cur(X, Selection([1], [0]))))
    True
    """
    M = as_matrix(X)
    tol = check_tol(tol)
    if not isinstance(cur, Factorization) or cur.core is None or cur.selection is None:
        msg = f"cur={shown(cur)} must be a Factorization with a core and a selection, such as to_cur returns."
        raise ValueError(msg)
    if cur.shape != M.shape:
        msg = f"cur stands for a matrix of shape {cur.shape}, but X has shape {M.shape}; pass the matrix of cur."
        raise ValueError(msg)
    rows, cols = check_core(cur.selection, M.shape)
    U = as_matrix(cur.core, "the core of cur")
    if U.shape != (len(cols), len(rows)):
        msg = f"The core of cur must have shape {(len(cols), len(rows))}, columns by rows, got {U.shape}."
        raise ValueError(msg)
    C, R = M.take(cols=cols), M.take(rows=rows)
    by_rows = _weighted(M.T, rows, in_units_of_product(C @ U.take(), M, U).T, tol)
    by_cols = _weighted(M, cols, in_units_of_product(U.take() @ R, M, U), tol)
    return CoSeparability(M, by_rows, by_cols)


def _weighted(M: LocalMatrix, cols: Indices, weights: Array, tol: float) -> Separability:
    """Return the separability with given weights.

    The residuals are those of the given weights for all columns. Then selected columns get the identity as weights.
    """
    simplex = on_simplex(M)
    V = simplex.weights_of_points(weights.T, cols, np.arange(M.shape[1])[:, None])
    A = simplex.C.take(cols=cols)
    residuals = [relative_norms(block - V[part] @ A.T, block) for part, block in simplex.C.T.dense_blocks()]
    weights[:, cols] = np.eye(len(cols))
    kept = scipy.sparse.csc_array(narrow(weights, M.dtype))
    return Separability(cols, kept, np.concatenate(residuals), tol)
