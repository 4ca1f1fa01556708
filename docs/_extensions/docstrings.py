"""Docstrings as Sphinx needs them, without changes to how they are written."""

import re
from typing import Any

from sphinx.application import Sphinx

ROLE = re.compile(r":(?:ref|term|class|meth|func|mod|obj|doc):`~?([^`<]*?)\s*(?:<[^>`]*>)?`")
# A name that ends in an underscore, outside of code, would be taken for a link.
CODE = re.compile(r"(``.*?``|`[^`]*`)")
ENDING = re.compile(r"(?<![\w\\])([A-Za-z]\w*)_(?![\w`])")


def unlink(_app: Sphinx, _what: str, _name: str, member: Any, _options: Any, lines: list[str]) -> None:
    """Replace the roles in a docstring inherited from another package by their text: its goals are elsewhere."""
    if not (getattr(member, "__module__", None) or "cosep").startswith("cosep"):
        lines[:] = ROLE.sub(r"\1", "\n".join(lines)).split("\n")


def escape(_app: Sphinx, _what: str, _name: str, _member: Any, _options: Any, lines: list[str]) -> None:
    """Escape the names of fitted attributes."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = CODE.split(line)
            lines[i] = "".join(part if part.startswith("`") else ENDING.sub(r"\1\\_", part) for part in parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Run before and after numpydoc parses a docstring."""
    app.connect("autodoc-process-docstring", unlink, priority=100)
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
