"""Clusters of columns: a partition, each part with one of its own, the objective falling, the published choice."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import preselect
from cosep.matrix.leading import leading_triplets
from cosep.matrix.validation import as_matrix
from cosep.select.preselection import representative, split, threshold
from oracles import checked_nnls

RANDOM = np.random.default_rng(8)


def clusters(kept):
    """Return the clusters as sorted tuples of columns, in the order of the representatives."""
    return [tuple(np.flatnonzero(kept.labels == k)) for k in range(len(kept.representatives))]


def error(X, parts):
    """Return what rank one leaves of each cluster, summed."""
    return sum(float((np.linalg.svd(X[:, part], compute_uv=False)[1:] ** 2).sum()) for part in parts)


def assert_sound(X, kept):
    """Assert that the clusters are a partition of the nonzero columns, each with its representative and weight."""
    nonzero = np.asarray(X).any(axis=0)
    np.testing.assert_array_equal(kept.labels == -1, ~nonzero)
    np.testing.assert_array_equal(kept.labels[kept.representatives], np.arange(len(kept.representatives)))
    np.testing.assert_array_equal(np.diff(kept.representatives) > 0, True)
    sizes = np.bincount(kept.labels[nonzero], minlength=len(kept.representatives))
    np.testing.assert_allclose(kept.weights, np.sqrt(sizes), rtol=1e-15)


# One cluster: the slow twins


def slow_threshold(x):
    best, at = np.inf, 0.0
    for step in range(101):
        delta = step / 100
        low, high = max(delta - 0.05, 0.0), min(delta + 0.05, 1.0)
        F = np.mean(x <= delta)
        G = np.mean((x >= low) & (x <= high)) / (high - low)
        value = np.inf if F in {0, 1} else -np.log(F * (1 - F)) + np.exp(G)
        if value < best:
            best, at = value, delta
    return at


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_threshold_is_the_best_of_the_hundred_and_one(x):
    assert threshold(np.array(x)) == slow_threshold(np.array(x))


@pytest.mark.parametrize("seed", range(10))
def test_a_split_follows_the_shares_in_the_two_extreme_columns(seed):
    X = np.random.default_rng(seed).gamma(0.5, size=(15, 12))
    U, s, Vt = np.linalg.svd(X)
    U, s, V = U[:, :2], s[:2], Vt[:2].T
    plane = s * V
    first = int((plane**2).sum(axis=1).argmax())
    direction = plane[first] / np.linalg.norm(plane[first])
    second = int(((plane - np.outer(plane @ direction, direction)) ** 2).sum(axis=1).argmax())
    W = np.maximum(U @ plane[[first, second]].T, 0.0)
    shares = np.array([checked_nnls(W, column)[0] for column in X.T])
    x = shares[:, 0] / shares.sum(axis=1)
    np.testing.assert_array_equal(split(as_matrix(X), U, s, V), x >= slow_threshold(x))


@pytest.mark.parametrize("seed", range(10))
def test_the_representative_is_the_column_most_correlated_with_the_leading_vector(seed):
    X = np.random.default_rng(seed).gamma(0.5, size=(15, 12))
    u = np.abs(np.linalg.svd(X)[0][:, 0])
    expected = int(np.argmax([np.corrcoef(column, u)[0, 1] for column in X.T]))
    assert representative(as_matrix(X), u) == expected


def test_columns_that_correlate_alike_are_told_apart_by_their_angle_and_then_by_their_index():
    # With two rows every correlation is 1 or -1.
    X = np.array([[9.0, 2.0, 2.0, 4.0, 1.0], [1.0, 1.0, 1.0, 2.0, 9.0]])
    assert representative(as_matrix(X), np.array([2.0, 1.0]) / np.sqrt(5)) == 1
    assert representative(as_matrix(np.ones((3, 4))), np.ones(3) / np.sqrt(3)) == 0


def test_a_cluster_that_no_threshold_parts_loses_its_farthest_column():
    X = np.array([[1.0, 1.0, 1.0], [0.0, 1e-3, 2e-3]])
    U, s, V = leading_triplets(as_matrix(X), 2)
    # Without the second singular value all shares are one.
    assert split(as_matrix(X), U, s * [1, 0], V).tolist() in ([False, False, True], [True, False, False])


def test_shares_in_one_step_of_the_scan_are_still_parted():
    X = np.array([[1.0, 1.0, 1.0], [0.0, 1e-3, 2e-3]])
    assert_sound(X, preselect(X, 3))
    assert len(preselect(X, 3).representatives) == 3


# The tree


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 12),
    size=st.integers(1, 15),
    density=st.sampled_from([0.2, 0.6, 1.0]),
)
def test_clusters_are_a_partition_that_is_refined_as_their_number_grows_while_the_error_falls(seed, m, size, density):
    random = np.random.default_rng(seed)
    X = random.gamma(0.5, size=(m, size)) * (random.uniform(size=(m, size)) < density)
    if not X.any():
        return
    before, last = None, np.inf
    for n in range(1, size + 1):
        kept = preselect(X, n)
        assert_sound(X, kept)
        parts = clusters(kept)
        assert error(X, parts) <= last + 1e-12 * np.linalg.norm(X) ** 2
        if before is not None:
            assert all(any(set(part) <= set(whole) for whole in before) for part in parts)
            assert len(before) <= len(parts) <= n
        before, last = parts, error(X, parts)
    directions = X[:, X.any(axis=0)]
    directions /= np.linalg.norm(directions, axis=0)
    cosines = directions.T @ directions
    if cosines[~np.eye(len(cosines), dtype=bool)].max(initial=0.0) < 1 - 1e-9:
        assert len(before) == directions.shape[1]


def test_the_cluster_that_is_split_is_the_one_that_gains_most():
    X = RANDOM.gamma(0.5, size=(10, 40))
    M = as_matrix(X)
    for n in range(2, 12):
        parts = clusters(preselect(X, n))
        gains = {}
        for part in map(np.array, parts):
            first = split(M.columns(part), *leading_triplets(M.columns(part), 2)) if len(part) > 1 else None
            if first is not None:
                gains[tuple(part)] = error(X, [part]) - error(X, [part[first], part[~first]])
        gone = set(parts) - set(clusters(preselect(X, n + 1)))
        assert min(gains.values()) > -1e-12
        assert gone == {max(gains, key=gains.get)}


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([0.37, 3.0, 1e-150, 1e150]))
def test_clusters_follow_permutation_and_a_constant_factor(seed, factor):
    random = np.random.default_rng(seed)
    X = random.gamma(0.5, size=(14, 25))
    rows, cols = random.permutation(14), random.permutation(25)
    kept, moved = preselect(X, 8), preselect(X[rows][:, cols] * factor, 8)
    assert {frozenset(cols[list(part)]) for part in clusters(moved)} == set(map(frozenset, clusters(kept)))
    assert set(cols[moved.representatives]) == set(kept.representatives)


def test_every_kind_of_matrix_gives_the_same_clusters(kind):
    X = RANDOM.poisson(0.7, size=(30, 20)).astype(float)
    expected = preselect(X, 6)
    for data in (kind(X), kind(X.astype(np.float32))):
        kept = preselect(data, 6)
        np.testing.assert_array_equal(kept.labels, expected.labels)
        np.testing.assert_array_equal(kept.representatives, expected.representatives)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [30, 400])
def test_thousands_of_multiples_of_a_few_columns_make_a_few_clusters(m, dtype, form):
    base = RANDOM.uniform(size=(m, 4)) * (RANDOM.uniform(size=(m, 4)) < 0.5)
    X = (np.tile(base, (1, 500)) * 10 ** RANDOM.uniform(-3, 3, size=2000)).astype(dtype)
    kept = preselect(form(X), 50)
    assert_sound(X, kept)
    assert sorted(clusters(kept)) == [tuple(range(k, 2000, 4)) for k in range(4)]
    np.testing.assert_allclose(kept.weights, np.sqrt(500))


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (5, 9), (300, 200)])
def test_proportional_columns_are_one_cluster_that_cannot_be_split(shape, scale):
    X = np.outer(RANDOM.uniform(1, 2, size=shape[0]), RANDOM.uniform(1, 2, size=shape[1])) * scale
    kept = preselect(X, shape[1])
    assert_sound(X, kept)
    assert kept.representatives.tolist() == [0]


@pytest.mark.parametrize("size", [5, 200])
def test_equal_singular_values_leave_sound_clusters_the_same_every_time(size):
    X = scipy.sparse.eye_array(size).tocsr()
    kept, again = (preselect(X, 5) for _ in range(2))
    assert_sound(X.toarray(), kept)
    assert len(kept.representatives) == 5
    np.testing.assert_array_equal(kept.labels, again.labels)


def test_blocks_are_found():
    X = np.kron(np.eye(30), np.ones((6, 7))) * RANDOM.uniform(1, 2, size=(180, 1))
    assert clusters(preselect(X, 30)) == [tuple(range(7 * k, 7 * k + 7)) for k in range(30)]


def test_columns_of_very_different_lengths_are_all_told_apart():
    assert len(preselect(np.diag(10.0 ** np.arange(0, 140, 7)), 20).representatives) == 20


def test_all_zero_columns_belong_to_no_cluster():
    X = RANDOM.uniform(size=(6, 9))
    X[:, [0, 4, 8]] = 0.0
    kept = preselect(X, 9)
    assert_sound(X, kept)
    assert kept.representatives.tolist() == [1, 2, 3, 5, 6, 7]
    assert kept.labels.tolist() == [-1, 0, 1, 2, -1, 3, 4, 5, -1]


def test_positions_among_the_representatives_lead_back_to_the_matrix():
    kept = preselect(RANDOM.gamma(0.5, size=(10, 30)), 7)
    np.testing.assert_array_equal(kept.original([5, 0]), kept.representatives[[5, 0]])
    with pytest.raises(ValueError, match=r"positions must lie between 0 and the number of representatives - 1 = 6"):
        kept.original([7])


def test_progress_is_reported_with_the_error_of_the_clusters():
    X = RANDOM.gamma(0.5, size=(10, 30))
    calls = []
    kept = preselect(X, 7, callback=lambda *call: calls.append(call))
    assert [call[:3] for call in calls] == [("preselect", k, 7) for k in range(2, 8)]
    errors = [value for *_, value in calls]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(np.sqrt(error(X, clusters(kept))) / np.linalg.norm(X))
