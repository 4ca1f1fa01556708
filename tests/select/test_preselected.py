"""Selectors on representatives: the choice of the selector on the weighted block, in terms of the whole matrix."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from cosep import (
    Pool,
    Selection,
    SelectionWarning,
    both_sides,
    gspa,
    make_coseparable,
    mix,
    preselect,
    preselected,
    spa,
)
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS
from selector_names import BOTH_CORNERS, WITH_POOLS

RANDOM = np.random.default_rng(21)
X, TRUTH = make_coseparable(60, 50, 4, 4, noise=1e-2, random_state=4)
every_pair = pytest.mark.parametrize("name", BOTH_SELECTORS)
every_selector = pytest.mark.parametrize("name", COLUMN_SELECTORS)


@pytest.mark.slow
@every_pair
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_the_choice_is_that_of_the_selector_on_the_weighted_block(name, form):
    rows, cols = preselect(X.T, 20), preselect(X, 15)
    block = rows.weights[:, None] * X[rows.representatives][:, cols.representatives] * cols.weights
    inside = BOTH_SELECTORS[name](block, 4, 3)
    chosen = preselected(BOTH_SELECTORS[name], 20, 15)(form(X), 4, 3)
    np.testing.assert_array_equal(chosen.row_indices, rows.original(inside.row_indices))
    np.testing.assert_array_equal(chosen.col_indices, cols.original(inside.col_indices))


@every_selector
def test_one_side_is_preselected_and_the_other_kept(name):
    cols = preselect(X, 15)
    inside = COLUMN_SELECTORS[name](X[:, cols.representatives] * cols.weights, 4)
    chosen = preselected(COLUMN_SELECTORS[name], cols=15)(X, 4)
    assert chosen.row_indices is None
    np.testing.assert_array_equal(chosen.col_indices, cols.original(inside.col_indices))


@every_pair
def test_a_side_that_is_no_larger_than_asked_for_is_kept_as_it_is(name):
    plain = BOTH_SELECTORS[name](X, 4, 4)
    for rows, cols in ((60, 50), (1000, None), (None, 1000)):
        chosen = preselected(BOTH_SELECTORS[name], rows, cols)(X, 4, 4)
        np.testing.assert_array_equal(chosen.row_indices, plain.row_indices)
        np.testing.assert_array_equal(chosen.col_indices, plain.col_indices)


def test_nothing_to_preselect_is_the_selector_itself():
    assert preselected(spa) is spa


@pytest.mark.parametrize("name", BOTH_CORNERS)
def test_a_matrix_of_many_multiples_of_a_few_rows_and_columns_loses_nothing(name):
    base, truth = make_coseparable(12, 10, 3, 3, random_state=1)
    rows, cols = RANDOM.permutation(600) % 12, RANDOM.permutation(500) % 10
    data = RANDOM.uniform(1, 2, size=(600, 1)) * base[rows][:, cols] * RANDOM.uniform(1, 2, size=500)
    chosen = preselected(BOTH_SELECTORS[name], 40, 40)(data, 3, 3)
    assert set(rows[chosen.row_indices]) == set(truth.row_indices)
    assert set(cols[chosen.col_indices]) == set(truth.col_indices)
    assert mix(data, chosen).relative_error(data) < 1e-6


@pytest.mark.parametrize("name", WITH_POOLS)
def test_pools_are_honoured(name):
    select = preselected(BOTH_SELECTORS[name], 10, 10)
    pools = {"row_pool": Pool(range(30), include=[55, 3]), "col_pool": Pool(include=[7])}
    chosen = select(X, 4, 4, **pools)
    assert chosen.row_indices[:2].tolist() == [55, 3]
    assert chosen.col_indices[0] == 7
    assert set(chosen.row_indices) <= set(range(30)) | {55}
    assert len(set(chosen.row_indices)) == len(set(chosen.col_indices)) == 4


@every_selector
def test_candidates_from_a_corner_of_the_data_are_as_many_as_are_wanted(name):
    alike = np.hstack([X[:, :30], X[:, [40]] * RANDOM.uniform(0.9, 1.1, size=(60, 10))])
    chosen = preselected(COLUMN_SELECTORS[name], cols=8)(alike, 5, pool=Pool(range(30, 40)))
    assert set(chosen.col_indices) <= set(range(30, 40))
    assert len(chosen.col_indices) == 5


def test_wrong_pools_are_refused_as_without_preselection():
    select = preselected(spa, cols=10)
    with pytest.raises(ValueError, match=r"pool.include names 5, but r=4"):
        select(X, 4, pool=Pool(include=range(5)))
    with pytest.raises(ValueError, match=r"pool=\[1\] must be a cosep.Pool"):
        select(X, 4, pool=[1])
    data = X.copy()
    data[:, 3] = 0.0
    with pytest.raises(ValueError, match=r"no nonzero entry to select from.*pools"):
        select(data, 1, pool=Pool([3]))


@every_pair
def test_fewer_directions_than_wanted_give_a_smaller_selection_and_a_warning(name):
    base = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((20, 20)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = preselected(BOTH_SELECTORS[name], 10, 10)(base, 5, 3)
    assert [str(warning.message)[:35] for warning in caught] == ["Only 3 of the 5 rows asked for were"]
    assert {warning.category for warning in caught} == {SelectionWarning}
    assert sorted(chosen.row_indices // 20) == sorted(chosen.col_indices // 20) == [0, 1, 2]


def test_representatives_that_do_not_meet_are_refused():
    with pytest.raises(ValueError, match=r"The 1 x 1 block of preselected rows and columns is zero; preselect more"):
        preselected(BOTH_SELECTORS["spa"], 1, 1)(np.eye(6)[::-1], 1, 1)


@pytest.mark.parametrize("cols", [2, 100])
def test_nothing_is_selected_from_an_all_zero_matrix(cols):
    with pytest.raises(ValueError, match="X has no nonzero entry to select from"):
        preselected(spa, cols=cols)(np.zeros((3, 4)), 1)


def test_progress_and_options_reach_the_selector():
    calls = []
    preselected(BOTH_SELECTORS["cosfgm"], 20, 20)(X, 4, 4, max_iter=3, callback=lambda *call: calls.append(call))
    assert [stage for stage, *_ in calls][:38] == ["preselect"] * 38
    assert {most for stage, _, most, _ in calls if stage == "select"} == {3}


def test_a_selector_of_ones_own_sees_the_block():
    seen = []

    def first(A, n_rows, n_cols):
        seen.append(A)
        return Selection(np.arange(n_rows), np.arange(n_cols), gap=0.5, history=(1,))

    chosen = preselected(first, 12, None)(scipy.sparse.csr_array(X), 2, 3)
    assert seen[0].shape == (12, 50)
    assert scipy.sparse.issparse(seen[0])
    assert chosen.row_indices.tolist() == preselect(X.T, 12).representatives[:2].tolist()
    assert (chosen.gap, chosen.history) == (0.5, (1,))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preselected("spa", 5, 5), r"selector='spa' must be a function"),
        (lambda: preselected(spa, cols=0), r"cols=0 must be a whole number of at least 1"),
        (lambda: preselected(spa, rows=2.5), r"rows=2.5 must be a whole number of at least 1"),
        (lambda: preselected(spa, cols=3)(X, 4), r"cols=3 to preselect must be at least r=4; preselect more"),
        (lambda: preselected(spa, cols=10)(X), r"sizes=\(\) must be how many"),
        (lambda: preselected(spa, cols=10)(X, "4"), r"r='4' must be a whole number"),
        (lambda: preselected(spa, cols=10)(X, 51), r"r=51 must be at most n_features=50"),
        (lambda: preselected(lambda _X, _r: None, cols=10)(X, 4), r"must return a Selection, got None"),
        (
            lambda: preselected(lambda _X, _r: Selection(None, [40]), cols=10)(X, 4),
            r"col_indices of the selector must lie between 0 and the number it saw - 1 = 9",
        ),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_may_be_given_by_name_and_shrink_with_what_is_left():
    by_name = preselected(both_sides(spa), rows=20, cols=20)(X, n_rows=4, n_cols=4)
    by_position = preselected(both_sides(spa), rows=20, cols=20)(X, 4, 4)
    np.testing.assert_array_equal(by_name.row_indices, by_position.row_indices)
    np.testing.assert_array_equal(
        preselected(spa, cols=8)(X, r=3).col_indices, preselected(spa, cols=8)(X, 3).col_indices
    )
    with pytest.warns(SelectionWarning, match=r"Only 1 of the 3 (rows|columns)"):
        chosen = preselected(both_sides(spa), rows=5, cols=5)(np.ones((8, 9)), n_rows=3, n_cols=3)
    assert (chosen.row_indices.tolist(), chosen.col_indices.tolist()) == ([0], [0])


def test_a_total_is_split_between_both_sides():
    Z = np.random.default_rng(0).random((40, 30))
    chosen = preselected(gspa, rows=8, cols=8)(Z, 6)
    assert len(chosen.row_indices) + len(chosen.col_indices) == 6
    assert set(chosen.row_indices) <= set(preselect(Z.T, 8).representatives)


def test_a_selector_without_a_callback_is_preselected_for_with_progress():
    stages = []
    preselected(gspa, rows=8, cols=8)(X, 3, callback=lambda *call: stages.append(call[0]))
    assert set(stages) == {"preselect"}
