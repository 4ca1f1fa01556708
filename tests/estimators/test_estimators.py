"""The estimators, as scikit-learn users expect them."""

import pickle
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import clone, config_context
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from cosep import (
    CUR,
    HALSNMF,
    BiorthogonalNMF,
    CoSeparableNMF,
    Factorization,
    GeneralizedSeparableNMF,
    MinVolNMF,
    Pool,
    Selection,
    SelectionWarning,
    SeparableNMF,
    TriSymmetricNMF,
    both_sides,
    clustering_accuracy,
    faithful,
    make_coseparable,
    mix,
    preselect,
    row_blocks,
    spa,
)
from cosep.matrix.row_blocks import RowBlocks
from cosep.matrix.scaling import scale
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from cosep.select.cur import METHODS
from cosep.solve.cur_link import LINKS
from oracles import make_generalized
from selector_names import BOTH_CORNERS

# One instance for each class and each method that has code of its own. `snpa`, `xray`, `fgm` and `greedy` on both sides
# are the column selectors below inside the wrapper that "spa" is in, too.
CHECKED = [
    *[
        CoSeparableNMF(n_rows=2, n_cols=2, method=method)
        for method in ("faithful", "predictive", "cosfgm", "spa", "cur")
    ],
    CoSeparableNMF(n_rows=3, n_cols=2, preselect=5),
    CoSeparableNMF(n_rows=2, n_cols=2, missing="nan"),
    CoSeparableNMF(n_rows=2, n_cols=2, missing="nan", method="spa"),
    *[SeparableNMF(n_components=2, method=method) for method in COLUMN_SELECTORS],
    SeparableNMF(n_components=3, axis="rows", preselect=5),
    *[GeneralizedSeparableNMF(n_components=2, method=method) for method in EITHER_SELECTORS],
    *[GeneralizedSeparableNMF(n_rows=r, n_cols=c) for r, c in ((2, 0), (0, 2))],
    GeneralizedSeparableNMF(n_rows=1, n_cols=2, preselect=5),
    CUR(n_rows=3, n_cols=2),
    *[CUR(n_rows=2, n_cols=2, method=method) for method in ("deim", "cross")],
    CUR(n_rows=2, n_cols=2, link="skeleton"),
    HALSNMF(n_components=2),
    MinVolNMF(n_components=2),
    BiorthogonalNMF(n_components=(3, 2)),
    TriSymmetricNMF(n_components=2),
]

IN_MEMORY = [
    SeparableNMF(2),
    GeneralizedSeparableNMF(2),
    HALSNMF(2),
    MinVolNMF(2),
    BiorthogonalNMF(2),
    TriSymmetricNMF(2),
    CUR(2, 2),
]


def failing_checks(estimator):
    """Return the checks that a model need not pass, with the reason."""
    if not isinstance(estimator, CoSeparableNMF) or (estimator.method != "cosfgm" and estimator.preselect is None):
        return {}
    reason = "methods that look for extreme points, and candidates, see rows multiplied by the roots of their weights"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


# Some checks pass data with two features, where two rows explain all others, or so sparse that rows and columns do
# not meet; the warnings about it are right.
@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=failing_checks)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


# What the checks do not ask


@pytest.fixture(scope="module")
def planted():
    return make_coseparable(60, 40, 4, 4, noise=1e-3, random_state=0)


FORMS = {
    "dense": np.asarray,
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
    "float32": lambda X: X.astype(np.float32),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("method", BOTH_CORNERS)
def test_planted_rows_and_columns_are_found_in_every_form_of_data(planted, form, method):
    X, truth = planted
    model = CoSeparableNMF(n_rows=4, n_cols=4, method=method).fit(form(X))
    assert set(model.row_indices_) == set(truth.row_indices)
    assert set(model.col_indices_) == set(truth.col_indices)
    assert model.score(form(X)) > 0.998
    np.testing.assert_allclose(model.core_, X[model.row_indices_][:, model.col_indices_], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("axis", ["columns", "rows"])
def test_planted_columns_or_rows_are_found_in_every_form_of_data(planted, form, axis):
    X, truth = planted
    model = SeparableNMF(n_components=4, axis=axis).fit(form(X))
    found, expected = (
        (model.col_indices_, truth.col_indices) if axis == "columns" else (model.row_indices_, truth.row_indices)
    )
    assert set(found) == set(expected)
    assert model.score(form(X)) > 0.998
    assert (model.row_indices_ is None) == (axis == "columns")


SELECTING = {
    "both": CoSeparableNMF(n_rows=4, n_cols=3),
    "columns": SeparableNMF(n_components=4),
    "rows": SeparableNMF(n_components=4, axis="rows"),
    "few of both": CoSeparableNMF(n_rows=4, n_cols=3, preselect=(30, 20)),
    "few columns": SeparableNMF(n_components=4, preselect=20),
    "either": GeneralizedSeparableNMF(n_rows=1, n_cols=3),
    "split": GeneralizedSeparableNMF(n_components=4, method="gsfgm"),
    "cur": CUR(n_rows=4, n_cols=3, method="deim"),
    "anchors": TriSymmetricNMF(n_components=4),
}
FREE = {"hals": HALSNMF(n_components=4), "minvol": MinVolNMF(n_components=4)}
TRANSFORMERS = SELECTING | FREE
MODELS = TRANSFORMERS | {"biorthogonal": BiorthogonalNMF(n_components=4)}


def each(models, *, but=()):
    kept = {name: model for name, model in models.items() if name not in but}
    return pytest.mark.parametrize("model", kept.values(), ids=kept)


each_model, each_transformer, each_selecting_model = each(MODELS), each(TRANSFORMERS), each(SELECTING)


def outcome(model, X):
    """Return what the fitted model says about X: its mixtures, or the labels of its rows where it has none."""
    return model.transform(X) if hasattr(model, "transform") else model.row_labels_


def rounding(model):
    """Return how far two fits may be apart that differ by rounding alone: one solver chooses among equals."""
    return 1e-6 if isinstance(model, MinVolNMF) else 1e-9


@each_transformer
def test_fitting_and_transforming_is_transforming_after_fitting(planted, model):
    X = planted[0]
    together, apart = clone(model).fit_transform(X), clone(model).fit(X).transform(X)
    np.testing.assert_allclose(together, apart, rtol=1e-12)


@each(TRANSFORMERS, but=("cur",))
def test_the_rows_of_the_fit_are_explained_as_in_the_fit(planted, model):
    fitted = clone(model).fit(planted[0])
    np.testing.assert_allclose(fitted.row_factor_, fitted.transform(planted[0]), atol=1e-9)


@each_transformer
def test_the_score_and_the_error_are_those_of_the_reconstruction(planted, model):
    X = planted[0]
    model = clone(model).fit(X)
    back = model.inverse_transform(model.transform(X))
    scaling = model.factorization_.scaling if isinstance(model, CoSeparableNMF) else None
    D, E = (1.0, 1.0) if scaling is None else (scaling.rows[:, None], scaling.cols)
    error = np.linalg.norm(D * (X - back) * E)
    assert model.score(X) == pytest.approx(1 - (error / np.linalg.norm(D * X * E)) ** 2, abs=1e-9)
    assert model.reconstruction_err_ == pytest.approx(error, rel=1e-6)


@each_transformer
def test_new_rows_are_explained_one_by_one(planted, model):
    X = planted[0]
    model = clone(model).fit(X[:40])
    together = model.transform(X[40:])
    apart = np.vstack([model.transform(row[None]) for row in X[40:]])
    np.testing.assert_allclose(together, apart, atol=1e-10)
    assert isinstance(model, CUR) or (together >= 0).all()


@each_model
def test_a_copy_through_pickle_answers_alike(planted, model):
    X = planted[0]
    model = clone(model).fit(X)
    np.testing.assert_array_equal(outcome(pickle.loads(pickle.dumps(model)), X), outcome(model, X))


@each_transformer
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_output_can_be_a_named_frame(planted, model, library):
    frame = import_module(library).DataFrame
    X = planted[0]
    model = clone(model).set_output(transform=library)
    out = model.fit_transform(X)
    assert isinstance(out, frame)
    assert list(out.columns) == list(model.get_feature_names_out())
    assert list(out.columns) == [f"{type(model).__name__.lower()}{k}" for k in range(4)]


def test_names_of_columns_are_kept(planted):
    X, truth = planted
    names = np.array([f"gene {j}" for j in range(40)])
    model = CoSeparableNMF(n_rows=4, n_cols=4).fit(pd.DataFrame(X, columns=names))
    np.testing.assert_array_equal(model.feature_names_in_, names)
    np.testing.assert_array_equal(model.selected_features_, names[model.col_indices_])
    assert not hasattr(CoSeparableNMF(n_rows=4, n_cols=4).fit(X), "selected_features_")
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(pd.DataFrame(X, columns=names[::-1]))
    assert set(truth.col_indices) == set(model.col_indices_)


def test_biclusters_pair_each_selected_row_with_a_group_of_columns():
    block = np.kron(np.eye(3), np.ones((6, 5))) + 0.01
    X = block * np.random.default_rng(0).uniform(0.5, 1.5, size=block.shape)
    model = CoSeparableNMF(n_rows=3, n_cols=3).fit(X)
    rows, columns = model.biclusters_
    assert rows.shape == (3, 18)
    assert columns.shape == (3, 15)
    assert rows.sum() == 18
    found = {(tuple(model.get_indices(k)[0]), tuple(model.get_indices(k)[1])) for k in range(3)}
    assert found == {(tuple(range(6 * k, 6 * k + 6)), tuple(range(5 * k, 5 * k + 5))) for k in range(3)}
    assert model.get_shape(0) == (6, 5)
    assert model.get_submatrix(0, X).shape == (6, 5)
    assert clustering_accuracy(np.repeat([0, 1, 2], 6), model.row_labels_) == 1.0
    assert clustering_accuracy(np.repeat([0, 1, 2], 5), model.column_labels_) == 1.0


def test_pools_are_given_by_position_or_by_name(planted):
    X = planted[0]
    names = [f"gene {j}" for j in range(40)]
    frame = pd.DataFrame(X, columns=names)
    pool = Pool(candidates=names[:20], include=["gene 7"])
    model = CoSeparableNMF(n_rows=4, n_cols=4, col_pool=pool, row_pool=Pool(include=[5])).fit(frame)
    assert model.selected_features_[0] == "gene 7"
    assert set(model.col_indices_) <= set(range(20))
    assert model.row_indices_[0] == 5
    one_sided = SeparableNMF(n_components=4, pool=pool).fit(frame)
    assert one_sided.selected_features_[0] == "gene 7"
    with pytest.raises(ValueError, match=r"col_pool names \['gene 7'\], but X has no such names"):
        CoSeparableNMF(n_rows=4, n_cols=4, col_pool=Pool(include=["gene 7"])).fit(X)
    with pytest.raises(ValueError, match=r"pool names \['tea'\], but X has"):
        SeparableNMF(n_components=4, pool=Pool(include=["tea"])).fit(frame)


def test_every_model_that_selects_says_how_much_its_selection_explains():
    X, _ = make_coseparable(40, 30, 4, 4, random_state=3)
    model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
    assert (model.row_fidelity_, model.col_fidelity_, model.core_fidelity_) == pytest.approx((1, 1, 1), abs=1e-6)
    assert not model.core_diagnosis_.permuted_diagonal
    columns, rows = (SeparableNMF(n_components=4, axis=axis).fit(X) for axis in ("columns", "rows"))
    assert (columns.row_fidelity_, columns.core_fidelity_) == (None, None)
    assert columns.col_fidelity_ == pytest.approx(columns.score(X))
    assert rows.row_fidelity_ == pytest.approx(rows.score(X))


def test_a_diagonal_core_that_hides_a_poor_selection_is_warned_about():
    # Two blocks; the selected rows and columns meet in one entry each and have little of their blocks.
    block = np.ones((6, 6))
    block[0, 1:] = block[1:, 0] = 0.05
    X = np.kron(np.eye(2), block)
    chosen = Selection([0, 6], [0, 6])
    with pytest.warns(SelectionWarning, match=r"permuted diagonal .* plain NMF, .* explain .*%.* rows themselves"):
        model = CoSeparableNMF(n_rows=2, n_cols=2, method=lambda *_sizes: chosen).fit(X)
    assert model.core_diagnosis_.permuted_diagonal


def test_a_diagonal_matrix_has_a_diagonal_core_and_no_warning():
    model = CoSeparableNMF(n_rows=3, n_cols=3).fit(np.diag([3.0, 2.0, 1.0]))
    assert model.core_diagnosis_.permuted_diagonal
    assert model.core_fidelity_ == pytest.approx(1.0)


def test_data_beyond_what_floats_can_hold_is_refused_with_the_way_out():
    X = make_coseparable(12, 10, 3, 3, random_state=0)[0]
    X /= X.max()
    for model, factor, message in (
        (TriSymmetricNMF(3), 1e308, "divide X by a constant"),
        (CUR(3, 3), 1e-310, "multiply X by a constant"),
    ):
        with pytest.raises(ValueError, match=f"X is .*; {message}"):
            model.fit(X * factor)


def test_a_data_frame_of_sparse_columns_is_fitted_like_its_matrix():
    X = make_coseparable(12, 10, 3, 3, random_state=0)[0]
    names = [f"gene {j}" for j in range(10)]
    frame = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(X), columns=names)
    model, plain = CoSeparableNMF(n_rows=3, n_cols=3).fit(frame), CoSeparableNMF(n_rows=3, n_cols=3).fit(X)
    np.testing.assert_array_equal(model.col_indices_, plain.col_indices_)
    assert list(model.selected_features_) == [names[j] for j in plain.col_indices_]


def test_progress_is_reported_from_both_stages(planted):
    calls = []
    watched = {"n_rows": 4, "n_cols": 4, "callback": lambda *call: calls.append(call)}
    CoSeparableNMF(**watched).fit(planted[0])
    assert {stage for stage, *_ in calls} == {"topics", "select", "mix"}
    CoSeparableNMF(**watched, method="cosfgm", preselect=9).fit(planted[0])
    assert {stage for stage, *_ in calls} == {"preselect", "topics", "select", "solve", "mix"}
    assert all(step <= most for _, step, most, _ in calls)


def test_pipelines_and_searches_work(planted):
    X = planted[0]
    pipe = make_pipeline(MaxAbsScaler(), CoSeparableNMF(n_rows=3, n_cols=3))
    assert pipe.fit_transform(X).shape == (60, 3)
    search = GridSearchCV(CoSeparableNMF(n_cols=4), {"n_rows": [2, 4]}, cv=3).fit(X)
    assert search.best_params_ == {"n_rows": 4}


def test_metadata_routing_is_not_broken(planted):
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(CoSeparableNMF(n_cols=4), {"n_rows": [2, 4]}, cv=3)
        assert search.fit(planted[0]).best_params_ == {"n_rows": 4}
        assert make_pipeline(CoSeparableNMF(n_rows=2, n_cols=2)).fit_transform(planted[0]).shape == (60, 2)


@pytest.mark.parametrize("scaling", [None, "rows", "columns", "degree", "sinkhorn"])
def test_every_scaling_keeps_the_factors_those_of_the_data(planted, scaling):
    X, truth = planted
    model = CoSeparableNMF(n_rows=4, n_cols=4, scaling=scaling).fit(X)
    assert set(model.col_indices_) == set(truth.col_indices)
    assert model.score(X) > 0.998


@pytest.mark.slow
@pytest.mark.parametrize("scaling", [None, "degree"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_selecting_among_few_is_selecting_from_their_weighted_block(planted, form, scaling):
    X = planted[0]
    scaled = X if scaling is None else scale(X, scaling)[0].take()
    rows, cols = preselect(scaled.T, 25), preselect(scaled, 15)
    block = rows.weights[:, None] * scaled[rows.representatives][:, cols.representatives] * cols.weights
    inside = faithful(block, 4, 4)
    model = CoSeparableNMF(n_rows=4, n_cols=4, scaling=scaling, preselect=(25, 15)).fit(form(X))
    np.testing.assert_array_equal(model.row_indices_, rows.original(inside.row_indices))
    np.testing.assert_array_equal(model.col_indices_, cols.original(inside.col_indices))
    factors = mix(X, Selection(model.row_indices_, model.col_indices_))
    np.testing.assert_allclose(model.row_factor_, factors.row_factor, rtol=1e-3, atol=1e-5)
    one_sided = SeparableNMF(n_components=4, axis="rows", preselect=25).fit(form(X))
    assert set(one_sided.row_indices_) <= set(preselect(X.T, 25).representatives)


def test_pools_are_honoured_among_few(planted):
    X = planted[0]
    pools = {"row_pool": Pool(range(20), include=[33]), "col_pool": Pool(include=[7, 2])}
    model = CoSeparableNMF(n_rows=4, n_cols=4, preselect=8, **pools).fit(X)
    assert model.row_indices_[0] == 33
    assert set(model.row_indices_) <= {33, *range(20)}
    assert model.col_indices_[:2].tolist() == [7, 2]


def test_a_method_of_ones_own_can_be_used(planted):
    X = planted[0]
    seeds = []

    def first(X, n_rows, n_cols, random_state=None):
        seeds.append(random_state)
        assert X.sum(axis=1).shape == (60,)
        return Selection(np.arange(n_rows), np.arange(n_cols))

    model = CoSeparableNMF(n_rows=2, n_cols=3, method=first, random_state=7).fit(X)
    assert model.row_indices_.tolist() == [0, 1]
    assert seeds == [7]
    with pytest.raises(ValueError, match="has no parameter row_pool"):
        CoSeparableNMF(n_rows=2, n_cols=3, method=first, row_pool=Pool(include=[1])).fit(X)


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-3])
@pytest.mark.parametrize("scaling", ["degree", None])
def test_small_errors_are_not_lost(noise, scaling):
    X = make_coseparable(60, 40, 4, 4, noise=noise, random_state=1)[0]
    model = CoSeparableNMF(4, 4, scaling=scaling).fit(X)
    expected = model.factorization_.relative_error(X)
    assert 0.1 * noise < expected < noise
    assert model.reconstruction_err_ == pytest.approx(expected * model.result_.norm_of_data, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales_are_fitted_alike(planted, scale):
    X = planted[0]
    plain, scaled = (CoSeparableNMF(n_rows=4, n_cols=4, scaling=None).fit(data) for data in (X, X * scale))
    assert set(scaled.col_indices_) == set(plain.col_indices_)
    np.testing.assert_allclose(scaled.transform(X * scale), plain.transform(X), rtol=1e-6, atol=1e-9)
    assert scaled.reconstruction_err_ == pytest.approx(scale * plain.reconstruction_err_, rel=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rows": 61}, r"n_rows=61 must be at most n_samples=60; ask for fewer"),
        ({"n_cols": 41}, r"n_cols=41 must be at most n_features=40; ask for fewer"),
        ({"n_rows": 0}, r"n_rows=0 must be a whole number of at least 1"),
        ({"n_cols": 2.5}, r"n_cols=2.5 must be a whole number"),
        (
            {"method": "magic"},
            f"method='magic' must be one of {', '.join(map(repr, BOTH_SELECTORS))}",
        ),
        ({"scaling": "tfidf"}, r"scaling='tfidf' must be one of"),
        ({"preselect": 3}, r"preselect=3 must be at least n_rows=4; preselect more, or select fewer"),
        ({"preselect": (10, 3)}, r"preselect=3 must be at least n_cols=4; preselect more, or select fewer"),
        ({"preselect": (10, 10, 10)}, r"preselect=\(10, 10, 10\) must be None, a whole number, or a pair"),
        ({"preselect": 2.5}, r"preselect=2.5 must be a whole number of at least 1"),
        ({"preselect": "all"}, r"preselect='all' must be a whole number of at least 1"),
        ({"max_iter": 0}, r"max_iter=0 must be a whole number"),
        ({"tol": -1.0}, r"tol=-1.0 must be a finite number"),
        ({"col_pool": [1]}, r"col_pool=\[1\] must be a cosep.Pool"),
        ({"callback": 5}, r"callback=5 must be a function"),
        ({"random_state": "abc"}, r"random_state='abc' must be None, a whole number"),
        ({"method": max}, r"method=<built-in function max> must be a function \(X, n_rows, n_cols\) -> Selection"),
        ({"method": spa}, r"must be a function \(X, n_rows, n_cols\) -> Selection .* or a name: 'faithful'"),
        ({"method": lambda _X, _r, _c: None}, r"must return a Selection with row_indices and col_indices"),
    ],
)
def test_wrong_parameters_are_refused_by_name(planted, params, message):
    with pytest.raises(ValueError, match=message):
        CoSeparableNMF(**{"n_rows": 4, "n_cols": 4, **params}).fit(planted[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 41}, r"n_components=41 must be at most n_features=40"),
        ({"n_components": 61, "axis": "rows"}, r"n_components=61 must be at most n_samples=60"),
        ({"axis": "both"}, r"axis='both' must be one of 'columns', 'rows'"),
        ({"method": "cosfgm"}, f"method='cosfgm' must be one of {', '.join(map(repr, COLUMN_SELECTORS))}"),
        ({"method": both_sides(spa)}, r"must be a function \(X, r\) -> Selection .*'n_cols'"),
        ({"preselect": 3}, r"preselect=3 must be at least n_components=4; preselect more, or select fewer"),
        ({"preselect": (10, 10)}, r"preselect=\(10, 10\) must be a whole number of at least 1"),
    ],
)
def test_wrong_parameters_of_the_one_sided_model_are_refused_by_name(planted, params, message):
    with pytest.raises(ValueError, match=message):
        SeparableNMF(**{"n_components": 4, **params}).fit(planted[0])


BAD_DATA = {
    "nan": (lambda X: np.where(np.eye(*X.shape) > 0, np.nan, X), "X contains NaN"),
    "infinity": (lambda X: np.where(np.eye(*X.shape) > 0, np.inf, X), "X contains infinity"),
    "negative": (lambda X: X - 10, "Negative values in data passed to X"),
    "no rows": (lambda X: X[:0], r"X has 0 sample\(s\)"),
    "no columns": (lambda X: X[:, :0], r"X has 0 feature\(s\)"),
    "all zero": (np.zeros_like, "X has no nonzero entry"),
    "one dimension": (lambda X: X[0], "X must"),
}


@each_model
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_refused_by_name(planted, model, case, sparse):
    if isinstance(model, CUR) and case == "negative":
        pytest.skip("CUR takes entries of any sign")
    spoil, message = BAD_DATA[case]
    data = spoil(planted[0])
    with pytest.raises(ValueError, match=message):
        clone(model).fit(scipy.sparse.coo_array(data) if sparse else data)


@each(TRANSFORMERS, but=("cur",))
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_zero_rows_and_columns_and_duplicates_are_no_trouble(planted, model, sparse):
    X = planted[0].copy()
    X[3], X[:, 5], X[8], X[:, 9] = 0, 0, X[7], X[:, 10]
    model = clone(model).fit(scipy.sparse.csr_array(X) if sparse else X)
    assert model.row_labels_[3] == model.column_labels_[5] == -1
    assert model.row_labels_[8] == model.row_labels_[7]
    assert np.isfinite(outcome(model, X)).all()


@each(SELECTING, but=("split",))
def test_a_rank_below_the_request_gives_a_smaller_model_and_a_warning(model):
    X = np.outer(np.arange(1.0, 10.0), np.arange(1.0, 8.0))
    with pytest.warns(SelectionWarning, match="Only 1 of the"):
        fitted = clone(model).fit(X)
    assert fitted.transform(X).shape == (9, 1)
    assert fitted.score(X) == pytest.approx(1.0)


def test_data_are_not_modified_and_may_be_read_only(planted):
    X = planted[0].copy()
    X.setflags(write=False)
    before = X.copy()
    CoSeparableNMF(n_rows=3, n_cols=3).fit(X[::2]).transform(X)
    np.testing.assert_array_equal(X, before)


@each_model
def test_every_kind_of_matrix_is_fitted_alike(planted, model, kind):
    X = np.round(planted[0] * 20)
    expected, fitted = clone(model).fit(X), clone(model).fit(kind(X))
    for side in ("row_indices_", "col_indices_"):
        np.testing.assert_array_equal(getattr(fitted, side, None), getattr(expected, side, None))
    np.testing.assert_allclose(outcome(fitted, kind(X)), outcome(expected, X), rtol=1e-6, atol=rounding(model))


@each_model
def test_small_integers_and_messy_indices_are_fitted_alike(planted, model):
    X = np.round(planted[0] * 20)
    expected = outcome(clone(model).fit(X), X)
    small = X.astype(np.uint8)
    np.testing.assert_allclose(outcome(clone(model).fit(small), small), expected, atol=rounding(model))
    half = scipy.sparse.coo_array(X / 2)
    order = np.random.default_rng(0).permutation(2 * half.nnz)
    parts = np.tile(half.data, 2)[order], (np.tile(half.row, 2)[order], np.tile(half.col, 2)[order])
    doubled = scipy.sparse.coo_array(parts, shape=X.shape)
    np.testing.assert_allclose(outcome(clone(model).fit(doubled), doubled), expected, atol=rounding(model))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
def test_one_row_or_one_column_is_enough(shape, form):
    X = form(np.random.default_rng(1).uniform(1, 2, size=shape))
    for model in TRANSFORMERS.values():
        one = dict.fromkeys({"n_rows", "n_cols", "n_components"} & set(model.get_params()), 1)
        penalty = 1e-4 if isinstance(model, MinVolNMF) else 1e-6
        assert clone(model).set_params(**one).fit(X).score(X) == pytest.approx(1.0, abs=penalty)
    assert BiorthogonalNMF(n_components=1).fit(X).reconstruction_err_ < 1e-4


def test_names_do_not_outlive_the_data_they_came_from(planted):
    X = planted[0]
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    model = CoSeparableNMF(n_rows=2, n_cols=2).fit(frame).fit(X)
    assert not hasattr(model, "selected_features_")
    one_sided = SeparableNMF(n_components=2).fit(frame).set_params(axis="rows").fit(frame)
    assert not hasattr(one_sided, "selected_features_")


def test_a_parameter_set_after_the_fit_does_not_change_the_answer(planted):
    X = planted[0]
    model = SeparableNMF(n_components=2, axis="rows").fit(X)
    expected = model.transform(X)
    np.testing.assert_array_equal(model.set_params(axis="columns").transform(X), expected)


def test_warnings_speak_of_the_side_that_was_asked_for():
    X = np.vstack([np.eye(3, 8)] * 4) + np.zeros((12, 8))
    with pytest.warns(SelectionWarning, match=r"Only 3 of the 5 rows asked for .*Ask for fewer"):
        SeparableNMF(n_components=5, axis="rows").fit(X)


def test_a_pool_of_one_text_is_refused_and_a_set_is_a_list(planted):
    frame = pd.DataFrame(planted[0], columns=[f"gene {j}" for j in range(40)])
    with pytest.raises(ValueError, match="must be a list of names or positions, not a single text"):
        SeparableNMF(n_components=2, pool=Pool(candidates="gene 1")).fit(frame)
    chosen = SeparableNMF(n_components=2, pool=Pool(candidates={1, 2, 3})).fit(frame).col_indices_
    assert set(chosen) <= {1, 2, 3}


# The factorizations that choose nothing


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each_model
def test_every_form_of_data_is_explained_with_the_same_error(planted, model, form):
    X = planted[0]
    expected, fitted = clone(model).fit(X), clone(model).fit(form(X))
    assert fitted.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-3)
    assert fitted.row_factor_.dtype == fitted.col_factor_.dtype == getattr(form(X), "dtype", X.dtype)


@pytest.mark.parametrize("model", FREE.values(), ids=FREE)
def test_components_of_no_origin_explain_at_least_what_selected_columns_do(planted, model):
    X = planted[0]
    fitted = clone(model).fit(X)
    assert fitted.score(X) > 0.99
    assert fitted.n_components_ == len(fitted.components_) == 4
    assert fitted.n_iter_ == len(fitted.history_) - 1
    assert (np.diff(fitted.history_) <= 1e-13).all()
    assert not hasattr(fitted, "col_indices_")


def test_rows_are_mixtures_of_corners_with_weights_in_the_simplex(planted):
    X = planted[0]
    model = MinVolNMF(n_components=4).fit(X[:40])
    for rows in (X[40:], 1e6 * X[40:], 1e-6 * X[40:], 1e200 * X[40:]):
        weights = model.transform(rows)
        assert weights.min() >= 0
        assert weights.sum(axis=1).max() <= 1 + 1e-12


def test_planted_anchors_are_named_and_every_topic_is_its_own():
    random = np.random.default_rng(0)
    topics = np.hstack([np.eye(3), random.uniform(size=(3, 9))])
    X = pd.DataFrame(random.gamma(0.5, size=(50, 3)) @ topics, columns=[f"word {j}" for j in range(12)])
    model = TriSymmetricNMF(n_components=3).fit(X)
    assert set(model.selected_features_) == {"word 0", "word 1", "word 2"}
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    assert model.core_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(model.column_labels_[model.col_indices_], np.arange(3))
    assert model.score(X) == pytest.approx(1.0, abs=1e-5)
    kept = TriSymmetricNMF(n_components=3, pool=Pool(include=["word 5"])).fit(X)
    assert kept.selected_features_[0] == "word 5"


def test_planted_blocks_are_biclusters_of_the_biorthogonal_model():
    block = np.kron(np.diag([3.0, 2.0, 1.5]), np.ones((6, 5))) + 0.01
    X = block * np.random.default_rng(0).uniform(0.9, 1.1, size=block.shape)
    model = BiorthogonalNMF(n_components=3).fit(X)
    found = {(tuple(model.get_indices(k)[0]), tuple(model.get_indices(k)[1])) for k in range(3)}
    assert found == {(tuple(range(6 * k, 6 * k + 6)), tuple(range(5 * k, 5 * k + 5))) for k in range(3)}
    assert model.orthogonality_ < 0.2
    assert not hasattr(model, "transform")
    assert not hasattr(model, "score")


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("model", [*FREE.values(), SELECTING["anchors"]], ids=[*FREE, "anchors"])
def test_extreme_scales_are_explained_alike(planted, model, scale):
    X = planted[0]
    plain, scaled = (clone(model).fit(data) for data in (X, X * scale))
    assert scaled.score(X * scale) == pytest.approx(plain.score(X), abs=1e-6)
    assert scaled.reconstruction_err_ == pytest.approx(scale * plain.reconstruction_err_, rel=1e-4)


@pytest.mark.parametrize("model", [*FREE.values(), MODELS["anchors"], MODELS["biorthogonal"]])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 61}, r"n_components=61 must be at most (max\(n_samples, n_features\)|n_\w+)=\d0; ask for"),
        ({"n_components": 0}, r"n_components=0 must be a whole number of at least 1"),
        ({"n_components": 2.5}, r"n_components=2.5 must be a whole number"),
        ({"n_components": "auto"}, r"n_components='auto' must be a whole number"),
        ({"max_iter": 0}, r"max_iter=0 must be a whole number"),
        ({"tol": -1.0}, r"tol=-1.0 must be a finite number"),
        ({"callback": 5}, r"callback=5 must be a function"),
    ],
)
def test_wrong_parameters_of_the_other_models_are_refused_by_name(planted, model, params, message):
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**params).fit(planted[0])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MinVolNMF(n_components=4, penalty=-1), r"penalty=-1 must be a number from 0"),
        (MinVolNMF(n_components=4, delta=0), r"delta=0 must be a number from"),
        (BiorthogonalNMF(n_components=(4, 41)), r"n_components=41 must be at most n_features=40"),
        (BiorthogonalNMF(n_components=(2, 3, 4)), r"n_components=\(2, 3, 4\) must be a whole number"),
        (TriSymmetricNMF(n_components=4, pool=[1]), r"pool=\[1\] must be a cosep.Pool"),
    ],
)
def test_wrong_parameters_of_one_model_are_refused_by_name(planted, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(planted[0])


# ---------------------------------------------------------------------------------------------------------------------
# The sum of rows and columns, and CUR


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("method", EITHER_SELECTORS)
def test_planted_rows_plus_columns_are_found_in_every_form_of_data(form, method):
    X, truth = make_generalized(30, 25, 3, 4, 0)
    for sizes in ({"n_components": 7}, {"n_rows": 3, "n_cols": 4}):
        model = GeneralizedSeparableNMF(**sizes, method=method).fit(form(X))
        assert set(model.row_indices_) == set(truth.row_indices)
        assert set(model.col_indices_) == set(truth.col_indices)
        assert (model.n_rows_, model.n_cols_) == (3, 4)
        assert model.score(form(X)) > 0.997


@pytest.mark.parametrize("sizes", [{"n_components": 4}, {"n_rows": 2, "n_cols": 2}, {"n_rows": 3, "n_cols": 0}])
def test_rows_plus_columns_are_chosen_among_preselected_ones(sizes):
    base, _ = make_generalized(12, 10, 2, 2, 0)
    rows, cols = np.arange(60) % 12, np.arange(50) % 10
    X = base[rows][:, cols]
    model = GeneralizedSeparableNMF(**sizes, preselect=(20, None)).fit(X)
    allowed = preselect(X.T, 20).representatives
    assert set(model.row_indices_ if model.row_indices_ is not None else ()) <= set(allowed)
    assert model.n_rows_ + model.n_cols_ == sum(sizes.values())
    with pytest.raises(ValueError, match=r"preselect=1 must be at least n_rows=2"):
        GeneralizedSeparableNMF(n_rows=2, n_cols=2, preselect=(1, 5)).fit(X)
    with pytest.raises(ValueError, match=r"preselect=\(1, 2, 3\) must be None, a whole number, or a pair"):
        GeneralizedSeparableNMF(n_rows=2, n_cols=2, preselect=(1, 2, 3)).fit(X)


def test_new_rows_are_explained_by_rows_after_their_own_columns():
    X, truth = make_generalized(50, 25, 3, 4, 2)
    known = np.concatenate([truth.row_indices, np.setdiff1d(np.arange(50), truth.row_indices)[:30]])
    model = GeneralizedSeparableNMF(n_rows=3, n_cols=4).fit(X[known])
    assert set(known[model.row_indices_]) == set(truth.row_indices)
    new = np.setdiff1d(np.arange(50), known)
    explained = model.transform(X[new])
    np.testing.assert_allclose(explained[:, 3:], X[new][:, model.col_indices_])
    assert np.linalg.norm(model.inverse_transform(explained) - X[new]) < 0.02 * np.linalg.norm(X[new])
    names = [f"gene {j}" for j in range(25)]
    framed = GeneralizedSeparableNMF(n_rows=3, n_cols=4).fit(pd.DataFrame(X[known], columns=names))
    assert list(framed.selected_features_) == [names[j] for j in framed.col_indices_]


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@each_selecting_model
def test_extreme_scales_are_fitted_alike_by_every_model(planted, scale, model):
    X = planted[0]
    plain, scaled = clone(model).fit(X), clone(model).fit(X * scale)
    for name in ("row_indices_", "col_indices_"):
        one, other = (getattr(fitted, name) for fitted in (plain, scaled))
        assert (one is None and other is None) or set(one) == set(other)
    assert scaled.score(X * scale) == pytest.approx(plain.score(X), rel=1e-6)
    unit = 1.0 if isinstance(model, CoSeparableNMF) else scale  # the default norm has no units
    assert scaled.reconstruction_err_ == pytest.approx(unit * plain.reconstruction_err_, rel=1e-5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, r"Give n_components, the number of rows and columns in all, or both n_rows and n_cols"),
        ({"n_rows": 3}, r"Give n_components.* got n_components=None, n_rows=3 and n_cols=None"),
        ({"n_rows": 0, "n_cols": 0}, r"n_rows=0 and n_cols=0 select nothing"),
        ({"n_rows": -1, "n_cols": 2}, r"n_rows=-1 must be a whole number of at least 0"),
        ({"n_rows": 61, "n_cols": 2}, r"n_rows=61 must be at most n_samples=60"),
        ({"n_rows": 2, "n_cols": 41}, r"n_cols=41 must be at most n_features=40"),
        ({"n_components": 101}, r"n_components=101 must be at most n_samples \+ n_features=100"),
        ({"n_components": 4, "n_rows": 1, "n_cols": 2}, r"n_components=4 must be at most n_rows \+ n_cols=3"),
        ({"n_components": 2.0}, r"n_components=2.0 must be a whole number"),
        ({"n_components": 4, "method": "spa"}, r"method='spa' must be one of 'gspa', 'gsfgm'"),
        ({"n_components": 4, "method": lambda _X, _r, **_sizes: None}, r"must return a Selection"),
        ({"n_components": 4, "method": spa}, r"must be a function \(X, r, n_rows=..., n_cols=...\) -> Selection"),
        ({"n_components": 4, "max_iter": 0}, r"max_iter=0 must be a whole number"),
        ({"n_components": 4, "tol": np.nan}, r"tol=nan must be a finite number"),
        ({"n_components": 4, "callback": 5}, r"callback=5 must be a function"),
        ({"n_components": 4, "random_state": "abc"}, r"random_state='abc' must be None"),
    ],
)
def test_wrong_parameters_of_the_generalized_model_are_refused_by_name(planted, params, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedSeparableNMF(**params).fit(planted[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rows": 61}, r"n_rows=61 must be at most n_samples=60"),
        ({"n_cols": 0}, r"n_cols=0 must be a whole number of at least 1"),
        ({"method": "spa"}, r"method='spa' must be one of 'leverage', 'deim', 'cross'"),
        ({"method": spa}, r"must be a function \(X, n_rows, n_cols\) -> Selection .*'leverage', 'deim', 'cross'"),
        ({"n_rows": 3, "method": "cross"}, r"as many rows as columns, got n_rows=3 and n_cols=4"),
        ({"link": "best"}, r"link='best' must be one of 'optimal', 'skeleton'"),
        ({"random_state": -1}, r"random_state=-1 must be None"),
    ],
)
def test_wrong_parameters_of_cur_are_refused_by_name(planted, params, message):
    with pytest.raises(ValueError, match=message):
        CUR(**{"n_rows": 4, "n_cols": 4, **params}).fit(planted[0])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("method", METHODS)
def test_cur_of_a_matrix_of_low_rank_is_the_matrix(form, method, link):
    random = np.random.default_rng(5)
    X = random.normal(size=(30, 4)) @ random.normal(size=(4, 20))
    model = CUR(n_rows=4, n_cols=4, method=method, link=link).fit(form(X))
    assert model.score(form(X)) > (0.9999 if form is FORMS["float32"] else 1 - 1e-9)
    assert model.row_factor_.dtype == model.link_.dtype == model.transform(form(X)).dtype
    np.testing.assert_allclose(model.components_, X[model.row_indices_], rtol=1e-6)


def test_the_optimal_link_is_no_worse_than_any_other(planted):
    X = planted[0] - 1
    best, quick = (CUR(n_rows=3, n_cols=5, link=link).fit(X) for link in LINKS)
    assert best.reconstruction_err_ <= quick.reconstruction_err_
    C, R = X[:, best.col_indices_], X[best.row_indices_]
    gradient = C.T @ (X - C @ best.link_ @ R) @ R.T
    assert np.abs(gradient).max() < 1e-9 * np.abs(C.T @ X @ R.T).max()


def test_a_seed_reaches_the_methods_that_draw(planted):
    X = np.random.default_rng(0).gamma(0.3, size=(30, 40))
    rows = {tuple(CoSeparableNMF(4, 4, method="xray", random_state=seed).fit(X).row_indices_) for seed in range(8)}
    cols = {tuple(SeparableNMF(4, method="xray", random_state=seed).fit(X).col_indices_) for seed in range(8)}
    assert len(rows) > 1
    assert len(cols) > 1
    CoSeparableNMF(4, 4, method="spa", random_state=3).fit(planted[0])


def test_the_record_of_a_fit_holds_what_the_attributes_do(tmp_path):
    X, _ = make_coseparable(30, 20, 4, 4, noise=0.05, random_state=0)
    model = CoSeparableNMF(4, 4).fit(pd.DataFrame(X, columns=[f"word{j}" for j in range(20)]))
    model.factorization_.save(tmp_path / "model.npz")
    record = Factorization.load(tmp_path / "model.npz")
    for name in ("row_factor", "core", "col_factor", "row_weights", "col_weights"):
        np.testing.assert_array_equal(getattr(record, name), getattr(model, f"{name}_"))
    np.testing.assert_array_equal(record.row_labels, model.row_labels_)
    np.testing.assert_array_equal(record.col_labels, model.column_labels_)
    np.testing.assert_array_equal(record.selection.col_indices, model.col_indices_)
    assert list(record.col_names[record.selection.col_indices]) == list(model.selected_features_)


@pytest.mark.parametrize("estimator", IN_MEMORY, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("in_blocks", ["dask", "blocks"])
def test_models_that_need_all_of_x_refuse_blocks_unread(estimator, in_blocks):
    dask = pytest.importorskip("dask")
    X, read = make_coseparable(30, 20, 3, 3, random_state=0)[0], []

    def block():
        read.append(1)
        return X

    if in_blocks == "dask":
        import_module("dask.array")
        lazy = dask.array.concatenate([dask.array.from_delayed(dask.delayed(block)(), X.shape, X.dtype)] * 2)
    else:
        lazy = RowBlocks([block], [30], 20)
    model = clone(estimator)
    with pytest.raises(ValueError, match=rf"{type(model).__name__} takes X in memory only"):
        model.fit(lazy)
    model.fit(X)
    for name in ("transform", "inverse_transform", "score"):
        if hasattr(model, name):
            with pytest.raises(ValueError, match="takes X in memory only"):
                getattr(model, name)(lazy)
    assert read == []


MIXING = [
    CoSeparableNMF(5, 5),
    SeparableNMF(5, axis="rows"),
    SeparableNMF(5),
    HALSNMF(5),
    MinVolNMF(4),
    TriSymmetricNMF(4),
    GeneralizedSeparableNMF(6),
]


@pytest.mark.parametrize("model", MIXING, ids=repr)
@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
def test_the_data_of_the_fit_are_transformed_to_the_fitted_factor_where_components_depend_on_each_other(
    model, noise, dtype
):
    """Components that are rounded to float32 after their weights were found would have others."""
    random = np.random.default_rng(1)
    X = random.uniform(size=(30, 3)) @ random.uniform(size=(3, 20))
    X = (X * (1 + noise * random.standard_normal(X.shape))).astype(dtype)
    fitted = clone(model).fit(X)
    largest = fitted.row_factor_.max()
    np.testing.assert_allclose(fitted.transform(X), fitted.row_factor_, rtol=0, atol=1e-7 * largest)


@pytest.mark.parametrize("noise", [1e-5, 1e-3])
def test_rows_in_blocks_are_transformed_to_the_fitted_factor_where_components_depend_on_each_other(noise):
    random = np.random.default_rng(1)
    X = random.uniform(size=(30, 3)) @ random.uniform(size=(3, 20))
    X = (X * (1 + noise * random.standard_normal(X.shape))).astype(np.float32)
    fitted = CoSeparableNMF(5, 5).fit(row_blocks(X))
    np.testing.assert_allclose(fitted.transform(X), fitted.row_factor_, rtol=0, atol=1e-7 * fitted.row_factor_.max())


PRODUCT = np.random.default_rng(1).uniform(size=(9, 3)) @ np.random.default_rng(2).uniform(size=(3, 8))
NEAR_THE_LARGEST = {
    "one entry": np.array([[1.7e308]]),
    "ones": np.full((9, 8), 1.7e308),
    "identity": np.eye(9, 8) * 1.7e308,
    "uniform": np.random.default_rng(0).uniform(0.5, 1, (9, 8)) * 1.79e308,
    "rank three": PRODUCT / PRODUCT.max() * np.finfo(np.float64).max,
    "counts": np.minimum(np.random.default_rng(0).poisson(1.0, (9, 8)), 3) * 5.6e307,
    "float32": (np.random.default_rng(0).uniform(0.5, 1, (9, 8)) * np.finfo(np.float32).max).astype(np.float32),
}


def answers(model, X):
    """Return all that a fitted model says, or the message that tells to rescale X."""
    try:
        model.fit(X)
        said = [model.row_factor_, model.col_factor_]
        if hasattr(model, "transform"):
            said += [model.transform(X), model.score(X), model.inverse_transform(model.transform(X))]
    except ValueError as error:
        return str(error)
    return said


@pytest.mark.parametrize("case", NEAR_THE_LARGEST)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("model", [*MIXING, CUR(3, 3), BiorthogonalNMF(3)], ids=repr)
@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_entries_near_the_largest_float_have_an_answer_or_one_clear_error(case, form, model):
    """Warnings are errors here: nothing may overflow on the way."""
    X = NEAR_THE_LARGEST[case]
    r = min(3, *X.shape)
    sizes = {name: r for name in ("n_rows", "n_cols", "n_components") if getattr(model, name, None) is not None}
    said = answers(clone(model).set_params(**sizes), form(X))
    if isinstance(said, str):
        assert "divide X by" in said or "rescale the rows and columns of X" in said
    else:
        assert all(np.isfinite(part).all() for part in said)


def test_a_reconstruction_beyond_the_largest_float_is_infinite_and_exact_elsewhere():
    factors = Factorization(np.array([[1.0, 1.0], [0.5, 0.0]]), None, np.array([[1.7e308, 0.0], [1.7e308, 2.0]]))
    np.testing.assert_array_equal(factors.reconstruct(), [[np.inf, 2.0], [0.85e308, 0.0]])
    np.testing.assert_array_equal(factors.reconstruct([1]), [[0.85e308, 0.0]])
