"""Rows that are completed from their selected columns, and the error of each column."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

from cosep import CoSeparableNMF, Factorization, Selection, make_coseparable, row_blocks
from cosep.solve.decoders import DECODERS

NAMES = [f"gene {j}" for j in range(40)]
FORMS = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])]),
    "blocks": lambda X: row_blocks([X[:7], X[7:]]),
}


def choosing(*cols):
    """Return a method that selects these columns, and as many rows."""
    return lambda *_sizes: Selection(np.arange(len(cols)), np.array(cols))


@pytest.fixture(scope="module")
def planted():
    return make_coseparable(60, 40, 4, 4, noise=1e-3, random_state=0)


@pytest.fixture(scope="module")
def measured():
    """Return measurements with an offset, of which a panel predicts the rest but for noise, and a model of half."""
    random = np.random.default_rng(0)
    parts = random.gamma(2.0, size=(120, 3))
    X = np.abs(parts @ random.normal(size=(3, 12)) + 20.0 + 0.3 * random.normal(size=(120, 12)))
    X[:, 11] = 5.0
    return X, CoSeparableNMF(3, 3, method=choosing(0, 1, 2)).fit(X[:60])


@pytest.mark.parametrize("decoder", DECODERS)
def test_full_rows_are_completed_from_the_selected_columns(planted, decoder):
    X = planted[0]
    frame = pd.DataFrame(X, columns=NAMES)
    model = CoSeparableNMF(n_rows=4, n_cols=4).fit(frame[:40])
    expected = model.complete(X[40:][:, model.col_indices_], decoder=decoder)
    assert np.linalg.norm(expected - X[40:]) < 0.01 * np.linalg.norm(X[40:])
    np.testing.assert_allclose(expected[:, model.col_indices_], X[40:][:, model.col_indices_])
    np.testing.assert_allclose(model.complete(frame[40:], decoder=decoder), expected)
    shuffled = frame[40:][model.selected_features_[::-1]]
    np.testing.assert_allclose(model.complete(shuffled, decoder=decoder), expected)
    with pytest.raises(ValueError, match="lacks the selected columns"):
        model.complete(shuffled.iloc[:, 1:], decoder=decoder)
    with pytest.raises(ValueError, match="X has 3 columns, but the model has 4 selected columns"):
        model.complete(X[40:, :3], decoder=decoder)


def test_an_unknown_decoder_is_refused_with_the_known_ones(measured):
    X, model = measured
    for call in (lambda: model.complete(X[:, :3], decoder="nearest"), lambda: model.decoder(3)):
        with pytest.raises(ValueError, match=r"decoder=.* must be one of 'ridge', 'nonnegative', 'weights'"):
            call()


def test_noiseless_rows_that_were_not_seen_are_completed_exactly():
    X = make_coseparable(60, 40, 4, 4, random_state=1)[0]
    for method in ("faithful", "cosfgm", "spa"):
        model = CoSeparableNMF(4, 4, method=method).fit(X[:40])
        for decoder in DECODERS:
            scores = model.column_scores(X[40:], decoder=decoder)
            assert scores.r2[scores.scored].min() == pytest.approx(1, abs=1e-9)


def test_the_scores_are_those_of_scikit_learn_on_the_columns_that_are_predicted(measured):
    X, model = measured
    for decoder in DECODERS:
        scores, predicted = model.column_scores(X[60:], decoder=decoder), model.complete(X[60:, :3], decoder=decoder)
        right = r2_score(X[60:, 3:11], predicted[:, 3:11], multioutput="raw_values")
        np.testing.assert_allclose(scores.r2[3:11], right, rtol=1e-9)
        np.testing.assert_array_equal(scores.scored, np.arange(3, 11))
        np.testing.assert_allclose(scores.spread[3:11], X[60:, 3:11].std(axis=0))
        off = np.sqrt(((X[60:] - predicted) ** 2).mean(axis=0))
        np.testing.assert_allclose((scores.error * scores.spread)[3:11], off[3:11])
        assert scores.mean == pytest.approx(np.mean(right))
        assert scores.median == pytest.approx(np.median(right))
    assert model.completion_score(X[60:]) == model.column_scores(X[60:]).mean


def test_the_unit_of_a_column_does_not_change_its_score(measured):
    X, model = measured
    units = 10.0 ** np.arange(-6, 6)
    other = CoSeparableNMF(3, 3, method=choosing(0, 1, 2)).fit(X[:60] * units)
    for decoder in ("ridge", "nonnegative"):
        expected = model.column_scores(X[60:], decoder=decoder)
        np.testing.assert_allclose(other.column_scores(X[60:] * units, decoder=decoder).r2, expected.r2, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_decoders_and_scores_are_the_same_in_every_form_of_data(form, monkeypatch):
    X = make_coseparable(60, 40, 4, 4, noise=0.2, random_state=0)[0]
    X = np.where(X < 0.5, 0.0, X)
    cols = [3, 7, 20, 31]
    expected = CoSeparableNMF(4, 4, method=choosing(*cols)).fit(X[:40])
    alike = CoSeparableNMF(4, 4, method=choosing(*cols)).fit(form(X[:40]))
    for decoder in DECODERS:
        scores = expected.column_scores(X[40:], decoder=decoder)
        for entries in (1 << 20, 120):
            monkeypatch.setattr("cosep.matrix.local.BLOCK_ENTRIES", entries)
            found = alike.column_scores(form(X[40:]), decoder=decoder)
            np.testing.assert_allclose(found.r2, scores.r2, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(alike.decoder(decoder).error, expected.decoder(decoder).error, rtol=1e-4, atol=1e-5)


def test_a_weight_counts_as_that_many_rows(measured):
    X, _ = measured
    weights = np.arange(60) % 3
    method = choosing(0, 1, 2)
    weighted = CoSeparableNMF(3, 3, method=method).fit(X[:60], sample_weight=weights)
    repeated = CoSeparableNMF(3, 3, method=method).fit(np.repeat(X[:60], weights, axis=0))
    in_blocks = CoSeparableNMF(3, 3, method=method).fit(row_blocks([X[:20], X[20:60]]), sample_weight=weights)
    for decoder in ("ridge", "nonnegative"):
        expected = repeated.decoder(decoder)
        for model in (weighted, in_blocks):
            for part in ("weights", "intercept", "limits", "error", "spread"):
                found = getattr(model.decoder(decoder), part)
                np.testing.assert_allclose(found, getattr(expected, part), rtol=1e-6, atol=1e-9)


def test_the_norm_changes_the_weights_of_the_model_but_not_the_other_decoders(measured):
    X, model = measured
    plain = CoSeparableNMF(3, 3, method=choosing(0, 1, 2), scaling=None).fit(X[:60])
    np.testing.assert_array_equal(plain.decoder().weights, model.decoder().weights)
    assert not np.allclose(plain.decoder("weights").weights, model.decoder("weights").weights)


def test_the_expected_error_is_that_of_rows_left_out_in_turn(measured):
    """Without shrinkage, nonnegative slopes of a panel of one column are a line: its leave-one-out error is known."""
    X, _ = measured
    y, x = X[:60, 4], X[:60, [0]]
    slope = np.cov(x[:, 0], y)[0, 1]
    x = x if slope > 0 else 60.0 - x
    model = CoSeparableNMF(1, 1, method=choosing(0)).fit(np.column_stack([x, y]))
    left_out = [
        y[i] - LinearRegression().fit(np.delete(x, i, axis=0), np.delete(y, i)).predict(x[[i]])[0] for i in range(60)
    ]
    expected = np.sqrt(np.mean(np.square(left_out)))
    for decoder in ("ridge", "nonnegative"):
        assert model.decoder(decoder).error[1] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("decoder", DECODERS)
def test_the_expected_error_is_near_that_of_new_rows(decoder):
    X = load_wine().data
    ratios = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        model = CoSeparableNMF(4, 4).fit(X[order[:89]])
        scores = model.column_scores(X[order[89:]], decoder=decoder)
        k = scores.scored
        ratios.append((scores.error * scores.spread)[k] / model.decoder(decoder).error[k])
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


def test_columns_that_cannot_be_predicted_are_named(measured):
    X, _ = measured
    X = X.copy()
    X[:, 7] = np.random.default_rng(1).uniform(1, 2, size=len(X))
    names = [f"gene {j}" for j in range(12)]
    for frame, expected in ((X, 7), (pd.DataFrame(X, columns=names), "gene 7")):
        model = CoSeparableNMF(3, 3, method=choosing(0, 1, 2)).fit(frame[:60])
        assert expected in model.column_scores(frame[60:]).unpredictable
        assert set(model.decoder().unpredictable) <= {expected}
        assert "no better than their mean" in repr(model.column_scores(frame[60:]))


def test_a_wild_row_is_not_followed_far_outside_of_the_data(measured):
    X, model = measured
    wild, largest = X[60:61, :3] * 1e6, X[:60, :3].max(axis=0)
    np.testing.assert_array_equal(model.complete(wild)[0, 3:], model.complete(2.0 * largest[None])[0, 3:])
    np.testing.assert_array_equal(model.complete(wild)[0, :3], wild[0])
    assert (model.complete(np.zeros((1, 3))) >= 0).all()
    # The weights of the model have no intercept: they follow the size of a row.
    sizes = model.complete(wild, decoder="weights") / model.complete(X[60:61, :3], decoder="weights")
    np.testing.assert_allclose(sizes, 1e6)


def test_few_rows_and_constant_columns_give_no_errors_that_are_not_known():
    ones = CoSeparableNMF(1, 1).fit(np.ones((1, 3)))
    for decoder in DECODERS:
        found = ones.decoder(decoder)
        np.testing.assert_array_equal(ones.complete(np.ones((2, 1)), decoder=decoder), np.ones((2, 3)))
        assert np.isnan(found.r2).all()
    exact = CoSeparableNMF(2, 2).fit(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 5.0]]))
    assert np.isnan(exact.decoder("nonnegative").error).sum() == 1
    assert np.isfinite(exact.complete(np.ones((1, 2)))).all()


def test_rows_that_cannot_be_scored_are_refused_with_the_way_out(measured):
    X, model = measured
    for rows in (X[[3]], X[[3, 3]], np.zeros((2, 12)), scipy.sparse.csr_array((2, 12))):
        with pytest.raises(ValueError, match=r"X has \d rows in which no column .* varies, .*; pass rows that differ"):
            model.completion_score(rows)
    with pytest.raises(ValueError, match="X has 3 features, but CoSeparableNMF is expecting 12"):
        model.completion_score(X[:, :3])
    everything = CoSeparableNMF(3, 3).fit(np.diag([3.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match=r"n_cols=3 selected all columns of X, .*; select fewer"):
        everything.completion_score(np.ones((2, 3)))
    for call in (lambda model: model.completion_score(np.ones((2, 3))), lambda model: model.decoder()):
        with pytest.raises(NotFittedError):
            call(CoSeparableNMF(3, 3))


def test_names_of_rows_to_score_are_compared_with_those_of_the_fit(planted):
    frame = FORMS["pandas"](planted[0])
    model = CoSeparableNMF(n_rows=4, n_cols=4).fit(frame[:40])
    assert model.completion_score(frame[40:]) > 0.99
    with pytest.raises(ValueError, match="feature names should match"):
        model.completion_score(frame[40:].iloc[:, ::-1])


def test_a_search_can_be_scored_by_completion(planted):
    scorer = CoSeparableNMF.completion_score
    search = GridSearchCV(CoSeparableNMF(n_rows=4), {"n_cols": [1, 4]}, cv=3, scoring=scorer).fit(planted[0])
    assert search.best_params_ == {"n_cols": 4}
    assert search.best_score_ > 0.99


def test_a_model_and_its_file_complete_alike(measured, tmp_path):
    X, model = measured
    model.factorization_.save(tmp_path / "model.npz")
    found = Factorization.load(tmp_path / "model.npz")
    for name in ("means", "spreads", "correlations", "largest", "n_counted"):
        np.testing.assert_array_equal(getattr(found.panel, name), getattr(model.factorization_.panel, name))
    assert found.T.panel is None
    in_blocks = clone(model).fit(row_blocks([X[:20], X[20:60]]))
    np.testing.assert_allclose(in_blocks.sample_factorization_.panel.correlations, found.panel.correlations, atol=1e-12)
