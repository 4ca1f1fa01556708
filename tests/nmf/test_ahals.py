"""Accelerated HALS: its sweeps, its stationary points, its components."""

import numpy as np
import pytest
from sklearn.decomposition import NMF

from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import _max_sweeps, _revive, _sweep, ahals
from oracles import checked_nnls, hals_sweep

RANDOM = np.random.default_rng(12)
X = RANDOM.poisson(0.7, size=(30, 20)).astype(float)


def test_a_sweep_updates_one_column_after_the_other_from_the_residual():
    W, H = RANDOM.uniform(size=(30, 4)), RANDOM.uniform(size=(4, 20))
    swept = W.copy()
    _sweep(H @ H.T, X @ H.T, swept, 1)
    np.testing.assert_allclose(swept, hals_sweep(X, W, H), rtol=1e-9, atol=1e-12)


def test_sweeps_stop_when_changes_are_small_or_at_the_limit():
    W, H = RANDOM.uniform(size=(30, 4)), RANDOM.uniform(size=(4, 20))
    expected, moves = W, []
    while not moves or moves[-1] >= 0.1 * moves[0]:
        before, expected = expected, hals_sweep(X, expected, H)
        moves.append(np.linalg.norm(expected - before))
    swept = W.copy()
    _sweep(H @ H.T, X @ H.T, swept, 10_000)
    np.testing.assert_allclose(swept, expected, rtol=1e-9, atol=1e-12)
    assert _max_sweeps(as_matrix(np.ones((30, 20))), 4) == 1 + int(np.ceil(0.5 * (600 * 4 + 20 * 16 + 480) / 480))


def test_the_answer_is_stationary_and_its_left_factor_exact():
    fit = ahals(X, 4, tol=0.0, max_iter=3000)
    W, H = fit.row_factor, fit.col_factor
    for i in range(30):
        np.testing.assert_allclose(W[i], checked_nnls(H.T, X[i])[0], atol=1e-7 * W.max())
    gradient = W.T @ (W @ H - X)
    scale = np.abs(W.T @ X).max()
    assert gradient.min() >= -1e-5 * scale
    assert np.abs(gradient * (H > 1e-6)).max() <= 1e-4 * scale


def test_components_sum_to_one_and_are_sorted_by_what_they_explain():
    fit = ahals(X, 4)
    np.testing.assert_allclose(fit.col_factor.sum(axis=1), 1.0)
    strengths = np.linalg.norm(fit.row_factor, axis=0) * np.linalg.norm(fit.col_factor, axis=1)
    assert (np.diff(strengths) <= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_exact_nonnegative_factors_are_found_again(seed):
    random = np.random.default_rng(seed)
    W, H = random.gamma(0.3, size=(40, 4)), random.gamma(0.3, size=(4, 30))
    assert ahals(W @ H, 4, tol=0.0, max_iter=2000).relative_error(W @ H) < 2e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("r", [1, 3, 6])
def test_it_is_no_worse_than_scikit_learn_from_the_same_kind_of_start(r):
    peer = NMF(n_components=r, init="nndsvd", max_iter=2000, tol=1e-6).fit(X)
    assert ahals(X, r).relative_error(X) <= 1.005 * peer.reconstruction_err_ / np.linalg.norm(X)


def test_a_zero_component_restarts_without_changing_the_product():
    V, W = RANDOM.uniform(size=(6, 3)), RANDOM.uniform(size=(5, 3))
    V[:, 1] = 0.0
    before = W @ V.T
    _revive(V, W)
    assert V.any(axis=0).all()
    np.testing.assert_array_equal(W @ V.T, before)


def test_more_components_than_the_smaller_side_explain_everything():
    assert ahals(X[:, :3], 6, tol=0.0, max_iter=300).relative_error(X[:, :3]) < 1e-3


def test_diagonal_blocks_of_equal_size_are_separated():
    blocks = np.kron(np.eye(3), np.ones((4, 3)))
    assert ahals(blocks, 3, tol=0.0).relative_error(blocks) < 1e-6
