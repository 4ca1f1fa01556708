"""Explanations: every number against a slow version, and under permutation, scaling and transposition."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import (
    HALSNMF,
    CoSeparableNMF,
    Explanation,
    Factorization,
    Selection,
    SeparableNMF,
    explain,
    faithful,
    make_coseparable,
    mix,
)
from oracles import checked_nnls

module = import_module("cosep.assess.explanation")
FIGURES = ("share", "loss", "runner_up_loss", "size")


def counts(seed, shape=(30, 25)):
    """Return a topic-like matrix of counts without empty rows and columns, and without ties."""
    random = np.random.default_rng(seed)
    X = random.poisson(random.gamma(0.4, size=(shape[0], 4)) @ random.gamma(0.3, 3.0, size=(4, shape[1])))
    return X + 0.1 * random.random(shape)


def weights(X, rows):
    return np.array([checked_nnls(X[rows].T, x)[0] for x in X])


def fidelity(X, rows):
    return 1 - np.linalg.norm(X - weights(X, rows) @ X[rows]) / np.linalg.norm(X)


def fitted(X, n_rows=4, n_cols=3):
    return mix(X, faithful(X, n_rows, n_cols))


def with_one(rows, k, other):
    return [*rows[:k], *other, *rows[k + 1 :]]


@pytest.mark.parametrize("seed", range(3))
def test_every_number_agrees_with_a_slow_version(seed):
    X = counts(seed)
    factorization = fitted(X)
    why, chosen = explain(factorization, X), factorization.selection
    for table, A, indices in ((why.rows, X, chosen.row_indices), (why.cols, X.T, chosen.col_indices)):
        rows = indices.tolist()
        U, full = weights(A, rows), fidelity(A, rows)
        parts = [np.vdot(A, np.outer(U[:, k], A[row])) / np.vdot(A, A) for k, row in enumerate(rows)]
        np.testing.assert_allclose(table["share"], parts)
        losses = [full - fidelity(A, with_one(rows, k, [])) for k in range(len(rows))]
        np.testing.assert_allclose(table["loss"], losses, atol=1e-10)
        outside = [j for j in range(len(A)) if j not in rows]
        for k in range(len(rows)):
            instead = [full - fidelity(A, with_one(rows, k, [j])) for j in outside]
            assert table["runner_up_loss"][k] == pytest.approx(min(instead), abs=1e-10)
            assert table["runner_up"][k] == outside[int(np.argmin(instead))]
        labels = (U * np.linalg.norm(A[rows], axis=1)).argmax(axis=1)
        np.testing.assert_array_equal(table["size"], np.bincount(labels, minlength=len(rows)))
        np.testing.assert_array_equal(table["index"], indices)


@pytest.mark.parametrize("seed", range(3))
def test_the_short_list_finds_a_runner_up_nearly_as_good_as_the_best(seed, monkeypatch):
    X = counts(seed, (120, 90))
    factorization = fitted(X, 4, 4)
    exact = explain(factorization, X)
    monkeypatch.setattr(module, "CHEAP_PROBLEMS", 0)
    short = explain(factorization, X)
    for some, every, A in ((short.rows, exact.rows, X), (short.cols, exact.cols, X.T)):
        missed = some["runner_up_loss"] - every["runner_up_loss"]
        assert missed.min() >= -1e-9
        assert (missed <= 0.2 * every["loss"]).all()
        rows = some["index"].tolist()
        for k, other in enumerate(some["runner_up"]):
            direct = fidelity(A, rows) - fidelity(A, with_one(rows, k, [other]))
            assert some["runner_up_loss"][k] == pytest.approx(direct, abs=1e-10)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([3.0, 0.37, 1e-100, 1e140]))
def test_numbers_follow_permutations_and_scales_and_satisfy_their_bounds(seed, factor):
    X = counts(seed)
    factorization = fitted(X)
    why, explained = explain(factorization, X), factorization.fidelity(X)
    for table, part in ((why.rows, explained.rows), (why.cols, explained.cols)):
        assert table["share"].min() >= 0
        assert table["share"].sum() == pytest.approx(1 - (1 - part) ** 2)
        assert table["loss"].min() >= 0
        assert (table["runner_up_loss"] <= table["loss"]).all()
    random = np.random.default_rng(seed)
    p, q = random.permutation(len(X)), random.permutation(X.shape[1])
    chosen = factorization.selection
    moved = Selection(np.argsort(p)[chosen.row_indices], np.argsort(q)[chosen.col_indices])
    turned = explain(factorization.T, X.T)
    others = (
        explain(replace(factorization, core=factor * factorization.core), factor * X),
        explain(factorization, scipy.sparse.csc_array(X)),
        Explanation(turned.cols, turned.rows, turned.col_errors, turned.row_errors),
    )
    for other in others:
        np.testing.assert_allclose(other.row_errors, why.row_errors, atol=1e-9)
        np.testing.assert_allclose(other.col_errors, why.col_errors, atol=1e-9)
    for other in (*others, explain(mix(X[p][:, q], moved), X[p][:, q])):
        for mine, theirs in ((why.rows, other.rows), (why.cols, other.cols)):
            for figure in FIGURES:
                np.testing.assert_allclose(theirs[figure], mine[figure], atol=1e-9)


def test_errors_of_rows_and_columns_are_those_of_the_refitted_factors():
    X = counts(0)
    X[3], X[:, 5] = 0.0, 0.0
    factorization = fitted(X)
    left = X - factorization.reconstruct()
    why = explain(factorization, scipy.sparse.coo_array(X))
    with np.errstate(invalid="ignore"):
        expected = [np.linalg.norm(left, axis=axis) / np.linalg.norm(X, axis=axis) for axis in (1, 0)]
    assert np.isnan(expected[0][3])
    assert np.isnan(expected[1][5])
    np.testing.assert_allclose(why.row_errors, expected[0], rtol=1e-9)
    np.testing.assert_allclose(why.col_errors, expected[1], rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_tiny_errors_are_neither_negative_nor_lost(form):
    W, H = np.random.default_rng(0).random((9, 2)), np.random.default_rng(1).random((2, 7))
    X = W @ H
    X[4, 2] += 1e-9
    errors = Factorization(W, None, H).row_errors(form(X))
    assert errors[4] == pytest.approx(1e-9 / np.linalg.norm(X[4]), rel=1e-5)
    assert (np.delete(errors, 4) < 1e-15).all()


def test_factors_far_too_large_have_errors_far_too_large():
    huge = Factorization(np.array([[1e300], [1e300]]), None, np.array([[1.0, 1.0]]))
    errors = huge.row_errors(np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert errors[0] == pytest.approx(1e300)
    assert np.isnan(errors[1])
    assert (huge.row_errors(np.full((2, 2), 1e-300)) == np.inf).all()


def test_without_noise_nothing_is_left_and_nothing_outside_replaces_a_corner_fully():
    X, truth = make_coseparable(30, 20, 4, 4, random_state=0)
    why = explain(mix(X, truth), X)
    for table in (why.rows, why.cols):
        assert table["share"].sum() == pytest.approx(1.0)
        assert (table["loss"] > 1e-3).all()
        assert (table["runner_up_loss"] > 0).all()
        assert (table["runner_up"] >= 0).all()
    assert why.row_errors.max() < 1e-3


def test_the_runner_up_of_a_duplicated_row_is_its_duplicate():
    X = counts(1)
    chosen = faithful(X, 3, 3)
    first, last = chosen.row_indices[0], len(X)
    X = np.concatenate([X, 2 * X[[first]], X[[first]]])
    why = explain(mix(X, chosen), X)
    assert why.rows["runner_up"][0] == last
    assert why.rows["runner_up_loss"][0] == pytest.approx(0.0, abs=1e-9)


def test_a_row_that_the_others_explain_has_no_loss_and_no_runner_up():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 3.0, 0.0], [5.0, 1.0, 0.0]])
    why = explain(mix(X, Selection([0, 1, 2], [0, 1])), X)
    assert why.rows["loss"][2] == pytest.approx(0.0, abs=1e-12)
    assert (why.rows["runner_up"][2], why.rows["runner_up_name"][2]) == (-1, "")
    assert why.rows["runner_up_loss"][2] == why.rows["loss"][2]


def test_if_all_rows_are_selected_there_is_no_runner_up():
    X = np.random.default_rng(0).random((3, 9))
    why = explain(mix(X, Selection([2, 0, 1], [4])), X)
    assert why.rows["runner_up"].tolist() == [-1, -1, -1]
    np.testing.assert_array_equal(why.rows["runner_up_loss"], why.rows["loss"])


def test_a_selected_row_of_zeros_explains_nothing():
    X = counts(2)
    X[0] = 0.0
    why = explain(mix(X, Selection([0, 4, 5], [1, 2])), X)
    assert [why.rows[figure][0] for figure in ("share", "loss", "size")] == [0, 0, 0]
    assert why.rows["runner_up_loss"][0] < 0


def test_names_are_those_of_the_factorization_or_positions():
    X = counts(3)
    factorization = fitted(X, 2, 2)
    row, col = factorization.selection.row_indices[0], factorization.selection.col_indices[0]
    plain = explain(factorization, X)
    assert (plain.rows["name"][0], plain.cols["name"][0]) == (f"row {row}", f"column {col}")
    assert plain.cols["runner_up_name"][0] == f"column {plain.cols['runner_up'][0]}"
    named = replace(factorization, row_names=[f"<{i}>" for i in range(len(X))], col_names=["w"] * X.shape[1])
    why = explain(named, X)
    assert (why.rows["name"][0], why.cols["name"][0]) == (f"<{row}>", "w")
    assert why.rows["runner_up_name"][0] == f"<{why.rows['runner_up'][0]}>"


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_a_selection_of_one_side_is_explained_on_that_side(axis):
    X = counts(4)
    model = SeparableNMF(3, axis=axis).fit(X)
    chosen = Selection(model.row_indices_, model.col_indices_)
    why = explain(mix(X, chosen), X)
    here, there = (why.rows, why.cols) if axis == "rows" else (why.cols, why.rows)
    assert here.keys() == there.keys()
    assert {len(column) for column in here.values()} == {3}
    assert {len(column) for column in there.values()} == {0}


def test_a_table_is_a_data_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = counts(5)
    model = CoSeparableNMF(3, 3).fit(X.astype(np.float32))
    model.factorization_.save(tmp_path / "model.npz")
    why = explain(Factorization.load(tmp_path / "model.npz"), X)
    assert pandas.DataFrame(why.rows).shape == (3, 8)


def test_progress_is_reported_and_input_is_not_changed():
    X = counts(6)
    X.flags.writeable = False
    steps = []
    explain(fitted(X, 3, 2), X, callback=lambda *step: steps.append(step[:3]))
    assert steps == [("explain", step, 5) for step in range(1, 6)]


def test_a_factorization_without_a_selection_is_refused():
    X = counts(7)
    nmf = HALSNMF(2).fit(X)
    for other in (Factorization(nmf.row_factor_, None, nmf.col_factor_), nmf, None):
        with pytest.raises(ValueError, match=r"factorization must be a Factorization with a selection, got"):
            explain(other, X)
    factorization = fitted(X)
    with pytest.raises(ValueError, match=r"X has shape \(25, 30\)"):
        explain(factorization, X.T)
    with pytest.raises(ValueError, match="X has no nonzero entry"):
        explain(factorization, np.zeros_like(X))
    with pytest.raises(ValueError, match="callback"):
        explain(factorization, X, callback=3)
