"""Results in the units of the data, split between matrices and between factors."""

import numpy as np
import pytest

from cosep.matrix.units import in_relative_units, in_units_of_product, shared_units
from cosep.matrix.validation import as_matrix

X = np.array([[3.0, 1.0], [0.0, 2.0]])
UNITS = [2.0**-1000, 1.0, 2.0**1000]


def test_a_product_is_in_the_units_of_all_its_matrices():
    large, small = as_matrix(X * 2.0**1000), as_matrix(X * 2.0**-990)
    product = large.take() @ small.take()
    np.testing.assert_array_equal(in_units_of_product(product, large, small), X @ X * 2.0**10)


@pytest.mark.parametrize("unit", UNITS)
def test_one_factor_takes_all_of_the_units_if_it_can(unit):
    M = as_matrix(X * unit)
    first, second = shared_units(M, M.take(), np.eye(2))
    np.testing.assert_array_equal(first, X * unit)
    np.testing.assert_array_equal(second, np.eye(2))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("scale", [2.0**-301, 2.0**301])
def test_the_other_factor_takes_what_the_first_cannot_hold(unit, scale, times):
    """``(X scale) @ (I / scale)`` or ``(I / scale) @ (X scale^2) @ (I / scale)`` in the units of M."""
    M = as_matrix(X * unit)
    part, other = shared_units(M, M.take() * scale**times, np.eye(2) / scale, times)
    assert np.isfinite(part).all()
    assert np.isfinite(other).all()
    # Halves, in an order that stays within the range of floats.
    powers = np.frexp(part[0, 0])[1] + times * np.frexp(other[0, 0])[1] - np.frexp(X[0, 0])[1] - times
    assert powers == np.log2(unit)
    np.testing.assert_array_equal(part / part[0, 0], X / X[0, 0])


def test_relative_units_are_limited():
    M = as_matrix(X * 2.0**1000)
    exponent = int(np.log2(X[0, 0] * 2.0**1000 / M.take()[0, 0]))
    np.testing.assert_array_equal(in_relative_units(M, M.take(), 1000), X)
    np.testing.assert_array_equal(in_relative_units(M, M.take(), exponent), M.take())
    np.testing.assert_array_equal(in_relative_units(M, M.take(), 0), M.take() * 2.0**300)
