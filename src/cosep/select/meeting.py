"""Chosen rows and columns that meet: none of them is all zero in the core."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.select.column_choice import ColumnChoice, explained_by, left_by_others
from cosep.select.exchange import Exchanges, is_lower
from cosep.select.fixed_rows import fixed_rows
from cosep.solve.pursuit import Positions, several_largest
from cosep.utils.ties import TIE_TOL, first_largest
from cosep.utils.types import Array, Indices

# Number of columns that are tried in place of a chosen one that is zero in the core.
N_MEETING = 16
# Number of columns that are tried in place of any other for a chosen row that is zero in the core.
N_STRONG = 4


class Replacement(NamedTuple):
    """Chosen columns of which one was replaced, and the sum of errors with them."""

    chosen: Indices
    total: float


def met(
    M: LocalMatrix, pools: tuple[Positions, Positions], rows: ColumnChoice, cols: ColumnChoice
) -> tuple[ColumnChoice, ColumnChoice]:
    """Replace chosen rows and columns that are all zero in the core, each time by the one with the smallest sum.

    Such a row adds nothing to the core, and its component is empty. Only replacements that lower the sum of errors are
    kept; returns ``rows`` and ``cols`` themselves if there is none.
    """
    while _n_empty(M.take(rows.chosen, cols.chosen)):
        of_cols = replacements(M, pools[1], cols, rows)
        of_rows = replacements(M.T, pools[0], rows, cols)
        found = [*of_cols, *of_rows]
        if not found:
            break
        best = int(first_largest(-np.array([one.total for one in found]), scale=1.0))
        if best < len(of_cols):
            cols = explained_by(M, found[best].chosen)
        else:
            rows = explained_by(M.T, found[best].chosen)
    return rows, cols


def replacements(M: LocalMatrix, positions: Positions, cols: ColumnChoice, rows: ColumnChoice) -> list[Replacement]:
    """Return choices with one other column, fewer zero rows and columns in the core, and a smaller sum of errors."""
    fixed = fixed_rows(M, rows)
    exchanges = Exchanges(M, cols, fixed)
    before, now, found = _n_empty(fixed.H[:, cols.chosen]), fixed.sum_of(M, cols), []
    trials = sorted(_trials(M, positions, cols, fixed.H), key=lambda trial: trial[1])
    for j, same in groupby(trials, key=lambda trial: trial[1]):
        products = M.gram(np.array([j]))[:, 0]
        for k, _ in same:
            chosen = np.where(np.arange(len(cols.chosen)) == k, j, cols.chosen)
            if _n_empty(fixed.H[:, chosen]) < before:
                other, core = exchanges.exchanged(k, j, products)
                total = float(fixed.sum_with(other.error, core))
                if is_lower(total, now):
                    found.append(Replacement(chosen, total))
    return found


def _n_empty(core: Array) -> int:
    """Return how many rows and columns of a core are all zero."""
    return int((~core.any(axis=1)).sum() + (~core.any(axis=0)).sum())


def _trials(M: LocalMatrix, positions: Positions, cols: ColumnChoice, H: Array) -> list[tuple[int, int]]:
    """Return pairs of the position of a chosen column and another column to try there; H are the chosen rows.

    A chosen column that is zero in the core is replaced by similar ones that are not; for a chosen row that is zero in
    the core, each chosen column by those that are strongest in that row. Single copies of columns are compared.
    """
    norms = M.squared_norms()
    empty = [k for k in np.flatnonzero(~H[:, cols.chosen].any(axis=0)) if k >= len(positions.include)]
    allowed = positions.allowed & H.any(axis=0)
    likeness = M.cross(np.maximum(left_by_others(M, cols), 0.0)) / np.sqrt(np.where(norms > 0, norms, np.inf))[:, None]
    # Rounding is not a similarity.
    likeness[likeness <= TIE_TOL * likeness.max(axis=0)] = 0.0
    likeness[~allowed] = 0.0
    likeness[cols.chosen] = 0.0
    trials = [(int(k), int(j)) for k in empty for j in several_largest(likeness[:, k], N_MEETING)]
    # A row that is zero in the core may have its entries where no column is chosen.
    for lost in H[~H[:, cols.chosen].any(axis=1)] / np.sqrt(positions.copies):
        strong = several_largest(np.where(positions.allowed, lost, 0.0), N_STRONG)
        trials += [(k, int(j)) for k in range(len(positions.include), len(cols.chosen)) for j in strong]
    return trials
