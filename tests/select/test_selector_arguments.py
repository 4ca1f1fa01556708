"""Arguments of selectors that are out of range or of the wrong kind: a ValueError that names the argument.

What is wrong is tested in tests/matrix/test_argument_checks.py; here two values show that each argument is checked.
"""

import re
from functools import partial
from inspect import signature

import numpy as np
import pytest

from calls import X, expected, indices, refused
from cosep import (
    Selection,
    both_sides,
    cosfgm,
    cur,
    fgm,
    greedy,
    gsfgm,
    gspa,
    preselect,
    preselected,
    snpa,
    spa,
    xray,
)
from cosep.matrix.scaling import scale
from cosep.select import COLUMN_SELECTORS, EITHER_SELECTORS
from cosep.utils.messages import shown


@pytest.mark.parametrize("value", [0, 2.5], ids=repr)
def test_a_count_must_be_a_positive_whole_number(value):
    for parameter, call in (
        *(("r", partial(selector, X, value)) for selector in {**COLUMN_SELECTORS, **EITHER_SELECTORS}.values()),
        *(("n_rows", partial(selector, X, value, 3)) for selector in (cur, both_sides(spa), cosfgm)),
        *(("n_cols", partial(selector, X, 3, value)) for selector in (cur, both_sides(spa), cosfgm)),
        ("n", lambda: preselect(X, value)),
        ("n_rows", lambda: preselected(cosfgm, 6, 6)(X, value, 3)),
        ("r", lambda: preselected(spa, cols=6)(X, value)),
        ("max_iter", lambda: gsfgm(X, 3, max_iter=value)),
        ("max_iter", lambda: fgm(X, 3, max_iter=value)),
        ("max_iter", lambda: cosfgm(X, 3, 3, max_iter=value)),
    ):
        with refused(parameter, "whole number of at least 1", re.escape(shown(value))):
            call()


@pytest.mark.parametrize("selector", [gspa, gsfgm])
def test_a_count_of_one_side_must_be_a_whole_number_and_may_be_zero(selector):
    for value in (-1, 2.5):
        for name in ("n_rows", "n_cols"):
            with refused(name, "whole number of at least 0", re.escape(shown(value))):
                selector(X, **{"n_rows": 2, "n_cols": 2, name: value})
    assert selector(X, n_rows=0, n_cols=2).row_indices is None


@pytest.mark.parametrize(
    ("words", "call"),
    [
        *[(("r=11", "at most n_features=10", "fewer"), partial(f, X, 11)) for f in COLUMN_SELECTORS.values()],
        *[(("r=23", "at most n_samples \\+ n_features=22"), partial(f, X, 23)) for f in (gspa, gsfgm)],
        *[(("r=None", "n_rows=None"), partial(selector, X)) for selector in (gspa, gsfgm)],
        *[(("n_cols=0", "select nothing"), partial(selector, X, n_rows=0, n_cols=0)) for selector in (gspa, gsfgm)],
        (("r=6", "n_rows \\+ n_cols=5"), lambda: gspa(X, 6, n_rows=2, n_cols=3)),
        (("n_rows=13", "at most n_samples=12", "fewer"), lambda: gspa(X, n_rows=13, n_cols=3)),
        *[
            (("n_rows=13", "at most n_samples=12", "fewer"), partial(selector, X, 13, 3))
            for selector in (cur, both_sides(spa), cosfgm, preselected(cosfgm, 6, 6))
        ],
        *[
            (("n_cols=11", "at most n_features=10", "fewer"), partial(selector, X, 3, 11))
            for selector in (cur, both_sides(spa), cosfgm)
        ],
        *[(("tol=1.5", "from 0 to 1"), partial(selector, X, 3, tol=1.5)) for selector in (spa, snpa, greedy)],
        *[(("normalize",), partial(selector, X, 3, normalize="no")) for selector in (spa, snpa, gspa, gsfgm)],
        (("callback",), lambda: gsfgm(X, 3, callback=3)),
        (("n=11", "at most n_features=10", "fewer"), lambda: preselect(X, 11)),
        (("cols=3", "at least n_cols=4", "preselect more"), lambda: preselected(cosfgm, 6, 3)(X, 4, 4)),
        (("callback", "function"), lambda: preselect(X, 3, callback=5)),
        (("trace=4", "from 0 to 3"), lambda: fgm(X, 3, trace=4)),
        (("trace", "penalty", "exclude each other"), lambda: fgm(X, 3, trace=1.0, penalty=1.0)),
    ],
)
def test_more_than_there_is_and_words_for_switches_are_refused(words, call):
    with refused(*words):
        call()


def test_whole_numbers_of_numpy_are_counts():
    assert indices(spa(X, np.uint8(4))) == expected("spa")


@pytest.mark.parametrize("value", [-1, "a"])
def test_a_number_out_of_range_is_refused_under_its_name(value):
    for parameter, call in (
        *(
            ("tol", partial(selector, X, 3, tol=value))
            for name, selector in {**COLUMN_SELECTORS, **EITHER_SELECTORS}.items()
            if "tol" in signature(selector).parameters
        ),
        ("penalty", lambda: gsfgm(X, 3, penalty=value)),
        ("trace", lambda: fgm(X, 3, trace=value)),
        ("penalty", lambda: fgm(X, 3, penalty=value)),
    ):
        with refused(parameter, "number"):
            call()


@pytest.mark.parametrize("value", ["no such choice", None], ids=repr)
def test_an_unknown_choice_is_refused_and_the_choices_are_listed(value):
    for parameter, choice, call in (
        ("scaling", "'degree'", partial(scale, X, 3 if value is None else value)),
        ("solver", "'fast-gradient'", partial(fgm, X, 3, solver=value)),
        ("postprocess", "'diagonal'", partial(fgm, X, 3, postprocess=value)),
        ("solver", "'fast-gradient'", partial(cosfgm, X, 3, 3, solver=value)),
        ("postprocess", "'diagonal'", partial(cosfgm, X, 3, 3, postprocess=value)),
        ("start", "'spa'", partial(cosfgm, X, 3, 3, start=value)),
        ("criterion", "'dist'", partial(xray, X, 3, criterion=value)),
        ("start", "'zero'", partial(gsfgm, X, 3, start=value)),
        ("method", "'leverage'", partial(cur, X, 3, 3, method=value)),
    ):
        with refused(parameter, re.escape(shown(3 if (parameter, value) == ("scaling", None) else value)), choice):
            call()


def test_a_random_state_that_cannot_be_used_as_a_seed_is_refused():
    with refused("random_state"):
        xray(X, 3, random_state="seed")


@pytest.mark.parametrize("selector", [None, "spa", 3])
def test_a_selector_that_is_not_a_function_is_refused(selector):
    with refused("selector", "function", re.escape(repr(selector))):
        both_sides(selector)
    with refused("selector", "function", re.escape(repr(selector))):
        preselected(selector, 5, 5)


@pytest.mark.parametrize("answer", [None, [0, 1], Selection([0, 1], None), Selection(None, [0, 99])], ids=repr)
def test_both_sides_refuses_a_selector_that_does_not_return_a_selection_of_columns(answer):
    with refused("selector"):
        both_sides(lambda _data, _r: answer)(X, 2, 2)
