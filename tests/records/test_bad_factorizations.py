"""Factorizations of wrong parts, and errors of factors of any scale."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from calls import (
    ONES,
    H,
    W,
    read_only,
    refused,
)
from cosep import (
    Factorization,
    Scaling,
    Selection,
    relative_approximation,
)


def test_a_reconstruction_that_is_zero_explains_an_all_zero_matrix():
    disjoint = Factorization(np.array([[1.0, 0.0], [1.0, 0.0]]), None, np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert not disjoint.reconstruct().any()
    assert disjoint.relative_error(np.zeros((2, 2))) == 0.0


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
def test_a_large_error_is_returned_as_it_is(factor):
    far = Factorization(W * factor, None, H)
    assert far.relative_error(np.ones((3, 2))) == pytest.approx(factor)
    assert relative_approximation(np.ones((3, 2)), far) == pytest.approx(-factor)


@pytest.mark.parametrize(("dtype", "size"), [(np.uint8, 200), (np.int8, 100), (np.float16, 300), (np.float32, 1e30)])
def test_products_of_factors_of_narrow_types_do_not_overflow(dtype, size):
    fit = Factorization(np.full((3, 1), size, dtype), np.full((1, 1), size, dtype), H.astype(dtype))
    expected = np.full((3, 2), float(dtype(size)) ** 2)
    assert fit.relative_error(expected) < 1e-3
    np.testing.assert_allclose(fit.reconstruct(), expected)


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


NOT_FACTORS = {
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


@pytest.mark.parametrize("case", NOT_FACTORS)
def test_a_factor_that_is_not_a_real_matrix_is_refused(case):
    factor, word = NOT_FACTORS[case]
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
    if factors is not None:
        with refused("row_copies", "scaling"):
            Scaling("degree", np.ones(2), np.ones(2), factors)
    with refused("row_copies", "2 numbers"):
        Scaling("degree", np.ones(2), np.ones(2), np.ones(3))


@pytest.mark.parametrize("rows", [[3], [-4], 3, "all", [0.5], [True]], ids=repr)
def test_rows_that_are_not_there_are_not_reconstructed(rows):
    with refused("rows"):
        ONES.reconstruct(rows)
