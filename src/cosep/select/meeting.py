"""Chosen rows and columns that meet: none of them is all zero in the core."""

from collections.abc import Iterator

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.select.column_choice import ColumnChoice, best_of, explained_by, left_by_others
from cosep.solve.pursuit import Positions, several_largest
from cosep.utils.ties import TIE_TOL

# Number of columns that are tried in place of a chosen one that is zero in the core.
N_MEETING = 16
# Number of columns that are tried in place of any other for a chosen row that is zero in the core.
N_STRONG = 4


def met(
    M: LocalMatrix, pools: tuple[Positions, Positions], rows: ColumnChoice, cols: ColumnChoice
) -> tuple[ColumnChoice, ColumnChoice]:
    """Replace chosen rows and columns that are all zero in the core, each time by the one with the smallest sum.

    Such a row adds nothing to the core, and its component is empty. What cannot be replaced stays.
    """
    while empty := _n_empty(M, rows, cols):
        pairs = [(rows, other) for other in meeting(M, pools[1], cols, rows)]
        pairs += [(other, cols) for other in meeting(M.T, pools[0], rows, cols)]
        pairs = [pair for pair in pairs if _n_empty(M, *pair) < empty]
        if not pairs:
            break
        rows, cols = best_of(M, pairs)
    return rows, cols


def _n_empty(M: LocalMatrix, rows: ColumnChoice, cols: ColumnChoice) -> int:
    """Return how many chosen rows and columns are all zero in the core."""
    core = M.take(rows.chosen, cols.chosen)
    return int((~core.any(axis=1)).sum() + (~core.any(axis=0)).sum())


def meeting(M: LocalMatrix, positions: Positions, cols: ColumnChoice, rows: ColumnChoice) -> Iterator[ColumnChoice]:
    """Yield choices with other columns in the core.

    A chosen column that is zero in the core is replaced by similar ones that are not; for a chosen row that is zero in
    the core, each chosen column by those that are strongest in that row. Single copies of columns are compared.
    """
    H, norms = M.take(rows=rows.chosen), M.squared_norms()
    empty = [k for k in np.flatnonzero(~H[:, cols.chosen].any(axis=0)) if k >= len(positions.include)]
    allowed = positions.allowed & H.any(axis=0)
    likeness = M.cross(np.maximum(left_by_others(M, cols), 0.0)) / np.sqrt(np.where(norms > 0, norms, np.inf))[:, None]
    # Rounding is not a similarity.
    likeness[likeness <= TIE_TOL * likeness.max(axis=0)] = 0.0
    likeness[~allowed] = 0.0
    likeness[cols.chosen] = 0.0
    trials = [(int(k), j) for k in empty for j in several_largest(likeness[:, k], N_MEETING)]
    # A row that is zero in the core may have its entries where no column is chosen.
    for lost in H[~H[:, cols.chosen].any(axis=1)] / np.sqrt(positions.copies):
        strong = several_largest(np.where(positions.allowed, lost, 0.0), N_STRONG)
        trials += [(k, j) for k in range(len(positions.include), len(cols.chosen)) for j in strong]
    for k, j in trials:
        yield explained_by(M, np.where(np.arange(len(cols.chosen)) == k, j, cols.chosen))
