"""Products of checked rows with the factors of a model, in memory and in blocks of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.fit.block_mixtures import block_products
from cosep.fit.completion import block_predictions
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import Column, RowBlocks
from cosep.matrix.to_row_blocks import own_blocks
from cosep.matrix.validation import as_matrix, is_from_dask
from cosep.records.decoder import Decoder
from cosep.utils.precision import narrow
from cosep.utils.types import Array


def is_blockwise(X: Any) -> bool:
    """Return whether a matrix is in blocks of rows, of Dask or not."""
    return isinstance(X, RowBlocks) or is_from_dask(X)


def product(X: Any, right: NDArray[Any], what: str, *, signed: bool = False) -> NDArray[Any]:
    """Return ``X @ right`` for a checked X whose columns are what ``right`` expects; lazy if X is a Dask array."""
    M = own_blocks(X) if is_blockwise(X) else as_matrix(X, signed=signed)
    if M.shape[1] != len(right):
        msg = f"X has {M.shape[1]} columns, but the model has {len(right)} {what}; pass exactly those."
        raise ValueError(msg)
    if isinstance(M, RowBlocks):
        rows: NDArray[Any]
        (rows,) = M.map_rows(block_products, right.astype(np.float64), [Column(right.shape[1], M.dtype)])
        return rows
    scaled, shift = unit_scaled(right)
    return in_data_units(M, M.dot(scaled), shift, "products")


def predictions(X: Any, decoder: Decoder) -> NDArray[Any]:
    """Return full rows from a checked X that has the selected columns; lazy if X is a Dask array."""
    M = own_blocks(X) if is_blockwise(X) else as_matrix(X)
    r, n = decoder.weights.shape
    if M.shape[1] != r:
        msg = f"X has {M.shape[1]} columns, but the model has {r} selected columns; pass exactly those."
        raise ValueError(msg)
    if isinstance(M, RowBlocks):
        rows: NDArray[Any]
        (rows,) = M.map_rows(block_predictions, decoder, [Column(n, M.dtype)])
        return rows
    return narrow(check_finite(decoder.predict(M.in_units(M.take())), "predictions"), M.dtype)


def unit_scaled(A: NDArray[Any]) -> tuple[Array, int]:
    """Return ``A / 2**shift`` with a largest entry of about one, and the shift."""
    shift = int(np.frexp(np.abs(A).max(initial=0.0))[1])
    return np.ldexp(A.astype(np.float64), -shift), shift


def in_data_units(M: LocalMatrix, results: Array, shift: int, what: str = "mixtures") -> NDArray[Any]:
    """Return results of M times ``2**shift`` in the units and the type of the data.

    The type is float64 where the range of float32 is too small. Raises ValueError if that of float64 is too small.
    """
    return narrow(check_finite(M.in_units(results, shift=shift), what), M.dtype)


def check_finite(results: Array, what: str = "mixtures") -> Array:
    """Return the results, or raise ValueError if some are beyond the largest float."""
    if not np.isfinite(results).all():
        msg = f"X is so near the largest float that its {what} are not finite; divide X by a constant."
        raise ValueError(msg)
    return results
