"""The order in which selected columns are left out."""

import numpy as np
import pytest

from cosep.assess.removals import kept_longest
from cosep.matrix.validation import as_matrix
from oracles import checked_nnls

rng = np.random.default_rng(0)


def squared_error(X, cols):
    return sum(checked_nnls(X[:, cols], column)[1] ** 2 for column in X.T)


@pytest.mark.parametrize("seed", range(6))
def test_each_time_the_column_that_is_needed_least_is_left_out(seed):
    """All columns are compared exactly, without the bounds."""
    X = np.random.default_rng(seed).uniform(size=(7, 12)) ** 3
    order = kept_longest(as_matrix(X), np.arange(6))
    assert sorted(order) == list(range(6))
    for size in range(2, 7):
        rivals = [squared_error(X, np.delete(order[:size], k)) for k in range(size)]
        assert rivals[-1] == pytest.approx(min(rivals), rel=1e-9, abs=1e-12)


def test_extreme_columns_are_kept_without_noise():
    corners = rng.uniform(size=(8, 3))
    X = np.hstack([corners @ rng.dirichlet(np.ones(3), 5).T, corners])
    assert set(kept_longest(as_matrix(X), np.array([0, 7, 1, 5, 2, 6]))[:3].tolist()) == {5, 6, 7}


def test_equal_and_zero_columns_are_left_out_first():
    X = np.column_stack([np.eye(4)[:, :2], np.eye(4)[:, 0], np.zeros(4)])
    order = kept_longest(as_matrix(X), np.array([3, 2, 0, 1]))
    assert set(X[:, order[:2]].T.argmax(axis=1).tolist()) == {0, 1}
    assert kept_longest(as_matrix(X), np.array([1])).tolist() == [1]
    assert kept_longest(as_matrix(X), np.zeros(0, np.intp)).tolist() == []
