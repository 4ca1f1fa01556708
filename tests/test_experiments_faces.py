"""The miniature of every experiment runs, not twice, and its section says what the rows say. Nothing is timed."""

import numpy as np
import pytest

from benchmarks.harness import read_rows
from experiments import face_figures, faces, grid, topics
from experiments.data import MissingDataError


@pytest.fixture
def in_this_process(monkeypatch):
    """Let cells run here, one after the other."""
    monkeypatch.setattr(grid, "compute", lambda name, keys, _: ((key, grid.run_cell(name, key)) for key in keys))


def miniature(experiment, folder, monkeypatch):
    """Fill the rows twice, the second time without computing anything, and return them as a page would read them."""
    path = folder / "rows.csv"
    grid.fill(experiment, path, tiny=True, jobs=1)
    first = path.read_bytes()
    monkeypatch.setattr(experiment, "run", lambda key: pytest.fail(f"{key} was run again"))
    grid.fill(experiment, path, tiny=True, jobs=1)
    assert path.read_bytes() == first
    return read_rows(path)


def is_drawn(path):
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_faces(tmp_path, monkeypatch):
    rows = miniature(faces, tmp_path, monkeypatch)
    X, subjects, _ = faces.gallery("planted")
    assert {row["method"] for row in rows} == {method for method, _ in faces.METHODS} | {"random"}
    for row in rows:
        if row["method"] in faces.BOTH_SIDES:
            pixels, images = face_figures.indices(row, "pixels"), face_figures.indices(row, "images")
            assert len(set(pixels)) == row["r1"]
            assert len(set(images)) == row["r2"]
            assert row["subjects"] == len(set(subjects[images]))
            if row["pixels"] == "gray":
                kept, whole = np.corrcoef(X[pixels].T), np.corrcoef(X.T)
                error = np.linalg.norm(kept - whole) / np.linalg.norm(whole)
                assert row["correlation_error"] == pytest.approx(error, abs=1e-4)
    text = faces.section(rows, tmp_path)
    for name in ("table_5", "figure_4", "figure_5", "figure_6", "appendix_faces"):
        assert f"{name}.png" in text
        assert is_drawn(tmp_path / f"{name}.png")
    assert "nan" not in text
    # The printed figures are of other faces than these.
    assert "At (4, 4) the paper prints" not in text

    def missing(_):
        msg = "COSEP_DATA is not set"
        raise MissingDataError(msg)

    monkeypatch.setattr(faces, "gallery", missing)
    monkeypatch.setattr(face_figures, "gallery", missing)
    assert "not drawn again: COSEP_DATA is not set" in faces.section(rows, tmp_path)
    assert list(faces.cells(tiny=False)) == []


@pytest.mark.usefixtures("in_this_process")
def test_topics(tmp_path, monkeypatch):
    rows = miniature(topics, tmp_path, monkeypatch)
    counts, classes, word_classes, words = topics.corpus("planted")
    for row in rows:
        documents, columns = (np.array(row[side].split(), dtype=int) for side in ("documents", "columns"))
        assert (np.diff(classes[documents]) >= 0).all()
        assert (np.diff(word_classes[columns]) >= 0).all()
        core = np.array(row["core"].split(), dtype=float).reshape(row["r"], row["r"])
        np.testing.assert_array_equal(core, counts[documents][:, columns].toarray())
        assert row["column_words"].split() == [words[column] for column in columns]
        assert row["topics"] == len(set(classes[documents]) | set(word_classes[columns]))
        clusters = [words for cluster in row["clusters"].split(" | ") for words in cluster.split()]
        assert len(clusters) == len(set(clusters))
    text = topics.section(rows, tmp_path)
    assert "figure_3.png" in text
    assert is_drawn(tmp_path / "figure_3.png")
    assert "TDT30, default" not in text


def test_words_belong_to_the_class_that_has_most_of_them_on_average():
    counts = topics.corpus("planted").counts[:4, :2].toarray()
    counts[:] = [[3, 0], [3, 0], [4, 1], [0, 0]]
    assert topics.majority(counts, np.array([0, 0, 1, 1])).tolist() == [0, 1]


@pytest.mark.parametrize("name", topics.SETS)
def test_words_of_a_set_are_those_of_its_columns(data_home, name):
    assert (data_home / "documents").exists()
    corpus = topics.corpus(name)
    assert len(corpus.words) == corpus.counts.shape[1] == len(corpus.word_classes)
    assert len(corpus.classes) == corpus.counts.shape[0]
    known = [word for word in corpus.words if word != topics.UNKNOWN]
    assert len(set(known)) == len(known)
    assert len(known) == (245 if name == "TDT30" else 1000)


def test_printed_clusters_hold_every_word_once():
    words = [word for line in topics.printed_lists("tdt30_word_clusters") for word in line.get("words", "").split()]
    assert len(words) == len(set(words)) == 1000
    keys = {word for line in topics.printed_lists("tdt30_key_words") for word in line["words"].split()}
    assert keys <= set(words)
