"""The reader of blocks of rows in Zarr stores and folders of files."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cosep.io.block_folder import block_files, file_blocks
from cosep.io.input_source import open_source
from cosep.io.zarr_store import is_zarr, zarr_blocks
from cosep.utils.messages import shown

if TYPE_CHECKING:
    from cosep.matrix.row_blocks import RowBlocks


def read_blocks(path: str | os.PathLike[str], *, layer: str | None = None) -> "RowBlocks":
    """Open blocks of rows on disk, which `CoSeparableNMF` fits with few passes and little memory.

    Only headers and names are read at first. A fit reads a few blocks at a time.

    Parameters
    ----------
    path : path
        A Zarr store of format 2 or 3: a two-dimensional array, a csr matrix in the layout of AnnData, or an AnnData. Or
        a folder of files, all ``.npz`` (as `read` takes them), ``.npy`` or ``.parquet``, each with some rows and all
        columns. Files are ordered by name, block2 before block10.
    layer : str, optional
        The layer of an AnnData to read, "raw" for its raw matrix. Default: X.

    Returns
    -------
    RowBlocks
        Evaluated by Dask, on threads or a cluster, if Dask is installed. Blocks of an AnnData or of tables have names;
        row names are read when they are needed.

    Raises
    ------
    ValueError
        If the folder is not valid. The message names it, or the file in it, and says what to do. Entries of a block are
        checked when it is read.
    ImportError
        If the format needs a package that is not installed.

    See Also
    --------
    write_blocks : write such a store.
    cosep.row_blocks : blocks of what is in memory, or of Dask.

    Notes
    -----
    In Zarr, a missing chunk of a dense array means zeros.

    Folders from untrusted sources are safe to read. Only Zarr codecs that are known to be harmless are used, and links
    to something outside of the folder raise an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from cosep.io import read_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         np.save(Path(folder, f"block{k}.npy"), np.full((10, 4), k))
    ...     blocks = read_blocks(folder)
    ...     print(blocks.shape, blocks.rows(np.array([25])).raw)
    (30, 4) [[2. 2. 2. 2.]]
    """
    if layer is not None and not isinstance(layer, str):
        msg = f"layer={shown(layer)} must be a str or None."
        raise ValueError(msg)
    with open_source(path, None) as source:
        if source.suffix != "/":
            source.fail("is a file; expected a Zarr store or a folder of files. cosep.io.read reads a single file.")
        if is_zarr(source.path):
            return _blocks()(**zarr_blocks(source, layer))
        if layer is not None:
            source.fail(f"layer={shown(layer)} does not apply to a folder of files, only to an AnnData; leave it out.")
        return _blocks()(**file_blocks(source)).coarsened()


def is_blocks(path: Path) -> bool:
    """Return whether a path is a Zarr store, or a folder with files of rows and without texts."""
    if not path.is_dir():
        return False
    return is_zarr(path) or (bool(block_files(path)) and not any(path.rglob("*.txt")))


def _blocks() -> "type[RowBlocks]":
    """Return the class of blocks: with Dask if it is installed."""
    if find_spec("dask") is not None:
        from cosep.matrix.dask import DaskBlocks  # noqa: PLC0415 - an extra

        return DaskBlocks
    from cosep.matrix.row_blocks import RowBlocks  # noqa: PLC0415 - importing cosep.io must not load scikit-learn

    return RowBlocks
