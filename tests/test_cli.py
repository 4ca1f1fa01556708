"""The command line: what it prints, where, and the exit codes."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import cosep
from cosep.cli import demo, main
from cosep.cli.app import app
from cosep.datasets import load_docstrings
from cosep.kernels.compile import is_compiled


def invoke(*words):
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, words)


@pytest.fixture(scope="module")
def answer():
    """What ``cosep demo --json`` says."""
    result = invoke("demo", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_says_what_was_chosen(answer):
    corpus = load_docstrings()
    assert (answer["n_functions"], answer["n_words"]) == corpus.counts.shape
    assert answer["n_rows"] == len(answer["biclusters"]) == 12
    assert answer["method"] == "faithful"
    assert answer["warnings"] == []
    assert answer["scaling"] is None
    for one in answer["biclusters"]:
        assert one["function"] in corpus.documents
        assert set(one["anchor_words"]) | set(one["words"]) <= set(corpus.words.tolist())
        assert one["function"] not in one["others"]
        assert set(one["others"]) <= set(corpus.documents.tolist())
    sizes = sum(one["n_functions"] for one in answer["biclusters"])
    assert sizes + answer["unexplained_functions"] == answer["n_functions"]


def test_what_was_chosen_explains_something(answer):
    assert all(one["anchor_words"] for one in answer["biclusters"])
    assert all(one["n_functions"] >= 1 for one in answer["biclusters"])
    assert 0.1 < answer["relative_approximation"] < 1
    assert answer["clustering_accuracy_of_one_cluster"] < answer["clustering_accuracy"] < 1


def test_the_functions_explain_most_of_what_any_factors_do(answer):
    fidelities = [answer[f"{part}_fidelity"] for part in ("row", "col", "core")]
    assert min(fidelities) > 0.6 * answer["relative_approximation"]


def test_each_function_speaks_for_functions_of_its_own_subpackage(answer):
    at_home = 0
    for one in answer["biclusters"]:
        home = one["function"].split(".")[:2]
        at_home += sum(other.split(".")[:2] == home for other in one["others"]) >= 2
    assert at_home >= 10


def test_the_anchor_word_occurs_in_the_docstring_of_its_function(answer):
    corpus = load_docstrings()
    documents, words = corpus.documents.tolist(), corpus.words.tolist()
    for one in answer["biclusters"]:
        for word in one["anchor_words"]:
            assert corpus.counts[documents.index(one["function"]), words.index(word)] > 0


def test_the_demo_says_the_same_every_time(answer):
    again = json.loads(invoke("demo", "--json").stdout)
    for timing in ("seconds", "compiling_included"):
        del again[timing]
    assert again == {name: value for name, value in answer.items() if name in again}


def test_the_table_names_every_function_and_the_summary_its_numbers(answer):
    out = io.StringIO()
    demo.show(answer, Console(file=out, width=120))
    text = out.getvalue()
    for one in answer["biclusters"]:
        assert one["function"] in text
        assert f"{one['anchor_words'][0]}:" in text or f"{', '.join(one['anchor_words'])}:" in text
    assert f"{answer['n_functions']} functions and classes" in text
    assert f"accuracy {answer['clustering_accuracy']:.3f}" in text
    for share in ("row_fidelity", "col_fidelity", "core_fidelity", "relative_approximation"):
        assert f"{answer[share]:.1%}" in text


def test_names_stay_whole_on_a_narrow_terminal(answer):
    out = io.StringIO()
    demo.show(answer, Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert all(one["function"] in out.getvalue() for one in answer["biclusters"])


def test_options_arrive_and_a_piped_table_has_no_colours():
    result = invoke("demo", "--rows", "3", "--cols", "4", "--method", "spa", "--scaling", "sinkhorn")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "3 functions and 4 words were chosen" in result.stdout
    assert "scaling='sinkhorn' did not balance X" in result.stdout


def test_what_the_library_warns_about_is_said():
    result = invoke("demo", "--json", "--method", "spa")
    said = json.loads(result.stdout)
    assert any("degenerate" in warning for warning in said["warnings"])
    assert not said["biclusters"][0]["anchor_words"]
    assert said["relative_approximation"] == pytest.approx(0.0, abs=0.05)
    out = io.StringIO()
    demo.show(said, Console(file=out, width=300))
    assert "degenerate" in out.getvalue()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rows", "0"], "--rows=0 must be a whole number of at least 1."),
        (["--rows", "99999"], "--rows=99999 must be at most n_samples="),
        (["--cols", "99999"], "--cols=99999 must be at most n_features="),
        (
            ["--method", "magic"],
            "--method='magic' must be one of 'faithful', 'cosfgm', 'spa', 'snpa', 'xray', 'fgm', 'greedy', 'cur'.",
        ),
        (["--scaling", "magic"], "--scaling='magic' must be one of 'rows', 'columns', 'degree', 'sinkhorn'."),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, sentence):
    result = invoke("demo", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1


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


def test_the_version_is_that_of_the_package():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"cosep {cosep.__version__}\n"


def test_a_watching_person_sees_progress_and_the_first_compilation(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(demo, "is_compiled", lambda: False)
    monkeypatch.setattr(
        demo,
        "Console",
        lambda *, stderr=False, width=100: Console(file=screen, force_terminal=stderr, width=width),
    )
    demo.run(3, 3, method="cosfgm", scaling=None, as_json=False)
    text = screen.getvalue()
    assert text.count("compiling numerical kernels, first run only") == 1
    assert "reading docstrings" in text
    assert "compiling included" in text


def test_the_progress_bar_follows_the_callback():
    screen = io.StringIO()
    with demo.progress(Console(file=screen, force_terminal=True, width=100)) as callback:
        callback("select", 1, 2, np.nan)
        callback("mix", 3, 100, 0.25)
    assert "fitting the factors: round 3, error 0.250" in screen.getvalue()


def test_names_lose_what_they_share():
    assert demo._beside("scipy.stats.mstats.rankdata", "scipy.stats.rankdata") == "mstats.rankdata"
    assert demo._beside("sklearn.svm.SVC", "scipy.stats.rankdata") == "sklearn.svm.SVC"
    assert demo._beside("scipy.stats.zscore", "scipy.stats.zscore") == "zscore"


@pytest.mark.parametrize("words", [["--help"], ["demo", "--help"]])
def test_help_loads_neither_scikit_learn_nor_numba(words):
    code = (
        "import sys; from cosep.cli import main; sys.argv = ['cosep', *sys.argv[1:]]\n"
        "try:\n    main()\n"
        "finally:\n    print([name for name in ('sklearn', 'numba', 'scipy', 'numpy') if name in sys.modules])"
    )
    command = [sys.executable, "-W", "error", "-c", code, *words]
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
