"""Rows and columns for CUR: scores, interpolation and volumes as defined, on entries of any sign."""

import sys

import numpy as np
import pytest
import scipy.sparse

from cosep import SelectionWarning, cur
from cosep.matrix.validation import as_matrix
from cosep.select.cur import METHODS, leading
from cosep.solve.cur_link import LINKS, link_selected

# The package has the function under the name of the module.
module = sys.modules["cosep.select.cur"]
RANDOM = np.random.default_rng(16)
each_method = pytest.mark.parametrize("method", METHODS)


def reconstruct(X, chosen, link):
    return link_selected(as_matrix(X, signed=True), chosen, link).reconstruct()


@pytest.mark.parametrize("link", LINKS)
@each_method
def test_as_many_rows_and_columns_as_the_rank_give_the_matrix_back_in_every_kind(method, link, kind):
    X = np.round(RANDOM.normal(size=(15, 3)) * 4) @ np.round(RANDOM.normal(size=(3, 12)) * 4)
    data = kind(X)
    np.testing.assert_allclose(reconstruct(data, cur(data, 3, 3, method=method), link), X, atol=1e-8)


@each_method
def test_equal_columns_cannot_spoil_the_reconstruction(method):
    X = RANDOM.normal(size=(15, 3)) @ RANDOM.normal(size=(3, 8))
    X = np.hstack([X, X, X])
    X = np.vstack([X, 3 * X, np.zeros((2, 24))])
    np.testing.assert_allclose(reconstruct(X, cur(X, 3, 3, method=method), "optimal"), X, atol=1e-8)


@each_method
def test_a_rank_below_the_request_gives_fewer_with_a_warning(method):
    X = RANDOM.normal(size=(9, 2)) @ RANDOM.normal(size=(2, 7))
    with pytest.warns(SelectionWarning) as record:
        chosen = cur(X, 4, 4, method=method)
    assert [str(warning.message)[:16] for warning in record] == ["Only 2 of the 4 "] * 2
    assert len(chosen.row_indices) == len(chosen.col_indices) == 2


def test_leverage_scores_are_those_of_the_singular_vectors_and_the_largest_are_taken():
    X = RANDOM.normal(size=(20, 30))
    chosen = cur(X, 3, 5)
    U, _, Vt = np.linalg.svd(X)
    rows, cols = (U[:, :3] ** 2).sum(axis=1), (Vt[:5] ** 2).sum(axis=0)
    np.testing.assert_array_equal(chosen.row_indices, np.argsort(-rows)[:3])
    np.testing.assert_array_equal(chosen.col_indices, np.argsort(-cols)[:5])
    np.testing.assert_allclose(chosen.history[1], np.sort(cols)[::-1][:5])


def test_interpolation_indices_are_those_of_the_plain_algorithm():
    X = RANDOM.normal(size=(20, 12))
    chosen = cur(X, 4, 6, method="deim")
    for V, found in ((np.linalg.svd(X)[0], chosen.row_indices), (np.linalg.svd(X)[2].T, chosen.col_indices)):
        expected = [np.abs(V[:, 0]).argmax()]
        for k in range(1, len(found)):
            oblique = V[:, :k] @ np.linalg.inv(V[expected, :k]) @ V[expected, k]
            expected.append(np.abs(V[:, k] - oblique).argmax())
        np.testing.assert_array_equal(found, expected)


def test_no_exchange_of_a_row_or_column_raises_the_volume_by_much_and_volumes_grow():
    X = RANDOM.normal(size=(20, 15))
    chosen = cur(X, 4, 4, method="cross")
    rows, cols = chosen.row_indices, chosen.col_indices
    inverse = np.linalg.inv(X[rows][:, cols])
    assert np.abs(X[:, cols] @ inverse).max() <= 1.01 + 1e-9
    assert np.abs(inverse @ X[rows]).max() <= 1.01 + 1e-9
    assert (np.diff(chosen.history) >= -1e-9).all()


@pytest.mark.parametrize("shape", [(40, 25), (25, 40), (260, 170)])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_iterated_and_direct_singular_vectors_agree(monkeypatch, shape, form):
    M = as_matrix(form(RANDOM.normal(size=shape)), signed=True)
    direct = leading(M, 4)
    monkeypatch.setattr(module, "SHORT_SIDE", 10)
    for ours, expected in zip(leading(M, 4), direct, strict=True):
        np.testing.assert_allclose(np.abs(ours.T @ expected), np.eye(4), atol=1e-8)


def test_equal_singular_values_give_the_same_vectors_every_time(monkeypatch):
    # ARPACK draws random numbers on such matrices.
    monkeypatch.setattr(module, "SHORT_SIDE", 10)
    M = as_matrix(np.kron(np.eye(3), np.ones((80, 60))))
    for first, second in zip(leading(M, 5), leading(M, 5), strict=True):
        np.testing.assert_array_equal(first, second)


def test_numbers_of_rows_and_columns_must_agree_for_a_cross():
    with pytest.raises(ValueError, match="n_rows=2 and n_cols=3; ask for equal numbers"):
        cur(np.eye(4), 2, 3, method="cross")


@each_method
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales_give_the_same_choice(method, scale):
    X = RANDOM.normal(size=(12, 10))
    plain, scaled = cur(X, 3, 3, method=method), cur(X * scale, 3, 3, method=method)
    np.testing.assert_array_equal(plain.row_indices, scaled.row_indices)
    np.testing.assert_array_equal(plain.col_indices, scaled.col_indices)
