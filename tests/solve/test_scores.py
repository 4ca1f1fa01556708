"""Scores: exact where they matter, upper bounds elsewhere."""

import numpy as np
import pytest
import scipy.sparse

from cosep.matrix.local import LocalMatrix
from cosep.solve.scores import Scores

RANDOM = np.random.default_rng(9)
C = RANDOM.random((7, 300)) * (RANDOM.random((7, 300)) < 0.6)
OM = RANDOM.random(300)


def exact(A, R):
    return (OM * np.maximum(A.T @ R, 0.0)).sum(axis=1)


def blocks(R):
    return [(slice(0, 100), R[:, :100]), (slice(100, 300), R[:, 100:])]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.2])
@pytest.mark.parametrize("signed", [False, True])
def test_they_are_exact_above_the_bar_and_bounds_below(share, signed):
    A = C - 0.3 if signed else C
    scores = Scores(LocalMatrix(A), OM)
    R = RANDOM.standard_normal((7, 300))
    for change in (0.0, 0.5, 0.01, 1e-6):
        R = R + change * RANDOM.standard_normal(R.shape)
        true = exact(A, R)
        bar = np.full(300, share * true.max())
        found = scores.at(blocks(R), bar)
        assert (found >= true - 1e-12 * true.max()).all()
        np.testing.assert_allclose(found[true > bar], true[true > bar], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_single_precision_has_room_for_every_scale(scale):
    R = scale * RANDOM.standard_normal((7, 300))
    true = exact(C, R)
    found = Scores(LocalMatrix(C), OM).at(blocks(R), np.full(300, 0.5 * true.max()))
    assert (found >= true * (1 - 1e-12)).all()
    np.testing.assert_allclose(found[true > 0.5 * true.max()], true[true > 0.5 * true.max()], rtol=1e-12)


def test_a_sparse_matrix_has_the_same_scores():
    R = RANDOM.standard_normal((7, 300))
    found = Scores(LocalMatrix(scipy.sparse.csc_array(C)), OM).at(blocks(R), np.zeros(300))
    np.testing.assert_allclose(found, exact(C, R))


def test_no_residual_no_score():
    assert not Scores(LocalMatrix(C), OM).at(blocks(np.zeros((7, 300))), np.zeros(300)).any()
