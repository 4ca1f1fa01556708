"""What is said of a row or column that is looked up agrees with the model and with dense arithmetic."""

import numpy as np
import pytest
import scipy.sparse

from cosep import CoSeparableNMF, Selection, describe, make_coseparable, mix
from cosep.findings import look_up as module
from cosep.findings.look_up import look_up
from cosep.findings.topics import topics_of
from cosep.matrix.validation import as_matrix


@pytest.fixture(scope="module", params=["degree", None])
def case(request):
    X, _ = make_coseparable(40, 25, 4, 3, noise=0.3, random_state=4)
    X[5], X[:, 7] = 0.0, 0.0
    record = CoSeparableNMF(4, 3, scaling=request.param).fit(X).factorization_
    return X, record, describe(X, record)


def both_sides(X, record, found):
    return (
        (X, record, found.rows, look_up(topics_of(record), found.rows, as_matrix(X))),
        (X.T, record.T, found.cols, look_up(topics_of(record.T), found.cols, as_matrix(X).T)),
    )


def test_all_rows_are_there_with_the_selected_ones_first(case):
    for X, record, table, look in both_sides(*case):
        chosen = record.selection.row_indices
        assert look.indices[: len(chosen)].tolist() == chosen.tolist()
        assert sorted(look.indices) == list(range(len(X)))
        assert look.n_all == len(X)
        np.testing.assert_array_equal(look.topics[:, 0], table["cluster"][look.indices])
        known = look.topics[:, 0] >= 0
        np.testing.assert_allclose(look.shares[known, 0], table["membership"][look.indices][known])
        np.testing.assert_allclose(look.shares[known].sum(axis=1), 1.0)


def test_what_it_would_explain_is_what_multiples_of_it_take_from_the_rest(case):
    for X, record, table, look in both_sides(*case):
        D, E = (np.ones(X.shape[0]), np.ones(X.shape[1]))
        if record.scaling is not None:
            D, E = record.scaling.rows, record.scaling.cols
        A = D[:, None] * X * E
        parts = [
            np.outer(D * record.row_factor[:, k], (record.core @ record.col_factor)[k] * E)
            for k in range(record.core.shape[0])
        ]
        chosen = record.selection.row_indices
        for place, i in enumerate(look.indices):
            k = table["cluster"][i]
            if k < 0:
                assert np.isnan([look.similarity[place], look.instead[place], look.own[place]]).all()
                continue
            left = A - sum(part for l, part in enumerate(parts) if l != k)
            for row, said in ((i, look.instead[place]), (chosen[k], look.own[place])):
                c = X[row] * E
                weights = np.maximum(left @ c, 0) / (c @ c)
                expected = (left**2).sum() - ((left - np.outer(weights, c)) ** 2).sum()
                assert said == pytest.approx(expected / (A**2).sum(), abs=1e-10)
            a, b = X[i] * E, X[chosen[k]] * E
            assert look.similarity[place] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_units_and_storage_do_not_matter(case, unit):
    X, record, _ = case
    name = None if record.scaling is None else "degree"
    plain = mix(X, record.selection, scaling=name)
    expected = look_up(topics_of(plain), describe(X, plain).rows, as_matrix(X))
    scaled = mix(unit * X, record.selection, scaling=name)
    other = look_up(topics_of(scaled), describe(unit * X, scaled).rows, as_matrix(scipy.sparse.csr_array(unit * X)))
    np.testing.assert_array_equal(other.topics[:, 0], expected.topics[:, 0])
    for part in ("shares", "similarity", "instead", "own"):
        np.testing.assert_allclose(getattr(other, part), getattr(expected, part), atol=1e-6)


def test_of_many_rows_those_are_kept_that_are_named_or_weigh_most(case, monkeypatch):
    X, record, found = case
    monkeypatch.setattr(module, "MOST_KEPT", 10)
    monkeypatch.setattr(module, "FEWEST_KEPT", 5)
    whole = topics_of(record)
    look = look_up(whole, found.rows, as_matrix(X), named=[39, 5, 39])
    first = [*record.selection.row_indices.tolist(), 39, 5]
    assert look.indices[:6].tolist() == list(dict.fromkeys(first))[:6]
    weights = np.linalg.norm(whole.row_scale[:, None] * X * whole.col_scale, axis=1)
    rest = look.indices[len(dict.fromkeys(first)) :]
    assert len(look.indices) == 10
    assert weights[rest].min() >= np.delete(weights, look.indices).max()
    monkeypatch.setattr(module, "MOST_PRODUCTS", 1)
    assert len(look_up(whole, found.rows, as_matrix(X)).indices) == 5


def test_a_selected_row_that_another_topic_holds_is_measured_in_its_own():
    X = np.array([[5.0, 1.0, 0.0], [4.0, 1.0, 0.0], [0.0, 1.0, 6.0], [0.0, 2.0, 5.0]])
    record = mix(X, Selection([0, 1, 2], [0, 2]))
    found = describe(X, record)
    look = look_up(topics_of(record), found.rows, as_matrix(X))
    assert np.isfinite(look.own[look.topics[:, 0] >= 0]).all()
