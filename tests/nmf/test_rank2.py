"""Rank-two NMF: two variables in closed form, and matrices of rank two exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.nmf.ahals import ahals
from cosep.nmf.rank2 import rank2, two_variables
from oracles import checked_nnls

RANDOM = np.random.default_rng(16)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), closeness=st.floats(0, 4), decades=st.floats(0, 40))
def test_two_variables_are_the_nonnegative_least_squares_solution(seed, closeness, decades):
    random = np.random.default_rng(seed)
    A = random.normal(size=(5, 2))
    A[:, 1] = A[:, 0] + 10.0**-closeness * A[:, 1]
    M = random.normal(size=(5, 8))
    scales = 10.0 ** random.uniform(-decades, decades, size=2)
    found = two_variables(A.T @ A * np.outer(scales, scales), M.T @ A * scales) * scales
    for v, m in zip(found, M.T, strict=True):
        np.testing.assert_allclose(A @ v, A @ checked_nnls(A, m)[0], atol=1e-6)


def test_columns_that_are_equal_or_zero_have_an_answer_too():
    a = RANDOM.uniform(size=5)
    for A in (np.column_stack([a, a]), np.column_stack([a, 0 * a]), np.zeros((5, 2))):
        M = RANDOM.uniform(size=(5, 4))
        found = two_variables(A.T @ A, M.T @ A)
        for v, m in zip(found, M.T, strict=True):
            np.testing.assert_allclose(A @ v, A @ checked_nnls(A, m)[0], atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), concentration=st.sampled_from([0.2, 1.0, 5.0]))
def test_a_nonnegative_matrix_of_rank_two_is_explained_exactly(seed, concentration):
    random = np.random.default_rng(seed)
    m, n = random.integers(1, 30, size=2)
    X = random.gamma(concentration, size=(m, 2)) @ random.gamma(concentration, size=(2, n))
    if X.any():
        assert rank2(X).relative_error(X) < 1e-6


def test_a_matrix_of_rank_one_leaves_the_second_component_empty():
    X = np.outer(RANDOM.uniform(size=6), RANDOM.uniform(size=4))
    fit = rank2(X)
    assert fit.relative_error(X) < 1e-7
    assert fit.row_factor.shape == (6, 2)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_no_worse_than_the_general_algorithm(seed):
    X = np.random.default_rng(seed).poisson(0.7, size=(40, 30)).astype(float)
    assert rank2(X).relative_error(X) <= ahals(X, 2).relative_error(X) + 1e-3
