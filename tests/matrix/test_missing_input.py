"""Input with missing entries."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cosep.matrix.local import LocalMatrix
from cosep.matrix.missing import as_observed, check_observed
from cosep.matrix.observed import Observed

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 5, size=(8, 6)).astype(float)
GAPS = RANDOM.uniform(size=X.shape) < 0.3
NAN = np.where(GAPS, np.nan, X)


def stored_only(where, kind=scipy.sparse.coo_array):
    """Return a sparse matrix that stores these entries, zeros too."""
    rows, cols = np.nonzero(where)
    return kind(scipy.sparse.coo_array((X[rows, cols], (rows, cols)), shape=X.shape))


FORMS = {
    "dense": (NAN, "nan"),
    "float32": (NAN.astype(np.float32), "nan"),
    "Fortran order": (np.asfortranarray(NAN), "nan"),
    "list": (NAN.tolist(), "nan"),
    "frame": (pd.DataFrame(NAN), "nan"),
    "nullable frame": (pd.DataFrame(NAN).astype("Float64"), "nan"),
    "masked": (np.ma.masked_array(X, GAPS), "nan"),
    "mostly missing": (np.where(GAPS, X, np.nan), "nan"),
    "sparse with NaN": (scipy.sparse.csr_array(NAN), "nan"),
    **{
        f"stored {kind.__name__}": (stored_only(~GAPS, kind), "unstored")
        for kind in (scipy.sparse.coo_array, scipy.sparse.csr_array, scipy.sparse.csc_array)
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_gaps_and_observed_entries_are_known(form):
    data, missing = FORMS[form]
    gaps = ~GAPS if form == "mostly missing" else GAPS
    M = as_observed(data, missing)
    assert isinstance(M, Observed)
    assert (M.n_missing, M.n_observed) == (gaps.sum(), (~gaps).sum())
    np.testing.assert_array_equal(M.mask(slice(0, 8)), gaps)
    np.testing.assert_array_equal(M.T.mask(slice(1, 4)), gaps.T[1:4])
    np.testing.assert_array_equal(M.is_gap(np.array([2, 0]), np.array([5, 1])), gaps[[2, 0]][:, [5, 1]])
    np.testing.assert_array_equal(M.zeroed.take(), np.where(gaps, 0.0, X))
    np.testing.assert_array_equal(M.observed_per_row, (~gaps).sum(axis=1))
    np.testing.assert_allclose(M.gap_sums(np.arange(6.0)[:, None])[:, 0], gaps @ np.arange(6.0))
    np.testing.assert_array_equal(M.rows(np.array([3, 1])).mask(slice(0, 2)), gaps[[3, 1]])


@pytest.mark.parametrize("form", FORMS)
def test_filled_matrix_errors_and_norms(form):
    data, missing = FORMS[form]
    gaps = ~GAPS if form == "mostly missing" else GAPS
    M = as_observed(data, missing)
    W, H, D, E = RANDOM.uniform(size=(8, 2)), RANDOM.uniform(size=(2, 6)), np.arange(1.0, 9), np.arange(1.0, 7)
    full = np.where(gaps, W @ H, X)
    np.testing.assert_allclose(M.completed(W, H, D, E).take(), full * D[:, None] * E, atol=1e-12)
    error = ((X - W @ H) * D[:, None] * E)[~gaps]
    assert M.squared_error(W, H, D, E) == pytest.approx(error @ error)
    assert M.squared_norm(D, E) == pytest.approx(((X * D[:, None] * E)[~gaps] ** 2).sum())
    np.testing.assert_allclose(M.take(np.array([1, 4]), None, W, H), full[[1, 4]])
    np.testing.assert_allclose(M.take(None, np.array([1, 4]), W, H), full[:, [1, 4]])


@pytest.mark.parametrize("form", FORMS)
def test_entries_can_be_left_out(form):
    data, missing = FORMS[form]
    M = as_observed(data, missing)
    known, left_out = M.without(0.3)
    assert known.n_observed + left_out.n_observed == M.n_observed
    assert 0 < left_out.n_observed < M.n_observed / 2
    np.testing.assert_array_equal(left_out.zeroed.take() + known.zeroed.dot(np.eye(6)), M.zeroed.take())
    np.testing.assert_array_equal(left_out.mask(slice(0, 8)), M.mask(slice(0, 8)) | ~known.mask(slice(0, 8)))
    ones = np.ones(8), np.ones(6)
    assert known.squared_norm(*ones) + left_out.squared_norm(*ones) == pytest.approx(M.squared_norm(*ones))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in {"masked", "list", "nullable frame"}])
def test_the_data_comes_back_as_it_was_and_is_not_changed(form):
    data, missing = FORMS[form]
    before = data.copy()
    given = as_observed(data, missing).as_given()
    if missing == "unstored":
        assert given.nnz == data.nnz
        np.testing.assert_array_equal(given.toarray(), before.toarray())
    else:
        dense, was = (
            one.toarray() if scipy.sparse.issparse(one) else np.asarray(one, float) for one in (given, before)
        )
        np.testing.assert_array_equal(dense, was)


@pytest.mark.parametrize(
    ("data", "missing"),
    [(X, "nan"), (scipy.sparse.csr_array(X), "nan"), (stored_only(np.ones_like(X)), "unstored"), (X, None)],
    ids=["dense", "sparse", "all stored", "not asked for"],
)
def test_a_matrix_without_gaps_is_an_ordinary_one(data, missing):
    assert type(as_observed(data, missing)) is LocalMatrix


BAD = {
    "unstored of a dense matrix": (X, "unstored", "whose stored entries are the observed ones"),
    "negative observed": (np.where(GAPS, np.nan, X - 1), "nan", "Negative values"),
    "infinite observed": (np.where(GAPS, np.nan, np.inf), "nan", "infinity"),
    "NaN stored": (scipy.sparse.csr_array(NAN), "unstored", "NaN"),
    "not asked for": (NAN, None, r"X contains NaN \(\d+ of .*CoSeparableNMF\(missing='nan'\)"),
    "one dimension": (NAN[0], "nan", "two dimensions"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line(case):
    data, missing, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        as_observed(data, missing)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "missing"),
    [(np.full((3, 2), np.nan), "nan"), (scipy.sparse.csr_array((3, 2)), "unstored")],
    ids=["NaN", "unstored"],
)
def test_nothing_observed_is_refused(data, missing):
    with pytest.raises(ValueError, match=r"shape \(3, 2\) has no observed entry"):
        check_observed(as_observed(data, missing))


def test_rows_and_columns_without_observed_entries_are_told():
    gappy = NAN.copy()
    gappy[3], gappy[:, 1] = np.nan, np.nan
    with pytest.warns(UserWarning, match=r"1 row\(s\) \(\[3\]\) and 1 column\(s\) \(\[1\]\) without"):
        check_observed(as_observed(gappy, "nan"))
