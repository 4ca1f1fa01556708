"""Starts: the leading singular triplets, and their nonnegative parts."""

import numpy as np
import pytest

from cosep.matrix.checks import as_matrix
from cosep.nmf.start import leading_triplets, svd_start

RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (5, 5), (1, 7), (7, 1)])
def test_the_triplets_are_those_of_the_singular_value_decomposition(shape, kind):
    X = RANDOM.gamma(0.5, size=shape)
    r = min(3, *shape)
    U, s, V = leading_triplets(as_matrix(kind(X)), r)
    left, values, right = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(s, values[:r], rtol=1e-6)
    np.testing.assert_allclose((U * s) @ V.T, (left[:, :r] * values[:r]) @ right[:r], atol=1e-4 * values[0])
    np.testing.assert_allclose(U.T @ U, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(r), atol=1e-12)


def test_the_start_is_nonnegative_and_exact_for_rank_one():
    X = np.outer(RANDOM.uniform(size=9), RANDOM.uniform(size=6))
    W, H = svd_start(as_matrix(X), 1)
    np.testing.assert_allclose(W @ H, X, rtol=1e-12)
    W, H = svd_start(as_matrix(RANDOM.gamma(0.5, size=(9, 6))), 5)
    assert min(W.min(), H.min()) >= 0
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1))


def test_components_beyond_the_smaller_side_start_at_zero():
    W, H = svd_start(as_matrix(RANDOM.gamma(0.5, size=(9, 2))), 4)
    assert W.shape == (9, 4)
    assert H.shape == (4, 2)
    assert not W[:, 2:].any()
    assert not H[2:].any()
