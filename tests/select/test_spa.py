"""SPA step by step."""

from itertools import pairwise

import numpy as np
import pytest

from cosep import Pool, make_coseparable, spa

RANDOM = np.random.default_rng(7)


def plain_spa(X, r):
    """Project the whole matrix at every step, as the textbook says."""
    R = X / X.sum(axis=0)
    chosen = []
    for _ in range(r):
        j = int(np.argmax((R**2).sum(axis=0)))
        chosen.append(j)
        u = R[:, j] / np.linalg.norm(R[:, j])
        R = R - np.outer(u, u @ R)
    return chosen


def test_it_agrees_with_the_textbook():
    for _ in range(10):
        X = RANDOM.gamma(0.3, size=(12, 30)) + 1e-6
        assert spa(X, 8).col_indices.tolist() == plain_spa(X, 8)


def test_residuals_fall_from_one():
    history = spa(RANDOM.uniform(size=(12, 30)), 8).history
    assert history[0] == pytest.approx(1.0)
    assert all(a >= b for a, b in pairwise(history))


def test_without_normalisation_the_longest_column_comes_first():
    X = np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])
    assert spa(X, 1, normalize=False).col_indices.tolist() == [2]
    assert spa(X, 2).col_indices.tolist() == [0, 1]


def test_normalised_it_finds_what_it_misses_otherwise():
    found = {True: 0, False: 0}
    for seed in range(30):
        X, truth = make_coseparable(60, 50, 6, 6, random_state=seed)
        for normalize in found:
            chosen = spa(X * 10 ** RANDOM.uniform(-1, 1, size=50), 6, normalize=normalize)
            found[normalize] += set(chosen.col_indices) == set(truth.col_indices)
    assert found[True] == 30
    assert found[False] < 10


def test_it_stops_when_nothing_is_left_and_goes_on_when_asked():
    base = RANDOM.uniform(size=(20, 3)) @ RANDOM.uniform(size=(3, 10))
    noisy = base + 1e-7 * RANDOM.uniform(size=base.shape)
    with pytest.warns(UserWarning, match="Only 3 of the 5 columns asked for"):
        assert len(spa(noisy, 5).col_indices) == 3
    assert len(spa(noisy, 5, tol=0).col_indices) == 5


def test_columns_to_include_come_first_and_count():
    X = RANDOM.uniform(size=(12, 30))
    chosen = spa(X, 4, pool=Pool(include=[9, 2])).col_indices
    assert chosen[:2].tolist() == [9, 2]
    assert len(set(chosen.tolist())) == 4
