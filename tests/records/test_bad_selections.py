"""Selections of what are not positions."""

import pytest

from calls import NOT_POSITIONS, refused
from cosep import (
    Selection,
)


@pytest.mark.parametrize("side", ["row_indices", "col_indices"])
@pytest.mark.parametrize("case", NOT_POSITIONS)
def test_a_selection_of_what_are_not_positions_is_refused(case, side):
    for other in (None, [2, 1]):
        with refused(side):
            Selection(**{"row_indices": other, "col_indices": other, side: NOT_POSITIONS[case]})


@pytest.mark.parametrize(
    ("name", "value"),
    [("gap", "small"), ("gap", [0.1]), ("gap", 1j), ("n_iter", "many"), ("n_iter", 2.5), ("history", [0.5])],
)
def test_a_selection_with_a_report_of_the_wrong_kind_is_refused(name, value):
    with refused(name):
        Selection([0], None, **{name: value})
