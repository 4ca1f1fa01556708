"""New rows: the same numbers as those of the estimator, in every storage and unit."""

import numpy as np
import pytest
import scipy.sparse

from cosep import CoSeparableNMF, make_coseparable
from cosep.findings.new_rows import complete_rows, explain_rows
from cosep.matrix.validation import as_matrix


@pytest.fixture(scope="module")
def planted():
    X, _ = make_coseparable(40, 25, 4, 3, noise=0.2, random_state=0)
    X[3] = 0.0
    return X


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array, np.float32, as_matrix])
def test_coefficients_are_those_of_the_estimator(planted, kind):
    model = CoSeparableNMF(4, 3).fit(planted[:30])
    found = explain_rows(model.factorization_, kind(planted))
    expected = model.transform(planted if kind is as_matrix else kind(planted))
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-12, atol=1e-12)
    assert found.coefficients.dtype == expected.dtype


@pytest.mark.parametrize("exponent", [-1000, -300, 0, 300, 1000])
def test_units_change_coefficients_alone(planted, exponent):
    record = CoSeparableNMF(4, 3).fit(planted[:30]).factorization_
    plain, scaled = explain_rows(record, planted), explain_rows(record, np.ldexp(planted, exponent))
    np.testing.assert_allclose(scaled.coefficients, np.ldexp(plain.coefficients, exponent), rtol=1e-12)
    np.testing.assert_allclose(scaled.shares, plain.shares)
    np.testing.assert_allclose(scaled.explained, plain.explained, atol=1e-12)
    np.testing.assert_array_equal(scaled.labels, plain.labels)


def test_shares_and_errors_come_from_the_coefficients(planted):
    model = CoSeparableNMF(4, 3).fit(planted)
    found = explain_rows(model.factorization_, planted)
    E = model.factorization_.scaling.cols
    parts = model.transform(planted) * np.linalg.norm(model.components_ * E, axis=1)
    left = planted - model.inverse_transform(found.coefficients)
    for i, row in enumerate(planted):
        if not row.any():
            assert found.labels[i] == -1
            assert np.isnan([found.shares[i], found.explained[i]]).all()
            continue
        assert found.labels[i] == parts[i].argmax()
        assert found.shares[i] == pytest.approx(parts[i].max() / parts[i].sum())
        assert found.explained[i] == pytest.approx(1 - (np.linalg.norm(left[i] * E) / np.linalg.norm(row * E)) ** 2)


def test_rows_are_completed_as_by_the_estimator(planted):
    model = CoSeparableNMF(4, 3).fit(planted)
    known = planted[:, model.col_indices_]
    np.testing.assert_array_equal(complete_rows(model.factorization_, known), model.complete(known))


def test_other_columns_are_refused(planted):
    record = CoSeparableNMF(4, 3).fit(planted).factorization_
    with pytest.raises(ValueError, match="X has 20 columns, but the factorization stands for 25"):
        explain_rows(record, planted[:, :20])
