"""The page in a browser: drawn, quiet, reachable by keyboard, readable everywhere, and inert to hostile names."""

import re
import time
from itertools import product

import numpy as np
import pytest

import stand_ins
from browsing import SIZES, opened
from cosep.findings.describe import describe
from cosep.findings.wording import brief
from cosep.report import write_report

FIGURES = ("matrix", "core", "errors", "stability", "path", "rank")
PAPERS = {"light": "rgb(255, 255, 255)", "dark": "rgb(26, 33, 37)"}
PATIENCE = 30.0
# What text, and a picture, needs to be readable, by WCAG 2.2, level AA.
CONTRAST = 4.5
PICTURE_CONTRAST = 3.0

CASES = {
    "blocks": lambda: _named(*stand_ins.blocks()),
    "hostile": stand_ins.hostile,
    "large": lambda: stand_ins.large(m=3000, n=300),
    "smallest": lambda: _named(*stand_ins.blocks(((1, 1), (1, 1)))),
}


def _named(X, rows, cols):
    result = stand_ins.factorize(X, rows, cols)
    return X, result, [f"What document {i} says." for i in range(len(X))]


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """A function that writes the page of a case once and returns its path."""
    written = {}

    def write(case):
        if case not in written:
            X, result, texts = CASES[case]()
            written[case] = tmp_path_factory.mktemp(case) / "report.html"
            write_report(
                X,
                result,
                written[case],
                texts=texts,
                labels=[f"<b>class {i % 2}</b>" for i in range(X.shape[0])],
                title="Pages <script>window.hacked=1</script>" if case == "hostile" else "Pages",
                nouns=("<i>page", "letter") if case == "hostile" else ("page", "letter"),
                explanation=stand_ins.explanation(result),
                stability=stand_ins.stability(result),
                rank=stand_ins.rank_choice(),
                selection_path=stand_ins.path(result),
                command="cosep fit <folder> --rows 3 " + "--very-long-option " * 20,
            )
        return written[case]

    return write


def wait_for(page, condition):
    """Wait until a condition holds; asked from here, for the policy of the page lets no text run as a script."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(20)


def drawn(page):
    """Wait until every chart is drawn, and return names, sizes and numbers of marks."""
    wait_for(page, "document.querySelectorAll('.plot .main-svg .subplot').length >= 7")
    return page.evaluate(
        """[...document.querySelectorAll(".plot")].map((plot) => {
            const box = plot.querySelector(".main-svg").getBoundingClientRect();
            const marks = plot.querySelectorAll(".heatmaplayer image, .scatterlayer path, .scatterlayer .point").length;
            return [plot.dataset.figure, box.width, box.height, marks];
        })"""
    )


def on_background(color):
    return (
        f"[...document.querySelectorAll('.plot .main-svg:first-child')].every((s) => s.style.background === '{color}')"
    )


@pytest.mark.parametrize("case", CASES)
def test_every_chart_is_drawn_and_nothing_is_wider_than_the_window(browser, page_of, case):
    with opened(browser, page_of(case), color_scheme="light") as page:
        for (size, viewport), (scheme, color) in product(SIZES.items(), PAPERS.items()):
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=scheme)
            wait_for(page, f"innerWidth === {viewport['width']}")
            wait_for(page, on_background(color))
            wait_for(page, "[...document.querySelectorAll('.plot')].every((p) => p.scrollWidth <= p.clientWidth)")
            charts = drawn(page)
            assert tuple(name for name, *_ in charts) == FIGURES
            for name, width, height, marks in charts:
                assert 200 < width <= viewport["width"], (name, size, scheme)
                assert height > 150, name
                assert marks > 0, name
            for k in range(page.locator('[role="tab"]').count() if case == "hostile" else 1):
                page.locator('[role="tab"]').nth(k).click()
                assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], (size, scheme)


@pytest.mark.parametrize("case", ["blocks", "hostile"])
def test_hovering_shows_names_and_values(browser, page_of, case):
    _, result, _ = CASES[case]()
    names = [letters(name)[:30] for name in result.row_names]
    with opened(browser, page_of(case)) as page:
        drawn(page)
        for figure in FIGURES:
            plot = page.locator(f'[data-figure="{figure}"]')
            page.mouse.move(0, 0)
            plot.scroll_into_view_if_needed()
            mark = ".heatmaplayer image" if figure in {"core", "matrix"} else ".scatterlayer .point"
            plot.locator(mark).first.scroll_into_view_if_needed()
            box = plot.locator(mark).first.bounding_box()
            inset = 6 if "image" in mark else box["width"] / 2
            page.mouse.move(box["x"] + inset, box["y"] + inset, steps=3)
            words = plot.locator(".hoverlayer .hovertext")
            words.first.wait_for()
            said = words.first.text_content()
            if figure == "rank":
                assert "held-out error 0.2" in said
            else:
                assert any(name in letters(said) for name in names), (figure, said)
            assert plot.locator("a, b, foreignObject").count() == 0


def letters(text):
    return "".join(re.findall(r"\w", text))


def test_topics_switch_by_click_and_by_keyboard(browser, page_of):
    with opened(browser, page_of("blocks")) as page:
        tabs, panels = page.locator('[role="tab"]'), page.locator('[role="tabpanel"]')

        def shown():
            states = [tabs.nth(k).get_attribute("aria-selected") == "true" for k in range(tabs.count())]
            assert [panels.nth(k).is_visible() for k in range(tabs.count())] == states
            assert [tabs.nth(k).get_attribute("tabindex") == "0" for k in range(tabs.count())] == states
            return states.index(True)

        assert (tabs.count(), panels.count(), shown()) == (3, 3, 0)
        tabs.nth(1).click()
        assert shown() == 1
        for key, expected in (
            ("ArrowDown", 2),
            ("ArrowDown", 0),
            ("ArrowUp", 2),
            ("Home", 0),
            ("End", 2),
            ("ArrowRight", 0),
            ("ArrowLeft", 2),
        ):
            page.keyboard.press(key)
            assert shown() == expected
            assert page.evaluate("document.activeElement.id") == f"tab-{expected + 1}"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert "document 14" in panels.nth(2).inner_text()
        page.evaluate("() => { location.hash = 'topic-2'; }")
        wait_for(page, "!document.getElementById('topic-2').hidden")


def test_the_keyboard_reaches_the_findings_first(browser, page_of):
    with opened(browser, page_of("blocks")) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert {"tab-1", "topic-1", "SUMMARY"} <= reached


def test_the_topics_come_before_any_picture(browser, page_of):
    with opened(browser, page_of("blocks")) as page:
        assert page.locator("h1").inner_text() == "Pages"
        assert page.locator(".subtitle").inner_text() == "18 pages \u00d7 15 letters, 3 topics"
        assert page.locator("main h2").first.inner_text() == "The topics"
        tops = [page.locator(one).first.bounding_box()["y"] for one in ("#overview", "#trust", ".plot", "#method")]
        assert tops == sorted(tops)
        assert tops[0] < SIZES["wide"]["height"]
        text = page.locator("#overview").inner_text()
        assert all(f"document {i}" in text for i in (0, 8, 14))


def rows_of(page):
    """Return the numbers of the topics in the table, in the order in which they are shown."""
    return [int(one.get_attribute("data-topic")) for one in page.locator("#overview tbody tr:visible").all()]


def test_the_table_of_topics_is_sorted_by_its_headers(browser, page_of):
    X, result, _ = CASES["blocks"]()
    explains = [topic.explains for topic in describe(X, result).topics]
    with opened(browser, page_of("blocks")) as page:
        assert rows_of(page) == [1, 2, 3]
        for title, up in (("pages", [3, 2, 1]), ("explains", (np.argsort(explains) + 1).tolist()), ("no.", [1, 2, 3])):
            control = page.locator("#overview thead button", has_text=title)
            head = control.locator("xpath=..")
            control.click()
            if head.get_attribute("aria-sort") == "descending":
                assert rows_of(page) == up[::-1]
                control.click()
            assert head.get_attribute("aria-sort") == "ascending"
            assert rows_of(page) == up
            assert page.locator("#overview [aria-sort]").count() == 1
        page.locator("#pictures summary").click()
        table = page.locator("#pictures table")
        before = table.locator("tbody th").all_inner_texts()
        for _ in range(2):
            table.locator("thead button").first.click()
        assert table.locator("tbody th").all_inner_texts() == before[::-1]


def test_search_finds_topics_rows_and_columns(browser, page_of):
    with opened(browser, page_of("blocks")) as page:
        for words, topics, found in (
            ("document 8", [2], ["document 8"]),
            ("WORD 13", [3], ["word 13"]),
            ("document 1", [1, 2, 3], ["document 1", "document 14"]),
            ("nothing of this", [], []),
            ("", [1, 2, 3], []),
        ):
            page.locator("#search").fill(words)
            names = page.locator("#matches button").all_inner_texts()
            assert names[: len(found)] == found
            assert set(topics) >= set(rows_of(page)) if words == "document 1" else rows_of(page) == topics
        page.locator("#search").fill("document 12")
        page.keyboard.press("Enter")
        assert page.locator("#answer h3").inner_text() == "document 12"


def test_why_not_this_one_is_answered_for_every_row_and_column(browser, page_of):
    X, *_ = CASES["blocks"]()
    with opened(browser, page_of("blocks")) as page:
        box = page.locator("#answer")
        assert not box.is_visible()
        page.locator("#topic-1 .bars .look", has_text="document 3").click()
        said = box.inner_text()
        own = X[:8] ** 2
        assert "100.0% of this page is explained by the model." in said
        assert "1. document 0" in said
        assert "Nearest selected page: “document 0”, with a cosine of 1.00." in said
        share = brief(own.sum() / (X**2).sum())
        assert f"it would explain {share} of the matrix; “document 0” explains {share} in this way." in said
        page.locator("#answer .close").click()
        assert not box.is_visible()
        for side, size, chosen in (("document", 18, (0, 8, 14)), ("word", 15, (0, 5, 12))):
            for i in range(size):
                page.locator("#search").fill(f"{side} {i}")
                page.keyboard.press("Enter")
                assert box.locator("h3").inner_text() == f"{side} {i}"
                text = box.inner_text()
                assert ("is selected." in text) == (i in chosen)
                assert ("Why not this one?" in text) == (i not in chosen)
        page.set_viewport_size(SIZES["narrow"])
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["narrow"]["width"]


def test_folds_open_and_hold_the_certificates(browser, page_of):
    with opened(browser, page_of("blocks")) as page:
        proof = page.get_by_text("condition number")
        assert not proof.is_visible()
        page.locator("#details > summary").click()
        assert proof.is_visible()
        assert page.get_by_text("cosep fit <folder>").is_visible()
        lost = page.locator("#topic-1 .why")
        assert not lost.locator("p").is_visible()
        lost.locator("summary").click()
        assert "together would explain" in lost.inner_text()


def test_classes_are_shown_with_their_measures(browser, page_of):
    X, result, _ = CASES["blocks"]()
    classes = describe(X, result, labels=np.arange(18) % 2).classes
    with opened(browser, page_of("blocks")) as page:
        cells = page.locator("#overview .class-cell").all_inner_texts()
        assert len(cells) == 3
        assert all(
            "<b>class 0</b>" in cell and brief(part) in cell for cell, part in zip(cells, classes.purity, strict=True)
        )
        trust = page.locator("#trust").inner_text()
        for share in (classes.ari, classes.nmi, classes.accuracy, classes.accuracy_of_one_cluster):
            assert f"{share:.3f}" in trust


def test_hostile_names_do_nothing(browser, page_of):
    with opened(browser, page_of("hostile")) as page:
        drawn(page)
        for k in range(3):
            page.locator('[role="tab"]').nth(k).click()
            page.locator(f"#topic-{k + 1} blockquote").hover()
        for name in stand_ins.HOSTILE[:7]:
            page.locator("#search").fill(name)
            page.keyboard.press("Enter")
        assert page.locator("#answer img, #answer script, #matches img").count() == 0
        assert page.locator("h1").inner_text() == "Pages <script>window.hacked=1</script>"
        page.locator("#search").fill("")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.scripts.length") == 3
        assert page.evaluate("document.images.length") == 0
        assert page.locator("svg a, .plot b, main script, a[href^='javascript']").count() == 0
        page.locator('[role="tab"]').first.click()
        assert page.locator("#head-1").inner_text() == stand_ins.HOSTILE[0]
        ticks = " ".join(page.locator('[data-figure="stability"] .ytick text').all_text_contents())
        assert "<script>" in ticks
        assert "onerror" not in page.evaluate(
            "[...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames())"
        )


def test_print_shows_every_topic_on_white(browser, page_of):
    with opened(browser, page_of("blocks"), color_scheme="dark") as page:
        drawn(page)
        behind = "document.querySelector('.plot .main-svg').style.background"
        page.evaluate(f"() => addEventListener('beforeprint', () => {{ window.printed = {behind}; }})")
        pdf = page.pdf(format="A4")
        assert page.evaluate("window.printed") == PAPERS["light"]
        assert pdf.startswith(b"%PDF-")
        assert len(pdf) > 10_000
        page.emulate_media(media="print")
        wait_for(page, on_background(PAPERS["light"]))
        assert [page.locator(f"#topic-{k}").is_visible() for k in (1, 2, 3)] == [True] * 3
        assert not page.locator('[role="tablist"]').is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert max(width for _, width, *_ in drawn(page)) <= 680
        page.emulate_media(media="screen")
        wait_for(page, on_background(PAPERS["dark"]))


def test_without_scripts_every_topic_can_be_read(browser, page_of):
    with opened(browser, page_of("blocks"), java_script_enabled=False) as page:
        assert [page.locator(f"#topic-{k}").is_visible() for k in (1, 2, 3)] == [True] * 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser, page_of, scheme):
    with opened(browser, page_of("blocks"), color_scheme=scheme) as page:
        for ink, behind in (
            *((ink, behind) for ink in ("ink", "muted", "accent") for behind in ("paper", "card")),
            ("on-accent", "accent"),
            ("ink", "accent-soft"),
            ("muted", "accent-soft"),
        ):
            value = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
            colors = [page.evaluate(value.format(name)) for name in (ink, behind)]
            assert contrast(*colors) >= CONTRAST, (scheme, ink, behind)


def test_bars_of_what_is_explained_end_within_their_tracks(browser, page_of):
    measures = """[...document.querySelectorAll(".measures .gauge")].map((gauge) => {
        const track = gauge.getBoundingClientRect(), list = gauge.closest("ul").getBoundingClientRect();
        const filled = parseFloat(getComputedStyle(gauge, "::before").width);
        return [filled, gauge.clientWidth, track.left - list.left, list.right - track.right, track.height];
    })"""
    with opened(browser, page_of("large")) as page:
        for viewport in SIZES.values():
            page.set_viewport_size(viewport)
            wait_for(page, f"innerWidth === {viewport['width']}")
            page.evaluate("() => { document.getElementById('details').open = true; }")
            gauges = page.evaluate(measures)
            assert len(gauges) == 4
            for filled, track, left, right, height in gauges:
                assert 0 <= filled <= track + 0.5
                assert min(left, right) >= 0
                assert height >= 10
            widest = max(track for _, track, *_ in gauges)
            assert widest > 0.4 * viewport["width"]
            parts = page.evaluate(
                "[...document.querySelectorAll('.measures .gauge')].map((g) => g.style.getPropertyValue('--part'))"
            )
            for (filled, track, *_), part in zip(gauges, parts, strict=True):
                assert filled == pytest.approx(float(part) * track, abs=1.0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_stand_out_from_their_tracks(browser, page_of, scheme):
    with opened(browser, page_of("blocks"), color_scheme=scheme) as page:
        value = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
        colors = {name: page.evaluate(value.format(name)) for name in ("accent", "line", "ink", "paper")}
        assert contrast(colors["accent"], colors["line"]) >= PICTURE_CONTRAST
        assert contrast(colors["ink"], colors["paper"]) >= PICTURE_CONTRAST


def contrast(*colors):
    """Return the contrast ratio of two colours, by WCAG 2.2."""
    lights = sorted(luminance(color) for color in colors)
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
