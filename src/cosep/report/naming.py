"""Names of rows and columns as the page shows them."""

from collections.abc import Callable
from typing import Any

from cosep.findings.record import Anchor, Entry, Nouns
from cosep.findings.wording import name_or_number, squeezed

Content = dict[str, Any]
# Returns what to call a row or a column, from its name, its position and its kind.
Naming = Callable[[str, int, str], str]


def naming(letters: int | None, nouns: Nouns) -> Naming:
    """Return the function that makes names readable, and cuts them to a number of letters."""
    called = {"row": nouns.row, "column": nouns.col}

    def name(text: str, index: int, kind: str) -> str:
        whole = name_or_number(text, index, called[kind])
        return whole if letters is None else squeezed(whole, letters)

    return name


def named_entry(entry: Entry | Anchor, name: Naming, kind: str) -> Content:
    """Return the position of a row or column, and its name."""
    return {"index": entry.index, "name": name(entry.name, entry.index, kind)}
