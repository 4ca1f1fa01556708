"""The commands on tables with missing entries."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cosep import CoSeparableNMF, make_coseparable
from cosep.cli.app import app
from cosep.io import read

X = np.round(make_coseparable(40, 12, 3, 3, noise=0.02, random_state=0)[0], 3)
GAPS = np.random.default_rng(0).uniform(size=X.shape) < 0.15
G = np.where(GAPS, np.nan, X)


def invoke(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A table with empty cells, one with NA, and one of triplets."""
    folder = tmp_path_factory.mktemp("tables")
    for name, mark in (("empty.csv", ""), ("na.csv", "NA")):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["", *(f"c{j}" for j in range(12))])
            writer.writerows([f"r{i}", *(mark if np.isnan(x) else x for x in row)] for i, row in enumerate(G))
    with (folder / "triplets.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "item", "rating"])
        writer.writerows([f"r{i}", f"c{j}", X[i, j]] for i, j in np.argwhere(~GAPS))
        writer.writerow(["r0", "new", 0])
    return folder


@pytest.fixture(scope="module")
def answer(tables):
    result = invoke(
        "fit", tables / "empty.csv", "--rows", 3, "--cols", 3, "--missing", "nan", "--out", tables / "answer", "--json"
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def model():
    return CoSeparableNMF(3, 3, missing="nan").fit(G)


def test_a_fit_says_what_was_missing(tables, answer, model):
    assert answer["missing"]["count"] == GAPS.sum()
    assert len(answer["missing"]["in_core"]) == model.core_missing_.sum()
    assert answer["fidelity"]["refitted"] == model.refitted_fidelity_
    assert f"{GAPS.sum()} entries of 480" in answer["warnings"][0]
    assert "were missing" in (tables / "answer" / "report.html").read_text(encoding="utf-8")


def test_the_same_table_with_other_marks_gives_the_same_answer(tables, answer):
    assert (
        invoke(
            "fit",
            tables / "na.csv",
            "--rows",
            3,
            "--cols",
            3,
            "--missing",
            "nan",
            "--out",
            tables / "na",
            "--quiet",
            "--no-report",
        ).exit_code
        == 0
    )
    assert (tables / "na" / "rows.csv").read_bytes() == (tables / "answer" / "rows.csv").read_bytes()
    assert answer["n_rows"] == 3


def test_missing_entries_are_filled_and_observed_ones_kept(tables, answer, model):
    out = tables / "filled.csv"
    assert invoke("transform", tables / "answer", tables / "empty.csv", "--fill", "--out", out).exit_code == 0
    filled = read(out).values
    np.testing.assert_array_equal(filled[~GAPS], X[~GAPS])
    np.testing.assert_allclose(filled, model.fill_missing(G))
    assert answer["shape"] == [40, 12]


def test_new_rows_may_have_gaps(tables, answer, model):
    result = invoke("transform", tables / "answer", tables / "na.csv", "--json")
    assert result.exit_code == 0
    table = json.loads(result.stdout)
    names = [topic["row"] for topic in answer["topics"]]
    assert {*names} <= {*table}
    of_rows = [f"r{i}" for i in model.row_indices_]
    np.testing.assert_allclose(np.array([table[name] for name in of_rows]).T, model.transform(G))


def test_triplets_store_what_is_observed_and_zeros_too(tables):
    data = read(tables / "triplets.csv", missing="unstored").values
    assert data.nnz == (~GAPS).sum() + 1
    result = invoke(
        "fit",
        tables / "triplets.csv",
        "--rows",
        3,
        "--cols",
        3,
        "--missing",
        "unstored",
        "--out",
        tables / "triplets",
        "--json",
        "--no-report",
    )
    assert result.exit_code == 0
    assert json.loads(result.stdout)["missing"]["count"] == 40 * 13 - data.nnz


BAD = {
    "not asked for": (("fit", "empty.csv"), "is missing"),
    "an unknown name": (("fit", "empty.csv", "--missing", "zero"), "missing='zero' must be one of"),
    "a wide table": (("fit", "empty.csv", "--missing", "unstored"), "is for triplets and sparse matrices"),
    "a choice of the rank": (("fit", "empty.csv", "--missing", "nan", "--choose-rank"), "--choose-rank does not apply"),
    "growing": (("fit", "empty.csv", "--missing", "nan", "--grow", "answer"), "does not apply to --grow"),
    "both": (("transform", "answer", "empty.csv", "--fill", "--complete"), "pass one of them"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.usefixtures("answer")
def test_what_cannot_be_done_is_refused(tables, case, monkeypatch):
    monkeypatch.chdir(tables)
    words, message = BAD[case]
    result = invoke(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_filling_needs_a_model_with_missing_entries(tables):
    (tables / "whole.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
    assert (
        invoke(
            "fit", tables / "whole.csv", "--rows", 2, "--cols", 2, "--out", tables / "whole", "--quiet", "--no-report"
        ).exit_code
        == 0
    )
    result = invoke("transform", tables / "whole", tables / "whole.csv", "--fill")
    assert result.exit_code == 2
    assert "fitted without --missing" in result.stderr
