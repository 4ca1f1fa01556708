"""The page without a browser: its size, its words, its numbers, and that names stay text."""

import itertools
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from plotly.offline import get_plotlyjs

import stand_ins
from cosep import CoSeparableNMF, Factorization, Selection, explain, mix, selection_path
from cosep.findings.describe import describe, with_names
from cosep.findings.sentences import norm_sentence
from cosep.findings.topics import topics_of
from cosep.findings.wording import percent
from cosep.matrix.norm import Scaling
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
        "selection_path": stand_ins.path(result),
        "command": "cosep fit pages.csv --rows 3",
    }


def content_of(result, X, **known):
    """Return what the page says, as plain data."""
    return page_content(describe(X, result), with_names(result), **known)


@pytest.fixture(scope="module")
def data():
    X, rows, cols = stand_ins.blocks()
    return X, stand_ins.factorize(X, rows, cols)


@pytest.fixture(scope="module")
def page(data, tmp_path_factory):
    X, result = data
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(X, result, path, texts=[f"text of {i}" for i in range(len(X))], **known(result))
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
        write_report(kind(X), result, again, texts=[f"text of {i}" for i in range(len(X))], **known(result))
        if kind is np.array:
            assert again.read_bytes() == page.read_bytes()
        assert Page(again).text == Page(page).text
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]


def test_the_page_says_what_it_was_given(page):
    text = Page(page).text
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
    assert describe(X, result).n_unassigned == 0
    assert findings["explained"]["parts"]["core"]["bar"] == pytest.approx(1.0)


@pytest.fixture(scope="module")
def noisy():
    """A matrix of high rank whose rows and columns have very different sums."""
    rng = np.random.default_rng(0)
    return rng.gamma(0.3, size=(60, 40)) * rng.gamma(0.5, size=60)[:, None]


@pytest.mark.parametrize("scaling", ["degree", "rows", None])
def test_the_page_says_what_is_explained_its_bound_and_the_norm(noisy, tmp_path, scaling):
    model = CoSeparableNMF(5, 3, scaling=scaling).fit(noisy)
    path = tmp_path / "report.html"
    write_report(noisy, model.factorization_, path)
    text = Page(path).text
    shares = (model.row_fidelity_, model.col_fidelity_, model.core_fidelity_, model.refitted_fidelity_)
    for share, bound in zip(shares, model.fidelity_bound_, strict=True):
        assert f"{percent(share)} ({percent(share / bound)} of the bound {percent(bound)})" in text
    assert f"{percent(shares[3] / model.fidelity_bound_.refitted)} of what any 3 topics could" in text
    assert text.count(norm_sentence(describe(noisy, model.factorization_))) == 1
    assert f"(scaling: {scaling or 'none'})" in text
    assert "A row belongs to the topic with the largest share in it." in text
    assert f"no 3 topics of any kind could explain more than {percent(model.fidelity_bound_.refitted)}" in text
    assert f"ends at {percent(max(model.fidelity_bound_))}, the largest bound, not at 100%." in text


def lengths_of(explained, key):
    """Return the lengths of a bar and of its track, on the common scale."""
    part = explained["parts"][key]
    return part["bar"] * part["end"], part["end"]


def test_bars_and_their_bounds_have_one_scale(noisy):
    model = CoSeparableNMF(5, 3).fit(noisy)
    explained = content_of(model.factorization_, noisy)["explained"]
    top = model.fidelity_bound_.rows
    assert top == max(model.fidelity_bound_)
    shares = (model.row_fidelity_, model.col_fidelity_, model.core_fidelity_, model.refitted_fidelity_)
    for key, share, bound in zip(("rows", "cols", "core", "refitted"), shares, model.fidelity_bound_, strict=True):
        assert lengths_of(explained, key) == pytest.approx((share / top, bound / top), abs=1e-6)
    assert lengths_of(explained, "rows")[1] == 1.0
    assert lengths_of(explained, "cols")[1] < 1.0


def test_no_bar_is_longer_than_its_track(noisy):
    result = CoSeparableNMF(3, 3).fit(noisy).factorization_
    found = describe(noisy, result)
    low = replace(found, bound=type(found.bound)(*(0.5 * share for share in found.fidelity)))
    for part in page_content(low, with_names(result))["explained"]["parts"].values():
        assert part["bar"] == 1.0
        assert part["share"] == part["bound"]
        assert part["of_bound"] == "100.0%"


def test_a_negative_share_has_a_number_and_no_bar(noisy, tmp_path):
    result = CoSeparableNMF(3, 3).fit(noisy).factorization_
    bad = replace(result, row_weights=5.0 * result.row_weights)
    assert bad.fidelity(noisy).core < 0
    assert content_of(bad, noisy)["explained"]["parts"]["core"]["bar"] == 0.0
    path = tmp_path / "report.html"
    write_report(noisy, bad, path)
    assert f"{percent(bad.fidelity(noisy).core)} (0.0% of the bound" in Page(path).text
    gauges = [value for name, value in Page(path).attributes if name == "style" and "--end" in value]
    assert len(gauges) == 5
    assert gauges[-1].startswith("--part:0.0000;")


def test_tiny_shares_fill_the_scale_and_whole_ones_end_at_all(data, tmp_path):
    many = np.eye(2500)
    tiny = content_of(stand_ins.factorize(many, [0], [0]), many)["explained"]
    assert tiny["top"] == "less than 0.1%"
    assert not tiny["is_whole"]
    assert lengths_of(tiny, "refitted") == pytest.approx((1.0, 1.0))
    X, result = data
    whole = content_of(result, X)["explained"]
    assert (whole["top"], whole["is_whole"]) == ("100.0%", True)
    path = tmp_path / "report.html"
    write_report(X, result, path)
    assert "the same scale, which ends at 100.0%." in Page(path).text
    assert "not at 100%" not in Page(path).text


def test_the_program_and_the_settings_name_the_norm(noisy):
    m, n = noisy.shape
    for scaling, program, setting in (
        ("degree", "n_cols=2).fit(X)", "degree"),
        ("columns", "n_cols=2, scaling='columns').fit(X)", "columns"),
        (None, "n_cols=2, scaling=None).fit(X)", "none"),
        ((np.ones(m), np.ones(n)), "n_cols=2, scaling=(row_factors, column_factors)).fit(X)", "given"),
    ):
        content = content_of(CoSeparableNMF(3, 2, scaling=scaling).fit(noisy).factorization_, noisy)["reproduce"]
        assert content["python"] == f"CoSeparableNMF(n_rows=3, {program}"
        assert content["settings"]["scaling"] == setting
    weighted = CoSeparableNMF(3, 2, scaling=None).fit(noisy, sample_weight=1 + np.arange(m) % 3).factorization_
    assert content_of(weighted, noisy)["reproduce"]["python"].endswith("scaling=None).fit(X)")


def test_rows_that_were_left_out_of_the_fit_are_reported(noisy, tmp_path):
    weights = np.arange(len(noisy)) % 3
    result = CoSeparableNMF(3, 2).fit(noisy, sample_weight=weights).factorization_
    path = tmp_path / "report.html"
    write_report(noisy, result, path, explanation=explain(noisy, result))
    content = content_of(result, noisy)
    assert sum(topic["size"] for topic in content["topics"]) + content["unassigned"]["count"] == len(noisy)
    assert "all-zero row" not in Page(path).text


def test_names_of_norms_stay_text(data, tmp_path):
    X, result = data
    named = replace(result, scaling=Scaling(stand_ins.HOSTILE[0], np.ones(len(X)), np.ones(X.shape[1])))
    path = tmp_path / "report.html"
    write_report(X, named, path)
    assert Page(path).tags.count("script") == 3
    assert stand_ins.HOSTILE[0] in Page(path).text


def test_each_row_and_column_has_the_share_that_the_tables_have(noisy):
    result = CoSeparableNMF(5, 3).fit(noisy).factorization_
    found, errors = describe(noisy, result), content_of(result, noisy, explanation=explain(noisy, result))["errors"]
    for side, table in (("rows", found.rows), ("cols", found.cols)):
        shares = [entry["explained"] for entry in errors[side]["worst"]]
        np.testing.assert_allclose(shares, np.sort(table["explained"])[:8], atol=1e-9)
        assert abs((table["explained"] >= errors[side]["median"]).mean() - 0.5) <= 1 / len(table["explained"])


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
    write_report(scaled, stand_ins.factorize(scaled, rows, cols), tmp_path / "report.html")


def test_names_and_texts_stay_text(tmp_path):
    X, result, texts = stand_ins.hostile()
    path = tmp_path / "report.html"
    write_report(
        X,
        result,
        path,
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
        X,
        result,
        path,
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
    write_report(X, result, path)
    text = Page(path).text
    assert text.count("Not computed for this page") == 1
    assert "What would be lost without it" not in text
    assert "How many rows and columns" not in text
    assert "CoSeparableNMF(n_rows=3, n_cols=3, scaling=None)" in text


def test_rows_that_were_in_no_draw_are_not_counted(data, tmp_path):
    X, result = data
    known = stand_ins.stability(result)
    known.rows["frequency"] = known.rows["similarity"] = np.array([0.5, np.nan, 1.0])
    known.cols["frequency"] = known.cols["similarity"] = np.full(3, np.nan)
    path = tmp_path / "report.html"
    write_report(X, result, path, stability=known)
    text = Page(path).text
    assert "On average, a selected row came back in 75.0%" in text
    assert "No selected column was part of a draw." in text


def test_a_proven_gap_and_a_suspicious_core_are_put_in_words():
    X, rows, cols = stand_ins.blocks()
    X[9, 0] = 1.0
    proven = mix(X, Selection(np.array(rows), np.array(cols), gap=2e-9, n_iter=7))
    content = content_of(proven, X)
    said = " ".join([*content["certificate"], *content["warnings"]])
    assert "gap of 2.0e-09" in said
    assert "7 rounds" in said
    assert "plain NMF" in said
    apart = mix(X, Selection(np.array([1, 8]), np.array([12, 13, 14])))
    said = " ".join(content_of(apart, X)["warnings"])
    assert "2 selected rows are zero in all selected columns. They explain nothing in the model: ask for fewer" in said
    assert "3 selected columns are zero in all selected rows. They explain nothing in the model: ask for fewer" in said


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
    write_report(X, result, path, texts=[""] * len(X), **parts)
    write_report(X, result, path)
    assert f"row {rows[0]}" in Page(path).text


def test_a_fitted_estimator_is_reported(tmp_path):
    X, _, _ = stand_ins.blocks()
    X[3] = 0.0
    result = CoSeparableNMF(3, 3).fit(X).factorization_
    path = tmp_path / "report.html"
    write_report(X, result, path, explanation=stand_ins.explanation(result, zeros=[3]))
    text = Page(path).text
    assert "1 all-zero row left out" in text
    assert "1 row (5.6% of all) is unassigned" in text


BAD = {
    "model": ({"model": "model"}, "must be a fitted model"),
    "no core": (
        {"model": Factorization(np.ones((18, 1)), None, np.ones((1, 15)))},
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
    "explanation": (
        {"explanation": "because"},
        "explanation must have rows, cols, row_errors, col_errors, sum_of_errors",
    ),
    "stability": ({"stability": 3}, "stability must have"),
    "rank": ({"rank": (3, 3)}, "rank must have"),
    "path": ({"path": 3}, "path=3"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_leaves_no_file(data, tmp_path, changed, message):
    X, result = data
    arguments = {"path": tmp_path / "report.html", "model": result, "X": X, **changed}
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
            write_report(X, result, tmp_path / "report.html", **part)
    with pytest.raises(ValueError, match="folder"):
        write_report(X, result, tmp_path)


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_a_missing_package_is_named(data, tmp_path, monkeypatch, package):
    X, result = data
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}: install cosep\[cli\]"):
        write_report(X, result, tmp_path / "report.html")


def test_topics_near_the_largest_float_have_their_columns():
    huge = mix(np.full((6, 5), 1.7e308), Selection([0], [0]))
    assert topics_of(huge).anchors(0) == [0]


def test_the_path_is_shown_step_by_step_with_what_is_needed(data):
    X, result = data
    found = content_of(result, X, selection_path=stand_ins.path(result))["path"]
    names = [one["name"] for one in content_of(result, X)["selected"]["rows"]]
    assert [step["row"]["name"] for step in found["steps"]] == names[::-1]
    assert [step["row"]["share"] for step in found["steps"]] == ["10.0%", "30.0%", "50.0%"]
    assert [step["bound"] for step in found["steps"]] == ["40.0%", "60.0%", "80.0%"]
    assert found["sentences"] == [
        "The first 3 of the 3 selected rows explain 90% of what all of them do.",
        "The first 3 of the 3 selected columns explain 90% of what all of them do.",
        "With both, the core of the first 3 rows and 3 columns explains 90% of what the whole core does.",
        "To explain 90% of what any 3 components could, more than these rows and columns are needed.",
    ]


def test_the_path_of_the_fit_is_that_of_the_page_and_may_have_more_rows_than_columns(tmp_path):
    X = np.random.default_rng(0).gamma(0.6, size=(30, 20))
    model = CoSeparableNMF(5, 2, scaling=None).fit(X)
    path = selection_path(X, model)
    write_report(X, model.factorization_, tmp_path / "report.html", selection_path=path)
    assert "Would fewer do?" in Page(tmp_path / "report.html").text
    steps = content_of(model.factorization_, X, selection_path=path)["path"]["steps"]
    assert [step["col"] is None for step in steps] == [False, False, True, True, True]
    assert steps[-1]["row"]["share"] == percent(model.row_fidelity_)


def test_a_path_of_another_selection_or_of_other_lengths_is_refused(data):
    X, result = data
    other = stand_ins.path(result)
    other.row_indices = other.row_indices + 1
    with pytest.raises(ValueError, match="selection_path belongs to another selection"):
        content_of(result, X, selection_path=other)
    short = stand_ins.path(result)
    short.core = short.core[:2]
    with pytest.raises(ValueError, match=r"selection_path.core must be 3 finite shares"):
        content_of(result, X, selection_path=short)


def test_one_row_that_is_enough_is_called_the_first(data):
    X, result = data
    path = stand_ins.path(result)
    path.rows = path.cols = path.core = np.full(3, 0.75)
    sentences = content_of(result, X, selection_path=path)["path"]["sentences"]
    assert sentences[0] == "The first of the 3 selected rows explains 90% of what all of them do."
    assert sentences[-1].endswith("could, the core of the first row and the first column is enough.")
