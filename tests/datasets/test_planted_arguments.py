"""Arguments of make_coseparable that are out of range, and the smallest planted matrices."""

import re

import numpy as np
import pytest

from calls import refused, right_or_refused
from cosep import make_coseparable
from cosep.utils.messages import shown


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        *((name, 0, ("whole number of at least 1",)) for name in ("m", "n", "r1", "r2")),
        *((name, 2.5, ("whole number of at least 1",)) for name in ("m", "n", "r1", "r2")),
        ("noise", -1, ("number",)),
        ("noise", None, ("number",)),
        ("protocol", "no such choice", ("'scale-first'",)),
        ("protocol", None, ("'scale-first'",)),
        ("permute", "no", ()),
        ("random_state", "seed", ()),
    ],
)
def test_a_wrong_argument_is_refused_under_its_name(parameter, value, words):
    with refused(parameter, re.escape(shown(value)), *words):
        make_coseparable(**{"random_state": 0, parameter: value})


def test_more_rows_or_columns_than_there_are_cannot_be_planted():
    with refused("r1", "r1=6", "at most m=5"):
        make_coseparable(5, 5, 6, 2)
    with refused("r2", "r2=6", "at most n=5"):
        make_coseparable(5, 5, 2, 6)


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
