"""The command line within this process: what it prints, where, and the exit codes."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import cosep
from cosep import CoSeparableNMF, Factorization, RankChoice, describe, make_coseparable
from cosep.cli import demo, fit, main, matrix_source, progress, summary, transform
from cosep.cli.app import app
from cosep.datasets import load_docstrings
from cosep.findings.wording import squeezed
from cosep.io.named_matrix import NamedMatrix, numbered
from cosep.kernels.compile import is_compiled
from cosep.select import BOTH_SELECTORS
from cosep.utils import extras


def invoke(*words):
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def answer(folder):
    """What ``cosep demo --json`` says."""
    result = invoke("demo", "--json", "--out", folder)
    assert result.exit_code == 0
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_says_what_was_chosen(answer):
    corpus = load_docstrings()
    assert tuple(answer["shape"]) == corpus.counts.shape
    assert answer["n_rows"] == len(answer["topics"]) == 12
    assert answer["method"] == "faithful"
    assert answer["warnings"] == []
    assert answer["scaling"] == "degree"
    for topic in answer["topics"]:
        assert topic["row"] in corpus.documents
        assert set(topic["anchors"]) | set(topic["columns"]) <= set(corpus.words.tolist())
        assert topic["row"] not in topic["others"]
        assert set(topic["others"]) <= set(corpus.documents.tolist())
    filled = np.count_nonzero(corpus.counts.sum(axis=1))
    assert sum(topic["cluster_size"] for topic in answer["topics"]) == filled
    assert sum(topic["size"] for topic in answer["topics"]) + answer["unassigned"]["count"] == len(corpus.documents)
    assert sum(topic["explains"] for topic in answer["topics"]) == pytest.approx(answer["fidelity"]["refitted"])
    assert (answer["title"], answer["nouns"]) == (demo.TITLE, ["function", "word"])


def test_the_tour_ends_with_the_path_of_a_report(answer, folder):
    assert answer["files"][-1] == str(folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    for topic in answer["topics"]:
        assert topic["row"] in page
    assert "Recommended:" in page


def test_what_was_chosen_explains_something(answer):
    assert all(topic["anchors"] for topic in answer["topics"])
    assert all(topic["size"] >= 1 for topic in answer["topics"])
    shares, bound = answer["fidelity"], answer["bound"]
    assert set(shares) == set(bound) == set(answer["plain_fidelity"]) == {"rows", "cols", "core", "refitted"}
    assert all(0 < shares[part] <= bound[part] <= 1 for part in shares)
    assert shares["refitted"] > 0.9 * bound["refitted"]
    assert min(shares.values()) > 0.5 * shares["refitted"]
    assert 0.5 < answer["accuracy"] < 1


def test_each_function_speaks_for_functions_of_its_own_subpackage(answer):
    at_home = 0
    for topic in answer["topics"]:
        home = topic["row"].split(".")[:2]
        at_home += sum(other.split(".")[:2] == home for other in topic["others"]) >= 2
    assert at_home >= 10


def test_anchor_words_occur_in_the_docstring_of_their_function(answer):
    corpus = load_docstrings()
    documents, words = corpus.documents.tolist(), corpus.words.tolist()
    for topic in answer["topics"]:
        for word in topic["anchors"]:
            assert corpus.counts[documents.index(topic["row"]), words.index(word)] > 0


def test_the_same_is_said_every_time(answer, tmp_path):
    source = matrix_source.MatrixSource(demo.read_docstrings)
    options = fit.FitOptions(12, 12, report=False, title=demo.TITLE)
    again = fit.run(source, tmp_path, options, fit.OutputOptions(quiet=True), "cosep demo")
    changing = {"seconds", "files", "command", "path"}  # the path comes with the report
    assert {name: part for name, part in again.items() if name not in changing} == {
        name: part for name, part in answer.items() if name not in changing
    }


@pytest.fixture(scope="module")
def found(folder, answer):
    """The findings that the command formats."""
    assert answer["files"]
    record = Factorization.load(folder / "model.npz")
    return describe(load_docstrings().counts, record)


def test_the_library_finds_what_the_command_prints(answer, found):
    again = json.loads(json.dumps(summary.summary_of(found)))
    assert {name: answer[name] for name in again} == again


def test_the_table_names_every_row_and_the_lines_below_it_the_shares(answer, found):
    out = io.StringIO()
    summary.print_findings(found, Console(file=out, width=120))
    text = " ".join(out.getvalue().split())
    for topic in answer["topics"]:
        assert topic["row"] in text
        assert topic["anchors"][0] in text
        assert f"{topic['size']:,} {topic['explains']:.1%}" in text
    assert f"unassigned {answer['unassigned']['count']:,}" in text
    assert f"explain {answer['fidelity']['refitted']:.1%} of the matrix" in text
    assert (
        f"which is {answer['fidelity']['refitted'] / answer['bound']['refitted']:.1%} of what any 12 topics could"
        in text
    )


@pytest.mark.parametrize("width", [50, 80, 100])
def test_names_lose_their_middle_on_a_narrow_terminal(answer, found, width):
    out = io.StringIO()
    summary.print_findings(found, Console(file=out, width=width))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    room = max(width - summary.OTHER_COLUMNS, summary.MIN_WIDTH)
    if width > 50:
        assert all(squeezed(topic["row"], room) in out.getvalue() for topic in answer["topics"])


def test_names_of_any_length_and_with_brackets_leave_room_for_the_rest():
    X = np.array([[3.0, 1.0], [0.0, 0.0]])
    names = {"row_names": np.array(["[red]" + "x" * 500, "other"]), "col_names": np.array(["[b]", "[/b]"])}
    found = describe(X, replace(CoSeparableNMF(1, 1).fit(X).factorization_, **names))
    out = io.StringIO()
    summary.print_findings(found, Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert all(part in out.getvalue() for part in ("[red]", "[b]", "[/b]", "1 row (50.0% of all) is unassigned"))


def test_what_the_library_warns_about_is_said(tmp_path):
    words = ("--rows", "3", "--cols", "4", "--method", "spa", "--scaling", "sinkhorn", "--no-report")
    np.savetxt(tmp_path / "x.csv", np.eye(6) + np.eye(6, k=1), delimiter=",", header="a,b,c,d,e,f", comments="")
    result = invoke("fit", tmp_path / "x.csv", *words, "--out", tmp_path / "answer")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "scaling='sinkhorn' did not balance X" in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rows", "0"], "--rows=0 must be a whole number of at least 1."),
        (["--rows", "99999"], "--rows=99999 must be at most the number of rows, "),
        (["--cols", "99999"], "--cols=99999 must be at most the number of columns, "),
        (
            ["--method", "magic"],
            f"--method='magic' must be one of {', '.join(map(repr, BOTH_SELECTORS))}.",
        ),
        (["--scaling", "magic"], "--scaling='magic' must be one of 'rows', 'columns', 'degree', 'sinkhorn', 'none'."),
        (["--jobs", "0"], "--jobs=0 must be "),
    ],
)
def test_bad_options_are_told_before_any_work_is_done(words, sentence, tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_source, "choose_rank", None)
    result = invoke("demo", *words, "--out", tmp_path / "answer")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "answer").exists()


def test_an_unknown_option_is_exit_code_2():
    assert invoke("demo", "--nonsense").exit_code == 2


def test_ctrl_c_is_one_line_and_exit_code_130(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "load_docstrings", interrupted)
    result = invoke("demo")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr == "Stopped by Ctrl-C.\n"


@pytest.mark.parametrize(("recommended", "shown"), [(3, True), (4, False)])
def test_numbers_that_were_not_selected_are_not_the_first_line(recommended, shown, monkeypatch, tmp_path):
    """The demo selects as many as were asked for; its first line recommended other numbers."""
    table = {name: np.array([3.0]) for name in ("n_rows", "n_cols", "error", "error_se", "stability")}
    choice = RankChoice(recommended, recommended, "Because of this.", table)
    monkeypatch.setattr(matrix_source, "choose_rank", lambda *_, **__: choice)
    X = make_coseparable(20, 15, 3, 3, noise=0.1, random_state=0)[0]
    source = matrix_source.MatrixSource(lambda: NamedMatrix(X, numbered("row", 20), numbered("column", 15)))
    console = io.StringIO()
    monkeypatch.setattr("cosep.cli.fit.table_console", lambda: Console(file=console, width=100))
    options = fit.FitOptions(3, 3, choose_rank=True, report=False)
    fit.run(source, tmp_path / "answer", options, fit.OutputOptions(), "cosep demo")
    assert ("Because of this." in console.getvalue()) == shown


def test_the_version_is_that_of_the_package():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"cosep {cosep.__version__}\n"


def test_a_terminal_shows_stages_rounds_and_the_first_compilation(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(progress, "is_compiled", lambda: False)
    with progress.progress(Console(file=screen, force_terminal=True, width=100)) as callback:
        callback("read", 0, 1, np.nan)
        callback("select", 1, 2, np.nan)
        callback("solve", 1, 2, np.nan)
        callback("mix", 3, 100, 0.25)
        callback("stability", 2, 10, np.nan)
    text = screen.getvalue()
    assert text.count("compiling numerical kernels, first run only") == 1
    assert "reading" in text
    assert "fitting the factors: round 3, error 0.250" in text
    assert "selecting again from parts of the data" in text


def test_a_pipe_shows_no_progress():
    with progress.progress(Console(file=io.StringIO())) as callback:
        assert callback is None


@pytest.mark.parametrize("words", [["--help"], *([command, "--help"] for command in ("demo", "fit", "compare"))])
def test_help_loads_neither_scikit_learn_nor_numba(words):
    code = (
        "import sys; from cosep.cli import main; sys.argv = ['cosep', *sys.argv[1:]]\n"
        "try:\n    main()\n"
        "finally:\n    print([name for name in ('sklearn', 'numba', 'scipy', 'numpy') if name in sys.modules])"
    )
    of_typer = "ignore:'click.utils.get_:DeprecationWarning"  # it imports what click 8.5 calls old
    command = [sys.executable, "-W", "error", "-W", of_typer, "-c", code, *words]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Usage: cosep" in result.stdout
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_help_of_the_demo_has_an_example():
    result = invoke("demo", "--help")
    assert result.exit_code == 0
    assert "cosep demo --rows 8 --cols 8" in result.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_packages_the_command_says_what_to_install(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from cosep.cli import main; sys.argv = ['cosep', 'demo']; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == f"The cosep command needs {missing}, which is not installed; install cosep[cli].\n"


def test_a_missing_package_is_told_from_a_broken_one(monkeypatch):
    monkeypatch.delitem(sys.modules, "cosep.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"install cosep\[cli\]"):
        main()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cosep.cli.app", None)
    with pytest.raises(ModuleNotFoundError, match=r"cosep\.cli\.app"):
        main()


def test_main_runs_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cosep", "--version"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert capsys.readouterr().out == f"cosep {cosep.__version__}\n"


def test_compiled_kernels_are_known_by_their_index_files(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not is_compiled()
    folder = tmp_path / "kernels_0123"
    folder.mkdir()
    (folder / "quadratic.solve-1.py27.nbi").touch()
    assert not is_compiled()
    (folder / f"quadratic.solve-1.py{sys.version_info.major}{sys.version_info.minor}.nbi").touch()
    assert is_compiled()


def test_a_first_run_fills_the_cache_that_is_asked_about(tmp_path):
    code = (
        "import sys; from cosep.kernels.compile import is_compiled; before = is_compiled(); "
        "assert 'numba' not in sys.modules; "
        "import numpy as np, cosep; cosep.mix(np.eye(2), cosep.Selection([0], [0])); print(before, is_compiled())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == "False True\n"


def test_a_report_without_its_packages_is_told_before_the_fit(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "find_spec", lambda package: None if package == "plotly" else package)
    np.save(tmp_path / "x.npy", np.eye(3) + 1)
    result = invoke("fit", tmp_path / "x.npy", "--out", tmp_path / "answer")
    assert result.exit_code == 2
    assert result.stderr == "The report (omit it with --no-report) needs plotly: install cosep[cli].\n"
    assert not (tmp_path / "answer").exists()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_rows_get_the_numbers_of_the_library(dtype, tmp_path):
    X = np.random.default_rng(0).uniform(size=(20, 9)).astype(dtype)
    np.save(tmp_path / "old.npy", X[:15])
    np.save(tmp_path / "new.npy", X)
    words = ("--rows", 3, "--cols", 4, "--no-report", "--quiet", "--out", tmp_path / "answer")
    assert invoke("fit", tmp_path / "old.npy", *words).exit_code == 0
    found = json.loads(invoke("transform", tmp_path / "answer", tmp_path / "new.npy", "--json").stdout)
    model = CoSeparableNMF(3, 4).fit(X[:15])
    names = [f"row {i}" for i in model.row_indices_]
    coefficients = np.array([found[name] for name in names]).T
    np.testing.assert_allclose(coefficients, model.transform(X), rtol=1e-12, atol=1e-12)
    E = model.factorization_.scaling.cols
    parts = coefficients * np.linalg.norm(model.components_ * E, axis=1)
    assert found["representative"] == [names[k] for k in parts.argmax(axis=1)]
    np.testing.assert_allclose(found["membership"], parts.max(axis=1) / parts.sum(axis=1), atol=1e-4)
    left = np.linalg.norm((X - coefficients @ model.components_) * E, axis=1) / np.linalg.norm(X * E, axis=1)
    np.testing.assert_allclose(found["explained"], 1 - left**2, atol=1e-4)


def test_repeated_names_get_numbers():
    table = {}
    for name in ["x"] * 3000 + ["x (2)"]:
        table[transform.unused_name(name, table)] = []
    assert len(table) == 3001
    assert list(table)[:3] == ["x", "x (2)", "x (3)"]
