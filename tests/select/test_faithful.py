"""Faithful selection: the errors it reports, the optimum it comes near, answers that follow the matrix."""

from importlib import import_module
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from cosep import CoSeparableNMF, Pool, Selection, SelectionWarning, faithful, greedy, index_accuracy, make_coseparable
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import CORE_WEIGHT, core_error, explained_by, sum_of_errors
from cosep.select.exchange import Exchanges, products_of, promising, trials_of
from cosep.select.fixed_rows import fixed_rows
from cosep.select.starts import typical
from cosep.solve.pursuit import Positions, all_positions
from oracles import checked_nnls

module = import_module("cosep.select.faithful")


def errors(X, rows, cols):
    """Return the squared relative errors of rows, columns and core, row by row and column by column."""
    rows, cols = list(rows), list(cols)
    U = np.array([checked_nnls(X[rows].T, x)[0] for x in X])
    V = np.array([checked_nnls(X[:, cols], x)[0] for x in X.T])
    left = X - U @ X[rows], X - X[:, cols] @ V.T, X - U @ X[np.ix_(rows, cols)] @ V.T
    return [float((part**2).sum() / (X**2).sum()) for part in left]


def counts(seed, shape=(40, 30)):
    """Return a topic-like matrix of counts with some rows and columns repeated, and some multiples of others."""
    random = np.random.default_rng(seed)
    X = random.poisson(random.gamma(0.4, size=(shape[0], 4)) @ random.gamma(0.3, 3.0, size=(4, shape[1]))).astype(float)
    X[[3, 5]], X[7] = X[1], 2 * X[2]
    X[:, [4, 9]], X[:, 6] = X[:, [0]], 3 * X[:, 2]
    return X


def contents(X, chosen):
    rows, cols = X[chosen.row_indices], X[:, chosen.col_indices].T
    return sorted(map(tuple, rows.tolist())), sorted(map(tuple, cols.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_the_history_holds_the_errors_of_rows_columns_and_core_and_their_sum_falls(seed):
    X = counts(seed)
    chosen = faithful(X, 4, 3)
    np.testing.assert_allclose(np.square(chosen.history[-1]), errors(X, chosen.row_indices, chosen.col_indices))
    sums = (np.array(chosen.history) ** 2).sum(axis=1)
    assert (np.diff(sums) < 0).all()
    assert chosen.n_iter == len(sums) - 1


@pytest.mark.slow
def test_the_choice_is_among_the_best_of_all_choices():
    ranks = []
    for seed in range(6):
        X = np.random.default_rng(seed).gamma(0.5, size=(8, 7))
        chosen = faithful(X, 2, 2)
        mine = sum(errors(X, chosen.row_indices, chosen.col_indices))
        pairs = product(combinations(range(8), 2), combinations(range(7), 2))
        every = sorted(sum(errors(X, *pair)) for pair in pairs)
        ranks.append(np.searchsorted(every, mine * (1 - 1e-9)))
        assert mine <= 1.1 * every[0]
    assert sum(rank == 0 for rank in ranks) >= 4


def test_exchanges_repair_a_bad_first_choice(monkeypatch):
    X = counts(8)
    best = total(faithful(X, 4, 4).history[-1])
    bad = np.arange(10, 14)
    monkeypatch.setattr(module, "first_choices", lambda M, *_: [explained_by(M, bad)])
    sums = [total(errors) for errors in faithful(X, 4, 4).history]
    assert sums[-1] - best < 0.1 * (sums[0] - best)


def total(errors):
    """Return the sum that is minimised."""
    return float(np.square(errors) @ [1.0, 1.0, CORE_WEIGHT])


def test_the_sum_falls_with_every_change():
    for seed in range(10):
        sums = [total(errors) for errors in faithful(counts(seed, (80, 60)), 5, 4).history]
        assert (np.diff(sums) < 0).all()


def test_no_exchange_that_was_solved_last_lowers_the_sum():
    """Each rival that the search tries at the end is judged again by a fit of its own."""
    for seed in range(3):
        X = counts(seed, (40, 30))
        M, found = as_matrix(X), faithful(X, 3, 3)
        rows, cols = explained_by(M.T, found.row_indices), explained_by(M, found.col_indices)
        now = sum_of_errors(M, rows, cols)
        for data, mine, other in ((M, cols, rows), (M.T, rows, cols)):
            pairs = trials_of(promising(data, all_positions(data.shape[1]), mine, fixed_rows(data, other)), 24)
            assert len(pairs) >= 10
            assert {k for k, _ in pairs} == {0, 1, 2}
            for k, j in pairs:
                chosen = mine.chosen.copy()
                chosen[k] = j
                assert sum_of_errors(data, other, explained_by(data, chosen)) > (1 - 1e-6) * now - 1e-9


def test_an_exchange_is_solved_exactly():
    for seed in range(5):
        M = as_matrix(counts(seed, (40, 30)))
        rows, cols = explained_by(M.T, np.array([3, 8, 20])), explained_by(M, np.array([1, 5, 12, 17]))
        fixed = fixed_rows(M, rows)
        trials = [(0, 9), (3, 2)]
        exchanges = Exchanges(M, cols, fixed, products_of(M, trials))
        for (k, j), error, core in zip(trials, *exchanges.errors(trials), strict=True):
            found, found_core = exchanges.choice((k, j))
            again = explained_by(M, found.chosen)
            assert found.chosen[k] == j
            assert error == pytest.approx(again.error, rel=1e-9)
            assert (error, core) == pytest.approx((found.error, found_core), rel=1e-12)
            np.testing.assert_allclose(found.V, again.V, atol=1e-9)
            assert core == pytest.approx(core_error(M, rows, again), rel=1e-9)


def test_the_example_whose_columns_were_poor_is_explained():
    X = np.array(
        [
            [5, 4, 30, 1, 0, 1],
            [0, 0, 1, 1, 0, 0],
            [0, 0, 4, 1, 0, 0],
            [29, 1, 49, 60, 11, 18],
            [0, 3, 17, 6, 5, 3],
            [7, 6, 4, 9, 1, 2],
        ],
        dtype=float,
    )
    errors = np.square(faithful(X, 2, 2).history[-1])
    assert (1 - errors > 0.89).all()


@pytest.mark.parametrize("seed", range(30))
def test_planted_rows_and_columns_are_found_with_a_little_noise_and_explain_everything_without(seed):
    r = 3 + seed % 6
    X, truth = make_coseparable(50 + seed, 40, r, r, random_state=seed)
    model = CoSeparableNMF(r, r).fit(X)
    assert index_accuracy(faithful(X, r, r), truth) == 1.0
    assert min(model.row_fidelity_, model.col_fidelity_, model.core_fidelity_) > 1 - 1e-6
    noisy, truth = make_coseparable(50 + seed, 40, r, r, noise=1e-3, random_state=seed)
    if np.linalg.cond(noisy[np.ix_(truth.row_indices, truth.col_indices)]) < 100:
        selected, M = faithful(noisy, r, r), as_matrix(noisy)
        planted = explained_by(M.T, truth.row_indices), explained_by(M, truth.col_indices)
        # With noise, others may explain the data better than the planted ones.
        assert index_accuracy(selected, truth) == 1.0 or total(selected.history[-1]) < sum_of_errors(M, *planted)


@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([3.0, 0.37, 1e-8, 1e100]))
def test_the_answer_follows_the_matrix(seed, factor):
    X = counts(seed)
    chosen = faithful(X, 4, 3)
    random = np.random.default_rng(seed)
    p, q = random.permutation(len(X)), random.permutation(X.shape[1])
    moved = faithful(X[p][:, q], 4, 3)
    assert contents(X, Selection(p[moved.row_indices], q[moved.col_indices])) == contents(X, chosen)
    scaled, turned = faithful(factor * X, 4, 3), faithful(X.T, 3, 4)
    for other in (scaled, turned.T, faithful(scipy.sparse.csc_array(X), 4, 3)):
        np.testing.assert_array_equal(other.row_indices, chosen.row_indices)
        np.testing.assert_array_equal(other.col_indices, chosen.col_indices)


def test_a_square_matrix_and_its_transpose_agree():
    X = counts(3, (30, 30))
    chosen, turned = faithful(X, 4, 4), faithful(X.T, 4, 4)
    np.testing.assert_array_equal(chosen.row_indices, turned.col_indices)
    np.testing.assert_array_equal(chosen.col_indices, turned.row_indices)


def test_of_proportional_rows_the_longest_is_chosen_and_of_equal_ones_the_first():
    X = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((3, 2)))
    X[4] *= 2
    chosen = faithful(X, 3, 3)
    assert sorted(chosen.row_indices) == [0, 4, 6]
    assert sorted(chosen.col_indices) == [0, 2, 4]


def test_threads_change_nothing():
    X = counts(4, (300, 200))
    with threadpool_limits(1):
        one = faithful(X, 6, 6)
    with threadpool_limits(2):
        two = faithful(X, 6, 6)
    np.testing.assert_array_equal(one.row_indices, two.row_indices)
    np.testing.assert_array_equal(one.col_indices, two.col_indices)


def test_what_must_be_included_comes_first_and_stays():
    X = counts(5)
    chosen = faithful(X, 4, 4, row_pool=Pool(include=[11, 3]), col_pool=Pool(candidates=range(8), include=[4]))
    assert chosen.row_indices[:2].tolist() == [11, 3]
    assert chosen.col_indices[0] == 4
    assert set(chosen.col_indices) <= set(range(8))


def test_a_zero_row_that_must_be_included_is_and_explains_nothing():
    X = counts(6)
    X[0], X[:, 1] = 0.0, 0.0
    with pytest.warns(SelectionWarning, match="1 of the selected rows and 1 of the selected columns are all zero"):
        chosen = faithful(X, 4, 4, row_pool=Pool(include=[0]), col_pool=Pool(include=[1]))
    assert (chosen.row_indices[0], chosen.col_indices[0]) == (0, 1)
    alone = faithful(X, 3, 3)
    assert chosen.history[-1][0] <= alone.history[-1][0] + 1e-9


def test_the_best_comes_first():
    X = np.kron(np.diag([1.0, 9.0, 3.0]), np.ones((3, 2)))
    chosen = faithful(X, 3, 3)
    assert chosen.row_indices.tolist() == [3, 6, 0]
    assert chosen.col_indices.tolist() == [2, 4, 0]


def test_fewer_are_chosen_with_a_warning_where_no_more_are_of_use():
    X = np.kron(np.diag([1.0, 2.0]), np.ones((3, 3)))
    with pytest.warns(SelectionWarning, match=r"Only 2 of the 3 (rows|columns)"):
        chosen = faithful(X, 3, 3)
    assert (len(chosen.row_indices), len(chosen.col_indices)) == (2, 2)


def cone(seed):
    """Return a matrix of rank three whose columns lie on twelve extreme rays."""
    angles = np.arange(12) * np.pi / 6
    corners = np.stack([1 + np.cos(angles), 1 + np.sin(angles), np.ones(12)])
    return np.random.default_rng(seed).random((30, 3)) @ corners


def test_more_than_the_rank_are_chosen_and_rounding_does_not_choose():
    X = cone(0)
    chosen = faithful(X, 3, 8)
    assert len(chosen.col_indices) == 8
    assert chosen.history[-1][1] < faithful(X, 3, 4).history[-1][1]
    for same in (3 * X, 0.37 * X, scipy.sparse.csr_array(X), np.asfortranarray(X)):
        np.testing.assert_array_equal(faithful(same, 3, 8).col_indices, chosen.col_indices)


def test_all_columns_are_chosen_if_all_are_asked_for():
    X = np.random.default_rng(0).random((6, 9))
    chosen = faithful(X, 1, 9)
    assert len(chosen.col_indices) == 9
    assert chosen.history[-1][1] < 1e-6


def test_rows_explain_as_much_as_those_of_greedy_selection():
    ratios = []
    for seed in range(10):
        X = counts(seed, (80, 60))
        ours = explained_by(as_matrix(X).T, faithful(X, 5, 5).row_indices)
        theirs = explained_by(as_matrix(X).T, greedy(X.T, 5).col_indices)
        ratios.append((1 - np.sqrt(ours.error)) / (1 - np.sqrt(theirs.error)))
    assert np.mean(ratios) > 0.98


def test_an_included_column_stands_for_the_topic_that_it_is_most_similar_to():
    X = np.kron(np.diag([5.0, 3.0, 2.0]), np.ones((4, 3))) + np.random.default_rng(0).random((12, 9)) / 10
    M, topics = as_matrix(X), X[:, [0, 3, 6]]
    positions = Positions(np.ones(9, dtype=bool), np.array([4, 1]), np.ones(9))
    chosen = typical(M, 3, positions, topics, M.squared_norms())
    assert chosen.tolist() == [4, 1, 6]


def test_many_weighted_rows_count_as_copies():
    """The number of exchanges that are tried was that of the stored rows, so with fewer of them more were tried."""
    random = np.random.default_rng(10)
    X = random.gamma(0.5, size=(4000, 10)) @ random.gamma(0.3, size=(10, 40)) + random.gamma(0.1, size=(4000, 40))
    weights = random.integers(0, 4, len(X))
    back = np.repeat(np.arange(len(X)), weights)
    weighted, copied = faithful(X, 6, 6, sample_weight=weights), faithful(X[back], 6, 6)
    np.testing.assert_array_equal(back[copied.row_indices], weighted.row_indices)
    np.testing.assert_array_equal(copied.col_indices, weighted.col_indices)
