"""Factors of a matrix with gaps: the objective, the profile, and what fills the gaps."""

import numpy as np
import pytest

from cosep import make_coseparable
from cosep.matrix.missing import as_observed
from cosep.solve.alternation import Budget
from cosep.solve.gaps import Objective, Profile, RowProblem, low_rank, profile_of, refit_with_gaps, row_levels

BUDGET = Budget("fill", 100, 1e-9)


def gappy(seed=0, noise=0.1, missing=0.3, shape=(40, 25)):
    """Return a matrix with gaps, where they are, the whole matrix, and factors of rows and columns."""
    X, _ = make_coseparable(*shape, 4, 4, noise=noise, random_state=seed)
    random = np.random.default_rng(seed)
    gaps = random.uniform(size=X.shape) < missing
    M = as_observed(np.where(gaps, np.nan, X), "nan")
    return M, gaps, X, random.uniform(0.5, 1, size=shape[0]), random.uniform(0.5, 1, size=shape[1])


def objective_of(X, gaps, product, D, E, profile):
    """The objective, by its definition."""
    scale = D[:, None] * E
    left = np.where(gaps, np.sqrt(profile.weight) * (np.outer(profile.rows, profile.cols) - product), X - product)
    return 0.5 * np.sum((left * scale) ** 2) / np.sum((np.where(gaps, 0, X) * scale) ** 2)


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_the_objective_never_rises_and_is_what_it_says(weight, shape):
    M, gaps, X, D, E = gappy(shape=shape)
    random = np.random.default_rng(1)
    S = random.uniform(size=(4, 3))
    start = random.uniform(size=(shape[0], 4)), random.uniform(size=(3, shape[1]))
    profile = profile_of(M)._replace(weight=weight)
    found = refit_with_gaps(M, (D, E), S, start, profile, BUDGET)
    assert len(found.objective) > 3
    assert (np.diff(found.objective) <= 0).all()
    assert found.objective[-1] == pytest.approx(objective_of(X, gaps, found.P1 @ S @ found.P2, D, E, profile))
    assert found.P1.min() >= 0
    assert found.P2.min() >= 0


def test_rows_are_the_best_ones():
    M, gaps, X, D, E = gappy()
    H, profile = np.random.default_rng(2).uniform(size=(4, 25)), profile_of(M)._replace(weight=0.1)
    U, values = RowProblem(M, H, E, profile).solve()
    best = Objective(M, D, E, profile).of_rows(values)
    assert best == pytest.approx(objective_of(X, gaps, U @ H, D, E, profile))
    for k in range(4):
        for step in (-1e-4, 1e-4):
            moved = U.copy()
            moved[:, k] = np.maximum(moved[:, k] + step, 0)
            assert objective_of(X, gaps, moved @ H, D, E, profile) >= best - 1e-14


def test_a_profile_has_the_sums_of_the_observed_entries():
    M, gaps, X, _, _ = gappy()
    profile = profile_of(M)
    product = np.where(gaps, 0.0, np.outer(profile.rows, profile.cols))
    np.testing.assert_allclose(product.sum(axis=1), np.where(gaps, 0, X).sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(product.sum(axis=0), np.where(gaps, 0, X).sum(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(row_levels(M, profile.cols, profile.levels), profile.rows)


def test_copies_of_a_row_count_as_so_many_rows():
    M, gaps, X, _, _ = gappy()
    copies = np.arange(40) % 3 + 1
    repeated = as_observed(np.repeat(np.where(gaps, np.nan, X), copies, axis=0), "nan")
    for drawn in (0.0, 3.0):
        ours, theirs = profile_of(M, copies.astype(float), drawn), profile_of(repeated, None, drawn)
        np.testing.assert_allclose(ours.cols, theirs.cols)
        np.testing.assert_allclose(ours.rows.repeat(copies), theirs.rows)


def test_drawn_levels_are_closer_to_their_mean():
    M = gappy(missing=0.8)[0]
    spreads = [
        float(np.std(profile_of(M, None, drawn).rows) / profile_of(M, None, drawn).rows.mean()) for drawn in (0, 3, 30)
    ]
    assert spreads[0] > spreads[1] > spreads[2]


def test_without_noise_the_gaps_are_found_and_no_weight_is_given_to_the_profile():
    M, gaps, X, _, _ = gappy(noise=0.0, missing=0.2, shape=(80, 60))
    found = low_rank(M, (np.ones(80), np.ones(60)), 4, None, 0.0, Budget("fill", 1000, 1e-14))
    assert found.profile.weight == 0.0
    np.testing.assert_allclose((found.W @ found.H)[gaps], X[gaps], rtol=1e-5)


def test_with_much_noise_gaps_are_drawn_to_the_profile():
    M, gaps, X, _, _ = gappy(noise=1.0, missing=0.7)
    found = low_rank(M, (np.ones(40), np.ones(25)), 4, None, 3.0, BUDGET)
    free = low_rank_without_profile(M, BUDGET)
    assert found.profile.weight > 0
    error, without = (np.linalg.norm((W @ H - X)[gaps]) for W, H in ((found.W, found.H), free))
    assert error < without


def low_rank_without_profile(M, budget):
    random = np.random.default_rng(0)
    start = random.uniform(size=(40, 4)), random.uniform(size=(4, 25))
    nothing = Profile(np.zeros(40), np.zeros(25), weight=0.0)
    found = refit_with_gaps(M, (np.ones(40), np.ones(25)), np.eye(4), start, nothing, budget)
    return found.P1, found.P2
