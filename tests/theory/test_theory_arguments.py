"""Arguments of questions about a matrix that are out of range: a ValueError that names the argument."""

import numpy as np
import pytest

from calls import CHOSEN, CUR, H, W, X, refused
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


@pytest.mark.parametrize("value", [-1, None])
def test_a_tolerance_out_of_range_is_refused(value):
    for call in (
        lambda: is_separable(X, [0], tol=value),
        lambda: extreme_rays(X, tol=value),
        lambda: is_coseparable(X, CHOSEN, tol=value),
        lambda: minimal_coseparable(X, tol=value),
        lambda: compress(X, CHOSEN, tol=value),
        lambda: is_unique(X, tol=value),
        lambda: is_generalized_separable(X, CHOSEN, tol=value),
        lambda: to_cur(X, CHOSEN, tol=value),
        lambda: from_cur(X, CUR, tol=value),
        lambda: from_biorthogonal(W, np.eye(1), H, tol=value),
    ):
        with refused("tol", "number"):
            call()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (("tol=1.5", "from 1e-07 to 1"), lambda: extreme_rays(X, tol=1.5)),
        (("tol=1e-09", "from 1e-07 to 1"), lambda: minimal_coseparable(X, tol=1e-9)),
        (("callback=3", "function"), lambda: minimal_coseparable(X, callback=3)),
    ],
)
def test_a_tolerance_has_two_limits_and_a_callback_is_a_function(words, call):
    with refused(*words):
        call()
