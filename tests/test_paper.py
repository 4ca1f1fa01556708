"""Figures printed in the paper, reached from its authors' own files."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from cosep import Selection, clustering_accuracy, cosfgm, mix, preselect, relative_approximation


@pytest.fixture(scope="module")
def k1b(data_home):
    """The full k1b matrix, its classes, and the preselected block with its indices and weights."""
    full = scipy.io.loadmat(data_home / "reference" / "sub_k1b.mat")
    block = scipy.io.loadmat(data_home / "reference" / "Datasub_k1b.mat")
    row_sizes, col_sizes = (np.bincount(block[name].ravel())[1:] for name in ("IDXrow", "IDXcol"))
    M = np.asarray(scipy.sparse.csr_array(block["M"]).toarray(), dtype=float)
    weighted = np.sqrt(row_sizes)[:, None] * M * np.sqrt(col_sizes)
    indices = block["J_row"].ravel() - 1, block["J_col"].ravel() - 1
    return full["sub"], full["classid"].ravel(), weighted, *indices


@pytest.mark.parametrize(
    ("solver", "start"), [("fast-gradient", "spa"), ("fast-gradient", "independent"), ("newton", "spa")]
)
def test_cosfgm_reaches_the_printed_approximation_and_accuracy_on_k1b(k1b, solver, start):
    X, classes, weighted, row_positions, col_positions = k1b
    chosen = cosfgm(weighted, 6, 6, solver=solver, start=start, postprocess="spa")
    factors = mix(X, Selection(row_positions[chosen.row_indices], col_positions[chosen.col_indices]))
    assert 100 * relative_approximation(X, factors) >= 13.45  # Table 1
    assert 100 * clustering_accuracy(classes, factors.row_labels) >= 69.45  # Table 2


@pytest.mark.parametrize("side", ["row", "col"])
def test_preselection_gives_the_published_representatives_and_clusters_of_k1b(data_home, side):
    X = scipy.io.loadmat(data_home / "reference" / "sub_k1b.mat")["sub"]
    published = scipy.io.loadmat(data_home / "reference" / "Datasub_k1b.mat")
    kept = preselect(X.T if side == "row" else X, 500)
    assert set(kept.representatives) == set(published[f"J_{side}"].ravel() - 1)
    # The same partition: every pair of labels is one pair of clusters.
    pairs = set(zip(kept.labels.tolist(), published[f"IDX{side}"].ravel().tolist(), strict=True))
    assert len(pairs) == 500
