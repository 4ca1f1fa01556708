"""Greedy selection: the best column at every step, by trying them all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Pool, SelectionWarning, greedy
from oracles import greedy_columns, span_error

RANDOM = np.random.default_rng(13)


def test_each_choice_lowers_the_error_most_in_every_kind_of_matrix(kind):
    for shape in ((12, 20), (20, 12)):
        X = RANDOM.gamma(0.5, size=shape) * (RANDOM.uniform(size=shape) < 0.7)
        assert greedy(kind(X), 6).col_indices.tolist() == greedy_columns(X, 6)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), shape=st.tuples(st.integers(2, 15), st.integers(2, 15)))
def test_the_error_falls_and_is_that_of_the_span(seed, shape):
    X = np.random.default_rng(seed).gamma(0.5, size=shape)
    r = min(shape) - 1
    chosen = greedy(X, r)
    assert (np.diff(chosen.history) <= 1e-12).all()
    error = np.sqrt(span_error(X, chosen.col_indices)) / np.linalg.norm(X)
    assert chosen.history[-1] == pytest.approx(error, abs=1e-7)


def test_as_many_columns_as_the_rank_span_the_matrix_and_no_more_are_chosen():
    X = RANDOM.uniform(size=(20, 4)) @ RANDOM.uniform(size=(4, 30))
    with pytest.warns(SelectionWarning, match="Only 4 of the 7"):
        chosen = greedy(X, 7)
    assert span_error(X, chosen.col_indices) < 1e-20 * np.linalg.norm(X) ** 2


def test_of_equal_and_proportional_columns_the_longest_and_first_is_chosen():
    base = RANDOM.uniform(size=(9, 5))
    chosen = greedy(np.hstack([np.zeros((9, 1)), base, 2 * base, 2 * base]), 3).col_indices
    assert set(chosen) <= set(range(6, 11))


def test_a_pool_is_kept_to():
    X = RANDOM.gamma(0.5, size=(12, 30))
    chosen = greedy(X, 4, pool=Pool(candidates=range(5, 20), include=[7]))
    assert chosen.col_indices[0] == 7
    assert set(chosen.col_indices) <= set(range(5, 20))
