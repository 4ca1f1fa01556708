"""XRAY: extreme rays one by one, never one twice, and the criterion as it is printed."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Pool, make_coseparable, xray
from oracles import checked_nnls

RANDOM = np.random.default_rng(12)


def residual(X, cols):
    if not len(cols):
        return X
    V = np.array([checked_nnls(X[:, cols], x)[0] for x in X.T])
    return X - X[:, cols] @ V.T


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("criterion", ["dist", "max"])
def test_each_choice_maximises_the_printed_criterion(criterion, form):
    X = RANDOM.gamma(0.5, size=(10, 25))
    order = xray(form(X), 5, criterion=criterion, random_state=4).col_indices
    heights = np.random.RandomState(4).uniform(0.5, 1.5, size=10) @ X
    for k in range(5):
        R = residual(X, order[:k])
        asked = R if criterion == "dist" else R[:, [np.linalg.norm(R, axis=0).argmax()]]
        merits = np.linalg.norm(np.maximum(asked.T @ X, 0), axis=0) / heights
        assert merits[order[k]] == pytest.approx(merits.max(), rel=1e-6)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), criterion=st.sampled_from(["dist", "max"]), noise=st.sampled_from([0.0, 0.1]))
def test_no_column_is_chosen_twice_and_the_error_falls(seed, criterion, noise):
    X, truth = make_coseparable(15, 20, 5, 5, noise=noise, random_state=seed)
    chosen = xray(X, 5, criterion=criterion, random_state=seed)
    assert len(set(chosen.col_indices)) == len(chosen.col_indices)
    assert (np.diff(chosen.history) <= 1e-9).all()
    if noise == 0:
        assert set(chosen.col_indices) == set(truth.col_indices)


def test_a_pool_is_kept_to():
    X = RANDOM.gamma(0.5, size=(12, 30))
    chosen = xray(X, 4, pool=Pool(candidates=range(5, 20), include=[7]))
    assert chosen.col_indices[0] == 7
    assert set(chosen.col_indices) <= set(range(5, 20))
