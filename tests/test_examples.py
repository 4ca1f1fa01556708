"""Every example runs, without warnings, and shows what it is about."""

import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(capsys, monkeypatch):
    """A function that runs an example and returns what it prints and its names."""

    mpl.use("agg")
    shown = []
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: shown.append(plt.get_fignums()))

    def runner(name):
        names = runpy.run_path(str(FOLDER / f"{name}.py"))
        plt.close("all")
        assert any(shown), "the example shows no figure"
        return capsys.readouterr().out, names

    return runner


def test_every_example_is_run_here():
    tested = set(re.findall(r'run\("(\w+)"\)', Path(__file__).read_text(encoding="utf-8")))
    assert {path.stem for path in FOLDER.glob("*.py")} == tested


def test_examples_fit_on_a_page_and_have_a_picture():
    for path in FOLDER.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 70, path.name
        assert "plt.show()" in text, path.name


def test_text_sorts_new_texts_by_their_theme(run):
    out, names = run("text")
    corpus, model = names["corpus"], names["model"]
    assert all(name in out for name in corpus.documents[model.row_indices_])
    assert all(word in out for word in corpus.words[model.col_indices_])
    themes = re.findall(r"-> (.*)", out)
    assert len(themes) == len(names["texts"])
    assert "filter" in themes[0]
    assert len(set(themes)) > 1


def test_digits_shows_images_and_restores_unseen_ones(run):
    out, names = run("digits")
    assert "Ten of 1500 images" in out
    assert len(names["model"].col_indices_) == 20
    off = int(re.search(r"unseen images is (\d+)%", out)[1])
    assert off < 50
    assert off == round(100 * names["error"])


def test_spectra_finds_pure_pixels_and_maps_of_the_materials(run):
    _, names = run("spectra")
    purest = names["shares"][names["model"].row_indices_]
    assert sorted(purest.argmax(axis=1)) == [0, 1, 2, 3]
    assert purest.max(axis=1).min() > 0.9
    order = names["shares"][names["model"].row_indices_[names["order"]]].argmax(axis=1)
    assert np.abs(names["maps"].reshape(4, -1).T - names["shares"][:, order]).mean() < 0.05


def test_mutations_finds_the_processes(run):
    out, names = run("mutations")
    assert sorted(names["process"]) == [0, 1, 2]
    assert names["found"].mean() > 0.9
    assert f"process of {names['found'].mean():.0%}" in out


def test_rank_recommends_what_is_planted(run):
    out, names = run("rank")
    assert (names["choice"].n_rows, names["choice"].n_cols) == (5, 5)
    assert names["choice"].reason in out
    assert np.diff(names["explained"]).min() > -1e-3


def test_growing_keeps_what_is_selected_and_predicts_better(run):
    _, names = run("growing")
    assert names["grown"] == sorted(names["grown"], reverse=True)
    first = names["panels"][0].col_indices_
    assert all((model.col_indices_[:10] == first).all() for model in names["panels"])


def test_blocks_finds_what_memory_finds(run):
    pytest.importorskip("dask")
    _, names = run("blocks")
    rows = {frozenset(model.row_indices_.tolist()) for model in names["fits"].values()}
    assert rows == {frozenset(names["truth"].row_indices.tolist())}
    assert names["labels"].shape == (20_000,)


def test_selector_is_a_method_like_any_other(run):
    _, names = run("selector")
    shares = {name: model.core_fidelity_ for name, model in names["models"].items()}
    assert shares["faithful"] == max(shares.values())
    model = names["models"]["longest"]
    seen = model.factorization_.scaling.rows[:, None] * names["images"] * model.factorization_.scaling.cols
    assert set(model.row_indices_) == set(names["longest"](seen, 10, 10).row_indices)


def test_comparing_shows_what_refitted_factors_hide(run):
    out, names = run("comparing")
    shares, bound = names["shares"], names["bound"]
    assert shares["faithful"][0] > 2 * shares["cosfgm"][0]
    assert abs(shares["faithful"][3] - shares["cosfgm"][3]) < 0.1 * shares["faithful"][3]
    assert all(share <= bound for values in shares.values() for share in values)
    assert all(name in out for name in shares)


def test_panel_names_one_size_and_says_how_well_it_predicts_new_patients(run):
    out, names = run("panel")
    panel, scores, decoder = names["panel"], names["scores"], names["decoder"]
    assert panel[0] == "mean radius"
    assert len(panel) == 5
    assert set(panel) <= set(names["means"])
    assert not {"mean perimeter", "mean area"} & set(panel)
    assert ", ".join(panel) in out
    assert not set(names["known"].index) & set(names["unseen"].index)
    assert f"mean {scores.mean:.2f}, median {scores.median:.2f}" in out
    assert scores.mean > 0.6
    assert abs(decoder.r2[decoder.predicted].mean() - scores.mean) < 0.05
    figures = re.findall(r"^  (\w.*?) +([\d.]+) \+- ([\d.]+), measured", out, re.MULTILINE)
    assert len(figures) == 4
    for name, value, error in figures:
        j = names["patients"].columns.get_loc(name)
        assert float(value) == pytest.approx(names["predicted"][0, j], rel=0.01)
        assert float(error) == pytest.approx(decoder.error[j], rel=0.1)


def test_cells_agree_with_their_types(run):
    pytest.importorskip("anndata")
    if find_spec("scanpy") is None:
        pytest.skip("scanpy is not installed, which ships the cells")
    out, names = run("cells")
    assert all(gene in out for gene in names["genes"])
    assert set(names["genes"]) <= set(names["adata"].var_names)
    assert len(names["genes"]) == 10
    assert min(names["agreement"].values()) > 0.2  # 0 is chance
