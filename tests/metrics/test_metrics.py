"""The three measures, against their definitions and the paper's printed figures."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Factorization, Selection, clustering_accuracy, index_accuracy, relative_approximation


def brute_force_accuracy(true, pred, r):
    """Try every assignment in the corrected formula; -1 is a row of zeros."""
    Q_true, Q_pred = (np.array([np.arange(r) == label for label in labels], dtype=float) for labels in (true, pred))
    least = min(np.linalg.norm(Q_pred[:, order] - Q_true) ** 2 for order in map(list, permutations(range(r))))
    return 1 - np.sqrt(least / (r * len(true)))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1, max_size=20))
def test_clustering_accuracy_is_the_best_over_all_assignments(pairs):
    true, pred = (np.array(labels) for labels in zip(*pairs, strict=True))
    true_codes = np.unique(true, return_inverse=True)[1]
    known = np.unique(pred[pred >= 0])
    pred_codes = np.array([-1 if label < 0 else int(np.searchsorted(known, label)) for label in pred])
    r = max(true_codes.max(), pred_codes.max()) + 1
    assert clustering_accuracy(true, pred) == pytest.approx(brute_force_accuracy(true_codes, pred_codes, r), abs=1e-12)


def test_the_printed_k1b_accuracy_is_a_matched_share_of_72_percent():
    # Table 2 of the paper prints 69.45 for k1b, r = 6; 1 - sqrt(2 (1 - c) / 6) = 0.6945 gives c = 0.72.
    true = np.repeat(np.arange(6), 100)
    pred = true.copy()
    wrong = np.flatnonzero(np.arange(600) % 100 < 28)
    pred[wrong] = (pred[wrong] + 1 + np.arange(168) % 5) % 6
    matched = np.mean(true == pred)
    assert matched == 0.72
    assert clustering_accuracy(true, pred) == pytest.approx(0.6945, abs=1e-4)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.permutations(range(5)), st.randoms())
def test_clustering_accuracy_does_not_depend_on_names_or_order(labels, renaming, random):
    labels = np.array(labels)
    other = np.array([random.randint(0, 4) for _ in labels])
    order = np.array(random.sample(range(len(labels)), len(labels)))
    names = np.array(["ash", "oak", "elm", "fir", "yew"])
    value = clustering_accuracy(labels, other)
    assert clustering_accuracy(names[labels], other) == pytest.approx(value)
    assert clustering_accuracy(labels, np.array(renaming)[other]) == pytest.approx(value)
    assert clustering_accuracy(labels[order], other[order]) == pytest.approx(value)
    assert clustering_accuracy(labels, labels * 7.5) == 1.0


def test_unequal_numbers_of_clusters_are_padded():
    assert clustering_accuracy([0, 0, 0, 0], [0, 0, 1, 1]) == pytest.approx(1 - np.sqrt(2 * 0.5 / 2))
    assert clustering_accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == pytest.approx(1 - np.sqrt(2 * 0.75 / 4))


def test_an_item_without_a_cluster_counts_half():
    assert clustering_accuracy([0, 1, 0, 1], [0, 1, 0, -1]) == pytest.approx(1 - np.sqrt(1 / 8))
    assert clustering_accuracy([0, 1], [-1, -1]) == pytest.approx(1 - np.sqrt(2 / 4))


def test_minus_one_is_an_ordinary_true_label():
    assert clustering_accuracy([-1, -1, 1, 1], [0, 0, 1, 1]) == 1.0


def test_index_accuracy_counts_shared_indices_over_true_ones():
    truth = Selection(np.array([0, 1, 2]), np.array([5]))
    assert index_accuracy(Selection(np.array([2, 1]), np.array([5, 6])), truth) == 0.75
    assert index_accuracy(Selection(None, np.array([5])), truth) == 0.25
    assert index_accuracy(truth, Selection(None, np.array([5]))) == 1.0


def test_relative_approximation_is_one_minus_the_relative_error():
    X = np.array([[3.0, 4.0]])
    assert relative_approximation(X, Factorization(np.ones((1, 1)), None, np.array([[3.0, 0.0]]))) == pytest.approx(0.2)
    assert relative_approximation(X, Factorization(np.ones((1, 1)), None, 2 * X)) == pytest.approx(0.0)
    assert relative_approximation(X, Factorization(np.ones((1, 1)), None, 3 * X)) == pytest.approx(-1.0)
