"""GS-FGM: feasible iterates, a falling objective, the minimum of the model, and what it refuses."""

import sys

import numpy as np
import pytest
import scipy.sparse

from cosep import gsfgm, gspa
from oracles import dictionary_breach, make_generalized

# The package has the function under the name of the module.
module = sys.modules["cosep.select.gsfgm"]
RANDOM = np.random.default_rng(15)


def descend(M, lam, **options):
    start, _ = module._start(M, module.Split(2, 2, 4), 1.0, normalize=True)
    return module._descend(M, start, lam, **{"tol": 1e-9, "max_iter": 20_000, "callback": None, **options})


def test_iterates_are_feasible_and_end_below_every_feasible_neighbour():
    M = RANDOM.gamma(0.7, size=(7, 6))
    lam = 0.05 * float(np.vdot(M, M))
    end, history = descend(M, lam)
    assert dictionary_breach(end.Xt, M.sum(axis=1)) < 1e-9
    assert dictionary_breach(end.Y, M.sum(axis=0)) < 1e-9

    def objective(Xt, Y):
        return 0.5 * np.linalg.norm(M - Xt.T @ M - M @ Y) ** 2 + lam * (np.trace(Xt) + np.trace(Y))

    value = objective(end.Xt, end.Y)
    assert history[-1] == pytest.approx((value, np.trace(end.Xt), np.trace(end.Y)))
    # The model is convex: no step towards any feasible point lowers a minimum.
    for _ in range(200):
        other = module._point(M, RANDOM.normal(size=(7, 7)), RANDOM.normal(size=(6, 6)))
        for step in (1e-3, 0.1):
            ahead = objective(end.Xt + step * (other.Xt - end.Xt), end.Y + step * (other.Y - end.Y))
            assert ahead >= value - 1e-7 * value


def test_the_objective_falls_but_where_momentum_is_dropped():
    M = RANDOM.gamma(0.7, size=(12, 10))
    values = np.array([value for value, *_ in descend(M, 0.02 * float(np.vdot(M, M)), max_iter=300)[1]])
    rises = np.flatnonzero(np.diff(values) > 1e-12 * values[:-1])
    assert values[-1] == pytest.approx(values.min())
    # After a rise the momentum is gone, and a plain gradient step cannot raise the objective.
    assert (np.diff(rises) > 1).all()


@pytest.mark.parametrize("start", ["gspa", "zero"])
def test_planted_rows_and_columns_are_found_from_every_start(start):
    X, truth = make_generalized(20, 25, 2, 3, 0)
    for sizes in ({"r": 5}, {"n_rows": 2, "n_cols": 3}):
        chosen = gsfgm(X, **sizes, start=start)
        assert set(chosen.row_indices) == set(truth.row_indices)
        assert set(chosen.col_indices) == set(truth.col_indices)


def test_a_penalty_that_leaves_nothing_gives_the_answer_of_gspa():
    X = RANDOM.gamma(0.5, size=(20, 15))
    chosen, expected = gsfgm(X, 5, penalty=1e6), gspa(X, 5)
    for side in ("row_indices", "col_indices"):
        assert set(getattr(chosen, side)) == set(getattr(expected, side))


def test_progress_is_reported():
    calls = []
    gsfgm(RANDOM.gamma(0.5, size=(10, 8)), 3, max_iter=7, tol=0.0, callback=lambda *call: calls.append(call))
    assert [call[:3] for call in calls] == [("select", step, 7) for step in range(1, 8)]


def test_a_matrix_too_large_for_its_arrays_is_refused_with_a_way_out():
    X = scipy.sparse.eye_array(10_001, 3, format="csr")
    with pytest.raises(ValueError, match=r"too large for X of shape \(10001, 3\).*use gspa"):
        gsfgm(X, 2)
