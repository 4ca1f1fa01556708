"""Answers that must not depend on the units of rows and columns."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmarks.scales import in_other_units, matrices
from cosep import Selection
from cosep.datasets import make_coseparable
from cosep.theory import (
    compress,
    extreme_rays,
    from_cur,
    is_coseparable,
    is_generalized_separable,
    is_separable,
    is_unique,
    minimal_coseparable,
    to_cur,
)
from oracles import make_generalized

# The smallest core was once found to be of shape (2, 3), with an error of 0.5.
STRONGLY_SCALED = np.array([[0.01, 0, 1e5, 0], [2000, 0, 2e10, 0.002], [1e-4, 2e-9, 0, 1e-10], [0, 2e-10, 200, 2e-11]])
small_counts = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, 3))
)
decades = st.floats(-8, 8)


def factors(data, size):
    return 10.0 ** np.array(data.draw(st.lists(decades, min_size=size, max_size=size)))


def test_a_strongly_scaled_matrix_has_the_core_of_its_pattern():
    core = minimal_coseparable(STRONGLY_SCALED)
    assert core
    assert core.shape == (4, 4)
    assert core.error <= 1e-6


@pytest.mark.parametrize("scale", [0, 4, 8, 30])
def test_shapes_are_those_without_scales(scale):
    random = np.random.default_rng(scale)
    for B in matrices(24):
        core = minimal_coseparable(in_other_units(B, scale, random))
        assert core
        assert core.shape == minimal_coseparable(B).shape
        assert core.error <= 1e-9


@given(small_counts, st.data())
@settings(deadline=None, max_examples=40)
def test_scaling_permuting_and_transposing_lead_to_the_same_answers(X, data):
    m, n = X.shape
    rows, cols = data.draw(st.permutations(range(m))), data.draw(st.permutations(range(n)))
    d1, d2 = factors(data, m), factors(data, n)
    moved = ((d1[:, None] * X * d2)[rows][:, cols]).T
    core, other = minimal_coseparable(X), minimal_coseparable(moved)
    assert other
    assert other.error <= 1e-6
    assert other.shape == core.shape[::-1]
    assert len(extreme_rays(moved)) == len(extreme_rays(X.T))
    back = Selection(np.array(rows)[other.selection.col_indices], np.array(cols)[other.selection.row_indices])
    assert is_coseparable(X, back)
    unique, other_unique = is_unique(X), is_unique(moved)
    assert (other_unique.exchange is None) == (unique.exchange is None)
    assert (other_unique.two_mixes is None) == (unique.two_mixes is None)


@pytest.mark.parametrize("seed", range(6))
def test_every_function_has_the_same_answer_in_other_units(seed):
    random = np.random.default_rng(seed)
    B, truth = make_coseparable(14, 11, 4, 3, random_state=seed)
    X = in_other_units(B, 8, random)
    rows, cols = truth.row_indices, truth.col_indices
    assert is_separable(X, cols)
    assert not is_separable(X, cols[1:])
    assert is_coseparable(X, truth)
    assert not is_coseparable(X, Selection(rows[1:], cols))
    assert compress(X, Selection(np.arange(14), np.arange(11))).shape == compress(B, truth).shape
    assert bool(is_unique(X)) == bool(is_unique(B))
    cur = to_cur(X, truth)
    np.testing.assert_allclose(cur.reconstruct(), X, rtol=1e-6)
    one = np.outer(X[:, 0], X[0])
    assert from_cur(one, to_cur(one, Selection([3], [2])))
    G, chosen = make_generalized(9, 8, 2, 2, seed)
    assert is_generalized_separable(in_other_units(G, 8, random), chosen)
    wrong = Selection(chosen.row_indices, np.setdiff1d(np.arange(8), chosen.col_indices)[:2])
    assert not is_generalized_separable(in_other_units(G, 8, random), wrong)


@pytest.mark.parametrize("factor", [2.0**-990, 1.0, 2.0**990])
def test_a_generalized_selection_in_any_unit_of_the_whole_has_the_same_error(factor):
    X, chosen = make_generalized(9, 8, 2, 2, 0)
    assert is_generalized_separable(X * factor, chosen)
    missing = Selection(chosen.row_indices[1:], chosen.col_indices)
    assert is_generalized_separable(X * factor, missing).error == pytest.approx(
        is_generalized_separable(X, missing).error, rel=1e-6
    )


EXTREME = {
    "one entry": (np.array([[1e-300]]), (1, 1)),
    "one entry among zeros": (np.diag([0.0, 1e300, 0.0]), (1, 1)),
    "two blocks in two units": (np.kron(np.diag([1e70, 1e-70]), np.ones((2, 3))), (2, 2)),
    "the range of floats": (np.array([[1e300, 1e160], [1e160, 1e-300]]), (2, 2)),
    "a rank of one over the range of floats": (np.outer([1e150, 1.0, 1e5], [1e150, 1e9, 7.0]), (1, 1)),
    "tiny entries off the diagonal": (np.full((3, 3), 1e-300) + 1e300 * np.eye(3), (3, 3)),
    "subnormal": (np.array([[5e-324, 5e-324], [5e-324, 0.0]]), (2, 2)),
    "zero rows and columns": (np.pad(np.diag([1e-100, 1e40]), 2), (2, 2)),
}


@pytest.mark.parametrize("case", EXTREME)
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_extreme_entries(case, container):
    X, shape = EXTREME[case]
    core = minimal_coseparable(container(X))
    assert core
    assert core.shape == shape
    assert core.error <= 1e-9
    np.testing.assert_allclose(core.factorization.reconstruct(), X, rtol=1e-9, atol=1e-300 * X.max())
    assert bool(is_unique(container(X))) in {True, False}
    assert extreme_rays(container(X)).residual <= 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_a_true_core_satisfies_its_own_error(seed):
    """Entries of very different size and a large tolerance: the halves may hold where the product does not."""
    random = np.random.default_rng(seed)
    X = 10.0 ** random.uniform(-4, 0, (6, 7)) * (random.uniform(size=(6, 7)) < 0.7)
    for tol in (1e-3, 0.4):
        core = minimal_coseparable(X, tol=tol)
        assert core
        assert core.error <= tol
        assert core.residual <= tol
