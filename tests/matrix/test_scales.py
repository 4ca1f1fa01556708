"""Matrices of very large and very small entries, and of both side by side."""

from functools import partial

import numpy as np
import pytest

from calls import (
    CHOSEN,
    COLS,
    ROWS,
    X,
    dense_and_sparse,
    indices,
    refused,
)
from cosep import (
    Selection,
    both_sides,
    cosfgm,
    fgm,
    mix,
    spa,
)
from cosep.matrix.scaling import SCALINGS, scale
from cosep.select import COLUMN_SELECTORS


@pytest.mark.parametrize("power", [-1074, -1065, *range(-210, -195), *range(186, 202), 1016, 1017])
def test_the_error_of_a_matrix_times_a_power_of_two_is_the_same(power):
    data = np.ldexp(X, power)  # exact: the entries are small whole numbers
    for selection in (CHOSEN, ROWS, COLS, Selection([0, 7], [1, 4]), Selection([4, 10], [0, 7])):
        expected = mix(X, selection).relative_error(X)
        assert mix(data, selection).relative_error(data) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("factor", [2.0**-330, 2.0**-230, 2.0**160, 2.0**230, 2.0**330])
def test_the_penalty_and_the_history_of_fgm_are_in_the_units_of_the_data(factor):
    expected = fgm(X, 3, penalty=5000.0)
    chosen = fgm(X * factor, 3, penalty=5000.0 * factor**2)
    assert indices(chosen) == indices(expected)
    assert chosen.gap == pytest.approx(expected.gap, rel=1e-6)
    objective, trace, penalty = fgm(X, 4).history[-1]
    scaled = fgm(X * factor, 4).history[-1]
    assert scaled == pytest.approx((objective * factor**2, trace, penalty * factor**2), rel=1e-6, abs=0.0)


@pytest.mark.parametrize("decades", [10, 20, 40, 60])
def test_columns_of_very_different_scales_are_mixed_to_the_error_of_the_definition(decades):
    data = X * 10.0 ** np.linspace(-decades, decades, X.shape[1])
    fit = mix(data, Selection(None, np.arange(4)))  # the smallest
    direct = np.linalg.norm(data - fit.reconstruct()) / np.linalg.norm(data)
    assert fit.relative_error(data) == pytest.approx(direct, rel=1e-6, abs=1e-9)
    assert direct < 1.0


SMALL = [(1.0, 10.0**power) for power in (-100, -149, -151, -160, -170, -200, -300, -310)]
SMALL += [(1e100, 10.0**power) for power in (-49, -51, -100, -150, -200, -300, -310)]
small_beside_large = pytest.mark.parametrize(("large", "small"), SMALL)


def right_where_it_can_be(call, is_right, large, small):
    """Assert that the answer is right, or the data refused where the small is below 1e-150 of the large."""
    if small < 1e-150 * large:
        with refused("X", "too small to be distinguished from zero"):
            call()
    else:
        assert is_right(call())


@dense_and_sparse
@small_beside_large
def test_a_column_far_smaller_than_the_others_is_selected_or_the_data_is_refused(large, small, form):
    data = form(np.diag([large, small]))
    for select in (partial(selector, data, 2) for selector in COLUMN_SELECTORS.values()):
        right_where_it_can_be(select, lambda chosen: indices(chosen) == [None, [0, 1]], large, small)
    for select in (partial(selector, data, 2, 2) for selector in (both_sides(spa), cosfgm)):
        right_where_it_can_be(select, lambda chosen: indices(chosen) == [[0, 1], [0, 1]], large, small)


@small_beside_large
def test_columns_are_mixed_from_one_far_smaller_than_they_are_or_the_data_is_refused(large, small):
    data = np.array([[small, large], [small, large]])
    for selection in (Selection(None, [0]), Selection([0], [0])):
        fit = partial(mix, data, selection)
        right_where_it_can_be(fit, lambda fit: fit.relative_error(data) < 1e-6, large, small)


@small_beside_large
@pytest.mark.parametrize("rule", SCALINGS)
def test_a_row_far_smaller_than_the_others_is_scaled_or_the_data_is_refused(rule, large, small):
    expected = np.eye(2) * (2.0 if rule == "sinkhorn" else 1.0)
    if rule == "degree":  # sums s + (s1 + s2) / 10
        sums = np.array([large, small]) + (large + small) / 10
        expected = np.diag([large, small] / sums)
    right_where_it_can_be(
        partial(scale, np.diag([large, small]), rule),
        lambda answer: np.allclose(answer[0].take(), expected, rtol=1e-3),
        large,
        small,
    )


@pytest.mark.parametrize("selection", [Selection(None, [0]), Selection([0], [0])], ids=["one side", "both sides"])
def test_weights_beyond_float32_are_kept_in_float64(selection):
    data = np.array([[1e-30, 1e30], [1e-30, 1e30]], dtype=np.float32)
    fit = mix(data, selection)
    assert fit.relative_error(data) < 1e-3
    assert fit.col_weights.dtype == np.float64
    assert mix(X.astype(np.float32), selection).col_weights.dtype == np.float32
