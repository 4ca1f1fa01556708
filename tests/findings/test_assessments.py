"""Sentences about an explanation: what is lost without a row, and an exchange that would improve the selection."""

from types import SimpleNamespace

import numpy as np
import pytest

import stand_ins
from cosep import CoSeparableNMF, Selection, explain, mix
from cosep.findings.assessments import exchange_sentences, reasons, sides_of
from cosep.findings.describe import describe, with_names
from cosep.findings.wording import percent


def sides(result, X):
    named = with_names(result)
    return sides_of(describe(X, result), named.row_names, named.col_names)


@pytest.fixture
def data():
    X, rows, cols = stand_ins.blocks()
    result = stand_ins.factorize(X, rows, cols)
    return sides(result, X), vars(stand_ins.explanation(result))


def changed(fields, side, **columns):
    return SimpleNamespace(**fields | {side: fields[side] | columns})


def test_an_exchange_that_improves_the_selection_is_named_and_is_as_good_as_it_says():
    X = np.random.default_rng(0).gamma(0.5, size=(20, 15))
    result = CoSeparableNMF(3, 3, method="cosfgm").fit(X).factorization_
    why = explain(X, result)
    (sentence,) = exchange_sentences(why, sides(result, X))
    side = "rows" if why.rows["runner_up_loss"].min() < why.cols["runner_up_loss"].min() else "cols"
    table, indices = getattr(why, side), f"{side[:-1]}_indices"
    k = int(np.argmin(table["runner_up_loss"]))
    assert f"{table['name'][k]}\u201d by \u201c{table['runner_up_name'][k]}" in sentence
    other = np.where(np.arange(3) == k, table["runner_up"][k], table["index"])
    chosen = {name: getattr(result.selection, name) for name in ("row_indices", "col_indices")} | {indices: other}
    after = explain(X, mix(X, Selection(**chosen), scaling="degree")).sum_of_errors
    assert f"by {percent(1 - after / why.sum_of_errors)}: " in sentence


def test_a_selection_that_no_exchange_improves_has_no_such_sentence(data):
    X = np.random.default_rng(0).gamma(0.5, size=(20, 15))
    result = CoSeparableNMF(3, 3).fit(X).factorization_
    assert exchange_sentences(explain(X, result), sides(result, X)) == ()
    both, fields = data
    fields["rows"]["runner_up_loss"], fields["cols"]["runner_up_loss"] = np.zeros(3), np.full(3, -1e-7)
    assert exchange_sentences(SimpleNamespace(**fields), both) == ()
    # Without a runner-up there is nothing to exchange, even if the sum is smaller without the row.
    lower = changed(fields, "rows", runner_up=np.full(3, -1), runner_up_loss=np.full(3, -0.1))
    assert exchange_sentences(lower, both) == ()
    (sentence,) = exchange_sentences(changed(fields, "cols", runner_up_loss=np.array([0.1, -0.002, -0.001])), both)
    assert "selected column \u201cword 5\u201d by" in sentence
    assert "by 0.4%" in sentence


@pytest.mark.parametrize(
    ("loss", "instead", "expected"),
    [
        (0.01, 0.001, ["would explain 1.00 points less.", "would explain 0.10 points less."]),
        (0.0, -0.001, ["would explain as much.", "would explain 0.10 points more."]),
        (-0.01, -0.02, ["would explain 1.00 points more.", "would explain 2.00 points more."]),
    ],
)
def test_losses_are_said_in_points(data, loss, instead, expected):
    both, fields = data
    table = {"runner_up": [1, 1, -1], "loss": [loss] * 3, "runner_up_loss": [instead] * 3}
    first, _, last = reasons(changed(fields, "rows", **table), both[0])
    assert [sentence.endswith(words) for sentence, words in zip(first.sentences, expected, strict=True)] == [True] * 2
    assert last.runner_up is None
    assert last.sentences[-1] == "No other row that was tried is better than none in its place."


def test_a_runner_up_outside_the_matrix_is_refused(data):
    both, fields = data
    with pytest.raises(ValueError, match=r"explanation.cols\['runner_up'\] must be columns of the factorization"):
        exchange_sentences(changed(fields, "cols", runner_up=[0, 1, 15]), both)
