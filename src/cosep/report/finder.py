"""What can be looked up on the page, as compact data for its script."""

from collections.abc import Callable
from math import isnan
from typing import Any

from cosep.findings.look_up import LookUp
from cosep.findings.record import Findings
from cosep.findings.wording import brief, name_or_number, precise, squeezed
from cosep.report.assessed import MOST_TOPICS
from cosep.report.content import SHOWN
from cosep.report.naming import Content
from cosep.utils.messages import counted
from cosep.utils.types import Table

# Letters of a name that can be looked up, unless all names are cut to fewer.
LONGEST_FOUND = 80


def named_rows(found: Findings) -> list[int]:
    """Return the positions of the rows that the page names."""
    topics = found.topics[:MOST_TOPICS]
    close = [entry.index for topic in topics for entry in topic.closest[: SHOWN["members"]]]
    return [*close, *(entry.index for entry in found.unassigned)]


def named_cols(found: Findings) -> list[int]:
    """Return the positions of the columns that the page names."""
    indices = []
    for topic in found.topics[:MOST_TOPICS]:
        indices += [one.index for one in topic.anchors[: SHOWN["anchors"]]]
        indices += [one.index for one in topic.columns[: SHOWN["anchors"] + SHOWN["columns"]]]
        indices += [one.index for one in topic.values[: SHOWN["values"]]]
    return indices


def finder_content(
    found: Findings, look_ups: tuple[LookUp, LookUp], names: tuple[Any, Any], letters: int | None, most: int
) -> Content:
    """Return what the script of the page shows of each row and column, at most this many of each."""
    rows, cols = look_ups
    cut = min(letters or LONGEST_FOUND, LONGEST_FOUND)

    def named(of_side: Any, noun: str) -> Callable[[int], str]:
        return lambda i: squeezed(name_or_number(str(of_side[i]), i, noun), cut)

    row, col = (named(of_side, noun) for of_side, noun in zip(names, found.nouns, strict=True))
    return {
        "least": f"{found.min_explained:.0%}",
        "sides": {
            "rows": {
                "noun": found.nouns.row,
                "nouns": found.nouns.rows,
                "note": _note(rows, most, found.nouns.row),
                "heads": [row(one.index) for one in found.topics],
                **_lists(rows, found.rows, row, most),
            },
            "cols": {
                "noun": found.nouns.col,
                "nouns": found.nouns.cols,
                "note": _note(cols, most, found.nouns.col),
                "heads": [col(one.index) for one in found.selected_cols],
                **_lists(cols, found.cols, col, most),
            },
        },
    }


def _lists(look: LookUp, table: Table, name: Callable[[int], str], most: int) -> Content:
    """Return lists with an entry for each row that can be looked up."""
    indices = look.indices[:most].tolist()
    mixes = zip(look.topics[:most].tolist(), look.shares[:most].tolist(), strict=True)
    return {
        "index": indices,
        "names": [name(i) for i in indices],
        "explained": [_text(table["explained"][i], brief) for i in indices],
        "assigned": table["assigned"][indices].astype(int).tolist(),
        "mix": [[[k, f"{share:.0%}"] for k, share in zip(*one, strict=True) if k >= 0] for one in mixes],
        "similarity": [_text(value, "{:.2f}".format) for value in look.similarity[:most].tolist()],
        "instead": [_text(value, precise) for value in look.instead[:most].tolist()],
        "own": [_text(value, precise) for value in look.own[:most].tolist()],
    }


def _note(look: LookUp, most: int, noun: str) -> str:
    """Return which rows can be looked up, unless all can."""
    kept = len(look.indices[:most])
    if kept == look.n_all:
        return ""
    return (
        f"{kept:,} of {counted(look.n_all, noun)} can be looked up here: those that are selected or named on this "
        "page, and those that weigh most in the norm of the model."
    )


def _text(value: float, form: Callable[[float], str]) -> str:
    """Return a number as text, "" for nan."""
    return "" if isnan(value) else form(value)
