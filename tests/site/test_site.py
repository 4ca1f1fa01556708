"""The built site: complete, without broken links, and in a browser quiet, readable everywhere and searchable."""

import os
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from browsing import SIZES, missing, opened
from test_api_reference import listed

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("COSEP_SITE", ROOT / "docs" / "_build" / "html"))
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def site():
    """The folder of the built site; without it these tests skip, and fail under CI=true."""
    if not (SITE / "index.html").exists():
        missing("the site is not built: run `make docs`")
    return SITE


class Links(HTMLParser):
    """The addresses that a page links to or loads, and the names that it can be linked by."""

    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, _tag, attrs):
        values = dict(attrs)
        self.targets += [values[key] for key in ("href", "src") if values.get(key)]
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}


@cache
def links(page):
    parser = Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def pages_of(site):
    return sorted(page for page in site.rglob("*.html") if not page.is_relative_to(site / "_static"))


def test_every_internal_link_leads_somewhere(site):
    broken = set()
    for page in pages_of(site):
        for target in links(page).targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchored = not parts.fragment or goal.suffix != ".html" or unquote(parts.fragment) in links(goal).names
            if not (goal.is_file() and anchored):
                broken.add((str(page.relative_to(site)), target))
    assert broken == set()


def test_no_page_loads_anything_from_elsewhere(site):
    for page in pages_of(site):
        text = page.read_text(encoding="utf-8")
        for tag in ("<script", "<img", '<link rel="stylesheet"'):
            for piece in text.split(tag)[1:]:
                assert "http" not in piece.partition(">")[0], (page.name, piece[:200])


def test_every_public_name_and_every_example_has_its_page(site):
    made = {page.name.removesuffix(".html") for page in (site / "api" / "generated").glob("*.html")}
    assert {f"cosep.{name}" for name in listed()} == {name.removesuffix("-class") for name in made}
    assert {page.stem for page in (site / "gallery").glob("*.html")} >= {*EXAMPLES, "index"}


WIDER = """[...document.querySelectorAll("body, main, article, article > *")]
    .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
    .map((part) => part.outerHTML.slice(0, 200))"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_quiet_and_fit_their_window(browser, site, scheme):
    some = [f"api/generated/cosep.{name}" for name in ("CoSeparableNMF", "faithful", "io.read")]
    pages = [site / f"{name}.html" for name in ("index", "norm", "theory/newton", "gallery/cells", "api/index", *some)]
    if scheme == "light":
        pages += [page for page in pages_of(site) if page.parent in {site, site / "theory", site / "gallery"}]
        assert len(pages) > 40
    for path in pages:
        with opened(browser, path, within=site, color_scheme=scheme) as page:
            for viewport in SIZES.values():
                page.set_viewport_size(viewport)
                assert page.evaluate(WIDER) == [], (path.name, viewport)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path.name, viewport)


def test_the_colors_follow_the_system(browser, site):
    papers = set()
    for scheme in ("light", "dark"):
        with opened(browser, site / "index.html", within=site, color_scheme=scheme) as page:
            papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2


@pytest.mark.parametrize(("word", "page_of_it"), [("fidelity", "norm"), ("SelectionPath", "cosep.SelectionPath")])
def test_search_works_without_a_server(browser, site, word, page_of_it):
    with opened(browser, site / "search.html", within=site, query=f"?q={word}") as page:
        # Results appear one after the other.
        found = page.wait_for_selector(f"#search-results a[href*='{page_of_it}.html']")
        assert found.inner_text()


def test_every_picture_of_the_gallery_is_there(browser, site):
    loaded = "[...document.images].filter((one) => one.complete && one.naturalWidth > 50).map((one) => one.src)"
    with opened(browser, site / "gallery" / "index.html", within=site) as page:
        page.evaluate("document.querySelectorAll('img').forEach((one) => { one.loading = 'eager'; })")
        page.wait_for_load_state("load")
        shown = page.evaluate(loaded)
        assert all(any(f"_{name}_thumb.png" in source for source in shown) for name in EXAMPLES), shown
    for name in EXAMPLES:
        with opened(browser, site / "gallery" / f"{name}.html", within=site) as page:
            assert any(f"_{name}_00" in source for source in page.evaluate(loaded)), name
