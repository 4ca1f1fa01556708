"""What the page says of an explanation, a stability, a path and a choice of the rank, as plain data."""

from typing import Any

from cosep.findings import assessments
from cosep.findings.record import Entry
from cosep.findings.wording import brief, quantity, readable, squeezed
from cosep.report.naming import Content, Naming, named_entry

Sides = tuple[assessments.SideNames, assessments.SideNames]
# Topics that have a panel, and steps of a path that have a line.
MOST_TOPICS = 60


def errors_content(explanation: Any, sides: Sides, name: Naming) -> Content:
    """Return the share of each row and column that is explained, of a typical one and of the worst."""
    content: Content = {}
    for key, side in zip(("rows", "cols"), sides, strict=True):
        summary = assessments.error_summary(explanation, side)
        content[key] = {
            "median": None if summary.median is None else 1.0 - summary.median**2,
            "n_zero": summary.n_zero,
            "worst": [{**named_entry(one, name, side.kind), "explained": 1.0 - one.value**2} for one in summary.worst],
        }
    return content


def stability_content(stability: Any, sides: Sides, name: Naming) -> Content:
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


def path_content(path: Any, sides: Sides, name: Naming) -> Content:
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


def rank_content(rank: Any) -> Content:
    """Return the recommended numbers of rows and columns, and what was tried."""
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
