"""Tables as people have them, by the command: options of tables, new rows, weights, mixed units."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from cosep import CoSeparableNMF, describe
from cosep.cli.app import app
from cosep.io import read

SIZE = ("--rows", "2", "--cols", "2", "--method", "spa")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def wine(tmp_path):
    """Measurements of wines in different units, with their class as text in the last column."""
    data = load_wine(as_frame=True)
    frame = data.data.assign(kind=[f"class {k}" for k in data.target])
    frame.to_csv(tmp_path / "wine.csv", index=False, sep=";", decimal=",")
    return tmp_path / "wine.csv"


def test_a_text_column_is_named_with_the_option_that_helps(wine, tmp_path):
    answer = run("fit", wine, *SIZE, "--out", tmp_path / "out")
    assert answer.exit_code == 2
    assert "column 'kind' holds text, such as 'class 0'; leave it out by --drop='kind', or" in answer.output
    assert "--index= (row names) or --label-column= (classes)" in answer.output


def test_new_rows_are_read_as_those_of_the_model(wine, tmp_path):
    """A column that was left out may be there again, and options of the table need not be repeated."""
    text = wine.read_text().replace(";", ":")
    wine.write_text(text)
    words = ("--sep", ":", "--drop", "kind", "--no-report", "--out", tmp_path / "out")
    assert run("fit", wine, *SIZE, *words).exit_code == 0
    answer = run("transform", tmp_path / "out", wine, "--out", tmp_path / "new.csv")
    assert answer.exit_code == 0, answer.output
    texts = [(tmp_path / name).read_text() for name in ("out/rows.csv", "new.csv")]
    tables = [csv.DictReader(text.splitlines()) for text in texts]
    rows, new = ([(one["representative"], one["membership"], one["explained"]) for one in table] for table in tables)
    assert rows == new
    grown = run("fit", wine, "--grow", tmp_path / "out", "--rows", 3, "--no-report", "--out", tmp_path / "more")
    assert grown.exit_code == 0, grown.output


def test_the_first_of_several_sheets_is_read_and_the_others_are_named(tmp_path):
    book = pd.ExcelWriter(tmp_path / "x.xlsx")
    with book:
        for k, sheet in enumerate(("North", "South")):
            frame = pd.DataFrame(np.random.default_rng(k).poisson(3.0, (12, 5))).rename(columns="c{}".format)
            frame.rename(index="r{}".format).to_excel(book, sheet_name=sheet)
    said = "x.xlsx: of its 2 sheets only the first was read, 'North'; pass --sheet= for another: 'South'."
    answer = run("fit", tmp_path / "x.xlsx", *SIZE, "--no-report", "--out", tmp_path / "out")
    assert said in " ".join(answer.output.split())
    assert any(one.endswith(said) for one in json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"])
    chosen = run("fit", tmp_path / "x.xlsx", *SIZE, "--no-report", "--sheet", "South", "--out", tmp_path / "out")
    assert "sheets" not in chosen.output
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"] == []


@pytest.mark.filterwarnings("default:.*sheets only the first:UserWarning")
def test_a_warning_of_a_command_is_one_sentence(tmp_path):
    with pd.ExcelWriter(tmp_path / "x.xlsx") as book:
        for sheet in ("North", "South"):
            pd.DataFrame(np.eye(6) + 1).rename(columns="c{}".format).to_excel(book, sheet_name=sheet)
    answer = run("rank", tmp_path / "x.xlsx", "--ranks", "2", "--quiet")
    assert answer.exit_code == 0
    assert answer.output.startswith("Warning: ")
    assert answer.output.endswith("pass --sheet= for another: 'South'.\n")
    assert answer.output.count("\n") == 1


def test_an_answer_and_its_errors_are_written_both_or_not_at_all(wine, tmp_path):
    assert run("fit", wine, *SIZE, "--drop", "kind", "--no-report", "--out", tmp_path / "out").exit_code == 0
    new, words = tmp_path / "new.csv", ("transform", tmp_path / "out", wine, "--complete", "--out")
    (tmp_path / "folder").mkdir()
    for errors in (tmp_path / "no" / "errors.csv", tmp_path / "folder"):
        answer = run(*words, new, "--errors", errors)
        assert answer.exit_code == 2
        assert answer.output.startswith("--errors='")
        assert "cannot be written" in answer.output
        assert not new.exists()
    answer = run(*words, tmp_path / "no" / "new.csv", "--errors", tmp_path / "errors.csv")
    assert answer.output.startswith("--out=")
    assert not (tmp_path / "errors.csv").exists()
    assert run(*words, new, "--errors", tmp_path / "errors.csv").exit_code == 0
    assert new.exists()
    assert (tmp_path / "errors.csv").read_text().startswith("column,selected,error,spread,r2\n")
    assert not list(tmp_path.glob(".*"))


def test_a_column_named_weight_is_offered_not_used(tmp_path):
    rows = "".join(f"r{k},{k + 1},{9 - k},{k % 3 + 1},2\n" for k in range(9))
    (tmp_path / "x.csv").write_text(f"name,a,b,c,Weight\n{rows}")
    (tmp_path / "w.csv").write_text("name,weight\n" + "".join(f"r{k},2\n" for k in range(9)))
    words = ("fit", tmp_path / "x.csv", *SIZE, "--no-report", "--json", "--out", tmp_path / "out")
    found = json.loads(run(*words).stdout)
    assert found["shape"] == [9, 4]
    assert any("Column 'Weight' was read as data" in one and "--drop Weight" in one for one in found["warnings"])
    found = json.loads(run(*words, "--drop", "Weight", "--weights", tmp_path / "w.csv").stdout)
    assert found["shape"] == [9, 3]
    assert not any("read as data" in one for one in found["warnings"])


@pytest.mark.parametrize(("scaling", "told"), [
    ("none", "the plain norm leaves that as it is, and scaling 'columns' gives all columns the same sum."),
    ("degree", "the norm of the model (scaling: degree) leaves it"),
    ("columns", "the norm of the model (scaling: columns) leaves it"),
])  # fmt: skip
def test_a_column_in_other_units_is_named_everywhere(scaling, told, wine, tmp_path):
    words = ("--drop", "kind", "--scaling", scaling, "--stability", 0, "--out", tmp_path / "out")
    answer = run("fit", wine, *SIZE, *words)
    assert answer.exit_code == 0, answer.output
    squares = load_wine().data ** 2
    share = squares[:, 12].sum() / squares.sum()
    start = f"Column \u201cproline\u201d holds {share:.1%} of the squares of the matrix, as happens where columns have"
    sentences = json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"]
    (sentence,) = [one for one in sentences if "of the squares of the matrix" in one]
    assert sentence.startswith(start)
    assert told in sentence
    assert sentence in " ".join(answer.output.split())
    page = (tmp_path / "out" / "report.html").read_text()
    assert sentence.replace("'", "&#39;") in page
    X = read(wine, drop="kind")
    model = CoSeparableNMF(2, 2, method="spa", scaling=None if scaling == "none" else scaling).fit(X.values)
    said = [one for one in describe(X.values, model.factorization_).warnings if "of the squares" in one]
    assert said == [sentence.replace("proline", "column 12")]


def test_a_row_in_other_units_is_named_and_equal_columns_are_not():
    X = np.random.default_rng(0).random((20, 10)) + 0.5
    assert not any(
        "squares of the matrix" in one for one in describe(X, CoSeparableNMF(2, 2).fit(X).factorization_).warnings
    )
    X[3] *= 1000
    found = describe(X, CoSeparableNMF(2, 2).fit(X).factorization_).warnings
    assert any(one.startswith("Row \u201crow 3\u201d holds more than 99.9% of the squares") for one in found)


def columns_of(path, *names):
    return [tuple(row[name] for name in names) for row in csv.DictReader(path.read_text().splitlines())]


@pytest.mark.parametrize("method", ["faithful", "spa"])
def test_a_model_of_the_command_is_one_of_python_and_the_reverse(tmp_path, method):
    X = load_wine(as_frame=True).data.rename(index="wine {}".format)
    X.to_csv(tmp_path / "wine.csv")
    words = ("--rows", 4, "--cols", 3, "--method", method, "--no-report", "--out", tmp_path / "out")
    assert run("fit", tmp_path / "wine.csv", *words).exit_code == 0
    model, own = CoSeparableNMF.load(tmp_path / "out"), CoSeparableNMF(4, 3, method=method).fit(X)
    # The storage of a table that was read differs, and so does rounding.
    np.testing.assert_allclose(model.transform(X), own.transform(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), own.row_labels_)
    np.testing.assert_allclose(model.complete(X), own.complete(X), rtol=1e-6)
    assert model.get_params() == own.get_params()

    own.save(tmp_path / "python.npz")
    shared = ("name", "representative", "membership", "explained", "assigned")
    for record in (tmp_path / "out", tmp_path / "python.npz"):
        assert run("transform", record, tmp_path / "wine.csv", "--out", tmp_path / "new.csv").exit_code == 0
        assert columns_of(tmp_path / "new.csv", *shared) == columns_of(tmp_path / "out" / "rows.csv", *shared)


def test_a_model_of_python_without_names_takes_columns_by_their_position(tmp_path):
    X = load_wine().data
    CoSeparableNMF(3, 3).fit(X).save(tmp_path / "model.npz")
    load_wine(as_frame=True).data.to_csv(tmp_path / "wine.csv", index=False)
    answer = run("transform", tmp_path / "model.npz", tmp_path / "wine.csv", "--out", tmp_path / "new.csv")
    assert answer.exit_code == 0, answer.output
    assert len(columns_of(tmp_path / "new.csv", "representative")) == len(X)
    np.savetxt(tmp_path / "few.csv", X[:, :5], delimiter=",", header="a,b,c,d,e", comments="")
    answer = run("transform", tmp_path / "model.npz", tmp_path / "few.csv")
    assert answer.exit_code == 2
    assert "lacks 13 of 13 columns" in answer.output
