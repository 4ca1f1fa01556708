"""An ``.h5ad`` file of annotated cells enters; one of its matrices leaves, with the names of cells and genes."""

import warnings
from typing import Any

import numpy as np

from cosep.io.extras import optional
from cosep.io.record import NamedMatrix, as_names, build
from cosep.io.source import InputError, Source

RAW = "raw"


def read_cells(source: Source, layer: str | None, labels: str | None) -> NamedMatrix:
    """Read X, a layer, or with the layer "raw" what the file keeps as raw; labels are a column of ``obs``."""
    anndata = optional("anndata", "reading .h5ad", "anndata")
    with source.expecting("an .h5ad file of AnnData"):
        _check_sizes(source)
        with warnings.catch_warnings():
            # Files of old versions are read as well; whoever wrote them cannot be told here.
            warnings.simplefilter("ignore")
            cells = anndata.read_h5ad(source.path, backed="r")
            try:
                values, genes = _matrix(source, cells, layer)
                classes = None if labels is None else _classes(source, cells, labels)
                layers = _layers(cells)
                names = list(cells.obs_names), list(genes)
            finally:
                cells.file.close()
    try:
        return build(source, values, *names, labels=classes)
    except InputError as error:
        others = [name for name in layers if name != layer]
        if "negative" not in str(error) or not others:
            raise
        what = str(error).removeprefix(f"{source.name}: ")
        source.fail(f"{what} Other matrices in it: layer={' or '.join(map(repr, others))}.")


def _check_sizes(source: Source) -> None:
    """Refuse a file whose arrays are larger than it can hold, before any is read."""
    h5py = optional("h5py", "reading .h5ad", "anndata")
    sizes = []
    with h5py.File(source.path) as file:
        file.visititems(lambda _, item: sizes.append(item.size * item.dtype.itemsize if hasattr(item, "dtype") else 0))
    source.check_memory(sum(size or 0 for size in sizes), "its contents")


def _matrix(source: Source, cells: Any, layer: str | None) -> tuple[Any, Any]:
    if layer is not None and layer not in _layers(cells):
        source.fail(f"layer={layer!r} is none of its layers: {', '.join(map(repr, _layers(cells))) or 'it has none'}.")
    if layer == RAW and RAW not in cells.layers:
        stored, genes = cells.raw.X, cells.raw.var_names
    else:
        stored, genes = _own(cells) if layer is None else cells.layers[layer], cells.var_names
    if stored is None:
        source.fail(f"has no X; name a layer: {', '.join(map(repr, _layers(cells))) or 'it has none'}.")
    if hasattr(stored, "to_memory"):
        stored = stored.to_memory()
    return stored if hasattr(stored, "tocsr") else np.asarray(stored), genes


def _own(cells: Any) -> Any:
    """Return X, or None if there is none."""
    try:
        return cells.X
    except KeyError:
        return None


def _layers(cells: Any) -> list[str]:
    return [*cells.layers, *([RAW] if cells.raw is not None and RAW not in cells.layers else [])]


def _classes(source: Source, cells: Any, labels: str) -> Any:
    if labels not in cells.obs:
        source.fail(f"labels={labels!r} is no column of obs, only {', '.join(map(repr, cells.obs.columns)):.200}.")
    return as_names(source, cells.obs[labels].astype(str))
