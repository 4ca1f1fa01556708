"""Mixing: exact weights, a falling objective, factors of the right kind."""

import tracemalloc
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Selection, make_coseparable, mix
from cosep.matrix.validation import as_matrix
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import column_weights, nonnegative
from oracles import checked_nnls

RANDOM = np.random.default_rng(3)
COUNTS = RANDOM.poisson(0.7, size=(40, 25)).astype(float)
BOTH = Selection(np.array([3, 11, 29]), np.array([0, 7, 19, 24]))


def test_column_weights_are_the_exact_nonnegative_least_squares_solution(kind):
    cols = np.array([4, 0, 9])
    weights = column_weights(as_matrix(kind(COUNTS)), cols)
    for j in range(COUNTS.shape[1]):
        expected = checked_nnls(COUNTS[:, cols], COUNTS[:, j])[0]
        np.testing.assert_allclose(weights[:, j], expected, atol=1e-12)
    np.testing.assert_allclose(weights[:, cols], np.eye(3), atol=1e-14)


def test_weights_do_not_depend_on_the_scale_of_the_selected_columns():
    scales = 10.0 ** RANDOM.uniform(-60, 60, size=25)
    cols = np.array([4, 0, 9])
    plain, scaled = column_weights(as_matrix(COUNTS), cols), column_weights(as_matrix(COUNTS * scales), cols)
    np.testing.assert_allclose(scaled * scales[cols][:, None] / scales, plain, rtol=1e-8, atol=1e-12)


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
    chosen = Selection(random.permutation(shape[0])[:r1], random.permutation(shape[1])[:r2])
    factors = mix(X, chosen, tol=0.0, max_iter=30)
    objective = np.array(factors.meta["objective"])
    assert (np.diff(objective) <= 1e-13).all()
    assert (factors.row_factor >= 0).all()
    assert (factors.col_factor >= 0).all()
    if X.any():
        assert np.sqrt(max(2 * objective[-1], 0)) == pytest.approx(factors.relative_error(X), abs=1e-6)


def test_refitting_beats_the_weights_it_starts_from():
    factors = mix(COUNTS, BOTH)
    start = np.linalg.norm(COUNTS - factors.row_weights @ factors.core @ factors.col_weights)
    assert np.linalg.norm(COUNTS - factors.reconstruct()) < start
    assert factors.meta["objective"][0] == pytest.approx(0.5 * (start / np.linalg.norm(COUNTS)) ** 2)


def test_all_kinds_of_matrix_give_the_same_factors(kind):
    expected, factors = mix(COUNTS, BOTH), mix(kind(COUNTS), BOTH)
    for name in ("row_factor", "core", "col_factor", "row_weights", "col_weights"):
        np.testing.assert_allclose(getattr(factors, name), getattr(expected, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(factors.row_labels, expected.row_labels)
    np.testing.assert_array_equal(factors.col_labels, expected.col_labels)


def test_the_transposed_problem_starts_from_the_same_weights():
    factors, swapped = mix(COUNTS, BOTH), mix(COUNTS.T, BOTH.T)
    np.testing.assert_allclose(swapped.col_weights, factors.row_weights.T, atol=1e-12)
    np.testing.assert_allclose(swapped.row_weights, factors.col_weights.T, atol=1e-12)
    assert swapped.meta["objective"][0] == pytest.approx(factors.meta["objective"][0])


def test_selected_columns_alone_are_the_left_factor():
    factors = mix(COUNTS, Selection(None, np.array([1, 5])))
    np.testing.assert_array_equal(factors.row_factor, COUNTS[:, [1, 5]])
    assert factors.core is None
    np.testing.assert_array_equal(factors.col_factor, factors.col_weights)
    rows = mix(COUNTS, Selection(np.array([1, 5]), None))
    np.testing.assert_array_equal(rows.col_factor, COUNTS[[1, 5]])
    np.testing.assert_array_equal(rows.row_factor, rows.row_weights)
    np.testing.assert_allclose(rows.T.reconstruct(), mix(COUNTS.T, Selection(None, np.array([1, 5]))).reconstruct())


def test_float32_data_gives_float32_factors():
    factors = mix(COUNTS.astype(np.float32), BOTH)
    assert {part.dtype for part in (factors.row_factor, factors.core, factors.col_factor)} == {np.dtype(np.float32)}
    assert factors.relative_error(COUNTS) == pytest.approx(mix(COUNTS, BOTH).relative_error(COUNTS), rel=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_factors_do_not_depend_on_the_scale_of_the_data(scale):
    expected, factors = mix(COUNTS, BOTH), mix(COUNTS * scale, BOTH)
    np.testing.assert_allclose(factors.core / scale, expected.core, rtol=1e-12)
    np.testing.assert_allclose(factors.row_factor, expected.row_factor, rtol=1e-6, atol=1e-9)
    assert factors.relative_error(COUNTS * scale) == pytest.approx(expected.relative_error(COUNTS), rel=1e-9)


def test_zero_rows_and_columns_get_zero_factors_and_no_label():
    X = COUNTS.copy()
    X[5], X[:, 2] = 0, 0
    factors = mix(X, BOTH)
    assert not factors.row_factor[5].any()
    assert not factors.col_factor[:, 2].any()
    assert factors.row_labels[5] == factors.col_labels[2] == -1
    assert (np.delete(factors.row_labels, 5) >= 0).sum() > 30


def test_a_core_with_zero_rows_still_gives_a_falling_finite_fit():
    X = np.diag([1.0, 2.0, 3.0, 4.0])
    factors = mix(X, Selection(np.array([0, 1]), np.array([1, 2])))
    assert np.isfinite(factors.reconstruct()).all()
    assert factors.relative_error(X) <= 1.0


def test_labels_do_not_depend_on_how_the_scale_is_split():
    factor, strengths, split = RANDOM.uniform(size=(20, 3)), RANDOM.uniform(size=3), np.array([1e-3, 1.0, 1e5])
    np.testing.assert_array_equal(factor_labels(factor, strengths), factor_labels(factor * split, strengths / split))
    np.testing.assert_array_equal(factor_labels(np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones(2)), [-1, 0])


def test_planted_factors_are_found_again():
    X, truth = make_coseparable(60, 50, 5, 5, random_state=4)
    factors = mix(X, truth)
    np.testing.assert_allclose(factors.row_weights[truth.row_indices], np.eye(5), atol=1e-9)
    np.testing.assert_allclose(factors.row_weights @ factors.core @ factors.col_weights, X, rtol=1e-7)
    assert factors.relative_error(X) < 1e-8


def test_a_large_sparse_matrix_is_mixed_without_making_it_dense():
    X = scipy.sparse.random_array((3000, 2000), density=0.002, rng=np.random.default_rng(5), format="csr")
    factors = mix(X, Selection(np.array([0, 1]), np.array([0, 1])), max_iter=2)
    assert factors.row_factor.shape == (3000, 2)


@pytest.mark.slow
def test_solving_for_many_weights_makes_no_copies_of_all_of_them():
    """At a high rank each copy of a factor is larger than the data."""
    A, V = np.eye(80), np.zeros((40_000, 80))
    B = RANDOM.uniform(size=V.shape)
    nonnegative(A, B[:2], V[:2], exact=True)  # compiled before anything is measured
    tracemalloc.start()
    solved = nonnegative(A, B, V, exact=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(solved, B)
    assert peak < 2.5 * V.nbytes


@pytest.mark.slow
def test_weights_do_not_depend_on_how_many_rows_are_solved_for_at_a_time(monkeypatch):
    A, M = RANDOM.uniform(size=(12, 5)), RANDOM.uniform(size=(12, 40))
    expected = nonnegative(A, M.T @ A, np.zeros((40, 5)), exact=True)
    monkeypatch.setattr(import_module("cosep.solve.nonnegative"), "PIECE_ENTRIES", 15)
    for V in (np.zeros((40, 5)), np.zeros((5, 40)).T):
        np.testing.assert_array_equal(nonnegative(A, M.T @ A, V, exact=True), expected)
