"""The component that a row holds most of."""

import numpy as np

from cosep.solve.labels import factor_labels, largest_shares


def test_the_largest_share_counts_strengths_and_the_first_wins_a_tie():
    factor = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 1.0], [0.0, 0.0]])
    held = largest_shares(factor, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(held.labels, [1, 0, 0, -1])
    np.testing.assert_allclose(held.amounts, [4.0, 3.0, 2.0, 0.0])
    np.testing.assert_allclose(held.shares, [0.8, 0.6, 0.5, np.nan])
    np.testing.assert_array_equal(factor_labels(factor, np.array([1.0, 2.0])), held.labels)


def test_rounding_does_not_decide_a_tie():
    near = np.array([[1.0, 1.0 + 1e-12]])
    assert largest_shares(near, np.ones(2)).labels.tolist() == [0]
