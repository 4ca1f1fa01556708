"""Arguments of mix and mix_generalized that are out of range or of the wrong kind: a ValueError that names them."""

import re

import numpy as np
import pandas as pd
import pytest

from calls import CHOSEN, X, dense_and_sparse, expected, mixed, refused
from cosep import Selection, mix, mix_generalized
from cosep.utils.messages import shown

both_mixers = pytest.mark.parametrize("mixer", [mix, mix_generalized])


@both_mixers
def test_iterations_tolerance_and_callback_are_checked(mixer):
    for value in (0, 2.5):
        with refused("max_iter", "whole number of at least 1", re.escape(shown(value))):
            mixer(X, CHOSEN, max_iter=value)
    for value in (-1, "a"):
        with refused("tol", "number"):
            mixer(X, CHOSEN, tol=value)
    with refused("callback"):
        mixer(X, CHOSEN, callback=3)


@dense_and_sparse
@both_mixers
def test_positions_beyond_the_last_are_refused(mixer, form):
    for side, data in (("row_indices", form(X)), ("col_indices", form(X.T))):
        for other in (None, [2, 1]):
            with refused(side, "= 11"):
                mixer(data, Selection(**{"row_indices": other, "col_indices": other, side: [0, 12]}))


@pytest.mark.parametrize("selection", [None, ([0], [1]), [0, 1], {"row_indices": [0]}, Selection(None, None)], ids=repr)
@both_mixers
def test_anything_but_a_selection_of_something_is_refused(mixer, selection):
    with refused("selection", "Selection", "row_indices, col_indices or both"):
        mixer(X, selection)


@pytest.mark.parametrize("make", [list, tuple, np.int8, np.uint64, pd.Index])
def test_any_sequence_of_whole_numbers_selects(make):
    assert mixed(X, Selection(make([2, 4, 10, 11]), make([2, 3, 4, 6]))) == expected("mix")
