"""The pages for readers: every method is described, every example runs, every link leads somewhere."""

import doctest
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import pytest
import typer

import cosep
from cosep.cli.app import app
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for pattern in ("docs/**/*.md", "README.md", "CONTRIBUTING.md", "benchmarks/*.md", "fuzz/*.md")
    for page in ROOT.glob(pattern)
)
EXAMPLES = [
    page for page in PAGES if page.is_relative_to(ROOT / "docs") and "\n>>> " in page.read_text(encoding="utf-8")
]
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
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    described = set(re.findall(r"^#+ `(\w+)`$|\*\*`(\w+)`\*\*", text, re.MULTILINE))
    described = {heading or term for heading, term in described}
    names = {*COLUMN_SELECTORS, *EITHER_SELECTORS, *BOTH_SELECTORS, *cosep.__all__, *factorizations()}
    assert names - described == {"__version__"}


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_a_page_runs(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert (failed, tried > 0) == (0, True)


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


def test_the_pictures_of_a_small_matrix_can_be_drawn_again(tmp_path, monkeypatch):
    names = runpy.run_path(str(ROOT / "docs" / "images" / "draw.py"))
    monkeypatch.setitem(names["model_picture"].__globals__, "HERE", tmp_path)
    names["main"]()
    for name in ("model.png", "fidelity.png"):
        assert mpl.image.imread(tmp_path / name).shape == mpl.image.imread(ROOT / "docs" / "images" / name).shape


def test_every_option_on_a_page_is_one_of_the_command():
    commands = typer.main.get_command(app).commands
    options = {
        name: {opt for one in command.params for opt in (*one.opts, *one.secondary_opts)}
        for name, command in commands.items()
    }
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            used = re.match(r"\s*(?:\S+ \| )?cosep (\w+) ", line.partition("#")[0])
            if used and used[1] in options and not line.startswith("#"):
                assert set(re.findall(r" (--[a-z-]+)", line.partition("#")[0])) <= options[used[1]] | {"--help"}, line
    described = (ROOT / "docs" / "command.md").read_text(encoding="utf-8") + (ROOT / "docs" / "texts.md").read_text(
        encoding="utf-8"
    )
    known = set().union(*options.values(), {"--help", "--install-completion"})
    assert set(re.findall(r"`(--[a-z-]+)", described)) <= known
