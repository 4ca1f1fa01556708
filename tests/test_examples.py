"""Every example runs, without warnings, and shows what it is about."""

import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(capsys):
    """A function that runs an example and returns what it prints and its names."""

    def runner(name):
        names = runpy.run_path(str(FOLDER / f"{name}.py"))
        return capsys.readouterr().out, names

    return runner


def test_every_example_is_run_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == {"cells", "digits", "panel", "text"}


def test_examples_fit_on_a_page():
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text().splitlines()) <= 50, path.name


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
    # 2 x 5 chosen images, and two times three pictures, of eight lines each.
    assert sum(set(line) <= set(" .:*#") and len(line) > 40 for line in out.splitlines()) == 2 * 8 + 2 * 8
    off = int(re.search(r"unseen images is (\d+)%", out)[1])
    assert off < 50
    assert off == round(100 * names["error"])


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
