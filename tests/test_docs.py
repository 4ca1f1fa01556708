"""The pages for readers: every method is described, every example runs, every link leads somewhere."""

import doctest
import re
from pathlib import Path

import pytest

import cosep
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS

ROOT = Path(__file__).parents[1]
METHODS = ROOT / "docs" / "methods.md"
PAGES = sorted(
    page
    for pattern in ("docs/**/*.md", "README.md", "CONTRIBUTING.md", "benchmarks/*.md", "fuzz/*.md")
    for page in ROOT.glob(pattern)
)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose(page):
    """Return the text of a page without its blocks and its code."""
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text(encoding="utf-8")))


def anchors(page):
    """Return the names that the headings of a page can be linked by; the second of a name ends in -1."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    names = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{name}-{before}" if (before := names[:k].count(name)) else name for k, name in enumerate(names)}


def factorizations():
    folder = Path(cosep.__file__).parent / "nmf"
    return {path.stem for path in folder.glob("*.py")} - {"__init__", "record", "iteration"}


def test_every_method_is_a_heading_or_a_bold_term():
    text = METHODS.read_text(encoding="utf-8")
    described = set(re.findall(r"^#+ `(\w+)`$|\*\*`(\w+)`\*\*", text, re.MULTILINE))
    described = {heading or term for heading, term in described}
    names = {*COLUMN_SELECTORS, *EITHER_SELECTORS, *BOTH_SELECTORS, *cosep.__all__, *factorizations()}
    assert names - described == {"__version__"}


def test_every_example_on_the_page_of_methods_runs():
    blocks = FENCED.findall(METHODS.read_text(encoding="utf-8"))
    assert blocks
    assert all(language == "python" and block.startswith(">>> ") for language, block in blocks)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(METHODS), module_relative=False, optionflags=flags, encoding="utf-8")
    assert (failed, tried > len(blocks)) == (0, True)


def test_every_example_about_missing_values_runs():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    page = str(ROOT / "docs" / "missing.md")
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=flags, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), target
        assert not anchor or anchor in anchors(goal), target
