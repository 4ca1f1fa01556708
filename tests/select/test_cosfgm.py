"""CoS-FGM: alternation, cycles, degenerate cores."""

from importlib import import_module

import numpy as np
import pytest

from cosep import both_sides, cosfgm, fgm, make_coseparable, mix, spa
from cosep.select.fgm import Choice
from cosep.solve.self_dictionary import SelfDictionary

module = import_module("cosep.select.cosfgm")
RANDOM = np.random.default_rng(10)
COUNTS = RANDOM.poisson(3.0, size=(40, 30)).astype(float)


@pytest.mark.parametrize("start", ["spa", "independent"])
@pytest.mark.parametrize("postprocess", ["diagonal", "spa"])
def test_every_start_and_post_processing_finds_the_planted_core(start, postprocess):
    X, truth = make_coseparable(40, 35, 5, 5, noise=1e-4, random_state=11)
    chosen = cosfgm(X, 5, 5, start=start, postprocess=postprocess)
    assert set(chosen.row_indices) == set(truth.row_indices)
    assert set(chosen.col_indices) == set(truth.col_indices)


def test_identifiable_anchors_of_a_wide_core_are_found():
    X, truth = make_coseparable(100, 100, 10, 3, noise=1e-5, random_state=12)
    chosen = cosfgm(X, 10, 3)
    assert set(truth.row_indices[truth.row_identifiable]) <= set(chosen.row_indices)
    assert set(truth.col_indices) == set(chosen.col_indices)


def test_the_best_iterate_is_kept():
    chosen = cosfgm(COUNTS, 4, 4)
    errors = [error for error, _ in chosen.history]
    fitted = mix(COUNTS, chosen, max_iter=module.FIT_ITER).relative_error(COUNTS)
    assert 0.99 * min(errors) < fitted < (1 + 1e-9) * min(errors)
    assert chosen.n_iter == len(errors) - 1
    gaps = [gap for error, gap in chosen.history if error == min(errors)]
    assert chosen.gap == gaps[-1]


def scripted(pairs):
    """Return a stand-in for the solver that plays back pairs of index lists, rows first."""
    script = iter([side for pair in pairs for side in pair])
    nothing = SelfDictionary(
        np.zeros(0, int), np.zeros((0, 0)), np.zeros(0), 0.0, 0.0, 0.0, 0.0, "trace", "tolerance", 1, ()
    )
    return lambda _block, _r, **_options: Choice(np.array(next(script)), nothing, (np.zeros(0, int), np.zeros(0)))


def test_a_cycle_ends_the_alternation(monkeypatch):
    monkeypatch.setattr(module, "choose", scripted([([0, 1], [0, 1]), ([2, 3], [2, 3])] * 10))
    chosen = cosfgm(COUNTS, 2, 2)
    assert chosen.n_iter == 3


def test_a_mere_change_of_order_is_a_repeat(monkeypatch):
    monkeypatch.setattr(module, "choose", scripted([([0, 1], [0, 1]), ([1, 0], [1, 0])] * 10))
    assert cosfgm(COUNTS, 2, 2).n_iter == 2


def test_the_alternation_ends_after_max_iter(monkeypatch):
    monkeypatch.setattr(module, "choose", scripted([([i, i + 1], [0, 1]) for i in range(30)]))
    assert cosfgm(COUNTS, 2, 2, max_iter=3).n_iter == 3


def test_the_alternation_ends_when_nothing_gets_better(monkeypatch):
    monkeypatch.setattr(module, "choose", scripted([([i, i + 1], [0, 1]) for i in range(39)]))
    chosen = cosfgm(COUNTS, 2, 2)
    errors = [error for error, _ in chosen.history]
    assert chosen.n_iter < 38
    assert int(np.argmin(errors)) == chosen.n_iter - module.MAX_IDLE


def test_a_degenerate_core_is_reported():
    # The heaviest rays on each side do not meet.
    X = np.zeros((6, 6))
    X[0, 3:] = X[3:, 0] = 1.0
    X[1, 1] = X[2, 2] = 1.0
    with pytest.warns(UserWarning, match="core is degenerate"):
        both_sides(spa)(X, 2, 1)


def test_rank_below_the_request_gives_a_smaller_core_and_one_warning_a_side():
    X = np.outer(RANDOM.uniform(1, 2, size=9), RANDOM.uniform(1, 2, size=7))
    with pytest.warns(UserWarning, match="Only 1 of the") as caught:
        chosen = cosfgm(X, 3, 2)
    assert sorted(str(warning.message)[:27] for warning in caught) == [
        "Only 1 of the 2 columns ask",
        "Only 1 of the 3 rows asked ",
    ]
    assert all(warning.filename == __file__ for warning in caught)
    assert (len(chosen.row_indices), len(chosen.col_indices)) == (1, 1)
    assert mix(X, chosen).relative_error(X) < 1e-12


def test_both_sides_passes_options_and_gaps_on():
    X, truth = make_coseparable(30, 25, 4, 4, random_state=13)
    chosen = both_sides(fgm)(X, 4, 4, postprocess="spa")
    assert set(chosen.row_indices) == set(truth.row_indices)
    assert chosen.gap is not None
    assert both_sides(spa)(X, 4, 4).gap is None


def test_both_sides_refuses_what_it_cannot_call():
    with pytest.raises(ValueError, match=r"selector='spa' must be a function"):
        both_sides("spa")
