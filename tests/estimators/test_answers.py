"""What a fitted model answers: names, topics, new rows, pages, files, and how it is shown."""

import json
import re
from html import escape

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone

from cosep import (
    CUR,
    HALSNMF,
    BiorthogonalNMF,
    CoSeparableNMF,
    Factorization,
    GeneralizedSeparableNMF,
    MinVolNMF,
    Pool,
    SeparableNMF,
    TriSymmetricNMF,
    both_sides,
    choose_rank,
    describe,
    explain,
    make_coseparable,
    mix,
    plots,
    row_blocks,
    selection_path,
    spa,
    stability,
)
from cosep.matrix.scaling import SCALINGS
from cosep.report import write_report

M, N = 30, 20
EVIL = "<img src=x onerror=alert(1)>"


def frame(random_state=0):
    X = make_coseparable(M, N, 4, 4, noise=0.1, random_state=random_state)[0]
    return pd.DataFrame(X, index=[f"day {i}" for i in range(M)], columns=[f"word {j}" for j in range(N)])


@pytest.fixture(scope="module")
def fitted():
    X = frame()
    return X, CoSeparableNMF(4, 3).fit(X)


# -- names


def test_names_of_a_data_frame_reach_everything(fitted):
    X, model = fitted
    rows, cols = X.index[model.row_indices_].tolist(), X.columns[model.col_indices_].tolist()
    assert model.selected_samples_.tolist() == model.get_feature_names_out().tolist() == rows
    assert model.selected_features_.tolist() == cols
    why, sure, path = explain(X, model), stability(X, model, n_draws=2), selection_path(X, model)
    for table in (why, sure):
        assert (table.rows["name"].tolist(), table.cols["name"].tolist()) == (rows, cols)
    assert sorted(path.row_names) == sorted(rows)
    assert [topic.name for topic in describe(X, model).topics] == rows
    assert rows[0] in str(plots.core(model).data[0].customdata)
    assert plots.errors(why).data[0].customdata[0].startswith("day ")
    assert plots.stability(sure).data[0].customdata[0] == rows[0]
    assert "day " in plots.selection_path(path).data[0].customdata[0]
    record = mix(X, model.factorization_.selection)
    assert (record.row_names.tolist(), record.col_names.tolist()) == (X.index.tolist(), X.columns.tolist())


def test_an_array_has_no_names_and_a_frame_names_its_model(fitted):
    X, model = fitted
    bare = CoSeparableNMF(4, 3).fit(X.to_numpy())
    with pytest.raises(AttributeError, match="selected_samples_"):
        _ = bare.selected_samples_
    assert bare.get_feature_names_out().tolist() == [f"coseparablenmf{k}" for k in range(4)]
    assert explain(X, bare).rows["name"].tolist() == model.selected_samples_.tolist()
    assert not hasattr(CoSeparableNMF(4, 3).fit(X.reset_index(drop=True)), "selected_samples_")


def test_other_estimators_name_what_they_selected():
    X = frame()
    columns, rows = SeparableNMF(3).fit(X), SeparableNMF(3, axis="rows").fit(X)
    assert columns.get_feature_names_out().tolist() == columns.selected_features_.tolist()
    assert rows.get_feature_names_out().tolist() == X.index[rows.row_indices_].tolist()
    assert CUR(3, 3).fit(X).selected_samples_.shape == (3,)
    assert HALSNMF(2).fit(X).get_feature_names_out().tolist() == ["halsnmf0", "halsnmf1"]
    assert explain(X, columns).cols["name"].tolist() == columns.selected_features_.tolist()


def test_repeated_and_many_level_names():
    X = frame()
    same = CoSeparableNMF(3, 3).fit(X.set_axis(["twin"] * M))
    assert same.get_feature_names_out().tolist() == ["twin", "twin (2)", "twin (3)"]
    same.set_output(transform="pandas").transform(X)
    deep = CoSeparableNMF(3, 3).fit(X.set_index([pd.Index([f"a{i}" for i in range(M)]), np.arange(M)]))
    assert re.fullmatch(r"a\d+, \d+", deep.selected_samples_[0])


def test_complete_follows_set_output(fitted):
    X, _ = fitted
    model = CoSeparableNMF(4, 3).fit(X).set_output(transform="pandas")
    full = model.complete(X)
    assert full.columns.tolist() == X.columns.tolist()
    assert full.index.tolist() == X.index.tolist()
    model.set_output(transform="default")
    np.testing.assert_array_equal(model.complete(X), full.to_numpy())
    with config_context(transform_output="pandas"):
        assert isinstance(CoSeparableNMF(4, 3).fit(X).complete(X), pd.DataFrame)
    few = X.drop(columns=list(model.selected_features_))
    with pytest.raises(ValueError, match="X lacks the selected columns"):
        model.complete(few)


# -- helpers take the model


def test_a_model_and_its_record_are_the_same_to_every_helper(fitted, tmp_path):
    X, model = fitted
    for helper in (describe, explain, selection_path):
        assert repr(helper(X, model)) == repr(helper(X, model.factorization_))
    assert repr(stability(X, model, n_draws=2)) == repr(stability(X, model.factorization_, n_draws=2))
    model.report(X, tmp_path / "one.html", texts=["text"] * M)
    write_report(X, model.factorization_, tmp_path / "two.html", texts=["text"] * M)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize("scaling", [None, *SCALINGS])
def test_stability_selects_as_the_model_did(scaling):
    X = frame()
    model = CoSeparableNMF(3, 3, method="spa", scaling=scaling).fit(X)
    expected = stability(X, model.factorization_.selection, method="spa", scaling=scaling, n_draws=4)
    for one in (model, model.factorization_):
        assert repr(stability(X, one, n_draws=4)) == repr(expected)


def test_stability_counts_rows_as_the_model_did():
    X = frame()
    weights = np.where(np.arange(M) % 5 == 0, 0.0, 1.0 + np.arange(M) % 2)
    model = CoSeparableNMF(3, 3).fit(X, sample_weight=weights)
    sure = stability(X, model, n_draws=3, share=1.0)
    np.testing.assert_array_equal(sure.rows["frequency"], 1.0)  # all rows in each draw: the selection of the model


def test_the_recommended_model_is_fitted_from_the_choice():
    X = frame()
    choice = choose_rank(X, [2, 4], method="spa", scaling="rows")
    model = CoSeparableNMF(**choice.params).fit(X)
    assert (model.n_rows_, model.n_cols_) == (choice.n_rows, choice.n_cols)
    assert (model.method, model.scaling_) == ("spa", "rows")


@pytest.mark.parametrize("call", [describe, explain, selection_path, stability, plots.matrix])
def test_what_is_no_model_is_refused_in_one_line(call, fitted):
    X, model = fitted
    for X_given, given, words in (
        (model, X, "X comes first, then the model"),
        (X, CoSeparableNMF(), "not fitted yet"),
        (X, CoSeparableNMF, "must be a fitted model"),
        (X, np.ones(3), "ndarray of shape"),
        (X, CoSeparableNMF(4, 3).fit(row_blocks(X.to_numpy())), "sample_factorization_"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            call(X_given, given)
        assert "array(" not in str(caught.value)
        assert "\n" not in str(caught.value)


# -- new rows and files


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, np.float32])
@pytest.mark.parametrize("scaling", [None, *SCALINGS])
def test_the_topics_of_fitted_rows_are_their_labels(kind, scaling):
    values = frame().to_numpy().copy()
    values[4] = 0.0
    X = kind(values)
    model = CoSeparableNMF(4, 3, scaling=scaling).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    assert model.predict(X)[4] == -1
    if scaling != "sinkhorn" and kind is np.asarray:
        blocks = row_blocks([X[:7], X[7:]])
        np.testing.assert_array_equal(model.predict(blocks), model.row_labels_)


@pytest.mark.parametrize("scaling", [None, "given", *SCALINGS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_keeps_the_model(tmp_path, scaling, dtype):
    X = frame().astype(dtype)
    given = (np.linspace(1, 2, M), np.linspace(2, 1, N)) if scaling == "given" else scaling
    model = CoSeparableNMF(4, 3, scaling=given, max_iter=50).fit(X)
    model.save(tmp_path / "model.npz")
    again = CoSeparableNMF.load(tmp_path / "model.npz")
    for call in ("transform", "predict", "complete", "score", "completion_score"):
        one, other = getattr(model, call)(X), getattr(again, call)(X)
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    assert np.asarray(again.transform(X)).dtype == dtype
    for name in ("fidelity_bound_", "plain_fidelity_", "row_fidelity_", "reconstruction_err_", "n_iter_", "scaling_"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(again.columns_, model.columns_)
    assert again.selected_samples_.tolist() == model.selected_samples_.tolist()
    assert again.feature_names_in_.tolist() == X.columns.tolist()
    assert repr(again.factorization_) == repr(model.factorization_)
    assert again.get_params()["max_iter"] == 50
    assert clone(again).fit(X).row_indices_.tolist() == model.row_indices_.tolist()
    larger = again.grow(X, 5, 5)
    assert larger.row_indices_[:4].tolist() == model.row_indices_.tolist()
    again.save(tmp_path / "again.npz")
    assert repr(CoSeparableNMF.load(tmp_path / "again.npz").result_) == repr(model.result_)


def test_a_model_of_blocks_is_saved_with_its_sample(tmp_path):
    X = frame().to_numpy()
    model = CoSeparableNMF(4, 3).fit(row_blocks([X[:8], X[8:]]))
    model.save(tmp_path / "model.npz")
    again = CoSeparableNMF.load(tmp_path / "model.npz")
    np.testing.assert_allclose(again.transform(X), model.transform(X), rtol=1e-12)
    assert again.fidelity_bound_ == model.fidelity_bound_


def test_a_function_as_method_is_kept_by_name_only(tmp_path):
    X = frame()
    model = CoSeparableNMF(3, 3, method=both_sides(spa)).fit(X)
    model.save(tmp_path / "model.npz")
    again = CoSeparableNMF.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    with pytest.raises(ValueError, match="a function"):
        again.fit(X)


def test_files_of_no_model_are_refused(fitted, tmp_path):
    X, model = fitted
    mix(X, model.factorization_.selection).save(tmp_path / "mix.npz")
    with pytest.raises(ValueError, match="without a model; write one with"):
        CoSeparableNMF.load(tmp_path / "mix.npz")
    with pytest.raises(FileNotFoundError):
        CoSeparableNMF.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(ValueError, match="not a readable factorization"):
        CoSeparableNMF.load(tmp_path / "text.npz")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fidelity", "junk"),
        ("fidelity", [1.0]),
        ("bound", [None] * 4),
        ("row_rule", [1.0]),
        ("row_rule", [0.5, 0.1, [1.0, 2.0]]),
        ("row_rule", [0.5, "x", None]),
        ("dtype", "object"),
        ("params", 3),
        ("params", {"n_rows": []}),
        ("error", True),
    ],
)
def test_a_damaged_model_is_refused(fitted, tmp_path, key, value):
    _, model = fitted
    record = model.factorization_
    stored = json.loads(json.dumps(record.meta["model"])) | {key: value}
    parts = {**vars(record), "meta": {**record.meta, "model": stored}}
    Factorization(**parts).save(tmp_path / "model.npz")
    if key == "params" and isinstance(value, dict):
        assert CoSeparableNMF.load(tmp_path / "model.npz").n_rows == []  # as any parameter, checked by fit
        return
    with pytest.raises(ValueError, match="its model is damaged"):
        CoSeparableNMF.load(tmp_path / "model.npz")


# -- how it is shown


def test_topics_are_a_table(fitted):
    X, model = fitted
    table = pd.DataFrame(model.topics())
    assert table.columns.tolist() == ["representative", "anchors", "columns", "cluster_size"]
    assert table["cluster_size"].sum() == (model.row_labels_ >= 0).sum()
    for topic, names in zip(describe(X, model).topics, table["columns"], strict=True):
        assert names.split(", ") == [one.name for one in topic.columns[:8]]
    blocks = CoSeparableNMF(4, 3).fit(row_blocks(X.to_numpy()))
    assert blocks.topics()["cluster_size"].sum() == M


def everything(X, model):
    yield from (model.factorization_, model.factorization_.selection, model.result_, model.topics())
    yield from (describe(X, model), describe(X, model).topics[0], explain(X, model), selection_path(X, model))
    yield from (stability(X, model, n_draws=2), choose_rank(X, [1, 2]), Pool(range(500)))
    yield from (model.decoder(), model.column_scores(X))


def test_records_fit_a_screen_and_are_escaped():
    X = frame().rename(index=lambda name: f"{EVIL}\n{name} {'x' * 300}", columns=lambda name: f"{EVIL}{name}")
    model = CoSeparableNMF(15, 15).fit(X)
    for record in everything(X, model):
        lines = repr(record).split("\n")
        assert len(lines) <= 40, type(record)
        assert max(map(len, lines)) <= 79, type(record)
        assert "array(" not in repr(record)
        assert EVIL not in record._repr_html_()
    assert escape("<img") in model.topics()._repr_html_()


def test_a_fitted_model_is_shown_below_its_diagram(fitted):
    X, model = fitted
    unfitted = CoSeparableNMF(4, 3)
    assert "Fitted model" not in unfitted._repr_html_()
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in html
        assert all(name in html for name in model.selected_samples_)
        assert "at most possible" in html
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    for other in (SeparableNMF(3).fit(X), HALSNMF(2).fit(X), CUR(3, 3).fit(X)):
        assert "Fitted model" in other._repr_html_()
    evil = CoSeparableNMF(3, 3).fit(X.rename(index=lambda name: EVIL + name))
    assert f'<td style="text-align:left">{escape(EVIL)}' in evil._repr_html_()


def test_junk_in_a_record_can_be_shown():
    from cosep import Explanation, Stability  # noqa: PLC0415

    assert repr(Explanation("a", None, [["a"]], object(), "j"))
    assert repr(Stability({}, {"index": "a"}, "n", None))


def test_verbose_prints_and_calls(capsys):
    X, calls = frame(), []
    CoSeparableNMF(3, 3, verbose=True, callback=lambda *step: calls.append(step)).fit(X)
    out = capsys.readouterr().out
    assert calls
    assert "[cosep] mix: 1 of at most 100, relative error 0." in out
    with pytest.raises(ValueError, match="verbose='loud' must be True or False"):
        CoSeparableNMF(3, 3, verbose="loud").fit(X)
    CoSeparableNMF(3, 3).fit(X)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "model",
    [
        HALSNMF(2, verbose=True),
        MinVolNMF(2, verbose=True),
        BiorthogonalNMF(2, verbose=True),
        TriSymmetricNMF(2, verbose=True),
        GeneralizedSeparableNMF(3, verbose=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_with_progress_can_print_it(model, capsys):
    model.fit(frame())
    assert "[cosep] " in capsys.readouterr().out
    with pytest.raises(ValueError, match="callback"):
        clone(model).set_params(callback=3).fit(frame())
