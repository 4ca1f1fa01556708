"""The product of two thin factors, ``W @ H * 2**exponent``, and its distance from a matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array

# Below this squared relative error the difference of norms has lost too many digits.
CANCELLATION = 1e-6
# A product this much larger than the data, as a power of two, is all there is to the error.
HUGE = 300


def relative_error(M: LocalMatrix, W: Array, H: Array, exponent: int) -> float:
    """``||M - W H 2**exponent||_F / ||M||_F``, never forming the product as a whole.

    ``||M||^2 - 2 <M, WH> + ||WH||^2`` costs O(nnz r); where it has cancelled to a small difference, the residual is
    summed over blocks of rows instead.
    """
    total, own = M.squared_norm(), float(np.vdot(W.T @ W, H @ H.T))
    if own <= 0:
        return 0.0 if total == 0 else 1.0
    if total == 0:
        return np.inf
    if exponent > HUGE:
        with np.errstate(over="ignore"):
            return float(np.ldexp(np.sqrt(own / total), exponent))
    W, own = np.ldexp(W, exponent, out=W), float(np.ldexp(own, 2 * exponent))
    squared = total - 2.0 * float(np.vdot(M.cross(W), H.T)) + own
    if squared < CANCELLATION * total:
        squared = _blockwise_squared_error(M, W, H)
    return float(np.sqrt(squared / total))


def relative_row_errors(M: LocalMatrix, W: Array, H: Array, exponent: int) -> Array:
    """``||m_i - w_i H 2**exponent|| / ||m_i||`` for each row of M; nan for an all-zero row."""
    norms = M.T.squared_norms()
    errors = np.full(len(norms), np.nan)
    known = np.flatnonzero(norms)
    if exponent > HUGE:
        own = _squared_row_norms(W, H)
        with np.errstate(over="ignore"):
            errors[known] = np.ldexp(np.sqrt(own[known] / norms[known]), exponent)
        return errors
    W = np.ldexp(W, exponent)
    errors[known] = np.sqrt(squared_row_errors(M, W, H, M.dot(H.T))[known] / norms[known])
    return errors


def squared_row_errors(M: LocalMatrix, W: Array, H: Array, products: Array) -> Array:
    """``||x_i - w_i H||^2`` for each row of M, given ``M H'``; where that cancels, from the difference itself."""
    norms = M.T.squared_norms()
    squared = norms - 2.0 * np.einsum("ij,ij->i", products, W) + _squared_row_norms(W, H)
    near = np.flatnonzero((squared < CANCELLATION * norms) & (norms > 0))
    rest = LocalMatrix((M.values.tocsr() if M.is_sparse else M.values)[near])
    for rows, block in rest.dense_blocks():
        squared[near[rows]] = np.linalg.norm(block - W[near[rows]] @ H, axis=1) ** 2
    return np.asarray(np.maximum(squared, 0.0))


def _squared_row_norms(W: Array, H: Array) -> Array:
    return np.asarray(np.einsum("ij,jk,ik->i", W, H @ H.T, W, optimize=True))


def _blockwise_squared_error(M: LocalMatrix, W: Array, H: Array) -> float:
    squared = 0.0
    for rows, block in M.dense_blocks():
        difference = block - W[rows] @ H
        squared += float(np.vdot(difference, difference))
    return squared


def mantissa(part: NDArray[Any]) -> tuple[Array, int]:
    """Return the matrix divided by a power of two that brings its largest entry to about one, and that power."""
    exponent = int(np.frexp(_largest(part))[1])
    return np.ldexp(np.asarray(part, dtype=np.float64), -exponent), exponent


def _largest(part: NDArray[Any], axis: int | None = None) -> Any:
    """Return the largest size of an entry, without a copy of all of them."""
    return np.maximum(part.max(axis=axis, initial=0.0), -part.min(axis=axis, initial=0.0))


def balanced(row_factor: NDArray[Any], col_factor: NDArray[Any]) -> tuple[Array, Array, int]:
    """Return W, H and e with ``W @ H * 2**e`` the product, the scale of each component in H alone.

    Components may carry their scale on either side: weights of selected rows stand beside selected columns.
    """
    W, H = row_factor.astype(np.float64, copy=False), col_factor.astype(np.float64, copy=False)
    of_rows, of_cols = np.frexp(_largest(W, axis=0))[1], np.frexp(_largest(H, axis=1))[1]
    exponents = (of_rows + of_cols)[W.any(axis=0) & H.any(axis=1)]
    top = int(exponents.max()) if len(exponents) else 0
    shifts = np.minimum(of_rows + of_cols - top, 0)
    return np.ldexp(W, -of_rows), np.ldexp(H, (shifts - of_cols)[:, None]), top
