"""The choice among the matrices of an AnnData: X, a layer, or the raw matrix."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from cosep.utils.messages import shown

RAW = "raw"
# Characters of the list of layers in a message.
LONGEST_LIST = 300
# What a row and a column of an AnnData are called.
NOUNS = ("cell", "gene")

Matrix = TypeVar("Matrix")


class Layer(NamedTuple, Generic[Matrix]):
    """The matrix that `layer` stands for.

    Attributes
    ----------
    matrix : Matrix
        The matrix itself, or where it is stored.
    is_raw : bool
        Whether it is the raw matrix, whose columns have names of their own.
    """

    matrix: Matrix
    is_raw: bool


def choose_layer(
    layer: Any,
    X: Callable[[], Matrix | None],
    layers: Mapping[Any, Matrix],
    raw: Callable[[], Matrix] | None,
) -> Layer[Matrix]:
    """Return X if `layer` is None, the layer of this name, or the raw matrix for "raw" if no layer has this name.

    Parameters
    ----------
    layer : str or None
    X : callable
        Returns the main matrix, or None if there is none.
    layers : mapping of str to matrix
    raw : callable, optional
        Returns the raw matrix. None if there is none.

    Raises
    ------
    ValueError
        If there is no such matrix. The message lists the layers.
    """
    if layer is None:
        matrix, is_raw = X(), False
    elif isinstance(layer, str) and layer in layers:
        matrix, is_raw = layers[layer], False
    elif isinstance(layer, str) and layer == RAW and raw is not None:
        matrix, is_raw = raw(), True
    else:
        known = listed(layers, has_raw=raw is not None) or "there are none"
        msg = f"layer={shown(layer)} is not one of the layers: {known}."
        raise ValueError(msg)
    if matrix is None:
        known = listed(layers, has_raw=raw is not None)
        what = "X" if layer is None else f"layer={shown(layer)}"
        msg = f"{what} is empty; {f'pass layer=, one of {known}' if known else 'add a matrix, there are no layers'}."
        raise ValueError(msg)
    return Layer(matrix, is_raw)


def anndata_layer(adata: Any, layer: Any) -> Layer[Any]:
    """Return a matrix of an AnnData object, in memory, lazy or of any type with the same attributes."""
    raw = getattr(adata, "raw", None)
    return choose_layer(layer, lambda: adata.X, adata.layers, None if raw is None else lambda: raw.X)


def anndata_layer_names(adata: Any) -> list[str]:
    """Return all values of `layer` that an AnnData object allows, except None."""
    return layer_names(adata.layers, has_raw=getattr(adata, "raw", None) is not None)


def layer_names(layers: Iterable[Any], *, has_raw: bool) -> list[str]:
    """Return all values of `layer` except None. Since anndata 0.13, X is one of the layers under the name None."""
    names = [name for name in layers if name is not None]
    return [*names, *([RAW] if has_raw and RAW not in names else [])]


def listed(layers: Iterable[Any], *, has_raw: bool) -> str:
    """Return the values of `layer` for a message."""
    return ", ".join(map(repr, layer_names(layers, has_raw=has_raw)))[:LONGEST_LIST]
