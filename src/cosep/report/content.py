"""What the page says, as plain data for its template: findings cut to the room of a page, and numbers as text."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from cosep.findings import assessments
from cosep.findings.record import Entry, Findings, Topic
from cosep.findings.sentences import share_of_bound, unassigned_sentence
from cosep.findings.wording import brief, excerpt, percent, quantity, readable
from cosep.records.factorization import Factorization
from cosep.report.assessed import MOST_TOPICS, errors_content, path_content, rank_content, stability_content
from cosep.report.naming import Content, Naming, named_entry, naming
from cosep.utils.columns import flat
from cosep.utils.messages import counted, shown

# How much a topic shows, and how much if there are many topics.
SHOWN = {"anchors": 8, "values": 8, "columns": 12, "members": 8, "letters": 560}
SHOWN_OF_MANY = {"anchors": 5, "values": 5, "columns": 8, "members": 5, "letters": 280}
# Letters of an example in the table of all topics.
IN_TABLE = 110
MANY_TOPICS = 24
LONGEST_COMMAND = 4000
# A core with more rows or columns is drawn, but not printed as a table.
MOST_TABULATED = 30
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
    name = naming(letters, found.nouns)
    sides = assessments.sides_of(found, factorization.row_names, factorization.col_names)
    texts = _checked_texts(texts, found.shape[0])
    _check_command(command)
    reasons = None if explanation is None else assessments.reasons(explanation, sides[0])
    exchanges = () if explanation is None else assessments.exchange_sentences(explanation, sides)
    return {
        "title": found.title or f"{counted(len(found.topics), 'topic')} of {_size(found)}",
        "size": _size(found),
        "nouns": {**found.nouns._asdict(), "rows": found.nouns.rows, "cols": found.nouns.cols},
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
        "rest": _rest(found),
        "unassigned": _unassigned(found, name),
        "classes": None if found.classes is None else _classes(found),
        "warnings": [readable(one, 600) for one in found.warnings],
        "together": None if explanation is None else assessments.TOGETHER,
        "errors": None if explanation is None else errors_content(explanation, sides, name),
        "norm": found.certificate[0],
        "certificate": [*found.certificate[1:], *exchanges],
        "stability": None if stability is None else stability_content(stability, sides, name),
        "path": None if selection_path is None else path_content(selection_path, sides, name),
        "rank": None if rank is None else rank_content(rank),
        "reproduce": {
            "command": None if command is None else excerpt(command, LONGEST_COMMAND),
            "python": _program(found),
            "versions": found.versions,
            "settings": _settings(factorization),
        },
        "letters": letters,
    }


def _size(found: Findings) -> str:
    """Return the numbers of rows and columns in words."""
    return f"{counted(found.shape[0], found.nouns.row)} \u00d7 {counted(found.shape[1], found.nouns.col)}"


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
    nouns = found.nouns
    measured = (
        ("refitted", "the topics", "the model of this page: the core with the best weights that were found"),
        ("rows", f"{nouns.rows} alone", f"every {nouns.row} as a mix of the selected {nouns.rows}"),
        ("cols", f"{nouns.cols} alone", f"every {nouns.col} as a mix of the selected {nouns.cols}"),
        ("core", "core", "the entries where they meet, with those two mixes"),
    )
    return {
        "n_components": min(found.core.shape),
        "top": percent(top),
        "is_whole": top >= 1.0,
        "limit": min(bounds["refitted"], 1.0),
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
            for key, name, meaning in measured
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
            "example": _example(topic, name, texts),
            "why": None if reasons is None else reasons[number - 1]._asdict(),
        }
        for number, topic in enumerate(found.topics[:MOST_TOPICS], 1)
    ]


def _example(topic: Topic, name: Naming, texts: list[str] | None) -> Content | None:
    """Return the beginning of the text of the representative; where there are no texts, the closest other row."""
    if texts is not None:
        return {"text": excerpt(texts[topic.index], IN_TABLE).replace("\n", " ")}
    return None if not topic.closest else named_entry(topic.closest[0], name, "row")


def _rest(found: Findings) -> Content | None:
    """Return the sums over the topics that the page has no room for."""
    size, explains = found.topics_from(MOST_TOPICS)
    number = max(len(found.topics) - MOST_TOPICS, 0)
    return {"number": number, "size": size, "explains": percent(explains)} if number else None


def _unassigned(found: Findings, name: Naming) -> Content:
    """Return how many rows no topic speaks for, and examples."""
    return {
        "count": found.n_unassigned,
        "sentence": unassigned_sentence(found),
        "least": f"{found.min_explained:.0%}",
        "examples": [{**named_entry(one, name, "row"), "explained": brief(one.value)} for one in found.unassigned],
    }


def _classes(found: Findings) -> Content:
    """Return how the clusters agree with known classes."""
    classes = found.classes
    assert classes is not None  # noqa: S101 - the caller has asked
    measures = ("ari", "nmi", "accuracy", "accuracy_of_one_cluster")
    return {one: f"{getattr(classes, one):.3f}" for one in measures} | {
        "topics": [
            {"own": readable(own, 100), "largest": readable(largest, 100), "purity": "" if isnan(part) else brief(part)}
            for own, largest, part in zip(classes.representatives, classes.largest, classes.purity, strict=True)
        ]
    }


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
            {**named_entry(one, name, "column"), "value": quantity(one.value), "own": one.own} for one in anchors
        ],
        "columns": [named_entry(entry, name, "column") for entry in others],
        "size": topic.size,
        "cluster_size": topic.cluster_size,
        "share": topic.share,
        "explains": percent(topic.explains),
        "part": topic.explains,
        "home": topic.home + 1 if topic.home not in {number - 1, -1} else None,
        "members": [
            {**named_entry(entry, name, "row"), "part": entry.value} for entry in topic.closest[: room["members"]]
        ],
    }


def _bars(entries: Sequence[Entry], name: Naming) -> list[Content]:
    """Return values as text, with the lengths of their bars."""
    return [
        {
            **named_entry(entry, name, "column"),
            "value": quantity(entry.value),
            "bar": entry.value / entries[0].value,
        }
        for entry in entries
    ]


def _settings(factorization: Factorization) -> dict[str, str]:
    """Return what the factorization stores about how it was made, as far as it is short."""
    kept = {
        readable(name, 60): readable(value, 200)
        for name, value in factorization.meta.items()
        if isinstance(value, (str, int, float)) and name not in {"command", "note", "title"}
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
