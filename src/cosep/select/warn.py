"""Warnings about selections that are smaller, emptier or less certain than asked for."""

from sklearn.exceptions import ConvergenceWarning

from cosep.matrix.local import LocalMatrix
from cosep.records.selection import SelectionWarning
from cosep.utils.types import Indices
from cosep.utils.warn import warn

# A larger relative gap is reported even where rounding allows no smaller one.
LARGEST_ROUNDING_GAP = 1e-3
WHY_UNPROVEN = {
    "max_iter": "it reached max_iter",
    "stalled": "no step made the gap smaller",
    "rounding": "what is left of X is as small as rounding errors; judge the selection by its error",
}


def warn_if_fewer(indices: Indices | None, asked: int, what: str, where: str = "X") -> None:
    """Warn, at the line of the caller of the selector, that fewer were selected than asked for."""
    if indices is not None and len(indices) < asked:
        more = "" if where == "X" else f", or for more of {where.removeprefix('the ')}"
        warn(
            f"Only {len(indices)} of the {asked} {what} asked for were selected: within {where} all others are "
            f"combinations of these, up to rounding. Ask for fewer{more}; if nonnegative combinations of these are not "
            "enough, snpa, xray and fgm find more.",
            SelectionWarning,
        )


def warn_if_degenerate(M: LocalMatrix, rows: Indices | None, cols: Indices | None) -> None:
    """Warn that selected rows or columns are all zero within the core, so that they explain nothing."""
    core = M.take(rows, cols)
    empty_rows, empty_cols = int((~core.any(axis=1)).sum()), int((~core.any(axis=0)).sum())
    if empty_rows or empty_cols:
        warn(
            f"The core is degenerate: {empty_rows} of the selected rows and {empty_cols} of the selected columns are "
            "all zero in it and explain nothing. Ask for fewer, or use another method or another scaling.",
            SelectionWarning,
        )


def warn_if_unproven(gap: float, ended: str, advice: str) -> None:
    """Warn that a solver stopped before its tolerance: the gap it reached, the reason, and what to do.

    A gap at the level of rounding is small relative to X, but may be large relative to what the columns leave of X.
    """
    if ended in WHY_UNPROVEN and (ended != "rounding" or gap > LARGEST_ROUNDING_GAP):
        remedy = "" if ended == "rounding" else f" {advice}; with solver='newton' few problems end like this."
        warn(
            f"The convex model was solved to a relative duality gap of {gap:.1e} only: {WHY_UNPROVEN[ended]}.{remedy}",
            ConvergenceWarning,
        )
