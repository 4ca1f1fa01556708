"""Short summaries of an `Explanation`, a `Stability` and a `RankChoice` that belong to one factorization."""

from typing import Any, NamedTuple

import numpy as np

from cosep.assess.rank import RANK_COLUMNS
from cosep.findings.record import Entry, Findings
from cosep.findings.wording import name_or_number, percent, points, squeezed
from cosep.matrix.checks import check_number, check_positive, check_record
from cosep.utils.columns import check_column, check_table
from cosep.utils.messages import shown
from cosep.utils.types import Indices, Table

# Rows, and columns, that are listed as those explained worst.
MOST_WORST = 8
# The columns of a table of reasons, and the least value of those that hold whole numbers.
REASON_COLUMNS = {"index": 0, "runner_up": -1, "share": None, "loss": None, "runner_up_loss": None}
STABILITY_COLUMNS = {"index": 0, "frequency": None, "similarity": None}


class SideNames(NamedTuple):
    """The rows, or the columns, of a factorization.

    Attributes
    ----------
    kind : str
        "row" or "column".
    names : ndarray of str
        The names of all of them.
    chosen : ndarray of int
        The selected ones.
    """

    kind: str
    names: Any
    chosen: Indices

    def readable_name(self, index: int) -> str:
        """Return the name at a position in a form that can be read."""
        return name_or_number(str(self.names[index]), index, self.kind)


class Reason(NamedTuple):
    """Why a row stands for its topic.

    Attributes
    ----------
    share : float
        The part of the sum of squares of X that it explains.
    loss : float
        By how much the fidelity of the rows falls without it.
    runner_up : str or None
        The name of the best row to replace it, if there is one.
    runner_up_loss : float or None
        By how much the fidelity falls with that row in its place.
    sentences : tuple of str
        The same in plain sentences.
    """

    share: float
    loss: float
    runner_up: str | None
    runner_up_loss: float | None
    sentences: tuple[str, ...]


class ErrorSummary(NamedTuple):
    """How well the rows, or the columns, are explained.

    Attributes
    ----------
    median : float or None
        The median of the relative errors; None if all are zero.
    n_zero : int
        The number of all-zero rows, which have no relative error.
    worst : tuple of Entry
        Those explained worst, with their errors.
    """

    median: float | None
    n_zero: int
    worst: tuple[Entry, ...]


class StabilitySummary(NamedTuple):
    """How often the selected rows, or columns, were selected again.

    Attributes
    ----------
    frequency, similarity : float
        Means over the selected ones that were part of a draw.
    least : Entry
        The one selected again least often, with its frequency.
    """

    frequency: float
    similarity: float
    least: Entry


def sides_of(found: Findings, row_names: Any, col_names: Any) -> tuple[SideNames, SideNames]:
    """Return both sides of a factorization with these names."""
    rows = np.array([topic.index for topic in found.topics], dtype=np.intp)
    cols = np.array([entry.index for entry in found.selected_cols], dtype=np.intp)
    return SideNames("row", row_names, rows), SideNames("column", col_names, cols)


def reasons(explanation: Any, side: SideNames) -> list[Reason]:
    """Return why each selected row stands for its topic."""
    check_record(explanation, "explanation", ("rows", "row_errors", "col_errors"))
    table = check_table(explanation.rows, "explanation.rows", REASON_COLUMNS)
    _check_same(table["index"], side.chosen, "explanation")
    if table["runner_up"].max() >= len(side.names):
        msg = f"explanation.rows['runner_up'] must be rows of the factorization, which has {len(side.names)}."
        raise ValueError(msg)
    found = []
    for k in range(len(side.chosen)):
        other, share = int(table["runner_up"][k]), float(table["share"][k])
        loss, instead = float(table["loss"][k]), float(table["runner_up_loss"][k])
        name = None if other < 0 else side.readable_name(other)
        found.append(Reason(share, loss, name, None if name is None else instead, _why(share, loss, name, instead)))
    return found


def _why(share: float, loss: float, other: str | None, instead: float) -> tuple[str, ...]:
    without = f"would explain {points(loss)} less" if loss > 0 else "would explain no less"
    sentences = (
        f"It explains {percent(share)} of the sum of squares of the whole matrix.",
        f"Without it, the other selected rows, with new weights, {without}.",
    )
    if other is None:
        return (*sentences, "No other row could take its place.")
    change = f"{points(instead)} less" if instead > 0 else f"{points(instead)} more" if instead < 0 else "as much"
    name = f"\u201c{squeezed(other, 80)}\u201d"
    return (*sentences, f"The best row to replace it is {name}: the selected rows would then explain {change}.")


def error_summary(explanation: Any, side: SideNames) -> ErrorSummary:
    """Return how well the rows, or the columns, are explained, and which of them worst."""
    check_record(explanation, "explanation", ("rows", "row_errors", "col_errors"))
    name, size = "row_errors" if side.kind == "row" else "col_errors", len(side.names)
    errors = check_column(getattr(explanation, name), f"explanation.{name}")
    if len(errors) != size:
        msg = f"explanation has errors of {len(errors)} {side.kind}s, but the factorization has {size}; explain it."
        raise ValueError(msg)
    known = np.flatnonzero(np.isfinite(errors))
    worst = known[np.argsort(-errors[known], kind="stable")[:MOST_WORST]]
    return ErrorSummary(
        float(np.median(errors[known])) if len(known) else None,
        int(size - len(known)),
        tuple(Entry(int(i), str(side.names[i]), float(errors[i])) for i in worst),
    )


def draws_of(stability: Any) -> tuple[int, float]:
    """Return how many draws a `Stability` is made of, and the share of rows and columns in each."""
    check_record(stability, "stability", ("rows", "cols", "n_draws", "share"))
    share = check_number(stability.share, "stability.share", 0, 1)
    return check_positive(stability.n_draws, "stability.n_draws"), share


def stability_summary(stability: Any, side: SideNames) -> StabilitySummary | None:
    """Return how often the selected rows, or columns, came back; None if none of them was part of a draw."""
    name = "rows" if side.kind == "row" else "cols"
    columns = check_table(getattr(stability, name), f"stability.{name}", STABILITY_COLUMNS)
    index, frequency, similarity = columns.values()
    _check_same(index, side.chosen, "stability")
    drawn = np.flatnonzero(np.isfinite(frequency))
    if drawn.size == 0:
        return None
    least = drawn[frequency[drawn].argmin()]
    position = int(side.chosen[least])
    return StabilitySummary(
        float(frequency[drawn].mean()),
        float(similarity[drawn].mean()),
        Entry(position, str(side.names[position]), float(frequency[least])),
    )


def rank_table(rank: Any) -> tuple[int, int, str, Table]:
    """Return the checked parts of a `RankChoice`: numbers of rows and columns, the reason, and the table."""
    check_record(rank, "rank", ("n_rows", "n_cols", "reason", "table"))
    table = check_table(rank.table, "rank.table", RANK_COLUMNS)
    n_rows, n_cols = (check_positive(getattr(rank, one), f"rank.{one}") for one in ("n_rows", "n_cols"))
    if not isinstance(rank.reason, str):
        msg = f"rank.reason={shown(rank.reason)} must be text."
        raise ValueError(msg)
    return n_rows, n_cols, rank.reason, table


def _check_same(given: Any, chosen: Any, name: str) -> None:
    """Raise ValueError for what was computed for another selection."""
    if not np.array_equal(np.asarray(given), chosen):
        msg = f"{name} belongs to another selection than the factorization; compute it for this one."
        raise ValueError(msg)
