"""Predictive selection: the best panels, and a closed form of exchanges that agrees with least squares."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from calls import dense_and_sparse, refused
from cosep import (
    CoSeparableNMF,
    Pool,
    SelectionWarning,
    both_sides,
    make_coseparable,
    predictive,
    predictive_columns,
    row_blocks,
)
from cosep.fit.panel_sums import moments_in_memory
from cosep.matrix.validation import as_matrix
from cosep.select.predictive_columns import Panel
from cosep.solve.decoders import decoder_named
from cosep.solve.pursuit import all_positions


def unexplained(X, cols, weight=None):
    """Return the mean of ``1 - R^2`` over the columns that vary, by scikit-learn's linear regression."""
    spread = X.std(axis=0) if weight is None else np.sqrt(np.cov(X.T, aweights=weight, ddof=0).diagonal())
    X = X[:, spread > 0] / spread[spread > 0] if weight is None else X / spread
    line = LinearRegression().fit(X[:, cols], X, sample_weight=weight)
    return float(np.average((X - line.predict(X[:, cols])) ** 2, axis=0, weights=weight).mean())


@dense_and_sparse
@pytest.mark.parametrize("seed", range(6))
def test_no_exchange_lowers_the_error_and_the_history_states_it(form, seed):
    random = np.random.default_rng(seed)
    X = random.gamma(0.5, size=(30, 11)) * 10.0 ** random.uniform(-3, 3, size=11)
    found = predictive_columns(form(X), 4)
    cols = found.col_indices.tolist()
    least = unexplained(X, cols)
    assert found.history[-1] == pytest.approx(np.sqrt(least), rel=1e-9)
    assert all(b < a for a, b in zip(found.history, found.history[1:], strict=False))
    for k in range(4):
        for j in set(range(11)) - set(cols):
            assert unexplained(X, [*cols[:k], j, *cols[k + 1 :]]) >= least * (1 - 1e-6)


@dense_and_sparse
def test_gains_of_exchanges_are_those_of_least_squares(form):
    X = np.random.default_rng(0).gamma(0.5, size=(20, 8))
    M = as_matrix(form(X))
    panel = Panel(M, np.ones(20), all_positions(8))
    panel.choose(3)
    before = panel.chosen.tolist()
    best = min(
        unexplained(X, [*before[:k], j, *before[k + 1 :]]) for k in range(3) for j in set(range(8)) - set(before)
    )
    if panel.exchange():
        assert unexplained(X, panel.chosen) == pytest.approx(best, rel=1e-9)
    else:
        assert best >= unexplained(X, before) * (1 - 1e-6)
    assert panel.error == pytest.approx(np.sqrt(unexplained(X, panel.chosen)), rel=1e-9)


@dense_and_sparse
def test_units_and_constants_of_columns_do_not_matter(form):
    random = np.random.default_rng(2)
    X = random.gamma(0.5, size=(40, 10))
    expected = predictive_columns(form(X), 4).col_indices
    shift = 10.0 ** random.uniform(-2, 1, size=10)
    for other in (X * 10.0 ** random.uniform(-4, 4, size=10), X + shift, X + 1e3):
        np.testing.assert_array_equal(predictive_columns(form(other), 4).col_indices, expected)


@dense_and_sparse
def test_weights_are_copies_and_zero_rows_do_not_count(form):
    random = np.random.default_rng(4)
    X, weights = random.gamma(0.5, size=(30, 9)), random.integers(0, 4, size=30)
    expected = predictive_columns(np.repeat(X, weights, axis=0), 3)
    found = predictive_columns(form(X), 3, sample_weight=weights)
    np.testing.assert_array_equal(found.col_indices, expected.col_indices)
    assert found.history[-1] == pytest.approx(expected.history[-1], rel=1e-9)
    longer = np.vstack([X, np.zeros((50, 9))])
    np.testing.assert_array_equal(predictive_columns(form(longer), 3).col_indices, predictive_columns(X, 3).col_indices)


@dense_and_sparse
def test_factors_of_rows_are_weights_of_the_regression_if_the_constant_is_known(form):
    random = np.random.default_rng(5)
    X, factors = random.gamma(0.5, size=(30, 9)) + 1.0, random.uniform(0.2, 2.0, size=30)
    found = predictive_columns(form(X * factors[:, None]), 3, constant=factors)
    expected = predictive_columns(X, 3, sample_weight=factors**2)
    np.testing.assert_array_equal(found.col_indices, expected.col_indices)
    assert found.history[-1] ** 2 == pytest.approx(unexplained(X, found.col_indices, factors**2), rel=1e-9)


@pytest.mark.parametrize("scaling", ["degree", "rows", None])
def test_the_estimator_passes_the_factors_of_its_norm(scaling):
    X = np.random.default_rng(6).gamma(0.5, size=(40, 9)) + 0.5
    model = CoSeparableNMF(3, 3, method="predictive", scaling=scaling).fit(X)
    factors = model.result_.norm.row_factors(as_matrix(X))
    expected = predictive_columns(X, 3, sample_weight=factors**2 / factors.max() ** 2)
    np.testing.assert_array_equal(model.col_indices_, expected.col_indices)
    in_blocks = CoSeparableNMF(3, 3, method="predictive", scaling=scaling).fit(row_blocks([X[:10], X[10:]]))
    np.testing.assert_array_equal(in_blocks.col_indices_, expected.col_indices)


def test_pools_and_degenerate_data():
    X = np.random.default_rng(7).gamma(0.5, size=(20, 6))
    X[:, 2] = 1.0
    found = predictive_columns(X, 3, pool=Pool(candidates=[0, 1, 3], include=[2])).col_indices
    assert found[0] == 2
    assert set(found) <= {0, 1, 2, 3}
    assert 2 not in predictive_columns(X, 5).col_indices
    assert predictive_columns(np.array([[1.0, 5.0, 2.0]]), 1).col_indices.tolist() == [1]
    with pytest.warns(SelectionWarning):
        assert len(predictive_columns(np.outer(np.arange(1.0, 5), [1, 2, 3]), 2).col_indices) == 1
    # Three columns and a constant explain this matrix of rank four exactly; a model without a constant needs four.
    planted = make_coseparable(60, 40, 4, 4, random_state=0)[0]
    found = predictive_columns(planted, 4).col_indices
    assert np.linalg.matrix_rank(planted[:, found]) == 4
    with refused("constant", "positive"):
        predictive_columns(X, 2, constant=-np.ones(20))
    with refused("constant", "20 rows"):
        predictive_columns(X, 2, constant=np.ones(3))


def test_rows_are_those_that_are_faithful_given_the_columns():
    X = np.random.default_rng(8).gamma(0.5, size=(30, 12))
    found = predictive(X, 4, 3)
    np.testing.assert_array_equal(found.col_indices, predictive_columns(X, 3).col_indices)
    assert len(set(found.row_indices)) == 4
    assert both_sides(predictive_columns)(X, 4, 3).col_indices.tolist() == found.col_indices.tolist()


@pytest.mark.slow
def test_the_panel_of_the_example_is_near_the_best_of_all():
    """Of all 126 panels of the mean radius and four other means, judged on patients who were not seen."""
    patients = load_breast_cancer(as_frame=True).data
    means = [j for j, name in enumerate(patients.columns) if name.startswith("mean")]
    sizes = {"mean radius", "mean perimeter", "mean area"}
    for seed in range(3):
        known, unseen = train_test_split(patients, random_state=seed)
        pool = Pool(candidates=means, include=["mean radius"])
        model = CoSeparableNMF(5, 5, method="predictive", col_pool=pool).fit(known)
        assert len(sizes & set(model.selected_features_)) == 1
        M, best = as_matrix(known.to_numpy()), -np.inf
        for others in combinations(means[1:], 4):
            cols = np.array([means[0], *others])
            decoder = decoder_named("ridge", moments_in_memory(M, cols, None), cols, np.zeros((5, 30)))
            off = unseen.to_numpy() - decoder.predict(unseen.to_numpy()[:, cols])
            r2 = 1 - (off**2).mean(axis=0) / unseen.to_numpy().var(axis=0)
            best = max(best, float(r2[decoder.predicted].mean()))
        assert model.completion_score(unseen) > best - 0.03
