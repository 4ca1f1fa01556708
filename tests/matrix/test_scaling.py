"""Scalings do what their names say, survive zeros, and can be undone."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cosep import Selection, mix
from cosep.matrix.scaling import DEGREE_SHARE, SCALINGS, UNEQUAL, UNEQUAL_SHARE, scale, shares_of, sums_of
from cosep.matrix.validation import as_matrix
from oracles import unscale

RANDOM = np.random.default_rng(2)
X = RANDOM.uniform(0.1, 1, size=(7, 5))


def with_zeros(X):
    X = X.copy()
    X[2] = 0
    X[:, 3] = 0
    return X


@pytest.mark.parametrize("name", SCALINGS)
def test_both_diagonals_give_the_scaled_matrix(name, kind):
    scaled, scaling = scale(kind(X), name)
    assert scaled.is_sparse == scipy.sparse.issparse(kind(X))
    np.testing.assert_allclose(scaled.take(), scaling.rows[:, None] * X * scaling.cols, rtol=1e-14)
    assert scaling.name == name


@pytest.mark.parametrize("name", SCALINGS)
def test_zero_rows_and_columns_pass_through(name):
    Z = with_zeros(X)
    scaled, scaling = scale(Z, name)
    np.testing.assert_allclose(scaled.take(), scaling.rows[:, None] * Z * scaling.cols, rtol=1e-14)
    assert (scaled.take() > 0).tolist() == (Z > 0).tolist()
    assert scaling.rows[2] == scaling.cols[3] == 1
    assert np.isfinite(scaling.rows).all()
    assert (scaling.rows > 0).all()
    assert (scaling.cols > 0).all()


def test_the_sums_are_what_the_names_promise():
    Z = with_zeros(X)
    rows, cols = np.delete(np.arange(7), 2), np.delete(np.arange(5), 3)
    np.testing.assert_allclose(scale(Z, "rows")[0].take().sum(axis=1)[rows], 1)
    np.testing.assert_allclose(scale(Z, "columns")[0].take().sum(axis=0)[cols], 1)
    balanced = scale(X, "sinkhorn")[0].take()
    np.testing.assert_allclose(balanced.sum(axis=0), 7, rtol=1e-8)
    np.testing.assert_allclose(balanced.sum(axis=1), 5, rtol=1e-8)
    sums = [part + 0.2 * part[part > 0].mean() for part in (Z.sum(axis=1), Z.sum(axis=0))]
    np.testing.assert_allclose(scale(Z, "degree")[0].take(), Z / np.sqrt(sums[0])[:, None] / np.sqrt(sums[1]))


@settings(deadline=None, max_examples=30)
@given(name=st.sampled_from(sorted(SCALINGS)), power=st.sampled_from([-1060, -600, -20, 20, 600, 1000]))
def test_a_multiple_of_the_matrix_has_the_same_scaled_matrix(name, power):
    expected = scale(X, name)[0].take()
    scaled, scaling = scale(np.ldexp(X, power), name)
    np.testing.assert_allclose(scaled.take(), expected, rtol=1e-13 if power > -1000 else 1e-3)
    assert np.isfinite(scaling.rows).all()
    assert np.isfinite(scaling.cols).all()


@pytest.mark.parametrize("name", SCALINGS)
def test_factors_of_the_scaled_matrix_become_factors_of_the_matrix(name):
    core = RANDOM.uniform(size=(3, 3))
    P1, P2 = np.vstack([np.eye(3), RANDOM.uniform(size=(6, 3))]), np.hstack([np.eye(3), RANDOM.uniform(size=(3, 4))])
    exact = P1 @ core @ P2
    chosen = Selection(np.arange(3), np.arange(3))
    scaled, scaling = scale(exact, name)
    factors = unscale(mix(scaled, chosen), scaling)
    assert factors.scaling is scaling
    np.testing.assert_allclose(factors.core, core)
    assert factors.relative_error(exact) < 1e-9
    np.testing.assert_allclose(factors.row_weights @ exact[:3], exact, rtol=1e-6)
    np.testing.assert_allclose(exact[:, :3] @ factors.col_weights, exact, rtol=1e-6)
    one_sided = unscale(mix(scaled, Selection(None, np.arange(3))), scaling)
    assert one_sided.relative_error(exact) < 1e-9


@pytest.mark.parametrize("pattern", [[[1, 0], [1, 0], [0, 1]], [[1, 1, 1], [0, 0, 1], [0, 0, 1]]])
def test_sinkhorn_says_when_the_zeros_admit_no_balance(pattern):
    with pytest.warns(ConvergenceWarning, match="did not balance"):
        scaled, scaling = scale(pattern, "sinkhorn")
    assert np.isfinite(scaled.take()).all()
    assert np.isfinite(scaling.rows).all()


def test_an_all_zero_matrix_is_its_own_scaling():
    for name in SCALINGS:
        np.testing.assert_array_equal(scale(np.zeros((2, 3)), name)[0].take(), np.zeros((2, 3)))


def test_an_unknown_rule_is_refused_with_the_list_of_rules():
    with pytest.raises(ValueError, match=f"scaling='tfidf' must be one of {', '.join(map(repr, SCALINGS))}"):
        scale(as_matrix(X), "tfidf")


def short_rows():
    """Rows with few entries in columns of very unequal frequency, as in short texts."""
    random = np.random.default_rng(0)
    frequencies = 1.0 / np.arange(1, 301) ** 1.2
    cols = random.choice(300, (800, 3), p=frequencies / frequencies.sum())
    return scipy.sparse.csr_array((np.ones(2400), (np.repeat(np.arange(800), 3), cols.ravel())), shape=(800, 300))


def test_columns_of_unequal_frequency_get_a_larger_share_where_rows_are_short():
    Z = short_rows()
    sums = sums_of(as_matrix(Z))
    row_share, col_share = shares_of(sums, DEGREE_SHARE)
    counts = (Z.toarray() > 0).sum(axis=0)
    counts = counts[counts > 0]
    # A column with entries in a hundredth of the rows has half of the weight that it would have without an offset.
    expected = 0.01 * (Z.sum(axis=1) > 0).sum() / counts.mean()
    assert (row_share, col_share) == (DEGREE_SHARE, pytest.approx(expected))
    assert expected > DEGREE_SHARE
    assert counts.var() / counts.mean() ** 2 > UNEQUAL + expected / UNEQUAL_SHARE
    for other in (7.0 * Z, Z.toarray(), scipy.sparse.vstack([Z, Z]), scipy.sparse.hstack([Z, np.zeros((800, 5))])):
        assert shares_of(sums_of(as_matrix(other)), DEGREE_SHARE)[1] == pytest.approx(col_share)
    assert shares_of(sums_of(as_matrix(Z.T)), DEGREE_SHARE) == pytest.approx((col_share, row_share))
    weights = np.arange(800) % 3
    copies = scipy.sparse.csr_array(Z.tocsr()[np.repeat(np.arange(800), weights)])
    weighted, repeated = (
        shares_of(sums, DEGREE_SHARE)
        for sums in (sums_of(as_matrix(Z), weights.astype(float)), sums_of(as_matrix(copies)))
    )
    assert weighted == pytest.approx(repeated)


def test_the_share_has_no_jump_where_columns_become_unequal():
    """Columns 2 to 400 hold one entry each, and the first one more and more of them."""
    shares, variations = [], []
    for count in range(20, 45):
        cols = np.concatenate([np.zeros(count, dtype=int), np.arange(1, 401)])
        Z = scipy.sparse.csr_array((np.ones(len(cols)), (np.arange(len(cols)), cols)))
        counts = np.bincount(cols)
        variations.append(counts.var() / counts.mean() ** 2)
        shares.append(shares_of(sums_of(as_matrix(Z)), DEGREE_SHARE)[1])
    common = 0.01 * 400
    expected = [max(DEGREE_SHARE, min(common, UNEQUAL_SHARE * (one - UNEQUAL))) for one in variations]
    np.testing.assert_allclose(shares, expected, rtol=0.15)
    assert shares[0] == DEGREE_SHARE < shares[-1]


def test_a_full_table_keeps_the_share():
    dense = np.random.default_rng(0).lognormal(sigma=3, size=(50, 4))
    assert shares_of(sums_of(as_matrix(dense)), DEGREE_SHARE) == (DEGREE_SHARE, DEGREE_SHARE)
