"""Every public function that takes a matrix checks it, accepts every kind of it and does not depend on its scale.

What `as_matrix` accepts and refuses is tested in tests/matrix; here a few examples show that each function calls it.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from calls import (
    CALLS,
    CORNERS,
    CURS,
    ESTIMATORS,
    NMFS,
    SCALE_FREE,
    X,
    assert_same_answer,
    expected,
    fingerprint,
    read_only,
    refused,
)
from cosep.nmf.minvol import minvol

every_function = pytest.mark.parametrize("function", CALLS)


def with_entry(value):
    data = X.copy()
    data[2, 3] = value
    return data


def broken():
    A = sp.csr_array(X)
    A.indices = A.indices + 10
    return A


BAD_DATA = {
    "NaN": (with_entry(np.nan), ("NaN", "1 of")),
    "infinity in a sparse matrix": (sp.csr_array(with_entry(np.inf)), ("infinity", "clip")),
    "no rows": (np.zeros((0, 10)), (r"shape=\(0, 10\)", "at least one row")),
    "no columns in a sparse matrix": (sp.coo_array((12, 0)), (r"shape=\(12, 0\)", "at least one column")),
    "None": (None, ()),
    "text": ("counts.csv", ()),
    "a vector": (X[0], ()),
    "three dimensions": (np.ones((2, 2, 2)), ()),
    "complex numbers": (X * 1j, ()),
    "masked entries": (np.ma.masked_array(X, mask=X > 60), ()),
    "a data frame of words": (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), ()),
    "a broken sparse matrix": (broken(), ()),
}


@every_function
def test_bad_data_is_refused_under_its_name(function):
    for data, words in BAD_DATA.values():
        with refused("X", *words):
            CALLS[function](data)


@pytest.mark.parametrize("function", [name for name in CALLS if name not in CURS])
def test_negative_entries_are_refused_unless_the_method_takes_any_sign(function):
    for data in (with_entry(-0.5), sp.csc_array(with_entry(-0.5))):
        with refused("X", "Negative", "-0.5", ">= 0", "maximum"):
            CALLS[function](data)


def locked(A):
    for part in (A.data, A.indices, A.indptr):
        part.setflags(write=False)
    return A


# The kinds that differ after `as_matrix`, none of which can be written to, and some that it converts.
KINDS = {
    "read-only": read_only(X),
    "read-only, Fortran order": read_only(X.T).T,
    "read-only csr": locked(sp.csr_array(X)),
    "read-only csc": locked(sp.csc_matrix(X)),
    "float32": read_only(X.astype(np.float32)),
    "nested lists": X.tolist(),
    "a data frame": pd.DataFrame(X),
    "small integers in coordinates": sp.coo_array(X.astype(np.uint8)),
}


@every_function
def test_kinds_of_matrix_give_the_same_answer_and_are_not_modified(function):
    for name, data in KINDS.items():
        before = fingerprint(data)
        assert_same_answer(function, data, rel=1e-4 if name == "float32" else 1e-9)
        assert fingerprint(data) == before, name


@pytest.mark.parametrize("function", CORNERS)
def test_corners_are_the_planted_columns(function):
    assert expected(function)[1] == [2, 3, 4, 6]


@pytest.mark.filterwarnings("ignore:The core is degenerate", "ignore:scaling='sinkhorn' did not balance")
@every_function
def test_truth_values_count_as_zeros_and_ones(function):
    truth = X > 8
    answer = CALLS[function](truth.astype(float))
    for form in (np.asarray, sp.lil_array):
        assert_same_answer(function, form(truth), answer_for_x=answer)


# From 2**200 on, and below 2**-200, a matrix is divided by a power of two; 1e58 and 1e-60 are just not.
LARGEST = np.finfo(np.float64).max / X.max()
MULTIPLES = [
    (1e58, sp.csr_array),
    (1e150, np.asarray),
    (LARGEST, np.asarray),
    (LARGEST, sp.csr_array),
    (1e-60, np.asarray),
    (1e-150, sp.csr_array),
    (1e-310, np.asarray),
]


@pytest.mark.parametrize("function", SCALE_FREE)
def test_a_multiple_of_a_matrix_gives_the_same_answer(function):
    for factor, form in MULTIPLES:
        if function == "minvol" and factor == LARGEST:
            with refused("X", "largest float", "divide"):
                minvol(form(X * factor), 3)
        else:
            assert_same_answer(function, form(X * factor), rel=1e-6)
    for factor in (1e36, 1e-36):
        assert_same_answer(function, (X * factor).astype(np.float32), rel=1e-3)


@every_function
def test_tiny_entries_beside_large_ones_in_their_row_and_column_count_as_zeros(function):
    rel = 1e-4 if function in NMFS | ESTIMATORS else 1e-9  # A-HALS does more sweeps if there are more entries
    for form in (np.asarray, sp.csr_array):
        assert_same_answer(function, form(np.where(X == 0, 1e-300, X)), rel=rel)
