"""What the page says, as plain data for its template: findings cut to the room of a page, and numbers as text."""

from collections.abc import Callable, Sequence
from typing import Any

from cosep.findings import assessments
from cosep.findings.record import Entry, Findings, Topic
from cosep.findings.sentences import share_of_bound
from cosep.findings.wording import brief, excerpt, name_or_number, percent, quantity, readable, squeezed
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
# What is measured, its name on the page, and what it means.
MEASURED = (
    ("rows", "rows alone", "every row as a mix of the selected rows"),
    ("cols", "columns alone", "every column as a mix of the selected columns"),
    ("core", "core", "the entries where they meet, with those two mixes"),
    ("refitted", "refitted", "the core with new weights, the best that were found"),
)
# The norm of a fit whose program does not name it, and what a program passes for norms that have no name of their own.
DEFAULT_SCALING = "degree"
UNNAMED_SCALINGS = {"plain": None, "given": "(row_factors, column_factors)"}


def page_content(
    found: Findings,
    factorization: Factorization,
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    selection_path: Any = None,
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
    explanation, stability, rank, selection_path, texts, command
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
    exchanges = () if explanation is None else assessments.exchange_sentences(explanation, sides)
    return {
        "shape": _shape(found),
        "explained": _explained(found),
        "selected": {
            "rows": [{"index": one.index, "name": name(one.name, one.index, "row")} for one in found.topics],
            "cols": [{"index": one.index, "name": name(one.name, one.index, "column")} for one in found.selected_cols],
        },
        "note": _note(factorization),
        "summary": list(found.sentences),
        "core": _core(found, name),
        "topics": _topics(found, name, reasons, texts),
        "together": None if explanation is None else assessments.TOGETHER,
        "errors": None if explanation is None else _errors(explanation, sides, name),
        "norm": found.certificate[0],
        "certificate": [*found.certificate[1:], *exchanges, *(readable(one, 600) for one in found.warnings)],
        "stability": None if stability is None else _stability(stability, sides, name),
        "path": None if selection_path is None else _path(selection_path, sides, name),
        "rank": None if rank is None else _rank(rank),
        "reproduce": {
            "command": None if command is None else excerpt(command, LONGEST_COMMAND),
            "python": _program(found),
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


def _explained(found: Findings) -> Content:
    """Return what rows, columns, core and refitted factors explain, with their bounds, on one scale.

    ``end`` is where the track of a bar ends: its bound, divided by the largest of the bounds. ``bar`` is the part of
    that track that is filled, 0 for a negative share. A bound is never below what is explained.
    """
    shares = found.shares
    bounds = {key: max(getattr(found.bound, key) or 0.0, share, 0.0) for key, share in shares.items()}
    top = max(bounds.values())
    return {
        "n_components": min(found.core.shape),
        "top": percent(top),
        "is_whole": top >= 1.0,
        "parts": {
            key: {
                "name": name,
                "meaning": meaning,
                "share": percent(shares[key]),
                "bound": percent(bounds[key]),
                "of_bound": share_of_bound(found, key),
                "bar": max(shares[key], 0.0) / (bounds[key] or 1.0),
                "end": bounds[key] / (top or 1.0),
            }
            for key, name, meaning in MEASURED
        },
    }


def _program(found: Findings) -> str:
    """Return the line of Python that fits such a model."""
    name = "plain" if found.scaling is None else readable(found.scaling, 60)
    scaling = UNNAMED_SCALINGS.get(name, repr(name))
    named = "" if found.scaling == DEFAULT_SCALING else f", scaling={scaling}"
    return f"CoSeparableNMF(n_rows={len(found.topics)}, n_cols={len(found.selected_cols)}{named}).fit(X)"


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
    """Return the share of each row and column that is explained, of a typical one and of the worst."""
    content: Content = {}
    for key, side in zip(("rows", "cols"), sides, strict=True):
        summary = assessments.error_summary(explanation, side)
        content[key] = {
            "median": None if summary.median is None else 1.0 - summary.median**2,
            "n_zero": summary.n_zero,
            "worst": [
                {"name": name(one.name, one.index, side.kind), "explained": 1.0 - one.value**2} for one in summary.worst
            ],
        }
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


def _path(path: Any, sides: tuple[assessments.SideNames, assessments.SideNames], name: Naming) -> Content:
    """Return what the first selected rows and columns explain, as far as a page has room."""
    summary = assessments.path_summary(path, sides)

    def added(entry: Entry | None, kind: str) -> Content | None:
        return None if entry is None else {"name": name(entry.name, entry.index, kind), "share": brief(entry.value)}

    return {
        "sentences": list(summary.sentences),
        "n_steps": len(summary.steps),
        "steps": [
            {
                "row": added(step.row, "row"),
                "col": added(step.col, "column"),
                "core": brief(step.core),
                "bound": brief(step.bound),
            }
            for step in summary.steps[:MOST_TOPICS]
        ],
    }


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
    scaling = "none" if factorization.scaling is None else readable(factorization.scaling.name, 60)
    return kept | {"scaling": scaling}


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
