"""The number of rows and columns: planted ranks are found, and odd input is answered."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from cosep import RankChoice, Selection, both_sides, choose_rank, make_coseparable, spa
from cosep.assess import rank as module
from cosep.assess.bi_cross_validation import N_FOLDS
from cosep.assess.rank import check_ranks

rng = np.random.default_rng(0)


def planted(seed=0, *shape, noise=0.01):
    return make_coseparable(*(shape or (40, 30, 3, 3)), noise=noise, random_state=seed)[0]


def pair(choice):
    return choice.n_rows, choice.n_cols


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "permute"), [((40, 30, 3, 3), True), ((36, 36, 4, 4), False)])
def test_planted_ranks_are_recommended(shape, permute):
    found = [
        pair(choose_rank(make_coseparable(*shape, noise=0.01, permute=permute, random_state=seed)[0]))
        for seed in range(3)
    ]
    assert sum(one == shape[2:] for one in found) >= 2


def test_planted_ranks_that_differ_are_recommended():
    corners = np.array([[1.0, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    mixed = np.vstack([corners, rng.dirichlet(np.full(4, 0.5), 40) @ corners]) @ np.hstack(
        [np.eye(3), rng.dirichlet(np.full(3, 0.5), 30).T]
    )
    assert pair(choose_rank(mixed)) == (4, 3)


@pytest.mark.slow
def test_without_noise_the_planted_ranks_are_recommended():
    assert [pair(choose_rank(planted(seed, noise=0.0))) for seed in range(2)] == [(3, 3)] * 2


def test_noise_and_rank_one_have_no_structure():
    noise = choose_rank(np.random.default_rng(0).uniform(size=(40, 30)), range(1, 6))
    assert pair(noise) == (1, 1)
    assert "no further structure" in noise.reason
    assert pair(choose_rank(np.outer(rng.uniform(size=20), rng.uniform(size=15)))) == (1, 1)
    lonely = choose_rank(np.eye(12), ranks=[2, 3])
    assert pair(lonely) == (2, 2)
    assert lonely.reason.startswith("No structure")


def test_reason_says_that_larger_ranks_may_be_better():
    X = planted(0, 60, 40, 6, 6)
    choice = choose_rank(X, ranks=range(1, 5))
    assert pair(choice) == (4, 4)
    assert "more rows and columns may explain more" in choice.reason
    assert "the only pair that was tried" in choose_rank(X, ranks=[2]).reason


def test_given_ranks_are_tried_and_the_table_is_sorted():
    choice = choose_rank(planted(noise=0.001), ranks=[(5, 3), 2, (3, 3), (2, 2), (3, 5)])
    assert isinstance(choice, RankChoice)
    tried = list(zip(choice.table["n_rows"].tolist(), choice.table["n_cols"].tolist(), strict=True))
    assert tried == [(2, 2), (3, 3), (3, 5), (5, 3)]
    assert {len(column) for column in choice.table.values()} == {4}
    assert pair(choice) == (3, 3)
    best = tried.index((3, 3))
    assert choice.table["stability"][best] == 1.0
    assert (choice.table["error_se"] > 0).all()
    assert (choice.table["stability"] <= 1).all()


def test_the_smallest_error_is_shown_beside_the_recommendation():
    table = {
        "n_rows": np.array([1, 2, 3, 2]),
        "n_cols": np.array([1, 2, 2, 3]),
        "error": np.array([0.5, 0.4, 0.2, 0.2]),
    }
    assert RankChoice(1, 1, "", table).best == (2, 3)
    choice = choose_rank(planted(noise=0.1), ranks=[1, 2, 3, 4, (4, 5)])
    at = (choice.table["n_rows"] == choice.best[0]) & (choice.table["n_cols"] == choice.best[1])
    assert choice.table["error"][at] == choice.table["error"].min()
    if choice.best != pair(choice):
        assert f"with {choice.best[0]} rows and {choice.best[1]} columns" in choice.reason


def test_the_number_of_steps_is_announced_and_not_exceeded():
    seen = []
    choice = choose_rank(planted(), callback=lambda *report: seen.append(report))
    stages, steps, most, values = zip(*seen, strict=True)
    assert set(stages) == {"rank"}
    assert list(steps) == list(range(len(steps)))
    assert len(set(most)) == 1
    assert 2 * N_FOLDS <= steps[-1] <= most[0]
    assert np.isnan(values[0])
    assert values[-1] == pytest.approx(choice.table["error"].min())


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2.0**-3, 7.0, 1e-150, 1e150])
def test_scale_does_not_matter(factor):
    X = planted()
    choices = [choose_rank(data, ranks=[1, 2, 3, (3, 4)]) for data in (X, X * factor)]
    assert pair(choices[0]) == pair(choices[1])
    np.testing.assert_allclose(choices[0].table["error"], choices[1].table["error"], rtol=1e-6)


def test_transposing_swaps():
    X, ranks = planted(), [(1, 2), (2, 2), (3, 3), (4, 3)]
    one, other = choose_rank(X, ranks), choose_rank(X.T, [(b, a) for a, b in ranks])
    assert pair(one) == pair(other)[::-1]
    order = np.lexsort((other.table["n_rows"], other.table["n_cols"]))
    np.testing.assert_allclose(one.table["error"], other.table["error"][order], rtol=1e-6)
    np.testing.assert_allclose(one.table["stability"], other.table["stability"][order])


@pytest.mark.slow
def test_jobs_do_not_matter():
    X, ranks = planted(), [2, 3]
    alone, together = choose_rank(X, ranks), choose_rank(X, ranks, n_jobs=2)
    for name, column in alone.table.items():
        np.testing.assert_array_equal(column, together.table[name])
    assert alone.reason == together.reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array, np.asfortranarray, np.float32])
def test_every_kind_of_matrix(kind):
    X = np.round(planted() * 100)
    X[3], X[:, 5] = 0.0, 0.0
    dense, other = choose_rank(X, [2, 3, 4]), choose_rank(kind(X), [2, 3, 4])
    assert pair(dense) == pair(other) == (3, 3)
    np.testing.assert_allclose(dense.table["error"], other.table["error"], rtol=1e-4)


def test_duplicates_and_zeros_do_not_matter():
    X = planted()
    doubled = np.vstack([X, X])
    assert pair(choose_rank(np.hstack([doubled, np.zeros((len(doubled), 3))]), range(1, 6))) == (3, 3)


def test_methods_by_name_and_as_functions():
    X, ranks = planted(), [2, 3, 4]
    assert pair(choose_rank(X, ranks, method="spa")) == (3, 3)
    named, own = choose_rank(X, ranks, method="spa"), choose_rank(X, ranks, method=both_sides(spa))
    np.testing.assert_array_equal(named.table["error"], own.table["error"])
    assert pair(choose_rank(X, ranks, method="cur", random_state=np.random.RandomState(1)))


def test_no_warning_if_fewer_are_found_than_requested():
    X = np.outer(np.arange(1, 13), np.arange(1, 10)).astype(float)
    choice = choose_rank(X, ranks=[1, 2, 3])
    assert pair(choice) == (1, 1)


def test_tiny_matrices():
    assert pair(choose_rank(np.eye(2))) == (1, 1)
    assert pair(choose_rank(np.ones((2, 5)))) == (1, 1)
    assert pair(choose_rank(np.ones((3, 3)))) == (1, 1)
    lonely = np.zeros((6, 6))
    lonely[2, 3] = 1.0
    assert pair(choose_rank(lonely)) == (1, 1)


def test_large_matrices_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_SAMPLE", 40)
    X = np.kron(np.eye(3), np.ones((30, 10))) + 0.01
    choice = choose_rank(X)
    assert pair(choice) == (3, 3)
    assert choice.reason.endswith("Based on a random sample of 40 rows and 30 columns.")


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([], "ranks"),
        (5, "ranks"),
        ("12", "ranks"),
        ([0], "n_rows in ranks"),
        ([1.5], "n_rows in ranks"),
        ([(1, 2, 3)], "ranks"),
        ([(1, True)], "n_cols in ranks"),
        ([31], "n_rows in ranks=31 must be at most the number of rows outside a fold=30"),
        ([(1, 23)], "n_cols in ranks=23 must be at most the number of columns outside a fold=22"),
    ],
)
def test_bad_ranks_are_named(ranks, message):
    with pytest.raises(ValueError, match=message):
        choose_rank(planted(), ranks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "none"}, "method"),
        ({"method": len}, "method"),
        ({"method": lambda *_: None}, "method"),
        ({"method": lambda *_: Selection(np.array([99]), np.array([0]))}, "method"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "all"}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
        ({"callback": 3}, "callback"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        choose_rank(planted(), [2], **options)


@pytest.mark.parametrize("X", [np.zeros((4, 4)), np.ones((1, 5)), np.ones((5, 1)), -np.eye(4), np.full((4, 4), np.nan)])
def test_bad_matrices_are_refused(X):
    with pytest.raises(ValueError, match="X"):
        choose_rank(X)


def test_input_is_not_changed():
    X = planted()
    X.setflags(write=False)
    before = X.copy()
    choose_rank(X, [2, 3], n_jobs=1)
    np.testing.assert_array_equal(X, before)


def test_ranks_are_pairs_each_once():
    assert check_ranks(np.array([3, 1, 3]), 5, 5) == [(1, 1), (3, 3)]
    assert check_ranks(iter([(1, 2), [1, 2], np.array([2, 1])]), 5, 5) == [(1, 2), (2, 1)]


def test_partial_methods_run_in_processes():
    X = planted()
    choice = choose_rank(X, [3], method=both_sides(partial(spa, normalize=False)), n_jobs=2)
    assert pair(choice) == (3, 3)
