"""The projections, compiled and as plain Python, against exact sorting, a QP solver and their own definition."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cosep.kernels.projections import project_dictionary, project_dictionary_row, project_orthant
from oracles import (
    dictionary_breach,
    qp_dictionary_row,
    qp_orthant,
    sorted_dictionary,
    sorted_dictionary_row,
)

EPS = np.finfo(float).eps
SMALLEST = np.finfo(float).smallest_subnormal
properties = settings(max_examples=60, deadline=None)


def compiled_and_python(name, kernel):
    return pytest.mark.parametrize(name, [kernel, kernel.py_func], ids=["compiled", "python"])


each_orthant = compiled_and_python("project", project_orthant)
each_row = compiled_and_python("project_row", project_dictionary_row)
each_dictionary = compiled_and_python("project", project_dictionary)

# Steps of 1/8 make ties frequent and exact.
ordinary = st.one_of(st.floats(-4.0, 4.0), st.integers(-16, 16).map(lambda k: k / 8))
extreme = st.one_of(ordinary, st.sampled_from([0.0, 1e-12, -1e-12, 1e12, -1e12]))
weight = st.one_of(st.just(0.0), st.floats(0.1, 10.0), st.sampled_from([0.5, 1.0, 2.0]))


def vectors(entries, min_size=1, max_size=6):
    return st.lists(entries, min_size=min_size, max_size=max_size).map(np.array)


@st.composite
def rows(draw, entries=ordinary, weights=weight, max_size=6):
    """A row, its weights, in any common unit, and the place of its diagonal entry."""
    z = draw(vectors(entries, max_size=max_size))
    unit = draw(st.sampled_from([1e-12, 1.0, 1e12]))
    w = unit * draw(vectors(weights, min_size=len(z), max_size=len(z)))
    return z, w, draw(st.integers(0, len(z) - 1))


@st.composite
def members(draw, w, t):
    """A point of the set of row t: any diagonal entry, then any share of what it allows."""
    n = len(w)
    share = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.0, 1.0))
    if w[t] == 0.0:
        return np.zeros(n)
    d = draw(share)
    x = d * w / w[t] * draw(vectors(share, min_size=n, max_size=n))
    x[t] = d
    return x


def row(project_row, z, w, t):
    y = np.full(len(z), np.nan)
    project_row(z, w, t, y)
    return y


def assert_as_exact(y, z, w, t):
    """Compare with the exact answer: ten digits, or what rounding the terms of the equation for d leaves of them."""
    exact = sorted_dictionary_row(z, w, t)
    if w[t] == 0.0:
        assert not y.any()
        return
    c = w / w[t]
    above = (np.arange(len(z)) != t) & (z > c * exact[t])
    terms = (abs(z[t]) + float(c[above] @ z[above])) / (1.0 + float(c[above] @ c[above]))
    share = np.where(np.arange(len(z)) == t, 1.0, c)
    # Newton stops where its step rounds to zero. There the slope is at most 1 + c'c, up to the root at least 1: so many
    # subnormal numbers can be missing. An entry is rounded to one of them once more.
    missing = SMALLEST * (1.0 + (1.0 + float(c @ c)) * share)
    assert np.all(np.abs(y - exact) <= 1e-10 * exact + 16 * EPS * terms * share + missing)


# Orthant


@each_orthant
def test_orthant_takes_the_positive_part(project):
    Z = np.array([[1e12, -1e12, 0.0], [-1e-12, 1e-12, 2.0]])
    np.testing.assert_array_equal(project(Z), [[1e12, 0.0, 0.0], [0.0, 1e-12, 2.0]])


@each_orthant
@properties
@given(z=vectors(ordinary), other=st.data())
def test_orthant_point_is_nearest_idempotent_and_non_expansive(project, z, other):
    a = other.draw(vectors(ordinary, min_size=len(z), max_size=len(z)))
    y = project(z[None])[0]
    np.testing.assert_allclose(y, qp_orthant(np.eye(len(z)), z), atol=1e-7)
    np.testing.assert_array_equal(project(y[None])[0], y)
    assert np.linalg.norm(project(a[None])[0] - y) <= np.linalg.norm(a - z) * (1 + 1e-12)
    # Over a cone the nearest point is orthogonal to what is left, and no member has a positive product with that.
    assert abs((z - y) @ y) <= 1e-12
    assert (z - y) @ np.abs(a) <= 1e-12


@each_orthant
def test_orthant_leaves_its_input_alone(project):
    Z = np.array([[1.0, -1.0]])
    kept = Z.copy()
    Y = project(Z)
    Y[:] = 7.0
    np.testing.assert_array_equal(Z, kept)


# One row of the self-dictionary set


@each_row
@properties
@given(case=rows(extreme))
@example(case=(SMALLEST * np.array([7.0, 1.0, 2.0, -1.0]), np.array([3.0, 1.0, 100.0, 1.0]), 3))
def test_row_projection_agrees_with_sorting(project_row, case):
    z, w, t = case
    assert_as_exact(row(project_row, z, w, t), z, w, t)


@each_row
@properties
@given(case=rows(extreme, st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 1e12]), max_size=2))
def test_pair_projection_agrees_with_sorting_for_weights_of_any_ratio(project_row, case):
    z, w, t = case
    assert_as_exact(row(project_row, z, w, t), z, w, t)


@each_row
@properties
@given(case=rows(extreme, st.sampled_from([0.0, 1e-12, 1e-3, 1.0])))
def test_row_of_the_heaviest_column_agrees_with_sorting_for_weights_of_any_ratio(project_row, case):
    z, w, _ = case
    t = int(np.argmax(w))
    assert_as_exact(row(project_row, z, w, t), z, w, t)


@each_row
@properties
@given(case=rows())
def test_row_projection_agrees_with_a_qp_solver(project_row, case):
    z, w, t = case
    w = w / max(w.max(), 1e-300)
    np.testing.assert_allclose(row(project_row, z, w, t), qp_dictionary_row(np.eye(len(z)), z, w, t), atol=1e-7)


@each_row
@properties
@given(case=rows(extreme))
@example(case=(np.array([SMALLEST, SMALLEST]), np.array([1e12, 6e11]), 0))
def test_row_projection_is_feasible(project_row, case):
    z, w, t = case
    y = row(project_row, z, w, t)
    assert np.all(y >= 0.0)
    assert y[t] <= 1.0
    # An entry is rounded to a subnormal number; larger by a power of two, the products here are not.
    y, rounding = 2.0**200 * y, 2.0**200 * SMALLEST
    assert np.all(w[t] * y <= w * y[t] * (1 + 4 * EPS) + w[t] * rounding)


@each_row
@properties
@given(case=rows(extreme))
def test_row_projection_is_idempotent(project_row, case):
    z, w, t = case
    y = row(project_row, z, w, t)
    np.testing.assert_allclose(row(project_row, y, w, t), y, rtol=1e-12)


@each_row
@properties
@given(case=rows(), data=st.data())
def test_row_projection_is_non_expansive(project_row, case, data):
    z, w, t = case
    a = data.draw(vectors(ordinary, min_size=len(z), max_size=len(z)))
    moved = np.linalg.norm(row(project_row, a, w, t) - row(project_row, z, w, t))
    assert moved <= np.linalg.norm(a - z) + 1e-12


@each_row
@properties
@given(case=rows(), data=st.data())
def test_row_projection_makes_no_acute_angle_with_any_member(project_row, case, data):
    z, w, t = case
    x = data.draw(members(w, t))
    y = row(project_row, z, w, t)
    if w[t] > 0.0:
        assert (z - y) @ (x - y) <= 1e-11 * (1.0 + np.linalg.norm(z)) * (1.0 + np.linalg.norm(x))


@each_row
@pytest.mark.parametrize(
    ("z", "w", "t", "expected"),
    [
        # A negative diagonal entry, outvoted by the others: d = (-1 + 2 + 2) / 3.
        ([-1.0, 2.0, 2.0], [1.0, 1.0, 1.0], 0, [1.0, 1.0, 1.0]),
        ([-1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0, [1 / 3, 1 / 3, 1 / 3]),
        ([-1.0, 1.0], [1.0, 2.0], 0, [0.2, 0.4]),
        ([-3.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0, [0.0, 0.0, 0.0]),
        # Ties: equal breakpoints, and breakpoints at the answer itself.
        ([0.0, 0.5, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0], 0, [0.375, 0.375, 0.375, 0.375]),
        ([0.5, 0.5, 1.0], [1.0, 1.0, 2.0], 0, [0.5, 0.5, 1.0]),
        # Only the diagonal is bounded by one.
        ([5.0, 5.0], [1.0, 3.0], 0, [1.0, 3.0]),
        ([5.0, 5.0], [1.0, 3.0], 1, [1 / 3, 1.0]),
        # Columns without weight: as the row itself, and among the others.
        ([5.0, 5.0], [0.0, 3.0], 0, [0.0, 0.0]),
        ([5.0, 5.0], [0.0, 3.0], 1, [0.0, 1.0]),
        ([5.0, 5.0], [0.0, 0.0], 0, [0.0, 0.0]),
        # Zero rows and rows of one entry.
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 1, [0.0, 0.0, 0.0]),
        ([0.25], [3.0], 0, [0.25]),
        ([-0.25], [3.0], 0, [0.0]),
        ([4.0], [3.0], 0, [1.0]),
        ([4.0], [0.0], 0, [0.0]),
        # Twelve orders of magnitude, in the entries and in the weights.
        ([1e12, 1e12], [1.0, 2.0], 0, [1.0, 2.0]),
        ([-1e12, 1e12], [1.0, 2.0], 0, [1.0, 2.0]),
        ([1e-12, 1e-12], [1.0, 2.0], 0, [1e-12, 1e-12]),
        ([0.0, 1e-12], [1.0, 1.0], 0, [5e-13, 5e-13]),
        ([0.0, 1.0], [1.0, 1e12], 0, [1e-12, 1.0]),
        ([0.0, 1.0], [1e-12, 1e12], 0, [1e-24, 1.0]),
        ([0.0, 1.0], [1e12, 1e-12], 0, [1e-24, 1e-48]),
        ([0.5, 1.0], [1e12, 1e12], 0, [0.75, 0.75]),
        ([0.5, 1.0], [1e-12, 1e-12], 0, [0.75, 0.75]),
    ],
    ids=str,
)
def test_row_projection_of_a_worked_example(project_row, z, w, t, expected):
    z, w = np.array(z), np.array(w)
    np.testing.assert_allclose(sorted_dictionary_row(z, w, t), expected, rtol=1e-10)
    np.testing.assert_allclose(row(project_row, z, w, t), expected, rtol=1e-10)


@each_row
def test_row_projection_leaves_its_input_alone(project_row):
    z, w = np.array([-1.0, 2.0, 0.5]), np.array([1.0, 2.0, 0.0])
    kept = z.copy(), w.copy()
    row(project_row, z, w, 0)
    np.testing.assert_array_equal(z, kept[0])
    np.testing.assert_array_equal(w, kept[1])


# The whole self-dictionary set


@each_dictionary
@properties
@given(data=st.data(), w=vectors(weight, max_size=5))
def test_dictionary_projection_agrees_with_sorting_row_by_row(project, data, w):
    n = len(w)
    Z = data.draw(st.lists(vectors(ordinary, n, n), min_size=n, max_size=n).map(np.array))
    Y = project(Z, w)
    np.testing.assert_allclose(Y, sorted_dictionary(Z, w), rtol=1e-10, atol=1e-13)
    assert dictionary_breach(Y, w) <= 4 * EPS


@each_dictionary
def test_dictionary_projection_of_zero_is_zero(project):
    assert not project(np.zeros((3, 3)), np.array([1.0, 0.0, 2.0])).any()


@each_dictionary
def test_dictionary_projection_is_the_identity_on_the_identity(project):
    np.testing.assert_array_equal(project(np.eye(3), np.array([1.0, 3.0, 2.0])), np.eye(3))


@each_dictionary
def test_dictionary_projection_leaves_its_input_alone_in_any_layout(project):
    Z, w = np.random.default_rng(0).standard_normal((4, 4)), np.array([1.0, 2.0, 0.0, 3.0])
    kept = Z.copy(), w.copy()
    Y = project(Z, w)
    np.testing.assert_array_equal(project(np.asfortranarray(Z), w), Y)
    Y[:] = 7.0
    np.testing.assert_array_equal(Z, kept[0])
    np.testing.assert_array_equal(w, kept[1])


@pytest.mark.parametrize("kernel", [project_dictionary_row, project_dictionary_row.py_func], ids=["compiled", "python"])
@pytest.mark.parametrize(
    ("z", "w"),
    [
        ([0.0, 1.0, 1e-6], [1.0, 7e12, 1.0]),
        ([0.0, 0.1, 1e-6], [1.0, 1.1e12, 1.0]),
        ([0.0, 0.9, 1e-6], [1.0, 3e12, 1.0]),
    ],
)
def test_row_projection_sees_past_a_column_of_much_larger_weight(kernel, z, w):
    z, w, y = np.array(z), np.array(w), np.empty(3)
    kernel(z, w, 0, y)
    np.testing.assert_allclose(y, sorted_dictionary_row(z, w, 0), rtol=1e-10)


@settings(max_examples=300, deadline=None)
@given(
    case=st.lists(
        st.tuples(
            st.one_of(st.floats(-4, 4), st.sampled_from([0.0, 1e-12, -1e-12, 1e12, -1e12])),
            st.one_of(st.floats(0.1, 10.0), st.sampled_from([0.0, 1e-12, 1e-6, 1.0, 1e6, 1e12])),
        ),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_row_projection_agrees_with_sorting_for_weights_of_any_ratio(case, data):
    z, w = np.array(case).T.copy()
    t = data.draw(st.integers(0, len(z) - 1))
    y = np.empty(len(z))
    project_dictionary_row(z, w, t, y)
    assert_as_exact(y, z, w, t)
