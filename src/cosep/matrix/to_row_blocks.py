"""Conversion of matrices, in memory or not, to blocks of rows."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.matrix.block import Slot, facts, layout
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import MOST_ENTRIES, MOST_ROWS, RowBlocks, RowNames
from cosep.matrix.validation import as_matrix, has, is_from_dask
from cosep.utils.layers import anndata_layer
from cosep.utils.messages import shown
from cosep.utils.types import Indices


def row_blocks(X: Any, *, layer: str | None = None) -> RowBlocks:
    """Split a matrix into blocks of rows, for `CoSeparableNMF` to fit with few passes and little memory.

    Parameters
    ----------
    X : Dask array or data frame, list of blocks, AnnData, array-like or sparse
        A Dask array must have chunks of whole rows, ndarrays or scipy.sparse matrices; small chunks are joined. A list
        may contain ndarrays, scipy.sparse matrices, ``dask.delayed`` objects of these, and functions without arguments
        that return them. The names of an AnnData, lazy or not, are kept.
    layer : str, optional
        The layer of an AnnData to take, "raw" for its raw matrix. Default: X.

    Returns
    -------
    RowBlocks
        Dask collections and delayed objects are evaluated by the scheduler of Dask, on threads or a cluster.

    See Also
    --------
    cosep.io.read_blocks : blocks of rows from a Zarr store or a folder of files.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CoSeparableNMF, make_coseparable, row_blocks
    >>> X, truth = make_coseparable(60, 40, 4, 4, random_state=0)
    >>> model = CoSeparableNMF(4, 4).fit(row_blocks([X[:20], X[20:]]))
    >>> set(model.row_indices_) == set(truth.row_indices)
    True
    """
    if not is_from_dask(X) and has(X, "obs_names") and has(X, "var_names"):
        return _of_cells(X, layer)
    if layer is not None:
        msg = f"layer={shown(layer)} applies to an AnnData only, not to {type(X).__name__}; omit it."
        raise ValueError(msg)
    if isinstance(X, RowBlocks):
        return X
    if is_from_dask(X):
        return _of_dask(X)
    if isinstance(X, (list, tuple)) and len(X) and all(_is_block(one) for one in X):
        return _of_list(X)
    return _of_memory(X)


def own_blocks(X: Any) -> RowBlocks:
    """Return the blocks of data that is in blocks already, as they are; none is read if the sizes are known."""
    return X if isinstance(X, RowBlocks) else _chunks(X)


def _of_dask(X: Any, col_names: NDArray[Any] | None = None, row_names: RowNames | None = None) -> RowBlocks:
    """Return the blocks of a Dask array or data frame, small ones joined."""
    return _chunks(X, col_names, row_names).coarsened()


def _chunks(X: Any, col_names: NDArray[Any] | None = None, row_names: RowNames | None = None) -> RowBlocks:
    room = import_module("cosep.matrix.dask")
    blocks: RowBlocks
    if type(X).__module__ == "dask.delayed":
        blocks = room.from_pieces([X])
    elif hasattr(X, "columns"):
        blocks = room.from_frame(X)
    elif hasattr(X, "chunks"):
        blocks = room.from_array(X, col_names, row_names)
    else:
        msg = f"X is a {type(X).__module__}.{type(X).__name__}; pass a Dask array or data frame, or a list of blocks."
        raise ValueError(msg)
    return blocks


def _of_cells(cells: Any, layer: str | None) -> RowBlocks:
    """Return the blocks of an AnnData, with the names of cells and genes."""
    X, is_raw = anndata_layer(cells, layer)
    genes = np.asarray(cells.raw.var_names if is_raw else cells.var_names, dtype=object)
    row_names = partial(_named, cells.obs_names)
    return _of_dask(X, genes, row_names) if is_from_dask(X) else _of_memory(X, genes, row_names)


def _named(names: Any, indices: Indices) -> NDArray[np.str_]:
    return np.asarray(names[indices], dtype=np.str_)


def _is_block(one: Any) -> bool:
    matrix = scipy.sparse.issparse(one) or (has(one, "ndim") and one.ndim == 2)
    return is_from_dask(one) or matrix or callable(one)


def _of_list(blocks: Sequence[Any]) -> RowBlocks:
    """Return the blocks of a list; if some are delayed, Dask evaluates all."""
    if any(is_from_dask(block) for block in blocks):
        delayed: RowBlocks = import_module("cosep.matrix.dask").from_pieces(blocks)
        return delayed.coarsened()
    lengths, n_cols, dtype = layout([facts(block, Slot(0, 0, 0, (f"block {i}",))) for i, block in enumerate(blocks)])
    names = [list(block.columns) for block in blocks if hasattr(block, "columns")]
    if any(others != names[0] for others in names):
        msg = "X: its blocks are data frames with different columns; give all the same columns in the same order."
        raise ValueError(msg)
    pieces = [block if callable(block) else partial(_itself, block) for block in blocks]
    col_names = np.asarray(names[0], dtype=object) if names else None
    return RowBlocks(pieces, lengths, n_cols, dtype=dtype, col_names=col_names).coarsened()


def _itself(block: Any) -> Any:
    return block


def _of_memory(X: Any, col_names: NDArray[Any] | None = None, row_names: RowNames | None = None) -> RowBlocks:
    """Return the blocks of a matrix in memory."""
    M = as_matrix(X)
    names = getattr(X, "columns", None) if col_names is None else col_names
    M = M.stored_by_rows()
    m, n = M.shape
    size = min(MOST_ROWS, max(1, MOST_ENTRIES * m // max(int(M.stored_per_row().sum()), 1)))
    starts = range(0, m, size)
    return RowBlocks(
        [partial(_rows, M, start, start + size) for start in starts],
        [min(size, m - start) for start in starts],
        n,
        dtype=M.dtype,
        col_names=None if names is None else np.asarray(names, dtype=object),
        row_names=row_names,
    )


def _rows(M: LocalMatrix, start: int, stop: int) -> Any:
    return M.rows(slice(start, stop)).in_data_units().raw
