"""Selectors that choose on a scaled matrix."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cosep import both_sides, faithful, fgm, preselected, spa
from cosep.matrix.scaling import SCALINGS, scale
from cosep.select.scaled import scaled

COUNTS = np.random.default_rng(4).poisson(0.7, size=(30, 25)).astype(float)


def same(one, other):
    for side in ("row_indices", "col_indices"):
        np.testing.assert_array_equal(getattr(one, side), getattr(other, side))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_it_selects_what_the_selector_selects_on_the_scaled_matrix(scaling):
    same(scaled(faithful, scaling)(COUNTS, 3, 4), faithful(scale(COUNTS, scaling)[0], 3, 4))


def test_sizes_and_options_are_passed_on():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        chosen = scaled(fgm, "rows")(COUNTS, 3, solver="fast-gradient", max_iter=7)
    assert chosen.n_iter == 7


def test_combinators_combine():
    plain = scale(COUNTS + 0.1, "degree")[0].raw
    same(
        scaled(preselected(both_sides(spa), 20, 20), "degree")(COUNTS + 0.1, 3, 3),
        preselected(both_sides(spa), 20, 20)(plain, 3, 3),
    )


def test_no_scaling_is_the_selector_itself():
    assert scaled(spa, None) is spa


@pytest.mark.parametrize(
    ("selector", "scaling", "message"), [("spa", None, "selector='spa'"), (spa, "rank", "scaling='rank'")]
)
def test_bad_arguments_are_named(selector, scaling, message):
    with pytest.raises(ValueError, match=message):
        scaled(selector, scaling)
