"""The option --grow: an earlier answer stays first in a larger one, by name; other tables are refused."""

import csv
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cosep import CoSeparableNMF, Factorization, make_coseparable
from cosep.cli.app import app
from cosep.io import write_blocks

pytestmark = pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
X = make_coseparable(40, 24, 8, 8, noise=0.05, random_state=1)[0]
TABLE = pd.DataFrame(X, [f"cell {i}" for i in range(40)], [f"gene {j}" for j in range(24)])
SMALL = CoSeparableNMF(3, 4).fit(X)
TEXTS = [
    "fish boat water",
    "fish water net",
    "oven bread flour",
    "oven bread heat",
    "boat water oar",
    "bread salt oven",
]


def invoke(*words):
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, list(map(str, words)))


def refused(result, *parts):
    """Ask for exit code 2 and one sentence."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def fit(source, out, *words):
    """Fit without a report; return the summary."""
    result = invoke("fit", source, "--no-report", "--json", "--out", out, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def core_names(folder):
    """Return the names of the selected rows and columns in order."""
    with (folder / "core.csv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    return [line[0] for line in lines], header[1:]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A folder with a table, blocks, texts and small answers of them."""
    home = tmp_path_factory.mktemp("answers")
    TABLE.to_csv(home / "table.csv")
    np.save(home / "X.npy", X)
    write_blocks(home / "X.zarr", [X[:25], X[25:]])
    (home / "texts.txt").write_text("\n".join(TEXTS))
    for source, words in (("table.csv", ()), ("X.npy", ()), ("X.zarr", ()), ("texts.txt", ("--min-df", 1))):
        sizes = ("--rows", 2, "--cols", 2) if source == "texts.txt" else ("--rows", 3, "--cols", 4)
        fit(home / source, home / f"small-{source}", *sizes, *words)
    return home


@pytest.fixture
def home(answers, tmp_path, monkeypatch):
    """A copy of it to work in."""
    shutil.copytree(answers, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def test_a_larger_answer_begins_with_the_earlier_one_and_is_that_of_the_library(home):
    summary = fit("table.csv", "large", "--grow", "small-table.csv", "--rows", 6, "--cols", 7)
    larger = SMALL.grow(X, 6, 7)
    assert core_names(home / "large")[0][:3] == core_names(home / "small-table.csv")[0]
    assert core_names(home / "large") == (
        [f"cell {i}" for i in larger.row_indices_],
        [f"gene {j}" for j in larger.col_indices_],
    )
    assert [topic["row"] for topic in summary["topics"]] == core_names(home / "large")[0]
    assert (summary["kept_rows"], summary["kept_cols"], summary["n_rows"], summary["n_cols"]) == (3, 4, 6, 7)
    assert summary["fidelity"]["rows"] == pytest.approx(larger.row_fidelity_)
    np.testing.assert_array_equal(Factorization.load(home / "large" / "model.npz").row_labels, larger.row_labels_)
    assert "kept_rows" not in json.loads((home / "small-table.csv" / "summary.json").read_text())


def test_a_larger_answer_grows_again_from_its_model_file(home):
    fit("table.csv", "large", "--grow", "small-table.csv/model.npz", "--rows", 5)
    assert core_names(home / "large")[1] == core_names(home / "small-table.csv")[1]  # --cols: as many as before
    fit("table.csv", "largest", "--grow", "large", "--rows", 6, "--cols", 6)
    assert core_names(home / "largest")[0][:5] == core_names(home / "large")[0]


def test_rows_and_columns_are_found_by_name(home):
    other = pd.concat([TABLE.iloc[::-1, ::-1].assign(extra=1.0), TABLE.iloc[:2].rename(index="{} again".format)])
    other.drop(columns="extra").fillna(0.0).to_csv("shuffled.csv")
    fit("shuffled.csv", "large", "--grow", "small-table.csv", "--rows", 6, "--cols", 7)
    rows, cols = core_names(home / "small-table.csv")
    assert core_names(home / "large")[0][:3] == rows
    assert core_names(home / "large")[1][:4] == cols
    TABLE.assign(extra=1.0).to_csv("wider.csv")
    summary = fit("wider.csv", "wide", "--grow", "small-table.csv", "--rows", 6, "--cols", 7)
    assert summary["shape"] == [40, 24]  # as for cosep transform, other columns are left out


def test_the_method_and_the_norm_are_those_of_the_earlier_answer_unless_others_are_named(home):
    fit("table.csv", "plain", "--rows", 2, "--cols", 2, "--method", "spa", "--scaling", "none")
    summary = fit("table.csv", "large", "--grow", "plain", "--rows", 4, "--cols", 4)
    assert (summary["method"], summary["scaling"]) == ("spa", None)
    summary = fit("table.csv", "other", "--grow", "plain", "--rows", 4, "--method", "faithful", "--scaling", "rows")
    assert (summary["method"], summary["scaling"]) == ("faithful", "rows")
    assert core_names(home / "other")[0][:2] == core_names(home / "plain")[0]


def test_answers_of_blocks_grow_in_blocks_and_in_memory(home):
    rows, cols = core_names(home / "small-X.zarr")
    for source in ("X.zarr", "X.npy"):
        fit(source, f"large-{source}", "--grow", "small-X.zarr", "--rows", 6, "--cols", 6)
        larger = core_names(home / f"large-{source}")
        assert (larger[0][:3], larger[1][:4]) == (rows, cols)
    fit("X.zarr", "back", "--grow", "small-X.npy", "--rows", 6, "--cols", 6)
    assert core_names(home / "back")[0][:3] == core_names(home / "small-X.npy")[0]


def test_words_of_texts_are_counted_as_before(home):
    (home / "more.txt").write_text("\n".join([*TEXTS, "quite other words"]))
    summary = fit("more.txt", "large", "--grow", "small-texts.txt", "--rows", 3, "--cols", 3)
    small = Factorization.load(home / "small-texts.txt" / "model.npz")
    assert summary["shape"] == [7, small.shape[1]]
    assert core_names(home / "large")[0][:2] == core_names(home / "small-texts.txt")[0]
    refused(invoke("fit", "more.txt", "--grow", "small-texts.txt", "--min-df", 1), "--min-df does not apply to --grow")


def test_the_report_of_a_larger_answer_says_what_was_kept_and_has_the_path(home):
    result = invoke("fit", "table.csv", "--grow", "small-table.csv", "--rows", 5, "--quiet", "--out", "large",
                    "--stability", 0)  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    page = (home / "large" / "report.html").read_text(encoding="utf-8")
    assert "kept_rows" in page
    assert "Would fewer do?" in page
    summary = json.loads((home / "large" / "summary.json").read_text())
    assert sorted(summary["path"]["row_order"]) == sorted(core_names(home / "large")[0])
    assert summary["path"]["rows"][-1] == pytest.approx(summary["fidelity"]["rows"])
    assert summary["path"]["core"][-1] == pytest.approx(summary["fidelity"]["core"])
    assert summary["path"]["bound"][3] == pytest.approx(summary["bound"]["cols"])


def test_a_path_that_takes_long_is_left_out(home, monkeypatch):
    monkeypatch.setattr("cosep.cli.matrix_source.MAX_PATH_COST", 40 * 9)
    assert (
        invoke("fit", "table.csv", "--rows", 3, "--cols", 3, "--quiet", "--out", "a", "--stability", 0).exit_code == 0
    )
    assert "path" not in json.loads((home / "a" / "summary.json").read_text())
    assert "Would fewer do?" not in (home / "a" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("table.csv", "--grow", "small-table.csv", "--rows", 2), ("--rows=2", "at least 3", "--grow=")),
        (("table.csv", "--grow", "small-table.csv", "--cols", 3), ("--cols=3", "at least 4")),
        (("table.csv", "--grow", "small-table.csv", "--rows", 41), ("--rows=41", "at most")),
        (("table.csv", "--grow", "nothing"), ("--grow='nothing' is not a model", "cosep fit wrote")),
        (("table.csv", "--grow", "X.zarr"), ("--grow='X.zarr' is not a model",)),
        (("table.csv", "--grow", "table.csv"), ("--grow='table.csv' is not a model",)),
        (("scaled.csv", "--grow", "small-table.csv"), ("model of another table", "same data")),
        (("narrow.csv", "--grow", "small-table.csv"), ("lacks 2 of 24 columns", "name its columns as there")),
        (("few.csv", "--grow", "small-table.csv"), ("lacks", "of 3 selected rows", "name its rows as there")),
        (("double.csv", "--grow", "small-table.csv"), ("several are called", "rename")),
        (("X.zarr", "--grow", "small-table.csv"), ("other columns than INPUT",)),
        (("table.csv", "--grow", "small-table.csv", "--method", "cur"), ("--method='cur' cannot keep",)),
        (("table.csv", "--grow", "small-table.csv", "--method", "x"), ("--method='x' must be one of",)),
        (("table.csv", "--grow", "small-table.csv", "--choose-rank"), ("--choose-rank does not apply to --grow",)),
        (
            ("table.csv", "--grow", "small-table.csv", "--out", "small-table.csv"),
            ("would replace the answer of --grow",),
        ),
    ],
)
def test_what_cannot_grow_is_refused_in_one_sentence(home, words, parts):
    (1.1 * TABLE).to_csv("scaled.csv")
    TABLE.iloc[:, 2:].to_csv("narrow.csv")
    TABLE.drop(index=f"cell {SMALL.row_indices_[0]}").to_csv("few.csv")
    pd.concat([TABLE, TABLE]).to_csv("double.csv")
    out = () if "--out" in words else ("--out", "out")
    before = (home / "small-table.csv" / "model.npz").read_bytes()
    refused(invoke("fit", *words, *out, "--no-report"), *parts)
    assert not (home / "out").exists()
    assert (home / "small-table.csv" / "model.npz").read_bytes() == before


def test_the_help_has_an_example():
    text = " ".join(invoke("fit", "--help").output.split())
    assert "cosep fit counts.csv --grow answer --rows 60 --cols 60 --out larger" in text
