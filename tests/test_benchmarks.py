"""Every benchmark runs on a tiny case, and the page says what the rows say. Nothing is timed."""

import os

import numpy as np
import pytest
import scipy.sparse
import threadpoolctl

from benchmarks import (
    __main__,
    ablation,
    compilation,
    completion,
    data,
    defaults,
    growth,
    harness,
    invariance,
    large,
    limits,
    memory,
    one_model,
    page,
    short_texts,
    threads,
)
from benchmarks.rivals import Rival, RivalError
from cosep import CoSeparableNMF, faithful, make_coseparable
from experiments.data import MissingDataError


@pytest.fixture
def in_one_process(monkeypatch):
    """Let benchmarks do here what they would do in processes of their own."""
    for module in (__main__, compilation, growth, invariance, large, limits, memory, threads):
        monkeypatch.setattr(module, "isolated", lambda call, **_: call)


@pytest.mark.slow
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
    assert "no benchmark nonsense; there are defaults, degree_share, one_model" in capsys.readouterr().err


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


def test_decoders_and_panels_are_measured_alike():
    known, unseen = completion.halves(data.load("planted").X, seed=0)
    model = CoSeparableNMF(4, 4).fit(known)
    cols = np.asarray(model.col_indices_)
    found = completion.figures(known, unseen, 4, {"none": Rival(refuse, "")}, 0)
    assert found["ridge"] == pytest.approx(model.completion_score(unseen), rel=1e-9)
    assert found["ridge"] == pytest.approx(completion.by_ridge(known, unseen, cols), rel=1e-9)
    assert found["ridge"] == pytest.approx(completion.mean_r2(unseen, model.complete(unseen[:, cols]), cols), rel=1e-9)
    assert found["none"] is None
    assert found["mean_row"] < 0 < found["weights"] < found["ridge"]


def refuse(*_arguments):
    msg = "not installed"
    raise RivalError(msg)


def test_the_bars_of_decoders_compare_means_over_sets():
    rows = [dict.fromkeys(completion.DECODERS, 0.5) | {"ridge": ridge} for ridge in (0.4, 0.5)]
    near, least = completion.bars([*rows, {"note": "missing"}])
    assert (round(near.figure, 9), near.verdict) == (0.05, "missed")
    assert (least.figure, least.verdict) == (0.4, "met")


def test_repeated_rows_and_columns_are_those_chosen_and_as_many_others():
    problem = data.load("planted")
    rows, cols = invariance.select(problem, "faithful")
    m, n = problem.X.shape
    X = invariance.repeated(problem).X
    assert X.shape == (m + 8, n + 8)
    np.testing.assert_array_equal(X[m : m + 4, :n], problem.X[rows])
    np.testing.assert_array_equal(X[:m, n : n + 4], problem.X[:, cols])


def test_medoids_are_the_planted_rows_and_columns_where_these_are_the_components():
    X = np.kron(np.diag([3.0, 1.0, 2.0]), np.ones((4, 5)))
    chosen = defaults.medoids(X, 3, 3)
    assert sorted(chosen.row_indices // 4) == sorted(chosen.col_indices // 5) == [0, 1, 2]


def test_no_column_is_closest_twice():
    X, components = np.array([[1.0, 0.9, 0.0], [0.0, 0.1, 1.0]]), np.array([[1.0, 1.0], [0.0, 0.0]])
    assert defaults.closest(X, components, 2).tolist() == [0, 1]


def of_the_default(**figures):
    """Return made-up rows of one document set, those of the default and of it in the plain norm changed."""
    names = ("rows_pct", "columns_pct", "core_pct", "refitted_pct", "row_accuracy_pct", "column_accuracy_pct")
    row = {"set": "k1b", "method": "", **dict.fromkeys(names, 80.0), "s": 1.0}
    changed = [row | {"method": name} | figures for name in ("default", defaults.PLAIN)]
    return [*changed, *(row | {"method": name} for name in ("greedy", "medoids", "NMF"))]


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ({}, []),
        ({"rows_pct": 78.3}, ["scaling=None: fidelity of rows"]),
        ({"columns_pct": 78.3}, ["the same, columns"]),
        ({"core_pct": 75.9}, ["the same, core"]),
        ({"refitted_pct": 79.1}, ["scaling=None: refitted"]),
        (
            {"row_accuracy_pct": 64.9, "column_accuracy_pct": 64.9},
            ["default: accuracy of documents", "default: accuracy of words"],
        ),
        ({"s": 2.1}, ["default: seconds"]),
    ],
)
def test_every_figure_of_the_default_is_held_against_its_bar(figures, missed):
    bars = defaults.bars(of_the_default(**figures))
    found = [bar.what for bar in bars if bar.verdict != "met"]
    assert len(found) == len(missed)
    assert all(what.startswith(start) for what, start in zip(found, missed, strict=True))


def test_a_page_shows_the_means_over_document_sets_before_the_rows():
    rows = [*of_the_default(rows_pct=50.0), *(row | {"set": "la1"} for row in of_the_default(rows_pct=60.0))]
    text = page.section("defaults", defaults, [row | dict.fromkeys(page.SOURCE + page.PLACE, "x") for row in rows])
    assert text.index("| default | 55.00 | 80.00 |") < text.index("| k1b | default | 50.00 |")
    assert "| 2 |" in text[text.index("| default | 55.00") :].splitlines()[0]


def test_clusters_of_blocks_are_those_of_their_representatives():
    X = np.kron(np.diag([3.0, 1.0, 2.0]), np.ones((4, 5)))
    row = one_model.of_model(X, CoSeparableNMF(3, 3).fit(X))
    figures = ("own_pct", "own_columns_pct", "agree_pct", "rows_pct", "core_pct", "plain_refitted_pct", "of_bound_pct")
    assert [row[name] for name in figures] == pytest.approx([100.0] * len(figures))


def test_rows_without_a_class_or_a_label_do_not_count():
    problem = data.Problem(np.ones((5, 1)), 2, None, np.array([0, 0, 1, 1, -1]))
    row = one_model.against_classes(problem, one_model.Labels(np.array([1, 1, 0, -1, 0]), None))
    assert row["nmi"] == pytest.approx(1.0)
    assert "column_accuracy_pct" not in row


def test_zero_rows_and_columns_have_no_label_by_a_degree_scaled_nmf():
    X = np.kron(np.eye(2), np.ones((3, 3)))
    X[0], X[:, 5] = 0.0, 0.0
    rows, cols = one_model.by_degree_nmf(X, 2)
    assert (rows == -1).nonzero()[0].tolist() == [0]
    assert (cols == -1).nonzero()[0].tolist() == [5]


def test_every_figure_of_the_one_model_is_held_against_its_bar():
    assert {bar.verdict for bar in one_model.bars([])} == {"not measured"}
    ours = {"method": one_model.DEFAULT, "own_pct": 93.0, "agree_pct": 66.0, "s": 1.0, "bound_s": 0.1}
    accuracies = {"row_accuracy_pct": 65.0, "column_accuracy_pct": 65.0}
    rows = [{"set": "k1b", **ours, **accuracies}]
    for name in ("docstrings", "digits", "images", "osmFISH", "mutations"):
        rows += [{"set": name, **ours, "nmi": 0.8}, {"set": name, "method": "NMF", "nmi": 0.8, "s": 1.0}]
    assert {bar.verdict for bar in one_model.bars(rows)} == {"met"}
    worse = [{name: 0.99 * value if isinstance(value, float) else value for name, value in row.items()} for row in rows]
    slower = [row | {"bound_s": 0.2} for row in worse]
    assert [bar.verdict for bar in one_model.bars(slower)] == [*["missed"] * 4, *["met"] * 5, "missed"]


@pytest.mark.parametrize("name", ablation.VARIANTS)
def test_a_variant_is_forgotten_afterwards_even_if_it_fails(name):
    X = make_coseparable(30, 20, 3, 3, noise=0.3, random_state=0)[0]
    before = faithful(X, 3, 3).history
    with pytest.raises(ZeroDivisionError), ablation.changed(ablation.VARIANTS[name]):
        1 / 0  # noqa: B018 - to fail
    assert faithful(X, 3, 3).history == before


def test_a_variant_without_exchanges_ends_with_the_first_choice():
    X = make_coseparable(30, 20, 3, 3, noise=0.3, random_state=0)[0]
    with ablation.changed(ablation.VARIANTS["without exchanges"]):
        alone = faithful(X, 3, 3)
    assert alone.n_iter == 0
    assert alone.history == faithful(X, 3, 3).history[:1]


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
    assert data.load("trade").row_classes is None
    assert scipy.sparse.issparse(data.load("microbiome-ravel").X)
    assert not scipy.sparse.issparse(data.load("osmFISH").X)


def test_a_table_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("COSEP_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"no file tables/trade\.npz"):
        data.load("trade")


def test_texts_are_cut_to_some_of_their_own_words():
    counts = scipy.sparse.csr_array(np.random.default_rng(0).poisson(2.0, (300, 40)).astype(float))
    before = counts.toarray()
    short = short_texts.cut_to(counts, 6, np.random.default_rng(1))
    np.testing.assert_array_equal(counts.toarray(), before)
    assert short.shape == counts.shape
    assert (short.toarray() <= before).all()
    assert 5.0 < short.sum() / 300 < 7.0
    rare = scipy.sparse.csr_array(np.eye(5))
    assert short_texts.cut_to(rare, 6, np.random.default_rng(1)).shape == (5, 0)


def test_the_means_of_short_texts_are_those_of_each_kind_and_of_all():
    rows = [
        {"kind": kind, "nmi": nmi, "largest_pct": 10.0, "nmf_nmi": 0.1, "nmf_tfidf_nmi": 0.3}
        for kind, nmi in (("packages", 0.2), ("packages", 0.4), ("first lines", 0.6))
    ] + [{"kind": "missing", "note": "no data"}]
    means = {row["kind"]: row["nmi"] for row in short_texts.summary(rows)}
    assert means == pytest.approx({"packages": 0.3, "first lines": 0.6, "all": 0.4})
    values = [bar.figure for bar in short_texts.bars(rows)]
    assert values == pytest.approx([0.3, 0.1, 0.2, 0.0])
    assert all(bar.figure is None for bar in short_texts.bars([]))
