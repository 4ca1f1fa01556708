"""The page without a browser: its size, its words, its numbers, and that names stay text."""

import itertools
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from plotly.offline import get_plotlyjs

import stand_ins
from cosep import CoSeparableNMF, Factorization, Selection, mix
from cosep.findings.describe import describe, with_names
from cosep.findings.topics import topics_of
from cosep.report import write_report
from cosep.report.content import page_content
from cosep.report.page import _hash

VOID = {"meta", "link", "br", "img", "input", "hr"}
MEGABYTE = 1_000_000


class Page(HTMLParser):
    """The elements, attributes and text of a page, and whether its elements are closed in order."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.open, self.texts, self.scripts = [], [], [], [], []
        self.feed(Path(path).read_text(encoding="utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] == "script" else self.texts).append(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())


def known(result):
    """Return everything optional that a page can show."""
    return {
        "explanation": stand_ins.explanation(result),
        "stability": stand_ins.stability(result),
        "rank": stand_ins.rank_choice(),
        "command": "cosep fit pages.csv --rows 3",
    }


def content_of(result, X, **known):
    """Return what the page says, as plain data."""
    return page_content(describe(result, X), with_names(result), **known)


@pytest.fixture(scope="module")
def data():
    X, rows, cols = stand_ins.blocks()
    return X, stand_ins.factorize(X, rows, cols)


@pytest.fixture(scope="module")
def page(data, tmp_path_factory):
    X, result = data
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, result, X, texts=[f"text of {i}" for i in range(len(X))], **known(result))
    return path


def test_plotly_is_there_once_and_nothing_asks_the_network(page):
    text = page.read_text(encoding="utf-8")
    assert text.count(get_plotlyjs().strip()) == 1
    ours = text.replace(get_plotlyjs().strip(), "")
    assert set(re.findall(r"\w+://[^\"' ]*", ours)) == {"http://www.w3.org/2000/svg"}
    for name, value in Page(page).attributes:
        if name in {"src", "href"}:
            assert value.startswith(("#", "data:"))


def test_only_our_own_scripts_may_run(page):
    parsed = Page(page)
    policy = next(value for name, value in parsed.attributes if name == "content" and "script-src" in value)
    assert policy.startswith("default-src 'none'; ")
    assert re.findall(r"'(sha256-[^']+)'", policy) == [_hash(script) for script in parsed.scripts[1:]]
    assert "unsafe-eval" not in policy
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]


def test_equal_input_gives_equal_bytes(data, page, tmp_path):
    X, result = data
    for kind in (np.array, np.asfortranarray, scipy.sparse.csr_array):
        again = tmp_path / "again.html"
        write_report(again, result, kind(X), texts=[f"text of {i}" for i in range(len(X))], **known(result))
        if kind is np.array:
            assert again.read_bytes() == page.read_bytes()
        assert Page(again).text == Page(page).text
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]


def test_the_page_says_the_measured_numbers(data, page):
    X, result = data
    text = Page(page).text
    fidelity = result.fidelity(X)
    for share in (*fidelity, 1 - result.relative_error(X)):
        assert f"{share:.1%}" in text or "more than 99.9%" in text
    assert "cosep fit pages.csv --rows 3" in text
    assert "does not prove how good the selection is" in text
    assert "Recommended: 3 rows and 3 columns." in text
    assert "text of 0" in text


def test_headings_come_in_order(page):
    levels = [int(tag[1]) for tag in Page(page).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def test_topics_are_the_planted_blocks(data):
    X, result = data
    findings = content_of(result, X)
    sizes = [8, 6, 4]
    starts = [0, 8, 14]
    for topic, size, start in zip(findings["topics"], sizes, starts, strict=True):
        assert topic["index"] == start
        assert topic["size"] == size
        block = {f"document {i}" for i in range(start, start + size)}
        assert {member["name"] for member in topic["members"]} == block - {f"document {start}"}
        assert all(member["part"] == pytest.approx(1.0) for member in topic["members"])
        assert len(topic["anchors"]) == 1
        assert topic["anchors"][0]["own"]
    assert describe(result, X).n_unassigned == 0
    assert findings["explained"]["core"] == pytest.approx(1.0)


def test_what_is_said_is_json(data):
    X, result = data
    findings = content_of(result, X, **known(result))
    again = json.loads(json.dumps(findings, allow_nan=False))
    assert again["topics"][0]["why"].pop("sentences") == list(findings["topics"][0]["why"].pop("sentences"))
    assert again["topics"][0] == findings["topics"][0]


@pytest.mark.parametrize("exponent", [-500, 0, 500])
def test_scale_changes_values_alone(exponent, tmp_path):
    X, rows, cols = stand_ins.blocks()
    scaled = np.ldexp(X, exponent)
    findings = content_of(stand_ins.factorize(scaled, rows, cols), scaled)
    plain = content_of(stand_ins.factorize(X, rows, cols), X)
    assert findings["summary"] == plain["summary"]
    assert [topic["members"] for topic in findings["topics"]] == [topic["members"] for topic in plain["topics"]]
    write_report(tmp_path / "report.html", stand_ins.factorize(scaled, rows, cols), scaled)


def test_names_and_texts_stay_text(tmp_path):
    X, result, texts = stand_ins.hostile()
    path = tmp_path / "report.html"
    write_report(
        path,
        result,
        X,
        texts=texts,
        explanation=stand_ins.explanation(result),
        stability=stand_ins.stability(result),
        rank=SimpleNamespace(**{**vars(stand_ins.rank_choice()), "reason": stand_ins.HOSTILE[0]}),
        command=stand_ins.HOSTILE[2],
    )
    parsed = Page(path)
    assert parsed.tags.count("script") == 3
    assert "img" not in parsed.tags
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]
    for name in stand_ins.HOSTILE[:-1]:
        assert name in parsed.text
    assert "\u202e" not in path.read_text(encoding="utf-8")
    figures = json.loads(parsed.scripts[0])["figures"]
    words = [text for figure in figures.values() for text in _strings(figure) if "hacked" in text]
    assert words
    assert not [text for text in words if "<" in text.replace("<br>", "")]


def _strings(value):
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    ("letter", "m", "r"),
    [("w", 20_000, 60), ("\u65e5", 3000, 60), ('<"&', 3000, 400)],
    ids=["many rows", "wide letters", "many topics, escaped letters"],
)
def test_a_page_about_much_data_holds_less_than_a_megabyte(tmp_path, letter, m, r):
    X, result, texts = stand_ins.large(m, r=r, letter=letter)
    path = tmp_path / "report.html"
    write_report(
        path,
        result,
        X,
        texts=texts,
        explanation=stand_ins.explanation(result),
        stability=stand_ins.stability(result),
        rank=stand_ins.rank_choice([(r, c) for r in range(10, 70, 10) for c in range(10, 70, 10)]),
    )
    assert path.stat().st_size - len(get_plotlyjs().encode()) < MEGABYTE
    text = Page(path).text
    assert "of rows is the mean of about" in text
    assert f"400 of {m:,} rows" in text


def test_what_was_not_computed_is_said_or_absent(data, tmp_path):
    X, result = data
    path = tmp_path / "report.html"
    write_report(path, result, X)
    text = Page(path).text
    assert text.count("Not computed for this page") == 2 + len(result.selection.row_indices)
    assert "How many rows and columns" not in text
    assert "CoSeparableNMF(n_rows=3, n_cols=3)" in text


def test_rows_that_were_in_no_draw_are_not_counted(data, tmp_path):
    X, result = data
    known = stand_ins.stability(result)
    known.rows["frequency"] = known.rows["similarity"] = np.array([0.5, np.nan, 1.0])
    known.cols["frequency"] = known.cols["similarity"] = np.full(3, np.nan)
    path = tmp_path / "report.html"
    write_report(path, result, X, stability=known)
    text = Page(path).text
    assert "On average, a selected row came back in 75.0%" in text
    assert "No selected column was part of a draw." in text


def test_a_proven_gap_and_a_suspicious_core_are_put_in_words():
    X, rows, cols = stand_ins.blocks()
    X[9, 0] = 1.0
    proven = mix(X, Selection(np.array(rows), np.array(cols), gap=2e-9, n_iter=7))
    said = " ".join(content_of(proven, X)["certificate"])
    assert "gap of 2.0e-09" in said
    assert "7 rounds" in said
    assert "plain NMF" in said
    apart = mix(X, Selection(np.array([1, 8]), np.array([12, 13, 14])))
    said = " ".join(content_of(apart, X)["certificate"])
    assert "1 row and 3 columns" in said or "All zero in the core" in said


@pytest.mark.parametrize(
    ("X", "rows", "cols"),
    [
        (np.array([[1.0, 2.0], [3.0, 1.0]]), [0], [1]),
        (np.array([[1.0, 2.0], [3.0, 1.0]]), [0, 1], [1, 0]),
        (np.array([[5.0]]), [0], [0]),
        (np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]), [0, 2], [1]),
        (np.array([[1.0, 0.0], [0.0, 1.0]]), [0], [1]),
        (np.eye(5, dtype=np.float32), [0, 1, 2], [3, 4]),
    ],
    ids=["one of two", "all of two", "one entry", "zero row", "core of zeros", "float32, core of zeros"],
)
def test_the_smallest_pages_can_be_written(X, rows, cols, tmp_path):
    result = stand_ins.factorize(X, rows, cols, names=False)
    path = tmp_path / "report.html"
    parts = {"explanation": stand_ins.explanation(result), "stability": stand_ins.stability(result)}
    write_report(path, result, X, texts=[""] * len(X), **parts)
    write_report(path, result, X)
    assert f"row {rows[0]}" in Page(path).text


def test_a_fitted_estimator_is_reported(tmp_path):
    X, _, _ = stand_ins.blocks()
    X[3] = 0.0
    result = CoSeparableNMF(3, 3).fit(X).factorization_
    path = tmp_path / "report.html"
    write_report(path, result, X, explanation=stand_ins.explanation(result, zeros=[3]))
    text = Page(path).text
    assert "1 all-zero row left out" in text
    assert "1 row shares nothing" in text


BAD = {
    "factorization": ({"factorization": "model"}, "must be a Factorization"),
    "no core": (
        {"factorization": Factorization(np.ones((18, 1)), None, np.ones((1, 15)))},
        "must have selected rows and columns",
    ),
    "shape": ({"X": np.ones((4, 4))}, "shape"),
    "nan": ({"X": np.full((18, 15), np.nan)}, "NaN"),
    "zeros": ({"X": np.zeros((18, 15))}, "no nonzero entry"),
    "one text": ({"texts": "text"}, "one text for each of the 18 rows"),
    "few texts": ({"texts": ["text"]}, "one text for each of the 18 rows"),
    "numbers as texts": ({"texts": list(range(18))}, "one text for each of the 18 rows"),
    "no list": ({"texts": 3}, "one text for each of the 18 rows"),
    "command": ({"command": ["cosep", "fit"]}, "command="),
    "explanation": ({"explanation": "because"}, "explanation must have rows, row_errors, col_errors"),
    "stability": ({"stability": 3}, "stability must have"),
    "rank": ({"rank": (3, 3)}, "rank must have"),
    "path": ({"path": 3}, "path=3"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_leaves_no_file(data, tmp_path, changed, message):
    X, result = data
    arguments = {"path": tmp_path / "report.html", "factorization": result, "X": X, **changed}
    with pytest.raises(ValueError, match=message):
        write_report(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_parts_of_another_selection_are_refused(data, tmp_path):
    X, result = data
    other = stand_ins.factorize(X, [1, 9, 15], [1, 6, 13])
    smaller = stand_ins.factorize(X[:17], [0, 8, 14], [0, 5, 12])
    for part in (
        {"explanation": stand_ins.explanation(other)},
        {"stability": stand_ins.stability(other)},
        {"explanation": stand_ins.explanation(smaller)},
    ):
        with pytest.raises(ValueError, match=r"another selection|errors of"):
            write_report(tmp_path / "report.html", result, X, **part)
    with pytest.raises(ValueError, match="folder"):
        write_report(tmp_path, result, X)


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_a_missing_package_is_named(data, tmp_path, monkeypatch, package):
    X, result = data
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}: install cosep\[cli\]"):
        write_report(tmp_path / "report.html", result, X)


def test_topics_near_the_largest_float_have_their_columns():
    huge = mix(np.full((6, 5), 1.7e308), Selection([0], [0]))
    assert topics_of(huge).anchors(0) == [0]
