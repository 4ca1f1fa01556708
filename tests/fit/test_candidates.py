import numpy as np
import pytest

from cosep import make_coseparable
from cosep.fit.candidates import ROWS_PER_DIRECTION, SCORE_DECIMALS, Directions, candidates, directions
from cosep.matrix.local import LocalMatrix
from in_blocks import DATA, FORMATS, lengths_of, local, some_directions


def slow_candidates(where, X):
    """Sort all rows for every direction."""
    M = X if where.col_scale is None else X * where.col_scale
    out = ~M.any(axis=1)
    if where.allowed is not None:
        out |= ~np.isin(np.arange(len(X)), where.allowed)
    chosen = []
    for part, sizes in ((where.typical, np.linalg.norm(M, axis=1)), (where.extreme, M.sum(axis=1))):
        for direction in part.T:
            merits = np.round(M @ direction / np.where(sizes > 0, sizes, 1), SCORE_DECIMALS)
            order = sorted(np.flatnonzero(~out), key=lambda i, merits=merits: (-merits[i], i))[:ROWS_PER_DIRECTION]
            chosen.append([*order, *[-1] * (ROWS_PER_DIRECTION - len(order))])
    return np.array(chosen)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "name"), [(1, False, "csc"), (9, True, "dense"), (40, False, "csr")])
@pytest.mark.parametrize("limits", ["none", "scaled", "few allowed", "one allowed", "zeros allowed"])
def test_candidates_of_blocks_are_those_of_the_whole_the_first_of_equal_rows(data, count, ragged, name, limits):
    X = DATA[data]
    allowed = {
        "few allowed": np.arange(5, 900, 7),
        "one allowed": [77],
        "zeros allowed": np.flatnonzero(~X.any(axis=1)),
    }
    where = some_directions(
        X.shape[1],
        col_scale=np.linspace(0.5, 2, X.shape[1]) if limits == "scaled" else None,
        allowed=allowed.get(limits),
    )
    found = local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[name]).reduce(candidates, where)
    expected = slow_candidates(where, X)
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_array_equal(np.unique(found.found), np.unique(expected[expected >= 0]))
    np.testing.assert_array_equal(found.rows.take(), X[found.found])
    assert (found.scores[expected < 0] == -np.inf).all()


def test_the_vertices_of_a_separable_matrix_go_farthest():
    X, truth = make_coseparable(300, 30, 5, 5, random_state=0)
    typical, extreme = directions(LocalMatrix(X), truth.row_indices)
    best = local(X, lengths_of(300, 7)).reduce(candidates, Directions(typical, extreme, None, None)).indices[:, 0]
    assert best[5:].tolist() == truth.row_indices.tolist()


def test_directions_have_length_one_or_none():
    X = DATA["counts"]
    chosen = np.array([0, 1, 60])
    assert not X[0].any()
    for part in directions(LocalMatrix(X), chosen):
        lengths = np.linalg.norm(part, axis=0)
        assert (np.isclose(lengths, 1) | (lengths == 0)).all()
        assert lengths[1:].all()
