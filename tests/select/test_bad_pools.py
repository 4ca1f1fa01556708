"""Pools that are not lists of positions, too small or too full."""

import pytest

from calls import NOT_POSITIONS, X, refused
from cosep import (
    Pool,
    both_sides,
    cosfgm,
    preselected,
    spa,
)
from cosep.select import COLUMN_SELECTORS

POOLS = {
    **{
        name: ("pool", lambda pool, selector=selector: selector(X.T, 3, pool=pool))
        for name, selector in COLUMN_SELECTORS.items()
    },
    **{
        name: ("pool", lambda pool, selector=selector: selector(X.T, 3, pool=pool))
        for name, selector in COLUMN_SELECTORS.items()
    },
    "both_sides(spa)": ("row_pool", lambda pool: both_sides(spa)(X, 3, 3, row_pool=pool)),
    "cosfgm": ("col_pool", lambda pool: cosfgm(X.T, 3, 3, col_pool=pool)),
    "preselected": ("col_pool", lambda pool: preselected(cosfgm, 6, 6)(X.T, 3, 3, col_pool=pool)),
}


@pytest.mark.parametrize("case", NOT_POSITIONS)
def test_a_pool_of_what_are_not_positions_is_refused(case):
    name, call = POOLS["spa"]
    with refused(rf"{name}\.candidates"):
        call(Pool(candidates=NOT_POSITIONS[case]))
    if "empty" not in case:
        with refused(rf"{name}\.include"):
            call(Pool(include=NOT_POSITIONS[case]))


@pytest.mark.parametrize("function", POOLS)
def test_a_pool_of_the_wrong_kind_or_size_is_refused_by_every_selector(function):
    name, call = POOLS[function]
    for positions in ([0, 12], [0.0, 1.0]):
        with refused(rf"{name}\.candidates"):
            call(Pool(candidates=positions))
        with refused(rf"{name}\.include"):
            call(Pool(include=positions))
    for pool in ([0, 1, 2], {"include": [0]}, 3):
        with refused(name, "Pool"):
            call(pool)
    with refused(name, "2 candidates", "fewer or allow more"):
        call(Pool(candidates=[0, 1]))
    with refused(rf"{name}\.include", "names 4", "=3"):
        call(Pool(include=[0, 1, 2, 3]))
