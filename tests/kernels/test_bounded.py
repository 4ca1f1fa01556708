"""Bounded least squares, column by column, and the curvature of what is left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from cosep.kernels.bounded import UPPER, add_multiple, bounded_column, bounded_columns

both = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def problem(seed, m=6, a=4, n=7):
    rng = np.random.default_rng(seed)
    C, D = rng.random((m, a)), rng.random((m, n))
    d = rng.random(a) * (rng.random(a) < 0.8)
    return C, D, d, rng.random(n)


def solve(C, D, d, om, *, compiled=True, X=None, state=None):
    kernel = bounded_columns if compiled else bounded_columns.py_func
    n, a = D.shape[1], C.shape[1]
    X = np.zeros((n, a)) if X is None else X.copy()
    state = np.zeros((n, a), np.int8) if state is None else state.copy()
    g, H = np.zeros(a), np.zeros((a, a))
    kernel(C.T @ C, np.ascontiguousarray(D.T @ C), d, om, X, state, g, H)
    return X, state, g, H


def error(C, D, d, om):
    X = solve(C, D, d, om)[0]
    return 0.5 * float(om @ ((D - C @ X.T) ** 2).sum(axis=0))


@both
@pytest.mark.parametrize("seed", range(10))
def test_every_column_is_the_best_bounded_mixture(compiled, seed):
    C, D, d, om = problem(seed)
    X = solve(C, D, d, om, compiled=compiled)[0]
    assert (X >= 0).all()
    assert (d >= X).all()
    free = d > 0
    for l in range(D.shape[1]):
        best = lsq_linear(C[:, free], D[:, l], (0, d[free]), tol=1e-14)
        assert 0.5 * np.linalg.norm(D[:, l] - C @ X[l]) ** 2 <= best.cost + 1e-10


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), a=st.integers(1, 9))
def test_multipliers_have_the_right_sign_even_with_more_atoms_than_dimensions(seed, a):
    C, D, d, om = problem(seed, m=4, a=a)
    X = solve(C, D, d, om)[0]
    v = (D - C @ X.T).T @ C
    assert (v[(X <= 0) & (d > 0)] <= 1e-8).all()
    assert (v[(d <= X) & (d > 0)] >= -1e-8).all()
    assert (np.abs(v[(X > 1e-9) & (d - 1e-9 > X)]) <= 1e-8).all()


@both
@pytest.mark.parametrize("seed", range(6))
def test_gradient_and_hessian_are_the_derivatives_of_the_error(compiled, seed):
    C, D, d, om = problem(seed)
    d = np.maximum(d, 0.05)
    _, _, g, H = solve(C, D, d, om, compiled=compiled)
    h = 1e-5
    for t in range(len(d)):
        step = h * np.eye(len(d))[t]
        slope = (error(C, D, d + step, om) - error(C, D, d - step, om)) / (2 * h)
        assert g[t] == pytest.approx(slope, abs=1e-6)
        bend = (solve(C, D, d + step, om)[2] - solve(C, D, d - step, om)[2]) / (2 * h)
        np.testing.assert_allclose(H[t], bend, atol=1e-4)
    np.testing.assert_array_equal(H, H.T)


def test_an_atom_at_zero_reports_what_growing_it_would_earn():
    C, D, d, om = problem(3)
    d[1] = 0.0
    g = solve(C, D, d, om)[2]
    grown = d.copy()
    grown[1] = 1e-6
    assert g[1] == pytest.approx((error(C, D, grown, om) - error(C, D, d, om)) / 1e-6, rel=1e-3)
    assert g[1] < 0


def test_a_warm_start_gives_the_same_answer():
    C, D, d, om = problem(4)
    X, state, _, _ = solve(C, D, d, om)
    again = solve(C, D, 0.7 * d, om, X=X, state=state)
    cold = solve(C, D, 0.7 * d, om)
    for one, other in zip(again, cold, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


@both
def test_dependent_atoms_do_not_break_it(compiled):
    C, D, d, om = problem(5)
    C = np.hstack([C, C, C[:, :1] + C[:, 1:2]])
    d = np.full(9, 0.1)
    X, _, _, H = solve(C, D, d, om, compiled=compiled)
    assert np.isfinite(X).all()
    assert np.isfinite(H).all()
    for l in range(D.shape[1]):
        best = lsq_linear(C, D[:, l], (0, d), tol=1e-14)
        assert 0.5 * np.linalg.norm(D[:, l] - C @ X[l]) ** 2 <= best.cost + 1e-9


def test_the_pieces_run_as_python_too():
    C, D, d, _ = problem(6)
    d = np.maximum(d, 0.01)
    G, q = C.T @ C, C.T @ D[:, 0]
    L, free = np.zeros((4, 4)), np.arange(4)
    v = q.copy()
    add_multiple.py_func(v, 2.0, d)
    np.testing.assert_allclose(v, q + 2.0 * d)
    answers = []
    for kernel in (bounded_column, bounded_column.py_func):
        x, state = np.zeros(4), np.full(4, UPPER, np.int8)
        kernel(G, q, d, x, state, free.copy(), L, np.zeros(4), np.zeros(4))
        answers.append(x)
    np.testing.assert_allclose(*answers, atol=1e-14)
