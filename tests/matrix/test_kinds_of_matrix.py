"""Every kind of array and sparse matrix: the same entries, and an input that is not modified."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from calls import (
    X,
    assert_same_answer,
    fingerprint,
    indices,
    read_only,
    refused,
)
from cosep import (
    Selection,
    mix,
    spa,
)
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix


class Subclass(np.ndarray):
    """A subclass, as memory maps are."""


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


FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
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


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("case", FORMS)
def test_any_kind_of_matrix_has_the_same_entries_and_is_not_modified(case):
    data = FORMS[case]()
    before = fingerprint(data)
    M = as_matrix(data)
    np.testing.assert_array_equal(M.take(), X)
    np.testing.assert_array_equal(M.gram(), X.T @ X)
    np.testing.assert_array_equal(M.dot(np.eye(10)), X)
    assert M.dtype == (np.float32 if "float32" in case else np.float64)
    for function in ("spa", "mix"):
        assert_same_answer(function, data, rel=1e-4 if "float32" in case else 1e-9)
    assert fingerprint(data) == before


@pytest.mark.parametrize("form", [np.asarray, *(getattr(sp, f"{fmt}_array") for fmt in FORMATS)])
def test_truth_values_are_zeros_and_ones(form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        np.testing.assert_array_equal(as_matrix(form(X > 8)).take(), (X > 8).astype(float))


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
