"""The findings of a fit: tables that agree with the factorization, and with themselves."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import stand_ins
from cosep import CoSeparableNMF, Factorization, Selection, describe, explain, make_coseparable, mix, plots
from cosep.cli.summary import summary_of
from cosep.cli.tables import share_columns
from cosep.findings.describe import with_names
from cosep.findings.wording import percent
from cosep.report.content import page_content

NUMBERS = ["explained", "assigned", "explains"]


@pytest.fixture(scope="module")
def data():
    X, _ = make_coseparable(40, 25, 4, 3, noise=0.2, random_state=4)
    X[5], X[:, 7] = 0.0, 0.0
    return X, CoSeparableNMF(4, 3).fit(X)


@pytest.fixture(scope="module")
def found(data):
    X, model = data
    return describe(X, model.factorization_)


def test_tables_are_what_a_data_frame_takes(data, found):
    X, model = data
    rows, cols = pd.DataFrame(found.rows), pd.DataFrame(found.cols)
    assert list(rows) == ["name", "cluster", "representative", "membership", "selected", *NUMBERS]
    assert list(cols) == list(rows)
    assert (len(rows), len(cols)) == X.shape
    assert rows["cluster"].tolist() == model.row_labels_.tolist()
    assert cols["cluster"].tolist() == model.column_labels_.tolist()
    assert np.flatnonzero(rows["selected"]).tolist() == sorted(model.row_indices_)
    assert np.flatnonzero(cols["selected"]).tolist() == sorted(model.col_indices_)


def scaled_parts(model):
    """Return what each row holds of each component, in the norm of the model."""
    strengths = np.linalg.norm(model.components_ * model.factorization_.scaling.cols, axis=1)
    return model.row_factor_ * strengths


def test_a_row_belongs_to_what_it_holds_most_of(data, found):
    X, model = data
    parts = scaled_parts(model)
    for i in range(len(X)):
        if not X[i].any():
            assert found.rows["cluster"][i] == -1
            assert found.rows["representative"][i] == ""
            assert np.isnan(found.rows["membership"][i])
            continue
        assert found.rows["representative"][i] == f"row {model.row_indices_[parts[i].argmax()]}"
        assert found.rows["membership"][i] == pytest.approx(parts[i].max() / parts[i].sum())
    explained = np.nan_to_num(1 - model.factorization_.row_errors(X) ** 2)
    assert found.n_unassigned == (explained < found.min_explained).sum() == (~found.rows["assigned"]).sum()


def test_shares_add_up_to_the_fidelity(data, found):
    X, model = data
    for table in (found.rows, found.cols):
        assert np.nansum(table["explains"]) == pytest.approx(model.refitted_fidelity_, abs=1e-9)
        assert np.isfinite(table["explains"]).tolist() == table["selected"].tolist()
    assert found.fidelity == pytest.approx(
        (model.row_fidelity_, model.col_fidelity_, model.core_fidelity_, model.refitted_fidelity_), abs=1e-12
    )
    assert found.fidelity.refitted == pytest.approx(1 - model.factorization_.relative_error(X) ** 2, abs=1e-12)
    np.testing.assert_allclose(found.rows["explained"], 1 - model.factorization_.row_errors(X) ** 2)
    np.testing.assert_allclose(found.cols["explained"], 1 - model.factorization_.T.row_errors(X.T) ** 2)


@pytest.mark.parametrize("unit", [1.0, 64.0, 1e-200, 1e200])
def test_closest_rows_have_the_part_of_their_length_that_the_topic_makes_up(unit, data):
    """In memory the parts were divided by a power of two that had been taken out of the core."""
    X, model = data
    record = mix(unit * X, model.factorization_.selection, scaling="degree")
    E = record.scaling.cols / record.scaling.cols.max()
    lengths = np.linalg.norm(X * E, axis=1)
    strengths = np.linalg.norm(record.core / unit @ record.col_factor * E, axis=1)
    for k, topic in enumerate(describe(unit * X, record).topics):
        parts = record.row_factor[:, k] * strengths[k] / np.where(lengths > 0, lengths, 1.0)
        assert topic.closest
        for entry in topic.closest:
            assert entry.value == pytest.approx(parts[entry.index])


def test_topics_agree_with_the_tables_and_with_the_explanation(data, found):
    X, model = data
    why = explain(X, model.factorization_)
    for k, topic in enumerate(found.topics):
        assert topic.index == model.row_indices_[k]
        assert topic.cluster_size == (found.rows["representative"] == topic.name).sum() == why.rows["size"][k]
        assert topic.explains == found.rows["explains"][topic.index]
        assert topic.size == (found.rows["assigned"] & (found.rows["cluster"] == k)).sum()
        assert all(found.rows["representative"][entry.index] == topic.name for entry in topic.closest)
        assert topic.index not in [entry.index for entry in topic.closest]
        assert all(anchor.value == X[topic.index, anchor.index] for anchor in topic.anchors)
        assert topic.values[0].value == X[topic.index].max()
    np.testing.assert_array_equal(found.core, model.core_)
    assert [entry.index for entry in found.selected_cols] == model.col_indices_.tolist()


@pytest.mark.parametrize("kind", [np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_storage_does_not_matter(kind, data, found):
    X, model = data
    other = describe(kind(X), model.factorization_)
    assert other.sentences == found.sentences
    for name, column in found.rows.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(other.rows[name], column, atol=1e-12)
        else:
            np.testing.assert_array_equal(other.rows[name], column)


@pytest.mark.parametrize("exponent", [-900, 900])
def test_units_do_not_matter_to_shares(exponent, data, found):
    X, model = data
    scaled = np.ldexp(X, exponent)
    other = describe(scaled, mix(scaled, model.factorization_.selection))
    same = describe(X, mix(X, model.factorization_.selection))
    assert other.sentences == same.sentences
    np.testing.assert_allclose(other.rows["membership"], same.rows["membership"])
    assert other.topics[0].values[0].value == np.ldexp(found.topics[0].values[0].value, exponent)


def test_no_sentence_is_long(found):
    assert max(len(sentence.split()) for sentence in found.sentences) <= 45
    assert f"{found.fidelity.refitted:.1%} of the matrix, which is" in found.sentences[1]
    assert "of what any 3 topics could." in found.sentences[1]


def test_a_bound_is_that_of_the_norm_and_of_the_matrix(data, found):
    """The bound that the fit had stored was shown for any other norm and matrix too, below what was explained."""
    X, model = data
    plain = describe(X, replace(model.factorization_, scaling=None))
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    assert plain.bound.rows == pytest.approx(squares[:4].sum() / squares.sum(), abs=1e-9)
    assert plain.bound.cols == pytest.approx(squares[:3].sum() / squares.sum(), abs=1e-9)
    assert plain.fidelity == pytest.approx(found.plain_fidelity)
    assert found.bound == pytest.approx(model.fidelity_bound_)
    for stored in (["x"] * 4, [None] * 4, [0.1], 7, None):
        other = describe(X, replace(model.factorization_, meta={"bound": stored, "objective": [0.5]}))
        assert other.bound == pytest.approx(found.bound)


def test_names_are_used_exactly():
    X, rows, cols = stand_ins.blocks()
    found = describe(X, stand_ins.factorize(X, rows, cols))
    assert found.rows["name"][3] == "document 3"
    assert [topic.name for topic in found.topics] == ["document 0", "document 8", "document 14"]
    assert "\u201cdocument 0\u201d" in found.sentences[2]
    names = np.array([f"{i}\n" + "x" * 900 for i in range(len(X))])
    long = replace(stand_ins.factorize(X, rows, cols), row_names=names)
    assert describe(X, long).topics[0].name == "0\n" + "x" * 900


def test_what_to_mind_is_among_the_warnings():
    X, rows, cols = stand_ins.blocks()
    found = describe(X, replace(stand_ins.factorize(X, rows, cols), meta={"warnings": ["first", "first"]}))
    assert found.warnings[0] == "first"
    assert len(found.warnings) == 2
    assert "plain NMF" in found.warnings[1]
    assert describe(X + 1, mix(X + 1, Selection(rows, cols))).warnings == ()
    assert {"cosep", "python", "numpy"} <= set(found.versions)


def test_what_does_not_fit_is_refused(data):
    X, model = data
    with pytest.raises(ValueError, match="must be a fitted model"):
        describe(model, X)
    with pytest.raises(ValueError, match="must have selected rows and columns"):
        describe(X, Factorization(np.ones((40, 1)), None, np.ones((1, 25))))
    with pytest.raises(ValueError, match="shape"):
        describe(X[:30], model.factorization_)
    with pytest.raises(ValueError, match="no nonzero entry"):
        describe(np.zeros_like(X), model.factorization_)


def test_labels_that_are_missing_are_those_of_the_factors(data):
    X, model = data
    plain = describe(X, replace(model.factorization_, row_labels=None, col_labels=None))
    np.testing.assert_array_equal(plain.rows["cluster"], model.row_labels_)
    np.testing.assert_array_equal(plain.cols["cluster"], model.column_labels_)


def test_each_component_explains_its_own_part(data, found):
    """The parts are those of the formula, computed with dense matrices."""
    X, model = data
    D, E = model.factorization_.scaling.rows, model.factorization_.scaling.cols
    A, P, H = D[:, None] * X * E, D[:, None] * model.row_factor_, model.components_ * E
    fitted = P @ H
    for k, topic in enumerate(found.topics):
        expected = ((2 * A - fitted) * np.outer(P[:, k], H[k])).sum() / (A**2).sum()
        assert topic.explains == pytest.approx(expected, abs=1e-12)


@given(
    X=arrays(float, st.tuples(st.integers(3, 12), st.integers(3, 9)), elements=st.integers(0, 5).map(float)),
    scaling=st.sampled_from([None, "degree", "rows"]),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_shares_on_page_tables_and_json_agree_and_add_up(X, scaling, seed):
    X[0, 0] += 1.0
    rng = np.random.default_rng(seed)
    chosen = Selection(rng.permutation(len(X))[:3], rng.permutation(X.shape[1])[:2])
    record = mix(X, chosen, scaling=scaling, max_iter=1 + seed % 4)
    found = describe(X, record)
    whole = found.fidelity.refitted
    topics = [topic.explains for topic in found.topics]
    assert sum(topics) == pytest.approx(whole, abs=1e-9)
    for table in (found.rows, found.cols):
        assert np.nansum(table["explains"]) == pytest.approx(whole, abs=1e-9)
    assert sum(topic.size for topic in found.topics) + found.n_unassigned == len(X)
    A = X if record.scaling is None else record.scaling.rows[:, None] * X * record.scaling.cols
    squares = (A**2).sum(axis=1)
    assert np.nansum(found.rows["explained"] * squares) / squares.sum() == pytest.approx(whole, abs=1e-6)

    summary = summary_of(found)
    assert [one["explains"] for one in summary["topics"]] == topics
    assert sum(one["size"] for one in summary["topics"]) + summary["unassigned"]["count"] == len(X)
    assert summary["fidelity"]["refitted"] == whole
    page = page_content(found, with_names(record))
    assert [one["explains"] for one in page["topics"]] == [percent(part) for part in topics]
    assert [one["size"] for one in page["topics"]] == [one["size"] for one in summary["topics"]]
    assert page["explained"]["parts"]["refitted"]["share"] == percent(whole)
    assert page["unassigned"]["count"] == summary["unassigned"]["count"]
    written = share_columns(found.rows)
    assert [written["explains"][topic.index] for topic in found.topics] == pytest.approx(topics, abs=5e-5)
    assert sum(written["assigned"]) == len(X) - found.n_unassigned


def test_clusters_are_compared_with_classes(data, found):
    X, model = data
    clusters = found.rows["cluster"]
    same = describe(X, model.factorization_, labels=[f"class {k}" for k in clusters]).classes
    assert same.representatives == tuple(f"class {k}" for k in range(4))
    assert same.largest == same.representatives
    assert same.purity == (1.0,) * 4
    assert (same.ari, same.nmi) == (pytest.approx(1.0), pytest.approx(1.0))
    other = describe(X, model.factorization_, labels=np.arange(len(X)) % 2).classes
    assert all(0.5 <= share <= 1.0 for share in other.purity)
    assert other.ari < 0.5
    for bad in ("class", ["a"], 3, [["a"] * len(X)]):
        with pytest.raises(ValueError, match="labels must be the class of each of the 40 rows"):
            describe(X, model.factorization_, labels=bad)


def test_titles_and_nouns_are_those_that_are_stored(data):
    X, model = data
    record = replace(model.factorization_, meta={"title": "Mice", "nouns": ["cell", "gene"]})
    found = describe(X, record)
    assert (found.title, found.nouns) == ("Mice", ("cell", "gene"))
    assert (
        found.sentences[0] == "4 of 40 cells were selected, one for each topic, and 3 of 25 genes that mark the topics."
    )
    assert "1 cell (" in found.sentences[3]
    for meta in ({"title": 3, "nouns": "ab"}, {"nouns": [1, None]}, {"nouns": ["\n", ""]}, {"nouns": ["a"]}):
        assert describe(X, replace(record, meta=meta)).nouns == ("row", "column")


def test_a_selected_row_that_holds_more_of_another_topic_is_named(data):
    X, model = data
    record = model.factorization_
    assert [topic.home for topic in describe(X, record).topics] == np.asarray(record.row_labels)[
        record.selection.row_indices
    ].tolist()
    labels = np.asarray(record.row_labels).copy()
    labels[record.selection.row_indices] = [0, 1, 0, -1]
    moved = replace(record, row_labels=labels, meta={"nouns": ["cell", "gene"]})
    found = describe(X, moved)
    assert [topic.home for topic in found.topics] == [0, 1, 0, -1]
    name = np.asarray(with_names(moved).row_names)[record.selection.row_indices[2]]
    assert found.sentences[4:] == (
        f"1 selected cell holds more of another topic, which counts it: \u201c{name}\u201d.",
    )
    content = page_content(found, with_names(moved))
    assert [topic["home"] for topic in content["topics"]] == [None, None, 1, None]


def test_the_large_picture_speaks_of_what_rows_are_called():
    X = np.vstack([make_coseparable(40, 25, 4, 3, noise=0.2, random_state=4)[0]] * 5)
    record = replace(CoSeparableNMF(4, 3).fit(X).factorization_, meta={"nouns": ["cell", "gene"]})
    told = plots.matrix(X, record).data[0].customdata[:, 0, 0].tolist()
    assert any("more cell" in one for one in told)
    assert not any("row" in one for one in told)


def test_pandas_is_not_needed():
    code = (
        "import sys; sys.modules['pandas'] = None; import numpy as np; from cosep import Selection, describe, mix\n"
        "X = np.eye(3) + 1; print(list(describe(X, mix(X, Selection([0], [0]))).rows)[0])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "name\n"
