"""Every experiment runs in miniature, keeps its rows, and its section says what they say. Nothing is timed."""

import numpy as np
import pytest

from cosep import both_sides, make_coseparable, spa
from experiments import documents, grid
from experiments.document_bars import of_the_default, of_the_paper
from experiments.document_methods import EXACT, METHODS, by_the_letter
from experiments.document_results import DOCUMENTS, PUBLISHED, TABLES, Results, printed
from experiments.shares import relative_share


@pytest.fixture
def in_this_process(monkeypatch):
    """Let cells be run here, where everything is loaded and compiled; return their keys as they come."""
    run = []

    def compute(name, keys, _jobs):
        for key in keys:
            run.append(key)
            yield key, grid.run_cell(name, key)

    monkeypatch.setattr(grid, "compute", compute)
    return run


# Documents: Tables 1, 2 and 3.


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::cosep.SelectionWarning")
def test_documents_leave_rows_that_are_kept_and_a_section(tmp_path, in_this_process):
    path = tmp_path / "results" / "documents.csv"
    rows = grid.fill(documents, path, tiny=True)
    before = path.read_bytes()
    assert [row["method"] for row in rows] == [*METHODS, *EXACT]
    assert len(in_this_process) == len(rows)
    grid.fill(documents, path, tiny=True)
    assert len(in_this_process) == len(rows)
    assert path.read_bytes() == before
    text = documents.section(rows, tmp_path)
    assert (tmp_path / "documents.png").stat().st_size > 10_000
    assert text.startswith("## Documents\n")
    for part in TABLES:
        assert f"### {part.title}\n" in text
    assert text.count("| sports | 7 | missing (") == len(TABLES)
    assert "None" not in text.replace("scaling=None", "")
    assert "nan" not in text


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::cosep.SelectionWarning")
def test_figures_of_documents_come_again():
    key = next(cell for cell in documents.cells(tiny=True) if cell["method"] == "faithful")
    first, second = documents.run(key), documents.run(key)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_without_the_data_there_are_no_documents(monkeypatch):
    monkeypatch.delenv("COSEP_DATA", raising=False)
    assert list(documents.cells()) == []


def test_all_document_sets_but_the_missing_one_have_cells(data_home):
    assert data_home
    sets = {key["set"] for key in documents.cells()}
    assert sets == set(printed("document_approximation")) - {"sports"}


def test_a_share_of_squares_becomes_the_measure_of_the_paper():
    assert relative_share(1.0 - 0.3**2) == pytest.approx(0.7)
    assert relative_share(None) is None


def test_a_label_is_the_largest_entry_and_ties_go_to_one_of_the_largest():
    factor = np.random.default_rng(0).random((50, 4))
    np.testing.assert_array_equal(documents.hard(factor), factor.argmax(axis=1))
    tied = documents.hard(np.tile([1.0, 0.0, 1.0], (200, 1)))
    assert set(tied) == {0, 2}
    assert set(documents.hard(np.zeros((200, 3)))) == {0, 1, 2}


def test_the_published_fit_is_exact_where_the_selection_is_and_never_rises(monkeypatch):
    X, truth = make_coseparable(30, 20, 4, 4, random_state=0)
    assert by_the_letter(X, truth).relative_error(X) < 1e-6
    noisy = make_coseparable(30, 20, 4, 4, noise=0.3, random_state=0)[0]
    selection, errors = both_sides(spa)(noisy, 4, 4), []
    for steps in range(5):
        monkeypatch.setattr("experiments.document_methods.STEPS", steps)
        factors = by_the_letter(noisy, selection)
        assert factors.row_factor.min() >= 0 <= factors.col_factor.min()
        errors.append(factors.relative_error(noisy))
    assert errors == sorted(errors, reverse=True)


def rows_off_by(points):
    """Return rows of two sets in which everything is so many points above the print."""
    rows = []
    for name in ("k1b", "tr11"):
        for method in METHODS:
            row = {"set": name, "method": method, "rows": 6, "columns": 6, "core_nonzeros": 6, "seconds": 1.0}
            for part in TABLES:
                ours = printed(part.file)[name].get(method, 50.0) + points
                row |= {part.figure: ours, **({part.own: ours} if part.own else {})}
            row |= {f"{side}_fidelity_pct": 40.0 for side in ("row", "column", "core")}
            rows.append(row)
    return rows


@pytest.mark.slow
def test_the_tables_show_ours_beside_the_print_and_the_difference(tmp_path):
    text = documents.section(rows_off_by(0.5), tmp_path)
    assert "| k1b | 6 | 13.95 (13.45) | 12.55 (12.05) |" in text
    assert "| average of 2 |  | 44.22 (43.72) |" in text
    assert text.count("| CoS-FGM | 0 | 2 | 0 | +0.50 | 0.50 |") == len(TABLES)
    assert f"Level on average: {', '.join(PUBLISHED)}." in text
    assert f"Reproduced: {', '.join(PUBLISHED)}." in documents.section(rows_off_by(0.01), tmp_path)
    assert f"Below the print: {', '.join(PUBLISHED)}." in documents.section(rows_off_by(-2.0), tmp_path)


@pytest.mark.parametrize(("points", "verdict"), [(0.0, "met"), (-0.01, "missed")])
def test_the_bars_hold_averages_against_the_print(points, verdict):
    sets, documents_bar, words_bar = of_the_paper(Results(rows_off_by(points)))
    assert (sets.figure, sets.verdict) == (2 if points == 0 else 0, "missed")
    assert (documents_bar.verdict, words_bar.verdict) == (verdict, verdict)
    assert documents_bar.limit == round((69.45 + 62.43) / 2, 2)


def test_the_bars_of_the_default_are_shares_of_averages():
    rows = rows_off_by(0.0)
    for row in rows:
        if row["method"] == "faithful":
            row |= {"core_fidelity_pct": 38.0, "row_fidelity_pct": 39.0}
        if row["method"] == "default":
            row |= {"seconds": 1.5, DOCUMENTS.own: 67.0}
    figures = {bar.what: (bar.figure, bar.verdict) for bar in of_the_default(Results(rows))}
    assert list(figures.values()) == [
        (0.975, "missed"),
        (1.0, "met"),
        (round(38 / 39, 4), "met"),
        (1.0, "met"),
        (67.0, "met"),
        (50.0, "missed"),
        (1.5, "met"),
    ]
