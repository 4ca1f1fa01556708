"""The planted matrices are what they claim to be."""

import numpy as np
import pytest

from cosep import Selection, make_coseparable, mix
from cosep.datasets import Planted
from oracles import checked_nnls


def test_a_noiseless_matrix_is_the_product_of_its_core():
    for protocol in ("scale-first", "noise-first"):
        X, truth = make_coseparable(40, 30, 5, 4, protocol=protocol, random_state=0)
        factors = mix(X, truth)
        np.testing.assert_allclose(factors.row_weights @ factors.core @ factors.col_weights, X, rtol=1e-6)
        np.testing.assert_allclose(X.sum(axis=0), 40, rtol=1e-2)
        np.testing.assert_allclose(X.sum(axis=1), 30, rtol=1e-2)


def test_the_noise_has_the_norm_asked_for():
    clean = make_coseparable(80, 60, 5, 4, random_state=1)[0]
    noisy = make_coseparable(80, 60, 5, 4, noise=1e-3, random_state=1)[0]
    assert np.linalg.norm(noisy - clean) / np.linalg.norm(clean) == pytest.approx(1e-3, rel=1e-3)
    assert (make_coseparable(20, 20, 2, 2, noise=2.0, random_state=1)[0] >= 0).all()


def test_noise_before_scaling_falls_hardest_on_the_planted_rows():
    share = {}
    for protocol in ("scale-first", "noise-first"):
        clean, truth = make_coseparable(100, 100, 10, 3, protocol=protocol, random_state=2)
        noisy = make_coseparable(100, 100, 10, 3, noise=1e-3, protocol=protocol, random_state=2)[0]
        noise = np.linalg.norm(noisy - clean, axis=1)
        share[protocol] = noise[truth.row_indices].mean() / np.delete(noise, truth.row_indices).mean()
    assert share["scale-first"] == pytest.approx(1, rel=0.2)
    assert share["noise-first"] > 3


def test_the_truth_is_permuted_unless_told_otherwise():
    truth = make_coseparable(50, 50, 5, 5, random_state=3)[1]
    assert sorted(truth.row_indices) != list(range(5))
    plain, front = make_coseparable(50, 50, 5, 5, permute=False, random_state=3)
    np.testing.assert_array_equal(front.row_indices, np.arange(5))
    np.testing.assert_array_equal(front.col_indices, np.arange(5))
    shuffled = make_coseparable(50, 50, 5, 5, random_state=3)[0]
    np.testing.assert_allclose(shuffled[truth.row_indices][:, truth.col_indices], plain[:5, :5], rtol=1e-12)


def test_identifiable_anchors_are_those_that_no_other_row_mixes_to():
    X, truth = make_coseparable(60, 50, 10, 3, random_state=4)
    assert isinstance(truth, Planted)
    assert isinstance(truth, Selection)
    rows = X / X.sum(axis=1, keepdims=True)
    for index, identifiable in zip(truth.row_indices, truth.row_identifiable, strict=True):
        distance = checked_nnls(np.delete(rows, index, axis=0).T, rows[index])[1]
        assert (distance > 1e-7) == identifiable
    assert 3 <= truth.row_identifiable.sum() < 10
    assert truth.col_identifiable.all()


def test_a_square_core_of_full_rank_has_only_identifiable_anchors():
    truth = make_coseparable(60, 50, 7, 7, random_state=5)[1]
    assert truth.row_identifiable.all()
    assert truth.col_identifiable.all()


def test_about_half_of_ten_rows_in_three_dimensions_are_identifiable():
    # A count from the paper's synthetic experiment: 5.5 extreme rays of ten on average.
    counts = [make_coseparable(20, 20, 10, 3, random_state=seed)[1].row_identifiable.sum() for seed in range(100)]
    assert 5 < np.mean(counts) < 6


def test_one_seed_gives_one_matrix():
    first, second = (make_coseparable(20, 20, 3, 3, noise=0.1, random_state=7)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, make_coseparable(20, 20, 3, 3, noise=0.1, random_state=8)[0])


def test_the_smallest_matrices_work():
    assert make_coseparable(1, 1, 1, 1, random_state=0)[0].shape == (1, 1)
    X, truth = make_coseparable(4, 5, 4, 5, random_state=0)
    assert sorted(truth.row_indices) == [0, 1, 2, 3]
    assert X.shape == (4, 5)
