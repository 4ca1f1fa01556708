"""The comparison with other tools measures what it says, keeps its rows, and says why there are none.

Nothing is timed, and nothing is installed.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from benchmarks import environments
from benchmarks.data import Problem, load
from benchmarks.environments import Environment, RivalError
from benchmarks.harness import read_rows
from benchmarks.peers import (
    __main__,
    coclusters,
    comparison,
    page,
    panels,
    process,
    pure,
    representatives,
    scale,
    topics,
)
from benchmarks.peers.calls import prepare
from benchmarks.peers.calls.scikit_learn import closest, most_variable, nmf, random_rows
from benchmarks.peers.comparison import Figure
from benchmarks.peers.grid import NO_DATA, NOT_TRIED, Plan, fill
from benchmarks.peers.process import Call, Limits, StoppedError
from benchmarks.peers.tools import OURS
from cosep import CoSeparableNMF
from experiments.data import MissingDataError

TOOLS = {"cosep": "cosep 1", "other": "other 2"}


def question(measure, sets=("small", "large")):
    """Return a question about made-up sets."""
    keys = [{"set": name, "tool": tool, "setting": "default"} for name in sets for tool in TOOLS]
    return SimpleNamespace(
        __name__="made_up",
        cells=lambda *, full: keys[: None if full else 2],
        tool_of=lambda key: SimpleNamespace(version=TOOLS[key["tool"]]),
        measure=measure,
    )


class Measure:
    """A measure that counts its calls, and fails where it is told to."""

    def __init__(self, **errors):
        self.errors, self.calls = errors, []

    def __call__(self, key, *, full):  # noqa: ARG002 - the grid passes it
        self.calls.append((key["set"], key["tool"]))
        if error := self.errors.get(f"{key['set']}_{key['tool']}"):
            raise error
        return {"figure": len(self.calls) / 3, "s": 0.1}


def test_a_second_run_measures_nothing_and_changes_no_byte(tmp_path):
    path, measure = tmp_path / "rows.csv", Measure(small_other=RivalError("too old"))
    rows = fill(question(measure), path, Plan(full=True))
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert len(measure.calls) == len(rows) == 4
    again = Measure()
    assert fill(question(again), path, Plan(full=True)) == read_rows(path)
    assert not again.calls
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "rows.csv"
    with pytest.raises(KeyboardInterrupt):
        fill(question(Measure(large_cosep=KeyboardInterrupt())), path, Plan(full=True))
    assert [(row["set"], row["tool"]) for row in read_rows(path)] == [("small", "cosep"), ("small", "other")]
    rest = Measure()
    rows = fill(question(rest), path, Plan(full=True))
    assert rest.calls == [("large", "cosep"), ("large", "other")]
    assert [row["set"] for row in rows] == ["small", "small", "large", "large"]
    assert {"version", "commit", "date", "machine", "software"} <= set(rows[0])


def test_a_tool_that_fails_is_a_row_that_says_why(tmp_path):
    measure = Measure(small_other=RivalError("other 2 cannot be installed: no such release"))
    rows = fill(question(measure), tmp_path / "rows.csv", Plan(full=True))
    assert rows[1]["note"] == "other 2 cannot be installed: no such release"
    assert "figure" not in rows[1]
    assert "figure" in rows[3]


def test_a_tool_that_reached_a_limit_is_not_tried_on_larger_sets(tmp_path):
    measure = Measure(small_other=StoppedError("more than 5 s"))
    rows = fill(question(measure), tmp_path / "rows.csv", Plan(full=True))
    assert ("large", "other") not in measure.calls
    assert [row.get("note") for row in rows] == [None, "more than 5 s", None, f"{NOT_TRIED}stopped on small"]
    rest = Measure()
    fill(question(rest, ("small", "large", "larger")), tmp_path / "rows.csv", Plan(full=True))
    assert rest.calls == [("larger", "cosep")]


def test_one_tool_is_measured_again_and_the_rows_of_others_stay(tmp_path):
    path = tmp_path / "rows.csv"
    before = fill(question(Measure()), path, Plan(full=True))
    again = Measure(large_cosep=RivalError("broken"))
    rows = fill(question(again), path, Plan(full=True, only=("cosep",), again=True))
    assert again.calls == [("small", "cosep"), ("large", "cosep")]
    assert [rows[1], rows[3]] == [before[1], before[3]]
    assert rows[2]["note"] == "broken"
    assert "figure" not in rows[2]


def test_rows_without_data_are_tried_again_and_others_are_not(tmp_path):
    path = tmp_path / "rows.csv"
    rows = fill(question(Measure(small_cosep=MissingDataError("no folder"))), path, Plan())
    assert rows[0]["note"] == f"{NO_DATA}no folder"
    before = path.read_bytes()
    fill(question(Measure(small_cosep=MissingDataError("no folder"))), path, Plan())
    assert path.read_bytes() == before
    found = Measure()
    assert "figure" in fill(question(found), path, Plan())[0]
    assert found.calls == [("small", "cosep")]


def test_an_environment_that_cannot_be_made_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(environments.sys, "executable", "/no/such/python")
    with pytest.raises(RivalError, match=r"nothing 1 cannot be installed: .*no/such/python"):
        Environment("nothing", "1").python()


def test_an_environment_is_made_again_if_its_requirements_change(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(environments, "run", lambda command, *_: (commands.append(command), folder_of(command)))

    def folder_of(command):
        if "venv" in command:
            command[-1].mkdir()

    for requires in ((), (), ("numpy==1",)):
        Environment("nothing", "1", requires).python()
    assert len(commands) == 4
    assert commands[-1][-2:] == ["nothing==1", "numpy==1"]


@pytest.fixture
def workers():
    """End the workers that a test has started."""
    process.worker_of.cache_clear()
    yield
    if process.worker_of.cache_info().currsize:
        process.worker_of("scikit_learn", None).process.kill()
    process.worker_of.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_calls_run_in_processes_of_their_own_within_limits():
    X = load("planted").X
    call = Call("scikit_learn", "k_means", None, {"n_init": 2})
    runs = process.run_all(call, [X, scipy.sparse.csr_array(X)], 4, (0, 1), Limits(60.0))
    assert len(runs) == 4
    assert all(len(set(run.answer["rows"].tolist())) == 4 and run.seconds >= 0 for run in runs)
    with pytest.raises(StoppedError, match="more than 1 MB"):
        process.run_all(call, [np.tile(X, (50, 20))], 4, (0,), Limits(60.0, 1.0))
    with pytest.raises(RivalError, match="unexpected keyword"):
        process.run_all(Call("scikit_learn", "k_means", None, {"speed": 2}), [X], 4, (0,), Limits(60.0))
    with pytest.raises(StoppedError, match="more than 0 s"):
        process.run_all(
            Call("scikit_learn", "lda", None, {"max_iter": 500}), [np.tile(X, (9, 9))], 4, (0,), Limits(0.0)
        )


def test_every_tool_of_every_question_has_its_function_and_a_version():
    for module in __main__.QUESTIONS.values():
        keys = [list(module.cells(full=full)) for full in (False, True)]
        assert 0 < len(keys[0]) < len(keys[1])
        for key in keys[1]:
            tool = module.tool_of(key)
            assert (tool.name, tool.setting) == (key["tool"], key["setting"])
            assert tool.version.split()[-1][0].isdigit()
            assert (
                tool.name == OURS or tool.name in page.CHOOSE or tool.name in {*comparison.FLOORS, "pysptools N-FINDR"}
            )
        assert len({tuple(key.items()) for key in keys[1]}) == len(keys[1])


def test_planted_rows_explain_everything_and_classify():
    X = np.kron(np.eye(3), np.ones((4, 5)))
    classes = np.repeat(np.arange(3), 4)
    assert representatives.nearest_class(X, classes, np.array([0, 5, 10])) == 100.0
    assert representatives.nearest_class(X, classes, np.array([0, 5, 6])) == pytest.approx(200 / 3)
    assert representatives.nearest_class(X, None, np.array([0])) is None
    assert representatives.agreement(np.array([1, 5, 9]), np.array([1, 9, 7]), np.array([1, 2, 7, 9])) == 100.0


def test_panels_are_decoded_as_by_a_model_and_a_bad_column_counts_as_zero():
    X = load("planted").X
    known, unseen = X[:40], X[40:]
    model = CoSeparableNMF(4, 4).fit(known)
    cols = model.col_indices_
    np.testing.assert_allclose(panels.by_complete(known, unseen[:, cols], cols), model.complete(unseen[:, cols]))
    assert set(panels.judge(known, unseen, cols)) == set(panels.DECODERS)
    np.testing.assert_allclose(panels.by_weights(known, known[:, cols], cols)[:, cols], known[:, cols], atol=1e-9)
    truth = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]])
    assert panels.mean_r2(truth, truth * [1.0, -9.0]) == 0.5


def test_labels_are_judged_where_classes_are_known():
    problem = Problem(np.ones((4, 2)), 2, None, np.array([0, 0, 1, -1]), np.array([0, 1]))
    found = coclusters.judge(problem, {"row_labels": np.array([1, 1, 0, 0]), "col_labels": np.array([1, 0])})
    assert found == {"nmi": pytest.approx(100), "ari": 100, "accuracy": 100, "column_accuracy": 100}
    assert "column_accuracy" not in coclusters.judge(problem, {"row_labels": np.array([1, 1, 0, 0])})


def test_words_that_are_always_together_are_coherent():
    X = scipy.sparse.csr_array(np.kron(np.eye(2), np.ones((3, 4))))
    together = scipy.sparse.csc_array(X)
    assert topics.coherence(together, np.array([0, 1, 2])) == pytest.approx(1.0)
    assert topics.coherence(together, np.array([0, 4])) == -1.0
    problem = Problem(X, 2, None, np.repeat([0, 1], 3))
    found = topics.judge(problem, {"topics": np.kron(np.eye(2), np.ones(4)), "row_labels": np.repeat([1, 0], 3)})
    assert found == {"npmi": pytest.approx(100), "diversity": 100 * 8 / 20, "nmi": pytest.approx(100)}


def test_the_angle_to_the_true_spectra_is_zero_and_missing_ones_count():
    X, spectra = pure.image("small", 0)
    assert pure.angle((X, spectra), {"components": 2 * spectra[::-1]}) == pytest.approx(0, abs=1e-5)
    assert pure.angle((X, spectra), {"components": spectra[:2]}) == pytest.approx(30, abs=1e-5)
    assert pure.angle((X, spectra), {"rows": np.arange(3)}) < 5


@pytest.mark.parametrize("name", pure.SCENES)
def test_a_scene_is_as_pure_as_it_says(name):
    scene = pure.SCENES[name]
    X, spectra = pure.image(name, 1)
    assert X.shape == (scene.m, scene.n)
    assert (X >= 0).all()
    shares = np.linalg.lstsq(spectra.T, X.T, rcond=None)[0]
    assert shares.max() < scene.purest + 60 * scene.noise


def test_counts_of_the_scale_have_the_shape_they_are_asked_for():
    X = scale.counts(50)
    assert X.shape == (50, scale.COLUMNS)
    assert (np.round(X) == X).all()


def test_rows_are_prepared_and_centres_found():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(prepare.unit_rows(X), [[0.6, 0.8], [0, 0], [1, 0]])
    np.testing.assert_allclose(prepare.standard(X).std(axis=0), [1, 1])
    assert prepare.nearest(X, np.array([[0.9, 0.1], [1.0, 0.0]])).tolist() == [2, 1]
    np.testing.assert_allclose(prepare.degree(scipy.sparse.csr_matrix(X)).toarray(), prepare.degree(X), rtol=1e-12)
    assert most_variable(X, 1, 0)["rows"].tolist() == [0]
    assert sorted(random_rows(X, 2, 0)["rows"]) == [0, 2]


def test_components_of_blocks_have_rows_and_columns_of_their_own():
    X = np.kron(np.diag([3.0, 1.0, 2.0]), np.ones((4, 5)))
    found = nmf(X, 3, 0, init="nndsvda")
    assert sorted(found["rows"] // 4) == sorted(found["cols"] // 5) == [0, 1, 2]
    assert len(set(found["row_labels"][::4])) == 3
    assert closest(scipy.sparse.csr_matrix(X), found["topics"].T[:12]).shape == (3,)


def made_up_rows():
    """Return rows of all questions, without any measurement."""
    made = dict.fromkeys(("version", "cosep", "commit", "date", "machine", "software"), "x 1")
    rows = {}
    for name, module in __main__.QUESTIONS.items():
        columns = ["degree", "plain", *panels.DECODERS, *coclusters.FIGURES, *topics.FIGURES, "angle", "fidelity"]
        rows[name] = [
            key
            | {"k": 3}
            | made
            | (
                {"note": "broken"}
                if key["tool"] == "apricot"
                else dict.fromkeys(columns, 50.0 - at % 7) | {"s": 1.0, "mb": 2.0, "limit_mb": 9.0}
            )
            for at, key in enumerate(module.cells(full=True))
        ]
        for row in rows[name]:
            if row["tool"] == "cosep" and "degree" in row:
                row |= dict.fromkeys(columns, 40.0)
    return rows


def test_the_page_is_made_from_the_rows_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "Worker", None)
    rows = made_up_rows()
    path = page.write_page(rows, tmp_path)
    text = path.read_text()
    first = {file.name: file.read_bytes() for file in (tmp_path / "images").iterdir()}
    assert set(first) == {"which-tool-quality.png", "which-tool-memory.png"}
    for name in __main__.QUESTIONS:
        assert f"\n## {name}\n" in text
        rows[name] = [dict(row) for row in rows[name]]
    assert "- apricot: broken" in text
    assert "**missed**" in text
    assert page.write_page(rows, tmp_path).read_text() == text
    assert {file.name: file.read_bytes() for file in (tmp_path / "images").iterdir()} == first


def test_a_page_without_rows_says_that_nothing_is_measured(tmp_path):
    assert (
        page.write_page({name: [] for name in __main__.QUESTIONS}, tmp_path).read_text().count("Not measured yet") == 6
    )


def test_ranks_and_margins_are_those_of_the_rows():
    rows = [
        {"set": name, "tool": tool, "setting": "default", "figure": value, "s": 1.0, "mb": 1.0}
        for name, values in {"a": (3.0, 2.0, 5.0), "b": (5.0, 7.0)}.items()
        for tool, value in zip(("cosep", "other", "third"), values, strict=False)
    ]
    figure = Figure("figure", "figure")
    ranking = comparison.standings(rows, figure)
    assert [(one.who[0], one.sets, one.mean, one.margin) for one in ranking] == [
        ("third", 1, 5.0, 2.0),
        ("other", 2, 4.5, 0.5),
        ("cosep", 2, 4.0, 0.0),
    ]
    lines = comparison.by_set(rows, figure)
    assert [(line["rank"], line["best other"], line["margin"]) for line in lines] == [
        ("2 of 3", "third", -2.0),
        ("2 of 2", "other", -2.0),
    ]
    bar = comparison.bar_of(rows, figure, 0.99)
    assert (bar.figure, bar.verdict) == (pytest.approx(4 / 4.5), "missed")
    assert comparison.costs(rows, ("other", "default")) == (1.0, 1.0)
    assert comparison.best_decoder([{"a": 1.0, "b": 2.0}], ("a", "b")) == "b"


def test_an_unknown_question_is_refused_by_name(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["nonsense"])
    assert "no question nonsense; there are representatives, panels" in capsys.readouterr().err


def test_the_page_of_stored_rows_is_written_without_measuring(tmp_path, monkeypatch):
    monkeypatch.setattr(__main__, "fill", None)
    __main__.main(["--page", "--into", str(tmp_path)])
    assert (tmp_path / "which-tool.md").exists()


def test_an_interrupted_command_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "fill", interrupt)
    with pytest.raises(SystemExit) as stopped:
        __main__.main(["pure", "--into", str(tmp_path)])
    assert stopped.value.code == 130
    assert "goes on from there" in capsys.readouterr().err
