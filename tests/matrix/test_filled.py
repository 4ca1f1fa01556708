"""All-zero rows and columns change nothing: not the selection, not the labels, not a bit of a factor."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import (
    CUR,
    HALSNMF,
    BiorthogonalNMF,
    CoSeparableNMF,
    GeneralizedSeparableNMF,
    MinVolNMF,
    Pool,
    SelectionWarning,
    SeparableNMF,
    TriSymmetricNMF,
    preselect,
    preselected,
    row_blocks,
)
from cosep.matrix.filled import filled
from cosep.matrix.scaling import SCALINGS, scale
from cosep.matrix.validation import as_matrix
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from selector_names import WITH_POOLS

FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
}
SEEDS = st.integers(0, 2**32 - 1)

SELECTORS = {
    **{f"{name} columns": lambda X, select=select: select(X, 2) for name, select in COLUMN_SELECTORS.items()},
    **{f"{name} either": lambda X, select=select: select(X, 4) for name, select in EITHER_SELECTORS.items()},
    **{name: lambda X, select=select: select(X, 3, 2) for name, select in BOTH_SELECTORS.items()},
    "cur deim": lambda X: BOTH_SELECTORS["cur"](X, 2, 2, method="deim"),
    "cur cross": lambda X: BOTH_SELECTORS["cur"](X, 2, 2, method="cross"),
    "preselected": lambda X: preselected(BOTH_SELECTORS["faithful"], rows=4, cols=4)(X, 2, 2),
}
MODELS = {
    **{f"CoSeparableNMF {name}": CoSeparableNMF(2, 2, method=name) for name in BOTH_SELECTORS},
    **{f"CoSeparableNMF {name}": CoSeparableNMF(2, 3, scaling=name) for name in SCALINGS},
    "rank one": CoSeparableNMF(1, 1),
    "SeparableNMF": SeparableNMF(2),
    "SeparableNMF rank one": SeparableNMF(1),
    "SeparableNMF rows": SeparableNMF(2, axis="rows"),
    "GeneralizedSeparableNMF": GeneralizedSeparableNMF(3),
    "CUR": CUR(2, 2),
    "HALSNMF": HALSNMF(3),
    "HALSNMF rank one": HALSNMF(1),
    "MinVolNMF": MinVolNMF(2),
    "MinVolNMF rank one": MinVolNMF(1),
    "BiorthogonalNMF": BiorthogonalNMF(2),
    "BiorthogonalNMF rank one": BiorthogonalNMF(1),
    "TriSymmetricNMF": TriSymmetricNMF(2),
}


def counts(random):
    """Return small whole numbers, with many ties, and without all-zero rows and columns."""
    X = random.poisson(random.choice([0.5, 1.0, 3.0]), size=random.integers(4, 10, size=2)).astype(float)
    X[np.arange(len(X)), random.integers(0, X.shape[1], size=len(X))] += 1
    X[random.integers(0, len(X), size=X.shape[1]), np.arange(X.shape[1])] += 1
    return X


def with_zeros(X, random):
    """Return X with all-zero rows and columns anywhere in it, and where its own rows and columns are."""
    m, n = X.shape
    rows, cols = (np.sort(random.permutation(size + random.integers(0, 9))[:size]) for size in (m, n))
    rows, cols = rows - rows.min(), cols - cols.min() + random.integers(0, 3)
    whole = np.zeros((rows.max() + 1 + random.integers(0, 3), cols.max() + 1 + random.integers(0, 3)))
    whole[np.ix_(rows, cols)] = X
    return whole, rows, cols


def quietly(task, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return task(*args)


def moved(indices, where):
    return None if indices is None else where[indices].tolist()


def listed(indices):
    return None if indices is None else indices.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", SELECTORS)
@settings(deadline=None, max_examples=12)
@given(seed=SEEDS, form=st.sampled_from(list(FORMS)))
def test_no_selector_sees_all_zero_rows_and_columns(name, seed, form):
    random = np.random.default_rng(seed)
    X = counts(random)
    whole, rows, cols = with_zeros(X, random)
    chosen, found = (quietly(SELECTORS[name], FORMS[form](data)) for data in (X, whole))
    assert listed(found.row_indices) == moved(chosen.row_indices, rows)
    assert listed(found.col_indices) == moved(chosen.col_indices, cols)
    assert found.history == chosen.history
    assert found.gap == chosen.gap


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, form=st.sampled_from(list(FORMS)))
def test_no_estimator_sees_all_zero_rows_and_columns(name, seed, form):
    random = np.random.default_rng(seed)
    X = counts(random)
    whole, rows, cols = with_zeros(X, random)
    model = MODELS[name]
    here, there = ({**vars(quietly(model.fit, FORMS[form](data)))} for data in (X, whole))
    no_row, no_col = np.delete(np.arange(len(whole)), rows), np.delete(np.arange(whole.shape[1]), cols)
    if "row_labels_" in here:
        np.testing.assert_array_equal(there["row_labels_"][rows], here["row_labels_"])
        np.testing.assert_array_equal(there["column_labels_"][cols], here["column_labels_"])
        assert (there["row_labels_"][no_row] == -1).all()
        assert (there["column_labels_"][no_col] == -1).all()
    if "row_indices_" in here:
        assert listed(there["row_indices_"]) == moved(here["row_indices_"], rows)
        assert listed(there["col_indices_"]) == moved(here["col_indices_"], cols)
    np.testing.assert_allclose(there["row_factor_"][rows], here["row_factor_"], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(there["col_factor_"][:, cols], here["col_factor_"], rtol=1e-12, atol=1e-13)
    assert not there["row_factor_"][no_row].any()
    assert not there["col_factor_"][:, no_col].any()
    for attribute in ("row_fidelity_", "col_fidelity_", "core_fidelity_", "reconstruction_err_"):
        if here.get(attribute) is not None:
            assert there[attribute] == pytest.approx(here[attribute], rel=1e-7, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH_SELECTORS)
@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, sparse=st.booleans())
def test_blocks_with_all_zero_rows_and_columns_select_what_memory_does(name, seed, sparse):
    random = np.random.default_rng(seed)
    whole = with_zeros(counts(random), random)[0]
    form = scipy.sparse.csr_array if sparse else np.asarray
    blocks = row_blocks([form(part) for part in np.array_split(whole, random.integers(1, 4))])
    here, there = (quietly(CoSeparableNMF(2, 2, method=name).fit, data) for data in (form(whole), blocks))
    np.testing.assert_array_equal(here.row_indices_, there.row_indices_)
    np.testing.assert_array_equal(here.col_indices_, there.col_indices_)
    for model in (here, there):
        np.testing.assert_array_equal(model.row_labels_ == -1, ~whole.any(axis=1))
        np.testing.assert_array_equal(model.column_labels_ == -1, ~whole.any(axis=0))


@pytest.mark.parametrize("seed", range(2, 14, 2))
def test_at_rank_one_zeros_have_no_label(seed):
    random = np.random.default_rng(seed)
    m, n = random.integers(3, 9, size=2)
    X = random.integers(0, 4, size=(m, n)).astype(float)
    X[random.integers(m)], X[:, random.integers(n)] = 0, 0
    for data in (X, scipy.sparse.csr_array(X), row_blocks([X[:2], X[2:]])):
        model = quietly(CoSeparableNMF(1, 1).fit, data)
        np.testing.assert_array_equal(model.row_labels_, np.where(X.any(axis=1), 0, -1))
        np.testing.assert_array_equal(model.column_labels_, np.where(X.any(axis=0), 0, -1))


def test_preselection_does_not_see_zeros_either():
    random = np.random.default_rng(3)
    for _ in range(10):
        X = counts(random)
        whole, _, cols = with_zeros(X, random)
        kept, found = preselect(X, 3), preselect(whole, 3)
        np.testing.assert_array_equal(found.representatives, cols[kept.representatives])
        np.testing.assert_array_equal(found.labels[cols], kept.labels)


@pytest.mark.parametrize("name", SCALINGS)
def test_scales_of_zeros_are_one_and_others_do_not_depend_on_them(name):
    random = np.random.default_rng(4)
    X = random.gamma(0.5, size=(6, 5))
    whole, rows, cols = with_zeros(X, random)
    here, there = (quietly(scale, data, name)[1] for data in (X, whole))
    for scales, base, where in ((there.rows, here.rows, rows), (there.cols, here.cols, cols)):
        expected = np.ones(len(scales))
        expected[where] = base
        np.testing.assert_array_equal(scales, expected)


def test_a_zero_column_that_must_be_included_is():
    X = np.diag([3.0, 0.0, 2.0, 1.0])
    for name in WITH_POOLS:
        chosen = quietly(lambda name=name: BOTH_SELECTORS[name](X, 2, 2, col_pool=Pool(include=[1])))
        assert chosen.col_indices.tolist() == [1, 0], name


def test_more_than_the_nonzero_ones_may_be_asked_for():
    X = np.zeros((6, 6))
    X[:2, :2] = [[2.0, 1.0], [0.0, 3.0]]
    for name, select in BOTH_SELECTORS.items():
        with pytest.warns(SelectionWarning) as caught:
            chosen = select(X, 4, 4)
        assert any("Only 2 of the 4 rows" in str(one.message) for one in caught), name
        assert sorted(chosen.row_indices) == sorted(chosen.col_indices) == [0, 1], name


def test_the_part_keeps_the_order_of_memory_and_shares_it_where_nothing_is_left_out():
    X = np.ones((4, 3))
    assert filled(as_matrix(X)).M.raw is X
    X[1], X[:, 2] = 0, 0
    for form in (np.ascontiguousarray, np.asfortranarray):
        part = filled(as_matrix(form(X))).M.raw
        assert part.shape == (3, 2)
        assert part.flags.c_contiguous == form(X).flags.c_contiguous
        assert part.flags.f_contiguous == form(X).flags.f_contiguous
    stored_zero = scipy.sparse.csr_array((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([0, 1]))), shape=(3, 3))
    assert filled(as_matrix(stored_zero)).M.shape == (1, 1)


def test_a_matrix_of_zeros_stays_whole_and_is_refused():
    assert filled(as_matrix(np.zeros((3, 2)))).M.shape == (3, 2)
    for select in BOTH_SELECTORS.values():
        with pytest.raises(ValueError, match="nonzero entry"):
            select(np.zeros((3, 2)), 1, 1)
