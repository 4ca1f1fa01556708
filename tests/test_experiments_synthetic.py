"""Every experiment runs as a miniature, keeps its rows, and makes its part of the page out of them."""

import numpy as np
import pytest

from cosep import index_accuracy, make_coseparable
from cosep.solve.self_dictionary import duality_gap
from experiments import grid, released, synthetic


@pytest.fixture
def in_this_process(monkeypatch):
    """Let cells be run here, and tell which were."""
    ran = []

    def compute(name, keys, jobs):
        assert jobs == 1
        for key in keys:
            ran.append(key)
            yield key, grid.run_cell(name, key)

    monkeypatch.setattr(grid, "compute", compute)
    return ran


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_planted_matrices_are_run_once_and_described(tmp_path, in_this_process):
    path, figures = tmp_path / "synthetic.csv", tmp_path / "figures"
    figures.mkdir()
    grid.fill(synthetic, path, tiny=True, jobs=1)
    cells = len(in_this_process)
    first = path.read_bytes()
    rows = grid.fill(synthetic, path, tiny=True, jobs=1)
    assert len(rows) == cells == len(in_this_process)
    assert path.read_bytes() == first

    text = synthetic.section(grid.read_rows(path), figures)
    drawn = sorted(figure.name for figure in figures.iterdir())
    assert drawn == ["figure_1.png", "figure_1_identifiable.png", "figure_1_settings.png", "figure_2.png"]
    assert all(f"(figures/{name})" in text for name in drawn)
    assert "nan" not in text
    assert text.startswith("## Figures 1 and 2")
    before = [figure.read_bytes() for figure in sorted(figures.iterdir())]
    assert synthetic.section(rows, figures) == text
    assert [figure.read_bytes() for figure in sorted(figures.iterdir())] == before


@pytest.mark.slow
def test_planted_matrices_are_described_while_rows_are_missing(tmp_path):
    key = next(key for key in synthetic.cells(tiny=True) if key["method"] == "SPA+")
    row = key | grid.run_cell(synthetic.__name__, key)
    assert "### Figure 2" in synthetic.section([row], tmp_path)


def test_the_full_grid_has_the_levels_and_draws_of_the_paper():
    keys = list(synthetic.cells())
    assert len({tuple(key.values()) for key in keys}) == len(keys)
    told = [key for key in keys if (key["protocol"], key["order"], key["r2"]) == ("scale-first", "permuted", 3)]
    noise = sorted(key["noise"] for key in told if key["method"] == "SPA+")
    assert np.allclose(noise, np.logspace(-7, -1, 20), rtol=5e-3)
    assert {key["seeds"] for key in told if key["method"] not in synthetic.SLOW} == {"0-24"}


def test_the_released_code_finds_a_square_core_and_takes_the_first_of_equals():
    X, truth = make_coseparable(20, 20, 3, 3, random_state=0)
    assert index_accuracy(released.released(X, 3, 3), truth) == 1.0
    rank_one = np.outer(np.arange(1.0, 6.0), np.ones(5))
    chosen = released.released(rank_one, 3, 3)
    assert set(chosen.col_indices) == {0, 1, 2}


def test_the_dictionary_of_the_released_code_is_feasible_and_near_its_minimum():
    B = make_coseparable(20, 12, 3, 3, noise=0.01, random_state=0)[0]
    w = B.sum(axis=0)
    Y, lam = released.dictionary(B, 3)
    assert (Y >= 0).all()
    assert (np.diagonal(Y) <= 1 + 1e-12).all()
    assert (w[:, None] * Y <= w * np.diagonal(Y)[:, None] + 1e-9).all()
    objective, gap = duality_gap(B, w, Y, lam)
    assert gap <= 0.5 * objective
