"""FGM: how ties are settled, how columns are read off Y, and that all solvers agree."""

import warnings
from functools import partial
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from cosep import Pool, fgm, make_coseparable
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.select.fgm import SOLVERS, choose
from cosep.select.rays import distinct_rays

fast_gradient = import_module("cosep.solve.fast_gradient")
RANDOM = np.random.default_rng(8)
X, TRUTH = make_coseparable(30, 25, 4, 4, random_state=9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("postprocess", ["diagonal", "spa"])
def test_every_solver_and_post_processing_finds_the_planted_columns(solver, postprocess):
    chosen = fgm(X, 4, solver=solver, postprocess=postprocess, tol=1e-2)
    assert set(chosen.col_indices) == set(TRUTH.col_indices)
    assert chosen.gap >= -1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_trace_ends_near_its_target(solver):
    noisy = RANDOM.uniform(size=(10, 20))
    for target in (1.0, 2.0, 3.0):
        chosen = fgm(noisy, 4, solver=solver, trace=target, max_iter=5000)
        assert chosen.history[-1][1] == pytest.approx(target, rel=0.05 if solver == "fast-gradient" else 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_given_penalty_is_kept_and_solved_to_the_gap(solver):
    chosen = fgm(X, 4, solver=solver, penalty=5.0, tol=1e-5, max_iter=20_000)
    assert [penalty for _, _, penalty in chosen.history] == pytest.approx([5.0] * len(chosen.history))
    assert -1e-12 <= chosen.gap <= 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_penalty_above_the_largest_leaves_the_choice_to_spa(solver):
    chosen = fgm(X, 4, solver=solver, penalty=1e9)
    assert set(chosen.col_indices) == set(TRUTH.col_indices)
    assert chosen.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_that_must_be_chosen_are_free_in_the_model(solver):
    pick = partial(fgm, X, 4, solver=solver, penalty=5.0, max_iter=20_000)
    given = pick(pool=Pool(include=TRUTH.col_indices)).history[-1]
    assert given[1] == pytest.approx(0.0, abs=1e-6)
    assert given[0] < pick().history[-1][0]


def test_the_published_start_follows_the_scale_of_the_data():
    w, p = X.sum(axis=0), np.ones(X.shape[1])
    start = fast_gradient.starting_penalty
    assert start(1e3 * X, 1e3 * w, p, 4) == pytest.approx(1e6 * start(X, w, p, 4))


def test_one_ray_has_one_leader_the_longest_then_the_first():
    base = RANDOM.uniform(size=(5, 3))
    data = np.column_stack(
        [base[:, 0], 3 * base[:, 0], np.zeros(5), base[:, 1], base[:, 1], 3 * base[:, 0], base[:, 2]]
    )
    rays = distinct_rays(as_matrix(data), np.ones(7), np.ones(7))
    assert rays.leaders.tolist() == [1, 3, 6]
    assert rays.p.tolist() == [1, 1, 1]
    assert rays.of.tolist() == [0, 0, -1, 1, 1, 0, 2]
    squares = [19 * base[:, 0].sum() ** 2, 2 * base[:, 1].sum() ** 2, base[:, 2].sum() ** 2]
    np.testing.assert_allclose(rays.w**2, squares)
    np.testing.assert_allclose(rays.B.raw / rays.w, base / base.sum(axis=0))


def test_a_ray_is_led_by_the_column_that_must_be_chosen_or_else_by_one_that_may_be():
    base = RANDOM.uniform(size=(5, 2))
    data = np.column_stack([base[:, 0], 3 * base[:, 0], base[:, 1], 3 * base[:, 1]])
    rays = distinct_rays(as_matrix(data), np.array([0.0, 1.0, 1.0, np.inf]), np.ones(4))
    assert rays.leaders.tolist() == [0, 2]
    assert rays.p.tolist() == [0, 1]


def test_equally_long_columns_of_a_ray_are_told_apart_by_the_size_of_the_whole():
    data = np.repeat(RANDOM.uniform(size=(5, 1)), 4, axis=1)
    rays = distinct_rays(as_matrix(data), np.ones(4), np.array([1.0, 5.0, 9.0, 9.0 + 1e-12]))
    assert rays.leaders.tolist() == [2]


def test_merged_columns_keep_the_objective_of_the_whole():
    # Y = 0 costs 1/2 ||M||^2, merged or not.
    data = np.hstack([X, X[:, :5] * 2])
    B = distinct_rays(as_matrix(data), np.ones(data.shape[1]), np.ones(data.shape[1])).B
    assert np.linalg.norm(B.raw) == pytest.approx(np.linalg.norm(data))


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_columns_than_the_trace_supports_are_found_by_raising_it(solver):
    clusters = np.repeat(np.eye(4) + 0.01, 5, axis=1) + 1e-3 * RANDOM.uniform(size=(4, 20))
    choice = choose(as_matrix(clusters), 12, solver=solver, postprocess="diagonal")
    assert len(set(choice.columns.tolist())) == 12


def test_a_matrix_too_wide_for_the_published_solver_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(fast_gradient, "MOST_COLUMNS", 20)
    with pytest.raises(ValueError, match=r"too large for n=25 distinct columns .*newton"):
        fgm(X, 4, solver="fast-gradient")
    assert len(fgm(X, 4, solver="newton").col_indices) == 4


def test_a_whole_sparse_matrix_is_solved_without_a_dense_copy_of_it(monkeypatch):
    wide = scipy.sparse.random_array((300, 20_000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    taken = []
    take = LocalMatrix.take
    monkeypatch.setattr(LocalMatrix, "take", lambda M, *args, **some: taken.append(take(M, *args, **some)) or taken[-1])
    monkeypatch.setattr(LocalMatrix, "gram_root", None)
    chosen = fgm(wide, 4)
    assert chosen.gap <= 1e-4
    assert max(block.size for block in taken) < 0.5 * wide.shape[0] * wide.shape[1]


def test_a_sparse_matrix_and_its_dense_twin_give_the_same_answer():
    sparse = fgm(scipy.sparse.csr_array(X), 4)
    dense = fgm(X, 4)
    assert sparse.col_indices.tolist() == dense.col_indices.tolist()
    assert sparse.history[-1] == pytest.approx(dense.history[-1], rel=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solve_that_ends_early_says_what_it_reached_and_why(solver):
    with pytest.warns(
        ConvergenceWarning, match=r"relative duality gap of \d.* only: it reached max_iter. Raise max_iter"
    ):
        chosen = fgm(RANDOM.uniform(size=(10, 20)), 4, solver=solver, max_iter=1, tol=1e-6)
    assert chosen.gap > 1e-6


def nearly_collinear(eps, seed=0):
    """Return columns that are multiples of one column, but for noise of a small share."""
    random = np.random.default_rng(seed)
    return np.outer(random.uniform(0.2, 1, 12), random.uniform(0.5, 2, 10)) * (
        1 + eps * random.standard_normal((12, 10))
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("seed", range(3))
def test_nearly_collinear_columns_are_solved_or_the_gap_is_said(solver, eps, seed):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        chosen = fgm(nearly_collinear(eps, seed), 3, solver=solver)
    assert chosen.gap <= 1e-3 or any(f"gap of {chosen.gap:.1e} only" in str(warning.message) for warning in said)


@pytest.mark.parametrize("eps", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("trace", [1.5, 3.0])
def test_the_gap_on_nearly_collinear_columns_is_proven_however_large(eps, trace):
    """No other Y of that trace is better than the gap allows."""
    B = nearly_collinear(eps)
    w = B.sum(axis=0)

    def error_of(solution):
        Y = np.zeros((10, 10))
        Y[solution.active] = solution.rows
        Y *= min(1.0, trace / np.trace(Y))
        return 0.5 * float(np.linalg.norm(B - B @ Y)) ** 2

    solution = SOLVERS["newton"](B, w, r=3, trace=trace)
    others = [SOLVERS["newton"](B, w, r=3, penalty=share * solution.penalty, tol=1e-12) for share in (0.3, 1.0, 3.0)]
    assert error_of(solution) - solution.gap <= min(map(error_of, others)) + 1e-15 * float(np.vdot(B, B))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solve_reports_how_far_it_is(solver):
    calls = []
    chosen = fgm(
        RANDOM.uniform(size=(10, 20)), 4, solver=solver, max_iter=5000, callback=lambda *call: calls.append(call)
    )
    assert {(stage, limit) for stage, _, limit, _ in calls} == {("solve", 5000)}
    assert [step for _, step, _, _ in calls] == sorted(step for _, step, _, _ in calls)
    assert calls[-1][3] == pytest.approx(chosen.gap)


def test_thousands_of_duplicates_are_one_atom_each():
    base = np.random.default_rng(1).uniform(size=(6, 5))
    order = np.random.default_rng(2).permutation(5000)
    data = np.repeat(base, 1000, axis=1)[:, order]
    chosen = fgm(data, 5)
    assert chosen.gap <= 1e-4
    assert sorted(order[chosen.col_indices] // 1000) == [0, 1, 2, 3, 4]
    # The first of each group stands for it.
    assert all(t == np.flatnonzero(order // 1000 == order[t] // 1000)[0] for t in chosen.col_indices)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_a_single_nonzero_column_and_all_columns_proportional(form, scale):
    single = np.zeros((4, 7))
    single[1:3, 5] = 2.0, 3.0
    assert fgm(form(scale * single), 1).col_indices.tolist() == [5]
    proportional = np.outer([1.0, 2.0, 0.0], [1.0, 5.0, 0.0, 5.0, 2.0])
    chosen = fgm(form(scale * proportional), 1)
    assert chosen.col_indices.tolist() == [1]
    assert chosen.gap <= 1e-4


def test_an_interrupt_leaves_nothing_broken():
    data = RANDOM.uniform(size=(30, 400))
    before = data.copy()
    expected = fgm(data, 5)

    def interrupt(*_call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fgm(data, 5, callback=interrupt)
    np.testing.assert_array_equal(data, before)
    again = fgm(data, 5)
    assert again.col_indices.tolist() == expected.col_indices.tolist()
    assert again.history == expected.history


def test_trace_and_penalty_exclude_each_other():
    with pytest.raises(ValueError, match=r"trace=2.0 and penalty=1.0 exclude each other"):
        fgm(X, 4, trace=2.0, penalty=1.0)


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_a_penalty_beyond_all_others_lets_nothing_be_chosen_by_the_model(factor):
    choice = fgm(X * factor, 4, penalty=1.7e308)
    assert len(choice.col_indices) == 4
