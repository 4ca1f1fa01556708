"""Short summaries of an `Explanation`, a `Stability`, a `SelectionPath` and a `RankChoice` of one factorization."""

from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from cosep.assess.path import SelectionPath
from cosep.assess.rank import RANK_COLUMNS
from cosep.findings.record import Entry, Findings
from cosep.findings.wording import name_or_number, percent, points, squeezed
from cosep.matrix.checks import check_indices, check_number, check_positive, check_record
from cosep.select.column_choice import CORE_WEIGHT
from cosep.utils.columns import check_column, check_names, check_table
from cosep.utils.messages import counted, plural, shown
from cosep.utils.types import Indices, Table

# Rows, and columns, that are listed as those explained worst.
MOST_WORST = 8
# The columns of a table of reasons, and the least value of those that hold whole numbers.
REASON_COLUMNS = {"index": 0, "runner_up": -1, "share": None, "loss": None, "runner_up_loss": None}
EXPLANATION_FIELDS = ("rows", "cols", "row_errors", "col_errors", "sum_of_errors")
# A runner-up that lowers the sum of errors by more than this share of it is reported.
MIN_DECREASE = 1e-3
# What losses are measured in.
TOGETHER = (
    "What rows, columns and core explain together is the sum of the shares that each of them explains alone, in which "
    f"that of the core counts {CORE_WEIGHT:g} times."
)
PATH_FIELDS = ("row_indices", "col_indices", "rows", "cols", "core", "bound")
# The share of what is possible, or of what all explain, that a path is asked for.
PATH_SHARE = 0.9
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
    noun : str
        What one of them is called.
    """

    kind: str
    names: Any
    chosen: Indices
    noun: str

    def readable_name(self, index: int) -> str:
        """Return the name at a position in a form that can be read."""
        return name_or_number(str(self.names[index]), index, self.noun)


class Reason(NamedTuple):
    """Why a row stands for its topic.

    Attributes
    ----------
    loss : float
        By how much the sum of the errors of rows, columns and core rises without it.
    runner_up : str or None
        The name of the best row that was tried in its place, if one is better than none.
    runner_up_loss : float or None
        By how much the sum of errors rises with that row in its place.
    sentences : tuple of str
        The same in plain sentences.
    """

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


class PathStep(NamedTuple):
    """One more row and one more column.

    Attributes
    ----------
    row, col : Entry or None
        What is added, with the share that is explained by these rows (columns) on their own; None if all of the side
        were added before.
    core, bound : float
        What the core explains now, and what is possible with this many components.
    """

    row: Entry | None
    col: Entry | None
    core: float
    bound: float


class PathSummary(NamedTuple):
    """What the first selected rows and columns explain.

    Attributes
    ----------
    sentences : tuple of str
        How many of them are needed.
    steps : tuple of PathStep
    """

    sentences: tuple[str, ...]
    steps: tuple[PathStep, ...]


def sides_of(found: Findings, row_names: Any, col_names: Any) -> tuple[SideNames, SideNames]:
    """Return both sides of a factorization with these names."""
    rows = np.array([topic.index for topic in found.topics], dtype=np.intp)
    cols = np.array([entry.index for entry in found.selected_cols], dtype=np.intp)
    return SideNames("row", row_names, rows, found.nouns.row), SideNames("column", col_names, cols, found.nouns.col)


def reasons(explanation: Any, side: SideNames) -> list[Reason]:
    """Return why each selected row stands for its topic."""
    table = _reason_table(explanation, side)
    found = []
    for k in range(len(side.chosen)):
        other = int(table["runner_up"][k])
        loss, instead = float(table["loss"][k]), float(table["runner_up_loss"][k])
        name = None if other < 0 else side.readable_name(other)
        found.append(Reason(loss, name, None if name is None else instead, _why(loss, name, instead, side.noun)))
    return found


def _why(loss: float, other: str | None, instead: float, noun: str) -> tuple[str, ...]:
    sentence = f"Without it, rows, columns and core together would explain {_less(loss)}."
    if other is None:
        return sentence, f"No other {noun} that was tried is better than none in its place."
    name = f"\u201c{squeezed(other, 80)}\u201d"
    return sentence, f"The best {noun} tried in its place is {name}: together they would explain {_less(instead)}."


def _less(rise: float) -> str:
    """Return how much less is explained if errors rise by this much."""
    return f"{points(rise)} {'less' if rise > 0 else 'more'}" if rise else "as much"


def exchange_sentences(explanation: Any, sides: tuple[SideNames, SideNames]) -> tuple[str, ...]:
    """Say which runner-up lowers the sum of errors most; nothing if none lowers it noticeably."""
    best, sentence = 0.0, ""
    tables = [_reason_table(explanation, side) for side in sides]
    total = check_number(explanation.sum_of_errors, "explanation.sum_of_errors", 0)
    for side, table in zip(sides, tables, strict=True):
        for k, (other, rise) in enumerate(zip(table["runner_up"], table["runner_up_loss"], strict=True)):
            if other >= 0 and rise < min(best, -MIN_DECREASE * total):
                best = float(rise)
                old, new = (squeezed(side.readable_name(int(i)), 80) for i in (side.chosen[k], other))
                sentence = (
                    f"Replacing the selected {side.noun} \u201c{old}\u201d by \u201c{new}\u201d would lower the sum of "
                    f"the errors of rows, columns and core by {percent(-best / max(total, -best))}: another method "
                    "than faithful selected them, or faithful did not try this exchange or avoided a core with an "
                    "all-zero row or column."
                )
    return (sentence,) if sentence else ()


def _reason_table(explanation: Any, side: SideNames) -> dict[str, Any]:
    """Return the checked table of the selected rows, or columns."""
    check_record(explanation, "explanation", EXPLANATION_FIELDS)
    name = "rows" if side.kind == "row" else "cols"
    table = check_table(getattr(explanation, name), f"explanation.{name}", REASON_COLUMNS)
    _check_same(table["index"], side.chosen, "explanation")
    if table["runner_up"].max() >= len(side.names):
        msg = f"explanation.{name}['runner_up'] must be {side.kind}s of the factorization, which has {len(side.names)}."
        raise ValueError(msg)
    return table


def error_summary(explanation: Any, side: SideNames) -> ErrorSummary:
    """Return how well the rows, or the columns, are explained, and which of them worst."""
    check_record(explanation, "explanation", EXPLANATION_FIELDS)
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


def checked_path(path: Any, name: str) -> SelectionPath:
    """Return a `SelectionPath` whose parts fit each other; ``name`` is that of the parameter."""
    check_record(path, name, PATH_FIELDS)
    rows, cols = (check_indices(getattr(path, one), f"{name}.{one}") for one in PATH_FIELDS[:2])
    sizes = {
        "rows": len(rows),
        "cols": len(cols),
        "core": max(len(rows), len(cols)),
        "bound": max(len(rows), len(cols)),
    }
    shares = []
    for field, size in sizes.items():
        column = check_column(getattr(path, field), f"{name}.{field}")
        if len(column) != size or not np.isfinite(column).all():
            msg = f"{name}.{field} must be {size} finite shares, got {shown(getattr(path, field))}."
            raise ValueError(msg)
        shares.append(column)
    names = (
        check_names(getattr(path, f"{side}_names", None), f"{name}.{side}_names", len(order))
        for side, order in (("row", rows), ("col", cols))
    )
    return SelectionPath(rows, cols, *shares, *names)


def path_summary(path: Any, sides: tuple[SideNames, SideNames]) -> PathSummary:
    """Return what the first selected rows and columns explain, step by step and in sentences."""
    path = checked_path(path, "selection_path")
    added = []
    for side, order, shares in zip(sides, (path.row_indices, path.col_indices), (path.rows, path.cols), strict=True):
        _check_same(np.sort(order), np.sort(side.chosen), "selection_path")
        added.append([Entry(int(i), str(side.names[i]), float(share)) for i, share in zip(order, shares, strict=True)])
    steps = zip(zip_longest(*added), path.core.tolist(), path.bound.tolist(), strict=True)
    return PathSummary(_how_many(path, sides), tuple(PathStep(row, col, *both) for (row, col), *both in steps))


def _how_many(path: SelectionPath, sides: tuple[SideNames, SideNames]) -> tuple[str, ...]:
    """Say how many rows, columns and both are needed for most of what all of them explain, and of what is possible."""
    share, n_rows, n_cols = f"{PATH_SHARE:.0%}", len(sides[0].chosen), len(sides[1].chosen)
    sentences = []
    for side, part in zip(sides, ("rows", "cols"), strict=True):
        needed, kind = path.n_needed(PATH_SHARE, part=part, of="all"), plural(side.noun)
        if needed is not None:
            first = "first" if needed == 1 else f"first {needed}"
            verb = "explains" if needed == 1 else "explain"
            sentences.append(
                f"The {first} of the {len(side.chosen)} selected {kind} {verb} {share} of what all of them do."
            )

    def core(size: int) -> str:
        rows, cols = counted(min(size, n_rows), sides[0].noun), counted(min(size, n_cols), sides[1].noun)
        return (
            f"the core of the first {sides[0].noun} and the first {sides[1].noun}"
            if size == 1
            else f"the core of the first {rows} and {cols}"
        )

    needed, rank = path.n_needed(PATH_SHARE, of="all"), counted(min(n_rows, n_cols), "component")
    if needed is not None:
        sentences.append(f"With both, {core(needed)} explains {share} of what the whole core does.")
    needed = path.n_needed(PATH_SHARE)
    most = f"To explain {share} of what any {rank} could"
    sentences.append(
        f"{most}, more than these {plural(sides[0].noun)} and {plural(sides[1].noun)} are needed."
        if needed is None
        else f"{most}, {core(needed)} is enough."
    )
    return tuple(sentences)


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
