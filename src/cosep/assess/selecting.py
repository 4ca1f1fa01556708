"""Selections from parts of a matrix, by a method that a user may have passed."""

import warnings
from collections.abc import Callable

from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select.method import check_selected, options_for


def select_without_warnings(
    M: LocalMatrix, select: Callable[..., Selection], n_rows: int, n_cols: int, seed: int
) -> Selection:
    """Return the rows and columns that ``select`` chooses. Warnings, such as that it found fewer, are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = select(M.raw, n_rows, n_cols, **options_for(select, random_state=seed))
    return check_selected(chosen, select, ("row_indices", "col_indices"))
