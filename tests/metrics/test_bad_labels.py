"""Labels and selections that cannot be compared, and those of unusual types."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from calls import (
    ROWS,
    fingerprint,
    read_only,
    refused,
    right_or_refused,
)
from cosep import (
    Selection,
    clustering_accuracy,
    index_accuracy,
)


@pytest.mark.parametrize(
    ("selection", "truth", "words"),
    [
        ([0], ROWS, ("selection", "list")),
        (ROWS, [0], ("truth", "list")),
        (None, ROWS, ("selection", "NoneType")),
        (ROWS, Selection(None, None), ("truth", "at least one")),
    ],
)
def test_index_accuracy_compares_selections_with_a_truth_and_nothing_else(selection, truth, words):
    with refused(*words):
        index_accuracy(selection, truth)


NOT_LABELS = {
    "an empty list": ([], "non-empty"),
    "a matrix": ([[0, 1]], "one-dimensional"),
    "a number": (5, "one-dimensional"),
    "text": ("ab", "one-dimensional"),
    "a dict": ({}, "one-dimensional"),
    "sparse": (sp.coo_array([1, 0]), "one-dimensional"),
    "NaN": ([0.0, np.nan], "NaN"),
    "missing integers": (pd.array([1, None], dtype="Int64"), "NaN"),
    "None": ([0, None], "compared"),
    "ragged": ([["a"], ["b", "c"]], "one-dimensional"),
    "masked": (np.ma.masked_array([0, 1], mask=[False, True]), "masked"),
    "no date": (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "NaN"),
    "NaN among words": (["a", float("nan")], "compared"),
}


@pytest.mark.parametrize("role", ["labels_true", "labels_pred"])
@pytest.mark.parametrize("case", NOT_LABELS)
def test_labels_that_are_missing_or_not_a_list_are_refused_under_their_name(case, role):
    labels, word = NOT_LABELS[case]
    with refused(role, word):
        clustering_accuracy(**({"labels_true": [0, 1], "labels_pred": [0, 1]} | {role: labels}))


def test_labels_of_different_items_are_refused():
    with refused("labels_true", "labels_pred", "3 items", "2"):
        clustering_accuracy([0, 1, 1], [0, 1])


def test_a_number_and_the_same_digits_as_text_are_different_labels_or_refused():
    right_or_refused(lambda: clustering_accuracy(["a", "b"], [1, "1"]), lambda accuracy: accuracy == 1.0, "labels_pred")


@pytest.mark.parametrize("make", [list, np.int8, partial(np.array, dtype=object), pd.Series])
def test_minus_one_means_no_cluster_in_every_kind_of_list(make):
    assert clustering_accuracy([0, 1, 0], make([0, -1, 1])) == clustering_accuracy([0, 1, 0], np.array([0, -1, 1]))


def test_items_without_a_cluster_match_nothing():
    assert clustering_accuracy([0, 1], [-1, -1]) == pytest.approx(1.0 - np.sqrt(0.5))
    assert clustering_accuracy([0], [-1]) == 0.0


def test_labels_are_not_modified():
    true, pred = read_only(np.array([0, 1, 0])), read_only(np.array([5, -1, 5]))
    before = fingerprint((true, pred))
    assert clustering_accuracy(true, pred) == pytest.approx(1.0 - np.sqrt(1 / 6))
    assert fingerprint((true, pred)) == before
