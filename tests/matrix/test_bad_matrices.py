"""Data that is not a nonnegative matrix of numbers: a ValueError that names X."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from calls import (
    ESTIMATORS,
    SELECTORS,
    X,
    dense_and_sparse,
    expected,
    names,
    refused,
    right_or_refused,
)
from cosep import (
    spa,
)
from cosep.matrix.validation import as_matrix

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
@pytest.mark.parametrize("form", [np.asarray, *(getattr(sp, f"{fmt}_array") for fmt in FORMATS)])
@pytest.mark.parametrize("case", REFUSED_ENTRIES)
def test_entries_that_are_not_nonnegative_numbers_are_refused_and_named(form, case):
    entries, words = REFUSED_ENTRIES[case]
    data = X.copy()
    data[2, 3 : 3 + len(entries)] = entries
    with refused("X", *words):
        as_matrix(form(data))


@pytest.mark.parametrize("form", [np.asarray, *(getattr(sp, f"{fmt}_array") for fmt in ("csr", "csc", "coo"))])
def test_a_matrix_without_rows_or_columns_is_refused(form):
    for shape, what in (((0, 10), "row"), ((12, 0), "column"), ((0, 0), "row")):
        with refused("X", re.escape(f"shape={shape}"), f"at least one {what}"):
            as_matrix(form(np.zeros(shape)))


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
def test_data_that_is_not_a_real_matrix_is_refused_under_its_name(case):
    for call in (as_matrix, SELECTORS["spa"], ESTIMATORS["HALSNMF"]):
        with refused("X"):
            call(REFUSED_DATA[case])


@pytest.mark.parametrize("case", ["a dict", "integers beyond float64"])
def test_entries_that_numpy_cannot_convert_raise_a_type_error_too(case):
    with pytest.raises(TypeError, match=names("X")):
        spa(REFUSED_DATA[case], 1)


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="long double is float64 here")
@dense_and_sparse
def test_long_doubles_beyond_float64_are_refused_without_a_warning(form):
    with refused("X", "infinity"):
        spa(form(X.astype(np.longdouble) * np.longdouble("1e4000")), 2)


def test_a_data_frame_of_sparse_columns_is_read_or_refused():
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csc_array(X))
    right_or_refused(lambda: SELECTORS["spa"](frame), lambda answer: answer == expected("spa"), "X")


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
def test_a_sparse_matrix_of_broken_parts_is_refused_under_its_name(case):
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
