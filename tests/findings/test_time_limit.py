"""Calls that are ended when they take too long, and methods that are left out by name."""

import os
import time

import numpy as np
import pytest

from cosep.findings.comparison import compare_methods
from cosep.findings.time_limit import TimeLimited

pytestmark = pytest.mark.subprocess


def work(shared, what):
    if what == "sleep":
        time.sleep(600)
    if what == "fail":
        msg = "no answer"
        raise ValueError(msg)
    if what == "end":
        os._exit(1)
    return shared, os.getpid()


def test_a_call_that_takes_too_long_is_ended_and_the_next_one_answered():
    with TimeLimited(work, ("data",), 1.0) as call:
        shared, first = call("answer")
        assert shared == "data"
        assert first != os.getpid()
        assert call("answer") == ("data", first)
        with pytest.raises(TimeoutError):
            call("sleep")
        assert call("answer")[1] != first
        process = call.process
    assert not process.is_alive()


def prepare(_shared, what):
    if what == "prepare":
        time.sleep(1.5)


def test_preparation_does_not_count():
    with TimeLimited(work, ("data",), 1.0, prepare) as call:
        assert call("prepare")[0] == "data"


def test_an_error_and_a_lost_process_are_told():
    with TimeLimited(work, ("data",), 30.0) as call:
        with pytest.raises(RuntimeError, match=r"^ValueError: no answer$"):
            call("fail")
        with pytest.raises(RuntimeError, match="its process ended"):
            call("end")
        assert call("answer")[0] == "data"


def test_a_method_that_takes_too_long_is_named():
    X = np.random.default_rng(0).random((2000, 400))
    slow, quick = compare_methods(X, 40, 40, ["cosfgm", "spa"], seconds=0.2)
    assert slow == {"method": "cosfgm", "note": "took longer than 0.2 seconds and was ended", "late": True}
    assert quick["method"] == "spa"
