"""Topics and what is known about them enter, the cards of the page leave, as JSON-able records."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosep.findings.topics import Topics
from cosep.findings.wording import excerpt, name_of, percent, points, quantity, squeezed
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.utils.columns import check_table
from cosep.utils.types import Array, Indices

Record = dict[str, Any]

# How much a card shows, and how much if there are many.
SHOWN = {"anchors": 8, "values": 8, "columns": 12, "members": 8, "letters": 560}
SHOWN_OF_MANY = {"anchors": 5, "values": 5, "columns": 8, "members": 5, "letters": 280}
MANY_TOPICS = 24
MOST_TOPICS = 60
# The columns of a table of reasons, and the least that the whole numbers among them can be.
REASON_COLUMNS = {"index": 0, "runner_up": -1, "share": None, "loss": None, "runner_up_loss": None}


def topic_cards(
    factorization: Factorization,
    topics: Topics,
    M: LocalMatrix,
    spoken: tuple[Indices, Array],
    explanation: Any,
    texts: Sequence[str] | None,
) -> list[Record]:
    """Return what is known of each topic, as far as a page has room."""
    labels, parts = spoken
    reasons = [None] * len(topics.rows) if explanation is None else _reasons(explanation, factorization, topics)
    shown = SHOWN if len(topics.rows) <= MANY_TOPICS else SHOWN_OF_MANY
    row_names, col_names = factorization.row_names, factorization.col_names
    cards = []
    for k, i in enumerate(topics.rows[:MOST_TOPICS]):
        closest = topics.closest(k, labels, parts, shown["members"])
        anchors = topics.anchors(k)[: shown["anchors"]]
        together = topics.core[k] @ topics.col_weights
        together[topics.cols[anchors]] = 0.0
        values = _largest(np.ldexp(M.take(rows=np.array([i]))[0], M.exponent), shown["values"])
        cards.append(
            {
                "number": k + 1,
                "index": int(i),
                "name": name_of(row_names, int(i), "row"),
                "text": None if texts is None else excerpt(texts[i], shown["letters"]),
                "values": [
                    {"name": name_of(col_names, j, "column"), "value": quantity(value), "bar": bar}
                    for j, value, bar in values
                ],
                "anchors": [
                    {
                        "name": name_of(col_names, int(topics.cols[l]), "column"),
                        "value": quantity(topics.core[k, l]),
                        "own": bool(topics.homes[l] == k),
                    }
                    for l in anchors
                ],
                "columns": [name_of(col_names, j, "column") for j, _, _ in _largest(together, shown["columns"])],
                "size": int((labels == k).sum()),
                "share": float((labels == k).mean()),
                "members": [{"name": name_of(row_names, int(j), "row"), "part": float(parts[j])} for j in closest],
                "why": reasons[k],
            }
        )
    return cards


def _largest(values: Array, most: int) -> list[tuple[int, float, float]]:
    """Return positions and values of the largest positive ones, and their share of the largest of all."""
    order = [int(j) for j in np.argsort(-values, kind="stable")[:most] if values[j] > 0]
    return [(j, float(values[j]), float(values[j] / values[order[0]])) for j in order]


def _reasons(explanation: Any, factorization: Factorization, topics: Topics) -> list[Record]:
    """Return why each selected row stands for its topic."""
    table = check_table(explanation.rows, "explanation.rows", REASON_COLUMNS)
    check_same(table["index"], topics.rows, "explanation")
    if table["runner_up"].max() >= factorization.shape[0]:
        msg = f"explanation.rows['runner_up'] must be rows of the factorization, which has {factorization.shape[0]}."
        raise ValueError(msg)
    reasons = []
    for k in range(len(topics.rows)):
        other, loss, instead = int(table["runner_up"][k]), float(table["loss"][k]), float(table["runner_up_loss"][k])
        name = None if other < 0 else name_of(factorization.row_names, other, "row")
        reasons.append(
            {
                "share": float(table["share"][k]),
                "loss": loss,
                "runner_up": name,
                "runner_up_loss": None if name is None else instead,
                "sentences": _why(float(table["share"][k]), loss, name, instead),
            }
        )
    return reasons


def _why(share: float, loss: float, other: str | None, instead: float) -> list[str]:
    without = f"would explain {points(loss)} less" if loss > 0 else "would explain no less"
    sentences = [
        f"It explains {percent(share)} of the sum of squares of the whole matrix.",
        f"Without it, the other selected rows, weighted anew, {without}.",
    ]
    if other is None:
        return [*sentences, "No other row could take its place."]
    change = f"{points(instead)} less" if instead > 0 else f"{points(instead)} more" if instead < 0 else "as much"
    name = f"\u201c{squeezed(other, 80)}\u201d"
    return [*sentences, f"The best row to replace it is {name}: the selected rows would then explain {change}."]


def check_same(given: Any, chosen: Any, name: str) -> None:
    """Refuse what was computed for other rows or columns than the selected ones."""
    if not np.array_equal(np.asarray(given), chosen):
        msg = f"{name} is that of another selection than the factorization; compute it for this one."
        raise ValueError(msg)
