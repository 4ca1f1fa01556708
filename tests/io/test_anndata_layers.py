"""`layer` means the same in `read`, `read_blocks`, `row_blocks` and `annotate`: None, a name, "raw" or a wrong name."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest

from cosep import annotate, row_blocks
from cosep.io import read, read_blocks

CELLS, GENES = [f"cell {i}" for i in range(6)], [f"gene {j}" for j in range(5)]
X = np.random.default_rng(0).uniform(1, 2, size=(6, 5)).round(3)


def make(n_genes=5, layers=("counts",), raw=True, empty=False):
    """Return an AnnData with the first genes, while its raw matrix has all of them."""
    adata = anndata.AnnData(X.copy(), pd.DataFrame(index=CELLS), pd.DataFrame(index=GENES))
    adata.raw = anndata.AnnData(3 * X, adata.obs, adata.var) if raw else None
    adata = adata[:, :n_genes].copy()
    for name in layers:
        adata.layers[name] = 2 * adata.X
    if empty:
        adata.X = None
    return adata


def from_file(adata, folder, layer):
    adata.write_h5ad(folder / "x.h5ad")
    found = read(folder / "x.h5ad", layer=layer)
    return found.values, found.row_names, found.col_names


def from_blocks(blocks):
    rows = np.arange(blocks.shape[0])
    return blocks.rows(rows).raw, blocks.row_names(rows), blocks.col_names


def from_store(adata, folder, layer):
    write_store(adata, folder / "x.zarr")
    return from_blocks(read_blocks(folder / "x.zarr", layer=layer))


def from_memory(adata, _folder, layer):
    return from_blocks(row_blocks(adata, layer=layer))


def from_lazy(adata, folder, layer):
    write_store(adata, folder / "x.zarr")
    with warnings.catch_warnings(action="ignore"):
        return from_blocks(row_blocks(anndata.experimental.read_lazy(folder / "x.zarr"), layer=layer))


def from_annotate(adata, _folder, layer):
    """Return the factorization instead of the matrix: its core has entries of the matrix that was fitted."""
    model = annotate(adata, 2, 2, layer=layer, method="spa", max_iter=2)
    return model.factorization_, adata.obs_names, adata.var_names


def write_store(adata, path):
    with warnings.catch_warnings(action="ignore"):
        adata.write_zarr(path)


READERS = {"read": from_file, "read_blocks": from_store, "row_blocks": from_memory, "lazy row_blocks": from_lazy}
PLACES = {**READERS, "annotate": from_annotate}


def check(found, factor, n_genes):
    """Check the matrix, whose entries show where it comes from, and its names."""
    values, row_names, col_names = found
    if hasattr(values, "core"):
        chosen = values.selection
        values, expected = values.core, X[np.ix_(chosen.row_indices, chosen.col_indices)]
    else:
        expected = X[:, :n_genes]
    np.testing.assert_allclose(values, factor * expected)
    assert list(row_names) == CELLS
    assert list(col_names) == GENES[:n_genes]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("layer", "factor"), [(None, 1), ("counts", 2), ("raw", 3)])
def test_x_a_layer_and_the_raw_matrix(place, layer, factor, tmp_path):
    check(PLACES[place](make(), tmp_path, layer), factor, 5)


@pytest.mark.parametrize("place", READERS)
def test_a_raw_matrix_with_more_genes_has_their_names(place, tmp_path):
    check(READERS[place](make(n_genes=3), tmp_path, "raw"), 3, 5)


def test_a_raw_matrix_with_other_genes_cannot_be_annotated():
    with pytest.raises(ValueError, match="layer='raw' has other genes than adata"):
        annotate(make(n_genes=3), 2, 2, layer="raw")


@pytest.mark.parametrize("place", PLACES)
def test_a_layer_called_raw_comes_before_the_raw_matrix(place, tmp_path):
    check(PLACES[place](make(n_genes=4, layers=("raw",)), tmp_path, "raw"), 2, 4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("layer", "parts", "message"),
    [
        ("spam", {}, r"layer='spam' is not one of the layers: 'counts', 'raw'\.$"),
        ("raw", {"raw": False}, r"layer='raw' is not one of the layers: 'counts'\.$"),
        ("spam", {"raw": False, "layers": ()}, r"layer='spam' is not one of the layers: there are none\.$"),
        (None, {"empty": True}, r"X is empty; pass layer=, one of 'counts', 'raw'\.$"),
    ],
)
def test_a_matrix_that_is_not_there_raises_an_error_with_the_layers(place, layer, parts, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        PLACES[place](make(**parts), tmp_path, layer)
