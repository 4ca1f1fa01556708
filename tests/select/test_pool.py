"""Candidates and must-include lists, for every selector."""

import numpy as np
import pytest

from cosep import Pool, make_coseparable
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS
from selector_names import COLUMN_CORNERS, WITH_POOLS

RANDOM = np.random.default_rng(14)
X, TRUTH = make_coseparable(40, 30, 5, 5, noise=1e-3, random_state=15)
OTHERS = np.setdiff1d(np.arange(30), TRUTH.col_indices)


@pytest.mark.parametrize("name", COLUMN_SELECTORS)
def test_only_candidates_are_chosen(name):
    chosen = COLUMN_SELECTORS[name](X, 5, pool=Pool(candidates=OTHERS)).col_indices
    assert len(set(chosen)) == 5
    assert set(chosen) <= set(OTHERS)


# Greedy selection looks for no corners.
@pytest.mark.parametrize("name", COLUMN_CORNERS)
def test_candidates_that_hold_the_truth_lead_to_it(name):
    candidates = np.concatenate([TRUTH.col_indices, OTHERS[:8]])
    chosen = COLUMN_SELECTORS[name](X, 5, pool=Pool(candidates=candidates)).col_indices
    assert set(chosen) == set(TRUTH.col_indices)


@pytest.mark.parametrize("name", COLUMN_SELECTORS)
@pytest.mark.parametrize("count", [1, 3, 5])
def test_what_must_be_included_comes_first_in_the_order_given(name, count):
    chosen = COLUMN_SELECTORS[name](X, 5, pool=Pool(include=OTHERS[:count][::-1])).col_indices
    assert chosen[:count].tolist() == OTHERS[:count][::-1].tolist()
    assert len(set(chosen)) == 5


# An intercept takes the place of one planted column.
@pytest.mark.parametrize("name", [name for name in COLUMN_SELECTORS if name != "predictive"])
def test_the_rest_complements_what_is_included(name):
    chosen = COLUMN_SELECTORS[name](X, 5, pool=Pool(include=TRUTH.col_indices[[3, 1]])).col_indices
    assert chosen[:2].tolist() == TRUTH.col_indices[[3, 1]].tolist()
    assert set(chosen) == set(TRUTH.col_indices)


@pytest.mark.parametrize("name", COLUMN_SELECTORS)
def test_included_columns_may_be_proportional_or_zero(name):
    data = np.hstack([X, 2 * X[:, :1], np.zeros((40, 1))])
    chosen = COLUMN_SELECTORS[name](data, 6, pool=Pool(include=[0, 30, 31])).col_indices
    assert chosen[:3].tolist() == [0, 30, 31]
    assert len(set(chosen)) == 6


@pytest.mark.parametrize("name", COLUMN_SELECTORS)
def test_nothing_outside_the_pool_fills_it_up(name):
    data = np.array([[1.0, 1.0, 0.0, 5.0, 0.0], [0.0, 0.0, 3.0, 1.0, 0.0]])
    with pytest.warns(UserWarning, match="Only 1 of the 2 columns"):
        assert COLUMN_SELECTORS[name](data, 2, pool=Pool(candidates=[0, 1])).col_indices.tolist() == [0]
    with pytest.raises(ValueError, match=r"no nonzero entry to select from.*pools"):
        COLUMN_SELECTORS[name](data, 1, pool=Pool(candidates=[4]))


def test_pools_that_do_not_meet_are_refused():
    data = np.kron(np.eye(2), RANDOM.uniform(1, 2, size=(4, 4)))
    with pytest.raises(ValueError, match=r"no nonzero entry to select from.*pools"):
        BOTH_SELECTORS["cosfgm"](data, 2, 2, row_pool=Pool(candidates=range(4)), col_pool=Pool(candidates=range(4, 8)))


# CUR has neither pools nor progress.
@pytest.mark.parametrize("name", WITH_POOLS)
def test_both_sides_keep_to_their_pools(name):
    rows, cols = Pool(candidates=np.arange(20), include=[7]), Pool(include=[3, 4])
    chosen = BOTH_SELECTORS[name](X, 4, 5, row_pool=rows, col_pool=cols)
    assert chosen.row_indices[0] == 7
    assert set(chosen.row_indices) <= set(range(20))
    assert chosen.col_indices[:2].tolist() == [3, 4]
    assert (len(set(chosen.row_indices)), len(set(chosen.col_indices))) == (4, 5)


@pytest.mark.parametrize("name", WITH_POOLS)
def test_long_work_reports_its_progress(name):
    calls = []
    BOTH_SELECTORS[name](X, 5, 5, callback=lambda *call: calls.append(call))
    assert calls
    assert all(stage in ("topics", "select", "solve") and 0 <= step <= limit for stage, step, limit, _ in calls)
    assert calls[-1][0] == "select"


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ([1, 2], r"pool=\[1, 2\] must be a cosep.Pool"),
        (Pool(candidates=[1, 2]), r"r=5 must be at most the 2 candidates of pool"),
        (Pool(include=[0, 1, 2, 3, 4, 5]), r"pool.include names 6, but r=5"),
        (Pool(include=[30]), r"pool.include must lie between 0 and n - 1 = 29"),
        (Pool(include=["gene"]), r"pool.include must be a one-dimensional, non-empty list of whole numbers"),
        (Pool(candidates=[]), r"pool.candidates must be a one-dimensional, non-empty list"),
        (Pool(candidates=[1, 1, 2, 3, 4]), r"pool.candidates must be distinct"),
        (Pool(include=3), r"pool.include must be a one-dimensional"),
    ],
)
@pytest.mark.parametrize("name", COLUMN_SELECTORS)
def test_impossible_pools_are_refused(name, pool, message):
    with pytest.raises(ValueError, match=message):
        COLUMN_SELECTORS[name](X, 5, pool=pool)
