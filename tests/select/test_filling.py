"""Exchanges that leave fewer rows and columns of the core all zero."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cosep import CoSeparableNMF, Pool, clustering_accuracy, faithful
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by, sum_of_errors
from cosep.select.exchange import exchange, filling
from cosep.solve.pursuit import Positions, all_positions

pytestmark = pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")


def topics(seed=0, size=(12, 9), density=0.5):
    """Return counts of three topics that share nothing, half of whose entries are zero."""
    random = np.random.default_rng(seed)
    X = np.kron(np.eye(3), np.ones(size)) * random.integers(1, 5, (3 * size[0], 3 * size[1]))
    return X * (random.random(X.shape) < density)


def apart(X):
    """Return a row of each topic, and a column of each topic that is zero in that row for the last topic only."""
    rows = [int(np.flatnonzero(X[:, 9 * k : 9 * k + 9].sum(axis=1))[0]) for k in range(3)]
    cols = [9 * k + int(X[rows[k], 9 * k : 9 * k + 9].argmax()) for k in range(3)]
    cols[2] = 18 + int(np.flatnonzero((X[rows[2], 18:] == 0) & X[:, 18:].any(axis=0))[0])
    return rows, cols


def choices(X, rows, cols):
    M = as_matrix(X)
    return M, explained_by(M.T, np.array(rows)), explained_by(M, np.array(cols))


def n_empty(core):
    return int((~core.any(axis=0)).sum() + (~core.any(axis=1)).sum())


@pytest.mark.parametrize("seed", range(20))
def test_the_exchanges_that_fill_a_core_are_those_found_one_by_one(seed):
    random = np.random.default_rng(seed)
    m, n, r1, r2 = random.integers(4, 10, 4)
    X = random.random((m, n)) * (random.random((m, n)) < 0.2)
    H, chosen = X[random.permutation(m)[: min(r1, m)]], random.permutation(n)[: min(r2, n)]
    found = filling(H, chosen)
    for k in range(len(chosen)):
        for j in range(n):
            other = np.where(np.arange(len(chosen)) == k, j, chosen)
            assert found[j, k] == (n_empty(H[:, other]) < n_empty(H[:, chosen]))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_a_row_and_a_column_that_do_not_meet_are_brought_together(form, seed):
    X = topics(seed)
    rows, cols = apart(X)
    M, of_rows, of_cols = choices(form(X), rows, cols)
    assert n_empty(X[np.ix_(rows, cols)]) == 2
    found = exchange(M, all_positions(27), of_cols, of_rows, to_fill=True)
    assert n_empty(X[np.ix_(rows, found.chosen)]) == 0
    assert (found.chosen != cols).sum() == 1
    assert sorted(found.chosen // 9) == [0, 1, 2]
    assert sum_of_errors(M, of_rows, found) < sum_of_errors(M, of_rows, of_cols)


def test_choices_that_meet_stay():
    X = topics()
    rows, cols = apart(X)
    cols[2] = 18 + int(X[rows[2], 18:].argmax())
    M, of_rows, of_cols = choices(X, rows, cols)
    assert exchange(M, all_positions(27), of_cols, of_rows, to_fill=True) is of_cols


def test_what_must_be_chosen_or_has_no_replacement_stays():
    X = topics()
    rows, cols = apart(X)
    M, of_rows, of_cols = choices(X, rows, cols)
    pool = Positions(np.isin(np.arange(27), cols), np.array([], int), np.ones(27))
    assert exchange(M, pool, of_cols, of_rows, to_fill=True) is of_cols
    model = faithful(X, 3, 3, row_pool=Pool(include=[rows[2]]), col_pool=Pool(include=[cols[2]]))
    assert rows[2] in model.row_indices
    assert cols[2] in model.col_indices


@pytest.mark.parametrize("seed", range(10))
def test_sparse_topics_are_found_with_a_core_that_is_not_degenerate(seed):
    X = topics(seed, (40, 30), 0.2)
    model = CoSeparableNMF(3, 3).fit(X)
    assert model.core_diagnosis_.zero_rows == model.core_diagnosis_.zero_cols == 0
    filled = X.any(axis=1)
    assert clustering_accuracy(np.repeat(range(3), 40)[filled], model.row_labels_[filled]) == 1.0


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=23)
@example(seed=2872)
def test_a_weight_counts_as_copies_where_choices_do_not_meet(seed):
    """Entries of all copies together were compared, and rounding made columns similar that share no row."""
    random = np.random.default_rng(seed)
    m, n = random.integers(4, 15, 2)
    X = random.gamma(0.7, size=(m, n)) * (random.random((m, n)) < 0.3)
    weights = random.integers(0, 4, m)
    n_rows, n_cols = int(random.integers(1, 4)), int(random.integers(1, 4))
    if (weights > 0).sum() < n_rows or not X[weights > 0].any():
        return
    back = np.repeat(np.arange(m), weights)
    weighted, copied = faithful(X, n_rows, n_cols, sample_weight=weights), faithful(X[back], n_rows, n_cols)
    np.testing.assert_array_equal(back[copied.row_indices], weighted.row_indices)
    np.testing.assert_array_equal(copied.col_indices, weighted.col_indices)
