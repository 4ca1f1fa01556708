"""The certified solver: the same optimum as the published one, proven, from every kind of data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.solve import newton
from cosep.solve.fast_gradient import solve_fast_gradient
from cosep.solve.newton import _meet, solve_newton
from cosep.solve.reduced_model import best_spending
from cosep.solve.self_dictionary import duality_gap, largest_penalty
from oracles import dictionary_breach, qp_self_dictionary

RANDOM = np.random.default_rng(16)


def full(solution):
    Y = np.zeros((len(solution.diagonal), len(solution.diagonal)))
    Y[solution.active] = solution.rows
    return Y


def topics(m=12, n=150, seed=0):
    random = np.random.default_rng(seed)
    words = random.gamma(0.3, size=(m, m))
    counts = random.poisson(100 * (words / words.sum(axis=0)) @ random.dirichlet(np.full(m, 0.1), n).T).astype(float)
    return counts[:, counts.sum(axis=0) > 0]


PROBLEMS = {
    "uniform": RANDOM.random((8, 60)),
    "topics": topics(),
    "planted": RANDOM.random((6, 6)) @ np.hstack([np.eye(6), RANDOM.dirichlet(np.ones(6), 40).T]),
    "noisy": np.maximum(
        RANDOM.random((6, 4)) @ RANDOM.dirichlet(np.ones(4), 50).T + 0.01 * RANDOM.standard_normal((6, 50)), 0
    ),
    "sparse": RANDOM.poisson(0.4, size=(8, 80)) + np.eye(8)[:, RANDOM.integers(0, 8, size=80)],
    "unequal": RANDOM.random((6, 40)) * 10.0 ** RANDOM.uniform(-3, 3, size=40),
}
each_problem = pytest.mark.parametrize("B", PROBLEMS.values(), ids=PROBLEMS)


@each_problem
@pytest.mark.parametrize("share", [0.02, 0.2, 0.7])
def test_a_given_penalty_is_solved_to_its_gap_and_the_gap_holds_in_the_original_model(B, share):
    w = B.sum(axis=0)
    lam = share * largest_penalty(B, w)
    solution = solve_newton(B, w, r=5, penalty=lam, tol=1e-6)
    assert solution.kind == "penalty"
    assert solution.penalty == pytest.approx(lam)
    assert solution.relative_gap <= 1e-6
    Y = full(solution)
    assert dictionary_breach(Y, w) <= 1e-9
    objective, gap = duality_gap(B, w, Y, lam)
    assert objective == pytest.approx(solution.objective, rel=1e-9)
    assert -1e-9 * objective <= gap <= 2e-6 * objective


@each_problem
@pytest.mark.parametrize("trace", [0.3, 1.0, 3.5])
def test_a_given_trace_is_met_and_its_multiplier_is_the_penalty(B, trace):
    w = B.sum(axis=0)
    solution = solve_newton(B, w, r=5, trace=trace, tol=1e-7)
    assert solution.kind == "trace"
    assert solution.diagonal.sum() == pytest.approx(trace, abs=1e-8)
    assert solution.relative_gap <= 1e-7
    assert dictionary_breach(full(solution), w) <= 1e-9
    # No Y does better at this penalty, so none with this trace has a smaller error.
    objective, gap = duality_gap(B, w, full(solution), solution.penalty)
    assert gap <= 1e-5 * objective


@each_problem
def test_it_agrees_with_the_published_solver(B):
    w = B.sum(axis=0)
    lam = 0.2 * largest_penalty(B, w)
    ours = solve_newton(B, w, r=5, penalty=lam, tol=1e-8)
    theirs = solve_fast_gradient(B, w, r=5, penalty=lam, tol=1e-6, max_iter=3000)
    assert ours.objective <= theirs.objective + ours.gap + 1e-12 * theirs.objective
    assert theirs.objective - theirs.gap <= ours.objective * (1 + 1e-9)


DEGENERATE = {
    "rank one": np.outer(RANDOM.random(4) + 0.1, RANDOM.random(9) + 0.1),
    "identity": np.eye(5),
    "low rank": RANDOM.random((20, 3)) @ RANDOM.random((3, 30)),
    "duplicates": np.repeat(RANDOM.random((3, 4)), 8, axis=1),
}


@pytest.mark.parametrize("B", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("share", [0.01, 0.3])
def test_it_agrees_with_the_published_solver_on_degenerate_data(B, share):
    w = B.sum(axis=0)
    lam = share * largest_penalty(B, w)
    ours = solve_newton(B, w, r=3, penalty=lam, tol=1e-8)
    theirs = solve_fast_gradient(B, w, r=3, penalty=lam, tol=1e-6, max_iter=3000)
    assert ours.objective - ours.gap <= theirs.objective + 1e-12 * np.linalg.norm(B) ** 2
    assert theirs.objective - theirs.gap <= ours.objective + 1e-9 * np.linalg.norm(B) ** 2


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 5), share=st.floats(0.05, 0.9))
def test_small_problems_agree_with_a_quadratic_programme(seed, n, share):
    random = np.random.default_rng(seed)
    B = random.random((n + 2, n)) + 0.01
    w = B.sum(axis=0)
    lam = share * largest_penalty(B, w)
    solution = solve_newton(B, w, r=n, penalty=lam, tol=1e-9)
    exact = full_objective(B, qp_self_dictionary(B, w, lam), lam)
    assert solution.objective == pytest.approx(exact, rel=1e-6)


def full_objective(B, Y, lam):
    return 0.5 * np.linalg.norm(B - B @ Y) ** 2 + lam * np.trace(Y)


def test_above_the_largest_penalty_nothing_is_used_and_that_is_proven():
    B = PROBLEMS["uniform"]
    w = B.sum(axis=0)
    for factor in (1.0 + 1e-9, 10.0, 1e9):
        solution = solve_newton(B, w, r=5, penalty=factor * largest_penalty(B, w))
        assert len(solution.active) == 0
        assert abs(solution.relative_gap) <= 1e-9


@pytest.mark.parametrize("trace", [1.0, 2.0, 3.0])
def test_columns_that_are_given_cost_nothing_and_forbidden_ones_are_not_used(trace):
    B = PROBLEMS["topics"]
    w = B.sum(axis=0)
    free = solve_newton(B, w, r=5, trace=trace, tol=1e-6)
    p = np.ones(B.shape[1])
    p[free.active[0]], p[free.active[1]] = np.inf, 0.0
    solution = solve_newton(B, w, r=5, trace=trace, p=p, tol=1e-6)
    assert free.active[0] not in solution.active
    assert solution.diagonal[p == 1].sum() == pytest.approx(trace, abs=1e-8)
    assert solution.relative_gap <= 1e-6
    Y = full(solution)
    objective, gap = duality_gap(B, w, Y, solution.penalty, p)
    assert -1e-9 * objective <= gap <= 1e-4 * objective


def test_a_warm_start_ends_at_the_same_optimum():
    B = PROBLEMS["topics"]
    w = B.sum(axis=0)
    cold = solve_newton(B, w, r=5, trace=4.0, tol=1e-8)
    for start in ((cold.active, cold.diagonal[cold.active]), (np.array([7, 3]), np.array([1.0, 0.2]))):
        warm = solve_newton(B, w, r=5, trace=4.0, tol=1e-8, start=start)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-7)


def test_the_budget_ends_it_with_an_honest_gap():
    B = PROBLEMS["topics"]
    w = B.sum(axis=0)
    solution = solve_newton(B, w, r=5, trace=4.0, tol=1e-12, max_iter=3)
    best = solve_newton(B, w, r=5, trace=4.0, tol=1e-8)
    assert solution.relative_gap > 1e-3
    misfit, least = (0.5 * np.linalg.norm(B - B @ full(s)) ** 2 for s in (solution, best))
    assert misfit - solution.gap <= least * (1 + 1e-8)


@pytest.mark.parametrize(
    "B",
    [
        np.ones((1, 1)),
        RANDOM.random((1, 9)) + 0.1,
        np.outer(RANDOM.random(4) + 0.1, RANDOM.random(9) + 0.1),
        np.repeat(RANDOM.random((3, 2)), 30, axis=1) * (1 + 1e-13 * RANDOM.random((1, 60))),
        np.eye(5),
        RANDOM.random((20, 3)) @ RANDOM.random((3, 40)),
        np.hstack([np.eye(4), np.ones((4, 1)) / 4]) + 1e-12,
    ],
    ids=["one", "row", "rank-one", "duplicates", "identity", "low-rank", "centre"],
)
@pytest.mark.parametrize("trace", [0.1, 1.0])
def test_degenerate_data_end_certified_and_finite(B, trace):
    w = B.sum(axis=0)
    solution = solve_newton(B, w, r=min(3, B.shape[1]), trace=trace, tol=1e-6)
    assert np.isfinite(solution.rows).all()
    assert solution.relative_gap <= 1e-6
    assert solution.n_iter < 1000
    assert dictionary_breach(full(solution), w) <= 1e-9


@each_problem
@pytest.mark.parametrize("share", [1e-12, 1e-3, 0.5, 0.99, 1.0])
def test_every_trace_up_to_the_number_of_columns_ends_certified(B, share):
    w = B.sum(axis=0)
    solution = solve_newton(B, w, r=5, trace=share * B.shape[1], tol=1e-6)
    assert solution.ended in ("tolerance", "rounding")
    assert solution.diagonal.sum() == pytest.approx(share * B.shape[1], rel=1e-8)
    assert dictionary_breach(full(solution), w) <= 1e-9
    assert solution.gap >= -1e-12 * np.linalg.norm(B) ** 2


@each_problem
@pytest.mark.parametrize("share", [0.0, 1e-15, 1e-10, 1e-6])
def test_a_vanishing_penalty_ends_certified_or_says_that_it_does_not(B, share):
    w = B.sum(axis=0)
    lam = share * largest_penalty(B, w)
    solution = solve_newton(B, w, r=5, penalty=lam, tol=1e-6)
    # Weights over twelve decades bend F at every scale; Newton's method then crawls from kink to kink.
    assert solution.ended in ("tolerance", "rounding") or B is PROBLEMS["unequal"]
    assert solution.n_iter <= 1001
    assert np.isfinite(solution.rows).all()
    objective, gap = duality_gap(B, w, full(solution), lam)
    rounding = 1e-12 * np.linalg.norm(B) ** 2
    assert gap >= -rounding
    assert objective - solution.gap <= lam * len(w) + rounding  # what the identity costs


@pytest.mark.parametrize("scale", [1e-120, 1e-3, 1e120])
def test_the_scale_of_the_data_does_not_matter(scale):
    B = PROBLEMS["topics"]
    plain = solve_newton(B, B.sum(axis=0), r=5, trace=4.0, tol=1e-10)
    scaled = solve_newton(scale * B, scale * B.sum(axis=0), r=5, trace=4.0, tol=1e-10)
    np.testing.assert_allclose(scaled.diagonal, plain.diagonal, atol=1e-6)


def test_spending_takes_the_best_and_a_part_of_the_next():
    s, p = np.array([5.0, 1.0, 3.0, 2.0, 9.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    assert best_spending(s, p, 2.5) == (9 + 5 + 3 + 0.5 * 2, 2.0)
    assert best_spending(s, p, 4.0) == (20.0, 0.0)


def test_bounds_meet_the_trace_from_above_and_below():
    price = np.array([1.0, 1.0, 0.0])
    for tau in (0.1, 0.9, 2.0):
        d = _meet(np.array([0.5, 0.25, 1.0]), price, tau)
        assert price @ d == pytest.approx(tau)
        assert d[2] == 1.0
        assert ((d >= 0) & (d <= 1)).all()


def test_a_first_round_on_a_sample_ends_at_the_same_optimum(monkeypatch):
    B = topics(n=400)
    w = B.sum(axis=0)
    whole = solve_newton(B, w, r=5, trace=4.0, tol=1e-8)
    monkeypatch.setattr(newton, "SAMPLE_SIZE", 60)
    sampled = solve_newton(B, w, r=5, trace=4.0, tol=1e-8)
    assert sampled.relative_gap <= 1e-8
    assert sampled.objective == pytest.approx(whole.objective, rel=1e-7)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_rows_returned_have_the_objective_that_is_certified(seed):
    random = np.random.default_rng(seed)
    B = random.gamma(0.5, size=(int(random.integers(2, 8)), int(random.integers(2, 30)))) + 1e-6
    w = B.sum(axis=0)
    lam = random.uniform(0.001, 0.5) * largest_penalty(B, w)
    solution = solve_newton(B, w, r=2, penalty=lam, tol=1e-8)
    assert full_objective(B, full(solution), lam) == pytest.approx(solution.objective, rel=1e-7)
    assert dictionary_breach(full(solution), w) <= 1e-9


@pytest.mark.slow
def test_many_rows_do_not_blunt_the_multipliers():
    random = np.random.default_rng(3)
    B = random.uniform(size=(100_000, 12)) @ random.dirichlet(np.ones(12), 30).T
    solution = solve_newton(B, B.sum(axis=0), r=5, trace=3.0, tol=1e-8)
    assert solution.relative_gap <= 1e-8
