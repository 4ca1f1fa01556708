"""All functions of cosep.theory: certificates, transposition, units, records, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from cosep import Factorization, Selection
from cosep.datasets import make_coseparable
from cosep.theory import (
    compress,
    from_biorthogonal,
    from_cur,
    is_coseparable,
    is_generalized_separable,
    is_separable,
    is_unique,
    minimal_coseparable,
    to_cur,
)

small_counts = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, 3))
)
X, TRUTH = make_coseparable(30, 25, 4, 4, random_state=0)


@given(small_counts)
@settings(deadline=None, max_examples=40)
def test_the_transpose_has_the_transposed_core(M):
    core, turned = minimal_coseparable(M), minimal_coseparable(M.T)
    assert turned.shape == core.shape[::-1]
    np.testing.assert_array_equal(turned.selection.row_indices, core.selection.col_indices)
    np.testing.assert_allclose(turned.factorization.row_factor, core.factorization.col_factor.T, atol=1e-12)


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_units_change_nothing(factor):
    core, scaled = minimal_coseparable(X), minimal_coseparable(X * factor)
    np.testing.assert_array_equal(scaled.selection.row_indices, core.selection.row_indices)
    np.testing.assert_array_equal(scaled.selection.col_indices, core.selection.col_indices)
    np.testing.assert_allclose(scaled.factorization.core / factor, core.factorization.core)
    assert to_cur(X * factor, TRUTH).relative_error(X * factor) < 1e-9
    assert bool(is_unique(X * factor)) == bool(is_unique(X))


def test_a_core_whose_inverse_is_beyond_all_floats_is_refused():
    with pytest.raises(ValueError, match="X is too small for the inverse of its core"):
        to_cur(X * 1e-310, TRUTH)


@pytest.mark.parametrize("decades", [20, 100])
def test_units_of_single_rows_and_columns_change_nothing(decades):
    random = np.random.default_rng(0)
    M = np.array([[1, 0, 2, 1], [0, 3, 1, 1], [1, 3, 3, 2], [2, 0, 4, 2.0]])
    cols = 10.0 ** random.uniform(-decades / 2, decades / 2, 4)
    core = minimal_coseparable(M * cols)
    assert core.shape == minimal_coseparable(M).shape == (2, 2)
    assert to_cur(M * cols, core.selection).relative_error(M * cols) < 1e-9
    zero_block = np.array([[1, 2, 8, 7], [2, 2, 8, 7], [2, 1, 7, 5], [0, 0, 2, 1]], dtype=float)
    assert is_generalized_separable(zero_block * cols, Selection([3], [0, 1]))


def test_both_weights_of_a_column_in_any_units_give_it():
    """The square in the plane: the middle is the sum of either diagonal."""
    M = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 0, 1], [0, 0, 1, 1, 1], [1, 0, 0, 1, 1.0]]) * [1e-80, 1.0, 1e60, 1e-9, 7.0]
    answer = is_unique(M)
    _, position, *mixes = answer.two_mixes
    assert answer.two_mixes.side == "column"
    for weights in mixes:
        assert (weights >= 0).all()
        np.testing.assert_allclose(M[:, answer.core.selection.col_indices] @ weights, M[:, position], rtol=1e-9)
    assert np.abs(mixes[0] * M[:, :4].sum(axis=0) - mixes[1] * M[:, :4].sum(axis=0)).max() > 1.0
    assert "in two ways" in answer.reason


def spread(A, x):
    """Return by how much the weights of x in terms of the columns of A can differ, by linear programming."""
    most = 0.0
    for k in range(A.shape[1]):
        ends = [linprog(sign * np.eye(A.shape[1])[k], A_eq=A, b_eq=x).fun for sign in (1, -1)]
        most = max(most, -ends[1] - ends[0])
    return most


@pytest.mark.slow
@given(
    st.tuples(st.just(3), st.integers(4, 6)).flatmap(lambda s: hnp.arrays(np.float64, s, elements=st.integers(0, 2)))
)
@settings(deadline=None, max_examples=30)
def test_weights_are_unique_exactly_if_linear_programs_find_no_others(M):
    answer = is_unique(M)
    sides = ((M.T, answer.core.rows.col_indices), (M, answer.core.cols.col_indices))
    unique = all(spread(side[:, cols], x) < 1e-6 for side, cols in sides if M.any() for x in side.T)
    assert (answer.two_mixes is None) == unique


def test_a_weight_due_to_rounding_is_not_a_second_mixture():
    # The last two columns are half the sum of two neighbouring rays, so there is no other way to mix them.
    answer = is_unique([[2, 0, 2, 1, 1, 1], [1, 1, 1, 1, 1, 1], [2, 1, 1, 2, 1, 1]])
    assert answer.two_mixes is None


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (1, 5)])
def test_the_core_of_a_zero_matrix_is_one_entry(shape):
    zero = np.zeros(shape)
    core = minimal_coseparable(zero)
    assert core
    assert core.shape == (1, 1)
    assert core.error == 0.0
    assert is_coseparable(zero, core.selection)
    assert compress(zero, core.selection).shape == (1, 1)
    assert bool(is_unique(zero)) == (shape == (1, 1))
    assert to_cur(zero, core.selection).relative_error(zero) == 0.0
    assert is_generalized_separable(zero, core.selection)


def test_answers_have_a_one_line_repr():
    core = minimal_coseparable(X)
    assert repr(core).startswith("MinimalCore(True, shape=(4, 4), residual=")
    assert repr(core.cols).startswith("ExtremeRays(True, r=4, residual=")
    assert repr(is_coseparable(X, Selection([0], [0]))).startswith("CoSeparability(False, shape=(1, 1)")
    assert repr(is_unique(np.eye(2))).startswith("Uniqueness(True: no selected row")
    assert repr(is_generalized_separable(np.eye(2), Selection([0], [1]))) == (
        "GeneralizedSeparability(True, error=0, tol=1e-06)"
    )


def test_zero_rows_and_columns_have_zero_weights():
    M = np.zeros((5, 6))
    M[np.ix_([1, 3], [0, 2, 5])] = [[1, 2, 3], [4, 0, 4.0]]
    core = minimal_coseparable(M)
    assert core.selection.row_indices.tolist() == [1, 3]
    assert core.selection.col_indices.tolist() == [0, 2]
    assert not core.factorization.row_factor[[0, 2, 4]].any()
    assert core.residual == pytest.approx(0.0, abs=1e-12)


def test_float32_factors_stay_float32():
    core = minimal_coseparable(X.astype(np.float32))
    for part in (core.factorization.row_factor, core.factorization.core, core.factorization.col_factor):
        assert part.dtype == np.float32
    assert core.error < 1e-6
    cur = to_cur(X.astype(np.float32), TRUTH)
    assert cur.row_factor.dtype == cur.col_factor.dtype == np.float32


def test_a_core_of_more_rows_and_columns_than_needed_is_compressed_to_the_smallest():
    more = Selection(np.union1d(TRUTH.row_indices, np.arange(9)), np.union1d(TRUTH.col_indices, np.arange(8)))
    smaller = compress(X, more)
    assert smaller
    assert smaller.shape == (4, 4)
    assert smaller.residual < 1e-6


def test_a_selection_without_a_co_separable_core_is_compressed_to_another_one():
    assert not compress(X, Selection([0, 1], [0, 1]))


def test_generalized_separable_refuses_too_many_unknowns():
    noise = np.random.default_rng(0).uniform(size=(90, 90))
    with pytest.raises(ValueError, match=r"selection needs 3600 weights.*\(90, 90\).*Select fewer"):
        is_generalized_separable(noise, Selection(np.arange(60, 90), np.arange(30)))


NO_CORE = [None, ([0], [0]), Selection(None, [0]), Selection([0], None), Selection(None, None), {"row_indices": [0]}]


@pytest.mark.parametrize("selection", NO_CORE, ids=repr)
@pytest.mark.parametrize("question", [is_coseparable, compress, to_cur])
def test_anything_but_a_selection_of_rows_and_columns_is_refused(question, selection):
    with pytest.raises(ValueError, match=r"selection=.*must be a Selection with row_indices and col_indices"):
        question(X, selection)


@pytest.mark.parametrize("selection", [None, [0], Selection(None, None)], ids=repr)
def test_generalized_separable_refuses_an_empty_selection(selection):
    with pytest.raises(ValueError, match=r"selection=.*must be a Selection"):
        is_generalized_separable(X, selection)


@pytest.mark.parametrize("question", [is_coseparable, compress, to_cur, is_generalized_separable])
def test_positions_beyond_the_last_are_refused(question):
    with pytest.raises(ValueError, match="row_indices must lie between 0 and n_samples - 1 = 29"):
        question(X, Selection([30], [0]))
    with pytest.raises(ValueError, match="col_indices must lie between 0 and n_features - 1 = 24"):
        question(X, Selection([0], [25]))


@pytest.mark.parametrize("cols", [None, [], [0.5], [0, 0], [-1], [25], "ab", [[0]], [True]], ids=repr)
def test_columns_that_are_not_positions_are_refused(cols):
    with pytest.raises(ValueError, match="col_indices must"):
        is_separable(X, cols)


@pytest.mark.parametrize(
    ("sizes", "words"), [((0, 1), "n_rows=0"), ((1, 2.5), "n_cols=2.5"), ((31, 1), "n_rows=31"), ((1, 26), "n_cols=26")]
)
def test_admits_refuses_sizes_outside_the_matrix(sizes, words):
    with pytest.raises(ValueError, match=words):
        minimal_coseparable(X).admits(*sizes)


CUR = to_cur(X, TRUTH)
NO_CUR = {
    "None": (None, "cur=None must be a Factorization"),
    "no core": (Factorization(np.ones((30, 1)), None, np.ones((1, 25)), selection=TRUTH), "with a core"),
    "no selection": (Factorization(np.ones((30, 1)), np.ones((1, 1)), np.ones((1, 25))), "and a selection"),
    "one side": (Factorization(CUR.row_factor, CUR.core, CUR.col_factor, Selection(None, [0])), "row_indices"),
    "another shape": (Factorization(np.ones((30, 2)), np.ones((2, 3)), np.ones((3, 25)), TRUTH), r"shape \(4, 4\)"),
    "negative": (CUR, "Negative values in data passed to the core of cur"),
}


@pytest.mark.parametrize("case", NO_CUR)
def test_from_cur_refuses_what_is_not_a_nonnegative_cur_decomposition(case):
    cur, words = NO_CUR[case]
    with pytest.raises(ValueError, match=words):
        from_cur(X, cur)


def test_from_cur_refuses_a_factorization_of_another_matrix():
    with pytest.raises(ValueError, match=r"cur stands for a matrix of shape \(4, 3\), but X has shape \(2, 2\)"):
        from_cur(np.ones((2, 2)), to_cur(np.ones((4, 3)), Selection([3], [2])))


NO_FACTORS = {
    "F with overlapping columns": ((np.ones((3, 2)), np.eye(2), np.eye(2)), "F must have orthogonal columns, but 3"),
    "G with overlapping rows": ((np.eye(2), np.eye(2), np.ones((2, 3))), "G must have orthogonal rows, but 3"),
    "F with an empty column": ((np.diag([1.0, 0.0]), np.eye(2), np.eye(2)), "F has 1 columns without"),
    "G with an empty row": ((np.eye(2), np.eye(2), np.diag([1.0, 0.0])), "G has 1 rows without"),
    "no product": ((np.eye(2), np.eye(3), np.eye(2)), "F, S and G must be matrices whose product exists"),
    "negative F": ((-np.eye(2), np.eye(2), np.eye(2)), "passed to F"),
    "NaN in S": ((np.eye(2), np.full((2, 2), np.nan), np.eye(2)), "S contains NaN"),
    "text for G": ((np.eye(2), np.eye(2), "G"), "G must be a matrix"),
    "no F": ((None, np.eye(2), np.eye(2)), "F must be a matrix"),
}


@pytest.mark.parametrize("case", NO_FACTORS)
def test_factors_that_are_not_bi_orthogonal_are_refused_under_their_name(case):
    factors, words = NO_FACTORS[case]
    with pytest.raises(ValueError, match=words):
        from_biorthogonal(*factors)


def test_entries_below_the_tolerance_count_as_zeros_of_an_orthogonal_factor():
    F = np.array([[1.0, 1e-12], [0.0, 1.0]])
    answer = from_biorthogonal(F, np.eye(2), np.eye(2))
    np.testing.assert_array_equal(answer.row_factor, np.eye(2))
    with pytest.raises(ValueError, match="F must have orthogonal columns"):
        from_biorthogonal(F, np.eye(2), np.eye(2), tol=0)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_bi_orthogonal_factors_of_any_scale(factor):
    answer = from_biorthogonal(np.eye(2) * factor, np.ones((2, 2)), np.eye(2))
    np.testing.assert_allclose(answer.core, np.full((2, 2), factor))
