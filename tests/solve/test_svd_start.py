"""Starts: the nonnegative parts of the leading singular triplets."""

import numpy as np

from cosep.matrix.validation import as_matrix
from cosep.solve.svd_start import svd_start

RANDOM = np.random.default_rng(11)


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
