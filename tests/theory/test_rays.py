"""Extreme rays against brute force and linear programs, their certificates, and their invariances."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosep.datasets import make_coseparable
from cosep.matrix.curtis_reid import curtis_reid
from cosep.matrix.validation import as_matrix
from cosep.theory import cone, extreme_rays, is_separable
from oracles import brute_force_columns, checked_nnls, lp_in_cone

small_counts = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, 4))
)


def in_own_units(X):
    """Scale the rows as the questions do."""
    return np.ldexp(np.asarray(X, dtype=float), curtis_reid(as_matrix(X))[0][:, None])


def assert_certified(X, rays, tol=1e-6):
    """Check that the weights mix to every column and that every column returned is far from the cone of the others."""
    X = in_own_units(X)
    norms = np.linalg.norm(X, axis=0)
    A, weights = X[:, rays.col_indices], rays.weights.toarray()
    assert rays
    assert (weights >= 0).all()
    np.testing.assert_array_equal(weights[:, rays.col_indices], np.eye(len(rays)))
    missing = np.linalg.norm(X - A @ weights, axis=0)
    np.testing.assert_allclose(missing[norms > 0] / norms[norms > 0], rays.residuals[norms > 0], atol=1e-12)
    assert (rays.residuals <= tol).all()
    assert (np.diff(rays.col_indices) > 0).all()
    assert (rays.margins > tol).all()
    for k in range(len(rays) if len(rays) > 1 else 0):
        others = np.delete(A, k, axis=1)
        distance = checked_nnls(others / np.linalg.norm(others, axis=0), A[:, k] / np.linalg.norm(A[:, k]))[1]
        assert rays.margins[k] <= distance * (1 + 1e-6) + 1e-12


@given(small_counts)
@settings(deadline=None, max_examples=60)
def test_the_fewest_columns_and_the_first_of_each_ray_agree_with_brute_force(X):
    rays = extreme_rays(X)
    assert rays.col_indices.tolist() == list(min(brute_force_columns(X)))
    assert_certified(X, rays)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3, 200), (4, 120), (30, 90)])
@pytest.mark.parametrize("seed", range(3))
def test_random_points_agree_with_linear_programs(shape, seed):
    X = np.random.default_rng(seed).integers(0, 30, shape).astype(float)
    rays = extreme_rays(X)
    assert_certified(X, rays)
    extreme = []
    unit = X / X.sum(axis=0)
    for j in range(shape[1]):
        same = np.flatnonzero(np.abs(unit - unit[:, [j]]).max(axis=0) < 1e-12)
        if same[0] == j and not lp_in_cone(np.delete(unit, same, axis=1), unit[:, j]):
            extreme.append(j)
    assert rays.col_indices.tolist() == extreme


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_the_answer_does_not_depend_on_how_many_columns_are_tested_at_a_time(monkeypatch, batch):
    X = np.random.default_rng(0).uniform(size=(4, 150))
    expected = extreme_rays(X).col_indices
    monkeypatch.setattr(cone, "BATCH_SIZE", batch)
    np.testing.assert_array_equal(extreme_rays(X).col_indices, expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(60, 80, 10, 3), (80, 300, 12, 12)])
def test_the_identifiable_columns_of_a_planted_matrix(seed, sizes):
    X, truth = make_coseparable(*sizes, random_state=seed)
    rays = extreme_rays(X)
    assert sorted(rays.col_indices) == sorted(truth.col_indices[truth.col_identifiable])
    rows = extreme_rays(X.T)
    assert sorted(rows.col_indices) == sorted(truth.row_indices[truth.row_identifiable])


@given(small_counts, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_permuting_and_scaling_columns_and_permuting_rows_changes_nothing(X, random):
    rays = extreme_rays(X)
    m, n = X.shape
    rows, cols = random.sample(range(m), m), random.sample(range(n), n)
    factors = np.array([random.choice([1e-120, 1e-6, 1.0, 7.0, 1e25]) for _ in range(n)])
    moved = extreme_rays((X * factors)[rows][:, cols])
    assert len(moved) == len(rays)
    back = is_separable(X, np.array(cols)[moved.col_indices]) if len(moved) else not X.any()
    assert back


def test_the_first_of_the_columns_on_one_ray_is_selected():
    X = np.array([[0.0, 2.0, 1.0, 0.0, 4.0, 3.0], [0.0, 0.0, 1.0, 5.0, 0.0, 3.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    assert extreme_rays(X).col_indices.tolist() == [1, 2, 3]
    assert extreme_rays(X[:, ::-1]).col_indices.tolist() == [0, 1, 2]


def test_columns_that_differ_by_rounding_alone_are_on_one_ray():
    random = np.random.default_rng(0)
    rays = random.uniform(size=(20, 5))
    X = np.repeat(rays, 40, axis=1) * random.uniform(0.1, 10, 200)
    X *= 1 + 1e-15 * random.standard_normal(X.shape)
    assert extreme_rays(X).col_indices.tolist() == [0, 40, 80, 120, 160]


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-8])
def test_noise_far_below_the_tolerance_changes_nothing(noise):
    X, truth = make_coseparable(40, 60, 5, 5, random_state=1)
    noisy = X * (1 + noise * np.random.default_rng(0).standard_normal(X.shape))
    assert sorted(extreme_rays(noisy).col_indices) == sorted(truth.col_indices)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tol", [1e-3, 1e-2, 0.1])
def test_with_noise_every_column_is_a_mixture_within_the_tolerance_and_none_can_be_left_out(seed, tol):
    X, _ = make_coseparable(25, 40, 4, 4, noise=tol / 3, random_state=seed)
    rays = extreme_rays(X, tol=tol)
    assert rays
    assert len(rays) < 40
    assert rays.residual <= tol
    for j in rays.col_indices:
        assert len(rays) == 1 or not is_separable(X, np.setdiff1d(rays.col_indices, [j]), tol=tol)


@pytest.mark.parametrize("seed", range(40))
def test_for_random_points_the_tolerance_is_kept_and_none_can_be_left_out(seed):
    random = np.random.default_rng(seed)
    tol = float(random.choice([0.02, 0.1, 0.4]))
    X = random.uniform(size=(random.integers(2, 6), random.integers(5, 60))) ** random.integers(1, 4)
    rays = extreme_rays(X, tol=tol)
    assert rays
    for j in rays.col_indices:
        assert len(rays) == 1 or not is_separable(X, np.setdiff1d(rays.col_indices, [j]), tol=tol)


@pytest.mark.parametrize("shape", [(120, 700), (700, 600)])
def test_noise_makes_every_column_a_ray(shape):
    """The first batch finds that most columns are rays, and sharper directions prove it of the others."""
    X, _ = make_coseparable(*shape, 5, 5, noise=1e-3, random_state=0)
    rays = extreme_rays(X)
    assert len(rays) == shape[1]
    A = in_own_units(X)
    A /= np.linalg.norm(A, axis=0)
    for k in (0, 300, 599):
        assert 1e-6 < rays.margins[k] <= checked_nnls(np.delete(A, k, axis=1), A[:, k])[1] * (1 + 1e-6)


def test_float32_data_is_tested_to_its_precision_and_has_float32_weights():
    X, truth = make_coseparable(40, 60, 5, 5, random_state=2)
    rays = extreme_rays(X.astype(np.float32))
    assert sorted(rays.col_indices) == sorted(truth.col_indices)
    assert rays.weights.dtype == np.float32


def test_any_kind_of_matrix_gives_the_same_rays(kind):
    X = np.random.default_rng(3).integers(0, 4, (5, 9)).astype(float)
    assert extreme_rays(kind(X)).col_indices.tolist() == extreme_rays(X).col_indices.tolist()


def test_a_sparse_matrix_where_every_column_is_extreme():
    X = scipy.sparse.random_array((300, 150), density=0.05, rng=np.random.default_rng(0), format="csc")
    rays = extreme_rays(X)
    assert_certified(X.toarray(), rays)
    assert len(rays) == int((X.sum(axis=0) > 0).sum())


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.zeros((1, 1))])
def test_a_matrix_of_zeros_has_no_ray_and_zero_residuals(X):
    rays = extreme_rays(X)
    assert rays
    assert len(rays) == 0
    assert rays.weights.shape == (0, X.shape[1])


@pytest.mark.parametrize(("X", "expected"), [([[5.0, 0.0, 1.0]], [0]), ([[0.0], [2.0]], [0]), ([[0.0, 3.0]], [1])])
def test_one_row_or_one_column_has_one_ray(X, expected):
    rays = extreme_rays(X)
    assert rays.col_indices.tolist() == expected
    assert rays.margins.tolist() == [1.0]


def test_progress_ends_at_the_number_of_columns():
    seen = []
    extreme_rays(np.random.default_rng(0).uniform(size=(3, 900)), callback=lambda *report: seen.append(report[:3]))
    assert seen[-1] == ("rays", 900, 900)
    assert sorted(seen) == seen
