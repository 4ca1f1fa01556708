"""Curtis-Reid scaling against least squares."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosep.matrix.curtis_reid import TIE_SHIFT, balanced, balanced_rows, curtis_reid, rescaled
from cosep.matrix.validation import as_matrix

STRONGLY_SCALED = np.array([[0.01, 0, 1e5, 0], [2000, 0, 2e10, 0.002], [1e-4, 2e-9, 0, 1e-10], [0, 2e-10, 200, 2e-11]])


def least_squares(X):
    """Return the sums ``r_i + c_j`` that minimise ``sum (log2 x_ij / x_max + r_i + c_j)^2``, by a general solver."""
    (m, n), (i, j) = X.shape, np.nonzero(X)
    A = np.zeros((len(i), m + n))
    A[np.arange(len(i)), i] = A[np.arange(len(i)), m + j] = 1.0
    rc = np.linalg.lstsq(A, -np.log2(X[i, j] / X.max()), rcond=None)[0]
    return rc[:m, None] + rc[m:]


@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=st.just(0.0) | st.floats(1e-9, 1e9))
    )
)
@settings(deadline=None, max_examples=80)
def test_exponents_are_those_of_least_squares_rounded(X):
    """Zero rows and columns and disconnected blocks come up often."""
    r, c = curtis_reid(as_matrix(X))
    present = X > 0
    assert np.abs((r[:, None] + c) - least_squares(X))[present].max(initial=0.0) <= 1.0 + 2 * TIE_SHIFT + 1e-4
    assert not r[~present.any(axis=1)].any()
    assert not c[~present.any(axis=0)].any()


@pytest.mark.parametrize("n", [300, 1000])
def test_bidiagonal_matrices_are_scaled_to_entries_near_one(n):
    """The slowest pattern for conjugate gradients: all entries of a bidiagonal matrix can be brought to one."""
    diagonals = 10.0 ** np.random.default_rng(n).uniform(-8, 8, (2, n))
    chain = scipy.sparse.diags_array([diagonals[0], diagonals[1][1:]], offsets=[0, 1], format="csr")
    A = balanced(as_matrix(chain)).A.raw
    assert A.data.min() >= 0.24 * A.data.max()
    assert A.data.max() < 1.0


@pytest.mark.parametrize("seed", range(20))
def test_scaling_is_exact_and_units_drop_out(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, random.integers(1, 6, 2)).astype(float)
    d1, d2 = (10.0 ** random.uniform(-8, 8, size) for size in X.shape)
    M = as_matrix(d1[:, None] * X * d2)
    A, r, c = balanced(M)
    np.testing.assert_array_equal(rescaled(A.take(), -r, -c), M.in_units(M.take()))
    before = balanced(as_matrix(X)).A.take()
    # Up to factors of two: rounding to whole numbers of both, and the common power of two.
    ratios = np.log2(A.take()[X > 0] / before[X > 0])
    assert not X.any() or np.ptp(ratios) <= 4.0


def test_every_kind_of_matrix_gets_the_same_scaling(kind):
    X = STRONGLY_SCALED
    for function in (balanced, balanced_rows):
        A, r, c = function(as_matrix(kind(X)))
        expected = function(as_matrix(X.astype(A.dtype)))
        assert A.take().max() < 1.0
        np.testing.assert_allclose(A.take(), expected.A.take(), rtol=1e-6)
        np.testing.assert_array_equal(r, expected.rows)
        np.testing.assert_array_equal(c, expected.cols)


def test_stored_zeros_are_not_scaled():
    X = scipy.sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    r, c = curtis_reid(as_matrix(X))
    expected = curtis_reid(as_matrix(X.toarray()))
    np.testing.assert_array_equal(r, expected[0])
    np.testing.assert_array_equal(c, expected[1])


@pytest.mark.parametrize("unit", [2.0**-990, 2.0**990])
def test_exponents_include_the_power_of_two_of_the_whole_matrix(unit):
    X = np.array([[1.0, 4.0], [0.0, 16.0]])
    A, r, c = balanced(as_matrix(X * unit))
    plain = balanced(as_matrix(X))
    np.testing.assert_array_equal(A.take(), plain.A.take())
    np.testing.assert_array_equal(r[:, None] + c, plain.rows[:, None] + plain.cols - int(np.log2(unit)))


def test_entries_that_squares_cannot_see_do_not_change_the_scaling():
    X = np.full((3, 3), 1e-300) + 1e300 * np.eye(3)
    np.testing.assert_array_equal(balanced(as_matrix(X)).A.take(), balanced(as_matrix(np.diag([1e300] * 3))).A.take())
