"""Bi-orthogonal NMF: the updates of the paper, the monotone one among them, and the reported orthogonality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.nmf.biorthogonal import biorthogonal, update_core, update_factor
from oracles import biorthogonal_step

RANDOM = np.random.default_rng(14)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_updates_are_those_of_the_paper(seed):
    random = np.random.default_rng(seed)
    M = random.gamma(0.5, size=(9, 7)) + 1e-3
    F, S, G = (random.uniform(0.1, 1.0, size=shape) for shape in ((9, 3), (3, 2), (7, 2)))
    expected = biorthogonal_step(M, F, S, G)
    G = update_factor(G, M.T @ F @ S)
    F = update_factor(F, M @ G @ S.T)
    S = update_core(S, F.T @ M @ G, F.T @ F, G.T @ G)
    for ours, theirs in zip((F, S, G), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_update_of_the_core_never_raises_the_error(seed):
    random = np.random.default_rng(seed)
    M = random.gamma(0.5, size=(9, 7))
    F, S, G = (random.gamma(0.5, size=shape) for shape in ((9, 3), (3, 2), (7, 2)))
    before = np.linalg.norm(M - F @ S @ G.T)
    for _ in range(5):
        S = update_core(S, F.T @ M @ G, F.T @ F, G.T @ G)
        after = np.linalg.norm(M - F @ S @ G.T)
        assert after <= before * (1 + 1e-12)
        before = after


def test_the_orthogonality_that_is_reported_is_that_of_the_factors():
    X = RANDOM.poisson(0.7, size=(30, 20)).astype(float)
    fit = biorthogonal(X, (4, 3))
    F, G = fit.row_factor, fit.col_factor.T
    expected = max(np.linalg.norm(F.T @ F - np.eye(4)), np.linalg.norm(G.T @ G - np.eye(3)))
    assert fit.meta["orthogonality"] == pytest.approx(expected, rel=1e-9)
    assert fit.core.shape == (4, 3)


def test_planted_blocks_are_explained_by_orthogonal_factors():
    core = np.array([[5.0, 0.0, 1.0], [0.0, 3.0, 2.0], [1.0, 1.0, 0.0]])
    X = np.kron(core, np.ones((6, 4)))
    fit = biorthogonal(X, 3, tol=0.0)
    assert fit.relative_error(X) < 1e-2
    assert fit.meta["orthogonality"] < 0.1
    for labels, size in ((fit.row_labels, 6), (fit.col_labels, 4)):
        blocks = labels.reshape(-1, size)
        assert (blocks == blocks[:, :1]).all()
        assert len(set(blocks[:, 0])) == len(blocks)


def test_there_may_be_more_row_clusters_than_columns():
    X = RANDOM.gamma(0.5, size=(9, 2))
    fit = biorthogonal(X, (4, 2))
    assert fit.core.shape == (4, 2)
    assert np.isfinite(fit.relative_error(X))
