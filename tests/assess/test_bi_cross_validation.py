"""Bi-cross-validation: held-out blocks are not seen, and errors follow the formula."""

import numpy as np
import pytest

from cosep import choose_rank, faithful, make_coseparable
from cosep.assess.bi_cross_validation import N_FOLDS, agreement, explained, fitted_core, refitted, split
from cosep.matrix.validation import as_matrix
from oracles import checked_nnls

rng = np.random.default_rng(0)


def test_predictions_of_a_block_do_not_depend_on_it():
    """The selections and weights without a block stay the same if the block changes."""
    X = make_coseparable(40, 30, 3, 3, noise=0.01, random_state=0)[0]
    folds = [split(size, N_FOLDS, 5) for size in X.shape]
    I, J = folds[0][1], folds[1][2]
    changed = X.copy()
    changed[np.ix_(I, J)] = rng.uniform(size=(len(I), len(J)))
    for kept, transposed in ((np.setdiff1d(np.arange(30), J), False), (np.setdiff1d(np.arange(40), I), True)):
        sides = [explained(as_matrix(data), kept, faithful, (3, 4), 0, transposed=transposed) for data in (X, changed)]
        np.testing.assert_array_equal(sides[0][0], sides[1][0])
        np.testing.assert_array_equal(sides[0][1], sides[1][1])


def test_core_is_the_nonnegative_least_squares_fit_outside_the_block():
    X, U, V = rng.uniform(size=(8, 7)), rng.uniform(size=(8, 3)), rng.uniform(size=(7, 2))
    X -= 0.4
    seen = np.ones(X.shape, dtype=bool)
    seen[2:5, 1:4] = False
    C = checked_nnls(np.kron(U, V)[seen.ravel()], X[seen])[0].reshape(3, 2)
    I, J = np.arange(2, 5), np.arange(1, 4)
    target = U.T @ np.where(seen, X, 0.0) @ V
    found = fitted_core(np.ones((3, 2)), (U, V), (U[I], V[J]), target)
    assert (C == 0).any()
    np.testing.assert_allclose(found, C, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_refitted_weights_explain_no_less(seed):
    random = np.random.default_rng(seed)
    X, U, H = random.uniform(size=(12, 9)), random.uniform(size=(12, 3)), random.uniform(size=(3, 9))
    found = refitted(as_matrix(X), U, H)
    assert (found >= 0).all()
    best = np.array([checked_nnls(found, column)[0] for column in X.T]).T
    assert np.linalg.norm(X - found @ best) <= np.linalg.norm(X - U @ H)


def test_refitted_weights_keep_an_exact_fit_and_allow_unused_rows():
    U, H = rng.uniform(size=(12, 3)), rng.uniform(size=(3, 9))
    U[:, 2] = 0.0
    found = refitted(as_matrix(U @ H), U, H)
    np.testing.assert_allclose(found @ H, U @ H, rtol=1e-3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draw", [np.random.Generator.uniform, lambda random, size: random.poisson(2.0, size)])
def test_more_rows_do_not_help_by_averaging_noise(draw, seed):
    noise = draw(np.random.default_rng(seed), size=(60, 50)).astype(float)
    assert choose_rank(noise, range(1, 4)).best == (1, 1)


def test_errors_are_those_of_the_formula():
    X, ranks = make_coseparable(40, 30, 3, 3, noise=0.01, random_state=0)[0], (3, 4)
    seed = int(np.random.RandomState(0).randint(2**31))
    folds = [split(size, N_FOLDS, seed) for size in X.shape]
    errors = []
    for I in folds[0]:
        for J in folds[1]:
            rows, cols = np.setdiff1d(np.arange(40), I), np.setdiff1d(np.arange(30), J)
            _, U = explained(as_matrix(X), cols, faithful, ranks, 0, transposed=False)
            _, V = explained(as_matrix(X), rows, faithful, ranks, 0, transposed=True)
            seen = np.ones(X.shape, dtype=bool)
            seen[np.ix_(I, J)] = False
            C = checked_nnls(np.kron(U, V)[seen.ravel()], X[seen])[0].reshape(ranks)
            hidden = X[np.ix_(I, J)]
            errors.append(np.linalg.norm(hidden - U[I] @ C @ V[J].T) / np.linalg.norm(hidden))
    table = choose_rank(X, [ranks]).table
    np.testing.assert_allclose(table["error"], np.mean(errors), rtol=1e-3)
    np.testing.assert_allclose(table["error_se"], np.std(errors, ddof=1) / 4, rtol=1e-2)


def test_agreement_is_one_for_equal_choices_and_zero_on_average_for_random_ones():
    same = np.array([1, 4, 6])
    assert agreement([same, same[::-1], same], 10) == pytest.approx(1.0)
    by_chance = [agreement([rng.choice(20, 8, replace=False) for _ in range(4)], 20) for _ in range(300)]
    assert abs(np.mean(by_chance)) < 0.03
