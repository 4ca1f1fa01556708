"""Stability: high for clear structure, low for noise, and the same for all kinds of storage and numbers of jobs."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from cosep import (
    CoSeparableNMF,
    Pool,
    Selection,
    SelectionWarning,
    both_sides,
    faithful,
    make_coseparable,
    preselected,
    spa,
    stability,
    xray,
)
from cosep.assess.selecting import select_from_part
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.metrics import index_accuracy
from cosep.select import BOTH_SELECTORS
from cosep.select.faithful import faithful_near
from selector_names import SEEDED

BLOCKS = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((9, 6)))


def by_mean(X, n_rows, n_cols):
    """Select the rows and columns with the largest sums, and complain."""
    warnings.warn("as always", UserWarning, stacklevel=2)
    X = np.asarray(X.todense() if scipy.sparse.issparse(X) else X)
    return Selection(np.argsort(-X.sum(axis=1))[:n_rows], np.argsort(-X.sum(axis=0))[:n_cols])


def assert_same(one, other):
    for mine, theirs in ((one.rows, other.rows), (one.cols, other.cols)):
        assert mine.keys() == theirs.keys()
        for name, column in mine.items():
            if column.dtype.kind == "U":
                assert column.tolist() == theirs[name].tolist()
                continue
            np.testing.assert_allclose(column, theirs[name], rtol=1e-12 if name == "similarity" else 0)


@pytest.mark.parametrize("method", BOTH_SELECTORS)
def test_clear_structure_is_found_in_every_draw(method):
    chosen = BOTH_SELECTORS[method](BLOCKS, 3, 3)
    sure = stability(BLOCKS, chosen, method=method, n_draws=6)
    for table, indices in ((sure.rows, chosen.row_indices), (sure.cols, chosen.col_indices)):
        np.testing.assert_array_equal(table["index"], indices)
        np.testing.assert_allclose(table["similarity"], 1.0)
        if method not in SEEDED:
            np.testing.assert_array_equal(table["frequency"], 1.0)
    assert (sure.n_draws, sure.share) == (6, 0.8)


def test_planted_rows_and_columns_are_found_again_and_those_of_noise_are_not():
    for seed in range(3):
        X, truth = make_coseparable(60, 50, 4, 4, random_state=seed)
        sure = stability(X, truth, n_draws=8)
        noise = np.random.default_rng(seed).random((60, 50))
        unsure = stability(noise, faithful(noise, 4, 4), n_draws=8)
        for planted, other in ((sure.rows, unsure.rows), (sure.cols, unsure.cols)):
            assert planted["frequency"].mean() > 0.9
            assert planted["similarity"].min() > 0.99
            assert other["frequency"].mean() < 0.5
            assert other["similarity"].max() < 0.99


def test_frequencies_agree_with_counting():
    X = np.random.default_rng(0).random((12, 9))
    selection, seen = Selection([3, 7, 1], [0, 5]), []

    def recorded(part, n_rows, n_cols):
        chosen = by_mean(part, n_rows, n_cols)
        rows = [int(np.flatnonzero(np.isin(X, row).sum(axis=1) == len(row))[0]) for row in part]
        seen.append((rows, [rows[i] for i in chosen.row_indices]))
        return chosen

    sure = stability(X, selection, method=recorded, scaling=None, n_draws=7, share=0.7, random_state=3)
    assert {len(rows) for rows, _ in seen} == {8}
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for k, row in enumerate(selection.row_indices):
        having = [chosen for rows, chosen in seen if row in rows]
        assert sure.rows["frequency"][k] == np.mean([row in chosen for chosen in having])
        nearest = np.mean([(unit[chosen] @ unit[row]).max() for chosen in having])
        assert sure.rows["similarity"][k] == pytest.approx(nearest)


def test_jobs_and_storage_change_nothing_and_seeds_do():
    X = np.random.default_rng(0).poisson(0.8, size=(40, 30)).astype(float)
    chosen = faithful(X, 4, 4)
    one = stability(X, chosen, n_draws=6)
    assert_same(one, stability(X, chosen, n_draws=6, n_jobs=2))
    assert_same(one, stability(scipy.sparse.csc_array(X), chosen, n_draws=6))
    assert_same(one, stability(np.ldexp(X, 500), chosen, n_draws=6))
    other = stability(X, chosen, n_draws=6, random_state=1)
    assert any((one.rows[name] != other.rows[name]).any() for name in ("frequency", "similarity"))


def test_transposing_swaps_rows_and_columns_if_draws_are_complete():
    X = np.random.default_rng(1).random((20, 20))
    for scaling in (None, "degree"):
        chosen = faithful(scale(X, scaling)[0].raw, 3, 4)
        one = stability(X, chosen, scaling=scaling, n_draws=2, share=1.0)
        other = stability(X.T, chosen.T, scaling=scaling, n_draws=2, share=1.0)
        np.testing.assert_array_equal(one.rows["frequency"], 1.0)
        for name in one.rows.keys() - {"name"}:
            np.testing.assert_array_equal(one.rows[name], other.cols[name])
            np.testing.assert_array_equal(one.cols[name], other.rows[name])


def test_a_draw_is_scaled_by_its_own_sums_and_weighted_by_its_rows():
    X, weights = np.random.default_rng(1).random((12, 9)), np.arange(12.0)
    rows, cols = np.array([1, 4, 6, 11]), np.array([0, 3, 8])
    pair = np.arange(1.0, 13), np.arange(1.0, 10)
    seen = []

    def recorded(part, *sizes):
        seen.append(part)
        return Selection(np.arange(sizes[0]), np.arange(sizes[1]))

    for scaling, own in ((None, None), ("degree", "degree"), (pair, (pair[0][rows], pair[1][cols]))):
        select_from_part(as_matrix(X), (rows, cols), (scaling, None), recorded, (1, 1), 0)
        np.testing.assert_allclose(seen.pop(), scale(X[np.ix_(rows, cols)], own)[0].take())
        select_from_part(as_matrix(X), (rows, cols), (scaling, weights), recorded, (1, 1), 0)
        np.testing.assert_allclose(seen.pop(), scale(X[np.ix_(rows, cols)], own, weights[rows])[0].take())


@pytest.mark.parametrize("method", BOTH_SELECTORS)
def test_empty_rows_columns_and_draws_are_allowed(method):
    X = np.zeros((12, 10))
    X[0, 0], X[5, 7], X[5, 2] = 1.0, 2.0, 1.0
    sure = stability(X, Selection([0, 5], [0, 7]), method=method, n_draws=8, share=0.3)
    for table in (sure.rows, sure.cols):
        known = table["frequency"][~np.isnan(table["frequency"])]
        assert ((known >= 0) & (known <= 1)).all()


def test_a_row_in_no_draw_has_no_frequency():
    X = np.random.default_rng(0).random((30, 30))
    sure = stability(X, Selection(range(5), range(5)), n_draws=1, share=0.2)
    drawn = ~np.isnan(sure.rows["frequency"])
    assert 0 < drawn.sum() < 5
    np.testing.assert_array_equal(drawn, ~np.isnan(sure.rows["similarity"]))


def test_a_draw_has_as_many_rows_as_are_selected():
    X = np.random.default_rng(0).random((4, 9))
    sure = stability(X, Selection(range(4), range(9)), method="spa", n_draws=2, share=0.1)
    np.testing.assert_array_equal(sure.rows["frequency"], 1.0)


def test_functions_as_methods_and_their_seeds():
    X, truth = make_coseparable(30, 20, 3, 3, random_state=0)
    for method in (both_sides(xray), preselected(both_sides(spa), 20, 15), both_sides(spa)):
        one, other = (stability(X, truth, method=method, n_draws=3) for _ in range(2))
        assert_same(one, other)
        assert one.rows["similarity"].min() > 0.9


def test_only_warnings_of_draws_are_hidden():
    before = list(warnings.filters)
    chosen = Selection([0, 9, 18], [0, 6, 12])
    stability(BLOCKS, chosen, method=by_mean, n_draws=2)
    assert list(warnings.filters) == before
    with pytest.warns(SelectionWarning):
        faithful(BLOCKS, 4, 3)
    stability(BLOCKS, Selection([0, 1, 9, 18], [0, 6, 12]), n_draws=2)


def test_progress_is_reported_and_the_callback_may_stop_it():
    steps = []
    stability(BLOCKS, Selection([0], [0]), n_draws=3, callback=lambda *step: steps.append(step[:3]))
    assert steps == [("stability", step, 3) for step in (1, 2, 3)]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stability(BLOCKS, Selection([0], [0]), n_draws=3, callback=stop)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "nonsense"),
        ("method", lambda X: X),
        ("method", lambda *_: None),
        ("method", 3),
        ("n_draws", 0),
        ("n_draws", 2.0),
        ("share", 0),
        ("share", 1.1),
        ("share", np.nan),
        ("share", "much"),
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("n_jobs", True),
        ("random_state", "seed"),
        ("callback", 3),
    ],
)
def test_bad_options_are_refused_and_named(name, value):
    with pytest.raises(ValueError, match=name):
        stability(BLOCKS, Selection([0], [0]), **{name: value})


@pytest.mark.parametrize(
    "selection",
    [None, Selection([0], None), Selection(None, [0]), Selection([27], [0]), Selection([0], [18]), Pool(), (0, 1)],
)
def test_selections_that_do_not_fit_are_refused(selection):
    with pytest.raises(ValueError, match=r"model|row_indices|col_indices"):
        stability(BLOCKS, selection)


def test_draws_of_a_model_begin_near_its_topics_and_find_about_the_same():
    """One round from the topics, against all rounds from three first choices."""
    for seed in range(2):
        X = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=seed)[0]
        model = CoSeparableNMF(4, 4).fit(X)
        near = stability(X, model, n_draws=8)
        from_nothing = stability(X, model.factorization_.selection, n_draws=8)
        for one, other in ((near.rows, from_nothing.rows), (near.cols, from_nothing.cols)):
            assert abs(one["similarity"] - other["similarity"]).max() < 0.1


def test_a_search_near_the_planted_topics_finds_the_planted_rows_and_columns():
    X, truth = make_coseparable(50, 40, 3, 5, random_state=0)
    topics = X[:, truth.col_indices], X[truth.row_indices].T
    weights = np.ones(50)
    weights[np.setdiff1d(np.arange(50), truth.row_indices)[:5]] = 0.0
    for given in (None, weights):
        found = faithful_near(X, 3, 5, topics=topics, sample_weight=given)
        assert index_accuracy(found, truth) == 1.0
