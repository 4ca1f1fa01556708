"""The benchmarks of the choice of `faithful` measure what they say. Nothing is timed, and nothing is installed."""

import itertools
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from benchmarks import choice, data, exchanges, harness, optimum, recovery, rivals, selection_time, show
from benchmarks.environments import ENVIRONMENTS, Environment, RivalError, run
from cosep import faithful, make_coseparable
from cosep.matrix.validation import as_matrix


@pytest.mark.parametrize("family", optimum.FAMILIES)
def test_the_sums_of_all_pairs_are_those_of_the_library(family):
    random = np.random.default_rng(1)
    X = optimum.FAMILIES[family](random)
    assert X.shape == optimum.SHAPE
    assert (X >= 0).all()
    assert X.any(axis=0).all()
    assert X.any(axis=1).all()
    rows, cols, sums = optimum.sums(X, 2)
    assert sums.shape == (45, 36)
    best = np.unravel_index(sums.argmin(), sums.shape)
    for a, b in [best, *random.integers((45, 36), size=(5, 2))]:
        assert optimum.exact_sum(X, rows.subsets[a], cols.subsets[b]) == pytest.approx(sums[a, b], abs=1e-10)


def test_best_weights_are_those_of_nonnegative_least_squares():
    random = np.random.default_rng(0)
    A, M = random.uniform(size=(4, 10, 3)), random.uniform(size=(10, 5))
    expected = [[nnls(one, column)[0] for column in M.T] for one in A]
    np.testing.assert_allclose(np.moveaxis(optimum.best_weights(A, M), 1, 2), expected, atol=1e-12)


def test_the_best_choice_of_all_has_ratio_one(monkeypatch):
    X = optimum.uniform(np.random.default_rng(0))
    rows, cols, sums = optimum.sums(X, 2)
    at = np.unravel_index(sums.argmin(), sums.shape)

    class Found:
        row_indices, col_indices = rows.subsets[at[0]][::-1], cols.subsets[at[1]]

    monkeypatch.setattr(optimum, "faithful", lambda *_: Found)
    assert optimum.ratio(X, 2) == 1.0
    Found.row_indices = rows.subsets[at[0]][:1]
    assert optimum.ratio(X, 2) > 1.0


def test_iterative_cur_takes_the_leading_entry_of_what_is_left():
    X = np.random.default_rng(0).uniform(size=(12, 8))
    chosen = rivals.by_iterative_cur(X, 3)
    for count in range(3):
        Q = np.linalg.qr(X[:, chosen[:count]])[0]
        leading = np.abs(np.linalg.svd(X - Q @ (Q.T @ X))[2][0])
        assert chosen[count] == leading.argmax()


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_a_rival_chooses_distinct_columns_that_explain_planted_data(name):
    M = as_matrix(data.load("planted").X)
    found = rivals.verdict(M, 4, rivals.RIVALS[name])
    assert len(set(found.indices.tolist())) == 4
    assert found.fidelity > 0.99


def test_what_rivals_choose_is_computed_once_for_a_matrix(tmp_path, monkeypatch):
    M, place = as_matrix(data.load("planted").X), {"set": "planted", "norm": "plain", "side": "columns"}
    path = tmp_path / "rivals.csv"
    first = rivals.Verdicts(path).of(M, 4, "greedy", place)
    calls = []

    def counted(_, r):
        calls.append(r)
        return np.arange(r)

    monkeypatch.setitem(rivals.RIVALS, "greedy", rivals.Rival(counted, "counted"))
    second = rivals.Verdicts(path).of(M, 4, "greedy", place)
    assert second.fidelity == first.fidelity
    np.testing.assert_array_equal(second.indices, first.indices)
    assert not calls
    changed = rivals.Verdicts(path).of(as_matrix(2 * M.raw), 4, "greedy", place)
    np.testing.assert_array_equal(changed.indices, np.arange(4))
    assert len(harness.read_rows(path)) == len(calls) == 1


def test_a_rival_that_does_not_choose_says_why(tmp_path, monkeypatch):
    def fail(*_):
        msg = "not today"
        raise RivalError(msg)

    monkeypatch.setitem(rivals.FOREIGN, "fastcan", rivals.Rival(fail, "fastcan 0"))
    monkeypatch.delitem(rivals.FOREIGN, "scikit-matter CUR")
    rows = list(choice.compare(data.load("planted"), "planted", rivals.Verdicts(tmp_path / "rivals.csv")))
    assert [row["note"] for row in rows if row["method"] == "fastcan"] == ["not today", "not today"]
    rows = [{"set": "planted", **row} for row in rows]
    assert "fastcan" not in {line["best_rows"] for line in choice.summary(rows)}


def test_a_matrix_that_is_too_large_is_not_made_dense(monkeypatch):
    monkeypatch.setattr(rivals, "DENSE_LIMIT", 5)
    with pytest.raises(RivalError, match="entries"):
        rivals.Foreign(Environment("nothing", "0")).choose(np.ones((2, 3)), 1)


def test_a_command_that_fails_or_takes_too_long_is_explained():
    with pytest.raises(RivalError, match=r"no choice: .*no such file"):
        run(["ls", "/no such file"], "no choice")
    with pytest.raises(RivalError, match=r"no choice within 0\.1 s"):
        run(["sleep", "5"], "no choice", 0.1)


def rows_of_choice(ours, rival=80.0, core=80.0):
    """Return made-up rows of one set in both norms."""
    sides = {"rows_pct": ours, "columns_pct": ours}
    return [
        {"set": "k1b", "norm": norm, "method": method, **figures}
        for norm in choice.NORMS
        for method, figures in {
            choice.OURS: sides | {"core_pct": core},
            choice.ALONE: sides,
            "greedy": {"rows_pct": rival, "columns_pct": rival - 10},
            "NMF medoids": {"rows_pct": rival - 10, "columns_pct": rival},
        }.items()
    ]


@pytest.mark.parametrize(
    ("rows", "verdicts"),
    [
        ([], ["not measured"] * 5),
        (rows_of_choice(80.0), ["met"] * 5),
        (rows_of_choice(79.0), ["missed", "met", "met", "met", "missed"]),
        (rows_of_choice(78.0, core=74.0), ["missed", "missed", "missed", "missed", "missed"]),
    ],
)
def test_a_choice_is_held_against_the_best_rival_of_each_side(rows, verdicts):
    assert [bar.verdict for bar in choice.bars(rows)] == 2 * verdicts


def test_a_search_ends_where_no_exchange_helps():
    X = make_coseparable(20, 15, 2, 2, noise=0.3, random_state=0)[0]
    M = as_matrix(X)
    start = exchanges.judged(M, np.array([0, 1]), np.array([0, 1]))
    end = exchanges.descend(M, start, time.process_time() + 60)
    assert end.total < start.total
    assert end.total == pytest.approx(optimum.exact_sum(X, end.rows.chosen, end.cols.chosen))
    for k, j in itertools.product(range(2), range(15)):
        cols = end.cols.chosen.copy()
        cols[k] = j
        if len(set(cols.tolist())) == 2:
            assert optimum.exact_sum(X, end.rows.chosen, cols) >= end.total * (1 - 1e-6)


def test_the_best_choice_known_is_kept_for_its_matrix(tmp_path):
    M = as_matrix(data.load("planted").X)
    found = faithful(M.raw, 4, 4)
    pair = exchanges.judged(M, found.row_indices, found.col_indices)
    exchanges.Best(tmp_path / "best.csv").store("planted", "plain", M, pair)
    best = exchanges.Best(tmp_path / "best.csv")
    known = best.known("planted", "plain", M)
    assert known.total == pytest.approx(pair.total)
    assert exchanges.shared(pair.rows, known.rows) == "4 of 4"
    assert best.known("planted", "degree", M) is None
    assert best.known("planted", "plain", as_matrix(2 * M.raw)) is None


def test_a_known_best_choice_is_not_searched_again_but_replaced_by_a_better_one(tmp_path, monkeypatch):
    problem = data.load("planted")
    M = as_matrix(problem.X)
    worse = exchanges.judged(M, np.arange(4), np.arange(4))
    best = exchanges.Best(tmp_path / "best.csv")
    for norm, scaling in choice.NORMS.items():
        best.store("planted", norm, exchanges.scale(problem.X, scaling)[0], worse)
    monkeypatch.setattr(exchanges, "search", None)
    monkeypatch.delenv("COSEP_SEARCH_SECONDS", raising=False)
    rows = list(exchanges.compare(problem, "planted", best, rivals.Verdicts(None)))
    assert [row["excess_pct"] for row in rows] == [0.0, 0.0]
    assert [row["sum"] for row in harness.read_rows(tmp_path / "best.csv")] == [row["sum"] for row in rows]


def test_a_search_goes_on_from_the_best_choice_known_if_it_is_asked_to(tmp_path, monkeypatch):
    problem = data.load("planted")
    best = exchanges.Best(tmp_path / "best.csv")
    monkeypatch.setattr(exchanges, "SECONDS", 0.2)
    before = [row["best_sum"] for row in exchanges.compare(problem, "planted", best, rivals.Verdicts(None))]
    monkeypatch.setenv("COSEP_SEARCH_SECONDS", "0.2")
    after = [row["best_sum"] for row in exchanges.compare(problem, "planted", best, rivals.Verdicts(None))]
    assert all(new <= old * (1 + 1e-9) for new, old in zip(after, before, strict=True))


def test_a_disturbed_choice_has_other_columns_and_none_twice():
    M, random = as_matrix(data.load("planted").X), np.random.default_rng(0)
    chosen = np.arange(8)
    new = exchanges.disturbed(M, chosen, random)
    assert len(set(new.tolist())) == 8
    assert (new != chosen).sum() == 2


def test_excess_is_held_against_its_bars():
    assert {bar.verdict for bar in exchanges.bars([])} == {"not measured"}
    assert [bar.verdict for bar in exchanges.bars([{"excess_pct": 0.0}, {"excess_pct": 2.5}])] == ["missed", "missed"]
    assert [bar.verdict for bar in exchanges.bars([{"excess_pct": 0.5}])] == ["met", "met"]


def test_only_identifiable_matrices_count_without_noise():
    rows = [row for row in recovery.measure(tiny=True) if row["noise"] == 0]
    assert [row["faithful_exact"] for row in rows] == ["2 of 2", "2 of 2"]
    assert [bar.verdict for bar in recovery.bars(rows)] == ["met"]
    assert [bar.verdict for bar in recovery.bars([])] == ["not measured"]


@pytest.mark.slow
def test_two_versions_take_turns(monkeypatch):
    monkeypatch.setenv("COSEP_BASELINE", str(selection_time.ROOT / "src"))
    rows = [row for row in selection_time.measure(tiny=True) if "norm" in row]
    assert [row["norm"] for row in rows] == ["plain", "degree"]
    assert all(row["s"] > 0 and row["ratio"] == row["s"] / row["baseline_s"] for row in rows)


@pytest.mark.slow
def test_a_version_that_cannot_be_imported_is_an_error(tmp_path):
    with selection_time.Version(tmp_path) as version, pytest.raises(RuntimeError, match="ended with an error"):
        version.seconds("planted", "plain")


def test_the_total_time_is_held_against_the_baseline():
    rows = [{"s": 1.0, "baseline_s": 1.0}, {"s": 3.0, "baseline_s": 1.0}, {"s": 9.0}]
    assert [(bar.figure, bar.verdict) for bar in selection_time.bars(rows)] == [(2.0, "missed")]
    assert [bar.verdict for bar in selection_time.bars([{"s": 1.0}])] == ["not measured"]


def test_bars_are_printed_without_storing_rows(capsys, monkeypatch):
    monkeypatch.setattr(show, "isolated", lambda call: call)
    show.main(["choice", "recovery", "--tiny"])
    printed = capsys.readouterr().out
    assert "| planted | plain |" in printed
    assert "| [recovery](#recovery) | share of 4 matrices" in printed


def test_the_environments_of_rivals_are_not_part_of_the_repository():
    root = Path(__file__).parent.parent
    ignored = root.joinpath(".gitignore").read_text(encoding="utf-8").splitlines()
    assert ENVIRONMENTS.relative_to(root).parts[0] in ignored
