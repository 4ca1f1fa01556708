"""Options of texts, by the command: how words are counted, and the same for new texts."""

import csv

import pytest
from typer.testing import CliRunner

from cosep.cli.app import app

THEMES = ("river boat water", "bread flour oven", "court judge trial")
TEXTS = [f"the {theme} and {theme.split()[i % 3]} number{i}" for i, theme in enumerate(THEMES * 6)]
SIZE = ("--rows", "3", "--cols", "3", "--no-report", "--stability", "0")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS))
    return path


@pytest.mark.parametrize(
    "options",
    [
        ("--tfidf",),
        ("--tfidf", "--sublinear", "--ngrams", "2"),
        ("--sublinear", "--max-df", "0.5"),
        ("--ngrams", "3", "--stop-words", "stop.txt"),
        ("--stop-words", "german", "--top-words", "8"),
        ("--min-df", "0.1", "--max-df", "10"),
    ],
    ids=" ".join,
)
def test_the_fitted_texts_are_transformed_as_they_were_fitted(options, lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stop.txt").write_text("the\nand\nriver\n")
    assert run("fit", lines, *SIZE, *options, "--out", "out").exit_code == 0
    (tmp_path / "stop.txt").unlink()
    new = tmp_path / "new.txt"
    new.write_text("\n".join([*TEXTS, "another text about bread", "zzz qqq"]))
    answer = run("transform", "out", new, "--out", "new.csv")
    assert answer.exit_code == 0, answer.output
    tables = [(tmp_path / name).read_text().splitlines() for name in ("out/rows.csv", "new.csv")]
    rows, found = (list(csv.DictReader(lines)) for lines in tables)
    for name in ("representative", "membership", "explained"):
        assert [row[name] for row in rows] == [row[name] for row in found[:-2]]
    assert found[-2]["representative"]
    assert found[-1]["explained"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-df", "0"), "--max-df=0.0 must be above 0"),
        (("--max-df", "inf"), "--max-df=inf must be a whole number of texts"),
        (("--min-df", "2.5"), "--min-df=2.5 must be a whole number of texts"),
        (("--ngrams", "0"), "--ngrams=0 must be a whole number from 1 to 5"),
        (("--stop-words", "klingon"), "--stop-words='klingon' must be a language with a list"),
        (("--stop-words", "stop.txt"), "no word of the 18 texts remains"),
        (("--min-df", "5", "--max-df", "3"), "--max-df=3 keeps words in at most 3 of the 18 texts"),
    ],
)
def test_bad_options_are_one_sentence(options, message, lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stop.txt").write_text(" ".join(TEXTS))
    answer = run("fit", lines, *options, "--out", "out")
    assert answer.exit_code == 2
    assert message in answer.output
    assert len(answer.output.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_file_of_stop_words_is_not_overwritten(lines, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "core.csv").write_text("the\n")
    answer = run("fit", lines, "--stop-words", folder / "core.csv", "--out", folder)
    assert answer.exit_code == 2
    assert "stop-words" in answer.output
    assert (folder / "core.csv").read_text() == "the\n"


def test_short_texts_are_warned_of_with_advice(lines, tmp_path):
    out = ("--out", tmp_path / "out")
    assert "too few to tell topics" not in run("fit", lines, *SIZE, *out).output
    answer = " ".join(run("fit", lines, *SIZE, *out, "--top-words", "3").output.split())
    assert "100% of the texts have fewer than 3 of the words that are counted" in answer
    assert "raise --top-words, or join texts that belong together" in answer


def test_words_of_a_larger_answer_are_counted_as_before(lines, tmp_path):
    assert run("fit", lines, *SIZE, "--tfidf", "--ngrams", "2", "--out", tmp_path / "a").exit_code == 0
    grow = (
        "fit",
        lines,
        "--grow",
        tmp_path / "a",
        "--rows",
        "4",
        "--cols",
        "4",
        "--no-report",
        "--out",
        tmp_path / "b",
    )
    assert run(*grow).exit_code == 0
    for option in ("--tfidf", "--sublinear"):
        refused = run(*grow, option)
        assert refused.exit_code == 2
        assert f"{option} does not apply to --grow: its words are counted as before" in refused.output
