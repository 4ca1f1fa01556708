"""Pages that are kept elsewhere in the repository, and links of all pages that work in the repository and on the site.

A page of the site may be a file outside of docs/, such as the changelog. `repository_pages` in conf.py maps the name
of the page to the file. Its source in docs/ is one line for readers of the repository, and is replaced here. Links to
files are written relative to the file they are in. Here a link to a page of the site becomes a link between pages, one
to an example leads to its page in the gallery, and one to any other file leads to the repository.
"""

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def replace_source(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the file of a page in its place, and point links where they lead on the site."""
    root = Path(app.srcdir).parent
    file = root / app.config.repository_pages.get(page, f"docs/{page}.md")
    if file.suffix != ".md" or not file.exists():
        return
    here = (root / "docs" / page).parent
    pages = {root / path: f"docs/{name}.md" for name, path in app.config.repository_pages.items()}
    app.env.note_dependency(str(file))

    def on_site(link: re.Match[str]) -> str:
        mark, text, target, anchor = link.groups()
        if not target or re.match(r"\w+:", target):
            return link[0]
        goal = Path(os.path.normpath(file.parent / target))
        if mark and goal.exists():
            return f"![{text}]({_relative(goal, here)})"
        if goal in pages:
            goal = root / pages[goal]
        if goal.parent == root / "examples" and goal.suffix == ".py":
            goal = root / "docs" / "gallery" / goal.with_suffix(".rst").name
        elif goal == root / "examples":
            goal = root / "docs" / "gallery" / "index.rst"
        if goal.is_relative_to(root / "docs") and goal.suffix in {".md", ".rst"}:
            return f"[{text}]({_relative(goal, here)}{anchor or ''})"
        kind = "tree" if goal.is_dir() else "blob"
        return f"[{text}]({app.config.repository_url}/{kind}/main/{goal.relative_to(root).as_posix()}{anchor or ''})"

    text = file.read_text(encoding="utf-8") if page in app.config.repository_pages else source[0]
    parts = FENCE.split(text)
    # The last line of a doctest is blank for doctest's sake.
    shown = [re.sub(r"\n+```$", "\n```", part) if part.startswith("```") else LINK.sub(on_site, part) for part in parts]
    source[0] = "".join(shown)


def _relative(goal: Path, here: Path) -> str:
    return Path(os.path.relpath(goal, here)).as_posix()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two settings."""
    app.add_config_value("repository_pages", {}, "env")
    app.add_config_value("repository_url", "", "env")
    app.connect("source-read", replace_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
