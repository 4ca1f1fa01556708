"""The fuzzing harness classifies every outcome, and a short run of every target finds no failure."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("resource", reason="cases run in forks with limits, which this system does not have")

import fuzz
from benchmarks.harness import read_rows
from cosep.io.input_source import InputError
from fuzz import __main__, corpus, harness, mutations, outcomes, page
from fuzz.harness import Case, Limits
from fuzz.outcomes import CaseEnded

# Cases of every target in the short run.
FEW = 24


def fail(error):
    raise error


def busy():
    while True:
        pass


def grow():
    return np.empty(1 << 30)


def wrapped():
    try:
        grow()
    except MemoryError as error:
        msg = "the file is too large for the memory of this machine"
        raise ValueError(msg) from error


def raised_by_numpy():
    return np.array([[1.0, 2.0], [3.0]])


def clear():
    from cosep import spa  # noqa: PLC0415 - imported in the child process

    spa(np.ones((2, 2)), -1)


PLANTED = {
    "answer": (lambda: None, outcomes.ANSWER),
    "clear": (clear, outcomes.CLEAR_ERROR),
    "several lines": (lambda: fail(InputError("one line\nand another one")), outcomes.UNCLEAR_ERROR),
    "by another package": (raised_by_numpy, outcomes.UNCLEAR_ERROR),
    "warning": (lambda: np.float64(1e308) * 10, outcomes.UNCLEAR_ERROR),
    "wrong type": (lambda: fail(KeyError("nothing that a user knows")), outcomes.WRONG_EXCEPTION),
    "exit": (lambda: sys.exit(0), outcomes.WRONG_EXCEPTION),
    "wrong answer": (lambda: fail(CaseEnded(outcomes.WRONG_ANSWER, "another matrix")), outcomes.WRONG_ANSWER),
    "abort": (os.abort, outcomes.CRASH),
    "early end": (lambda: os._exit(3), outcomes.CRASH),
    "busy": (busy, outcomes.HANG),
    "asleep": (lambda: time.sleep(60), outcomes.HANG),
    "grows": (grow, outcomes.OUT_OF_MEMORY),
    "grows and hides it": (wrapped, outcomes.OUT_OF_MEMORY),
    "answer again": (lambda: None, outcomes.ANSWER),
}


def planted(batch=4):
    """Return a target whose seeds are the planted cases."""

    def make(_random, folder):
        kind = list(PLANTED)[int(folder.name.rpartition("-")[2])]
        (folder / "input.txt").write_text(kind)
        return Case(kind, PLANTED[kind][0])

    return SimpleNamespace(
        __name__="fuzz.planted",
        __doc__="Planted.",
        CASES=len(PLANTED),
        BATCH=batch,
        LIMITS=Limits(cpu=0.3, wall=5.0, memory=1 << 29),
        prepare=lambda _folder: None,
        make=make,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    found = list(harness.run(planted(), range(len(PLANTED)), folder))
    return {result.kind: result for result in found}, sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", PLANTED)
def test_every_outcome_is_recognised(results, kind):
    assert results[0][kind].verdict.outcome == PLANTED[kind][1], results[0][kind]


def test_every_case_is_counted_once_and_failures_leave_their_input(results):
    found, left = results
    assert len(found) == len(PLANTED)
    bad = [one for one in found.values() if one.verdict.outcome not in outcomes.EXPECTED_OUTCOMES]
    assert left == sorted(f"planted-{one.seed}" for one in bad)


def test_a_crash_reports_the_signal_and_the_place(results):
    assert "SIGABRT" in results[0]["abort"].verdict.detail
    assert "test_fuzz.py" in results[0]["abort"].verdict.detail


def test_a_case_that_dies_only_after_others_is_still_a_crash(tmp_path):
    state = []

    def make(_random, folder):
        state.append(folder)
        return Case("x", os.abort if len(state) > 2 else lambda: None)

    target = planted(batch=3)
    target.make = make
    found = {one.seed: one.verdict for one in harness.run(target, range(3), tmp_path, jobs=1)}
    assert [found[seed].outcome for seed in range(3)] == ["answer", "answer", "crash"]
    assert "only after other cases" in found[2].detail


def test_a_run_ends_at_its_limit(tmp_path):
    start = time.monotonic()
    found = list(harness.run(planted(), range(len(PLANTED)), tmp_path, deadline=start))
    assert found == []


def test_a_case_that_cannot_be_made_stops_the_run(tmp_path):
    target = planted()
    target.make = lambda _random, _folder: fail(KeyError("the harness itself"))
    with pytest.raises(RuntimeError, match="the harness itself"):
        list(harness.run(target, range(2), tmp_path))


def test_a_failure_is_printed_with_the_command_that_repeats_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__main__.TARGETS, "planted", planted())
    number = list(PLANTED).index("wrong answer")
    code = __main__.main(["planted", "--seed", str(number), "--keep", str(tmp_path)])
    assert code == 1
    assert f"wrong answer: python -m fuzz planted --seed {number}" in capsys.readouterr().out
    assert (tmp_path / f"planted-{number}" / "input.txt").read_text() == "wrong answer"
    assert "another matrix" in (tmp_path / f"planted-{number}" / "verdict.txt").read_text()
    assert __main__.main(["planted", "--seed", "0", "--keep", str(tmp_path)]) == 0


def test_an_unknown_target_is_an_error_that_names_it(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["nonsense"])
    assert "unknown target nonsense; expected one of files, calls" in capsys.readouterr().err


@pytest.mark.slow
def test_seeds_and_changes_are_the_same_every_time(tmp_path):
    first, second = (corpus.sample_inputs(_new(tmp_path / name)) for name in ("a", "b"))
    assert first == second
    data = bytes(range(256))
    for seed in range(50):
        assert mutations.mutate_bytes(Random(seed), data) == mutations.mutate_bytes(Random(seed), data)
    assert len({mutations.mutate_bytes(Random(seed), data) for seed in range(50)}) > 40


def _new(folder):
    folder.mkdir()
    return folder


def test_escapes_do_not_change_what_json_means():
    text = json.dumps({"filters": [{"id": "pickle", "n": 1, "on": True, "none": None}]})
    changed = {mutations.with_escapes(Random(seed), text) for seed in range(20)}
    assert len(changed) > 10
    assert all(json.loads(one) == json.loads(text) for one in changed)


def test_a_page_of_nothing_says_so(tmp_path):
    text = page.page(__main__.TARGETS, tmp_path)
    assert text.count("Not run yet.") == len(__main__.TARGETS)


@pytest.mark.slow
def test_a_short_run_of_every_target_finds_nothing(tmp_path):
    """The seeds are those of the full run, from 0 on."""
    words = [
        sys.executable,
        "-m",
        "fuzz",
        "--cases",
        str(FEW),
        "--into",
        str(tmp_path),
        "--keep",
        str(tmp_path / "kept"),
    ]
    ran = subprocess.run(
        words, cwd=Path(fuzz.__file__).parents[1], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    text = (tmp_path / "README.md").read_text()
    for name in __main__.TARGETS:
        rows = read_rows(tmp_path / "results" / f"{name}.csv")
        assert page.total(name, rows)["cases"] == FEW
        assert f"| [{name}](#{name}) | {FEW} |" in text
