"""The small quadratic over a box and a plane."""

import numpy as np
import pytest
import quadprog
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.kernels.box import minimise_in_box

both = pytest.mark.parametrize("kernel", [minimise_in_box, minimise_in_box.py_func], ids=["compiled", "python"])


def problem(seed, n):
    """A definite quadratic, a box around zero with zero on some faces, and prices of zero and one."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    H = A @ A.T + 0.1 * np.eye(n)
    side = rng.integers(0, 3, size=n)
    low, high = -(0.01 + rng.random(n)) * (side != 0), (0.01 + rng.random(n)) * (side != 1)
    return H, 3 * rng.standard_normal(n), low, high, (rng.random(n) < 0.8).astype(float)


def twin(H, g, low, high, a, tied):
    n = len(g)
    constraints = [np.eye(n), -np.eye(n)]
    # A box that touches the plane in one point only is inconsistent in the eyes of the general solver.
    bounds = [low - 1e-10, -high - 1e-10]
    equalities = 0
    if tied and a.any():
        constraints.insert(0, a[None])
        bounds.insert(0, np.zeros(1))
        equalities = 1
    if tied and (a > 0).sum() == 1:
        # One priced entry alone cannot move; the general solver calls its bounds inconsistent with the plane.
        keep = a == 0
        p = np.zeros(n)
        if keep.any():
            p[keep] = twin(H[np.ix_(keep, keep)], g[keep], low[keep], high[keep], a[keep], False)
        return p
    return quadprog.solve_qp(H, -g, np.vstack(constraints).T, np.concatenate(bounds), equalities)[0]


@both
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), tied=st.booleans())
def test_it_agrees_with_a_general_solver(kernel, seed, n, tied):
    H, g, low, high, a = problem(seed, n)
    p = kernel(H, g, low, high, a, tied)
    assert (p >= low - 1e-12).all()
    assert (p <= high + 1e-12).all()
    assert not tied or abs(a @ p) < 1e-9
    np.testing.assert_allclose(p, twin(H, g, low, high, a, tied), atol=1e-7)


@both
def test_a_box_that_is_a_point_stays_there(kernel):
    zero = np.zeros(3)
    np.testing.assert_array_equal(kernel(np.eye(3), np.ones(3), zero, zero, np.ones(3), True), zero)


@both
def test_an_exchange_starts_from_a_corner(kernel):
    # All entries at a bound, none free: only a pair can move.
    p = kernel(np.eye(2), np.array([0.0, -1.0]), np.array([-1.0, 0.0]), np.array([0.0, 1.0]), np.ones(2), True)
    np.testing.assert_allclose(p, [-0.5, 0.5])


@both
def test_an_entry_that_only_rounding_frees_does_not_make_it_cycle(kernel):
    # Nearly dependent entries: without a bar the multipliers of zero size free one another without end.
    rng = np.random.default_rng(0)
    A = rng.random((4, 30))
    H = A.T @ A + 1e-12 * np.eye(30)
    g = -H @ np.where(rng.random(30) < 0.3, rng.random(30), 0.0)
    p = kernel(H, g, np.zeros(30), np.ones(30), np.ones(30), False)
    slope = g + H @ p
    assert np.abs(np.where(p <= 0, np.minimum(slope, 0), np.where(p >= 1, np.maximum(slope, 0), slope))).max() < 1e-6
