"""Matrices of annotated cells, with the names of cells and genes."""

import importlib.util
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cosep.io import read


@pytest.fixture
def real_cells():
    """A small table of real cells, of a version of long ago."""
    found = importlib.util.find_spec("scanpy")
    if found is None:
        pytest.skip("scanpy is not here, which ships a small table of real cells")
    return Path(found.submodule_search_locations[0]) / "datasets" / "10x_pbmc68k_reduced.h5ad"


def test_centred_cells_are_refused_and_the_raw_ones_read(real_cells):
    with pytest.raises(ValueError, match=r"row 'AAAGCCTGGCTAAC-1', column 'HES4' is -.* layer='raw'\.$"):
        read(real_cells)
    matrix = read(real_cells, layer="raw", labels="bulk_labels")
    assert matrix.values.shape == (700, 765)
    assert isinstance(matrix.values, scipy.sparse.csr_array)
    assert matrix.values.dtype == np.float32
    assert matrix.col_names[0] == "HES4"
    assert len(set(matrix.labels.tolist())) == 10


def test_layers_and_labels(tmp_path):
    X = scipy.sparse.csc_matrix(np.eye(3, 2, dtype=np.float32))
    obs = pd.DataFrame({"kind": pd.Categorical(["<b>", "NA", "007"]), "n": [1, 2, 3]}, index=["a", "007", "é"])
    cells = anndata.AnnData(X, obs, pd.DataFrame(index=["g,1", "NA"]), layers={"counts": 2 * X, "log": np.ones((3, 2))})
    cells.write_h5ad(tmp_path / "x.h5ad")
    matrix = read(tmp_path / "x.h5ad", labels="kind")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["a", "007", "é"], ["g,1", "NA"])
    assert matrix.labels.tolist() == ["<b>", "NA", "007"]
    assert isinstance(matrix.values, scipy.sparse.csr_array)
    np.testing.assert_array_equal(matrix.values.toarray(), np.eye(3, 2))
    np.testing.assert_array_equal(read(tmp_path / "x.h5ad", layer="counts").values.toarray(), 2 * np.eye(3, 2))
    assert isinstance(read(tmp_path / "x.h5ad", layer="log").values, np.ndarray)
    assert read(tmp_path / "x.h5ad", labels="n").labels.tolist() == ["1", "2", "3"]
    with pytest.raises(ValueError, match="layer='raw' is none of its layers: 'counts', 'log'"):
        read(tmp_path / "x.h5ad", layer="raw")
    with pytest.raises(ValueError, match="labels='nope' is no column of obs, only 'kind', 'n'"):
        read(tmp_path / "x.h5ad", labels="nope")


def test_negative_entries_without_another_matrix(tmp_path):
    anndata.AnnData(-np.eye(2)).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(ValueError, match=r"is -1, .* or clip it\.$"):
        read(tmp_path / "x.h5ad")
