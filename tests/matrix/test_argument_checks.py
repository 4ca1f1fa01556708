"""The checks of single arguments: counts, numbers, switches, choices, seeds, callbacks."""

import re

import numpy as np
import pytest

from calls import refused
from cosep.matrix.checks import (
    check_callback,
    check_choice,
    check_count,
    check_number,
    check_pair,
    check_positive,
    check_random,
    check_switch,
)
from cosep.utils.messages import shown


@pytest.mark.parametrize("value", [-1, 2.0, 2.5, "2", None, True, np.nan, np.bool_(1), [2], np.array([2])], ids=repr)
def test_a_count_must_be_a_whole_number(value):
    for least in (0, 1):
        with refused("r", f"whole number of at least {least}", re.escape(shown(value))):
            check_count(value, "r", 10, "n_features", least=least)
    with refused("max_iter", "whole number of at least 1", re.escape(shown(value))):
        check_positive(value)
    with refused("size", "whole number of at least 1", re.escape(shown(value))):
        check_pair((2, value), "size", (5, 5))


def test_a_count_is_positive_unless_it_may_be_zero():
    with refused("r", "r=0", "whole number of at least 1"):
        check_count(0, "r", 10, "n_features")
    assert check_count(0, "r", 10, "n_features", least=0) == 0


@pytest.mark.parametrize("value", [11, np.uint8(11), 10**21], ids=repr)
def test_a_count_must_not_be_beyond_what_there_is(value):
    with refused("r", re.escape(f"r={shown(value)}"), "at most n_features=10", "fewer"):
        check_count(value, "r", 10, "n_features")


@pytest.mark.parametrize("whole", [4, np.int8(4), np.uint64(4), np.int64(4)], ids=repr)
def test_whole_numbers_of_numpy_are_counts(whole):
    assert check_count(whole, "r", 4, "n_features") == check_positive(whole) == 4
    assert check_pair(whole, "size", (4, 5)) == check_pair([whole, whole], "size", (4, 5)) == (4, 4)


@pytest.mark.parametrize("value", [-1, -1e-300, np.nan, np.inf, -np.inf, "a", None, True, 1j, [0.1], 10**400])
def test_a_number_out_of_range_or_of_the_wrong_kind_is_refused(value):
    with refused("tol", "finite number of at least 0"):
        check_number(value, "tol", 0.0)
    with refused("tol", "number from 0 to 1"):
        check_number(value, "tol", 0.0, 1.0)


def test_a_number_has_limits_that_belong_to_its_range():
    with refused("tol", "tol=1.5", "from 0 to 1"):
        check_number(1.5, "tol", 0.0, 1.0)
    assert [check_number(value, "tol", 0.0, 1.0) for value in (0, 1, np.float32(0.5))] == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("value", ["no", 1, None, np.array([True])], ids=repr)
def test_a_switch_is_true_or_false(value):
    with refused("normalize", re.escape(shown(value)), "True or False"):
        check_switch(value, "normalize")
    assert check_switch(np.bool_(1), "normalize") is True


@pytest.mark.parametrize("value", ["no such choice", "", None, 3, ["rows"]], ids=repr)
def test_an_unknown_choice_is_refused_and_the_choices_are_listed(value):
    with refused("axis", re.escape(shown(value)), "'rows'", "'columns'"):
        check_choice(value, "axis", ("rows", "columns"))


@pytest.mark.parametrize("value", ["seed", -1, 2**33, 1.5, [1, "a"]], ids=repr)
def test_a_random_state_that_cannot_be_used_as_a_seed_is_refused(value):
    with refused("random_state"):
        check_random(value)


@pytest.mark.parametrize("value", [3, "print", lambda: None, lambda _stage: None, len])
def test_a_callback_is_a_function_of_four_arguments(value):
    with refused("callback", "function"):
        check_callback(value)
    check_callback(lambda _stage, _step, _most, _error: None)
    check_callback(None)
