"""Selectors on the edge: one row, one column, zeros, duplicates, too little rank."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from calls import (
    CHOSEN,
    ESTIMATORS,
    NMFS,
    SELECTORS,
    X,
    dense_and_sparse,
    expected,
    indices,
    refused,
)
from cosep import (
    Selection,
    both_sides,
    cosfgm,
    cur,
    fgm,
    gsfgm,
    gspa,
    mix,
    preselect,
    preselected,
    spa,
)
from cosep.matrix.scaling import SCALINGS, scale
from cosep.select import COLUMN_SELECTORS
from cosep.select.cur import METHODS


@dense_and_sparse
def test_nothing_can_be_selected_from_an_all_zero_matrix_which_is_mixed_and_scaled_to_zero(form):
    zero = form(np.zeros((12, 10)))
    for select in SELECTORS.values():
        with refused("X", "no nonzero entry", "at least one positive entry"):
            select(zero)
    for factor in (NMFS | ESTIMATORS).values():
        with refused("X", "no nonzero entry", "at least one positive entry"):
            factor(zero)
    fit = mix(zero, CHOSEN)
    assert fit.relative_error(zero) == 0.0
    assert not fit.reconstruct().any()
    assert set(fit.row_labels) == set(fit.col_labels) == {-1}
    for rule in SCALINGS:
        scaled, factors = scale(zero, rule)
        assert not scaled.take().any()
        assert set(factors.rows) == set(factors.cols) == {1.0}


@dense_and_sparse
@pytest.mark.parametrize(("data", "row", "col"), [([[1.0, 3.0, 2.0]], 0, 1), ([[1.0], [3.0], [0.0]], 1, 0)])
def test_the_largest_entry_of_a_single_row_or_column_is_selected_and_mixes_the_rest(data, row, col, form):
    data = form(np.array(data))
    for selector in COLUMN_SELECTORS.values():
        assert indices(selector(data, 1)) == [None, [col]]
    for selector in (both_sides(spa), cosfgm, *(partial(cur, method=method) for method in METHODS)):
        assert indices(selector(data, 1, 1)) == [[row], [col]]
    for selector in (gspa, gsfgm):
        assert indices(selector(data, n_rows=0, n_cols=1)) == [None, [col]]
        assert indices(selector(data, n_rows=1, n_cols=0)) == [[row], None]
    for selection in (Selection([row], [col]), Selection(None, [0]), Selection([0], None)):
        assert mix(data, selection).relative_error(data) < 1e-12


@pytest.mark.parametrize("rule", SCALINGS)
def test_a_single_entry_is_scaled_to_one(rule):
    for shape in ((1, 1), (1, 3), (3, 1)):
        scaled, factors = scale(np.full(shape, 7.0), rule)
        np.testing.assert_allclose(scaled.take(), factors.rows[:, None] * np.full(shape, 7.0) * factors.cols)
        assert np.isfinite(scaled.take()).all()
    assert scale([[7.0]], rule)[0].take() == pytest.approx(1 / 1.2 if rule == "degree" else 1.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_all_zero_rows_and_columns_are_not_selected_and_get_no_weight_no_label_and_the_factor_one(form):
    data = np.zeros((17, 14))
    data[2:14, 3:13] = X
    data = form(data)
    for function, select in SELECTORS.items():
        rows, cols = expected(function)
        assert select(data) == [None if rows is None else [i + 2 for i in rows], [j + 3 for j in cols]]
    fit = mix(data, Selection(CHOSEN.row_indices + 2, CHOSEN.col_indices + 3))
    assert fit.relative_error(data) == pytest.approx(expected("mix")[0], rel=1e-6)
    empty_rows, empty_cols = np.r_[0:2, 14:17], np.r_[0:3, 13:14]
    assert set(fit.row_labels[empty_rows]) == set(fit.col_labels[empty_cols]) == {-1}
    assert not fit.row_factor[empty_rows].any()
    assert not fit.col_factor[:, empty_cols].any()
    for rule in SCALINGS:
        scaled, factors = scale(data, rule)
        assert np.isfinite(scaled.take()).all()
        assert set(factors.rows[empty_rows]) == set(factors.cols[empty_cols]) == {1.0}


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_the_lowest_index_stands_for_identical_rows_and_columns(form):
    distinct = np.random.default_rng(0).uniform(size=(5, 4))
    data = form(np.tile(distinct, (3, 3)))
    for selector in COLUMN_SELECTORS.values():
        assert indices(selector(data, 4)) == [None, [0, 1, 2, 3]]
    assert preselect(data, 12).representatives.tolist() == [0, 1, 2, 3]
    for selector in (gspa, gsfgm):
        rows, cols = indices(selector(data, n_rows=2, n_cols=2))
        assert set(rows) < set(range(5))
        assert set(cols) < set(range(4))
    curs = [partial(cur, method=method) for method in METHODS]
    for selector in (both_sides(spa), both_sides(fgm), cosfgm, preselected(both_sides(spa), 10, 10), *curs):
        rows, cols = indices(selector(data, 4, 4))
        assert cols == [0, 1, 2, 3]
        assert set(rows) < set(range(5))


def test_columns_that_differ_by_rounding_alone_are_not_both_selected():
    ray = np.array([0.5094572995000001, 0.8604959383902793])  # half a unit in the ninth digit
    data = np.column_stack([ray, ray * 8.603709570607482, [1.0, 0.0], [0.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert indices(fgm(data, 4)) == [None, [1, 2, 3]]


@dense_and_sparse
def test_too_little_rank_gives_fewer_rows_and_columns_and_one_warning_for_each_side(form):
    blocks = form(np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((3, 2))))  # 9 x 6 and of rank 3
    for selector in COLUMN_SELECTORS.values():
        with pytest.warns(UserWarning, match="Only 3 of the 5 columns") as caught:
            assert indices(selector(blocks, 5)) == [None, [0, 2, 4]]
        assert [warning.filename for warning in caught] == [__file__]
    for selector in (both_sides(spa), cosfgm, preselected(cosfgm, 8, 5), cur, partial(cur, method="deim")):
        with pytest.warns(UserWarning, match="Only 3 of the") as caught:
            assert indices(selector(blocks, 7, 5)) == [[0, 3, 6], [0, 2, 4]]
        sides = sorted(re.search(r"3 of the \d+ (rows|columns)", str(warning.message))[0] for warning in caught)
        assert sides == ["3 of the 5 columns", "3 of the 7 rows"]


def test_more_columns_than_there_are_rows_end_at_the_rank():
    wide = np.array([[4.0, 0.0, 1.0, 2.0], [0.0, 2.0, 1.0, 1.0]])
    with pytest.warns(UserWarning, match="Only 2 of the 4 columns"):
        assert indices(spa(wide, 4)) == [None, [0, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        chosen = fgm(wide, 4).col_indices.tolist()
    assert {0, 1} <= set(chosen) <= {0, 1, 2, 3}
    assert len(set(chosen)) == len(chosen)
