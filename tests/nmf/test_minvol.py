"""Minimum-volume NMF: columns in the simplex, corners of a small volume, planted corners found again."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.nmf.minvol import minvol, simplex_coefficients, simplex_mixtures
from oracles import qp_simplex

RANDOM = np.random.default_rng(13)


def spread(seed, r, purest):
    """Return corners W and mixtures of them, spread over the whole simplex but without any corner itself."""
    random = np.random.default_rng(seed)
    W = random.uniform(size=(20, r))
    H = random.dirichlet(np.full(r, 0.3), size=4000).T
    return W, W @ H[:, H.max(axis=0) < purest][:, :400]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("r", "purest"), [(3, 0.8), (4, 0.75)])
def test_planted_corners_are_found_though_no_column_is_one(seed, r, purest):
    W, X = spread(seed, r, purest)
    fit = minvol(X, r, tol=1e-9, max_iter=2000)
    errors = np.linalg.norm(W[:, :, None] - fit.row_factor[:, None, :], axis=0) / np.linalg.norm(W, axis=0)[:, None]
    pairs = linear_sum_assignment(errors)
    assert errors[pairs].max() < 0.05
    nearest = np.linalg.norm(W[:, :, None] - X[:, None, :], axis=0).min(axis=1) / np.linalg.norm(W, axis=0)
    assert errors[pairs].max() < 0.3 * nearest.max()
    assert fit.relative_error(X) < 5e-3


def test_columns_of_a_separable_matrix_are_its_corners():
    W = RANDOM.uniform(size=(15, 4))
    X = W @ np.hstack([np.eye(4), RANDOM.dirichlet(np.ones(4), size=50).T])
    fit = minvol(X, 4)
    errors = np.linalg.norm(W[:, :, None] - fit.row_factor[:, None, :], axis=0)
    assert errors[linear_sum_assignment(errors)].max() < 1e-2
    assert fit.relative_error(X) < 1e-3


def test_the_weights_lie_in_the_simplex_and_are_a_minimiser():
    X = RANDOM.gamma(0.5, size=(12, 30))
    fit = minvol(X, 3)
    W, H = fit.row_factor, fit.col_factor
    assert H.min() >= 0
    assert H.sum(axis=0).max() <= 1 + 1e-12
    for j in range(30):
        np.testing.assert_allclose(H[:, j], qp_simplex(W.T @ W, W.T @ X[:, j]), atol=1e-8)


def test_the_objective_is_the_error_and_the_weighted_volume():
    X = RANDOM.gamma(0.5, size=(12, 30))
    volumes = []
    for penalty in (0.0, 0.1, 1.0):
        fit = minvol(X, 3, penalty=penalty, tol=0.0, max_iter=100)
        error = 0.5 * fit.relative_error(X) ** 2
        assert fit.meta["objective"][-1] >= error - 1e-12
        assert fit.meta["volume"] > 0
        if penalty == 0:
            assert fit.meta["objective"][-1] == pytest.approx(error, rel=1e-9)
        volumes.append(fit.meta["volume"])
    assert volumes == sorted(volumes, reverse=True)
    free = ahals(X, 3).relative_error(X)
    assert minvol(X, 3, penalty=0.0, tol=0.0).relative_error(X) >= free - 1e-3


def test_the_first_objective_is_that_of_the_start_by_definition():
    X = RANDOM.gamma(0.5, size=(12, 30))
    penalty = 0.3
    first = minvol(X, 3, penalty=penalty, max_iter=1).meta["objective"][0]
    plain = minvol(X, 3, penalty=0.0, max_iter=1).meta["objective"][0]
    assert first == pytest.approx((1 + penalty) * plain, rel=1e-12)


def test_mixtures_do_not_depend_on_the_unit_and_saturate_far_outside():
    corners = np.eye(3)
    rows = np.array([[0.2, 0.3, 0.1], [0.5, 0.5, 0.0]])
    M, huge, tiny = (as_matrix(rows * unit) for unit in (1.0, 2.0**1000, 2.0**-1000))
    np.testing.assert_allclose(simplex_coefficients(M, corners), rows, atol=1e-12)
    np.testing.assert_allclose(simplex_mixtures(M, corners), rows, atol=1e-12)
    np.testing.assert_allclose(simplex_mixtures(huge, corners * 2.0**1000), rows, atol=1e-12)
    np.testing.assert_allclose(simplex_mixtures(huge, corners)[0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(simplex_mixtures(M, 2.0 * corners), rows / 2, atol=1e-12)
    np.testing.assert_allclose(simplex_mixtures(tiny, corners * 2.0**1000), 0.0, atol=1e-12)


def test_weights_of_nearly_proportional_corners_are_exact_and_feasible():
    for seed in range(20):
        random = np.random.default_rng(seed)
        H = random.uniform(size=(4, 6))
        H[3] = 0.4 * H[0] + 10.0 ** -random.uniform(1, 4) * H[3]
        rows = random.gamma(0.5, size=(10, 6))
        U = simplex_coefficients(as_matrix(rows), H)
        assert U.min() >= 0
        assert U.sum(axis=1).max() <= 1 + 1e-12
        for u, row in zip(U, rows, strict=True):
            expected = qp_simplex(H @ H.T, H @ row)
            assert np.linalg.norm(u @ H - row) <= np.linalg.norm(expected @ H - row) + 1e-9


def test_permuting_rows_and_columns_permutes_the_factors():
    X = RANDOM.gamma(0.5, size=(12, 30))
    rows, cols = RANDOM.permutation(12), RANDOM.permutation(30)
    fit, moved = minvol(X, 3, tol=1e-9), minvol(X[rows][:, cols], 3, tol=1e-9)
    np.testing.assert_allclose(moved.row_factor, fit.row_factor[rows], atol=1e-5)
    np.testing.assert_allclose(moved.col_factor, fit.col_factor[:, cols], atol=1e-4)
