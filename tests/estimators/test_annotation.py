"""AnnData: what is written, that files keep it, and what is refused."""

import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cosep import Pool, annotate, clustering_accuracy, describe, explain, make_coseparable

anndata = pytest.importorskip("anndata")


@pytest.fixture(scope="module")
def blood():
    """700 blood cells x 765 genes: scaled, with the logarithms of counts as raw."""
    package = find_spec("scanpy")
    if package is None:
        pytest.skip("scanpy is not installed, which ships the cells")
    path = Path(package.submodule_search_locations[0]) / "datasets" / "10x_pbmc68k_reduced.h5ad"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is an old file
        return anndata.read_h5ad(path)


def marker_names(adata):
    return {str(name) for names in adata.uns["cosep"]["markers"].values() for name in names}


def planted(form=np.asarray, dtype=np.float64):
    X, truth = make_coseparable(30, 20, 3, 3, random_state=0)
    X = np.concatenate([X, np.zeros((1, 20))]).astype(dtype)
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(31)])
    return anndata.AnnData(form(X), obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(20)])), truth


def test_real_cells_are_annotated_and_a_file_keeps_it(blood, tmp_path):
    adata = blood.copy()
    before = adata.X.copy(), adata.raw.X.copy()
    model = annotate(adata, n_rows=12, n_cols=8, layer="raw")
    np.testing.assert_array_equal(adata.X, before[0])
    assert (before[1] != adata.raw.X).nnz == 0
    assert adata.obsm["X_cosep"].shape == (700, 12)
    assert adata.varm["cosep"].shape == (765, 12)
    assert adata.obsm["X_cosep"].dtype == np.float32
    assert (adata.obs["cosep_selected"].sum(), adata.var["cosep_selected"].sum()) == (12, 8)
    stored = adata.uns["cosep"]
    assert marker_names(adata) == set(adata.var_names[stored["marker_indices"]])
    for topic, genes in stored["markers"].items():
        assert (adata.var["cosep"][genes] == topic).all()
    # The topics of cells and genes, multiplied, are what the refitted fidelity is measured by.
    X, scaling = adata.raw.X.toarray(), model.factorization_.scaling
    left = X - adata.obsm["X_cosep"] @ adata.varm["cosep"].T
    error, norm = (np.linalg.norm(scaling.rows[:, None] * part * scaling.cols) for part in (left, X))
    assert stored["metrics"]["refitted_fidelity"] == pytest.approx(1 - (error / norm) ** 2, abs=1e-5)
    assert stored["metrics"]["refitted_fidelity"] <= stored["metrics"]["bound"]
    assert explain(adata.raw.X, model.factorization_).cols["index"].tolist() == stored["marker_indices"].tolist()

    # Clusters of cells have to do with what they were sorted by, and are ready for a plot or a test of genes.
    clusters = adata.obs["cosep"]
    assert set(clusters.cat.categories) == set(clusters.unique()) <= set(map(str, range(12)))
    assert set(adata.var["cosep"].cat.categories) <= set(map(str, range(12)))
    kinds = adata.obs["bulk_labels"].cat.codes.to_numpy()
    assert clustering_accuracy(clusters.cat.codes.to_numpy(), kinds) > 0.5

    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obsm["X_cosep"], adata.obsm["X_cosep"])
    np.testing.assert_array_equal(again.varm["cosep"], adata.varm["cosep"])
    pd.testing.assert_frame_equal(again.obs[["cosep", "cosep_selected"]], adata.obs[["cosep", "cosep_selected"]])
    pd.testing.assert_series_equal(again.var["cosep"], adata.var["cosep"])
    assert again.uns["cosep"]["params"] == stored["params"]
    assert again.uns["cosep"]["metrics"] == stored["metrics"]
    assert again.uns["cosep"]["prototypes"].tolist() == stored["prototypes"].tolist()
    assert {k: list(names) for k, names in again.uns["cosep"]["markers"].items()} == {
        k: list(names) for k, names in stored["markers"].items()
    }


def test_scaled_cells_are_refused_with_the_way_out(blood):
    adata = blood.copy()
    with pytest.raises(ValueError, match=r"adata.X has negative entries.*pass layer=, one of 'raw'"):
        annotate(adata)
    assert "cosep" not in adata.obs
    assert "cosep" not in adata.uns
    adata.layers["scaled"] = adata.X
    with pytest.raises(ValueError, match=r"layer='scaled' has negative entries.*'scaled', 'raw'"):
        annotate(adata, layer="scaled")


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_what_was_planted_is_found_in_every_storage(form):
    adata, truth = planted(form)
    annotate(adata, 3, 3)
    assert set(adata.uns["cosep"]["prototype_indices"]) == set(truth.row_indices)
    assert marker_names(adata) == {f"gene{j}" for j in truth.col_indices}
    assert adata.uns["cosep"]["metrics"]["refitted_fidelity"] == pytest.approx(1.0, abs=1e-9)
    assert adata.obs["cosep"].isna().tolist() == [False] * 30 + [True]
    assert set(adata.obs["cosep"].cat.categories) <= {"0", "1", "2"}


def shuffled_blocks(sizes, random_state=0):
    """Return a noisy block-diagonal matrix with rows and columns in random order, and the block of each of them."""
    random = np.random.default_rng(random_state)
    row_blocks, col_blocks = (np.repeat(np.arange(len(sizes)), size) for size in zip(*sizes, strict=True))
    X = np.where(row_blocks[:, None] == col_blocks, random.uniform(1, 3, (len(row_blocks), len(col_blocks))), 0.0)
    X += 0.02 * random.uniform(size=X.shape)
    rows, cols = random.permutation(len(row_blocks)), random.permutation(len(col_blocks))
    return X[rows][:, cols], row_blocks[rows], col_blocks[cols]


@pytest.mark.parametrize("scaling", [None, "degree", "rows", "columns", "sinkhorn"])
@pytest.mark.parametrize(("n_rows", "n_cols"), [(4, 4), (4, 6), (6, 4)])
def test_cells_and_genes_of_one_block_have_one_number(scaling, n_rows, n_cols):
    X, cells, genes = shuffled_blocks([(20, 9), (6, 15), (12, 8), (9, 12)])
    adata = anndata.AnnData(X)
    model = annotate(adata, n_rows, n_cols, scaling=scaling)
    assert {*map(int, adata.var["cosep"])} <= set(range(n_rows))
    of_cells, of_genes = (np.array(list(map(int, side["cosep"]))) for side in (adata.obs, adata.var))
    # Cluster k is that of the k-th selected cell, which is in one block; genes of a cluster are of the same block.
    block_of = cells[model.row_indices_]
    assert set(block_of) == {0, 1, 2, 3}
    np.testing.assert_array_equal(block_of[of_cells], cells)
    np.testing.assert_array_equal(block_of[of_genes], genes)
    if n_rows == 4:
        for block in range(4):
            assert len({*of_cells[cells == block], *of_genes[genes == block]}) == 1
    np.testing.assert_array_equal(block_of[adata.uns["cosep"]["marker_topics"]], genes[model.col_indices_])
    own = adata.obs["cosep"].iloc[model.row_indices_].astype(int)
    np.testing.assert_array_equal(adata.uns["cosep"]["prototype_topics"], own)


def test_layers_keys_and_parameters(tmp_path):
    adata, truth = planted()
    adata.layers["counts"], adata.X = adata.X, None
    with pytest.raises(ValueError, match=r"X is empty; pass layer=, one of 'counts'"):
        annotate(adata, 3, 3)
    annotate(adata, 3, 3, layer="counts", key="mine", method="spa", preselect=(20, None), tol=1e-4)
    assert {"mine", "mine_selected"} <= set(adata.obs) & set(adata.var)
    assert list(adata.obsm) == ["X_mine"]
    params = adata.uns["mine"]["params"]
    assert (params["layer"], params["method"], params["preselect"], params["n_rows"]) == (
        "counts",
        "spa",
        "(20, None)",
        3,
    )
    assert params["scaling"] == "degree"
    annotate(adata, 2, 2, layer="counts", method=lambda *_: truth, scaling=None)
    assert "scaling" not in adata.uns["cosep"]["params"]
    adata.write_h5ad(tmp_path / "both.h5ad")
    assert set(anndata.read_h5ad(tmp_path / "both.h5ad").uns) == {"mine", "cosep"}


def test_a_view_becomes_an_object_of_its_own_and_its_parent_stays():
    adata, _ = planted()
    view = adata[5:25, :15]
    annotate(view, 2, 2)
    assert not view.is_view
    assert view.obsm["X_cosep"].shape == (20, 2)
    assert "cosep" not in adata.obs


def test_pools_by_name():
    adata, _ = planted()
    annotate(adata, 3, 3, row_pool=Pool(include=["cell9"]), col_pool=Pool(candidates=["gene1", "gene2", "gene4"]))
    assert adata.uns["cosep"]["prototypes"][0] == "cell9"
    assert sorted(marker_names(adata)) == ["gene1", "gene2", "gene4"]
    with pytest.raises(ValueError, match=r"col_pool names \['nonsense'\]"):
        annotate(adata, 3, 3, col_pool=Pool(include=["nonsense"]))


def test_raw_with_other_genes_is_refused():
    adata, _ = planted()
    adata.raw = adata
    narrow = adata[:, :10].copy()
    annotate(adata, 2, 2, layer="raw")
    with pytest.raises(ValueError, match=r"layer='raw' has other genes than adata; annotate adata.raw.to_adata\(\)"):
        annotate(narrow, 2, 2, layer="raw")
    annotate(narrow.raw.to_adata(), 2, 2)


def test_what_is_no_annotated_data_in_memory_is_refused(tmp_path):
    adata, _ = planted()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"adata is backed by a file.*to_memory"):
        annotate(backed)
    backed.file.close()
    for other in (adata.X, adata.to_df(), None, "cells.h5ad"):
        with pytest.raises(ValueError, match=r"adata must be an anndata.AnnData, got"):
            annotate(other)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layer": "nonsense"}, "layer='nonsense' is not one of the layers: there are none"),
        ({"layer": "raw"}, "layer='raw' is not one of the layers"),
        ({"layer": 3}, "layer=3 is not one of the layers"),
        ({"key": ""}, "key=''"),
        ({"key": "a/b"}, "key='a/b'"),
        ({"key": 3}, "key=3"),
        ({"n_rows": 99}, "n_rows=99 must be at most n_samples=31"),
        ({"n_cols": 0}, "n_cols=0"),
        ({"method": "nonsense"}, "method='nonsense'"),
    ],
)
def test_bad_options_are_refused_and_named(options, words):
    adata, _ = planted()
    with pytest.raises(ValueError, match=words):
        annotate(adata, **options)
    assert not adata.uns


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_entries_that_are_no_numbers_are_refused_under_the_name_of_their_place(entry):
    adata, _ = planted()
    adata.X[2, 2] = entry
    with pytest.raises(ValueError, match=r"adata.X contains (NaN|infinity)"):
        annotate(adata)


def test_without_the_package_the_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"install cosep\[anndata\]"):
        annotate(None)


def test_the_package_is_loaded_only_when_needed():
    code = "import sys; from cosep import annotate, explain, stability; print('anndata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_model_of_an_anndata_calls_rows_cells_and_columns_genes():
    anndata = pytest.importorskip("anndata")
    X, _ = make_coseparable(30, 20, 3, 3, random_state=0)
    found = describe(X, annotate(anndata.AnnData(X), n_rows=3, n_cols=3))
    assert found.nouns == ("cell", "gene")
    assert "3 of 30 cells were selected" in found.sentences[0]
    assert "Findings of 30 cells and 20 genes" in repr(found)
