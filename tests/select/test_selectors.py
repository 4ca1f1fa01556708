"""What every selector promises: the planted truth, and answers that follow the matrix when it is moved about."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Selection, make_coseparable, mix, mix_generalized
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from oracles import make_generalized
from selector_names import BOTH_CORNERS, COLUMN_CORNERS, DETERMINISTIC

RANDOM = np.random.default_rng(6)
# The rows and columns explain everything, so that the convex model has nothing left to compare a gap with.
exact_data = pytest.mark.filterwarnings("ignore:.*small as rounding errors:sklearn.exceptions.ConvergenceWarning")


def planted(seed):
    """Return a noiseless co-(r, r)-separable matrix of a random shape."""
    random = np.random.default_rng(seed)
    r = int(random.integers(2, 11))
    m, n = (int(size) for size in random.integers(r + 1, 101, size=2))
    return make_coseparable(m, n, r, r, random_state=seed)


def same(indices, expected):
    return set(indices.tolist()) == set(expected.tolist())


@exact_data
@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 30))])
@pytest.mark.parametrize("name", BOTH_CORNERS)
def test_planted_rows_and_columns_are_found_and_mixed_exactly_under_any_scaling(name, seed):
    X, truth = planted(seed)
    r = len(truth.row_indices)
    random = np.random.default_rng(seed)
    scaled = 10 ** random.uniform(-2, 2, size=(len(X), 1)) * X * 10 ** random.uniform(-2, 2, size=X.shape[1])
    for data in (X, scaled):
        chosen = BOTH_SELECTORS[name](data, r, r)
        assert same(chosen.row_indices, truth.row_indices)
        assert same(chosen.col_indices, truth.col_indices)
        assert mix(data, chosen).relative_error(data) < 1e-6


@exact_data
@pytest.mark.parametrize("name", BOTH_CORNERS)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 2))
def test_planted_selections_do_not_change_under_positive_diagonal_scaling(name, seed, spread):
    random = np.random.default_rng(seed)
    X, truth = make_coseparable(25, 20, 4, 4, random_state=int(random.integers(2**31)))
    scaled = 10 ** random.uniform(-spread, spread, size=(25, 1)) * X * 10 ** random.uniform(-spread, spread, size=20)
    chosen = BOTH_SELECTORS[name](scaled, 4, 4)
    assert same(chosen.row_indices, truth.row_indices)
    assert same(chosen.col_indices, truth.col_indices)


@pytest.mark.parametrize("name", COLUMN_CORNERS)
def test_planted_columns_are_found_without_noise_in_every_kind_of_matrix(name, kind):
    for seed in range(3):
        X, truth = planted(seed)
        for data in (X, X.astype(np.float32)):
            chosen = COLUMN_SELECTORS[name](kind(data), len(truth.col_indices))
            assert chosen.row_indices is None
            assert same(chosen.col_indices, truth.col_indices)


@pytest.mark.parametrize("name", EITHER_SELECTORS)
def test_planted_rows_plus_columns_are_found_in_every_kind_of_matrix(name, kind):
    X, truth = make_generalized(20, 25, 3, 2, 0)
    for data in (X, X.astype(np.float32)):
        chosen = EITHER_SELECTORS[name](kind(data), n_rows=3, n_cols=2)
        assert same(chosen.row_indices, truth.row_indices)
        assert same(chosen.col_indices, truth.col_indices)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(30, 30, 3, 3), (40, 20, 2, 4), (20, 40, 5, 2), (30, 30, 0, 4), (30, 30, 4, 0)])
@pytest.mark.parametrize("name", EITHER_SELECTORS)
def test_planted_rows_plus_columns_are_found_and_mixed(name, sizes):
    for seed in (0, 2, 3):
        X, truth = make_generalized(*sizes, seed)
        chosen = EITHER_SELECTORS[name](X, n_rows=sizes[2], n_cols=sizes[3])
        for side in ("row_indices", "col_indices"):
            found, expected = getattr(chosen, side), getattr(truth, side)
            assert found is None if expected is None else same(found, expected)
        assert mix_generalized(X, chosen).relative_error(X) < 2e-3
        if 0 not in sizes:
            split = EITHER_SELECTORS[name](X, sizes[2] + sizes[3])
            assert same(split.row_indices, truth.row_indices)
            assert same(split.col_indices, truth.col_indices)


@pytest.mark.parametrize("name", EITHER_SELECTORS)
def test_either_selector_keeps_to_its_limits_and_follows_the_transpose(name):
    X = RANDOM.gamma(0.5, size=(14, 11))
    chosen = EITHER_SELECTORS[name](X, 5, n_rows=2, n_cols=4)
    assert len(chosen.row_indices) <= 2
    assert len(chosen.col_indices) <= 4
    assert len(chosen.row_indices) + len(chosen.col_indices) == 5
    fixed, swapped = EITHER_SELECTORS[name](X, n_rows=2, n_cols=3), EITHER_SELECTORS[name](X.T, n_rows=3, n_cols=2)
    assert same(fixed.row_indices, swapped.col_indices)
    assert same(fixed.col_indices, swapped.row_indices)
    rows, cols = RANDOM.permutation(14), RANDOM.permutation(11)
    moved = EITHER_SELECTORS[name](X[rows][:, cols] * 3e150, n_rows=2, n_cols=3)
    assert same(rows[moved.row_indices], fixed.row_indices)
    assert same(cols[moved.col_indices], fixed.col_indices)


@pytest.mark.parametrize("name", EITHER_SELECTORS)
def test_either_selector_never_chooses_zeros_and_of_equals_the_first(name):
    base, truth = make_generalized(15, 12, 2, 2, 0)
    X = np.zeros((17, 26))
    X[2:, 2:14], X[2:, 14:] = base, base
    chosen = EITHER_SELECTORS[name](X, n_rows=2, n_cols=2)
    assert same(chosen.row_indices, truth.row_indices + 2)
    assert same(chosen.col_indices, truth.col_indices + 2)


@pytest.mark.parametrize("name", BOTH_CORNERS)
def test_planted_cores_are_found_in_every_kind_of_matrix_and_in_float32(name, kind):
    X, truth = make_coseparable(40, 30, 4, 4, noise=1e-3, random_state=1)
    for data in (X, X.astype(np.float32)):
        chosen = BOTH_SELECTORS[name](kind(data), 4, 4)
        assert same(chosen.row_indices, truth.row_indices)
        assert same(chosen.col_indices, truth.col_indices)


@pytest.mark.parametrize("name", DETERMINISTIC)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([0.37, 3.0, 1e-150, 1e150]))
def test_selections_follow_permutation_and_a_constant_factor(name, seed, factor):
    random = np.random.default_rng(seed)
    X = random.gamma(0.5, size=(14, 11))
    rows, cols = random.permutation(14), random.permutation(11)
    selector = BOTH_SELECTORS[name]
    chosen = selector(X, 3, 3)
    moved = selector(X[rows][:, cols] * factor, 3, 3)
    assert same(rows[moved.row_indices], chosen.row_indices)
    assert same(cols[moved.col_indices], chosen.col_indices)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_choosing_from_the_transpose_swaps_both_sides(seed):
    X = np.random.default_rng(seed).gamma(0.5, size=(14, 11))
    chosen, swapped = BOTH_SELECTORS["spa"](X, 3, 4), BOTH_SELECTORS["spa"](X.T, 4, 3)
    np.testing.assert_array_equal(chosen.row_indices, swapped.col_indices)
    np.testing.assert_array_equal(chosen.col_indices, swapped.row_indices)


@pytest.mark.parametrize("name", BOTH_SELECTORS)
def test_the_same_call_gives_the_same_answer(name):
    X = RANDOM.poisson(3.0, size=(30, 20)).astype(float)
    first, second = (BOTH_SELECTORS[name](X, 4, 4) for _ in range(2))
    np.testing.assert_array_equal(first.row_indices, second.row_indices)
    np.testing.assert_array_equal(first.col_indices, second.col_indices)
    assert first.history == second.history


@pytest.mark.parametrize("name", COLUMN_CORNERS)
def test_of_identical_columns_only_the_first_is_chosen_and_no_zero_column_ever(name):
    base, truth = make_coseparable(20, 8, 3, 3, random_state=2)
    X = np.hstack([np.zeros((20, 2)), base, base, base])
    chosen = COLUMN_SELECTORS[name](X, 3)
    assert same(chosen.col_indices, truth.col_indices + 2)


@pytest.mark.parametrize("name", COLUMN_CORNERS)
def test_of_proportional_columns_the_longest_is_chosen(name):
    base, truth = make_coseparable(20, 8, 3, 3, random_state=2)
    chosen = COLUMN_SELECTORS[name](np.hstack([base, 2 * base]), 3)
    assert same(chosen.col_indices, truth.col_indices + 8)


@pytest.mark.parametrize("name", COLUMN_SELECTORS)
def test_fewer_columns_than_asked_for_come_with_a_warning(name):
    X = np.outer(RANDOM.uniform(1, 2, size=9), RANDOM.uniform(1, 2, size=7))
    with pytest.warns(UserWarning, match="Only 1 of the 3 columns"):
        chosen = COLUMN_SELECTORS[name](X, 3)
    assert chosen.col_indices.tolist() == [int(X.sum(axis=0).argmax())]


@pytest.mark.parametrize("name", BOTH_SELECTORS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1)])
def test_one_row_or_one_column_is_a_matrix_too(name, shape):
    X = RANDOM.uniform(1, 2, size=shape)
    chosen = BOTH_SELECTORS[name](X, 1, 1)
    assert isinstance(chosen, Selection)
    assert mix(X, chosen).relative_error(X) < 1e-12
