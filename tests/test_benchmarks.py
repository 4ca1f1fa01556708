"""Every benchmark runs on a tiny case, and the page says what the rows say. Nothing is timed."""

import os

import numpy as np
import pytest
import scipy.io
import threadpoolctl

from benchmarks import __main__, compilation, completion, data, growth, harness, invariance, memory, page, threads
from cosep import CoSeparableNMF


@pytest.fixture
def in_one_process(monkeypatch):
    """Let benchmarks do here what they would do in processes of their own."""
    for module in (__main__, compilation, growth, invariance, memory, threads):
        monkeypatch.setattr(module, "isolated", lambda call, **_: call)


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::cosep.SelectionWarning")
def test_every_benchmark_leaves_rows_and_a_section(tmp_path, capsys):
    __main__.main(["--tiny", "--into", str(tmp_path)])
    text, progress = (tmp_path / "README.md").read_text(), capsys.readouterr().err
    for name in __main__.ITEMS:
        rows = harness.read_rows(tmp_path / "results" / f"{name}.csv")
        assert rows
        assert all(set(page.SOURCE + page.PLACE) <= set(row) for row in rows)
        assert f"\n## {name}\n" in text
        assert f" {name}\n" in progress
    assert "Not measured yet" not in text
    assert "| sports |" in text


@pytest.mark.usefixtures("in_one_process")
def test_one_benchmark_alone_leaves_the_others_open(tmp_path):
    __main__.main(["invariance", "--tiny", "--into", str(tmp_path)])
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["invariance.csv"]
    assert (tmp_path / "README.md").read_text().count("Not measured yet") == len(__main__.ITEMS) - 1


def test_an_unknown_benchmark_is_refused_by_name(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["nonsense"])
    assert "no benchmark nonsense; there are solvers, fits" in capsys.readouterr().err


def test_a_process_of_its_own_has_the_threads_it_was_given():
    assert os.environ.get("NUMBA_NUM_THREADS") != "2"
    assert harness.isolated(seen_threads, threads=2)() == ("2", {2})
    assert os.environ.get("NUMBA_NUM_THREADS") != "2"


def seen_threads():
    """Return what a process sees: the variable for numba, and the threads of the libraries it has loaded."""
    return os.environ["NUMBA_NUM_THREADS"], {library["num_threads"] for library in threadpoolctl.threadpool_info()}


def test_rows_come_back_as_they_were_written(tmp_path):
    rows = [{"set": "a", "n": 3, "s": 0.1, "gap": 1e-300}, {"set": "b", "note": "no, not here"}]
    harness.write_rows(tmp_path / "new" / "rows.csv", rows)
    assert harness.read_rows(tmp_path / "new" / "rows.csv") == rows


@pytest.mark.parametrize(
    ("figure", "at_least", "verdict"),
    [
        (2.0, True, "met"),
        (1.9, True, "missed"),
        (2.0, False, "met"),
        (2.1, False, "missed"),
        (None, True, "not measured"),
    ],
)
def test_a_bar_says_plainly_what_became_of_it(figure, at_least, verdict):
    bar = harness.Bar("speed", figure, 2.0, at_least)
    assert bar.verdict == verdict
    assert verdict in page.summary([("solvers", bar)])


def test_identical_rows_stand_for_one_another():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])
    columns = np.array([0])
    assert invariance.same(X, (np.array([0, 2]), columns), (np.array([2, 1]), columns)) == "yes"
    assert invariance.same(X, (np.array([0, 2]), columns), (np.array([0, 1]), columns)) == "no"


def test_halves_are_disjoint_and_together_everything():
    X = np.arange(15.0).reshape(5, 3)
    known, unseen = completion.halves(X, seed=0)
    assert (len(known), len(unseen)) == (2, 3)
    np.testing.assert_array_equal(np.sort(np.vstack([known, unseen]), axis=0), X)


def test_predictions_of_all_methods_are_measured_alike():
    known, unseen = completion.halves(data.load("planted").X, seed=0)
    unseen[0] = 0.0
    model = CoSeparableNMF(4, 4).fit(known)
    predicted = model.complete(unseen[:, model.col_indices_])
    predicted[:, model.col_indices_] = np.nan
    measured = completion.off(unseen, predicted, model.col_indices_)
    assert measured == pytest.approx(100 * (1 - model.completion_score(unseen)))


def test_the_exponent_of_a_power_is_its_exponent():
    rows = [{"kind": "dense", "columns": n, "s": 1e-6 * n**1.25} for n in growth.SIZES]
    assert growth.exponent(rows, "dense") == pytest.approx(1.25)
    assert growth.exponent(rows, "sparse") is None


@pytest.mark.usefixtures("data_home")
def test_published_sets_have_the_shapes_of_the_paper():
    assert data.load("tr11").X.shape == (414, 1000)
    assert data.load("la12").X.shape == (6279, 1000)
    assert data.load("NG10").X.shape == (9963, 1000)
    assert data.load("faces").X.shape == (437, 400)


def test_words_are_those_of_the_authors_in_their_order(data_home):
    """The authors' own k1b matrix, entry by entry."""
    theirs = scipy.io.loadmat(data_home / "reference" / "sub_k1b.mat")["sub"]
    assert abs(data.load("k1b").X - theirs).max() == 0
