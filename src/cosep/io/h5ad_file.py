"""Matrices of ``.h5ad`` files of AnnData, with the names of their rows and columns."""

from pathlib import Path
from typing import Any

import scipy.sparse

from cosep.io.child_process import ChildReader
from cosep.io.input_source import InputError, InputSource
from cosep.io.named_matrix import NamedMatrix, as_names, build_named_matrix
from cosep.utils.extras import check_installed
from cosep.utils.layers import NOUNS, RAW, Layer, choose_layer, layer_names

SCRIPT = Path(__file__).with_name("h5ad_script.py")


def read_h5ad(source: InputSource, layer: str | None, labels: str | None) -> NamedMatrix:
    """Read X, a layer or the raw matrix, with a column of ``obs`` as labels."""
    check_installed("h5py", "reading .h5ad", "anndata")
    with (
        source.expecting("an .h5ad file of AnnData"),
        ChildReader(SCRIPT, source, layer=layer, labels=labels) as child,
    ):
        matrices = child.receive()
        child.send({"layer": layer, "is_raw": _choose_layer(source, layer, matrices).is_raw})
        source.check_memory(child.receive()["bytes"], "its contents")
        child.send("go on")
        facts = child.receive()
        values = _matrix(facts, [child.array(**part) for part in facts["parts"]])
    for side, size in zip(("rows", "cols"), values.shape, strict=True):
        if len(facts[side]) != size:
            source.fail(f"has {len(facts[side])} names for {size} {side}; write the file again.")
    label_names = None if labels is None else as_names(source, facts["labels"])
    try:
        return build_named_matrix(source, values, facts["rows"], facts["cols"], labels=label_names, nouns=NOUNS)
    except InputError as error:
        others = [name for name in layer_names(matrices["layers"], has_raw=matrices["has_raw"]) if name != layer]
        if "negative" not in str(error) or not others:
            raise
        what = str(error).removeprefix(f"{source.name}: ")
        source.fail(f"{what} Other matrices in this file: layer={' or '.join(map(repr, others)):.300}.")


def _choose_layer(source: InputSource, layer: str | None, matrices: dict[str, Any]) -> Layer[str]:
    """Return the name of the matrix that `layer` stands for."""
    layers = {name: name for name in matrices["layers"]}
    raw = (lambda: RAW) if matrices["has_raw"] else None
    try:
        return choose_layer(layer, lambda: "X" if matrices["has_X"] else None, layers, raw)
    except ValueError as error:
        source.fail(str(error))


def _matrix(facts: dict[str, Any], parts: list[Any]) -> Any:
    if facts["kind"] == "dense":
        return parts[0]
    kind = scipy.sparse.csr_array if facts["kind"] == "csr" else scipy.sparse.csc_array
    return kind(tuple(parts), shape=tuple(facts["shape"]))
