"""The writer of Zarr stores from blocks of rows."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from cosep.utils.atomic import KEPT_LETTERS
from cosep.utils.extras import optional
from cosep.utils.messages import shown
from cosep.utils.paths import check_path

if TYPE_CHECKING:
    from cosep.matrix.row_blocks import RowBlocks

# Entries in a chunk: 2 MB of float64. A block reads whole chunks, also where it needs only the end or start of one.
CHUNK = 1 << 18


def write_blocks(path: str | os.PathLike[str], blocks: "Iterable[Any] | RowBlocks") -> None:
    """Write a matrix to a Zarr store block by block, so that it need not fit into memory.

    Dense blocks become a two-dimensional array, sparse blocks a csr matrix in the layout of AnnData. The store appears
    at its path when it is complete. Chunks have checksums, so that damage is detected when they are read.

    Parameters
    ----------
    path : path
        A path that does not exist yet.
    blocks : iterable of ndarray or scipy.sparse, or RowBlocks
        Consecutive rows, finite and nonnegative, of one dtype, all dense or all sparse. Names are not stored.

    Raises
    ------
    ValueError
        If a block differs in type from the first or has a bad entry, or if the path exists.

    See Also
    --------
    read_blocks : open such a store.

    Examples
    --------
    >>> import tempfile
    >>> import scipy.sparse
    >>> from cosep.io import read_blocks, write_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_blocks(f"{folder}/counts.zarr", (scipy.sparse.random_array((1000, 50)) for _ in range(5)))
    ...     print(read_blocks(f"{folder}/counts.zarr").shape)
    (5000, 50)
    """
    goal = check_path(path, "path", "the name of a new folder")
    _check_free(goal)
    if not goal.parent.is_dir():
        msg = f"path={shown(str(goal))} is in a folder that does not exist; create it first, or choose another path."
        raise ValueError(msg)
    optional("zarr", "writing a Zarr store", "dask")
    with TemporaryDirectory(prefix=f".{goal.name[:KEPT_LETTERS]}-part-", dir=goal.parent) as part:
        store: DenseStore | SparseStore | None = None
        for number, block in _checked(blocks):
            if store is None:
                kind = SparseStore if scipy.sparse.issparse(block) else DenseStore
                store = kind(Path(part) / goal.name, block)
            store.check(block, number)
            store.append(block)
        if store is None:
            msg = "blocks has no rows; pass at least one block."
            raise ValueError(msg)
        store.finish()
        try:
            (Path(part) / goal.name).rename(goal)
        except OSError:  # another thread or process may have written it in the meantime
            _check_free(goal)
            raise


def _check_free(goal: Path) -> None:
    """Raise if a path exists."""
    if os.path.lexists(goal):
        msg = f"path={shown(str(goal))} exists already; remove it first, or choose another path."
        raise ValueError(msg)


def _checked(blocks: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number and the values of every block that has rows, after a check of its entries."""
    from cosep.matrix.row_blocks import RowBlocks  # noqa: PLC0415 - importing cosep.io must not load scikit-learn
    from cosep.matrix.validation import as_matrix  # noqa: PLC0415 - as above

    if isinstance(blocks, RowBlocks):
        for number, slot in enumerate(blocks.slots):
            yield number, blocks.rows(np.arange(slot.start, slot.stop)).raw.astype(blocks.dtype, copy=False)
        return
    for number, block in enumerate(_iterated(blocks)):
        if not scipy.sparse.issparse(block) and not isinstance(block, np.ndarray):
            msg = f"blocks: block {number} must be an ndarray or a scipy.sparse matrix, got {type(block).__name__}."
            raise ValueError(msg)
        if block.ndim == 2 and block.shape[0] == 0:
            continue
        as_matrix(block, f"blocks: block {number}")
        yield number, block.tocsr() if scipy.sparse.issparse(block) else block


def _iterated(blocks: Any) -> Iterator[Any]:
    """Return an iterator over blocks, or raise if there is none; what computing a block raises is not changed."""
    msg = f"blocks must be several blocks of rows or RowBlocks, got {type(blocks).__name__}; pass [X] for one."
    if getattr(blocks, "ndim", None) is not None or not isinstance(blocks, Iterable):
        raise ValueError(msg)
    try:
        return iter(blocks)
    except Exception as error:
        raise ValueError(msg) from error


class DenseStore:
    """A two-dimensional array that grows by rows."""

    def __init__(self, path: Path, first: Any) -> None:
        self.dtype, self.n_cols = first.dtype, first.shape[1]
        self.array = new_array(path, (0, self.n_cols), (max(1, CHUNK // self.n_cols), self.n_cols), self.dtype)

    def check(self, block: Any, number: int) -> None:
        """Raise if a block differs from the first in columns, dtype or storage."""
        alike = scipy.sparse.issparse(block) is isinstance(self, SparseStore)
        if alike and block.shape[1] == self.n_cols and block.dtype == self.dtype:
            return
        kind = "sparse" if scipy.sparse.issparse(block) else "dense"
        first = "sparse" if isinstance(self, SparseStore) else "dense"
        msg = (
            f"blocks: block {number} is {kind}, with {block.shape[1]} columns and dtype {block.dtype}, but the "
            f"first is {first}, with {self.n_cols} columns and dtype {self.dtype}; make all blocks alike."
        )
        raise ValueError(msg)

    def append(self, block: Any) -> None:
        """Add rows."""
        self.array.append(block)

    def finish(self) -> None:
        """Complete the store. Nothing to do for a dense array."""


class SparseStore(DenseStore):
    """A csr matrix that grows by rows, in the layout of AnnData."""

    def __init__(self, path: Path, first: Any) -> None:
        self.dtype, self.n_cols, self.n_rows, self.stored = first.dtype, first.shape[1], 0, 0
        self.group = optional("zarr", "writing a Zarr store", "dask").create_group(str(path))
        index = np.dtype(np.int32 if self.n_cols <= np.iinfo(np.int32).max else np.int64)
        self.data, self.indices, self.indptr = (
            new_array(path / name, (0,), (CHUNK,), dtype)
            for name, dtype in (("data", self.dtype), ("indices", index), ("indptr", np.dtype(np.int64)))
        )
        self.indptr.append(np.zeros(1, dtype=np.int64))

    def append(self, block: Any) -> None:
        """Add rows."""
        self.indptr.append(self.stored + block.indptr[1:].astype(np.int64))
        self.data.append(block.data)
        self.indices.append(block.indices.astype(self.indices.dtype))
        self.stored += len(block.data)
        self.n_rows += block.shape[0]

    def finish(self) -> None:
        """Write the shape."""
        self.group.attrs.update(
            {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [self.n_rows, self.n_cols]}
        )


def new_array(path: Path, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Create an array that stores all chunks, also those of zeros, with checksums."""
    zarr = optional("zarr", "writing a Zarr store", "dask")
    return zarr.create_array(
        str(path),
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        compressors=zarr.codecs.ZstdCodec(checksum=True),
        config={"write_empty_chunks": True},
    )
