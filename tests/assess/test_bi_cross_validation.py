"""Bi-cross-validation: held-out blocks are not seen, and errors follow the formula."""

from functools import partial

import numpy as np
import pytest

from cosep import choose_rank, faithful, make_coseparable
from cosep.assess.bi_cross_validation import (
    N_FOLDS,
    agreement,
    explained,
    fitted_cores,
    of_norm_one,
    ordered,
    refitted,
    split,
)
from cosep.assess.predictions import Prediction, Trial, cosines
from cosep.matrix.validation import as_matrix
from oracles import checked_nnls

rng = np.random.default_rng(0)


def weights_outside(X, fold, size, *, transposed):
    """Return the rows (columns) selected without a fold of columns (rows), and the weights of all rows (columns)."""
    data = as_matrix(X)
    kept = np.setdiff1d(np.arange(X.shape[0 if transposed else 1]), fold)
    part = data.part(kept, np.arange(X.shape[1])).T if transposed else data.part(np.arange(X.shape[0]), kept)
    _, weighted = explained(part, None, partial(ordered, faithful, 8, 0, transposed=transposed), [size])
    return weighted[0]


def test_predictions_of_a_block_do_not_depend_on_it():
    """The selections and weights without a block stay the same if the block changes."""
    X = make_coseparable(40, 30, 3, 3, noise=0.01, random_state=0)[0]
    folds = [split(size, N_FOLDS, 5) for size in X.shape]
    I, J = folds[0][1], folds[1][2]
    changed = X.copy()
    changed[np.ix_(I, J)] = rng.uniform(size=(len(I), len(J)))
    for fold, size, transposed in ((J, 3, False), (I, 4, True)):
        sides = [weights_outside(data, fold, size, transposed=transposed) for data in (X, changed)]
        np.testing.assert_array_equal(sides[0][0], sides[1][0])
        np.testing.assert_array_equal(sides[0][1], sides[1][1])


def test_cores_are_the_nonnegative_least_squares_fits_outside_the_blocks():
    X = rng.uniform(size=(8, 7)) - 0.4
    U, V = of_norm_one(rng.uniform(size=(8, 3)), 3), of_norm_one(rng.uniform(size=(7, 2)), 2)
    blocks, targets, expected = [(np.arange(2, 5), np.arange(1, 4)), (np.arange(3), np.arange(3, 7))], [], []
    for I, J in blocks:
        seen = np.ones(X.shape, dtype=bool)
        seen[np.ix_(I, J)] = False
        expected.append(checked_nnls(np.kron(U, V)[seen.ravel()], X[seen])[0].reshape(3, 2))
        targets.append(U.T @ np.where(seen, X, 0.0) @ V)
    found = fitted_cores([(U, V)] * 2, [(U[I], V[J]) for I, J in blocks], targets)
    assert (np.array(expected) == 0).any()
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_weights_are_padded_with_zeros_and_have_norm_one():
    W = of_norm_one(np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 0.0]]), 3)
    np.testing.assert_allclose(W, [[0.6, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert np.linalg.norm(of_norm_one(rng.uniform(size=(9, 4)), 4), 2) == pytest.approx(1.0)
    assert not of_norm_one(np.zeros((3, 0)), 2).any()


def trial(block, *factors):
    """Return predictions of one block by pairs of factors as trials."""
    found = []
    for W, V in factors:
        prediction = Prediction(W, V, float(np.vdot(block, W @ V.T)), float(np.vdot(block, block)))
        found.append(Trial(np.array([np.linalg.norm(block - W @ V.T) / np.linalg.norm(block)]), 1.0, (prediction,)))
    return found


def test_cosines_are_those_of_the_change_and_what_is_left():
    block = rng.uniform(size=(6, 5))
    pairs = [(rng.uniform(size=(6, r)), rng.uniform(size=(5, r)) / r / 5) for r in (2, 3)]
    few, more = trial(block, *pairs)
    P, Q = (W @ V.T for W, V in pairs)
    expected = np.vdot(Q - P, block - P) / np.linalg.norm(Q - P) / np.linalg.norm(block - P)
    np.testing.assert_allclose(cosines(few, more), [expected])


def test_nothing_is_added_to_an_exact_prediction_or_by_an_equal_one():
    W, V = rng.uniform(size=(6, 2)), rng.uniform(size=(5, 2))
    exact, other = trial(W @ V.T, (W, V), (W[:, :1], V[:, :1]))
    assert cosines(exact, other) == [0.0]
    assert cosines(other, other) == [0.0]
    assert cosines(other, exact) == pytest.approx([1.0])


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
            (_, U), (_, V) = (
                weights_outside(X, fold, size, transposed=transposed)
                for fold, size, transposed in ((J, 3, False), (I, 4, True))
            )
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
