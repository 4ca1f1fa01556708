"""The options --scaling and --weights: what they change, where it is written, and wrong files."""

import csv
import json

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner

from cosep import CoSeparableNMF, Factorization, make_coseparable
from cosep.cli.app import app
from cosep.cli.options import BLOCKS_ONLY, MEMORY_ONLY
from cosep.io import write_blocks

M, N, R = 24, 15, 3
X = np.round(60 * make_coseparable(M, N, R, R, noise=0.1, random_state=2)[0])
X[4] = 0.0
NAMES = [f"cell {i}" for i in range(M)]
# How often each row counts; the rows are not in this order in the table of names.
COPIES = np.arange(M) % 3 + 1
SIZES = ("--rows", R, "--cols", R)
KEYS = {
    *("shape", "n_rows", "n_cols", "topics", "scaling", "fidelity", "bound", "plain_fidelity", "method", "command"),
    *("versions", "warnings", "seconds"),
}


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


def write_table(path, values, names):
    lines = [["", *(f"gene {j}" for j in range(N))], *([name, *row] for name, row in zip(names, values, strict=True))]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fit(source, out, *words):
    """Fit without a report; return the summary."""
    result = invoke("fit", source, *SIZES, "--no-report", "--json", "--out", out, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with a table, the same in blocks, and weights in every form."""
    home = tmp_path_factory.mktemp("norms")
    write_table(home / "x.csv", X, NAMES)
    write_table(home / "copies.csv", np.repeat(X, COPIES, axis=0), np.repeat(NAMES, COPIES))
    write_blocks(home / "x.zarr", [X[:10], X[10:]])
    (home / "parts").mkdir()
    np.save(home / "parts" / "1.npy", X[:10])
    np.save(home / "parts" / "2.npy", X[10:])
    (home / "lines.txt").write_text("".join(f"{copies}\n" for copies in COPIES))
    pairs = [f"{name},{copies}\n" for name, copies in zip(NAMES, COPIES, strict=True)][::-1]
    (home / "named.csv").write_text("name,weight\n" + "".join(pairs) + "another cell,7\n")
    (home / "no-header.csv").write_text("".join(pairs))
    (home / "one-column.csv").write_text("".join(f"{copies}\n" for copies in COPIES))
    (home / "numbered.tsv").write_text("name\tweight\n" + "".join(f"row {i}\t{COPIES[i]}\n" for i in range(M)))
    return home


@pytest.mark.parametrize("file", ["lines.txt", "named.csv", "no-header.csv", "one-column.csv"])
def test_weights_are_numbers_of_copies(file, home, tmp_path):
    weighted = fit(home / "x.csv", tmp_path / "weighted", "--weights", home / file)
    repeated = fit(home / "copies.csv", tmp_path / "repeated")
    assert [topic["row"] for topic in weighted["topics"]] == [topic["row"] for topic in repeated["topics"]]
    assert [topic["anchors"] for topic in weighted["topics"]] == [topic["anchors"] for topic in repeated["topics"]]
    for part, share in repeated["fidelity"].items():
        assert weighted["fidelity"][part] == pytest.approx(share, abs=1e-6)
    rows = {row["name"]: row for row in table(tmp_path / "repeated" / "rows.csv")}
    for row in table(tmp_path / "weighted" / "rows.csv"):
        assert row["representative"] == rows[row["name"]]["representative"]
    # They do change what is selected, or how much it explains.
    plain = fit(home / "x.csv", tmp_path / "plain")
    assert weighted["fidelity"]["rows"] != pytest.approx(plain["fidelity"]["rows"], abs=1e-6)


@pytest.mark.parametrize("source", ["x.csv", "x.zarr"])
def test_rows_of_weight_zero_are_left_out_and_explained(source, home, tmp_path):
    weights = np.where(np.arange(M) % 5 == 0, 0, 1)
    (tmp_path / "weights.txt").write_text("".join(f"{weight}\n" for weight in weights))
    found = fit(home / source, tmp_path / "out", "--weights", tmp_path / "weights.txt")
    fewer = CoSeparableNMF(R, R).fit(X[weights > 0])
    selected = [topic["row"].split()[1] for topic in found["topics"]]
    assert list(map(int, selected)) == np.flatnonzero(weights)[fewer.row_indices_].tolist()
    assert found["fidelity"]["rows"] == pytest.approx(fewer.row_fidelity_, abs=1e-9)
    assert sum(topic["size"] for topic in found["topics"]) == M - 1


@pytest.mark.parametrize("source", ["x.zarr", "parts"])
def test_weights_of_blocks_are_those_of_the_library(source, home, tmp_path):
    found = fit(home / source, tmp_path / "out", "--weights", home / "lines.txt")
    named = fit(home / source, tmp_path / "out", "--weights", home / "numbered.tsv")
    assert found["fidelity"] == named["fidelity"]
    model = CoSeparableNMF(R, R).fit(X, sample_weight=COPIES)
    assert [one["index"] for one in found["selected_rows"]] == model.row_indices_.tolist()
    assert found["fidelity"]["rows"] == pytest.approx(model.row_fidelity_, abs=1e-9)
    refused(invoke("fit", home / source, "--weights", home / "named.csv"), "--weights=", "24 of 24 rows have no weight")


WRONG = {
    "negative.txt": ("1\n-2\n" + "1\n" * (M - 2), "entry 2 has '-2', which must be a finite number of at least 0"),
    "word.txt": ("1\nmany\n" + "1\n" * (M - 2), "entry 2 has 'many', which must be a finite number of at least 0"),
    "nan.txt": ("nan\n" * M, "entry 1 has 'nan'"),
    "infinite.txt": ("1\n" * (M - 1) + "1e400\n", f"entry {M} has '1e400'"),
    "few.txt": ("1\n" * (M - 1), f"has {M - 1} weights for {M} rows"),
    "many.txt": ("1\n" * (M + 1), f"has {M + 1} weights for {M} rows"),
    "zeros.txt": ("0\n" * M, "all weights are 0"),
    "empty.txt": ("", "is empty"),
    "pairs.txt": ("cell 0,1\n" * M, "a table of names and weights must end in .csv"),
    "few.csv": ("name,weight\ncell 0,1\n", f"{M - 1} of {M} rows have no weight, such as 'cell 1'"),
    "negative.csv": ("name,weight\ncell 0,-1\n", "row 'cell 0' has '-1'"),
    "two.csv": ("name,weight\ncell 0,1\ncell 0,2\n", "row 'cell 0' has two weights, 1 and 2; keep one"),
    "three.csv": ("name,weight,more\ncell 0,1,2\n", "expected two columns, name and weight, or one, got 3"),
    "binary.txt": ("1\0\n" * M, "got binary data"),
}


@pytest.mark.parametrize("command", ["fit", "rank"])
@pytest.mark.parametrize("name", [*WRONG, "absent.txt", "folder", "-"])
def test_a_wrong_file_of_weights_is_named_in_one_sentence(name, command, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    text, said = WRONG.get(name, ("", ""))
    if name in WRONG:
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.iterdir())
    refused(invoke(command, home / "x.csv", "--weights", name), f"--weights='{name}': ", said)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("source", ["x.csv", "x.zarr"])
@pytest.mark.parametrize("name", ["rows.csv", "summary.json", "core.csv"])
def test_weights_are_never_replaced(source, name, home, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for file in {"model.npz", name}:
        (out / file).write_text("1\n" * M)
    words = ("--weights", out / name, "--out", out)
    refused(invoke("fit", home / source, *SIZES, *words), "would replace the file of --weights itself")
    assert (out / name).read_text() == "1\n" * M
    refused(
        invoke("rank", home / "x.csv", "--weights", home / "lines.txt", "--plot", home / "lines.txt"),
        "--plot=",
        "would replace the file of --weights itself",
    )


@pytest.mark.parametrize("source", ["x.csv", "x.zarr"])
@pytest.mark.parametrize("scaling", ["none", "degree", "rows", "columns", "sinkhorn"])
def test_the_norm_is_written_and_kept(scaling, source, home, tmp_path):
    if (source, scaling) == ("x.zarr", "sinkhorn"):
        refused(invoke("fit", home / source, "--scaling", scaling, "--out", tmp_path / "out"), "--scaling='sinkhorn'")
        return
    expected = None if scaling == "none" else scaling
    found = fit(home / source, tmp_path / "out", "--scaling", scaling)
    stored = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert found["scaling"] == stored["scaling"] == expected
    assert set(stored) >= KEYS
    assert not {"explained", "row_fidelity", "col_fidelity", "core_fidelity"} & set(stored)
    model = CoSeparableNMF(R, R, scaling=expected).fit(X)
    assert found["fidelity"]["rows"] == pytest.approx(model.row_fidelity_, abs=1e-9)
    assert found["plain_fidelity"]["rows"] == pytest.approx(model.plain_fidelity_.rows, abs=1e-9)
    assert found["bound"]["rows"] == pytest.approx(model.fidelity_bound_.rows, abs=1e-9)
    record = Factorization.load(tmp_path / "out" / "model.npz")
    assert (None if record.scaling is None else record.scaling.name) == expected


@pytest.mark.parametrize("weights", [(), ("--weights", "lines.txt")])
@pytest.mark.parametrize("scaling", ["none", "degree", "rows", "columns", "sinkhorn"])
def test_the_saved_model_explains_the_fitted_rows_as_the_table_does(scaling, weights, home, tmp_path, monkeypatch):
    monkeypatch.chdir(home)
    fit("x.csv", tmp_path / "out", "--scaling", scaling, *weights)
    assert invoke("transform", tmp_path / "out", "x.csv", "--out", tmp_path / "again.csv").exit_code == 0
    rows, again = table(tmp_path / "out" / "rows.csv"), table(tmp_path / "again.csv")
    for column in ("name", "representative", "membership", "explained"):
        assert [row[column] for row in again] == [row[column] for row in rows]
    assert [row["representative"] == "" for row in rows] == [i == 4 for i in range(M)]


def test_an_unknown_norm_is_refused_everywhere(home):
    for command, source in (("fit", "x.csv"), ("fit", "x.zarr"), ("rank", "x.csv"), ("compare", "x.csv")):
        refused(invoke(command, home / source, "--scaling", "wrong"), "--scaling='wrong' must be one of", "'degree'")


def test_ranks_are_chosen_in_the_norm_and_with_weights(home):
    words = ("rank", home / "x.csv", "--ranks", "1,2,3", "--json")
    answers = [
        json.loads(invoke(*words, *more).stdout)["table"]["error"]
        for more in ((), ("--scaling", "none"), ("--scaling", "none", "--weights", home / "lines.txt"))
    ]
    assert answers[0] != pytest.approx(answers[1], rel=1e-3)
    assert answers[1] != pytest.approx(answers[2], rel=1e-3)


def test_methods_are_compared_in_the_norm(home):
    words = ("compare", home / "x.csv", *SIZES, "--methods", "faithful,sklearn-nmf", "--json")
    for name, scaling in (("none", None), ("degree", "degree"), ("rows", "rows")):
        answer = json.loads(invoke(*words, "--scaling", name).stdout)
        assert answer["scaling"] == scaling
        model = CoSeparableNMF(R, R, scaling=scaling).fit(X)
        lines = {line["method"]: line for line in answer["methods"]}
        assert lines["faithful"]["explained"] == pytest.approx(model.refitted_fidelity_, abs=1e-6)
        assert lines["faithful"]["row"] == pytest.approx(model.row_fidelity_, abs=1e-6)
        # No method can explain more than the best approximation of that rank, in the same norm.
        assert all(line["explained"] <= model.fidelity_bound_.refitted for line in lines.values())


def test_options_for_memory_and_for_blocks_are_parameters_of_the_commands():
    commands = typer.main.get_command(app).commands.values()
    parameters = {option.name for command in commands for option in command.params}
    assert set(MEMORY_ONLY) | set(BLOCKS_ONLY) <= parameters
    assert not set(MEMORY_ONLY) & set(BLOCKS_ONLY)
    assert not {"scaling", "weights"} & {*MEMORY_ONLY, *BLOCKS_ONLY}
