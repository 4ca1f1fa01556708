"""One model, one answer: tables, labels, new rows, topics, fidelities and bounds agree, in memory and in blocks."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from cosep import CoSeparableNMF, Factorization, describe, make_coseparable, row_blocks
from cosep.findings.blocks import describe_blocks, sample_record
from cosep.findings.new_rows import explain_rows
from cosep.matrix.validation import as_matrix

M, N, R1 = 50, 30, 4
RANDOM = np.random.default_rng(1)
PAIR = (RANDOM.uniform(0.2, 5.0, M), RANDOM.uniform(0.2, 5.0, N))
SCALINGS = {"none": None, "pair": PAIR, **{name: name for name in ("degree", "rows", "columns", "sinkhorn")}}
KINDS = {"dense": np.asarray, "csr": scipy.sparse.csr_array, "float32": np.float32}
WEIGHTS = {"unweighted": None, "weighted": np.arange(M) % 4}


def planted():
    X = make_coseparable(M, N, R1, R1, noise=0.2, random_state=0)[0]
    X = np.where(X / X.max() < 0.3, 0.0, np.round(50 * X))
    X[5], X[:, 7] = 0.0, 0.0
    return X


def fitted(X, scaling, weights=None, n_cols=R1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some scalings leave a core with a zero row
        return CoSeparableNMF(R1, n_cols, scaling=scaling).fit(X, sample_weight=weights)


@pytest.fixture(scope="module", params=[(s, k, w) for s in SCALINGS for k in KINDS for w in WEIGHTS], ids="-".join)
def case(request):
    """Return the data, the model and the findings."""
    scaling, kind, weights = request.param
    X = KINDS[kind](planted())
    model = fitted(X, SCALINGS[scaling], WEIGHTS[weights])
    return X, model, describe(X, model.factorization_)


def test_rows_that_outnumber_the_columns_keep_their_clusters():
    # Then the components are linearly dependent, and rows have several best mixtures of them.
    X = planted()
    model = fitted(X, "degree", n_cols=3)
    found, again = describe(X, model.factorization_), explain_rows(model.factorization_, X)
    np.testing.assert_array_equal(again.labels, model.row_labels_)
    np.testing.assert_array_equal(found.rows["cluster"], model.row_labels_)
    np.testing.assert_allclose(again.shares, found.rows["membership"], atol=1e-9)
    np.testing.assert_allclose(again.explained, found.rows["explained"], atol=1e-9)


def test_labels_tables_and_new_rows_agree(case):
    X, model, found = case
    rows = found.rows
    names = np.array([topic.name for topic in found.topics])
    assert [topic.index for topic in found.topics] == model.row_indices_.tolist()
    np.testing.assert_array_equal(rows["cluster"], model.row_labels_)
    np.testing.assert_array_equal(found.cols["cluster"], model.column_labels_)
    expected = np.where(model.row_labels_ < 0, "", names[model.row_labels_])
    np.testing.assert_array_equal(rows["representative"], expected)
    np.testing.assert_array_equal(rows["cluster"] < 0, np.arange(M) == 5)
    np.testing.assert_array_equal(found.cols["cluster"] < 0, np.arange(N) == 7)

    again = explain_rows(model.factorization_, X)
    np.testing.assert_array_equal(again.labels, rows["cluster"])
    atol = 1e-5 if X.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(again.shares, rows["membership"], atol=atol)
    np.testing.assert_allclose(again.explained, rows["explained"], atol=atol)
    np.testing.assert_array_equal(again.coefficients, model.transform(X))
    np.testing.assert_allclose(again.coefficients, model.row_factor_, rtol=atol, atol=atol)


def test_sizes_of_topics_are_counts_of_labels(case):
    X, model, found = case
    counts = np.bincount(model.row_labels_[model.row_labels_ >= 0], minlength=R1)
    assert [topic.cluster_size for topic in found.topics] == counts.tolist()
    assert sum(topic.cluster_size for topic in found.topics) == M - 1
    assert sum(topic.size for topic in found.topics) + found.n_unassigned == M
    enough = np.nan_to_num(found.rows["explained"]) >= found.min_explained
    np.testing.assert_array_equal(found.rows["assigned"], enough)
    assert all(topic.share == topic.size / X.shape[0] for topic in found.topics)


def test_parts_add_up_and_stay_below_their_bound(case):
    X, model, found = case
    atol = 1e-6 if X.dtype == np.float32 else 1e-9
    assert np.nansum(found.rows["explains"]) == pytest.approx(found.fidelity.refitted, abs=atol)
    assert np.nansum(found.cols["explains"]) == pytest.approx(found.fidelity.refitted, abs=atol)
    assert [topic.explains for topic in found.topics] == found.rows["explains"][model.row_indices_].tolist()
    assert [entry.value for entry in found.selected_cols] == found.cols["explains"][model.col_indices_].tolist()
    for share, bound in zip(found.fidelity, found.bound, strict=True):
        assert share <= bound <= 1
    fidelities = (model.row_fidelity_, model.col_fidelity_, model.core_fidelity_, model.refitted_fidelity_)
    assert found.fidelity == pytest.approx(fidelities, abs=1e-12)
    assert found.bound == pytest.approx(model.fidelity_bound_, abs=1e-12)
    assert found.plain_fidelity == pytest.approx(model.plain_fidelity_, abs=1e-12)


def whole_record(model, X):
    """Return the factorization of all rows that a fit to blocks found, as if it were in memory."""
    return Factorization(
        row_factor=np.asarray(model.row_factor_),
        core=model.core_,
        col_factor=model.col_factor_,
        selection=model.result_.selection,
        row_weights=np.asarray(model.row_weights_),
        col_weights=model.col_weights_,
        row_labels=np.asarray(model.row_labels_),
        col_labels=model.column_labels_,
        scaling=model.result_.norm.scaling_of(as_matrix(X)),
    )


@pytest.mark.parametrize("scaling", [name for name in SCALINGS if name != "sinkhorn"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_blocks_with_a_sample_of_all_rows_agree_with_memory(scaling, kind, weights):
    X = KINDS[kind](planted())
    blocks = row_blocks([X[:20], X[20:35], X[35:]])
    model, in_memory = (fitted(data, SCALINGS[scaling], WEIGHTS[weights]) for data in (blocks, X))
    counted = planted().any(axis=1) if WEIGHTS[weights] is None else planted().any(axis=1) & (WEIGHTS[weights] > 0)
    assert len(model.sample_indices_) == counted.sum()
    written = []
    record = sample_record(model.result_, blocks, {})
    found = describe_blocks(model.result_, blocks, record, lambda *rows: written.append(rows), lambda *_: None)
    expected = describe(X, whole_record(model, X))

    # The same rows and columns, about as well explained, as by a fit in memory; its factors are refined further.
    np.testing.assert_array_equal(model.row_indices_, in_memory.row_indices_)
    np.testing.assert_array_equal(model.col_indices_, in_memory.col_indices_)
    assert found.fidelity[:3] == pytest.approx(describe(X, in_memory.factorization_).fidelity[:3], abs=1e-9)
    assert found.bound == pytest.approx(in_memory.fidelity_bound_, abs=1e-9)

    # All else is what is found in memory of the same factors.
    assert found.fidelity == pytest.approx(expected.fidelity, abs=1e-9)
    assert found.plain_fidelity == pytest.approx(expected.plain_fidelity, abs=1e-9)
    assert all(share <= bound for share, bound in zip(found.fidelity, found.bound, strict=True))
    assert (found.scaling, found.n_unassigned, found.shape) == (expected.scaling, expected.n_unassigned, (M, N))
    labels = np.concatenate([factors.row_labels for _, _, factors in written])
    np.testing.assert_array_equal(labels, np.asarray(model.row_labels_))
    assert np.nansum(found.cols["explains"]) == pytest.approx(found.fidelity.refitted, abs=1e-9)
    assert [one.name for one in found.unassigned] == [one.name for one in expected.unassigned]
    for name, column in found.cols.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(column, expected.cols[name], atol=1e-9)
        else:
            np.testing.assert_array_equal(column, expected.cols[name])
    for one, other in zip(found.topics, expected.topics, strict=True):
        assert (one.index, one.name, one.size, one.anchors) == (other.index, other.name, other.size, other.anchors)
        assert one.cluster_size == other.cluster_size
        assert one.explains == pytest.approx(other.explains, abs=1e-9)
        for part in ("values", "columns", "closest"):
            ours, theirs = getattr(one, part), getattr(other, part)
            assert [entry.name for entry in ours] == [entry.name for entry in theirs]
            assert [entry.value for entry in ours] == pytest.approx([entry.value for entry in theirs], abs=1e-8)
