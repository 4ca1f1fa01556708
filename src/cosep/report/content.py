"""What the page says, as plain data for its template: findings cut to the room of a page, and numbers as text."""

from collections.abc import Callable, Sequence
from typing import Any

from cosep.findings import assessments
from cosep.findings.record import Entry, Findings, Topic
from cosep.findings.wording import excerpt, name_or_number, quantity, readable, squeezed
from cosep.records.factorization import Factorization
from cosep.utils.columns import flat
from cosep.utils.messages import shown

Content = dict[str, Any]
# Returns what to call a row or a column, from its name, its position and its kind.
Naming = Callable[[str, int, str], str]

# How much a topic shows, and how much if there are many topics.
SHOWN = {"anchors": 8, "values": 8, "columns": 12, "members": 8, "letters": 560}
SHOWN_OF_MANY = {"anchors": 5, "values": 5, "columns": 8, "members": 5, "letters": 280}
MANY_TOPICS = 24
MOST_TOPICS = 60
LONGEST_COMMAND = 4000
# A core with more rows or columns is drawn, but not printed as a table.
MOST_TABULATED = 30


def page_content(
    found: Findings,
    factorization: Factorization,
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    texts: Sequence[str] | None = None,
    command: str | None = None,
    letters: int | None = None,
) -> Content:
    """Return all that the page says; a part that was not computed is None.

    Parameters
    ----------
    found : Findings
        What `describe` returns.
    factorization : Factorization
        With names.
    explanation, stability, rank, texts, command
        As in `write_report`.
    letters : int, optional
        Cut names to this many letters.

    Raises
    ------
    ValueError
        If a part belongs to another matrix or another selection.
    """
    name = _naming(letters)
    sides = assessments.sides_of(found, factorization.row_names, factorization.col_names)
    texts = _checked_texts(texts, found.shape[0])
    _check_command(command)
    reasons = None if explanation is None else assessments.reasons(explanation, sides[0])
    return {
        "shape": _shape(found),
        "explained": found.shares,
        "selected": {
            "rows": [{"index": one.index, "name": name(one.name, one.index, "row")} for one in found.topics],
            "cols": [{"index": one.index, "name": name(one.name, one.index, "column")} for one in found.selected_cols],
        },
        "note": _note(factorization),
        "summary": list(found.sentences),
        "core": _core(found, name),
        "topics": _topics(found, name, reasons, texts),
        "errors": None if explanation is None else _errors(explanation, sides, name),
        "certificate": [*found.certificate, *(readable(one, 600) for one in found.warnings)],
        "stability": None if stability is None else _stability(stability, sides, name),
        "rank": None if rank is None else _rank(rank),
        "reproduce": {
            "command": None if command is None else excerpt(command, LONGEST_COMMAND),
            "python": f"CoSeparableNMF(n_rows={len(found.topics)}, n_cols={len(found.selected_cols)}).fit(X)",
            "versions": found.versions,
            "settings": _settings(factorization),
        },
        "letters": letters,
    }


def _naming(letters: int | None) -> Naming:
    """Return what makes names readable, and cuts them."""

    def name(text: str, index: int, kind: str) -> str:
        whole = name_or_number(text, index, kind)
        return whole if letters is None else squeezed(whole, letters)

    return name


def _shape(found: Findings) -> Content:
    m, n = found.shape
    return {"rows": m, "cols": n, "nonzeros": found.n_nonzeros, "filled": found.n_nonzeros / (m * n)}


def _note(factorization: Factorization) -> str | None:
    """Return what must be known before anything else, such as that the rows are a sample."""
    note = factorization.meta.get("note")
    return readable(note, 600) if isinstance(note, str) else None


def _core(found: Findings, name: Naming) -> Content | None:
    """Return the core in the order of its picture, unless it is too large to be read as a table."""
    if max(found.core.shape) > MOST_TABULATED:
        return None
    columns = [found.selected_cols[l] for l in found.col_order]
    return {
        "rows": [name(one.name, one.index, "row") for one in found.topics],
        "cols": [name(one.name, one.index, "column") for one in columns],
        "values": [[quantity(value) for value in row] for row in found.core[:, found.col_order].tolist()],
    }


def _topics(
    found: Findings, name: Naming, reasons: list[assessments.Reason] | None, texts: list[str] | None
) -> list[Content]:
    """Return the topics, as far as a page has room."""
    room = SHOWN if len(found.topics) <= MANY_TOPICS else SHOWN_OF_MANY
    return [
        _topic(number, topic, name, room)
        | {
            "text": None if texts is None else excerpt(texts[topic.index], room["letters"]),
            "why": None if reasons is None else reasons[number - 1]._asdict(),
        }
        for number, topic in enumerate(found.topics[:MOST_TOPICS], 1)
    ]


def _topic(number: int, topic: Topic, name: Naming, room: dict[str, int]) -> Content:
    anchors = topic.anchors[: room["anchors"]]
    named = {anchor.index for anchor in anchors}
    others = [entry for entry in topic.columns if entry.index not in named][: room["columns"]]
    return {
        "number": number,
        "index": topic.index,
        "name": name(topic.name, topic.index, "row"),
        "values": _bars(topic.values[: room["values"]], name),
        "anchors": [
            {"name": name(one.name, one.index, "column"), "value": quantity(one.value), "own": one.own}
            for one in anchors
        ],
        "columns": [name(entry.name, entry.index, "column") for entry in others],
        "size": topic.size,
        "share": topic.share,
        "members": [
            {"name": name(entry.name, entry.index, "row"), "part": entry.value}
            for entry in topic.closest[: room["members"]]
        ],
    }


def _bars(entries: Sequence[Entry], name: Naming) -> list[Content]:
    """Return values as text, with the lengths of their bars."""
    return [
        {
            "name": name(entry.name, entry.index, "column"),
            "value": quantity(entry.value),
            "bar": entry.value / entries[0].value,
        }
        for entry in entries
    ]


def _errors(explanation: Any, sides: tuple[assessments.SideNames, assessments.SideNames], name: Naming) -> Content:
    """Return how well rows and columns are explained, and which of them worst."""
    content: Content = {}
    for key, side in zip(("rows", "cols"), sides, strict=True):
        summary = assessments.error_summary(explanation, side)
        worst = [{"name": name(one.name, one.index, side.kind), "error": one.value} for one in summary.worst]
        content[key] = {"median": summary.median, "n_zero": summary.n_zero, "worst": worst}
    return content


def _stability(stability: Any, sides: tuple[assessments.SideNames, assessments.SideNames], name: Naming) -> Content:
    """Return how often the selected rows and columns came back, and which of them least often."""
    n_draws, share = assessments.draws_of(stability)
    content: Content = {"n_draws": n_draws, "share": share}
    for key, side in zip(("rows", "cols"), sides, strict=True):
        summary = assessments.stability_summary(stability, side)
        content[key] = (
            None
            if summary is None
            else {
                "frequency": summary.frequency,
                "similarity": summary.similarity,
                "least": squeezed(name(summary.least.name, summary.least.index, side.kind), 80),
                "least_frequency": summary.least.value,
            }
        )
    return content


def _rank(rank: Any) -> Content:
    n_rows, n_cols, reason, table = assessments.rank_table(rank)
    lines = zip(*(column.tolist() for column in table.values()), strict=True)
    return {
        "n_rows": n_rows,
        "n_cols": n_cols,
        "reason": readable(reason, 1000),
        "table": [
            {
                "n_rows": int(r),
                "n_cols": int(c),
                "error": quantity(error),
                "error_se": quantity(spread),
                "stability": quantity(stability),
                "best": (int(r), int(c)) == (n_rows, n_cols),
            }
            for r, c, error, spread, stability in lines
        ],
    }


def _settings(factorization: Factorization) -> dict[str, str]:
    """Return what the factorization stores about how it was made, as far as it is short."""
    kept = {
        readable(name, 60): readable(value, 200)
        for name, value in factorization.meta.items()
        if isinstance(value, (str, int, float)) and name not in {"command", "note"}
    }
    return kept | ({} if factorization.scaling is None else {"scaling": factorization.scaling.name})


def _checked_texts(texts: Any, m: int) -> list[str] | None:
    """Return the text of every row, or None."""
    if texts is None:
        return None
    kept = flat(texts)
    if kept is None or len(kept) != m or not all(isinstance(text, str) for text in kept):
        msg = f"texts must be one text for each of the {m} rows, got {shown(texts)}."
        raise ValueError(msg)
    return [str(text) for text in kept]


def _check_command(command: Any) -> None:
    if command is not None and not isinstance(command, str):
        msg = f"command={shown(command)} must be the text of the command that made the report, or None."
        raise ValueError(msg)
