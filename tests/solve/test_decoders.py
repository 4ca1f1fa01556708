"""Decoders: optimality, and agreement with scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cosep.fit.panel_sums import moments_in_memory, panel_sums
from cosep.matrix.validation import as_matrix
from cosep.solve.decoders import STRENGTHS, decoder_named, nonnegative_slopes, ridge

RANDOM = np.random.default_rng(3)
PARTS = RANDOM.gamma(2.0, size=(50, 4))
X = np.abs(PARTS @ RANDOM.normal(size=(4, 15)) + 10 + RANDOM.normal(size=(50, 15)))
COLS = np.array([2, 5, 9])
OTHERS = np.setdiff1d(np.arange(15), COLS)
MOMENTS = moments_in_memory(as_matrix(X), COLS, None)
UNIT = (X - X.mean(axis=0)) / X.std(axis=0)


def generalised_cross_validation(strength, j):
    """Return the criterion of scikit-learn's ridge of this strength, slowly."""
    C, y = UNIT[:, COLS], UNIT[:, j]
    left = y - Ridge(strength * 50, fit_intercept=False).fit(C, y).predict(C)
    freedom = 1 + np.trace(C @ np.linalg.solve(C.T @ C + strength * 50 * np.eye(3), C.T))
    return np.mean(left**2) / (1 - freedom / 50) ** 2


def test_moments_are_those_of_numpy():
    np.testing.assert_allclose(MOMENTS.means, X.mean(axis=0))
    np.testing.assert_allclose(MOMENTS.spreads, X.std(axis=0))
    np.testing.assert_allclose(MOMENTS.correlations, np.corrcoef(X.T)[:, COLS], atol=1e-12)
    np.testing.assert_array_equal(MOMENTS.largest, X[:, COLS].max(axis=0))


def test_sums_of_blocks_add_up_to_those_of_all_rows():
    parts = [panel_sums(as_matrix(X[rows]), COLS) for rows in (slice(10), slice(10, 11), slice(11, 50))]
    for found, expected in zip(parts[0].merge(parts[1:]), panel_sums(as_matrix(X), COLS), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_ridge_has_the_smallest_criterion_of_all_strengths_and_its_slopes():
    found = decoder_named("ridge", MOMENTS, COLS, np.zeros((3, 15)))
    for j in OTHERS:
        scores = [generalised_cross_validation(strength, j) for strength in STRENGTHS]
        strength = STRENGTHS[int(np.argmin(scores))]
        assert found.r2[j] == pytest.approx(1 - min(scores), abs=1e-6)
        right = Ridge(strength * 50).fit(UNIT[:, COLS], X[:, j]).predict(UNIT[:, COLS])
        np.testing.assert_allclose(found.predict(X[:, COLS])[:, j], np.maximum(right, 0), rtol=1e-5)


def test_nonnegative_slopes_are_optimal():
    R, T = MOMENTS.correlations[COLS], MOMENTS.correlations[OTHERS]
    B, freedom = nonnegative_slopes(R, T, 50)
    gradient = B @ R - T
    assert (B >= 0).all()
    assert gradient.min() > -1e-8
    assert np.abs(gradient * B).max() < 1e-8
    np.testing.assert_array_equal(freedom, (B > 0).sum(axis=1))


def test_selected_columns_that_are_the_same_share_their_slope():
    twice = np.column_stack([X[:, 2], X[:, 2], X])
    R = np.corrcoef(twice.T)
    once, both = (ridge(R[np.ix_(k, k)], R[5:, k], 50).B for k in ([0], [0, 1]))
    np.testing.assert_allclose(both.sum(axis=1), once[:, 0], rtol=0.02, atol=0.02)
    np.testing.assert_allclose(both[:, 0], both[:, 1], atol=1e-6)


def test_weights_without_an_intercept_have_the_error_that_they_have():
    W = RANDOM.uniform(size=(3, 15))
    found = decoder_named("weights", MOMENTS, COLS, W)
    off = np.sqrt(((X - X[:, COLS] @ W) ** 2).mean(axis=0))
    np.testing.assert_allclose(found.error[OTHERS], off[OTHERS] / (1 - 3 / 50))
    np.testing.assert_array_equal(found.error[COLS], 0)


def test_a_far_constant_does_not_change_errors_and_slopes():
    for shift in (1e3, 1e5):
        far = decoder_named("ridge", moments_in_memory(as_matrix(X + shift), COLS, None), COLS, np.zeros((3, 15)))
        near = decoder_named("ridge", MOMENTS, COLS, np.zeros((3, 15)))
        np.testing.assert_allclose(far.error, near.error, rtol=1e-4)
        np.testing.assert_allclose(far.weights, near.weights, atol=1e-4)
