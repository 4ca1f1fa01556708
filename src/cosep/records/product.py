"""The product of two thin factors, ``W @ H * 2**exponent``, and its distance from a matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array

# Below this squared relative error, differences of norms have too few correct digits.
CANCELLATION = 1e-6
# If the product is larger than the data by this factor, the error is the norm of the product.
HUGE_RATIO = 2.0**300


def relative_error(M: LocalMatrix, W: Array, H: Array, exponent: int) -> float:
    """``||X - W H 2**exponent||_F / ||X||_F`` for the data X of M, without forming the whole product.

    ``||X||^2 - 2 <X, WH> + ||WH||^2`` costs O(nnz r); if it cancels to a small difference, the residual is summed over
    blocks of rows instead. W is overwritten.
    """
    total, own = M.squared_norm(), float(np.vdot(W.T @ W, H @ H.T))
    if own <= 0:
        return 0.0 if total == 0 else 1.0
    if total == 0:
        return np.inf
    if M.in_units(1.0, -1, shift=exponent) > HUGE_RATIO:
        return float(M.in_units(np.sqrt(own / total), -1, shift=exponent))
    W, own = M.in_units(W, -1, shift=exponent, out=W), float(M.in_units(own, -2, shift=2 * exponent))
    squared = total - 2.0 * float(np.vdot(M.cross(W), H.T)) + own
    if squared < CANCELLATION * total:
        squared = _blockwise_squared_error(M, W, H)
    return float(np.sqrt(squared / total))


def relative_row_errors(M: LocalMatrix, W: Array, H: Array, exponent: int) -> Array:
    """``||x_i - w_i H 2**exponent|| / ||x_i||`` for each row of the data X of M; nan for an all-zero row."""
    norms = M.T.squared_norms()
    errors = np.full(len(norms), np.nan)
    known = np.flatnonzero(norms)
    if M.in_units(1.0, -1, shift=exponent) > HUGE_RATIO:
        own = _squared_row_norms(W, H)
        errors[known] = M.in_units(np.sqrt(own[known] / norms[known]), -1, shift=exponent)
        return errors
    W = M.in_units(W, -1, shift=exponent)
    errors[known] = np.sqrt(squared_row_errors(M, W, H, M.dot(H.T))[known] / norms[known])
    return errors


def squared_row_errors(M: LocalMatrix, W: Array, H: Array, products: Array) -> Array:
    """``||m_i - w_i H||^2`` for each row of M, given ``products = M H'``; from the difference if that cancels."""
    norms = M.T.squared_norms()
    slopes = W @ (H @ H.T)
    slopes -= products
    slopes -= products
    squared = norms + np.einsum("ij,ij->i", slopes, W)
    near = np.flatnonzero((squared < CANCELLATION * norms) & (norms > 0))
    for rows, block in M.rows(near).dense_blocks():
        squared[near[rows]] = np.linalg.norm(block - W[near[rows]] @ H, axis=1) ** 2
    return np.asarray(np.maximum(squared, 0.0))


def _squared_row_norms(W: Array, H: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", W @ (H @ H.T), W))


def _blockwise_squared_error(M: LocalMatrix, W: Array, H: Array) -> float:
    squared = 0.0
    for rows, block in M.dense_blocks():
        difference = block - W[rows] @ H
        squared += float(np.vdot(difference, difference))
    return squared


def mantissa(part: NDArray[Any]) -> tuple[Array, int]:
    """Return an array divided by a power of two such that its largest entry is about one, and the exponent."""
    exponent = int(np.frexp(_largest(part))[1])
    return np.ldexp(np.asarray(part, dtype=np.float64), -exponent), exponent


def _largest(part: NDArray[Any], axis: int | None = None) -> Any:
    """Return the largest absolute value of an entry, without a copy of the array."""
    return np.maximum(part.max(axis=axis, initial=0.0), -part.min(axis=axis, initial=0.0))


def balanced(row_factor: NDArray[Any], col_factor: NDArray[Any]) -> tuple[Array, Array, int]:
    """Return W, H and e with ``W @ H * 2**e`` the product, and the scale of each component in H alone.

    The scale of a component may be in either factor: weights of selected rows, or selected columns themselves.
    """
    W, H = row_factor.astype(np.float64, copy=False), col_factor.astype(np.float64, copy=False)
    of_rows, of_cols = np.frexp(_largest(W, axis=0))[1], np.frexp(_largest(H, axis=1))[1]
    exponents = (of_rows + of_cols)[W.any(axis=0) & H.any(axis=1)]
    top = int(exponents.max()) if len(exponents) else 0
    shifts = np.minimum(of_rows + of_cols - top, 0)
    return np.ldexp(W, -of_rows), np.ldexp(H, (shifts - of_cols)[:, None]), top
