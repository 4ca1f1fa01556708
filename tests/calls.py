"""Every public function that takes a matrix, called on one small matrix, and what its answer is compared with."""

import copy
import re
import tracemalloc
from functools import cache

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
    Selection,
    TriSymmetricNMF,
    both_sides,
    choose_rank,
    cosfgm,
    cur,
    explain,
    fgm,
    greedy,
    gsfgm,
    gspa,
    mix,
    mix_generalized,
    predictive,
    predictive_columns,
    preselect,
    preselected,
    relative_approximation,
    selection_path,
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
from cosep.select.cur import METHODS
from cosep.theory import (
    compress,
    extreme_rays,
    from_cur,
    is_coseparable,
    is_generalized_separable,
    is_separable,
    is_unique,
    minimal_coseparable,
    to_cur,
)

# Counts, exact in every type and format, a third of them zero; co-(4, 4)-separable except for a few added ones.
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
CUR = Factorization(X[:, CHOSEN.col_indices], np.eye(4), X[CHOSEN.row_indices], selection=CHOSEN)
# The factors of a matrix of ones.
W, H = np.ones((3, 1)), np.ones((1, 2))
ONES = Factorization(W, None, H)

# What is not a list of distinct positions.
NOT_POSITIONS = {
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

dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


def names(parameter, *words):
    """Return a pattern for messages that name the parameter and contain all the words, in any order."""
    return rf"(?s)(?=.*\b{parameter}\b)" + "".join(f"(?=.*{word})" for word in words)


def refused(parameter, *words):
    """Expect a ValueError that names the parameter and contains the words."""
    return pytest.raises(ValueError, match=names(parameter, *words))


def right_or_refused(call, is_right, parameter):
    """Assert that the call returns a right answer, or raises a ValueError that names the parameter."""
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
    """Return the error and the labels of the factors."""
    fit = mixer(A, selection)
    return [fit.relative_error(A), fit.row_labels.tolist(), fit.col_labels.tolist()]


def factored(nmf, A, *rank):
    """Return the error and the labels of a factorization that selects nothing."""
    fit = nmf(A, *rank)
    error = fit.relative_error(GramMatrix(as_matrix(A)) if nmf is trisymmetric else A)
    return [error, fit.row_labels.tolist(), fit.col_labels.tolist()]


def estimated(model, A):
    """Return the error and the labels of a fitted estimator."""
    model.fit(A)
    error = model.reconstruction_err_ / np.ldexp(np.sqrt(as_matrix(A).squared_norm()), as_matrix(A)._exponent)
    return [error, model.row_labels_.tolist(), model.column_labels_.tolist()]


def ordered(A):
    """Return the shares along the path of the selected rows and columns."""
    path = selection_path(A, fit())
    return np.concatenate([path.rows, path.cols, path.core, path.bound]).tolist()


def figures(record, *columns):
    """Return some columns of both tables of a record, one after the other."""
    return np.concatenate([side[column] for side in (record.rows, record.cols) for column in columns]).tolist()


@cache
def fit():
    """Return the factors of X by the selected rows and columns."""
    return mix(X, CHOSEN)


@cache
def completer():
    """Return a fitted model that completes rows."""
    return CoSeparableNMF(4, 4, method=lambda *_sizes: CHOSEN).fit(X)


CORNERS = {
    "spa": lambda A: indices(spa(A, 4)),
    "snpa": lambda A: indices(snpa(A, 4)),
    "xray": lambda A: indices(xray(A, 4)),
    "fgm": lambda A: indices(fgm(A, 4)),
    "both_sides(spa)": lambda A: indices(both_sides(spa)(A, 4, 4)),
    "cosfgm": lambda A: indices(cosfgm(A, 4, 4)),
}
CURS = {f"cur by {method}": (lambda A, method=method: indices(cur(A, 4, 4, method=method))) for method in METHODS}
SELECTORS = {
    **CORNERS,
    **CURS,
    "preselect": lambda A: [None, preselect(A, 6).representatives.tolist()],
    "preselected": lambda A: indices(preselected(both_sides(spa), 8, 7)(A, 4, 4)),
    "greedy": lambda A: indices(greedy(A, 4)),
    "predictive_columns": lambda A: indices(predictive_columns(A, 4)),
    "predictive": lambda A: indices(predictive(A, 4, 4)),
    "gspa": lambda A: indices(gspa(A, n_rows=2, n_cols=3)),
    "gsfgm": lambda A: indices(gsfgm(A, n_rows=2, n_cols=3, max_iter=100)),
}
MIXERS = {
    "mix": lambda A: mixed(A, CHOSEN),
    "mix with rows only": lambda A: mixed(A, ROWS),
    "mix with columns only": lambda A: mixed(A, COLS),
    "mix_generalized": lambda A: mixed(A, CHOSEN, mix_generalized),
}
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
    "relative_error": lambda A: fit().relative_error(A),
    "relative_approximation": lambda A: relative_approximation(A, fit()),
    "completion_score": lambda A: completer().completion_score(A),
    "column_scores": lambda A: np.nan_to_num(completer().column_scores(A).error).tolist(),
}
SCORES = {
    "choose_rank": lambda A: choose_rank(A, [3], method="spa").table["error"][0],
}
ASSESSMENTS = {
    "explain": lambda A: figures(explain(A, fit()), "share", "loss", "runner_up_loss", "size"),
    "selection_path": ordered,
    "stability": lambda A: figures(stability(A, CHOSEN, method="spa", n_draws=3), "frequency", "similarity"),
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
THEORY = QUESTIONS | {
    "to_cur": lambda A: [to_cur(A, CHOSEN).relative_error(A)],
    "from_cur": lambda A: [from_cur(A, CUR).residual],
}
# What does not depend on the scale of the matrix.
SCALE_FREE = SELECTORS | MIXERS | NMFS | SCORES | ASSESSMENTS | SCALERS | QUESTIONS
CALLS = SCALE_FREE | ESTIMATORS | MEASURES | THEORY


@cache
def expected(function):
    """Return the answer for the float64 array X."""
    return CALLS[function](X)


def assert_same_answer(function, data, rel=1e-9, answer_for_x=None):
    """Compare indices exactly and numbers closely with the answer for the float64 array."""
    answer, right = CALLS[function](data), expected(function) if answer_for_x is None else answer_for_x
    if function in SELECTORS:
        assert answer == right, function
    elif function in MIXERS | NMFS | ESTIMATORS:
        # An alternation makes rounding errors larger.
        assert answer[0] == pytest.approx(right[0], rel=rel if function in MIXERS else max(rel, 1e-5)), function
        assert answer[1:] == right[1:], function
    else:
        assert answer == pytest.approx(right, rel=rel), function


def read_only(data):
    """Return a copy that cannot be written to."""
    data = data.copy()
    data.setflags(write=False)
    return data


def fingerprint(data):
    """Return everything that is stored in an array, a data frame, a list or a sparse matrix, as bytes and flags."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return [data.tobytes(), data.strides, str(data.dtype), data.shape, data.flags.writeable, type(data)]
    if sp.issparse(data):
        # Whether the indices are sorted is something that scipy computes on demand and stores: not part of the matrix.
        parts = {key: part for key, part in vars(data).items() if not key.startswith(("_has_", "has_"))}
        return [type(data), data.shape, fingerprint(parts)]
    if isinstance(data, pd.DataFrame):
        return [data.to_dict(), list(data.dtypes)]
    if isinstance(data, dict):
        return [(key, fingerprint(part)) for key, part in data.items()]
    if isinstance(data, (tuple, list)):
        return [fingerprint(part) for part in data]
    return copy.deepcopy(data.tolist() if isinstance(data, np.ndarray) else data)


def peak(call):
    """Return the answer of a call and the most bytes that were allocated at any moment of it."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
