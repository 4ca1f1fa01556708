"""Every kind of matrix answers every question as the plain dense computation does."""

import numpy as np
import pytest
import scipy.sparse

from cosep.matrix import local
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(17, 9)) * (RANDOM.uniform(size=(17, 9)) < 0.5)
THIN = RANDOM.uniform(size=(17, 3))
SHORT = RANDOM.uniform(size=(9, 3))


@pytest.fixture(params=[1 << 20, 20], ids=["one-block", "many-blocks"], autouse=True)
def _block_size(request, monkeypatch):
    monkeypatch.setattr(local, "BLOCK_ENTRIES", request.param)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_equal_those_of_plain_numpy(kind, dtype):
    data = kind(X.astype(dtype))
    exact = X.astype(dtype).astype(np.float64)
    M = as_matrix(data)
    for transposed, truth, right, left in ((M, exact, SHORT, THIN), (M.T, exact.T, THIN, SHORT)):
        np.testing.assert_allclose(transposed.dot(right), truth @ right, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(transposed.cross(left), truth.T @ left, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(transposed.gram(), truth.T @ truth, rtol=1e-14, atol=1e-14)
        sums = scipy.sparse.csr_array(left.T), scipy.sparse.csr_array(right.T)
        np.testing.assert_allclose(transposed.between(*sums), left.T @ truth @ right, rtol=1e-6)
        root = transposed.gram_root()
        assert len(root) <= truth.shape[1]
        np.testing.assert_allclose(root.T @ root, truth.T @ truth, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(transposed.sums(), truth.sum(axis=0), rtol=1e-14)
        np.testing.assert_allclose(transposed.squared_norms(), (truth**2).sum(axis=0), rtol=1e-14)
        np.testing.assert_allclose(transposed.gram([4, 1]), (truth.T @ truth)[:, [4, 1]], rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(transposed.take(), truth)
        np.testing.assert_array_equal(transposed.take([2, 0], [1, 5, 3]), truth[[2, 0]][:, [1, 5, 3]])
        np.testing.assert_array_equal(transposed.rows([3, 1]).take(), truth[[3, 1]])
        assert (transposed.largest(), transposed.smallest()) == (truth.max(), 0.0)
        assert (transposed.stored_per_row() >= np.count_nonzero(truth, axis=1)).all()
        blocks = [block for _, block in transposed.dense_blocks()]
        np.testing.assert_array_equal(np.concatenate(blocks), truth)
    assert M.squared_norm() == pytest.approx((exact**2).sum(), rel=1e-14)


def test_float32_stays_float32_and_everything_else_becomes_float64(kind):
    stored = as_matrix(kind(X.astype(np.float32))).dtype
    assert stored == (np.float64 if isinstance(kind(X), list) else np.float32)
    assert as_matrix(kind((X * 9).astype(np.uint8))).dtype == np.float64


def test_answers_are_float64_whatever_the_data_is_stored_in():
    for data in (X.astype(np.float32), scipy.sparse.csr_array(X.astype(np.float32))):
        M = as_matrix(data)
        answers = [M.dot(SHORT), M.cross(THIN), M.gram(), M.gram_root(), M.sums(), M.squared_norms(), M.take()]
        answers.append(M.gram([0]))
        assert {answer.dtype for answer in answers} == {np.dtype(np.float64)}


def test_negative_entries_are_taken_where_they_are_asked_for(kind):
    M = as_matrix(kind(-X), signed=True)
    np.testing.assert_array_equal(M.take(), -X)
    np.testing.assert_allclose(M.squared_norms(), (X**2).sum(axis=0), rtol=1e-14)
    with pytest.raises(ValueError, match="Negative values"):
        as_matrix(kind(-X))
    huge = as_matrix(kind(-X * 1e200), signed=True)
    np.testing.assert_allclose(np.ldexp(huge.take(), huge._exponent), -X * 1e200)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            as_matrix(kind(np.where(X.max() == X, bad, -X)), signed=True)


def test_rows_too_small_beside_the_largest_entry_are_refused_whatever_their_sign():
    with pytest.raises(ValueError, match="too small to be distinguished from zero"):
        as_matrix([[-1.0, 0.0], [0.0, -1e-200]], signed=True)


def test_scaling_gives_the_same_kind_of_matrix(kind):
    rows, cols = RANDOM.uniform(size=17), RANDOM.uniform(size=9)
    scaled = as_matrix(kind(X)).scaled(rows, cols)
    assert scaled.is_sparse == scipy.sparse.issparse(kind(X))
    np.testing.assert_allclose(scaled.take(), rows[:, None] * X * cols, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_some_columns_are_a_matrix_of_the_same_type(kind, dtype):
    M = as_matrix(kind(X.astype(dtype)))
    for indices in ([4, 0, 7], np.arange(9), [3]):
        part = M.columns(np.array(indices))
        assert part.is_sparse == M.is_sparse
        assert part.dtype == M.dtype
        np.testing.assert_array_equal(part.take(), M.take(cols=indices))
        np.testing.assert_array_equal(part.T.columns(np.array([5, 2])).take(), M.take([5, 2], indices).T)


def test_all_columns_are_not_copied():
    assert np.shares_memory(LocalMatrix(X).columns(np.arange(9)).raw, X)
    sparse = scipy.sparse.csc_array(X)
    assert np.shares_memory(LocalMatrix(sparse).columns(np.arange(9)).raw.data, sparse.data)


def test_a_float64_array_is_neither_copied_nor_converted():
    M = as_matrix(X)
    assert np.shares_memory(M.raw, X)
    assert np.shares_memory(as_matrix(np.asfortranarray(X).T).raw.T, X) is False
    sparse = scipy.sparse.csr_array(X)
    assert np.shares_memory(as_matrix(sparse).raw.data, sparse.data)


def test_a_wrapped_matrix_passes_through():
    M = LocalMatrix(X)
    assert as_matrix(M) is M


def test_the_r_factor_keeps_the_digits_that_the_gram_matrix_loses():
    tall = np.vstack([np.eye(3) + 1.0, np.ones((30, 3))]) @ np.diag([1.0, 1e-9, 1.0])
    root = as_matrix(tall).gram_root()
    np.testing.assert_allclose(np.linalg.svd(root)[1], np.linalg.svd(tall)[1], rtol=1e-6)
    assert np.linalg.svd(root)[1].min() > 0


@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_extreme_scales_are_taken_out_by_a_power_of_two(power):
    for data in (np.ldexp(X, power), scipy.sparse.csr_array(np.ldexp(X, power))):
        M = as_matrix(data)
        np.testing.assert_array_equal(np.ldexp(M.take(), M._exponent), np.ldexp(X, power))
        assert 0 < M.squared_norm() < np.inf


def test_answers_come_back_in_the_units_of_the_data(kind):
    M = as_matrix(kind(X * 2.0**300))
    bare = M.mantissa
    for power in (1, 2):
        np.testing.assert_allclose(M.in_units(bare.take() ** power, power), (X * 2.0**300) ** power, rtol=1e-15)
    np.testing.assert_array_equal(bare.in_units(np.ones(3)), np.ones(3))
