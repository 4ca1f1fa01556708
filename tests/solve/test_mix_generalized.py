"""Rows plus columns: a falling objective, the smallest error there is, factors of the right kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Selection, mix, mix_generalized
from oracles import checked_nnls, make_generalized, qp_generalized

RANDOM = np.random.default_rng(17)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(2, 15), st.integers(2, 15)),
    density=st.sampled_from([0.1, 0.5, 1.0]),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_the_objective_never_rises_and_ends_at_the_error(seed, shape, density, sizes):
    random = np.random.default_rng(seed)
    X = random.uniform(size=shape) * (random.uniform(size=shape) < density)
    r1, r2 = min(sizes[0], shape[0]), min(sizes[1], shape[1])
    rows, cols = random.permutation(shape[0])[:r1], random.permutation(shape[1])[:r2]
    factors = mix_generalized(X, Selection(rows, cols), tol=0.0, max_iter=30)
    objective = np.array(factors.meta["objective"])
    assert (np.diff(objective) <= 1e-13).all()
    assert (factors.row_factor >= 0).all()
    assert (factors.col_factor >= 0).all()
    np.testing.assert_array_equal(factors.row_factor[:, r1:], X[:, cols])
    np.testing.assert_array_equal(factors.col_factor[:r1], X[rows])
    if X.any():
        assert np.sqrt(max(2 * objective[-1], 0)) == pytest.approx(factors.relative_error(X), abs=1e-6)


def test_the_error_is_the_smallest_there_is():
    X = RANDOM.gamma(0.5, size=(8, 7))
    rows, cols = [1, 4], [0, 5]
    factors = mix_generalized(X, Selection(rows, cols), tol=0.0, max_iter=5000)
    error = (factors.relative_error(X) * np.linalg.norm(X)) ** 2
    assert error == pytest.approx(qp_generalized(X, rows, cols), rel=1e-5)


def test_the_weights_of_the_rows_are_exact_for_the_final_weights_of_the_columns():
    X, truth = make_generalized(20, 15, 2, 3, 0)
    factors = mix_generalized(X, truth)
    P1, P2 = factors.row_factor[:, :2], factors.col_factor[2:]
    left = X - X[:, truth.col_indices] @ P2
    for i in range(20):
        expected = checked_nnls(X[truth.row_indices].T, left[i])[0]
        np.testing.assert_allclose(P1[i], expected, atol=1e-10)
    assert mix_generalized(X, truth, tol=0.0).relative_error(X) < 1e-5


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_one_side_alone_is_mixed_as_a_separable_matrix(side):
    X = RANDOM.gamma(0.5, size=(8, 7))
    selection = Selection([1, 4], None) if side == "rows" else Selection(None, [0, 5])
    ours, expected = mix_generalized(X, selection), mix(X, selection)
    np.testing.assert_array_equal(ours.row_factor, expected.row_factor)
    np.testing.assert_array_equal(ours.col_factor, expected.col_factor)


def test_every_kind_of_matrix_is_mixed_alike_and_float32_stays(kind):
    X, truth = make_generalized(12, 10, 2, 2, 0)
    expected = mix_generalized(X, truth)
    np.testing.assert_allclose(mix_generalized(kind(X), truth).row_factor, expected.row_factor, atol=1e-7)
    assert mix_generalized(X.astype(np.float32), truth).row_factor.dtype == np.float32


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_scales_lose_nothing(scale, tmp_path):
    X, truth = make_generalized(12, 10, 2, 2, 0)
    factors = mix_generalized(X * scale, truth)
    np.testing.assert_allclose(factors.reconstruct() / scale, X, atol=0.02)
    assert factors.relative_error(X * scale) == pytest.approx(mix_generalized(X, truth).relative_error(X), rel=1e-6)
    factors.save(tmp_path / "model.npz")
    assert type(factors).load(tmp_path / "model.npz").relative_error(X * scale) == factors.relative_error(X * scale)


def test_an_all_zero_row_or_column_has_no_label_and_progress_is_reported():
    X, truth = make_generalized(12, 10, 2, 2, 0)
    X = np.pad(X, ((0, 1), (0, 1)))
    calls = []
    factors = mix_generalized(X, truth, max_iter=5, tol=0.0, callback=lambda *call: calls.append(call))
    assert factors.row_labels[-1] == factors.col_labels[-1] == -1
    assert factors.row_labels[:-1].min() >= 0
    assert [call[:3] for call in calls] == [("mix", step, 5) for step in range(1, 6)]


def test_nothing_is_explained_by_zero_rows_and_columns():
    zero = np.zeros((5, 4))
    assert mix_generalized(zero, Selection([0], [1])).relative_error(zero) == 0.0
