"""The quadratic solvers, compiled and as plain Python, against other solvers and against the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.kernels.projections import project_dictionary, project_orthant
from cosep.kernels.quadratic import (
    fast_gradient,
    orthant_active_set,
    orthant_descent,
    simplex_descent,
    solve_free,
)
from oracles import (
    checked_nnls,
    nonnegative_violation,
    project_simplex,
    qp_dictionary,
    qp_orthant,
    qp_simplex,
    quadratic,
    sorted_dictionary,
    sorted_simplex,
)

properties = settings(max_examples=50, deadline=None)


def compiled_and_python(kernel):
    return pytest.mark.parametrize("kernel", [kernel, kernel.py_func], ids=["compiled", "python"])


each_active_set = compiled_and_python(orthant_active_set)
each_descent = compiled_and_python(orthant_descent)
each_free = compiled_and_python(solve_free)
each_simplex = compiled_and_python(simplex_descent)


# Problems: atoms A and data M, three columns of it, to be explained by the atoms.


def gaussian(rng):
    return rng.standard_normal((9, 5)), rng.standard_normal((9, 3))


def nonnegative(rng):
    return rng.random((9, 5)), rng.random((9, 3))


def single_atom(rng):
    return rng.random((4, 1)), rng.standard_normal((4, 3))


def badly_scaled(rng):
    return rng.random((9, 5)) * np.array([1e-3, 1e3, 1.0, 1e2, 1e-2]), rng.random((9, 3))


def more_atoms_than_dimensions(rng):
    return rng.random((3, 6)), rng.random((3, 3))


def low_rank(rng):
    return rng.random((9, 2)) @ rng.random((2, 5)), rng.random((9, 3))


def duplicate_atoms(rng):
    A = rng.random((9, 3))
    return np.hstack([A, A[:, :2], 2.0 * A[:, 1:2]]), rng.standard_normal((9, 3)) + 0.5


def zero_atoms(rng):
    A = rng.random((9, 5))
    A[:, [0, 3]] = 0.0
    return A, rng.standard_normal((9, 3)) + 0.5


def zero_data(rng):
    return rng.random((9, 5)), np.zeros((9, 3))


INDEPENDENT = [gaussian, nonnegative, single_atom]
DEPENDENT = [more_atoms_than_dimensions, low_rank, duplicate_atoms, zero_atoms]
NONZERO = [*INDEPENDENT, *DEPENDENT, badly_scaled]
ALL = [*NONZERO, zero_data]

each_independent = pytest.mark.parametrize("problem", INDEPENDENT, ids=lambda f: f.__name__)
each_dependent = pytest.mark.parametrize("problem", DEPENDENT, ids=lambda f: f.__name__)
each_nonzero = pytest.mark.parametrize("problem", NONZERO, ids=lambda f: f.__name__)
each_problem = pytest.mark.parametrize("problem", ALL, ids=lambda f: f.__name__)
seeds = pytest.mark.parametrize("seed", range(3))


def build(problem, seed):
    A, M = problem(np.random.default_rng(seed))
    return A, M, A.T @ A, np.ascontiguousarray((A.T @ M).T)


def start_in_orthant(B, seed):
    return np.maximum(np.random.default_rng(seed + 100).standard_normal(B.shape), 0.0)


def start_in_simplex(B, seed):
    return np.random.default_rng(seed + 100).dirichlet(np.ones(B.shape[1] + 1), size=len(B))[:, :-1].copy()


# Optimality, written out here once more and in numpy alone.


def orthant_violation(G, b, v):
    """Largest of what breaks ``v >= 0, g >= 0, v_i g_i = 0`` in the units of g, over the largest linear term."""
    assert np.all(v >= 0.0)
    g = G @ v - b
    worst = np.abs(np.minimum(np.diagonal(G) * v, g)).max()
    return worst / max(np.abs(b).max(), np.finfo(float).tiny) if worst else 0.0


def simplex_violation(G, b, v):
    """Gradient gap between the dearest entry that can give and the cheapest that can take, slack included."""
    assert np.all(v >= 0.0)
    assert v.sum() <= 1.0 + 1e-12
    g = G @ v - b
    giving = [*g[v > 0.0], *([0.0] if v.sum() < 1.0 - 1e-12 else [])]
    worst = max(giving) - min(0.0, g.min())
    return worst / max(np.abs(b).max(), np.finfo(float).tiny) if worst > 0.0 else 0.0


def objectives(G, B, V):
    return np.array([quadratic(G, b, v) for b, v in zip(B, V, strict=True)])


# Cholesky on the free entries


@each_free
def test_solve_free_solves_the_subsystem_and_touches_nothing_else(kernel):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 5))
    G, b = A.T @ A, rng.standard_normal(5)
    free = np.array([4, 0, 2, 99, 99])
    x = np.full(5, 7.0)
    kept = G.copy(), b.copy()
    kernel(G, b, free, 3, np.full((5, 5), np.nan), x)
    chosen = free[:3]
    np.testing.assert_allclose(x[:3], np.linalg.solve(G[np.ix_(chosen, chosen)], b[chosen]), rtol=1e-10)
    np.testing.assert_array_equal(x[3:], [7.0, 7.0])
    np.testing.assert_array_equal(G, kept[0])
    np.testing.assert_array_equal(b, kept[1])


@each_free
def test_solve_free_gives_a_dependent_atom_nothing_and_still_solves(kernel):
    rng = np.random.default_rng(0)
    A = rng.random((8, 2))
    A = np.column_stack([A[:, 0], A[:, 0], A[:, 1], A[:, 0] + A[:, 1], np.zeros(8)])
    G, b = A.T @ A, A.T @ rng.random(8)
    x = np.full(5, np.nan)
    kernel(G, b, np.arange(5), 5, np.zeros((5, 5)), x)
    np.testing.assert_array_equal(x[[1, 3, 4]], 0.0)
    np.testing.assert_allclose(G @ x, b, rtol=1e-10)


@each_free
@pytest.mark.parametrize("seed", range(10))
def test_solve_free_uses_no_more_atoms_than_their_rank(kernel, seed):
    rng = np.random.default_rng(seed)
    A = rng.random((8, 3)) @ rng.random((3, 6))
    G, b = A.T @ A, A.T @ rng.random(8)
    x = np.full(6, np.nan)
    kernel(G, b, np.arange(6), 6, np.zeros((6, 6)), x)
    assert np.count_nonzero(x) == 3
    np.testing.assert_allclose(G @ x, b, rtol=1e-8)


@each_free
def test_solve_free_of_no_entries_does_nothing(kernel):
    x = np.full(2, 7.0)
    kernel(np.eye(2), np.ones(2), np.array([0, 1]), 0, np.zeros((2, 2)), x)
    np.testing.assert_array_equal(x, [7.0, 7.0])


# The residual


# Orthant, active set


@each_active_set
@each_problem
@seeds
def test_active_set_answer_satisfies_the_optimality_conditions(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    for V in (np.zeros_like(B), start_in_orthant(B, seed)):
        kernel(G, B, V)
        assert max(orthant_violation(G, b, v) for b, v in zip(B, V, strict=True)) <= 1e-12


@each_active_set
@each_independent
@seeds
def test_active_set_agrees_with_lawson_and_hanson_and_with_a_qp_solver(kernel, problem, seed):
    A, M, G, B = build(problem, seed)
    V = start_in_orthant(B, seed)
    kernel(G, B, V)
    for k in range(len(B)):
        np.testing.assert_allclose(V[k], checked_nnls(A, M[:, k])[0], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(V[k], qp_orthant(G, B[k]), rtol=1e-7, atol=1e-8)


@each_active_set
@each_problem
@seeds
def test_active_set_is_never_worse_than_its_start(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    start = start_in_orthant(B, seed)
    V = start.copy()
    kernel(G, B, V)
    before = objectives(G, B, start)
    assert np.all(objectives(G, B, V) <= before + 1e-14 * np.abs(before))


@each_active_set
@each_problem
def test_active_set_stays_at_a_solution(kernel, problem):
    _, _, G, B = build(problem, 0)
    V = np.zeros_like(B)
    kernel(G, B, V)
    again = V.copy()
    kernel(G, B, again)
    np.testing.assert_allclose(again, V, rtol=1e-12)


@properties
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 12), m=st.integers(1, 12), grid=st.booleans())
def test_active_set_solves_problems_of_any_shape_and_any_ties(seed, r, m, grid):
    rng = np.random.default_rng(seed)
    # Small whole numbers bring zero atoms, equal atoms and exact dependence.
    A = rng.integers(0, 3, (m, r)).astype(float) if grid else rng.standard_normal((m, r))
    M = rng.integers(-1, 3, (m, 4)).astype(float) if grid else rng.standard_normal((m, 4))
    G, B = A.T @ A, np.ascontiguousarray((A.T @ M).T)
    V = np.zeros_like(B)
    orthant_active_set(G, B, V)
    for b, v in zip(B, V, strict=True):
        # Normal equations cannot be solved to better than their condition number times the rounding unit.
        free = np.flatnonzero(v)
        condition = np.linalg.cond(G[np.ix_(free, free)]) if len(free) else 1.0
        assert orthant_violation(G, b, v) <= 1e-13 + np.finfo(float).eps * condition


# Orthant, coordinate descent


@each_descent
@each_independent
@seeds
def test_coordinate_descent_agrees_with_the_active_set(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    V, exact = start_in_orthant(B, seed), np.zeros_like(B)
    kernel(G, B, V, 1e-12, 10_000)
    orthant_active_set(G, B, exact)
    np.testing.assert_allclose(V, exact, rtol=1e-8, atol=1e-9)


@each_descent
@each_dependent
@seeds
def test_coordinate_descent_reaches_the_minimum_where_the_minimiser_is_not_unique(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    V, exact = start_in_orthant(B, seed), np.zeros_like(B)
    kernel(G, B, V, 1e-9, 10_000)
    orthant_active_set(G, B, exact)
    assert np.all(V >= 0.0)
    np.testing.assert_allclose(objectives(G, B, V), objectives(G, B, exact), rtol=1e-8, atol=1e-12)


@each_descent
@each_problem
@seeds
def test_coordinate_descent_never_rises_and_never_leaves_the_orthant(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    V = start_in_orthant(B, seed)
    before = objectives(G, B, V)
    for _ in range(10):
        assert kernel(G, B, V, 0.0, 1) == 1
        after = objectives(G, B, V)
        assert np.all(V >= 0.0)
        assert np.all(after <= before + 1e-14 * np.abs(before))
        before = after


@each_descent
@each_independent
def test_coordinate_descent_started_at_the_solution_returns_after_one_sweep(kernel, problem):
    _, _, G, B = build(problem, 0)
    V = np.zeros_like(B)
    orthant_active_set(G, B, V)
    exact = V.copy()
    assert kernel(G, B, V, 1e-10, 1000) == 1
    np.testing.assert_allclose(V, exact, rtol=1e-9, atol=1e-10)


@each_descent
def test_coordinate_descent_on_orthogonal_atoms_is_exact_after_the_first_sweep(kernel):
    G, B = np.diag([1e-12, 2.0, 1e12]), np.array([[3e-12, -2.0, 5e12], [-1e-12, 4.0, 0.0]])
    V = np.ones_like(B)
    assert kernel(G, B, V, 1e-12, 1000) == 2
    np.testing.assert_allclose(V, [[3.0, 0.0, 5.0], [0.0, 2.0, 0.0]], rtol=1e-12)


@each_descent
def test_coordinate_descent_reports_the_sweeps_of_its_slowest_problem_within_the_limit(kernel):
    _, _, G, B = build(nonnegative, 0)
    alone = [kernel(G, B[k : k + 1], np.zeros((1, 5)), 1e-10, 10_000) for k in range(3)]
    assert kernel(G, B, np.zeros_like(B), 1e-10, 10_000) == max(alone)
    assert kernel(G, B, np.zeros_like(B), 1e-10, 5) == 5


# Orthant, both


@pytest.mark.parametrize(
    "solve",
    [
        orthant_active_set,
        orthant_active_set.py_func,
        lambda G, B, V: orthant_descent(G, B, V, 1e-12, 1000),
        lambda G, B, V: orthant_descent.py_func(G, B, V, 1e-12, 1000),
    ],
    ids=["active-set", "active-set-python", "descent", "descent-python"],
)
class TestOrthantSolvers:
    def test_leave_the_problem_alone(self, solve):
        _, _, G, B = build(zero_atoms, 0)
        kept = G.copy(), B.copy()
        solve(G, B, np.zeros_like(B))
        np.testing.assert_array_equal(G, kept[0])
        np.testing.assert_array_equal(B, kept[1])

    def test_give_atoms_without_length_no_weight_wherever_they_start(self, solve):
        _, _, G, B = build(zero_atoms, 0)
        V = np.ones_like(B)
        solve(G, B, V)
        np.testing.assert_array_equal(V[:, [0, 3]], 0.0)

    def test_answer_zero_to_a_zero_right_hand_side(self, solve):
        _, _, G, B = build(zero_data, 0)
        V = np.zeros_like(B)
        solve(G, B, V)
        np.testing.assert_array_equal(V, 0.0)

    def test_answer_zero_where_every_linear_term_is_negative(self, solve):
        _, _, G, B = build(nonnegative, 0)
        V = np.ones_like(B)
        solve(G, -B, V)
        np.testing.assert_array_equal(V, 0.0)

    def test_divide_where_there_is_one_atom(self, solve):
        V = np.array([[1.0], [1.0], [0.0]])
        solve(np.array([[4.0]]), np.array([[2.0], [-2.0], [1e-12]]), V)
        np.testing.assert_allclose(V, [[0.5], [0.0], [2.5e-13]], rtol=1e-12)


# Simplex


@each_simplex
@each_nonzero
@seeds
def test_simplex_descent_answer_satisfies_the_optimality_conditions(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    r = B.shape[1]
    for V in (np.zeros_like(B), start_in_simplex(B, seed), np.full_like(B, 1 / r), np.tile(np.eye(r)[0], (3, 1))):
        assert kernel(G, B, V, 1e-8, 50_000) < 50_000
        assert max(simplex_violation(G, b, v) for b, v in zip(B, V, strict=True)) <= 1e-8 + 1e-12


@each_simplex
@each_independent
@seeds
def test_simplex_descent_agrees_with_a_qp_solver(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    V = start_in_simplex(B, seed)
    kernel(G, B, V, 1e-10, 50_000)
    for b, v in zip(B, V, strict=True):
        np.testing.assert_allclose(v, qp_simplex(G, b), atol=1e-7)


@each_simplex
@each_problem
@seeds
def test_simplex_descent_never_rises_and_never_leaves_the_simplex(kernel, problem, seed):
    _, _, G, B = build(problem, seed)
    V = start_in_simplex(B, seed)
    before = objectives(G, B, V)
    for _ in range(10):
        kernel(G, B, V, 0.0, 1)
        after = objectives(G, B, V)
        assert np.all(V >= 0.0)
        assert np.all(V.sum(axis=1) <= 1.0 + 1e-14)
        assert np.all(after <= before + 1e-14 * np.abs(before))
        before = after


@each_simplex
@each_nonzero
def test_simplex_descent_started_at_the_solution_stays_there(kernel, problem):
    _, _, G, B = build(problem, 0)
    V = start_in_simplex(B, 0)
    kernel(G, B, V, 1e-10, 50_000)
    solution = V.copy()
    # At most one step: the sum of the entries may round to a hair below one, which is then given out.
    assert kernel(G, B, V, 1e-9, 50_000) <= 2
    np.testing.assert_allclose(V, solution, rtol=0, atol=1e-14)


@each_simplex
@seeds
def test_simplex_descent_answers_zero_to_a_zero_right_hand_side(kernel, seed):
    _, _, G, B = build(zero_data, seed)
    V = np.zeros_like(B)
    assert kernel(G, B, V, 1e-8, 1000) == 1
    np.testing.assert_array_equal(V, 0.0)
    V = start_in_simplex(B, seed)
    kernel(G, B, V, 1e-8, 1000)
    np.testing.assert_allclose(V, 0.0, atol=1e-12)


@each_simplex
@pytest.mark.parametrize(
    ("G", "b", "expected"),
    [
        ([[4.0]], [2.0], [0.5]),  # inside
        ([[4.0]], [9.0], [1.0]),  # at the bound of the sum
        ([[4.0]], [-1.0], [0.0]),
        ([[1.0, 0.0], [0.0, 1.0]], [2.0, 2.0], [0.5, 0.5]),
        ([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], [1.0, 0.0]),
        ([[1.0, 0.0], [0.0, 0.0]], [0.5, 0.0], [0.5, 0.0]),  # an atom without length
        ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_simplex_descent_of_a_worked_example(kernel, G, b, expected):
    r = len(b)
    for start in (np.zeros(r), np.eye(r)[r - 1], np.full(r, 1 / (r + 1))):
        V = np.array([start])
        kernel(np.array(G), np.array([b]), V, 1e-12, 10_000)
        # Mass on an atom without length costs nothing and may stay.
        np.testing.assert_allclose((V[0] * np.diagonal(G) > 0) * V[0], expected, atol=1e-11)


@each_simplex
def test_simplex_descent_leaves_the_problem_alone_and_keeps_to_its_limit(kernel):
    _, _, G, B = build(nonnegative, 0)
    kept = G.copy(), B.copy()
    assert kernel(G, B, start_in_simplex(B, 0), 1e-10, 3) == 3
    np.testing.assert_array_equal(G, kept[0])
    np.testing.assert_array_equal(B, kept[1])


# The self-dictionary set: the columns of M explain each other, at a price for each one used.


def start_in_dictionary(w, seed):
    return sorted_dictionary(np.random.default_rng(seed + 100).standard_normal((len(w), len(w))), w)


# Fast gradient, over each of the three sets. The columns of Y are the problems; the kernels project rows.


def orthant_setting(seed, problem):
    _, _, G, B = build(problem, seed)
    return G, B.T, project_orthant, lambda Z: np.maximum(Z, 0.0), start_in_orthant(B, seed).T


def simplex_setting(seed, problem):
    _, _, G, B = build(problem, seed)

    def project(Z):
        return project_simplex(Z.T).T

    return G, B.T, project, lambda Z: sorted_simplex(Z.T).T, start_in_simplex(B, seed).T


def dictionary_setting(seed, problem):
    A, _ = problem(np.random.default_rng(seed))
    A = np.abs(A)
    G, w = A.T @ A, A.sum(axis=0)
    C = G - 0.1 * np.trace(G) / len(w) * np.eye(len(w))
    start = start_in_dictionary(w, seed)
    return G, C, lambda Z: project_dictionary(Z, w), lambda Z: sorted_dictionary(Z, w), start


def largest_eigenvalue(G):
    return float(np.linalg.eigvalsh(G)[-1])


def minimise(G, C, project, start, **options):
    return fast_gradient(lambda Y: G @ Y, C, project, start, **{"lipschitz": largest_eigenvalue(G), **options})


each_setting = pytest.mark.parametrize(
    "setting", [orthant_setting, simplex_setting, dictionary_setting], ids=["orthant", "simplex", "dictionary"]
)
each_tame_problem = pytest.mark.parametrize("problem", [*INDEPENDENT, *DEPENDENT], ids=lambda f: f.__name__)


@each_setting
@each_tame_problem
@seeds
def test_fast_gradient_residual_bounds_the_violation_at_its_answer(setting, problem, seed):
    G, C, project, exact_project, start = setting(seed, problem)
    L = largest_eigenvalue(G)
    for stop in ({"max_iter": 7}, {"tol": 1e-6}, {"tol": 1e-6, "lipschitz": 3.0 * L}):
        answer = minimise(G, C, project, start, **stop)
        step = exact_project(answer.Y - (G @ answer.Y - C) / L) - answer.Y
        assert L * np.linalg.norm(step) <= answer.residual * np.linalg.norm(C) * (1 + 1e-9) + 1e-14
        assert answer.residual <= 1e-6 or answer.n_iter == 7


@each_setting
@each_tame_problem
def test_fast_gradient_answer_is_feasible_wherever_it_stops(setting, problem):
    G, C, project, exact_project, start = setting(0, problem)
    for max_iter in (1, 2, 5, 50):
        Y = minimise(G, C, project, start, max_iter=max_iter).Y
        np.testing.assert_allclose(exact_project(Y), Y, rtol=0, atol=1e-14)


@each_setting
@each_tame_problem
@seeds
def test_fast_gradient_is_never_worse_than_its_start_wherever_it_stops(setting, problem, seed):
    G, C, project, _, start = setting(seed, problem)
    before = quadratic(G, C, start)
    for max_iter in range(1, 40):
        after = quadratic(G, C, minimise(G, C, project, start, max_iter=max_iter).Y)
        assert after <= before + 1e-13 * abs(before)


@each_setting
@each_tame_problem
def test_fast_gradient_started_at_the_solution_returns_at_once(setting, problem):
    G, C, project, _, start = setting(0, problem)
    solution = minimise(G, C, project, start, tol=1e-10, max_iter=100_000)
    again = minimise(G, C, project, solution.Y, tol=1e-9)
    assert again.n_iter == 1
    np.testing.assert_allclose(again.Y, solution.Y, rtol=0, atol=1e-8)


@each_independent
@seeds
def test_fast_gradient_over_the_orthant_agrees_with_the_active_set(problem, seed):
    G, C, project, _, start = orthant_setting(seed, problem)
    exact = np.zeros_like(C.T)
    orthant_active_set(G, np.ascontiguousarray(C.T), exact)
    answer = minimise(G, C, project, start, tol=1e-11, max_iter=100_000)
    np.testing.assert_allclose(answer.Y.T, exact, rtol=1e-7, atol=1e-8)


@each_dependent
@seeds
def test_fast_gradient_over_the_simplex_agrees_with_pairwise_descent(problem, seed):
    G, C, project, _, start = simplex_setting(seed, problem)
    V = np.zeros_like(C.T)
    simplex_descent(G, np.ascontiguousarray(C.T), V, 1e-11, 100_000)
    answer = minimise(G, C, project, start, tol=1e-10, max_iter=100_000)
    np.testing.assert_allclose(quadratic(G, C, answer.Y), quadratic(G, C, V.T), rtol=1e-9, atol=1e-12)


@each_independent
@seeds
def test_fast_gradient_over_the_simplex_agrees_with_a_qp_solver(problem, seed):
    G, C, project, _, start = simplex_setting(seed, problem)
    answer = minimise(G, C, project, start, tol=1e-11, max_iter=100_000)
    for k in range(C.shape[1]):
        np.testing.assert_allclose(answer.Y[:, k], qp_simplex(G, C[:, k]), atol=1e-7)


@each_independent
@seeds
def test_fast_gradient_over_the_dictionary_agrees_with_a_qp_solver(problem, seed):
    G, C, project, _, start = dictionary_setting(seed, problem)
    w = np.abs(problem(np.random.default_rng(seed))[0]).sum(axis=0)
    answer = minimise(G, C, project, start, tol=1e-11, max_iter=100_000)
    np.testing.assert_allclose(answer.Y, qp_dictionary(G, C, w), atol=1e-7)


@each_setting
def test_fast_gradient_leaves_its_start_and_its_linear_term_alone(setting):
    G, C, project, _, start = setting(0, nonnegative)
    kept = G.copy(), C.copy(), start.copy()
    minimise(G, C, project, start, max_iter=20)
    for array, copy in zip((G, C, start), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


@each_setting
def test_fast_gradient_of_nothing_stays_where_it_is(setting):
    _, C, project, _, start = setting(0, nonnegative)
    answer = minimise(np.zeros((len(start), len(start))), 0.0 * C, project, start)
    assert answer.n_iter == 1
    assert answer.residual == 0.0
    np.testing.assert_allclose(answer.Y, start, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kernel", [orthant_descent, orthant_descent.py_func], ids=["compiled", "python"])
def test_coordinate_descent_ends_on_its_tolerance_where_atoms_differ_in_length(kernel):
    G, B, V = np.array([[1.0, 9e-4], [9e-4, 1e-6]]), np.array([[1.0, 9.009e-4]]), np.array([[1.0, 0.0]])
    assert kernel(G, B, V, 1e-6, 1000) < 1000
    assert orthant_violation(G, B[0], V[0]) <= 1e-6 + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_coordinate_descent_ends_on_its_tolerance(seed):
    rng = np.random.default_rng(seed)
    A, M = rng.random((9, 6)) * np.logspace(-2, 2, 6)[rng.permutation(6)], rng.random((9, 3))
    G, B = A.T @ A, np.ascontiguousarray((A.T @ M).T)
    for b in B:
        V = np.zeros((1, 6))
        assert orthant_descent(G, b[None], V, 1e-8, 1_000_000) < 1_000_000
        assert orthant_violation(G, b, V[0]) <= 1e-8 + 1e-12


@pytest.mark.parametrize("kernel", [orthant_active_set, orthant_active_set.py_func], ids=["compiled", "python"])
def test_active_set_answer_does_not_keep_the_rounding_of_a_distant_start(kernel):
    V = np.array([[1.0]])
    kernel(np.array([[4.0]]), np.array([[1e-12]]), V)
    np.testing.assert_allclose(V, [[2.5e-13]], rtol=1e-12)


@pytest.mark.parametrize("kernel", [orthant_active_set, orthant_active_set.py_func], ids=["compiled", "python"])
def test_active_set_frees_a_short_atom_beside_a_long_one(kernel):
    V = np.zeros((1, 2))
    kernel(np.diag([1e16, 1e-16]), np.array([[1e8, 1e-8]]), V)
    np.testing.assert_allclose(V, [[1e-8, 1e8]], rtol=1e-12)


def test_simplex_descent_ends_on_a_zero_right_hand_side_wherever_it_starts():
    A = np.random.default_rng(0).random((9, 5))
    V = np.full((1, 5), 0.2)
    assert simplex_descent(A.T @ A, np.zeros((1, 5)), V, 1e-8, 100_000) < 1000


def nearly_dependent(seed):
    """Return a least squares problem with columns that are sums of others but for rounding."""
    random = np.random.default_rng(seed)
    m, r = random.integers(2, 14), random.integers(2, 25)
    base = random.integers(0, 3, (m, max(1, r // 2))).astype(float)
    A = np.hstack([base, base @ random.integers(0, 2, (base.shape[1], r - base.shape[1]))])
    A *= 1 + random.choice([0, 1e-16, 1e-14, 1e-10]) * random.standard_normal(A.shape)
    A *= 10.0 ** random.uniform(-random.choice([0, 3, 10]), 0, A.shape[1])
    b = A @ np.maximum(random.standard_normal(A.shape[1]), 0)
    return A, b + random.choice([0, 1e-12, 1]) * random.standard_normal(m)


@pytest.mark.parametrize("seed", [1543, 9055, 15213, 16824, 47318, 56398])
def test_nearly_dependent_columns_where_scipy_is_wrong(seed):
    A, b = nearly_dependent(seed)
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    V = np.zeros((1, A.shape[1]))
    orthant_active_set((A / norms).T @ (A / norms), (b @ (A / norms))[None], V)
    assert nonnegative_violation(A, b, V[0] / norms) <= 1e-9
    assert nonnegative_violation(A, b, checked_nnls(A, b)[0]) <= 1e-9


@pytest.mark.parametrize("wrong", [np.zeros(2), np.array([2.0, 1.0]), np.array([-1.0, 2.0])])
def test_a_wrong_answer_is_not_taken_for_the_expected_one(monkeypatch, wrong):
    A, b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0, 2.0])
    monkeypatch.setattr("scipy.optimize.nnls", lambda *_, **__: (wrong, 0.0))
    np.testing.assert_allclose(checked_nnls(A, b)[0], [1.0, 1.0])
