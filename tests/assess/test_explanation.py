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
    describe,
    explain,
    faithful,
    make_coseparable,
    mix,
)
from cosep.matrix.scaling import scale
from cosep.select.column_choice import CORE_WEIGHT
from oracles import checked_nnls

module = import_module("cosep.assess.explanation")
exchanges = import_module("cosep.select.exchange")
FIGURES = ("share", "loss", "runner_up_loss", "size")


def counts(seed, shape=(30, 25)):
    """Return a topic-like matrix of counts without empty rows and columns, and without ties."""
    random = np.random.default_rng(seed)
    X = random.poisson(random.gamma(0.4, size=(shape[0], 4)) @ random.gamma(0.3, 3.0, size=(4, shape[1])))
    return X + 0.1 * random.random(shape)


def weights(X, rows):
    return np.array([checked_nnls(X[rows].T, x)[0] for x in X])


def sum_of_errors(X, rows, cols):
    """Return the sum of errors that the selection makes small, row by row and column by column; [] for no side."""
    U, V = weights(X, rows) if rows else None, weights(X.T, cols) if cols else None
    left = [X - U @ X[rows]] if rows else []
    left += [X - X[:, cols] @ V.T] if cols else []
    left += [np.sqrt(CORE_WEIGHT) * (X - U @ X[np.ix_(rows, cols)] @ V.T)] if rows and cols else []
    return sum(float((part**2).sum() / (X**2).sum()) for part in left)


def fitted(X, n_rows=4, n_cols=3, scaling=None):
    return mix(X, faithful(X, n_rows, n_cols), scaling=scaling)


def with_one(rows, k, other):
    return [*rows[:k], *other, *rows[k + 1 :]]


def sides(why, X, chosen):
    """Return the table, the matrix, and the selected rows and columns for the rows, then the same of the transpose."""
    rows, cols = ([] if one is None else one.tolist() for one in (chosen.row_indices, chosen.col_indices))
    return (why.rows, X, rows, cols), (why.cols, X.T, cols, rows)


def try_all(monkeypatch):
    """Let every row and column be tried, except the one that the closed form ranks last."""
    monkeypatch.setattr(exchanges, "N_NEAR", 1000)
    monkeypatch.setattr(module, "n_trials", lambda *_: 1_000_000)


@pytest.mark.parametrize("scaling", [None, "degree"])
@pytest.mark.parametrize("seed", range(3))
def test_every_number_agrees_with_a_slow_version(seed, scaling, monkeypatch):
    try_all(monkeypatch)
    X = counts(seed, (16, 13))
    factorization = fitted(X, scaling=scaling)
    why, chosen = explain(X, factorization), factorization.selection
    labels = factorization.row_labels, factorization.col_labels
    scaled = scale(X, scaling)[0].take()
    squares = np.linalg.svd(scaled, compute_uv=False) ** 2
    expected = [squares[:r].sum() / squares.sum() for r in (4, 3, 3, 3)]
    np.testing.assert_allclose(why.bound, expected, rtol=1e-9)
    for (table, A, rows, cols), label in zip(sides(why, scaled, chosen), labels, strict=True):
        U, now = weights(A, rows), sum_of_errors(A, rows, cols)
        assert why.sum_of_errors == pytest.approx(now)
        parts = [np.vdot(A, np.outer(U[:, k], A[row])) / np.vdot(A, A) for k, row in enumerate(rows)]
        np.testing.assert_allclose(table["share"], parts)
        losses = [sum_of_errors(A, with_one(rows, k, []), cols) - now for k in range(len(rows))]
        np.testing.assert_allclose(table["loss"], losses, atol=1e-10)
        outside = [j for j in range(len(A)) if j not in rows]
        for k in range(len(rows)):
            instead = [sum_of_errors(A, with_one(rows, k, [j]), cols) - now for j in outside]
            assert table["runner_up_loss"][k] == pytest.approx(min(instead), abs=1e-10)
            assert table["runner_up"][k] == outside[int(np.argmin(instead))]
        np.testing.assert_array_equal(table["size"], np.bincount(label, minlength=len(rows)))
        np.testing.assert_array_equal(table["index"], rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_few_that_are_tried_have_one_nearly_as_good_as_the_best(seed, monkeypatch):
    X = counts(seed, (120, 90))
    factorization = fitted(X, 4, 4)
    short = explain(X, factorization)
    try_all(monkeypatch)
    full = explain(X, factorization)
    for (some, A, rows, cols), every in zip(
        sides(short, X, factorization.selection), (full.rows, full.cols), strict=True
    ):
        missed = some["runner_up_loss"] - every["runner_up_loss"]
        assert missed.min() >= -1e-9
        assert (missed <= 0.2 * every["loss"]).all()
        k = int(np.argmin(some["loss"]))
        direct = sum_of_errors(A, with_one(rows, k, [some["runner_up"][k]]), cols) - short.sum_of_errors
        assert some["runner_up_loss"][k] == pytest.approx(direct, abs=1e-10)


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_the_losses_of_one_side_are_those_of_its_error(axis, monkeypatch):
    try_all(monkeypatch)
    X = counts(4, (14, 14))
    model = SeparableNMF(3, axis=axis).fit(X)
    chosen = Selection(model.row_indices_, model.col_indices_)
    why = explain(X, mix(X, chosen))
    here, there = sides(why, X, chosen)[:: 1 if axis == "rows" else -1]
    table, A, rows, _ = here
    now = sum_of_errors(A, rows, [])
    assert why.sum_of_errors == pytest.approx(now)
    assert table["share"].sum() == pytest.approx(1 - now)
    for k in range(3):
        assert table["loss"][k] == pytest.approx(sum_of_errors(A, with_one(rows, k, []), []) - now, abs=1e-10)
        instead = [sum_of_errors(A, with_one(rows, k, [j]), []) - now for j in range(14) if j not in rows]
        assert table["runner_up_loss"][k] == pytest.approx(min(instead), abs=1e-10)
    assert table.keys() == there[0].keys()
    assert {len(column) for column in table.values()} == {3}
    assert {len(column) for column in there[0].values()} == {0}


def various(seed):
    """Return matrices of several kinds and sizes."""
    random = np.random.default_rng(seed)
    m, n = random.integers(4, 40, 2)
    return (
        random.gamma(0.5, size=(m, n)),
        counts(seed, (m, n)),
        random.random((m, n)) * (random.random((m, n)) < 0.2) + np.eye(m, n),
        make_coseparable(m + 2, n + 2, 3, 3, noise=0.1, random_state=seed)[0],
        random.random((m, 2)) @ random.random((2, n)),
        (random.random((m, n)) < 0.4) + np.eye(m, n),
    )


@pytest.mark.slow
@pytest.mark.parametrize("scaling", [None, "degree", "rows", "sinkhorn"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_runner_up_lowers_the_sum_of_errors_that_the_search_ended_with(scaling):
    """The search rejected these exchanges, so that an explanation must not show them as gains, as it once did."""
    for seed in range(15):
        for X in various(seed):
            sizes = np.random.default_rng(seed).integers(1, np.minimum(8, X.shape) + 1)
            why = explain(X, CoSeparableNMF(*sizes, scaling=scaling).fit(X).factorization_)
            for table in (why.rows, why.cols):
                assert table["runner_up_loss"][table["runner_up"] >= 0].min(initial=0.0) >= 0
                assert (table["runner_up_loss"] <= table["loss"]).all()


@pytest.mark.parametrize("scaling", [None, "degree"])
def test_an_example_that_once_had_a_runner_up_better_than_the_selected_row(scaling):
    X = [[5, 4, 30, 1, 0, 1], [0, 0, 1, 1, 0, 0], [0, 0, 4, 1, 0, 0], [29, 1, 49, 60, 11, 18], [0, 3, 17, 6, 5, 3]]
    X = np.array([*X, [7, 6, 4, 9, 1, 2]], dtype=float)
    why = explain(X, CoSeparableNMF(2, 2, scaling=scaling).fit(X).factorization_)
    assert why.rows["runner_up_loss"].min() >= 0
    assert why.cols["runner_up_loss"].min() >= 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(20, 40))
def test_no_runner_up_lowers_the_sum_where_the_core_has_zero_rows(seed):
    """The search once ended with replacements that raised the sum (seed 27)."""
    random = np.random.default_rng(seed)
    X = np.round(9 * random.random((10, 10)) * (random.random((10, 10)) < 0.12))
    why = explain(X, mix(X, faithful(X, 4, 4)))
    assert min(why.rows["runner_up_loss"].min(), why.cols["runner_up_loss"].min()) >= 0


def test_a_position_that_the_search_does_not_try_has_a_runner_up_too(monkeypatch):
    X = counts(3, (40, 30))
    monkeypatch.setattr(exchanges, "TRIAL_WORK", 1)
    why = explain(X, fitted(X, 7, 6))
    assert (why.rows["runner_up"] >= 0).all()
    assert (why.cols["runner_up"] >= 0).all()


def test_zero_rows_and_columns_change_nothing():
    X = counts(2)
    chosen = faithful(X, 4, 3)
    large = np.zeros((33, 27))
    at = np.ix_(np.delete(np.arange(33), [0, 8, 32]), np.delete(np.arange(27), [3, 4]))
    large[at] = X
    moved = Selection(at[0].ravel()[chosen.row_indices], at[1].ravel()[chosen.col_indices])
    why, other = explain(X, mix(X, chosen)), explain(large, mix(large, moved))
    assert other.sum_of_errors == pytest.approx(why.sum_of_errors)
    for mine, theirs, places in ((why.rows, other.rows, at[0].ravel()), (why.cols, other.cols, at[1].ravel())):
        np.testing.assert_array_equal(theirs["runner_up"], places[mine["runner_up"]])
        for figure in FIGURES:
            np.testing.assert_allclose(theirs[figure], mine[figure], atol=1e-9)


@pytest.mark.parametrize("seed", [6, 21, 41])
def test_shares_add_up_where_selected_rows_depend_on_each_other(seed):
    """Weights are then not determined; the products of X with what they explain added up to 5e-9 less or more."""
    random = np.random.default_rng(seed)
    X = random.random((20, 2)) @ random.random((2, 15))
    model = CoSeparableNMF(4, 6, method="fgm", scaling=None).fit(X)
    why, found = explain(X, model), describe(X, model)
    for table, all_of_side, fidelity in (
        (why.rows, found.rows, model.row_fidelity_),
        (why.cols, found.cols, model.col_fidelity_),
    ):
        assert table["share"].sum() == pytest.approx(fidelity, abs=1e-12)
        assert np.nansum(all_of_side["explains"]) == pytest.approx(model.refitted_fidelity_, abs=1e-12)
        assert table["share"].min() >= 0


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([3.0, 0.37, 1e-100, 1e140]))
def test_numbers_follow_permutations_and_scales_and_satisfy_their_bounds(seed, factor):
    X = counts(seed)
    factorization = fitted(X)
    why, explained = explain(X, factorization), factorization.fidelity(X)
    for table, part in ((why.rows, explained.rows), (why.cols, explained.cols)):
        assert table["share"].min() >= 0
        assert table["share"].sum() == pytest.approx(part)
        assert (table["runner_up_loss"] <= table["loss"]).all()
    random = np.random.default_rng(seed)
    p, q = random.permutation(len(X)), random.permutation(X.shape[1])
    chosen = factorization.selection
    moved = Selection(np.argsort(p)[chosen.row_indices], np.argsort(q)[chosen.col_indices])
    turned = explain(X.T, factorization.T)
    others = (
        explain(factor * X, replace(factorization, core=factor * factorization.core)),
        explain(scipy.sparse.csc_array(X), factorization),
        Explanation(turned.cols, turned.rows, turned.col_errors, turned.row_errors, turned.sum_of_errors),
    )
    for other in others:
        np.testing.assert_allclose(other.row_errors, why.row_errors, atol=1e-9)
        np.testing.assert_allclose(other.col_errors, why.col_errors, atol=1e-9)
    for other in (*others, explain(X[p][:, q], mix(X[p][:, q], moved))):
        assert other.sum_of_errors == pytest.approx(why.sum_of_errors)
        for mine, theirs in ((why.rows, other.rows), (why.cols, other.cols)):
            for figure in FIGURES:
                np.testing.assert_allclose(theirs[figure], mine[figure], atol=1e-9)


def test_errors_of_rows_and_columns_are_those_of_the_refitted_factors():
    X = counts(0)
    X[3], X[:, 5] = 0.0, 0.0
    factorization = fitted(X)
    left = X - factorization.reconstruct()
    why = explain(scipy.sparse.coo_array(X), factorization)
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
    why = explain(X, mix(X, truth))
    for table in (why.rows, why.cols):
        assert table["share"].sum() == pytest.approx(1.0)
        assert (table["loss"] > 1e-6).all()
        assert (table["runner_up_loss"] > 0).all()
        assert (table["runner_up"] >= 0).all()
    assert why.row_errors.max() < 1e-3


def test_multiples_of_a_row_are_not_tried_except_the_longest():
    X = counts(1)
    chosen = faithful(X, 3, 3)
    first, last = chosen.row_indices[0], len(X)
    shorter = explain(np.concatenate([X, X[[first]] / 2]), mix(np.concatenate([X, X[[first]] / 2]), chosen))
    assert last not in shorter.rows["runner_up"]
    X = np.concatenate([X, 2 * X[[first]], X[[first]]])
    why = explain(X, mix(X, chosen))
    assert why.rows["runner_up"][0] == last
    assert why.rows["runner_up_loss"][0] == pytest.approx(0.0, abs=1e-9)


def test_a_row_that_the_others_explain_has_no_loss_and_no_runner_up():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 3.0, 0.0], [5.0, 1.0, 0.0]])
    why = explain(X, mix(X, Selection([0, 1, 2], [0, 1])))
    assert why.rows["loss"][2] == pytest.approx(0.0, abs=1e-12)
    assert (why.rows["runner_up"][2], why.rows["runner_up_name"][2]) == (-1, "")
    assert why.rows["runner_up_loss"][2] == why.rows["loss"][2]


def test_if_all_rows_are_selected_there_is_no_runner_up():
    X = np.random.default_rng(0).random((3, 9))
    why = explain(X, mix(X, Selection([2, 0, 1], [4])))
    assert why.rows["runner_up"].tolist() == [-1, -1, -1]
    np.testing.assert_array_equal(why.rows["runner_up_loss"], why.rows["loss"])


def test_a_selected_row_of_zeros_explains_nothing():
    X = counts(2)
    X[0] = 0.0
    why = explain(X, mix(X, Selection([0, 4, 5], [1, 2])))
    assert [why.rows[figure][0] for figure in ("share", "loss", "size")] == pytest.approx([0, 0, 0], abs=1e-9)
    assert why.rows["runner_up_loss"][0] < 0


def test_names_are_those_of_the_factorization_or_positions():
    X = counts(3)
    factorization = fitted(X, 2, 2)
    row, col = factorization.selection.row_indices[0], factorization.selection.col_indices[0]
    plain = explain(X, factorization)
    assert (plain.rows["name"][0], plain.cols["name"][0]) == (f"row {row}", f"column {col}")
    assert plain.cols["runner_up_name"][0] == f"column {plain.cols['runner_up'][0]}"
    named = replace(factorization, row_names=[f"<{i}>" for i in range(len(X))], col_names=["w"] * X.shape[1])
    why = explain(X, named)
    assert (why.rows["name"][0], why.cols["name"][0]) == (f"<{row}>", "w")
    assert why.rows["runner_up_name"][0] == f"<{why.rows['runner_up'][0]}>"


def test_a_table_is_a_data_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = counts(5)
    model = CoSeparableNMF(3, 3).fit(X.astype(np.float32))
    model.factorization_.save(tmp_path / "model.npz")
    why = explain(X, Factorization.load(tmp_path / "model.npz"))
    assert pandas.DataFrame(why.rows).shape == (3, 8)


def test_progress_is_reported_and_input_is_not_changed():
    X = counts(6)
    X.flags.writeable = False
    steps = []
    explain(X, fitted(X, 3, 2), callback=lambda *step: steps.append(step[:3]))
    assert steps == [("explain", step, 5) for step in range(1, 6)]


def test_a_factorization_without_a_selection_is_refused():
    X = counts(7)
    nmf = HALSNMF(2).fit(X)
    for other in (Factorization(nmf.row_factor_, None, nmf.col_factor_), nmf):
        with pytest.raises(ValueError, match="model must have selected rows or columns"):
            explain(X, other)
    with pytest.raises(ValueError, match="model=None must be a fitted model"):
        explain(X, None)
    with pytest.raises(ValueError, match=r"model=ndarray of shape .* X comes first, then the model"):
        explain(fitted(X), X)
    factorization = fitted(X)
    with pytest.raises(ValueError, match=r"X has shape \(25, 30\)"):
        explain(X.T, factorization)
    with pytest.raises(ValueError, match="X has no nonzero entry"):
        explain(np.zeros_like(X), factorization)
    with pytest.raises(ValueError, match="callback"):
        explain(X, factorization, callback=3)
