"""What can be looked up on the page, as compact data for its script."""

from collections.abc import Sequence
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
    entries = [
        entry
        for topic in found.topics[:MOST_TOPICS]
        for entry in (
            *topic.anchors[: SHOWN["anchors"]],
            *topic.columns[: SHOWN["anchors"] + SHOWN["columns"]],
            *topic.values[: SHOWN["values"]],
        )
    ]
    return [entry.index for entry in entries]


def finder_content(
    found: Findings, look_ups: tuple[LookUp, LookUp], names: tuple[Any, Any], letters: int | None, most: int
) -> Content:
    """Return what the script of the page shows of each row and column, at most this many of each."""
    nouns = found.nouns
    heads = [(one.index, one.name) for one in found.topics], [(one.index, one.name) for one in found.selected_cols]
    content = {}
    for side, kinds, table, look, of_side, head in zip(
        ("rows", "cols"),
        ((nouns.row, nouns.rows), (nouns.col, nouns.cols)),
        (found.rows, found.cols),
        look_ups,
        names,
        heads,
        strict=True,
    ):
        content[side] = _side(look, table, of_side, head, kinds, letters, most)
    return {"least": f"{found.min_explained:.0%}", "sides": content}


def _side(
    look: LookUp,
    table: Table,
    names: Any,
    heads: Sequence[tuple[int, str]],
    kinds: tuple[str, str],
    letters: int | None,
    most: int,
) -> Content:
    """Return one side: lists with an entry for each row that can be looked up."""
    cut = min(letters or LONGEST_FOUND, LONGEST_FOUND)
    kept = slice(0, max(most, len(heads)))
    indices = look.indices[kept].tolist()
    return {
        "noun": kinds[0],
        "nouns": kinds[1],
        "all": look.n_all,
        "note": _note(look, len(indices), kinds),
        "heads": [squeezed(name_or_number(name, index, kinds[0]), cut) for index, name in heads],
        "index": indices,
        "names": [squeezed(name_or_number(str(names[i]), i, kinds[0]), cut) for i in indices],
        "explained": [_text(table["explained"][i], brief) for i in indices],
        "assigned": table["assigned"][indices].astype(int).tolist(),
        "mix": [
            [[k, f"{share:.0%}"] for k, share in zip(topics, shares, strict=True) if k >= 0]
            for topics, shares in zip(look.topics[kept].tolist(), look.shares[kept].tolist(), strict=True)
        ],
        "similarity": [_text(value, lambda one: f"{one:.2f}") for value in look.similarity[kept].tolist()],
        "instead": [_text(value, precise) for value in look.instead[kept].tolist()],
        "own": [_text(value, precise) for value in look.own[kept].tolist()],
    }


def _note(look: LookUp, kept: int, kinds: tuple[str, str]) -> str:
    """Return which rows can be looked up, unless all can."""
    if kept == look.n_all:
        return ""
    return (
        f"{kept:,} of {counted(look.n_all, kinds[0])} can be looked up here: those that are selected or named on this "
        "page, and those that weigh most in the norm of the model."
    )


def _text(value: float, form: Any) -> str:
    return "" if isnan(value) else form(value)
