"""The convex self-dictionary model: the facts derived about it, and the solver against a QP solver."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.kernels.projections import project_dictionary_row
from cosep.solve.fast_gradient import solve_fast_gradient
from cosep.solve.self_dictionary import duality_gap, largest_penalty, scores
from oracles import (
    dictionary_breach,
    qp_dictionary_row,
    qp_self_dictionary,
    self_dictionary_objective,
    sorted_dictionary,
)

fast_gradient = partial(solve_fast_gradient, r=3)
properties = settings(max_examples=60, deadline=None)
seeds = pytest.mark.parametrize("seed", range(5))
any_seed = st.integers(0, 2**32 - 1)


def data(seed, m=6, n=5, density=0.8):
    """Nonnegative data without zero columns, and the sums of its columns."""
    rng = np.random.default_rng(seed)
    M = rng.random((m, n)) * (rng.random((m, n)) < density)
    M[rng.integers(m, size=n), np.arange(n)] += 0.5
    return M, M.sum(axis=0)


def member(w, seed, spread=1.0):
    """A point of the self-dictionary set, on some of its faces."""
    Z = spread * np.random.default_rng(seed + 1).standard_normal((len(w), len(w)))
    return sorted_dictionary(Z, w)


def full(solution):
    Y = np.zeros((len(solution.diagonal), len(solution.diagonal)))
    Y[solution.active] = solution.rows
    return Y


def assert_certified(solution, M, w):
    """Check that objective and gap are those of the returned rows at the returned penalty."""
    objective, gap = duality_gap(M, w, full(solution), solution.penalty)
    assert solution.objective == pytest.approx(objective, rel=1e-12)
    assert solution.gap == pytest.approx(gap, abs=1e-12 * objective)


def best_row(M, w, Y, t, lam):
    """Minimise over row t with the others fixed: one projection."""
    G = M.T @ M
    b = M[:, t] @ (M - M @ Y) + G[t, t] * Y[t]
    b[t] -= lam
    y = np.empty(len(w))
    project_dictionary_row(b / G[t, t], w, t, y)
    return y


# Scores


@seeds
def test_scores_are_what_their_formula_says(seed):
    M, w = data(seed)
    R = M - M @ member(w, seed)
    for t, score in enumerate(scores(M, R, w)):
        r = M[:, t] @ R
        others = sum(w[l] / w[t] * max(0.0, r[l]) for l in range(len(w)) if l != t)
        assert score == pytest.approx(r[t] + others, rel=1e-12, abs=1e-13)


def test_zero_columns_score_zero():
    M, _ = data(0)
    M[:, 2] = 0.0
    s = scores(M, M, M.sum(axis=0))
    assert s[2] == 0.0
    assert np.all(np.delete(s, 2) > 0.0)


# The largest penalty


@seeds
def test_largest_penalty_is_the_largest_weighted_mean_of_a_gram_row(seed):
    M, w = data(seed)
    assert largest_penalty(M, w) == pytest.approx((M.T @ M @ w / w).max(), rel=1e-12)


@seeds
@pytest.mark.parametrize("factor", [1.0, 1.001, 3.0, 1e6])
def test_zero_is_optimal_from_the_largest_penalty_on(seed, factor):
    M, w = data(seed, m=4, n=7)
    lam = factor * largest_penalty(M, w)
    objective, gap = duality_gap(M, w, np.zeros((7, 7)), lam)
    assert objective == pytest.approx(0.5 * np.linalg.norm(M) ** 2)
    assert abs(gap) <= 1e-12 * objective
    assert len(fast_gradient(M, w, penalty=lam * (1 + 1e-9), max_iter=100).active) == 0


@seeds
@pytest.mark.parametrize("factor", [0.99, 0.5, 0.01])
def test_zero_is_not_optimal_below_the_largest_penalty(seed, factor):
    M, w = data(seed, m=4, n=7)
    lam = factor * largest_penalty(M, w)
    at_zero, gap = duality_gap(M, w, np.zeros((7, 7)), lam)
    solution = fast_gradient(M, w, penalty=lam)
    assert len(solution.active) > 0
    assert solution.objective < at_zero
    # What the solver gained was promised by the gap at zero.
    assert gap >= (at_zero - solution.objective) * (1 - 1e-9)


@seeds
def test_a_qp_solver_leaves_zero_just_below_the_largest_penalty_and_not_above(seed):
    M, w = data(seed, m=6, n=4)
    top = largest_penalty(M, w)
    assert np.abs(qp_self_dictionary(M, w, 1.01 * top)).max() <= 1e-9
    assert np.abs(qp_self_dictionary(M, w, 0.99 * top)).max() >= 1e-4


# One row at a time


@seeds
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_the_best_row_given_the_others_is_one_projection(seed, share):
    M, w = data(seed)
    m, n = M.shape
    lam = share * largest_penalty(M, w)
    Y = member(w, seed)
    for t in range(n):
        rest = Y.copy()
        rest[t] = 0.0
        # The least-squares problem of row t, written out: every entry of M - M rest against M_t y.
        A = np.kron(M[:, t : t + 1], np.eye(n))
        b = A.T @ (M - M @ rest).reshape(m * n)
        b[t] -= lam
        np.testing.assert_allclose(best_row(M, w, Y, t, lam), qp_dictionary_row(A.T @ A, b, w, t), atol=1e-8)


@properties
@given(seed=any_seed, share=st.floats(0.0, 1.2))
def test_no_other_row_is_better_than_the_projected_one(seed, share):
    M, w = data(seed)
    lam = share * largest_penalty(M, w)
    Y, other = member(w, seed), member(w, seed + 7)
    for t in range(len(w)):
        chosen, replaced = Y.copy(), Y.copy()
        chosen[t], replaced[t] = best_row(M, w, Y, t, lam), other[t]
        best = self_dictionary_objective(M, chosen, lam)
        assert best <= self_dictionary_objective(M, Y, lam) * (1 + 1e-12)
        assert best <= self_dictionary_objective(M, replaced, lam) * (1 + 1e-12)


@seeds
def test_a_zero_row_is_best_exactly_from_its_score_on(seed):
    M, w = data(seed)
    n_checked = 0
    for t in range(len(w)):
        Y = member(w, seed, spread=0.2)
        Y[t] = 0.0
        score = scores(M, M - M @ Y, w)[t]
        if score > 0.0:
            n_checked += 1
            assert not best_row(M, w, Y, t, score * (1 + 1e-9)).any()
            assert best_row(M, w, Y, t, score * (1 - 1e-6)).any()
        else:
            assert not best_row(M, w, Y, t, 0.0).any()
    assert n_checked > 0


# The duality gap


@properties
@given(seed=any_seed, share=st.floats(0.0, 2.0), m=st.integers(1, 6), n=st.integers(1, 6), spread=st.floats(0.0, 3.0))
def test_duality_gap_is_never_negative(seed, share, m, n, spread):
    M, w = data(seed, m, n)
    lam = share * largest_penalty(M, w)
    Y = member(w, seed, spread)
    objective, gap = duality_gap(M, w, Y, lam)
    assert objective == pytest.approx(self_dictionary_objective(M, Y, lam), rel=1e-12)
    assert gap >= -1e-13 * np.linalg.norm(M) ** 2


@properties
@given(seed=any_seed, share=st.floats(0.0, 2.0), spread=st.floats(0.0, 3.0))
def test_duality_gap_uses_the_best_multiple_of_the_residual_that_is_dual_feasible(seed, share, spread):
    M, w = data(seed)
    lam = share * largest_penalty(M, w)
    Y = member(w, seed, spread)
    R = M - M @ Y
    largest = min(lam / max(scores(M, R, w).max(), 1e-300), 10.0)
    objective, gap = duality_gap(M, w, Y, lam)
    for th in np.linspace(0.0, largest, 11):
        dual = th * np.vdot(M, R) - 0.5 * th**2 * np.vdot(R, R)
        assert objective - gap >= dual - 1e-13 * np.linalg.norm(M) ** 2


@properties
@given(seed=any_seed, share=st.floats(0.001, 1.5), n=st.integers(1, 4), spread=st.floats(0.0, 2.0))
def test_objective_less_the_gap_is_a_lower_bound_on_the_minimum(seed, share, n, spread):
    M, w = data(seed, m=6, n=n)
    lam = share * largest_penalty(M, w)
    minimum = self_dictionary_objective(M, qp_self_dictionary(M, w, lam), lam)
    objective, gap = duality_gap(M, w, member(w, seed, spread), lam)
    assert objective - gap <= minimum * (1 + 1e-9)


@seeds
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
def test_duality_gap_vanishes_at_the_minimiser(seed, share):
    M, w = data(seed)
    lam = share * largest_penalty(M, w)
    # The projection removes the solver's own rounding: the gap holds for feasible points alone.
    Y = sorted_dictionary(qp_self_dictionary(M, w, lam), w)
    objective, gap = duality_gap(M, w, Y, lam)
    assert abs(gap) <= 1e-8 * objective


def test_duality_gap_is_sound_where_the_fit_is_perfect_or_the_data_are_zero():
    M, w = data(0)
    objective, gap = duality_gap(M, w, np.eye(5), 0.0)
    assert objective == gap == 0.0
    objective, gap = duality_gap(np.zeros((3, 4)), np.zeros(4), np.zeros((4, 4)), 1.0)
    assert objective == gap == 0.0


# The solver at a fixed penalty


@seeds
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 1.1])
def test_solution_is_within_its_reported_gap_of_the_minimum(seed, share):
    M, w = data(seed)
    lam = share * largest_penalty(M, w)
    minimum = self_dictionary_objective(M, qp_self_dictionary(M, w, lam), lam)
    for max_iter in (1, 5, 50, 5000):
        solution = fast_gradient(M, w, penalty=lam, tol=1e-6, max_iter=max_iter)
        assert minimum * (1 - 1e-9) <= solution.objective <= minimum * (1 + 1e-9) + solution.gap
    assert solution.relative_gap <= 1e-6
    assert solution.n_iter < 5000


@seeds
def test_solution_is_feasible_and_its_record_agrees_with_itself(seed):
    M, w = data(seed, m=4, n=9)
    lam = 0.05 * largest_penalty(M, w)
    solution = fast_gradient(M, w, penalty=lam)
    Y = full(solution)
    assert dictionary_breach(Y, w) <= 1e-14
    np.testing.assert_array_equal(solution.active, np.flatnonzero(Y.any(axis=1)))
    np.testing.assert_array_equal(solution.diagonal, np.diagonal(Y))
    assert solution.penalty == lam
    assert_certified(solution, M, w)
    assert solution.relative_gap == solution.gap / solution.objective
    assert solution.relative_gap <= 1e-4


@pytest.mark.parametrize("trace", [None, 3.0])
def test_history_holds_objective_trace_and_penalty_of_every_iteration(trace):
    M, w = data(0, m=4, n=9)
    lam = 0.3 * largest_penalty(M, w)
    solution = fast_gradient(M, w, penalty=lam, trace=trace, max_iter=137)
    assert len(solution.history) == solution.n_iter
    assert all(len(entry) == 3 for entry in solution.history)
    values, traces, penalties = np.array(solution.history).T
    assert penalties[0] == lam
    assert traces[-1] == pytest.approx(solution.diagonal.sum(), rel=1e-12)
    misfit = 0.5 * np.linalg.norm(M - M @ full(solution)) ** 2
    assert values[-1] == pytest.approx(misfit + penalties[-1] * traces[-1], rel=1e-12)
    assert (len(set(penalties)) == 1) == (trace is None)


@seeds
def test_zero_columns_keep_zero_rows_and_do_not_disturb_the_others(seed):
    M, w = data(seed, m=4, n=6)
    wide = np.insert(M, [0, 3], 0.0, axis=1)
    kept = np.flatnonzero(wide.any(axis=0))
    lam = 0.05 * largest_penalty(M, w)
    narrow = fast_gradient(M, w, penalty=lam, tol=1e-8, max_iter=20_000)
    solution = fast_gradient(wide, wide.sum(axis=0), penalty=lam, tol=1e-8, max_iter=20_000)
    assert solution.objective == pytest.approx(narrow.objective, rel=2e-8)
    Y = full(solution)
    Y[np.ix_(kept, kept)] = 0.0
    assert not Y.any()


@seeds
def test_only_the_gram_matrix_and_the_weights_of_the_data_matter(seed):
    M, w = data(seed, m=9, n=6)
    lam = 0.1 * largest_penalty(M, w)
    B = np.linalg.qr(M, mode="r")
    assert largest_penalty(B, w) == pytest.approx(largest_penalty(M, w), rel=1e-10)
    one = fast_gradient(M, w, penalty=lam, tol=1e-8, max_iter=20_000)
    other = fast_gradient(B, w, penalty=lam, tol=1e-8, max_iter=20_000)
    assert other.objective == pytest.approx(one.objective, rel=1e-7)


@seeds
def test_unit_of_the_data_does_not_matter(seed):
    M, w = data(seed, m=4, n=7)
    lam = 0.1 * largest_penalty(M, w)
    one = fast_gradient(M, w, penalty=lam, tol=1e-8, max_iter=20_000)
    other = fast_gradient(1e6 * M, 1e6 * w, penalty=1e12 * lam, tol=1e-8, max_iter=20_000)
    assert other.objective == pytest.approx(1e12 * one.objective, rel=2e-8)
    assert other.relative_gap <= 1e-8


def test_inputs_are_left_alone():
    M, w = data(0, m=4, n=7)
    p = np.array([1.0, 0.0, 2.0, np.inf, 1.0, 1.0, 1.0])
    kept = M.copy(), w.copy(), p.copy()
    fast_gradient(M, w, penalty=0.1 * largest_penalty(M, w), trace=2.0, p=p, max_iter=100)
    for array, copy in zip((M, w, p), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


# Prices


@seeds
def test_prices_of_one_are_no_prices(seed):
    M, w = data(seed, m=4, n=7)
    lam = 0.1 * largest_penalty(M, w)
    Y = member(w, seed)
    assert duality_gap(M, w, Y, lam, np.ones(7)) == pytest.approx(duality_gap(M, w, Y, lam), rel=1e-12)
    one = fast_gradient(M, w, penalty=lam, tol=1e-8, max_iter=20_000)
    other = fast_gradient(M, w, penalty=lam, p=np.ones(7), tol=1e-8, max_iter=20_000)
    assert other.objective == pytest.approx(one.objective, rel=2e-8)


@seeds
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_priced_solution_is_within_its_reported_gap_of_the_minimum(seed, share):
    M, w = data(seed)
    lam = share * largest_penalty(M, w)
    p = np.array([0.0, 0.5, 1.0, 2.0, 1.01])
    minimum = self_dictionary_objective(M, qp_self_dictionary(M, w, lam, p), lam, p)
    solution = fast_gradient(M, w, penalty=lam, p=p, tol=1e-7, max_iter=20_000)
    assert solution.objective == pytest.approx(self_dictionary_objective(M, full(solution), lam, p), rel=1e-12)
    assert minimum * (1 - 1e-9) <= solution.objective <= minimum * (1 + 1e-9) + solution.gap
    assert solution.relative_gap <= 1e-7


@properties
@given(seed=any_seed, share=st.floats(0.001, 2.0), spread=st.floats(0.0, 2.0))
def test_priced_gap_is_never_negative_and_bounds_the_minimum(seed, share, spread):
    M, w = data(seed, m=6, n=4)
    lam = share * largest_penalty(M, w)
    p = np.random.default_rng(seed + 3).choice([0.0, 0.5, 1.0, 3.0], 4)
    Y = member(w, seed, spread)
    minimum = self_dictionary_objective(M, qp_self_dictionary(M, w, lam, p), lam, p)
    objective, gap = duality_gap(M, w, Y, lam, p)
    assert objective == pytest.approx(self_dictionary_objective(M, Y, lam, p), rel=1e-12)
    assert gap >= -1e-13 * np.linalg.norm(M) ** 2
    assert objective - gap <= minimum + 1e-9 * objective


@seeds
def test_a_column_without_price_represents_itself_in_full(seed):
    M, w = data(seed)
    lam = 2.0 * largest_penalty(M, w)
    p = np.array([1.0, 0.0, 1.0, 1.0, 1.0])
    solution = fast_gradient(M, w, penalty=lam, p=p)
    np.testing.assert_array_equal(solution.active, [1])
    assert solution.diagonal[1] == 1.0


@seeds
def test_a_column_of_infinite_price_is_never_used_and_the_rest_is_certified(seed):
    M, w = data(seed)
    lam = 0.05 * largest_penalty(M, w)
    p = np.array([1.0, np.inf, 1.0, np.inf, 1.0])
    solution = fast_gradient(M, w, penalty=lam, p=p, tol=1e-7, max_iter=20_000)
    assert not full(solution)[[1, 3]].any()
    # A price above every score has the same effect, in numbers that a QP solver takes.
    finite = np.where(np.isinf(p), 30.0, 1.0)
    minimum = self_dictionary_objective(M, qp_self_dictionary(M, w, lam, finite), lam, finite)
    assert minimum * (1 - 1e-9) <= solution.objective <= minimum * (1 + 1e-9) + solution.gap
    assert solution.relative_gap <= 1e-7


@seeds
def test_columns_without_price_do_not_count_in_the_trace(seed):
    M, w = data(seed, m=4, n=20, density=0.6)
    p = np.ones(20)
    p[[2, 5]] = 0.0
    solution = fast_gradient(M, w, penalty=0.05 * largest_penalty(M, w), trace=2.0, p=p)
    assert p @ solution.diagonal == pytest.approx(2.0, rel=0.02)
    assert np.all(solution.diagonal[[2, 5]] >= 0.99)


# The solver steering the trace


@seeds
@pytest.mark.parametrize("factor", [0.001, 0.05, 0.5, 2.0])
def test_trace_is_steered_to_its_target_from_either_side(seed, factor):
    M, w = data(seed, m=4, n=20, density=0.6)
    top = largest_penalty(M, w)
    solution = fast_gradient(M, w, penalty=factor * top, trace=3.0)
    assert solution.diagonal.sum() == pytest.approx(3.0, rel=0.02)
    assert 0.0 < solution.penalty < top
    assert dictionary_breach(full(solution), w) <= 1e-14
    assert_certified(solution, M, w)


@seeds
def test_penalty_moves_by_a_tenth_at_most_and_always_towards_the_target(seed):
    M, w = data(seed, m=4, n=20, density=0.6)
    history = fast_gradient(M, w, penalty=0.5 * largest_penalty(M, w), trace=3.0).history
    _, traces, penalties = np.array(history).T
    moves = penalties[1:] / penalties[:-1]
    assert np.any(moves < 1.0)
    assert np.all(np.abs(moves - 1.0) <= 0.1 + 1e-12)
    assert np.all(moves[traces[:-1] < 3.0] <= 1.0)
    assert np.all(moves[traces[:-1] > 3.0] >= 1.0)


@pytest.mark.parametrize("factor", [1e-3, 1.001, 1e3, 1e6])
def test_steering_reaches_its_target_from_any_penalty(factor):
    M = np.random.default_rng(0).random((4, 20))
    w = M.sum(axis=0)
    solution = fast_gradient(M, w, penalty=factor * largest_penalty(M, w), trace=3.0)
    assert solution.diagonal.sum() == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize("penalty", [1.0, 10.0])
def test_zero_data_have_the_zero_solution(penalty):
    solution = fast_gradient(np.zeros((3, 4)), np.zeros(4), penalty=penalty)
    assert len(solution.active) == 0
    assert solution.gap == solution.relative_gap == 0.0
