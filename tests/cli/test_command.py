"""The installed command from end to end: every kind of input, every command, and everything that can go wrong."""

import contextlib
import csv
import gzip
import json
import pickle
import resource
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from io import StringIO
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from typer.testing import CliRunner

from cosep import CoSeparableNMF, Factorization, make_coseparable
from cosep.cli.app import app
from cosep.findings.new_rows import complete_rows, decoder_of
from cosep.io import write_blocks

COSEP = Path(sys.executable).with_name("cosep")
FILES = ["columns.csv", "core.csv", "model.npz", "report.html", "rows.csv", "summary.json"]
# A name that a page, a shell and a table could each take for something else.
NASTY = 'a,"b" <script>alert(1)</script> [red]'


def cosep(*words, cwd, limit=None, **options):
    """Run the command in a new process; ``limit`` is the largest file it may write."""
    bounds = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    command = [COSEP, *map(str, words)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, preexec_fn=bounds, **options
    )


def cosep_here(*words, cwd):
    """Run the command in this process: much faster, and enough where only the input differs."""
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(app, list(map(str, words)))
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def refused(result, *parts):
    """Ask for exit code 2, one sentence, and nothing else."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


def listed(folder):
    return sorted(file.name for file in folder.iterdir())


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def planted():
    X, truth = make_coseparable(30, 20, 3, 3, noise=0.001, random_state=0)
    return np.round(100 * X), truth


ROWS = [NASTY, *(f"cell {i}" for i in range(1, 30))]
COLS = [*(f"gene {j}" for j in range(19)), "007"]
THEMES = ("fish water river boat swim", "bread flour oven butter bake", "piano violin concert song voice")
TEXTS = [f"{THEMES[i % 3]} {THEMES[i % 3]} {' '.join(THEMES[i % 3].split()[: 1 + i % 5])}" for i in range(24)]


def frame(X):
    return pd.DataFrame(X, index=ROWS, columns=COLS)


def triplets(X):
    i, j = np.nonzero(X)
    return pd.DataFrame({"row": np.array(ROWS)[i], "column": np.array(COLS)[j], "value": X[i, j]})


def write_mtx(path, X):
    scipy.io.mmwrite(path, scipy.sparse.coo_array(X))


def write_mtx_gz(path, X):
    plain = path.with_suffix("")
    write_mtx(plain, X)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()


def write_h5ad(path, X):
    frames = (pd.DataFrame(index=pd.Index(names)) for names in (ROWS, COLS))
    anndata.AnnData(scipy.sparse.csr_matrix(X), *frames).write_h5ad(path)


NAMED = {
    "wide.csv": lambda path, X: frame(X).to_csv(path),
    "wide.tsv": lambda path, X: frame(X).to_csv(path, sep="\t"),
    "wide.csv.gz": lambda path, X: frame(X).to_csv(path),
    "triplets.csv": lambda path, X: triplets(X).to_csv(path, index=False),
    "wide.parquet": lambda path, X: frame(X).to_parquet(path),
    "triplets.parquet": lambda path, X: triplets(X).to_parquet(path),
    "cells.h5ad": write_h5ad,
}
NUMBERED = {
    "matrix.mtx": write_mtx,
    "matrix.mtx.gz": write_mtx_gz,
    "matrix.npy": np.save,
    "matrix.npz": lambda path, X: scipy.sparse.save_npz(path, scipy.sparse.csr_array(X)),
    "matrix.mat": lambda path, X: scipy.io.savemat(path, {"counts": scipy.sparse.csc_matrix(X)}),
}


@pytest.mark.parametrize("name", [*NAMED, *NUMBERED])
def test_every_kind_of_matrix_is_fitted_and_keeps_its_names(name, planted, tmp_path):
    X, truth = planted
    {**NAMED, **NUMBERED}[name](tmp_path / name, X)
    layout = ("--layout", "triplets") if name.startswith("triplets") else ()
    words = ("fit", name, "--rows", 3, "--cols", 3, "--out", "answer", "--stability", 0, "--json", *layout)
    result = (cosep if name == "wide.csv" else cosep_here)(*words, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert listed(tmp_path / "answer") == FILES
    rows, columns = table(tmp_path / "answer" / "rows.csv"), table(tmp_path / "answer" / "columns.csv")
    names = (ROWS, COLS) if name in NAMED else ([f"row {i}" for i in range(30)], [f"column {j}" for j in range(20)])
    order = {row["name"]: row for row in rows}
    assert sorted(order) == sorted(names[0])
    assert sorted(column["name"] for column in columns) == sorted(names[1])
    assert {row["name"] for row in rows if row["selected"] == "1"} == {names[0][i] for i in truth.row_indices}
    assert {row["name"] for row in columns if row["selected"] == "1"} == {names[1][j] for j in truth.col_indices}
    assert min(answer["fidelity"].values()) > 0.9991
    assert {topic["row"] for topic in answer["topics"]} == {names[0][i] for i in truth.row_indices}
    core = table(tmp_path / "answer" / "core.csv")
    assert {row[""] for row in core} == {names[0][i] for i in truth.row_indices}
    assert json.loads((tmp_path / "answer" / "summary.json").read_text())["topics"] == answer["topics"]


def folder_of_texts(path):
    path.mkdir()
    for i, text in enumerate(TEXTS):
        (path / f"{i:02}.txt").write_text(text)


CORPORA = {
    "folder": folder_of_texts,
    "lines.txt": lambda path: path.write_text("\n".join(TEXTS) + "\n"),
    "lines.jsonl": lambda path: path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS)),
    "texts.csv": lambda path: pd.DataFrame({"id": range(24), "body": TEXTS}).to_csv(path, index=False),
}


@pytest.mark.parametrize("name", CORPORA)
def test_every_kind_of_text_is_fitted_and_new_texts_are_told_by_their_theme(name, tmp_path):
    run = cosep if name == "folder" else cosep_here
    CORPORA[name](tmp_path / name)
    column = ("--text-column", "body") if name == "texts.csv" else ()
    fitted = run("fit", name, "--rows", 3, "--cols", 3, *column, "--no-report", cwd=tmp_path)
    assert (fitted.returncode, fitted.stderr) == (0, "")
    folder = tmp_path / f"{name.split('.')[0]}-cosep"
    assert listed(folder) == [file for file in FILES if file != "report.html"]
    (tmp_path / "new.txt").write_text("the boat on the river\nbutter and flour, flour and an oven\nnothing known\n")
    told = run("transform", folder, "new.txt", "--json", cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    answer = json.loads(told.stdout)
    known = {row["name"]: i for i, row in enumerate(table(folder / "rows.csv"))}
    themes = [known[name] % 3 if name else None for name in answer["representative"]]
    assert themes == [0, 1, None]
    assert answer["explained"][2] is None


@pytest.fixture(scope="module")
def home(tmp_path_factory, planted):
    """A folder with a table, its classes, and what cosep fit made of it."""
    folder = tmp_path_factory.mktemp("home")
    frame(planted[0]).to_csv(folder / "wide.csv")
    classes = planted[0][:, planted[1].col_indices].argmax(axis=1)
    pd.DataFrame({"name": ROWS, "class": [f"class {k}" for k in classes]}).to_csv(folder / "classes.csv", index=False)
    result = cosep("fit", "wide.csv", "--rows", 3, "--cols", 3, "--labels", "classes.csv", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    (folder / "said.txt").write_text(result.stdout)
    return folder


def test_people_read_names_numbers_and_where_the_report_is(home, planted):
    said = (home / "said.txt").read_text()
    for i in planted[1].row_indices:
        assert ROWS[i].split()[0] in said
    assert "\x1b" not in said
    assert "Clusters against the classes: adjusted Rand index " in said
    assert said.splitlines()[-1].strip() == "wide-cosep/report.html"
    assert (home / "wide-cosep" / "report.html").stat().st_size > 1_000_000


def test_what_was_fitted_is_transformed_as_it_was_told(home):
    result = cosep("transform", "wide-cosep/model.npz", "wide.csv", "--out", "told.csv", cwd=home)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    told, rows = table(home / "told.csv"), table(home / "wide-cosep" / "rows.csv")
    assert [row["name"] for row in told] == [row["name"] for row in rows]
    for column in ("representative", "membership", "explained"):
        assert [row[column] for row in told] == [row[column] for row in rows]


def test_columns_are_found_by_name_and_completed_from_the_selected_ones(home, planted, tmp_path):
    X, truth = planted
    shuffled = frame(X)[COLS[::-1]].iloc[:5].assign(extra=1.0)
    shuffled.to_csv(tmp_path / "shuffled.csv")
    result = cosep("transform", home / "wide-cosep", "shuffled.csv", cwd=tmp_path)
    assert result.returncode == 0
    told = list(csv.DictReader(result.stdout.splitlines(keepends=True)))
    straight = cosep("transform", home / "wide-cosep", home / "wide.csv", cwd=tmp_path).stdout
    assert told == list(csv.DictReader(straight.splitlines(keepends=True)))[:5]
    shuffled[[COLS[j] for j in truth.col_indices]].to_csv(tmp_path / "few.csv")
    words = ("transform", home / "wide-cosep", "few.csv", "--complete")
    completed = cosep(*words, "--out", "full.csv", "--errors", "errors.csv", cwd=tmp_path)
    assert (completed.returncode, completed.stderr) == (0, "")
    model = Factorization.load(home / "wide-cosep" / "model.npz")
    known = X[:5][:, model.selection.col_indices]
    full = pd.read_csv(tmp_path / "full.csv", index_col=0)
    np.testing.assert_allclose(full.to_numpy(), complete_rows(model, known), rtol=1e-9)
    errors, decoder = pd.read_csv(tmp_path / "errors.csv"), decoder_of(model)
    assert errors["column"].tolist() == full.columns.tolist()
    np.testing.assert_allclose(errors["error"], decoder.error)
    np.testing.assert_allclose(errors["r2"][errors["selected"] == 0], decoder.r2[decoder.predicted], atol=1e-4)
    by_weights = cosep(*words, "--decoder", "weights", cwd=tmp_path).stdout
    np.testing.assert_allclose(pd.read_csv(StringIO(by_weights), index_col=0), known @ model.col_weights, rtol=1e-9)
    refused(cosep(*words, "--decoder", "nearest", cwd=tmp_path), "must be one of 'ridge', 'nonnegative', 'weights'")
    refused(cosep(*words[:-1], "--errors", "errors.csv", cwd=tmp_path), "add --complete")
    refused(cosep(*words, "--errors", "few.csv", cwd=tmp_path), "would replace INPUT")
    replace(model, panel=None).save(tmp_path / "old.npz")
    refused(cosep("transform", "old.npz", "few.csv", "--complete", cwd=tmp_path), "Fit it again")
    refused(cosep("transform", home / "wide-cosep", "few.csv", cwd=tmp_path), "lacks 17 of 20 columns")


def test_ranks_are_tried_and_recommended(home, tmp_path):
    result = cosep("rank", home / "wide.csv", "--ranks", "1,3,3x5", "--plot", "ranks.html", "--json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert (answer["n_rows"], answer["n_cols"]) == (3, 3)
    tried = zip(*(answer["table"][name] for name in ("error", "n_rows", "n_cols")), strict=True)
    assert answer["best"] == list(min(tried)[1:])
    assert "plotly" in (tmp_path / "ranks.html").read_text(encoding="utf-8")
    assert "recommended" in cosep("rank", home / "wide.csv", "--ranks", "1,3", cwd=tmp_path).stdout


def test_ranks_may_be_chosen_before_the_fit(home, tmp_path):
    words = ("--choose-rank", "--stability", 0, "--out", tmp_path / "answer", "--json")
    result = cosep("fit", home / "wide.csv", *words, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert (answer["n_rows"], answer["n_cols"]) == (3, 3)


def test_methods_are_compared(home, tmp_path):
    words = ("--rows", 3, "--cols", 3, "--labels", home / "classes.csv")
    result = cosep("compare", home / "wide.csv", *words, "--json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    lines = {line["method"]: line for line in json.loads(result.stdout)["methods"]}
    assert {"faithful", "cosfgm", "spa", "sklearn-nmf", "sklearn-cocluster"} <= set(lines)
    assert lines["faithful"]["explained"] > 0.9991
    assert lines["faithful"]["row"] > 0.9991
    assert 0 < lines["faithful"]["accuracy"] <= 1
    said = cosep("compare", home / "wide.csv", "--methods", "faithful,sklearn-nmf", cwd=tmp_path)
    assert said.returncode == 0
    assert "sklearn-nmf" in said.stdout


def test_quiet_is_quiet(home, tmp_path):
    for words in (
        ("fit", home / "wide.csv", "--no-report", "--out", "answer"),
        ("rank", home / "wide.csv", "--ranks", "1,2"),
        ("compare", home / "wide.csv", "--methods", "spa"),
    ):
        result = cosep(*words, "--quiet", cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


# Every bad input: its name, and what writes it.
def bad_npz(path):
    path.write_bytes(pickle.dumps({"a": 1}))


def bomb(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("data.npy", "w", force_zip64=True) as f,
    ):
        header = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
        f.write(header.ljust(128))
        for _ in range(64):
            f.write(bytes(1 << 20))


def truncated_gz(path):
    whole = gzip.compress(b"a,b,c\n" + b"x,1,2\n" * 5000)
    path.write_bytes(whole[: len(whole) // 2])


def damaged_store(path):
    write_blocks(path, [np.random.default_rng(0).random((40, 30))])
    chunk = path / "c" / "0" / "0"
    held = bytearray(chunk.read_bytes())
    held[len(held) // 2] ^= 0xFF
    chunk.write_bytes(held)


def damaged_files(path):
    path.mkdir()
    for k in (1, 2):
        np.save(path / f"block{k}.npy", np.ones((5, 4)))
    (path / "block2.npy").write_bytes((path / "block2.npy").read_bytes()[:-40])


BAD = {
    "damaged.zarr": damaged_store,
    "block2.npy": lambda path: damaged_files(path.parent / "damaged"),
    "wrong.npz": lambda path: path.write_text("a,b\n1,2\n"),
    "pickle.npz": bad_npz,
    "pickle.npy": bad_npz,
    "bomb.npz": bomb,
    "cut.csv.gz": truncated_gz,
    "cut.mtx": lambda path: path.write_text("%%MatrixMarket matrix coordinate real general\n5 5 9\n1 1 1\n"),
    "empty.csv": lambda path: path.write_text(""),
    "empty.mtx": lambda path: path.write_text(""),
    "empty.txt": lambda path: path.write_text(""),
    "head.csv": lambda path: path.write_text(",a,b\n"),
    "negative.csv": lambda path: path.write_text(",a,b\nx,1,2\ny,-1,3\n"),
    "missing.csv": lambda path: path.write_text(",a,b\nx,1,2\ny,,3\n"),
    "words.csv": lambda path: path.write_text(",a,b\nx,1,two\ny,1,3\n"),
    "binary.txt": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "broken.jsonl": lambda path: path.write_text('{"text": "one"}\n{"text": \n'),
    "wrong.parquet": lambda path: path.write_text("a,b\n1,2\n"),
    "wrong.mat": lambda path: path.write_text("a,b\n1,2\n"),
    "wrong.h5ad": lambda path: path.write_text("a,b\n1,2\n"),
    "unknown.xyz": lambda path: path.write_text("a,b\n1,2\n"),
    "empty": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("name", [*BAD, "absent.csv"])
def test_bad_input_is_one_sentence_that_names_it_and_leaves_nothing(name, tmp_path):
    if name in BAD:
        BAD[name](tmp_path / name)
    before = listed(tmp_path)
    source = name if name in before or not before else before[0]
    run = cosep if name == "absent.csv" else cosep_here
    refused(run("fit", source, "--rows", 2, "--cols", 2, "--out", "answer", cwd=tmp_path), name)
    assert listed(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("fit", "wide.csv", "--rows", 31), "--rows=31 must be at most the number of rows, 30"),
        (("fit", "wide.csv", "--rows", 0), "--rows=0 must be a whole number"),
        (("fit", "wide.csv", "--method", "magic"), "--method='magic' must be one of"),
        (("fit", "wide.csv", "--scaling", "magic"), "--scaling='magic' must be one of"),
        (("fit", "wide.csv", "--out", "wide.csv"), "--out='wide.csv' is a file"),
        (("fit", "wide.csv", "--out", "/dev/null/answer"), "--out='/dev/null/answer'"),
        (("fit", "wide.csv", "--labels", "absent.csv"), "absent.csv"),
        (("fit", "wide.csv", "--choose-rank", "--rows", 3), "--choose-rank finds --rows and --cols"),
        (("fit", "wide.csv", "--min-df", 0), "--min-df=0 must be"),
        (("fit", "wide.csv", "--label-column", "none"), "wide.csv"),
        (("rank", "wide.csv", "--plot", "absent/ranks.html"), "--plot='absent/ranks.html'"),
        (("rank", "wide.csv", "--ranks", "a,b"), "--ranks='a,b' must be"),
        (("rank", "wide.csv", "--ranks", "29"), "29"),
        (("compare", "wide.csv", "--methods", "magic"), "--methods='magic' must be one of"),
        (("compare", "wide.csv", "--cols", 21), "--cols=21 must be at most the number of columns, 20"),
        (("transform", "wide.csv", "wide.csv"), "wide.csv"),
        (("transform", "absent", "wide.csv"), "MODEL='absent' is not a model"),
        (("transform", "wide-cosep", "wide.csv", "--out", "/dev/null/x"), "--out='/dev/null/x'"),
    ],
)
def test_bad_options_are_one_sentence(words, sentence, home):
    before = listed(home)
    run = cosep if "/dev/null" in sentence else cosep_here
    refused(run(*words, cwd=home), sentence)
    assert listed(home) == before


def test_a_full_disk_is_one_sentence_and_leaves_what_was_there(tmp_path):
    frame(np.ones((30, 20)) + np.eye(30)[:, :20]).to_csv(tmp_path / "wide.csv")
    (tmp_path / "answer").mkdir()
    for name in ("model.npz", "rows.csv"):
        (tmp_path / "answer" / name).write_text("of an earlier answer")
    words = ("fit", "wide.csv", "--rows", 2, "--cols", 2, "--out", "answer", "--stability", 0)
    refused(cosep(*words, cwd=tmp_path, limit=20_000), "--out='answer' cannot be written")
    assert listed(tmp_path / "answer") == ["model.npz", "rows.csv"]
    assert (tmp_path / "answer" / "rows.csv").read_text() == "of an earlier answer"


def test_an_answer_replaces_an_earlier_one_and_nothing_else(home, tmp_path):
    (tmp_path / "answer").mkdir()
    for name in ("report.html", "notes.txt"):
        (tmp_path / "answer" / name).write_text("before")
    words = ("fit", home / "wide.csv", "--no-report", "--out", "answer", "--quiet")
    refused(cosep(*words, cwd=tmp_path), "has a report.html that does not belong to an earlier answer")
    (tmp_path / "answer" / "model.npz").write_text("before")
    assert cosep(*words, cwd=tmp_path).returncode == 0
    assert listed(tmp_path / "answer") == sorted({*FILES, "notes.txt"} - {"report.html"})


def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path):
    X = np.random.default_rng(0).random((600, 500))
    np.save(tmp_path / "large.npy", X)
    words = [COSEP, "fit", "large.npy", "--rows", "60", "--cols", "60", "--out", "answer"]
    # Where the tests run in the background of a script, SIGINT is ignored, and a child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    while process.poll() is None and not (tmp_path / "answer").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "Stopped by Ctrl-C.\n")
    assert listed(tmp_path) == ["large.npy"]


@pytest.mark.parametrize("words", ["transform wide-cosep wide.csv", "compare wide.csv --methods spa"])
def test_a_reader_who_has_seen_enough_is_no_error(words, home):
    script = f"{COSEP} {words} | head -c 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=home, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


def test_an_answer_is_added_to_what_standard_output_points_to(home, tmp_path):
    script = f"(echo before; {COSEP} transform {home}/wide-cosep {home}/wide.csv) > all.csv"
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "all.csv").read_text().startswith("before\nname,")


def test_standard_output_that_is_full_is_one_sentence(home):
    script = f"{COSEP} transform wide-cosep wide.csv > /dev/full"
    result = subprocess.run(["bash", "-c", script], cwd=home, capture_output=True, text=True, check=False)
    refused(result, "No space left")


def test_the_input_is_never_replaced(tmp_path):
    frame(np.ones((30, 20))).to_csv(tmp_path / "rows.csv")
    (tmp_path / "model.npz").write_text("of an earlier answer")
    before = (tmp_path / "rows.csv").read_bytes()
    refused(cosep("fit", "rows.csv", "--out", ".", cwd=tmp_path), "would replace INPUT itself")
    assert (tmp_path / "rows.csv").read_bytes() == before


def test_repeated_names_in_another_order_are_refused(tmp_path):
    X = np.random.default_rng(0).random((6, 4))
    names = ["a", "dup", "dup", "b"]
    pd.DataFrame(X, columns=names, index=list("uvwxyz")).to_csv(tmp_path / "x.csv")
    pd.DataFrame(X[:, ::-1], columns=names[::-1], index=list("uvwxyz")).to_csv(tmp_path / "y.csv")
    assert cosep("fit", "x.csv", "--rows", 2, "--cols", 2, "--no-report", "--out", "m", cwd=tmp_path).returncode == 0
    assert cosep("transform", "m", "x.csv", cwd=tmp_path).returncode == 0
    refused(cosep("transform", "m", "y.csv", cwd=tmp_path), "several are called 'dup'")


def test_help_has_an_example_of_every_command(tmp_path):
    result = cosep("--help", cwd=tmp_path)
    commands = ("demo", "fit", "rank", "transform", "compare")
    assert all(command in result.stdout for command in commands)
    for command in commands:
        told = cosep(command, "--help", cwd=tmp_path)
        assert told.returncode == 0
        assert f"cosep {command} " in told.stdout


def test_the_saved_model_is_that_of_the_library(home, planted):
    record = Factorization.load(home / "wide-cosep" / "model.npz")
    model = CoSeparableNMF(3, 3).fit(planted[0])
    np.testing.assert_array_equal(record.selection.row_indices, model.row_indices_)
    np.testing.assert_allclose(record.row_factor, model.row_factor_)
    assert record.row_names.tolist() == ROWS
