"""SNPA: the distance to a convex hull, as a QP solver finds it."""

import numpy as np
import pytest

from cosep import Pool, SelectionWarning, snpa, spa
from oracles import qp_simplex

RANDOM = np.random.default_rng(11)


def distances(A, atoms):
    """Return the distance of every column of A to the convex hull of the origin and the columns of ``atoms``."""
    G = atoms.T @ atoms
    return np.array([np.linalg.norm(a - atoms @ qp_simplex(G, atoms.T @ a)) for a in A.T])


@pytest.mark.parametrize("normalize", [True, False])
def test_each_choice_is_the_column_furthest_from_the_hull_of_the_earlier_ones(normalize):
    X = RANDOM.gamma(0.5, size=(12, 30))
    A = X / X.sum(axis=0) if normalize else X
    chosen = snpa(X, 6, normalize=normalize)
    order = chosen.col_indices
    longest = np.linalg.norm(A, axis=0).max()
    for k in range(1, 6):
        far = distances(A, A[:, order[:k]])
        assert far[order[k]] == pytest.approx(far.max(), rel=1e-6)
        assert chosen.history[k] * longest == pytest.approx(far[order[k]], rel=1e-6)


def test_more_columns_than_the_rank_can_be_chosen():
    angles = np.linspace(0.1, 1.4, 6)
    X = np.vstack([np.cos(angles), np.sin(angles), np.ones(6)]) @ np.eye(6, 9)
    X[:, 6:] = X[:, :6] @ RANDOM.dirichlet(np.ones(6), size=3).T
    assert set(snpa(X, 6).col_indices) == set(range(6))
    with pytest.warns(SelectionWarning, match="Only 3 of the 6"):
        assert len(spa(X, 6).col_indices) == 3


def test_a_pool_is_kept_to():
    X = RANDOM.gamma(0.5, size=(12, 30))
    chosen = snpa(X, 4, pool=Pool(candidates=range(5, 20), include=[7]))
    assert chosen.col_indices[0] == 7
    assert set(chosen.col_indices) <= set(range(5, 20))
