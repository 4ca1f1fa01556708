"""Bad, odd and hostile input: the right answer, or a ValueError that names the parameter, and never a changed input."""

import copy
import io
import json
import os
import re
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from cosep import (
    HALSNMF,
    BiorthogonalNMF,
    CoSeparableNMF,
    Factorization,
    MinVolNMF,
    Pool,
    Scaling,
    Selection,
    TriSymmetricNMF,
    both_sides,
    choose_rank,
    clustering_accuracy,
    cosfgm,
    cur,
    explain,
    fgm,
    greedy,
    gsfgm,
    gspa,
    index_accuracy,
    make_coseparable,
    mix,
    mix_generalized,
    preselect,
    preselected,
    relative_approximation,
    snpa,
    spa,
    stability,
    xray,
)
from cosep.matrix.gram import GramMatrix
from cosep.matrix.scaling import SCALINGS, scale
from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.nmf.trisymmetric import trisymmetric
from cosep.select import COLUMN_SELECTORS, EITHER_SELECTORS
from cosep.select.cur import METHODS
from cosep.theory import (
    compress,
    extreme_rays,
    from_biorthogonal,
    from_cur,
    is_coseparable,
    is_generalized_separable,
    is_separable,
    is_unique,
    minimal_coseparable,
    to_cur,
)
from cosep.utils.messages import shown
from selector_names import COLUMN_CORNERS

# Counts, exact in every type and format, a third of them zero; co-(4, 4)-separable but for ones here and there.
X = np.array(
    [
        [27, 34, 9, 16, 0, 0, 0, 41, 9, 33],
        [44, 0, 0, 0, 10, 53, 22, 10, 27, 22],
        [0, 8, 0, 8, 0, 0, 0, 16, 0, 17],
        [28, 8, 0, 8, 0, 28, 14, 17, 0, 30],
        [27, 18, 9, 0, 0, 0, 0, 10, 9, 0],
        [56, 37, 18, 0, 9, 12, 1, 27, 45, 1],
        [81, 62, 27, 8, 0, 0, 0, 43, 27, 16],
        [19, 0, 0, 0, 18, 36, 9, 18, 55, 9],
        [70, 18, 9, 0, 0, 43, 22, 9, 10, 21],
        [6, 8, 0, 8, 27, 33, 3, 43, 82, 20],
        [15, 0, 0, 0, 0, 14, 7, 0, 0, 7],
        [2, 0, 0, 0, 9, 11, 1, 10, 27, 1],
    ],
    dtype=np.float64,
)
CHOSEN = Selection(np.array([2, 4, 10, 11]), np.array([2, 3, 4, 6]))
ROWS, COLS = Selection(CHOSEN.row_indices, None), Selection(None, CHOSEN.col_indices)
FIT = mix(X, CHOSEN)
W, H = np.ones((3, 1)), np.ones((1, 2))
ONES = Factorization(W, None, H)


def names(parameter, *words):
    """Return a pattern for messages that name the parameter and hold all the words, in any order."""
    return rf"(?s)(?=.*\b{parameter}\b)" + "".join(f"(?=.*{word})" for word in words)


def refused(parameter, *words):
    return pytest.raises(ValueError, match=names(parameter, *words))


def right_or_refused(call, is_right, parameter):
    """Assert that the call gives a right answer, or raises a ValueError that names the parameter."""
    message = None
    try:
        answer = call()
    except ValueError as error:
        message = str(error)
    if message is None:
        assert is_right(answer), f"wrong answer {answer!r}"
    else:
        assert re.search(names(parameter), message), f"the message does not name {parameter}: {message}"


def indices(selection):
    """Return both sides as sorted lists."""
    sides = selection.row_indices, selection.col_indices
    return [None if side is None else sorted(side.tolist()) for side in sides]


def mixed(A, selection, mixer=mix):
    fit = mixer(A, selection)
    return [fit.relative_error(A), fit.row_labels.tolist(), fit.col_labels.tolist()]


CORNERS = {
    **{name: (lambda A, name=name: indices(COLUMN_SELECTORS[name](A, 4))) for name in COLUMN_CORNERS},
    "both_sides(spa)": lambda A: indices(both_sides(spa)(A, 4, 4)),
    "cosfgm": lambda A: indices(cosfgm(A, 4, 4)),
}
EITHER = EITHER_SELECTORS.values()
CURS = {f"cur by {method}": (lambda A, method=method: indices(cur(A, 4, 4, method=method))) for method in METHODS}
SELECTORS = {
    **CORNERS,
    **CURS,
    "preselect": lambda A: [None, preselect(A, 6).representatives.tolist()],
    "preselected": lambda A: indices(preselected(both_sides(spa), 8, 7)(A, 4, 4)),
    "greedy": lambda A: indices(greedy(A, 4)),
    "gspa": lambda A: indices(gspa(A, n_rows=2, n_cols=3)),
    "gsfgm": lambda A: indices(gsfgm(A, n_rows=2, n_cols=3, max_iter=100)),
}
MIXERS = {
    "mix": lambda A: mixed(A, CHOSEN),
    "mix with rows only": lambda A: mixed(A, ROWS),
    "mix with columns only": lambda A: mixed(A, COLS),
    "mix_generalized": lambda A: mixed(A, CHOSEN, mix_generalized),
}


def factored(nmf, A, *rank):
    fit = nmf(A, *rank)
    error = fit.relative_error(GramMatrix(as_matrix(A)) if nmf is trisymmetric else A)
    return [error, fit.row_labels.tolist(), fit.col_labels.tolist()]


def estimated(model, A):
    model.fit(A)
    error = model.reconstruction_err_ / np.ldexp(np.sqrt(as_matrix(A).squared_norm()), as_matrix(A).exponent)
    return [error, model.row_labels_.tolist(), model.column_labels_.tolist()]


NMFS = {
    "ahals": lambda A: factored(ahals, A, 3),
    "minvol": lambda A: factored(minvol, A, 3),
    "biorthogonal": lambda A: factored(biorthogonal, A, (3, 2)),
    "trisymmetric": lambda A: factored(trisymmetric, A, 4),
}
ESTIMATORS = {
    "HALSNMF": lambda A: estimated(HALSNMF(3), A),
    "MinVolNMF": lambda A: estimated(MinVolNMF(3), A),
    "BiorthogonalNMF": lambda A: estimated(BiorthogonalNMF(3), A),
    "TriSymmetricNMF": lambda A: estimated(TriSymmetricNMF(4), A),
}
MEASURES = {
    "relative_error": FIT.relative_error,
    "relative_approximation": lambda A: relative_approximation(A, FIT),
}
COMPLETER = CoSeparableNMF(4, 4, method=lambda *_sizes: CHOSEN).fit(X)
SCORES = {
    "completion_score": COMPLETER.completion_score,
    "choose_rank": lambda A: choose_rank(A, [3], method="spa").table["error"][0],
}


def told(record, *figures):
    return np.concatenate([side[figure] for side in (record.rows, record.cols) for figure in figures]).tolist()


TELLERS = {
    "explain": lambda A: told(explain(FIT, A), "share", "loss", "runner_up_loss", "size"),
    "stability": lambda A: told(stability(A, CHOSEN, method="spa", n_draws=3), "frequency", "similarity"),
}
SCALERS = {f"scale by {rule}": (lambda A, rule=rule: scale(A, rule)[0].take().ravel().tolist()) for rule in SCALINGS}
QUESTIONS = {
    "is_separable": lambda A: is_separable(A, COLS.col_indices).residuals.tolist(),
    "extreme_rays": lambda A: extreme_rays(A).col_indices.tolist(),
    "is_coseparable": lambda A: [is_coseparable(A, CHOSEN).residual, is_coseparable(A, CHOSEN).error],
    "minimal_coseparable": lambda A: np.concatenate(indices(minimal_coseparable(A, tol=0.1).selection)).tolist(),
    "compress": lambda A: [compress(A, CHOSEN).residual],
    "is_unique": lambda A: [bool(is_unique(A))],
    "is_generalized_separable": lambda A: [is_generalized_separable(A, Selection([2], [0, 4])).error],
}
CUR = Factorization(X[:, CHOSEN.col_indices], np.eye(4), X[CHOSEN.row_indices], selection=CHOSEN)
THEORY = QUESTIONS | {
    "to_cur": lambda A: [to_cur(A, CHOSEN).relative_error(A)],
    "from_cur": lambda A: [from_cur(A, CUR).residual],
}
CALLS = SELECTORS | MIXERS | NMFS | ESTIMATORS | MEASURES | SCORES | TELLERS | SCALERS | THEORY
EXPECTED = {name: call(X) for name, call in CALLS.items()}
assert {name: EXPECTED[name][1] for name in CORNERS} == dict.fromkeys(CORNERS, indices(CHOSEN)[1])

every_function = pytest.mark.parametrize("function", CALLS)
dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


def assert_same_answer(function, data, rel=1e-9, expected=None):
    """Compare indices exactly and numbers closely with the answer for the float64 array."""
    answer, expected = CALLS[function](data), EXPECTED[function] if expected is None else expected
    if function in SELECTORS:
        assert answer == expected, function
    elif function in MIXERS | NMFS | ESTIMATORS:
        # What an alternation makes of rounding errors is larger than they are.
        assert answer[0] == pytest.approx(expected[0], rel=rel if function in MIXERS else max(rel, 1e-5)), function
        assert answer[1:] == expected[1:], function
    else:
        assert answer == pytest.approx(expected, rel=rel), function


# ---------------------------------------------------------------------------------------------------------------------
# Entries, shapes and types that are refused

FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
REFUSED_ENTRIES = {
    "NaN": ([np.nan], ("NaN", "1 of")),
    "two NaN": ([np.nan, np.nan], ("NaN", "2 of")),
    "infinity": ([np.inf], ("infinity", "clip")),
    "minus infinity": ([-np.inf], ("infinity",)),
    "a negative entry": ([-0.5], ("Negative", "-0.5", ">= 0", "maximum")),
    "a tiny negative entry": ([-1e-300], ("Negative", "-1e-300")),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize(
    ("function", "form"),
    [(name, np.asarray) for name in CALLS] + [("spa", getattr(sp, f"{fmt}_array")) for fmt in FORMATS],
)
@pytest.mark.parametrize("case", REFUSED_ENTRIES)
def test_entries_that_are_no_nonnegative_number_are_refused_and_named(function, form, case):
    if function in CURS and "negative" in case:
        pytest.skip("CUR takes entries of any sign")
    entries, words = REFUSED_ENTRIES[case]
    data = X.copy()
    data[2, 3 : 3 + len(entries)] = entries
    with refused("X", *words):
        CALLS[function](form(data))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
@every_function
def test_a_matrix_without_rows_or_columns_is_refused(function, form):
    for shape, what in (((0, 10), "row"), ((12, 0), "column"), ((0, 0), "row")):
        with refused("X", re.escape(f"shape={shape}"), f"at least one {what}"):
            CALLS[function](form(np.zeros(shape)))


REFUSED_DATA = {
    "None": None,
    "a number": 5.0,
    "text": "counts.csv",
    "a list of numbers": [1.0, 2.0],
    "an empty list": [],
    "a vector": X[0],
    "three dimensions": np.ones((2, 2, 2)),
    "a series": pd.Series([1.0, 2.0]),
    "a ragged list": [[1.0, 2.0], [3.0]],
    "words": [["tea", "jam"], ["jam", "tea"]],
    "a dict": {"a": 1},
    "a set": {1, 2},
    "a generator": (row for row in X),
    "complex numbers": X * 1j,
    "dates": np.array([["2020-01-01", "2020-01-02"]], dtype="M8[D]"),
    "durations": np.array([[1, 2]], dtype="m8[s]"),
    "records": np.rec.fromrecords([[(1.0, 2.0), (3.0, 4.0)]]),
    "raw bytes": np.zeros((2, 2), dtype="V8"),
    "integers beyond float64": [[10**400, 1], [1, 2]],
    "a data frame with words": pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
    "a data frame with dates": pd.DataFrame({"a": pd.to_datetime(["2020", "2021"]), "b": [1, 2]}),
    "a data frame with missing integers": pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}),
    "a list of sparse matrices": [sp.csr_array(X), sp.csr_array(X)],
    "a sparse vector": sp.coo_array(X[0]),
    "a sparse array of three dimensions": sp.coo_array(np.ones((2, 2, 2))),
    "complex sparse": sp.csr_array(X * 1j),
    "masked entries": np.ma.masked_array(X, mask=X > 60),
}


@pytest.mark.parametrize("case", REFUSED_DATA)
def test_data_that_is_no_real_matrix_is_refused_under_its_name(case):
    for function in (
        *SELECTORS,
        "mix",
        "mix_generalized",
        *NMFS,
        *ESTIMATORS,
        *SCORES,
        *TELLERS,
        *THEORY,
        "relative_error",
        "scale by rows",
    ):
        with refused("X"):
            CALLS[function](REFUSED_DATA[case])


@pytest.mark.parametrize("case", ["a dict", "integers beyond float64"])
def test_entries_that_numpy_finds_no_numbers_raise_a_type_error_too(case):
    with pytest.raises(TypeError, match=names("X")):
        spa(REFUSED_DATA[case], 1)


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="long double is float64 here")
@dense_and_sparse
def test_long_doubles_beyond_float64_are_refused_without_a_warning(form):
    with refused("X", "infinity"):
        spa(form(X.astype(np.longdouble) * np.longdouble("1e4000")), 2)


def test_a_data_frame_of_sparse_columns_is_read_or_refused():
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csc_array(X))
    right_or_refused(lambda: SELECTORS["spa"](frame), lambda answer: answer == EXPECTED["spa"], "X")


@dense_and_sparse
def test_nothing_can_be_selected_from_an_all_zero_matrix_which_is_mixed_and_scaled_to_zero(form):
    zero = form(np.zeros((12, 10)))
    for select in SELECTORS.values():
        with refused("X", "no nonzero entry", "at least one positive entry"):
            select(zero)
    for factor in (NMFS | ESTIMATORS).values():
        with refused("X", "no nonzero entry", "at least one positive entry"):
            factor(zero)
    fit = mix(zero, CHOSEN)
    assert fit.relative_error(zero) == 0.0
    assert not fit.reconstruct().any()
    assert set(fit.row_labels) == set(fit.col_labels) == {-1}
    for rule in SCALINGS:
        scaled, factors = scale(zero, rule)
        assert not scaled.take().any()
        assert set(factors.rows) == set(factors.cols) == {1.0}


def test_a_reconstruction_that_is_zero_explains_an_all_zero_matrix():
    disjoint = Factorization(np.array([[1.0, 0.0], [1.0, 0.0]]), None, np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert not disjoint.reconstruct().any()
    assert disjoint.relative_error(np.zeros((2, 2))) == 0.0


# ---------------------------------------------------------------------------------------------------------------------
# Counts, numbers, names and switches


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "2", None, True, np.nan, np.bool_(1), [2], np.array([2])], ids=repr)
def test_a_count_must_be_a_positive_whole_number(value):
    for parameter, call in (
        *(("r", partial(selector, X, value)) for selector in COLUMN_SELECTORS.values()),
        ("n_rows", lambda: cur(X, value, 3)),
        ("n_cols", lambda: cur(X, 3, value)),
        ("max_iter", lambda: gsfgm(X, 3, max_iter=value)),
        ("max_iter", lambda: mix_generalized(X, CHOSEN, max_iter=value)),
        ("n_rows", lambda: both_sides(spa)(X, value, 3)),
        ("n_cols", lambda: both_sides(spa)(X, 3, value)),
        ("n_rows", lambda: cosfgm(X, value, 3)),
        ("n_cols", lambda: cosfgm(X, 3, value)),
        ("n", lambda: preselect(X, value)),
        ("n_rows", lambda: preselected(cosfgm, 6, 6)(X, value, 3)),
        ("r", lambda: preselected(spa, cols=6)(X, value)),
        ("max_iter", lambda: fgm(X, 3, max_iter=value)),
        ("max_iter", lambda: cosfgm(X, 3, 3, max_iter=value)),
        ("max_iter", lambda: mix(X, CHOSEN, max_iter=value)),
        *(
            (name, lambda nmf=nmf, name=name: nmf(X, **{"r": 3, name: value}))
            for nmf in (ahals, minvol, biorthogonal, trisymmetric)
            for name in ("r", "max_iter")
        ),
        ("r", lambda: biorthogonal(X, (2, value))),
        *((name, lambda name=name: make_coseparable(**{name: value})) for name in ("m", "n", "r1", "r2")),
    ):
        with refused(parameter, "whole number of at least 1", re.escape(shown(value))):
            call()


@pytest.mark.parametrize("value", [-1, 2.0, 2.5, "2", True, np.nan, np.bool_(1), [2], np.array([2])], ids=repr)
@pytest.mark.parametrize("selector", EITHER)
def test_a_count_of_one_side_must_be_a_whole_number_and_may_be_zero(selector, value):
    for name in ("n_rows", "n_cols"):
        with refused(name, "whole number of at least 0", re.escape(shown(value))):
            selector(X, **{"n_rows": 2, "n_cols": 2, name: value})
    with refused("r", "whole number of at least 1", re.escape(shown(value))):
        selector(X, value)
    assert selector(X, n_rows=0, n_cols=2).row_indices is None


@pytest.mark.parametrize(
    ("words", "call"),
    [
        *[(("r=11", "at most n_features=10", "fewer"), partial(selector, X, 11)) for selector in (snpa, xray, greedy)],
        *[(("r=23", "at most n_samples \\+ n_features=22"), partial(selector, X, 23)) for selector in EITHER],
        *[(("r=None", "n_rows=None"), partial(selector, X)) for selector in EITHER],
        *[(("n_cols=0", "select nothing"), partial(selector, X, n_rows=0, n_cols=0)) for selector in EITHER],
        (("r=6", "n_rows \\+ n_cols=5"), lambda: gspa(X, 6, n_rows=2, n_cols=3)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: gspa(X, n_rows=13, n_cols=3)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: cur(X, 13, 3)),
        (("n_cols=11", "at most n_features=10", "fewer"), lambda: cur(X, 3, 11)),
        (("tol=1.5", "from 0 to 1"), lambda: snpa(X, 3, tol=1.5)),
        (("tol=1.5", "from 0 to 1"), lambda: greedy(X, 3, tol=1.5)),
        (("normalize",), lambda: snpa(X, 3, normalize="no")),
        (("normalize",), lambda: gspa(X, 3, normalize="no")),
        (("normalize",), lambda: gsfgm(X, 3, normalize="no")),
        (("callback",), lambda: gsfgm(X, 3, callback=3)),
        (("callback",), lambda: mix_generalized(X, CHOSEN, callback=3)),
        (("selection",), lambda: mix_generalized(X, Selection(None, None))),
        (("row_indices",), lambda: mix_generalized(X, Selection([12], [0]))),
        (("r=11", "at most n_features=10", "fewer"), lambda: spa(X, 11)),
        (("r=11", "at most n_features=10", "fewer"), lambda: fgm(X, 11)),
        (("r=1000000000000000000000", "n_features=10"), lambda: spa(X, 10**21)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: both_sides(spa)(X, 13, 3)),
        (("n_cols=11", "at most n_features=10", "fewer"), lambda: both_sides(spa)(X, 3, 11)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: cosfgm(X, 13, 3)),
        (("n_cols=11", "at most n_features=10", "fewer"), lambda: cosfgm(X, 3, 11)),
        (("r=13", r"at most max\(n_samples, n_features\)=12", "fewer"), lambda: ahals(X, 13)),
        (("r=11", "at most n_features=10", "fewer"), lambda: minvol(X, 11)),
        (("r=11", "at most n_features=10", "fewer"), lambda: biorthogonal(X, 11)),
        (("r=13", "at most n_samples=12", "fewer"), lambda: biorthogonal(X, (13, 2))),
        (("r=11", "at most n_features=10", "fewer"), lambda: trisymmetric(X, 11)),
        (("penalty=10000000", r"from 0 to 1e\+06"), lambda: minvol(X, 3, penalty=1e7)),
        (("n=11", "at most n_features=10", "fewer"), lambda: preselect(X, 11)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: preselected(cosfgm, 6, 6)(X, 13, 3)),
        (("cols=3", "at least n_cols=4", "preselect more"), lambda: preselected(cosfgm, 6, 3)(X, 4, 4)),
        (("callback", "function"), lambda: preselect(X, 3, callback=5)),
        (("r1=6", "at most m=5"), lambda: make_coseparable(5, 5, 6, 2)),
        (("r2=6", "at most n=5"), lambda: make_coseparable(5, 5, 2, 6)),
        (("tol=1.5", "from 0 to 1"), lambda: spa(X, 3, tol=1.5)),
        (("tol=1.5", "from 1e-07 to 1"), lambda: extreme_rays(X, tol=1.5)),
        (("tol=1e-09", "from 1e-07 to 1"), lambda: minimal_coseparable(X, tol=1e-9)),
        (("callback=3", "function"), lambda: minimal_coseparable(X, callback=3)),
        (("trace=4", "from 0 to 3"), lambda: fgm(X, 3, trace=4)),
        (("trace", "penalty", "exclude each other"), lambda: fgm(X, 3, trace=1.0, penalty=1.0)),
        (("normalize",), lambda: spa(X, 3, normalize="no")),
        (("permute",), lambda: make_coseparable(permute="no", random_state=0)),
    ],
)
def test_more_than_there_is_and_words_for_switches_are_refused(words, call):
    with refused(*words):
        call()


@pytest.mark.parametrize("whole", [np.int8(4), np.uint64(4), np.int64(4)], ids=repr)
def test_numpy_integers_are_counts(whole):
    assert indices(spa(X, whole)) == EXPECTED["spa"]


@pytest.mark.parametrize("value", [-1, -1e-300, np.nan, np.inf, -np.inf, "a", None, True, 1j, [0.1], 10**400])
def test_a_number_out_of_range_is_refused_under_its_name(value):
    number = -1.0 if value is None else value  # None is the default of these
    for parameter, call in (
        ("tol", lambda: spa(X, 3, tol=value)),
        ("tol", lambda: fgm(X, 3, tol=value)),
        ("tol", lambda: mix(X, CHOSEN, tol=value)),
        *(("tol", lambda nmf=nmf: nmf(X, 3, tol=value)) for nmf in (ahals, minvol, biorthogonal, trisymmetric)),
        ("penalty", lambda: minvol(X, 3, penalty=value)),
        ("delta", lambda: minvol(X, 3, delta=value)),
        ("tol", lambda: snpa(X, 3, tol=value)),
        ("tol", lambda: xray(X, 3, tol=value)),
        ("tol", lambda: greedy(X, 3, tol=value)),
        ("tol", lambda: gspa(X, 3, tol=value)),
        ("tol", lambda: gsfgm(X, 3, tol=value)),
        ("tol", lambda: mix_generalized(X, CHOSEN, tol=value)),
        ("penalty", lambda: gsfgm(X, 3, penalty=value)),
        ("tol", lambda: is_separable(X, [0], tol=value)),
        ("tol", lambda: extreme_rays(X, tol=value)),
        ("tol", lambda: is_coseparable(X, CHOSEN, tol=value)),
        ("tol", lambda: minimal_coseparable(X, tol=value)),
        ("tol", lambda: compress(X, CHOSEN, tol=value)),
        ("tol", lambda: is_unique(X, tol=value)),
        ("tol", lambda: is_generalized_separable(X, CHOSEN, tol=value)),
        ("tol", lambda: to_cur(X, CHOSEN, tol=value)),
        ("tol", lambda: from_cur(X, CUR, tol=value)),
        ("tol", lambda: from_biorthogonal(W, np.eye(1), H, tol=value)),
        ("trace", lambda: fgm(X, 3, trace=number)),
        ("penalty", lambda: fgm(X, 3, penalty=number)),
        ("noise", lambda: make_coseparable(noise=value)),
    ):
        with refused(parameter, "number"):
            call()


@pytest.mark.parametrize("value", ["no such choice", "", None, 3, ["rows"]], ids=repr)
def test_an_unknown_choice_is_refused_and_the_choices_are_listed(value):
    for parameter, choice, call in (
        ("scaling", "'degree'", partial(scale, X, value)),
        ("solver", "'fast-gradient'", partial(fgm, X, 3, solver=value)),
        ("postprocess", "'diagonal'", partial(fgm, X, 3, postprocess=value)),
        ("solver", "'fast-gradient'", partial(cosfgm, X, 3, 3, solver=value)),
        ("postprocess", "'diagonal'", partial(cosfgm, X, 3, 3, postprocess=value)),
        ("start", "'spa'", partial(cosfgm, X, 3, 3, start=value)),
        ("criterion", "'dist'", partial(xray, X, 3, criterion=value)),
        ("start", "'zero'", partial(gsfgm, X, 3, start=value)),
        ("method", "'leverage'", partial(cur, X, 3, 3, method=value)),
        ("protocol", "'scale-first'", partial(make_coseparable, protocol=value)),
    ):
        with refused(parameter, re.escape(shown(value)), choice):
            call()


@pytest.mark.parametrize("value", ["seed", -1, 2**33, 1.5, [1, "a"]], ids=repr)
def test_a_random_state_that_seeds_nothing_is_refused_under_its_name(value):
    for call in (make_coseparable, partial(xray, X, 3)):
        with refused("random_state"):
            call(random_state=value)


@pytest.mark.parametrize("protocol", ["scale-first", "noise-first"])
@pytest.mark.parametrize("noise", [1e100, 1e300, 1e308])
def test_noise_beyond_the_range_of_floats_gives_finite_data_or_is_refused(noise, protocol):
    right_or_refused(
        lambda: make_coseparable(6, 5, 2, 2, noise=noise, protocol=protocol, random_state=0)[0],
        lambda data: np.isfinite(data).all() and data.any(),
        "noise",
    )


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 5, 1, 2), (5, 1, 2, 1), (3, 3, 3, 3)])
def test_the_smallest_planted_matrices_are_finite_and_positive(shape):
    data, truth = make_coseparable(*shape, random_state=0)
    assert data.shape == shape[:2]
    assert np.isfinite(data).all()
    assert (data > 0).all()
    assert (len(truth.row_indices), len(truth.col_indices)) == shape[2:]


@pytest.mark.parametrize("selector", [None, "spa", 3])
def test_both_sides_of_something_that_is_no_function_are_refused(selector):
    with refused("selector", "function", re.escape(repr(selector))):
        both_sides(selector)
    with refused("selector", "function", re.escape(repr(selector))):
        preselected(selector, 5, 5)


@pytest.mark.parametrize("answer", [None, [0, 1], Selection([0, 1], None), Selection(None, [0, 99])], ids=repr)
def test_both_sides_refuses_a_selector_that_answers_nonsense(answer):
    with refused("selector"):
        both_sides(lambda _data, _r: answer)(X, 2, 2)


# ---------------------------------------------------------------------------------------------------------------------
# Every kind of array and sparse matrix: the same answer, and the input as it was


class Subclass(np.ndarray):
    """A subclass, as memory maps are."""


def read_only(data):
    data = data.copy()
    data.setflags(write=False)
    return data


def unsorted(compressed):
    """Return the matrix with the entries of every row (or column) in reverse order."""
    A = compressed(X)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(A.indptr[:-1], A.indptr[1:], strict=True)])
    return compressed((A.data[order], A.indices[order], A.indptr), shape=A.shape)


def with_duplicates(compressed):
    """Return the matrix with every entry split in two equal halves at the same position."""
    A = compressed(X)
    return compressed((np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), 2 * A.indptr), shape=A.shape)


def with_explicit_zeros(compressed):
    """Return the matrix with all its zeros stored."""
    A = compressed(X + 1.0)
    A.data -= 1.0
    return A


def with_spare_room(compressed):
    """Return the matrix in arrays that are longer than they need to be."""
    A = compressed(X)
    A.data, A.indices = np.append(A.data, [np.nan, -1.0]), np.append(A.indices, A.indices[:2])
    return A


def with_wide_indices(compressed):
    A = compressed(X)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def locked(compressed):
    A = compressed(X)
    for part in (A.data, A.indices, A.indptr):
        part.setflags(write=False)
    return A


def coordinates(split=1, dtype=np.float64, index=np.int32):
    """Return a COO array in random order, every entry split in equal parts."""
    rows, cols = np.nonzero(X)
    order = np.random.default_rng(0).permutation(split * len(rows))
    values = np.tile(X[rows, cols] / split, split)[order].astype(dtype)
    positions = tuple(np.tile(side, split)[order].astype(index) for side in (rows, cols))
    return sp.coo_array((values, positions), shape=X.shape)


TYPES = (object, ">f8", np.float16, np.float32, np.longdouble, np.uint8, np.int8, np.uint64)
FORMS = {
    "Fortran order": lambda: np.asfortranarray(X),
    "read-only": lambda: read_only(X),
    "strided": lambda: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "read-only and strided": lambda: read_only(np.repeat(X, 2, axis=0))[::2],
    "negative strides": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "a subclass of ndarray": lambda: X.copy().view(Subclass),
    "a numpy matrix": lambda: np.asmatrix(X),
    "unmasked": lambda: np.ma.masked_array(X.copy()),
    **{np.dtype(kind).name: partial(X.astype, kind) for kind in TYPES},
    "nested lists": X.tolist,
    "a data frame": lambda: pd.DataFrame(X.copy()),
    "a data frame of integers": lambda: pd.DataFrame(X.astype(int)).astype("Int64"),
    **{f"{fmt}_{kind}": partial(getattr(sp, f"{fmt}_{kind}"), X) for fmt in FORMATS for kind in ("array", "matrix")},
    "bsr in blocks": lambda: sp.bsr_array(X, blocksize=(3, 5)),
    **{
        f"{what.__name__} {kind.__name__}": partial(what, kind)
        for what in (unsorted, with_duplicates, with_explicit_zeros, with_spare_room, with_wide_indices, locked)
        for kind in (sp.csr_array, sp.csc_matrix)
    },
    "coo in any order": coordinates,
    "coo with duplicates": partial(coordinates, 4),
    "coo with wide indices": partial(coordinates, index=np.int64),
    "float32 csr": lambda: sp.csr_array(X.astype(np.float32)),
    "float32 coo": partial(coordinates, 2, np.float32),
    "uint8 csr": lambda: sp.csr_array(X.astype(np.uint8)),
    "uint8 dok": lambda: sp.dok_array(X.astype(np.uint8)),
    "int64 coo": partial(coordinates, dtype=np.int64),
    "a transposed csr": lambda: sp.csr_array(X.T).T,
    "a slice of a csr": lambda: sp.csr_array(np.vstack([X, X]))[: len(X)],
}


def fingerprint(data):
    """Return everything that is stored in an array, a data frame, a list or a sparse matrix, as bytes and flags."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return [data.tobytes(), data.strides, str(data.dtype), data.shape, data.flags.writeable, type(data)]
    if sp.issparse(data):
        # What scipy notes down about the order of the indices, when it is asked, is no part of the matrix.
        parts = {key: part for key, part in vars(data).items() if not key.startswith(("_has_", "has_"))}
        return [type(data), data.shape, fingerprint(parts)]
    if isinstance(data, pd.DataFrame):
        return [data.to_dict(), list(data.dtypes)]
    if isinstance(data, dict):
        return [(key, fingerprint(part)) for key, part in data.items()]
    if isinstance(data, (tuple, list)):
        return [fingerprint(part) for part in data]
    return copy.deepcopy(data.tolist() if isinstance(data, np.ndarray) else data)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("case", FORMS)
def test_any_kind_of_matrix_gives_the_same_answer_and_stays_as_it_was(case):
    data = FORMS[case]()
    before = fingerprint(data)
    for function in CALLS:
        assert_same_answer(function, data, rel=1e-4 if "float32" in case else 1e-9)
        assert fingerprint(data) == before, function


@pytest.mark.filterwarnings("ignore:The core is degenerate", "ignore:scaling='sinkhorn' did not balance")
@every_function
def test_truth_values_count_as_zeros_and_ones(function):
    truth = X > 8
    expected = CALLS[function](truth.astype(float))
    for form in (np.asarray, sp.csr_array, sp.coo_array, sp.lil_array):
        assert_same_answer(function, form(truth), expected=expected)


def test_an_array_that_repeats_one_row_by_a_zero_stride_is_read_as_it_looks():
    data = np.broadcast_to(np.array([1.0, 5.0, 2.0]), (4, 3))
    assert indices(spa(data, 1)) == [None, [1]]
    assert mix(data, Selection([0], [1])).relative_error(data) < 1e-12


REPEATING = {
    "csr": lambda data, _i, j: sp.csr_array((data, j, np.array([0, 3, 4])), shape=(2, 2)),
    "csc": lambda data, _i, j: sp.csc_array((data, j, np.array([0, 3, 4])), shape=(2, 2)).T,
    "bsr": lambda data, _i, j: sp.bsr_array((data[:, None, None], j, np.array([0, 3, 4])), shape=(2, 2)),
    "coo": lambda data, i, j: sp.coo_array((data, (i, j)), shape=(2, 2)),
}


@pytest.mark.parametrize("fmt", REPEATING)
def test_narrow_entries_at_the_same_position_do_not_overflow_when_they_are_added(fmt):
    i, j = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    for dtype, big in ((np.uint8, 255), (np.int8, 127), (bool, 1)):
        values = np.array([big, big, 9, 7]).astype(dtype)
        scaled, factors = scale(REPEATING[fmt](values, i, j), "rows")
        unscaled = scaled.take() / factors.rows[:, None] / factors.cols
        np.testing.assert_allclose(unscaled, [[2.0 * big, values[2]], [0.0, values[3]]])


def test_entries_that_cancel_at_the_same_position_are_judged_by_their_sum():
    data = sp.coo_array(([5.0, -2.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert indices(spa(data, 2)) == indices(spa(np.diag([3.0, 4.0]), 2))
    with refused("X", "Negative", "-1"):
        spa(sp.coo_array(([1.0, -2.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2)), 1)
    with refused("X", "infinity"):
        spa(sp.csr_array((np.float32([3e38, 3e38, 1.0]), [0, 0, 1], [0, 2, 3]), shape=(2, 2)), 1)


# ---------------------------------------------------------------------------------------------------------------------
# Sparse matrices with broken insides


def broken(fmt, **parts):
    A = getattr(sp, f"{fmt}_array")(X)
    for name, change in parts.items():
        setattr(A, name, change(getattr(A, name)))
    return A


def put(position, value):
    def change(array):
        array = array.copy()
        array[position] = value
        return array

    return change


BROKEN = {
    "csr with a column beyond the last": lambda: broken("csr", indices=put(0, 10**6)),
    "csr with a negative column": lambda: broken("csr", indices=put(3, -1)),
    "csr with pointers beyond the entries": lambda: broken("csr", indptr=put(-1, 10**6)),
    "csr with falling pointers": lambda: broken("csr", indptr=put(3, 10**5)),
    "csr with negative pointers": lambda: broken("csr", indptr=put(1, -5)),
    "csr with pointers that start late": lambda: broken("csr", indptr=put(0, 1)),
    "csr with a pointer missing": lambda: broken("csr", indptr=lambda a: a[:-1]),
    "csr with a pointer too many": lambda: broken("csr", indptr=lambda a: np.append(a, a[-1])),
    "csr without pointers": lambda: broken("csr", indptr=lambda a: a[:0]),
    "csr with entries missing": lambda: broken("csr", data=lambda a: a[:-3]),
    "csr with entries too many": lambda: broken("csr", data=lambda a: np.append(a, 1.0)),
    "csr with columns missing": lambda: broken("csr", indices=lambda a: a[:-3]),
    "csr with entries in two dimensions": lambda: broken("csr", data=lambda a: a[:, None]),
    "csr with a shape of too few columns": lambda: broken("csr", _shape=lambda _: (12, 5)),
    "csr with a shape of too many rows": lambda: broken("csr", _shape=lambda _: (1000, 10)),
    "csc with a row beyond the last": lambda: broken("csc", indices=put(0, 10**6)),
    "bsr with a block beyond the last": lambda: broken("bsr", indices=put(0, 10**6)),
    "bsr with blocks missing": lambda: broken("bsr", data=lambda a: a[:-1]),
    "coo with a row beyond the last": lambda: broken("coo", coords=lambda c: (put(0, 10**6)(c[0]), c[1])),
    "coo with a negative column": lambda: broken("coo", coords=lambda c: (c[0], put(0, -1)(c[1]))),
    "coo with entries missing": lambda: broken("coo", data=lambda a: a[:-1]),
    "dok with a row beyond the last": lambda: broken("dok", _dict=lambda d: d | {(10**6, 3): 1.0}),
    "dok with a negative row": lambda: broken("dok", _dict=lambda d: d | {(-3, 3): 1.0}),
    "dok with a word": lambda: broken("dok", _dict=lambda d: d | {(1, 3): "tea"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_sparse_matrix_with_broken_insides_is_refused_under_its_name(case):
    with refused("X"):
        spa(BROKEN[case](), 2)


# These make compiled code of scipy read and write outside its memory, which may end the process.
DEADLY = {
    "lil with a column beyond the last": "A = lil_array(X); A.rows[0] = [10**6]; A.data[0] = [1.0]",
    "lil with a negative column": "A = lil_array(X); A.rows[0] = [-7]; A.data[0] = [1.0]",
    "lil with more entries than columns": "A = lil_array(X); A.rows[0] = [1]; A.data[0] = [1.0] * 9999",
    "lil with more columns than entries": "A = lil_array(X); A.rows[0] = [1, 2, 3]; A.data[0] = [1.0]",
    "lil with rows missing": "A = lil_array(X); A.rows = A.rows[:3]; A.data = A.data[:3]",
    "lil with rows too many": "A = lil_array(X); A.rows = np.tile(A.rows, 99); A.data = np.tile(A.data, 99)",
    "dia with diagonals missing": "A = dia_array(X); A.data = A.data[:1]",
    "dia with offsets missing": "A = dia_array(X); A.offsets = A.offsets[:2]",
    "dia in one dimension": "A = dia_array(X); A.data = A.data.ravel()",
    "bsr with a pointer missing": "A = bsr_array(X, blocksize=(2, 2)); A.indptr = A.indptr[:-1]",
}
CHILD = """
import json, os, signal, sys
import numpy as np
from scipy.sparse import bsr_array, dia_array, lil_array
from cosep import spa

for case, sabotage in json.load(sys.stdin).items():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(5)  # overwritten memory may also make it run for ever
        scope = {"X": 1.0 + np.arange(120.0).reshape(12, 10) % 7, **globals()}
        exec(sabotage, scope)
        try:
            outcome = f"answered {spa(scope['A'], 2).col_indices}"
        except Exception as error:
            outcome = f"{type(error).__name__} {error}"
        os.write(writing, outcome.encode())
        os._exit(0)
    os.close(writing)
    outcome = os.fdopen(reading).read()
    print(json.dumps([case, outcome, os.waitpid(child, 0)[1]]))
"""


@pytest.fixture(scope="module")
def outcomes():
    """Run every deadly case in a process of its own; return what each said and its exit status."""
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    command = [sys.executable, "-W", "ignore", "-c", CHILD]
    driver = subprocess.run(command, input=json.dumps(DEADLY), capture_output=True, text=True, check=True)
    return {case: rest for case, *rest in map(json.loads, driver.stdout.splitlines())}


@pytest.mark.parametrize("case", DEADLY)
def test_a_sparse_matrix_that_could_crash_the_process_is_refused_under_its_name(case, outcomes):
    outcome, status = outcomes[case]
    assert status == 0, f"the process ended with status {status}"
    assert re.search(r"^ValueError .*\bX\b", outcome), outcome


# ---------------------------------------------------------------------------------------------------------------------
# Large sparse matrices are never made dense


@pytest.fixture(scope="module")
def large():
    """20000 x 3000 with 30000 nonzeros in five diagonal blocks: 0.4 MB, 480 MB if it were dense."""
    random = np.random.default_rng(0)
    i, j = random.integers(0, 4000, 30_000), random.integers(0, 600, 30_000)
    block = random.integers(0, 5, 30_000)
    return sp.csr_array((random.uniform(1.0, 2.0, 30_000), (5 * i + block, 5 * j + block)), shape=(20_000, 3_000))


def peak(call):
    """Return the answer and the most bytes that were allocated at any moment of the call."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exact_error(A):
    first = A[:, [0]].tocoo()
    alone = sp.csr_array((first.data, first.coords), shape=A.shape)
    return Factorization(first.toarray(), None, np.eye(1, A.shape[1])).relative_error(alone)


def cross(A, n_rows, n_cols):
    return Selection(A.sum(axis=1).argsort()[-n_rows:], A.sum(axis=0).argsort()[-n_cols:])


LARGE = {
    "spa": lambda A: spa(A, 5),
    "spa of the transpose": lambda A: spa(A.T, 5),
    "both_sides(spa)": lambda A: both_sides(spa)(A, 5, 5),
    "preselect": lambda A: preselect(A, 5),
    "preselect of the transpose": lambda A: preselect(A.T, 5),
    "preselected": lambda A: preselected(both_sides(spa), 30, 30)(A, 5, 5),
    "snpa": lambda A: snpa(A, 5),
    "xray": lambda A: xray(A, 3, criterion="max"),
    "greedy": lambda A: greedy(A, 5),
    "greedy of the transpose": lambda A: greedy(A.T, 5),
    "gspa": lambda A: gspa(A, 5),
    **{f"cur by {method}": (lambda A, method=method: cur(A, 3, 3, method=method)) for method in METHODS},
    "mix_generalized": lambda A: mix_generalized(A, Selection(range(5), range(5)), max_iter=3),
    "mix": lambda A: mix(A, Selection(range(5), range(5)), max_iter=3),
    "mix with rows only": lambda A: mix(A, Selection(range(5), None)),
    "mix with columns only": lambda A: mix(A, Selection(None, range(5))),
    "ahals": lambda A: ahals(A, 5, max_iter=3),
    "minvol": lambda A: minvol(A, 5, max_iter=3),
    "biorthogonal": lambda A: biorthogonal(A, 5, max_iter=3),
    "trisymmetric": lambda A: trisymmetric(A, 5),
    "extreme_rays": extreme_rays,
    "is_coseparable": lambda A: bool(is_coseparable(A, Selection(range(5), range(5)))),
    "relative_error": lambda A: Factorization(np.ones((20_000, 1)), None, np.ones((1, 3_000))).relative_error(A),
    "an exact relative_error": exact_error,
    "choose_rank": lambda A: choose_rank(A, [3], method="spa"),
    "completion_score": lambda A: CoSeparableNMF(5, 5, method=cross).fit(A).completion_score(A),
    **{f"scale by {rule}": partial(scale, name=rule) for rule in SCALINGS},
}


@pytest.mark.filterwarnings("ignore:The core is degenerate", "ignore:scaling='sinkhorn' did not balance")
@pytest.mark.parametrize(
    ("function", "fmt"),
    [(name, "csr") for name in LARGE] + [(name, fmt) for name in ("spa", "mix") for fmt in ("csc", "coo", "lil")],
)
def test_a_large_sparse_matrix_is_never_made_dense(function, fmt, large, monkeypatch):
    data = large.asformat(fmt)

    def guarded(plain):
        def toarray(self, *args, **kwargs):
            assert np.prod(self.shape) <= 2**21, f"a sparse matrix of shape {self.shape} was made dense"
            return plain(self, *args, **kwargs)

        return toarray

    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array):
        monkeypatch.setattr(kind, "toarray", guarded(kind.toarray))
        monkeypatch.setattr(kind, "todense", guarded(kind.todense))
    assert peak(lambda: LARGE[function](data))[1] < 60e6


def test_fgm_of_a_tall_sparse_matrix_keeps_only_blocks_of_rows():
    random = np.random.default_rng(0)
    positions = random.integers(0, 300_000, 9_000), np.arange(9_000) % 40
    tall = sp.csr_array((random.uniform(1.0, 2.0, 9_000), positions), shape=(300_000, 40))
    chosen, most = peak(lambda: fgm(tall, 3))
    assert len(chosen.col_indices) == 3
    assert most < 60e6  # it would be 96 MB


# ---------------------------------------------------------------------------------------------------------------------
# Huge and tiny scales

LARGEST = np.finfo(np.float64).max / X.max()


@pytest.mark.parametrize("factor", [1e58, 1e59, 1e100, 1e150, 1e300, LARGEST, 1e-60, 1e-100, 1e-150, 1e-300, 1e-310])
@pytest.mark.parametrize("function", SELECTORS | MIXERS | NMFS | SCORES | TELLERS | SCALERS | QUESTIONS)
def test_a_multiple_of_a_matrix_gives_the_same_answer(function, factor):
    for form in (np.asarray, sp.csr_array):
        if function == "minvol" and factor == LARGEST:
            with refused("X", "largest float", "divide"):
                minvol(form(X * factor), 3)
        else:
            assert_same_answer(function, form(X * factor), rel=1e-6)


@pytest.mark.parametrize("factor", [1e36, 1e-36])
@pytest.mark.parametrize("function", SELECTORS | MIXERS | NMFS | SCORES | TELLERS | SCALERS | QUESTIONS)
def test_a_multiple_of_a_float32_matrix_gives_the_same_answer(function, factor):
    assert_same_answer(function, (X * factor).astype(np.float32), rel=1e-3)


@pytest.mark.parametrize("power", [-1074, -1065, *range(-210, -195), *range(186, 202), 1016, 1017])
def test_the_error_of_a_matrix_times_a_power_of_two_is_the_same(power):
    data = np.ldexp(X, power)  # exact: the entries are small whole numbers
    for selection in (CHOSEN, ROWS, COLS, Selection([0, 7], [1, 4]), Selection([4, 10], [0, 7])):
        expected = mix(X, selection).relative_error(X)
        assert mix(data, selection).relative_error(data) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("factor", [2.0**-330, 2.0**-230, 2.0**160, 2.0**230, 2.0**330])
def test_the_penalty_and_the_history_of_fgm_are_in_the_units_of_the_data(factor):
    expected = fgm(X, 3, penalty=5000.0)
    chosen = fgm(X * factor, 3, penalty=5000.0 * factor**2)
    assert indices(chosen) == indices(expected)
    assert chosen.gap == pytest.approx(expected.gap, rel=1e-6)
    objective, trace, penalty = fgm(X, 4).history[-1]
    scaled = fgm(X * factor, 4).history[-1]
    assert scaled == pytest.approx((objective * factor**2, trace, penalty * factor**2), rel=1e-6, abs=0.0)


@pytest.mark.parametrize("factor", [1e-250, 1e-80, 1e80, 1e250])
def test_the_error_does_not_depend_on_how_the_scale_is_split_between_the_factors(factor):
    random = np.random.default_rng(0)
    left, right = random.uniform(size=(6, 2)), random.uniform(size=(2, 5))
    data = left @ right * (1.0 + 0.1 * random.uniform(size=(6, 5)))
    expected = np.linalg.norm(data - left @ right) / np.linalg.norm(data)
    for parts in (
        (left * factor, None, right / factor),
        (left * factor, np.eye(2), right / factor),
        (left, np.eye(2) * factor, right / factor),
    ):
        assert Factorization(*parts).relative_error(data) == pytest.approx(expected)


@pytest.mark.parametrize("factor", [1e-150, 1e-58, 1e58, 1e150])
def test_the_error_of_components_in_different_units_is_that_of_their_sum(factor):
    random = np.random.default_rng(0)
    left, right = random.uniform(size=(6, 2)), random.uniform(size=(2, 5))
    units = np.array([1.0, factor])
    parts = Factorization(left * units, None, right * units[::-1, None])
    assert parts.relative_error(left @ right * factor) < 1e-12


@pytest.mark.parametrize("factor", [1e10, 1e50, 1e70, 1e150])
def test_a_large_error_is_told_in_full(factor):
    far = Factorization(W * factor, None, H)
    assert far.relative_error(np.ones((3, 2))) == pytest.approx(factor)
    assert relative_approximation(np.ones((3, 2)), far) == pytest.approx(-factor)


@pytest.mark.parametrize("decades", [10, 20, 40, 60])
def test_columns_of_very_different_scales_are_mixed_to_the_error_of_the_definition(decades):
    data = X * 10.0 ** np.linspace(-decades, decades, X.shape[1])
    fit = mix(data, Selection(None, np.arange(4)))  # the smallest
    direct = np.linalg.norm(data - fit.reconstruct()) / np.linalg.norm(data)
    assert fit.relative_error(data) == pytest.approx(direct, rel=1e-6, abs=1e-9)
    assert direct < 1.0


SMALL = [(1.0, 10.0**power) for power in (-100, -149, -151, -160, -170, -200, -300, -310)]
SMALL += [(1e100, 10.0**power) for power in (-49, -51, -100, -150, -200, -300, -310)]
small_beside_large = pytest.mark.parametrize(("large", "small"), SMALL)


def right_where_it_can_be(call, is_right, large, small):
    """Assert that the answer is right, or the data refused where the small is below 1e-150 of the large."""
    if small < 1e-150 * large:
        with refused("X", "too small to be distinguished from zero"):
            call()
    else:
        assert is_right(call())


@dense_and_sparse
@small_beside_large
def test_a_column_far_smaller_than_the_others_is_selected_or_the_data_is_refused(large, small, form):
    data = form(np.diag([large, small]))
    for select in (partial(selector, data, 2) for selector in COLUMN_SELECTORS.values()):
        right_where_it_can_be(select, lambda chosen: indices(chosen) == [None, [0, 1]], large, small)
    for select in (partial(selector, data, 2, 2) for selector in (both_sides(spa), cosfgm)):
        right_where_it_can_be(select, lambda chosen: indices(chosen) == [[0, 1], [0, 1]], large, small)


@small_beside_large
def test_columns_are_mixed_from_one_far_smaller_than_they_are_or_the_data_is_refused(large, small):
    data = np.array([[small, large], [small, large]])
    for selection in (Selection(None, [0]), Selection([0], [0])):
        fit = partial(mix, data, selection)
        right_where_it_can_be(fit, lambda fit: fit.relative_error(data) < 1e-6, large, small)


@small_beside_large
@pytest.mark.parametrize("rule", SCALINGS)
def test_a_row_far_smaller_than_the_others_is_scaled_or_the_data_is_refused(rule, large, small):
    expected = np.eye(2) * (2.0 if rule == "sinkhorn" else 1.0)
    right_where_it_can_be(
        partial(scale, np.diag([large, small]), rule),
        lambda answer: np.allclose(answer[0].take(), expected, rtol=1e-3),
        large,
        small,
    )


@dense_and_sparse
@every_function
def test_tiny_entries_beside_large_ones_in_their_row_and_column_count_as_zeros(function, form):
    # A-HALS sweeps the more often the more entries there are.
    assert_same_answer(function, form(np.where(X == 0, 1e-300, X)), rel=1e-4 if function in NMFS | ESTIMATORS else 1e-9)


@pytest.mark.parametrize("selection", [Selection(None, [0]), Selection([0], [0])], ids=["one side", "both sides"])
def test_weights_beyond_float32_are_kept_in_float64(selection):
    data = np.array([[1e-30, 1e30], [1e-30, 1e30]], dtype=np.float32)
    fit = mix(data, selection)
    assert fit.relative_error(data) < 1e-3
    assert fit.col_weights.dtype == np.float64
    assert mix(X.astype(np.float32), selection).col_weights.dtype == np.float32


EXTREMES = {
    "one entry": np.array([[7.0]]),
    "one row": X[:1],
    "one column": X[:, :1],
    "one nonzero entry": np.diag([3.0, 0.0, 0.0, 0.0]),
    "rank one": np.outer(np.arange(1.0, 6.0), np.arange(1.0, 5.0)),
    "equal rows and columns": np.ones((5, 4)),
    "a diagonal": np.eye(4),
    "rows far apart in size": np.diag([1e100, 1.0, 1e-40, 1e30]) @ X[:4, :4],
    "columns far apart in size": X[:4, :4] @ np.diag([1e100, 1.0, 1e-40, 1e30]),
    "float32 near its limits": np.float32([[1e38, 1e-38], [3e38, 1e-30], [2e38, 0.0]]),
}


@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
@dense_and_sparse
@pytest.mark.parametrize("case", EXTREMES)
@pytest.mark.parametrize("nmf", [ahals, minvol, biorthogonal, trisymmetric])
def test_odd_matrices_get_finite_nonnegative_factors_that_explain_them_or_are_refused(nmf, case, form):
    data = EXTREMES[case]
    target = GramMatrix(as_matrix(data)) if nmf is trisymmetric else data
    for r in range(1, min(data.shape) + 1):
        fit = nmf(form(data), r)
        assert all(part.min() >= 0 for part in (fit.row_factor, fit.col_factor))
        assert fit.relative_error(target) <= 1.0 + 1e-9
        if np.linalg.matrix_rank(data.astype(float)) == 1 and nmf is not minvol:
            assert fit.relative_error(target) < (1e-2 if nmf is biorthogonal else 1e-3)


@pytest.mark.parametrize(("dtype", "size"), [(np.uint8, 200), (np.int8, 100), (np.float16, 300), (np.float32, 1e30)])
def test_products_of_factors_of_narrow_types_do_not_overflow(dtype, size):
    fit = Factorization(np.full((3, 1), size, dtype), np.full((1, 1), size, dtype), H.astype(dtype))
    expected = np.full((3, 2), float(dtype(size)) ** 2)
    assert fit.relative_error(expected) < 1e-3
    np.testing.assert_allclose(fit.reconstruct(), expected)


# ---------------------------------------------------------------------------------------------------------------------
# One row, one column, zeros, duplicates, too little rank


@dense_and_sparse
@pytest.mark.parametrize(("data", "row", "col"), [([[1.0, 3.0, 2.0]], 0, 1), ([[1.0], [3.0], [0.0]], 1, 0)])
def test_the_largest_entry_of_a_single_row_or_column_is_selected_and_mixes_the_rest(data, row, col, form):
    data = form(np.array(data))
    for selector in COLUMN_SELECTORS.values():
        assert indices(selector(data, 1)) == [None, [col]]
    for selector in (both_sides(spa), cosfgm, *(partial(cur, method=method) for method in METHODS)):
        assert indices(selector(data, 1, 1)) == [[row], [col]]
    for selector in EITHER:
        assert indices(selector(data, n_rows=0, n_cols=1)) == [None, [col]]
        assert indices(selector(data, n_rows=1, n_cols=0)) == [[row], None]
    for selection in (Selection([row], [col]), Selection(None, [0]), Selection([0], None)):
        assert mix(data, selection).relative_error(data) < 1e-12


@pytest.mark.parametrize("rule", SCALINGS)
def test_a_single_entry_is_scaled_to_one(rule):
    for shape in ((1, 1), (1, 3), (3, 1)):
        scaled, factors = scale(np.full(shape, 7.0), rule)
        np.testing.assert_allclose(scaled.take(), factors.rows[:, None] * np.full(shape, 7.0) * factors.cols)
        assert np.isfinite(scaled.take()).all()
    assert scale([[7.0]], rule)[0].take() == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_all_zero_rows_and_columns_are_not_selected_and_get_no_weight_no_label_and_the_factor_one(form):
    data = np.zeros((17, 14))
    data[2:14, 3:13] = X
    data = form(data)
    for function, select in SELECTORS.items():
        rows, cols = EXPECTED[function]
        assert select(data) == [None if rows is None else [i + 2 for i in rows], [j + 3 for j in cols]]
    fit = mix(data, Selection(CHOSEN.row_indices + 2, CHOSEN.col_indices + 3))
    assert fit.relative_error(data) == pytest.approx(EXPECTED["mix"][0], rel=1e-6)
    empty_rows, empty_cols = np.r_[0:2, 14:17], np.r_[0:3, 13:14]
    assert set(fit.row_labels[empty_rows]) == set(fit.col_labels[empty_cols]) == {-1}
    assert not fit.row_factor[empty_rows].any()
    assert not fit.col_factor[:, empty_cols].any()
    for rule in SCALINGS:
        scaled, factors = scale(data, rule)
        assert np.isfinite(scaled.take()).all()
        assert set(factors.rows[empty_rows]) == set(factors.cols[empty_cols]) == {1.0}


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_the_lowest_index_stands_for_identical_rows_and_columns(form):
    distinct = np.random.default_rng(0).uniform(size=(5, 4))
    data = form(np.tile(distinct, (3, 3)))
    for selector in COLUMN_SELECTORS.values():
        assert indices(selector(data, 4)) == [None, [0, 1, 2, 3]]
    assert preselect(data, 12).representatives.tolist() == [0, 1, 2, 3]
    for selector in EITHER:
        rows, cols = indices(selector(data, n_rows=2, n_cols=2))
        assert set(rows) < set(range(5))
        assert set(cols) < set(range(4))
    curs = [partial(cur, method=method) for method in METHODS]
    for selector in (both_sides(spa), both_sides(fgm), cosfgm, preselected(both_sides(spa), 10, 10), *curs):
        rows, cols = indices(selector(data, 4, 4))
        assert cols == [0, 1, 2, 3]
        assert set(rows) < set(range(5))


def test_columns_that_differ_by_rounding_alone_are_not_both_selected():
    ray = np.array([0.5094572995000001, 0.8604959383902793])  # half a unit in the ninth digit
    data = np.column_stack([ray, ray * 8.603709570607482, [1.0, 0.0], [0.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert indices(fgm(data, 4)) == [None, [1, 2, 3]]


@dense_and_sparse
def test_too_little_rank_gives_fewer_rows_and_columns_and_one_warning_for_each_side(form):
    blocks = form(np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((3, 2))))  # 9 x 6 and of rank 3
    for selector in COLUMN_SELECTORS.values():
        with pytest.warns(UserWarning, match="Only 3 of the 5 columns") as caught:
            assert indices(selector(blocks, 5)) == [None, [0, 2, 4]]
        assert [warning.filename for warning in caught] == [__file__]
    for selector in (both_sides(spa), cosfgm, preselected(cosfgm, 8, 5), cur, partial(cur, method="deim")):
        with pytest.warns(UserWarning, match="Only 3 of the") as caught:
            assert indices(selector(blocks, 7, 5)) == [[0, 3, 6], [0, 2, 4]]
        sides = sorted(re.search(r"3 of the \d+ (rows|columns)", str(warning.message))[0] for warning in caught)
        assert sides == ["3 of the 5 columns", "3 of the 7 rows"]


def test_more_columns_than_there_are_rows_end_at_the_rank():
    wide = np.array([[4.0, 0.0, 1.0, 2.0], [0.0, 2.0, 1.0, 1.0]])
    with pytest.warns(UserWarning, match="Only 2 of the 4 columns"):
        assert indices(spa(wide, 4)) == [None, [0, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        chosen = fgm(wide, 4).col_indices.tolist()
    assert {0, 1} <= set(chosen) <= {0, 1, 2, 3}
    assert len(set(chosen)) == len(chosen)


# ---------------------------------------------------------------------------------------------------------------------
# Selections and pools

NO_INDICES = {
    "negative": [0, -1],
    "repeated": [1, 0, 1],
    "empty": [],
    "an empty array": np.array([], dtype=int),
    "floats": [0.0, 1.0],
    "NaN": [np.nan],
    "in two dimensions": [[0, 1]],
    "truth values": np.ones(12, dtype=bool),
    "one number": 3,
    "text": "ab",
    "words": ["0", "1"],
    "objects": np.array([0, None], dtype=object),
    "ragged": [[0], [1, 2]],
    "a set": {0, 1},
    "beyond int64": [10**30],
    "beyond int64, unsigned": np.array([2**63], dtype=np.uint64),
    "complex": [1j],
}


@pytest.mark.parametrize("side", ["row_indices", "col_indices"])
@pytest.mark.parametrize("case", NO_INDICES)
def test_a_selection_of_what_are_no_positions_is_refused(case, side):
    for other in (None, [2, 1]):
        with refused(side):
            Selection(**{"row_indices": other, "col_indices": other, side: NO_INDICES[case]})


@pytest.mark.parametrize(
    ("name", "value"),
    [("gap", "small"), ("gap", [0.1]), ("gap", 1j), ("n_iter", "many"), ("n_iter", 2.5), ("history", [0.5])],
)
def test_a_selection_with_a_report_of_the_wrong_kind_is_refused(name, value):
    with refused(name):
        Selection([0], None, **{name: value})


@dense_and_sparse
def test_mix_refuses_positions_beyond_the_last(form):
    for side, data in (("row_indices", form(X)), ("col_indices", form(X.T))):
        for other in (None, [2, 1]):
            with refused(side, "= 11"):
                mix(data, Selection(**{"row_indices": other, "col_indices": other, side: [0, 12]}))


@pytest.mark.parametrize("selection", [None, ([0], [1]), [0, 1], {"row_indices": [0]}, Selection(None, None)], ids=repr)
def test_mix_refuses_anything_but_a_selection_of_something(selection):
    with refused("selection", "Selection", "row_indices, col_indices or both"):
        mix(X, selection)


@pytest.mark.parametrize("make", [list, tuple, np.int8, np.uint64, pd.Index])
def test_any_sequence_of_whole_numbers_selects(make):
    assert mixed(X, Selection(make([2, 4, 10, 11]), make([2, 3, 4, 6]))) == EXPECTED["mix"]


@pytest.mark.parametrize(
    ("selection", "truth", "words"),
    [
        ([0], ROWS, ("selection", "list")),
        (ROWS, [0], ("truth", "list")),
        (None, ROWS, ("selection", "NoneType")),
        (ROWS, Selection(None, None), ("truth", "at least one")),
    ],
)
def test_index_accuracy_compares_selections_with_a_truth_and_nothing_else(selection, truth, words):
    with refused(*words):
        index_accuracy(selection, truth)


POOLS = {
    **{
        name: ("pool", lambda pool, selector=selector: selector(X.T, 3, pool=pool))
        for name, selector in COLUMN_SELECTORS.items()
    },
    "both_sides(spa)": ("row_pool", lambda pool: both_sides(spa)(X, 3, 3, row_pool=pool)),
    "cosfgm": ("col_pool", lambda pool: cosfgm(X.T, 3, 3, col_pool=pool)),
    "preselected": ("col_pool", lambda pool: preselected(cosfgm, 6, 6)(X.T, 3, 3, col_pool=pool)),
}


@pytest.mark.parametrize("case", [*NO_INDICES, "beyond the last"])
def test_a_pool_of_what_are_no_positions_is_refused(case):
    positions = NO_INDICES.get(case, [0, 12])
    for name, call in POOLS.values():
        with refused(rf"{name}\.candidates"):
            call(Pool(candidates=positions))
        if "empty" not in case:
            with refused(rf"{name}\.include"):
                call(Pool(include=positions))


@pytest.mark.parametrize("function", POOLS)
def test_a_pool_that_is_none_too_small_or_too_full_is_refused(function):
    name, call = POOLS[function]
    for pool in ([0, 1, 2], {"include": [0]}, 3):
        with refused(name, "Pool"):
            call(pool)
    with refused(name, "2 candidates", "fewer or allow more"):
        call(Pool(candidates=[0, 1]))
    with refused(rf"{name}\.include", "names 4", "=3"):
        call(Pool(include=[0, 1, 2, 3]))


# ---------------------------------------------------------------------------------------------------------------------
# Labels

NO_LABELS = {
    "an empty list": ([], "non-empty"),
    "a matrix": ([[0, 1]], "one-dimensional"),
    "a number": (5, "one-dimensional"),
    "text": ("ab", "one-dimensional"),
    "a dict": ({}, "one-dimensional"),
    "sparse": (sp.coo_array([1, 0]), "one-dimensional"),
    "NaN": ([0.0, np.nan], "NaN"),
    "missing integers": (pd.array([1, None], dtype="Int64"), "NaN"),
    "None": ([0, None], "compared"),
    "ragged": ([["a"], ["b", "c"]], "one-dimensional"),
    "masked": (np.ma.masked_array([0, 1], mask=[False, True]), "masked"),
    "no date": (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "NaN"),
    "NaN among words": (["a", float("nan")], "compared"),
}


@pytest.mark.parametrize("role", ["labels_true", "labels_pred"])
@pytest.mark.parametrize("case", NO_LABELS)
def test_labels_that_are_missing_or_no_list_are_refused_under_their_name(case, role):
    labels, word = NO_LABELS[case]
    with refused(role, word):
        clustering_accuracy(**({"labels_true": [0, 1], "labels_pred": [0, 1]} | {role: labels}))


def test_labels_of_different_items_are_refused():
    with refused("labels_true", "labels_pred", "3 items", "2"):
        clustering_accuracy([0, 1, 1], [0, 1])


def test_a_number_and_the_same_digits_as_text_are_different_labels_or_refused():
    right_or_refused(lambda: clustering_accuracy(["a", "b"], [1, "1"]), lambda accuracy: accuracy == 1.0, "labels_pred")


@pytest.mark.parametrize("make", [list, np.int8, partial(np.array, dtype=object), pd.Series])
def test_minus_one_means_no_cluster_in_every_kind_of_list(make):
    assert clustering_accuracy([0, 1, 0], make([0, -1, 1])) == clustering_accuracy([0, 1, 0], np.array([0, -1, 1]))


def test_items_without_a_cluster_match_nothing():
    assert clustering_accuracy([0, 1], [-1, -1]) == pytest.approx(1.0 - np.sqrt(0.5))
    assert clustering_accuracy([0], [-1]) == 0.0


def test_labels_are_not_modified():
    true, pred = read_only(np.array([0, 1, 0])), read_only(np.array([5, -1, 5]))
    before = fingerprint((true, pred))
    assert clustering_accuracy(true, pred) == pytest.approx(1.0 - np.sqrt(1 / 6))
    assert fingerprint((true, pred)) == before


# ---------------------------------------------------------------------------------------------------------------------
# Factorizations


@pytest.mark.parametrize("other", [np.ones((2, 2)), np.ones((3, 3)), sp.csr_array(np.ones((2, 3)))])
def test_the_error_of_a_matrix_of_another_shape_is_refused(other):
    for call in (ONES.relative_error, lambda data: relative_approximation(data, ONES)):
        with refused("X", re.escape(str(other.shape)), re.escape("(3, 2)")):
            call(other)


@pytest.mark.parametrize("pair", [None, (W, H), "ones"], ids=["None", "a pair", "text"])
def test_relative_approximation_asks_for_a_factorization(pair):
    with refused("factorization", "Factorization", type(pair).__name__):
        relative_approximation(np.ones((3, 2)), pair)


ANY_KIND = {
    "lists": np.ndarray.tolist,
    "data frames": pd.DataFrame,
    "sparse": sp.csr_array,
    "unmasked": np.ma.masked_array,
    "float16": lambda part: part.astype(np.float16),
    "bool": lambda part: part.astype(bool),
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
}


@pytest.mark.parametrize("case", ANY_KIND)
def test_factors_of_any_kind_are_used(case):
    fit = Factorization(ANY_KIND[case](W), None, ANY_KIND[case](H))
    assert fit.relative_error(np.ones((3, 2))) == fit.T.relative_error(np.ones((2, 3))) == 0.0
    np.testing.assert_array_equal(fit.reconstruct(), np.ones((3, 2)))


NO_FACTOR = {
    "None": (None, ""),
    "text": ("text", ""),
    "a number": (5.0, ""),
    "a vector": (np.ones(3), ""),
    "three dimensions": (np.ones((3, 1, 1)), ""),
    "ragged": ([[1.0], [1.0, 2.0]], ""),
    "NaN": (W * np.nan, "finite"),
    "infinity": (W * np.inf, "finite"),
    "complex": (W * 1j, "complex"),
    "words": (W.astype(str), ""),
    "objects": (W.astype(object), "object"),
    "masked": (np.ma.masked_array(W, mask=[[True], [False], [False]]), ""),
}


@pytest.mark.parametrize("case", NO_FACTOR)
def test_a_factor_that_is_no_real_matrix_is_refused(case):
    factor, word = NO_FACTOR[case]
    with refused("row_factor", word):
        Factorization(factor, None, H)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("row_labels", np.array(5)),
        ("row_labels", np.ones((3, 2), dtype=int)),
        ("row_labels", [0, 1]),
        ("col_labels", np.array([0.5, 1.5])),
        ("row_names", "abc"),
        ("row_names", np.array([["a", "b"]] * 3)),
        ("row_names", np.array(["a", None, "c"], dtype=object)),
        ("row_names", np.array(["a", np.nan, "c"], dtype=object)),
        ("row_names", np.array(["a", b"\xff", "c"], dtype=object)),
        ("col_names", ["a", "b", "c"]),
        ("row_weights", np.ones(3)),
        ("col_weights", np.ones(2)),
        ("row_weights", np.ones((2, 1))),
        ("selection", "rows"),
        ("selection", ([0], [1])),
        ("selection", Selection([3], None)),
        ("selection", Selection(None, [2])),
        ("scaling", "rows"),
        ("scaling", Scaling("rows", np.ones(9), np.ones(2))),
        ("scaling", Scaling("rows", np.ones(3), np.ones(3))),
        ("meta", None),
        ("meta", "words"),
        ("meta", [1, 2]),
    ],
    ids=repr,
)
def test_parts_of_the_wrong_kind_are_refused_under_their_name(name, part):
    with refused(name):
        Factorization(W, None, H, **{name: part})


@pytest.mark.parametrize("factors", [[[1.0]], 1.0, [0.0], [-1.0], [np.nan], [np.inf], ["a"], None, [[1.0], [1.0, 2.0]]])
def test_a_scaling_by_anything_but_positive_numbers_is_refused(factors):
    with refused("rows", "scaling"):
        Scaling("degree", factors, np.ones(2))
    with refused("cols", "scaling"):
        Scaling("degree", np.ones(2), factors)
    with refused("name"):
        Scaling(["degree"], np.ones(2), np.ones(2))


@pytest.mark.parametrize("rows", [[3], [-4], 3, "all", [0.5], [True]], ids=repr)
def test_rows_that_are_not_there_are_not_reconstructed(rows):
    with refused("rows"):
        ONES.reconstruct(rows)


# ---------------------------------------------------------------------------------------------------------------------
# Saving


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def there_and_back(path, **parts):
    Factorization(W, None, H, **parts).save(path)
    return Factorization.load(path)


def test_lists_of_names_and_labels_can_be_transposed_and_saved(path):
    loaded = there_and_back(path, row_names=["a", "b", "c"], row_labels=[0, 0, 0])
    assert (loaded.row_names.tolist(), loaded.row_labels.tolist()) == (["a", "b", "c"], [0, 0, 0])
    assert (loaded.T.col_names.tolist(), loaded.T.col_labels.tolist()) == (["a", "b", "c"], [0, 0, 0])


def test_a_gap_and_a_number_of_iterations_of_numpy_types_can_be_saved(path):
    loaded = there_and_back(path, selection=Selection([0], None, np.float32(0.5), np.int64(3)))
    assert (loaded.selection.gap, loaded.selection.n_iter) == (0.5, 3)


def nested(depth):
    inner = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


CIRCLE = {}
CIRCLE["again"] = CIRCLE


@pytest.mark.parametrize(
    "meta",
    [{"a": np.ones(2)}, {"a": {1, 2}}, {"a": 1j}, {"a": print}, {("a", "b"): 1}, CIRCLE, nested(100_000)],
    ids=["an array", "a set", "complex", "a function", "a pair as key", "a circle", "too deep"],
)
def test_meta_that_json_cannot_hold_is_refused_under_its_name(meta, tmp_path, path):
    with refused("meta"):
        Factorization(W, None, H, meta=meta).save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("meta", [{1: "one"}, {None: 1}, {True: 1}], ids=repr)
def test_keys_that_json_would_turn_into_text_come_back_or_are_refused(meta, path):
    right_or_refused(lambda: there_and_back(path, meta=meta).meta, lambda loaded: loaded == meta, "meta")


def test_saving_where_no_file_can_be_is_an_error_and_leaves_nothing_behind(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        ONES.save(tmp_path / "missing" / "model.npz")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises((OSError, ValueError), match="folder"):
        ONES.save(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("path", [None, 5, b"model.npz", io.BytesIO()], ids=["None", "a number", "bytes", "a stream"])
def test_a_path_that_is_no_path_is_refused_under_its_name(path):
    for call in (ONES.save, Factorization.load):
        with refused("path"):
            call(path)


# ---------------------------------------------------------------------------------------------------------------------
# Loading what is broken or hostile

HEADER = {"format": "cosep-factorization", "version": 1, "meta": {}}
REPORT = {"gap": None, "n_iter": None, "history": []}
SCALES = {"scaling_rows": np.ones(3), "scaling_cols": np.ones(2)}


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), **options)
    return stream.getvalue()


def forged(header, body=b""):
    """Return an array file with any header at all: the fields of an array, or raw bytes."""
    if isinstance(header, dict):
        header = repr({"descr": "<f8", "fortran_order": False, "shape": (3, 1)} | header).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def write(path, change=(), method=zipfile.ZIP_DEFLATED, **members):
    """Write a file like those of `save`, with members added, replaced or left out (None), and header fields changed."""
    members = {"row_factor": W, "col_factor": H, "header": np.asarray(json.dumps(HEADER | dict(change)))} | members
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, part in members.items():
            if part is not None:
                archive.writestr(f"{name}.npy", part if isinstance(part, bytes) else npy(part))


def test_a_file_written_by_hand_in_the_format_of_save_is_read(path):
    write(path)
    np.testing.assert_array_equal(Factorization.load(path).reconstruct(), np.ones((3, 2)))
    write(path, {"selection": REPORT}, row_indices=np.array([2]), col_indices=np.array([1]))
    assert indices(Factorization.load(path).selection) == [[2], [1]]
    write(path, {"scaling": "rows"}, **SCALES)
    assert Factorization.load(path).scaling.name == "rows"


HOSTILE = {
    "no header": {"header": None},
    "no row factor": {"row_factor": None},
    "no column factor": {"col_factor": None},
    "a header that is not JSON": {"header": np.asarray("{oops")},
    "an empty header": {"header": np.asarray("")},
    "a list for a header": {"header": np.asarray("[1, 2]")},
    "a number for a header": {"header": np.asarray("5")},
    "null for a header": {"header": np.asarray("null")},
    "a word for a header": {"header": np.asarray('"words"')},
    "a header of numbers": {"header": np.ones(3)},
    "a header of bytes": {"header": np.asarray(json.dumps(HEADER).encode())},
    "a header nested without end": {"header": np.asarray("[" * 100_000)},
    "objects nested without end": {"header": np.asarray('{"a":' * 100_000)},
    "a pickle for a header": {"header": npy(np.array(HEADER, dtype=object), allow_pickle=True)},
    "a pickle for a factor": {"row_factor": npy(np.array([[{}]], dtype=object), allow_pickle=True)},
    "a pickle in a field": {"row_factor": forged({"descr": [("a", "|O")]}, bytes(24))},
    "integers for a factor": {"row_factor": W.astype(int)},
    "complex numbers for a factor": {"row_factor": W * 1j},
    "words for a factor": {"row_factor": W.astype(str)},
    "dates for a factor": {"row_factor": np.zeros((3, 1), dtype="M8[D]")},
    "records for a factor": {"row_factor": np.zeros((3, 1), dtype=[("a", "<f8")])},
    "a vector for a factor": {"row_factor": np.ones(3)},
    "a number for a factor": {"row_factor": np.float64(3.0)},
    "NaN in a factor": {"row_factor": W * np.nan},
    "infinity in a factor": {"col_factor": H * np.inf},
    "NaN in the core": {"core": np.full((1, 1), np.nan)},
    "factors that do not multiply": {"row_factor": np.ones((3, 2))},
    "a core that does not fit": {"core": np.ones((2, 2))},
    "labels that do not fit": {"row_labels": np.zeros(4, dtype=int)},
    "fractions for labels": {"row_labels": np.zeros(3)},
    "numbers for names": {"row_names": np.arange(3)},
    "names that do not fit": {"col_names": np.array(["a", "b", "c"])},
    "weights that do not fit": {"row_weights": np.ones((2, 1))},
    "indices that the header does not announce": {"row_indices": np.array([0])},
    "an empty array file": {"row_factor": b""},
    "half a magic number": {"row_factor": b"\x93NUM"},
    "text for an array file": {"row_factor": b"1,2,3\n"},
    "an array file of an unknown version": {"row_factor": b"\x93NUMPY\x09\x00" + npy(W)[8:]},
    "an array file without its data": {"row_factor": npy(W)[:-24]},
    "an array file with a byte missing": {"row_factor": npy(W)[:-1]},
    "an array file with a byte too many": {"row_factor": npy(W) + b"\0"},
    "a shape of 10**15 entries": {"row_factor": forged({"shape": (10**15, 1)}, bytes(24))},
    "a shape beyond int64": {"row_factor": forged({"shape": (10**30, 1)}, bytes(24))},
    "a shape whose product wraps to 3": {"row_factor": forged({"shape": (2**64 + 3, 1)}, bytes(24))},
    "names of no length, 10**15 of them": {"row_names": forged({"descr": "<U0", "shape": (10**15,)})},
    "a negative shape": {"row_factor": forged({"shape": (-3, 1)}, bytes(24))},
    "a shape of two negative numbers": {"row_factor": forged({"shape": (-3, -1)}, bytes(24))},
    "a shape of fractions": {"row_factor": forged({"shape": (3.0, 1)}, bytes(24))},
    "a shape of words": {"row_factor": forged({"shape": ("a",)}, bytes(24))},
    "a type that is code": {"row_factor": forged({"descr": "__import__('os')"}, bytes(24))},
    "a type that is no type": {"row_factor": forged({"descr": 5}, bytes(24))},
    "a type of arrays": {"row_factor": forged({"descr": ("<f8", (2,))}, bytes(48))},
    "an array header that is no dict": {"row_factor": forged(b"5")},
    "an array header of brackets": {"row_factor": forged(b"(" * 9000)},
    "an array header of signs": {"row_factor": forged(b"{'shape': (" + b"-" * 9000 + b"1,)}")},
    "an array header of sums": {"row_factor": forged(b"{'shape': (" + b"1+" * 4500 + b"1,)}")},
    "an array header of raw bytes": {"row_factor": forged(bytes(range(1, 255)))},
    "an array header too long to trust": {"row_factor": forged(b" " * 20_000)},
    **{
        f"a header with {field}={value!r}": {"change": {field: value}}
        for field, value in [
            ("format", "numpy"),
            ("format", None),
            ("version", 2),
            ("version", "1"),
            ("version", True),
            ("version", None),
            ("meta", [1, 2]),
            ("meta", None),
        ]
    },
    **{
        f"a header with selection={value!r}": {"change": {"selection": value}, "row_indices": np.array([0])}
        for value in (
            *(5, None, {}),
            *(REPORT | change for change in ({"gap": "small"}, {"n_iter": "many"}, {"history": 5}, {"history": "ab"})),
        )
    },
    "a header with a list for a scaling": {"change": {"scaling": ["rows"]}, **SCALES},
    "a header with null for a scaling": {"change": {"scaling": None}, **SCALES},
    **{
        f"a scaling with {what}": {"change": {"scaling": "rows"}, **SCALES, **change}
        for what, change in {
            "rows too many": {"scaling_rows": np.ones(4)},
            "columns too many": {"scaling_cols": np.ones(3)},
            "rows in a matrix": {"scaling_rows": np.ones((3, 1))},
            "rows of zero": {"scaling_rows": np.zeros(3)},
            "negative columns": {"scaling_cols": -np.ones(2)},
            "rows that are NaN": {"scaling_rows": np.full(3, np.nan)},
            "no rows": {"scaling_rows": None},
            "no columns": {"scaling_cols": None},
        }.items()
    },
}


def not_readable(*words):
    return refused("path", "model.npz", "is not a readable factorization", *words, "Factorization.save")


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_under_its_path(case, path):
    write(path, **HOSTILE[case])
    with not_readable():
        Factorization.load(path)


@pytest.mark.parametrize("field", HEADER)
def test_a_header_with_a_field_missing_is_refused(field, path):
    write(path, header=np.asarray(json.dumps({name: value for name, value in HEADER.items() if name != field})))
    with not_readable(field):
        Factorization.load(path)


@pytest.mark.parametrize(
    "positions", [[99], [-1], [0, 0], np.zeros(0, dtype=int), np.uint64([2**64 - 1]), [0.0], [True], [[0]]], ids=repr
)
@pytest.mark.parametrize("side", ["row_indices", "col_indices"])
def test_a_file_with_indices_that_do_not_fit_its_factors_is_refused(side, positions, path):
    write(path, {"selection": REPORT}, **{side: np.array(positions)})
    with not_readable(side):
        Factorization.load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "name", ["row_factor.npy", "row_factor", "extra.npy", "../../row_factor.npy", "notes.txt", "folder/", "zeros.npy"]
)
def test_a_file_with_an_unexpected_entry_is_refused_before_that_is_unpacked(name, path):
    write(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, npy(np.zeros(1 << 22)))
    assert path.stat().st_size < 1e6

    def load():
        with not_readable("unexpected entry", re.escape(repr(name))):
            Factorization.load(path)

    assert peak(load)[1] < 8e6  # it would be 32 MB


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a full file."""
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    Factorization(
        np.array([[0.25], [1 / 3], [0.0]]),
        np.array([[3.0]]),
        np.array([[1.0, 1 / 7]]),
        selection=Selection(np.array([1]), np.array([0]), gap=1e-5, n_iter=2, history=((0.5, None),)),
        row_labels=np.array([0, 0, -1]),
        col_names=np.array(["tea", "jam"]),
        scaling=Scaling("degree", np.array([1.0, 2.0, 1.0]), np.array([1.0, 0.5])),
        meta={"objective": [0.5, 0.25]},
    ).save(path)
    return path.read_bytes()


def outcome(path, content):
    """Return what loading these bytes gives: all of the record as text, "refused", or the name of an exception."""
    path.write_bytes(content)
    try:
        loaded = Factorization.load(path)
    except ValueError as error:
        return "refused" if "is not a readable factorization" in str(error) else str(error)
    except Exception as error:  # noqa: BLE001 - the exceptions that must not come out are what is looked for
        return type(error).__name__
    records = [vars(record) for record in (loaded, loaded.selection, loaded.scaling) if record is not None]
    plain = [part for record in records for part in record.values() if not isinstance(part, (Selection, Scaling))]
    return repr([part.tolist() if isinstance(part, np.ndarray) else part for part in plain])


def damage(path, content, positions, mask):
    """Return the outcome for each position at which changing a byte is neither noticed nor harmless."""
    intact = outcome(path, content)
    assert intact.startswith("[")
    changed = {at: content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :] for at in positions}
    results = {at: outcome(path, damaged) for at, damaged in changed.items()}
    return {at: result for at, result in results.items() if result not in {"refused", intact}}


def test_a_file_cut_off_anywhere_is_refused(saved, path):
    results = {length: outcome(path, saved[:length]) for length in range(0, len(saved), 11)}
    assert {length: result for length, result in results.items() if result != "refused"} == {}


@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x20, 0x80])
def test_a_file_with_a_byte_changed_is_refused_or_gives_what_was_saved(mask, saved, path):
    assert damage(path, saved, range(mask % 7, len(saved), 7), mask) == {}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_a_damaged_file_packed_in_another_way_is_refused_or_read(method, path):
    write(path, method=method)
    content = path.read_bytes()
    assert damage(path, content, range(0, len(content), 5), 0xFF) == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"not a zip file", b"PK", b"PK\x05\x06" + bytes(18), npy(W), b"\x80\x04}\x94."],
    ids=["empty", "one byte", "text", "two letters", "an empty zip", "a single array", "a pickle"],
)
def test_a_file_that_is_no_archive_of_arrays_is_refused(content, path):
    path.write_bytes(content)
    with not_readable():
        Factorization.load(path)


def test_an_archive_of_other_arrays_is_refused(path):
    np.savez(path, W=W, H=H)
    with not_readable("unexpected entry 'W.npy'"):
        Factorization.load(path)


def test_a_folder_is_refused_and_a_missing_file_is_missing(tmp_path):
    with refused("path", re.escape(tmp_path.name)):
        Factorization.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Factorization.load(tmp_path / "nowhere.npz")
    with refused("path"):
        Factorization.load("a\0b")
