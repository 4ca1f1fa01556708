"""The comparison of two checkouts finds what differs, and nothing else."""

import json

import numpy as np
import pytest

from benchmarks import same_answers
from benchmarks.same_answers import distance, matched


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([1, 2], [1, 2], 0.0),
        ([1, 2], [2, 1], np.inf),
        ([1, 2], [1.0, 2.0], np.inf),
        ([1.0, np.nan], [1.0, np.nan], 0.0),
        ([1.0, np.nan], [np.nan, 1.0], np.inf),
        ([1.0, np.inf], [1.0, -np.inf], np.inf),
        ([1.0, 4.0], [1.0, 4.0 + 4e-9], 1e-9),
        (["a"], ["a"], 0.0),
        (["a"], ["b"], np.inf),
        ([1.0], [[1.0]], np.inf),
    ],
)
def test_distance_is_relative_to_the_largest_entry(old, new, expected):
    assert distance(np.array(old), np.array(new), absolute=False) == pytest.approx(expected, rel=1e-6)


def test_a_small_duality_gap_is_compared_absolutely():
    assert distance(np.array(1e-9), np.array(2e-9), absolute=True) == pytest.approx(1e-9)


def test_renamed_attributes_are_compared():
    old = {"factorization_.core": np.zeros(2), "gone": np.zeros(1)}
    pairs, unmatched = matched(old, {"sample_factorization_.core": np.zeros(2), "added": np.zeros(1)})
    assert list(pairs) == ["factorization_.core"]
    assert unmatched == {"gone (old)", "added (new)"}


@pytest.fixture
def two_answers(monkeypatch):
    """A function that makes both checkouts answer with these arrays, without running them."""

    def setter(old, new):
        def answers(checkout, _problem, folder):
            folder.mkdir()
            np.savez(folder / "0.npz", core=old if checkout.name == "old" else new)
            record = {"error": None, "seconds": 1.0, "megabytes": 1.0, "file": "0.npz"}
            return json.loads(json.dumps({"a case": record}))

        monkeypatch.setattr(same_answers, "answers", answers)

    return setter


def test_equal_answers_give_exit_code_0(two_answers, capsys):
    two_answers(np.ones(2), np.ones(2) + 1e-12)
    assert same_answers.main(["old", "new", "--part", "planted", "--set", "exact 60 x 40"]) == 0
    assert "differs" not in capsys.readouterr().out


def test_a_difference_is_printed_and_gives_exit_code_1(two_answers, capsys):
    two_answers(np.ones(2), np.ones(2) + 1e-6)
    assert same_answers.main(["old", "new", "--part", "planted", "--set", "exact 60 x 40"]) == 1
    assert "exact 60 x 40: a case: core differs by 1.0e-06" in capsys.readouterr().out


def test_an_intended_difference_gives_exit_code_0(two_answers, capsys, monkeypatch):
    two_answers(np.ones(2), np.ones(2) + 1e-6)
    intended = same_answers.Intended("a *", "core", 1e-5, "another solver")
    monkeypatch.setattr(same_answers, "INTENDED", (intended,))
    assert same_answers.main(["old", "new", "--part", "planted", "--set", "exact 60 x 40"]) == 0
    assert "(intended: another solver)" in capsys.readouterr().out


def test_comparing_nothing_gives_exit_code_1():
    assert same_answers.main(["old", "new", "--set", "no such set"]) == 1
