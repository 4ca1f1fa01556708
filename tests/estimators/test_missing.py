"""CoSeparableNMF with missing entries."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cosep import (
    CoSeparableNMF,
    Factorization,
    describe,
    explain,
    make_coseparable,
    plots,
    row_blocks,
    selection_path,
    stability,
)
from cosep.findings.new_rows import explain_rows, fill_rows

TIGHT = {"tol": 1e-14, "max_iter": 1000}


def hidden(X, share=0.2, seed=0):
    """Return where entries are hidden, and the matrix with NaN there."""
    gaps = np.random.default_rng(seed).uniform(size=X.shape) < share
    return gaps, np.where(gaps, np.nan, X)


def stored(G):
    """Return the sparse matrix that stores what is not NaN."""
    rows, cols = np.nonzero(~np.isnan(G))
    return scipy.sparse.csr_array((G[rows, cols], (rows, cols)), shape=G.shape)


@pytest.fixture(scope="module")
def noisy():
    X, _ = make_coseparable(60, 40, 4, 3, noise=0.1, random_state=0)
    gaps, G = hidden(X)
    return X, gaps, G, CoSeparableNMF(4, 3, missing="nan").fit(G)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", [np.asarray, stored], ids=["NaN", "unstored"])
def test_planted_rows_and_columns_and_hidden_entries_are_found_without_noise(seed, form):
    X, truth = make_coseparable(100, 80, 5, 5, random_state=seed)
    gaps, G = hidden(X, seed=seed)
    missing = "nan" if form is np.asarray else "unstored"
    model = CoSeparableNMF(5, 5, missing=missing, **TIGHT).fit(form(G))
    assert {*model.row_indices_} == {*truth.row_indices}
    assert {*model.col_indices_} == {*truth.col_indices}
    full = model.fill_missing(form(G))
    np.testing.assert_array_equal(full[~gaps], X[~gaps])
    assert np.abs(full - X).max() < 1e-6 * X.max()


FORMS = {
    "dense": (np.asarray, "nan"),
    "frame": (pd.DataFrame, "nan"),
    "csr": (scipy.sparse.csr_array, "nan"),
    "all stored": (lambda X: stored(np.asarray(X)), "unstored"),
}


@pytest.mark.parametrize("form", FORMS)
def test_without_missing_entries_the_answer_is_the_same_to_the_bit(form):
    X, _ = make_coseparable(60, 40, 4, 3, noise=0.1, random_state=0)
    X[X < 0.7] = 0.0
    build, missing = FORMS[form]
    data = build(X)
    if form == "frame":
        data.columns = [f"c{j}" for j in range(40)]
    ours, usual = CoSeparableNMF(4, 3, missing=missing).fit(data), CoSeparableNMF(4, 3).fit(data)
    for name in ("row_indices_", "col_indices_", "core_", "row_factor_", "col_factor_", "row_weights_", "row_labels_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(usual, name))
    assert ours.result_.fidelity == usual.result_.fidelity
    assert not ours.core_missing_.any()
    np.testing.assert_array_equal(ours.transform(data), usual.transform(data))
    np.testing.assert_array_equal(ours.fill_missing(data), X)


def test_a_fit_agrees_with_what_it_says_about_its_rows(noisy):
    X, gaps, G, model = noisy
    np.testing.assert_allclose(model.transform(G), model.row_factor_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(G), model.row_labels_)
    assert model.score(G) == pytest.approx(model.refitted_fidelity_, abs=1e-9)
    product = model.row_factor_ @ model.components_
    np.testing.assert_allclose(model.fill_missing(G), np.where(gaps, product, X))
    error = 1 - np.sum((X - product)[~gaps] ** 2) / np.sum(X[~gaps] ** 2)
    assert model.plain_fidelity_.refitted == pytest.approx(error)
    assert (np.diff(model.result_.objective) <= 0).all()


def test_the_core_says_what_is_missing_in_it(noisy):
    X, gaps, _, model = noisy
    where = np.ix_(model.row_indices_, model.col_indices_)
    np.testing.assert_array_equal(model.core_missing_, gaps[where])
    np.testing.assert_array_equal(model.core_[~gaps[where]], X[where][~gaps[where]])


def test_a_sparse_matrix_gives_the_answer_of_the_dense_one(noisy):
    _, _, G, dense = noisy
    sparse = CoSeparableNMF(4, 3, missing="unstored").fit(stored(G))
    np.testing.assert_array_equal(sparse.row_indices_, dense.row_indices_)
    np.testing.assert_array_equal(sparse.col_indices_, dense.col_indices_)
    np.testing.assert_allclose(sparse.fill_missing(stored(G)), dense.fill_missing(G), rtol=1e-4)


@pytest.mark.parametrize("method", ["faithful", "predictive", "cosfgm", "spa", "cur", "fgm"])
def test_every_method_takes_a_sparse_matrix_with_gaps(noisy, method):
    _, _, G, _ = noisy
    models = [
        CoSeparableNMF(4, 3, missing=name, method=method).fit(form(G))
        for name, form in (("nan", np.asarray), ("unstored", stored))
    ]
    np.testing.assert_array_equal(models[0].row_indices_, models[1].row_indices_)
    assert models[0].refitted_fidelity_ == pytest.approx(models[1].refitted_fidelity_, abs=1e-3)


def test_a_stored_zero_is_an_observed_zero():
    X = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((6, 5))) + 0.0
    gaps, G = hidden(X, 0.15)
    model = CoSeparableNMF(3, 3, missing="unstored", **TIGHT).fit(stored(G))
    np.testing.assert_allclose(model.fill_missing(stored(G)), X, atol=1e-6)
    assert (X[gaps] == 0).any()


def test_filling_is_better_than_zeros_and_means():
    X, _ = make_coseparable(60, 40, 4, 3, noise=0.01, random_state=0)
    gaps, G = hidden(X)
    model = CoSeparableNMF(4, 3, missing="nan").fit(G)
    error = np.linalg.norm((model.fill_missing(G) - X)[gaps])
    means = np.linalg.norm((np.nanmean(G, axis=0) - X)[gaps])
    assert error < 0.5 * means < 0.5 * np.linalg.norm(X[gaps])


def test_rows_and_columns_without_observed_entries_are_left_out(noisy):
    G = noisy[2].copy()
    G[7], G[:, 11] = np.nan, np.nan
    with pytest.warns(UserWarning, match=r"1 row\(s\) \(\[7\]\) and 1 column\(s\) \(\[11\]\)"):
        model = CoSeparableNMF(4, 3, missing="nan").fit(G)
    assert model.row_labels_[7] == -1
    assert model.column_labels_[11] == -1
    assert not model.row_factor_[7].any()
    assert not model.col_factor_[:, 11].any()
    assert 7 not in model.row_indices_


def test_results_follow_the_units_and_the_type_of_the_data(noisy):
    _, _, G, model = noisy
    for factor in (2.0**200, 2.0**-220, 2.0**700):
        scaled = CoSeparableNMF(4, 3, missing="nan").fit(G * factor)
        np.testing.assert_array_equal(scaled.row_indices_, model.row_indices_)
        np.testing.assert_allclose(scaled.core_, model.core_ * factor)
        np.testing.assert_allclose(scaled.reconstruction_err_, model.reconstruction_err_, rtol=1e-6)
    narrow = CoSeparableNMF(4, 3, missing="nan").fit(G.astype(np.float32))
    assert narrow.row_factor_.dtype == narrow.transform(G.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(narrow.row_indices_, model.row_indices_)


def test_transposing_swaps_rows_and_columns(noisy):
    _, _, G, model = noisy
    other = CoSeparableNMF(3, 4, missing="nan").fit(np.ascontiguousarray(G.T))
    assert {*other.col_indices_} == {*model.row_indices_}
    assert other.refitted_fidelity_ == pytest.approx(model.refitted_fidelity_, abs=0.02)


def test_a_row_of_weight_zero_does_not_count_but_is_explained(noisy):
    _, _, G, _ = noisy
    weights = np.ones(60)
    weights[::6] = 0
    model = CoSeparableNMF(4, 3, missing="nan").fit(G, sample_weight=weights)
    assert not {*model.row_indices_} & {*range(0, 60, 6)}
    assert model.row_factor_[::6].any(axis=1).all()
    changed = G.copy()
    changed[::6] *= 100
    again = CoSeparableNMF(4, 3, missing="nan").fit(changed, sample_weight=weights)
    np.testing.assert_array_equal(again.row_indices_, model.row_indices_)


def test_input_is_not_changed(noisy):
    _, _, G, _ = noisy
    dense, sparse = G.copy(), stored(G)
    dense.flags.writeable = False
    data = sparse.data.copy()
    CoSeparableNMF(4, 3, missing="nan").fit(dense)
    CoSeparableNMF(4, 3, missing="unstored").fit(sparse)
    np.testing.assert_array_equal(sparse.data, data)


def test_a_model_of_complete_data_explains_rows_with_gaps():
    X, _ = make_coseparable(60, 40, 4, 4, random_state=0)
    model = CoSeparableNMF(4, 4, missing="nan", **TIGHT).fit(X)
    _, G = hidden(X[50:])
    np.testing.assert_allclose(model.fill_missing(G), X[50:], rtol=1e-3)


def test_a_row_of_which_nothing_is_known_holds_nothing(noisy):
    model = noisy[3]
    nothing = np.full((1, 40), np.nan)
    assert not model.transform(nothing).any()
    assert model.predict(nothing) == [-1]
    with pytest.raises(ValueError, match="no observed entry"):
        CoSeparableNMF(1, 1, missing="nan").fit(nothing)


def test_a_saved_model_does_the_same(noisy, tmp_path):
    _, _, G, model = noisy
    model.save(tmp_path / "model.npz")
    again = CoSeparableNMF.load(tmp_path)
    assert again.missing == "nan"
    np.testing.assert_array_equal(again.core_missing_, model.core_missing_)
    np.testing.assert_allclose(again.transform(G), model.transform(G))
    np.testing.assert_allclose(again.fill_missing(G), model.fill_missing(G))
    assert again.score(G) == pytest.approx(model.score(G))


@pytest.mark.parametrize("part", ["profile", "levels", "weight", "core"])
def test_a_file_with_damaged_gaps_is_refused(noisy, tmp_path, part):
    record = noisy[3].factorization_
    stored_model = record.meta["model"]
    bad = {"profile": [1.0], "levels": [-1.0, 2.0], "weight": 7, "core": [10_000]}[part]
    gaps = {**stored_model["gaps"], part: bad}
    parts = {
        name: getattr(record, name)
        for name in (
            "row_factor",
            "core",
            "col_factor",
            "selection",
            "row_weights",
            "col_weights",
            "row_labels",
            "col_labels",
            "scaling",
        )
    }
    Factorization(**parts, meta={**record.meta, "model": {**stored_model, "gaps": gaps}}).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="missing entries do not fit"):
        CoSeparableNMF.load(tmp_path)


def test_what_is_said_about_a_model_agrees_with_it(noisy, tmp_path):
    _, _, G, model = noisy
    found = describe(G, model)
    assert found.fidelity == model.result_.fidelity
    assert any("were missing" in sentence for sentence in found.warnings)
    assert any("of the core" in sentence for sentence in found.warnings) == model.core_missing_.any()
    rows = explain_rows(model.factorization_, G)
    np.testing.assert_allclose(rows.explained, found.rows["explained"], atol=1e-9)
    np.testing.assert_array_equal(rows.labels, model.row_labels_)
    np.testing.assert_allclose(fill_rows(model.factorization_, G), model.fill_missing(G))
    np.testing.assert_allclose(1 - explain(G, model).row_errors ** 2, found.rows["explained"])
    assert len(selection_path(G, model).rows) == 4
    assert plots.matrix(G, model).data[0].z.shape == (60, 40)
    assert len(stability(G, model, n_draws=2).rows["index"]) == 4
    model.report(G, tmp_path / "page.html")
    assert "were missing" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_same_can_be_said_about_a_sparse_matrix(noisy, tmp_path):
    data = stored(noisy[2])
    model = CoSeparableNMF(4, 3, missing="unstored").fit(data)
    assert describe(data, model).fidelity == model.result_.fidelity
    assert len(explain(data, model).rows["index"]) == 4
    assert len(selection_path(data, model).rows) == 4
    assert len(stability(data, model, n_draws=2).rows["index"]) == 4
    model.report(data, tmp_path / "page.html")


def test_a_selection_can_grow(noisy):
    _, _, G, model = noisy
    larger = model.grow(G, n_rows=6, n_cols=5)
    np.testing.assert_array_equal(larger.row_indices_[:4], model.row_indices_)
    np.testing.assert_array_equal(larger.col_indices_[:3], model.col_indices_)
    other = G.copy()
    other[model.row_indices_[0]] *= 2
    with pytest.raises(ValueError, match="other entries"):
        model.grow(other, n_rows=6, n_cols=5)


def nothing(X, n_rows, n_cols):
    """A method that is never called."""
    raise AssertionError(X, n_rows, n_cols)


def estimator(missing="nan", **options):
    return CoSeparableNMF(4, 3, missing=missing, **options)


REFUSED = {
    "an unknown name": (lambda _, data: estimator("zero").fit(data), "missing='zero' must be one of"),
    "blocks": (lambda _, data: estimator().fit(row_blocks(np.nan_to_num(data))), "needs X in memory"),
    "new blocks": (lambda model, data: model.transform(row_blocks(np.nan_to_num(data))), "needs X in memory"),
    "a panel with gaps": (lambda model, data: model.complete(data[:, model.col_indices_]), "X contains NaN"),
    "other columns": (lambda model, data: model.transform(data[:, :5]), "features"),
    "NaN without asking": (lambda _, data: estimator(None).fit(data), r"NaN \(\d+ of .*missing='nan'"),
    "a function on a sparse matrix": (
        lambda _, data: estimator("unstored", method=nothing).fit(stored(data)),
        "use a method by name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_in_one_line(noisy, case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message) as caught:
        call(noisy[3], noisy[2])
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning", "ignore:X has:UserWarning")
@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (2, 2), (3, 40)])
def test_tiny_matrices(shape):
    X = np.random.default_rng(0).uniform(1, 2, size=shape)
    X[0, 0] = np.nan
    X[-1, -1] = 3.0
    model = CoSeparableNMF(1, 1, missing="nan").fit(X)
    assert np.isfinite(model.fill_missing(X)).all()


def test_all_observed_entries_zero_is_refused():
    X = np.zeros((4, 4))
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match="no nonzero entry"):
        CoSeparableNMF(2, 2, missing="nan").fit(X)
