"""The path of a Zarr store or a folder of files enters; a matrix in blocks of rows leaves."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cosep.io.block_folder import block_files, file_blocks
from cosep.io.input_source import opened
from cosep.io.zarr_store import is_zarr, zarr_blocks
from cosep.utils.messages import shown

if TYPE_CHECKING:
    from cosep.matrix.blocks import RowBlocks


def read_blocks(path: str | os.PathLike[str], *, layer: str | None = None) -> "RowBlocks":
    """Find blocks of rows on disk, for `CoSeparableNMF` to fit with few passes and little memory.

    Only headers and names are read until blocks are needed, and never more than some blocks at a time.

    Parameters
    ----------
    path : path
        A Zarr store of format 2 or 3: a two-dimensional array, a csr matrix as AnnData lays it out, or an AnnData. Or
        a folder of files, all ``.npz`` (as `read` takes them), ``.npy`` or ``.parquet``, each with some rows and all
        columns. Their order is that of their names, block2 before block10.
    layer : str, optional
        Which layer of an AnnData, "raw" for its raw matrix; by default X.

    Returns
    -------
    RowBlocks
        Evaluated by Dask, on threads or a cluster, where Dask is installed. An AnnData and tables have names; row names
        are kept only where they are asked for.

    Raises
    ------
    ValueError
        If the folder is not what it should be, naming it, or the file in it, and the way out. A block that turns out
        bad is named by whatever reads it.
    ImportError
        If the format needs a package that is not installed.

    See Also
    --------
    write_blocks : write such a store.
    cosep.row_blocks : blocks of what is in memory, or of Dask.

    Notes
    -----
    A chunk that is missing from a dense array stands for zeros: so says the format.

    The folder need not be trusted. Only codecs of Zarr that are known to be harmless are used, and links that lead out
    of the folder are refused.

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
    ...     print(blocks.shape, blocks.rows(np.array([25])).values)
    (30, 4) [[2. 2. 2. 2.]]
    """
    if layer is not None and not isinstance(layer, str):
        msg = f"layer={shown(layer)} must be text, or None."
        raise ValueError(msg)
    with opened(path, None) as source:
        if source.suffix != "/":
            source.fail("is a file; expected a Zarr store or a folder of files. cosep.io.read reads a single file.")
        if is_zarr(source.path):
            return _blocks()(**zarr_blocks(source, layer))
        if layer is not None:
            source.fail(f"layer={shown(layer)} says nothing of a folder of files, only of an AnnData; leave it out.")
        return _blocks()(**file_blocks(source)).coarsened()


def is_blocks(path: Path) -> bool:
    """Tell whether a path is a Zarr store, or a folder with files of rows and without texts."""
    if not path.is_dir():
        return False
    return is_zarr(path) or (bool(block_files(path)) and not any(path.rglob("*.txt")))


def _blocks() -> "type[RowBlocks]":
    """Return what evaluates blocks."""
    module, name = ("dask", "DaskBlocks") if find_spec("dask") is not None else ("blocks", "RowBlocks")
    kind: type[RowBlocks] = getattr(import_module(f"cosep.matrix.{module}"), name)
    return kind
