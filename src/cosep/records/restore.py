"""Selections and factorizations of a whole matrix from those of a part of it."""

from dataclasses import replace

from cosep.matrix.filled import Filled
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection


def restore_selection(part: Filled, chosen: Selection) -> Selection:
    """Return the selection in the whole matrix from one in the part."""
    rows, cols = chosen.row_indices, chosen.col_indices
    return replace(
        chosen,
        row_indices=None if rows is None else part.rows[rows],
        col_indices=None if cols is None else part.cols[cols],
    )


def restore_factors(part: Filled, found: Factorization, selection: Selection | None = None) -> Factorization:
    """Return the factors of the whole matrix from those of the part, with a selection in the whole.

    The factors are zero for the rows and columns that were left out, and their labels are -1.
    """
    if part.M.shape == part.shape:
        return replace(found, selection=selection)
    return replace(
        found,
        selection=selection,
        row_factor=part.of_rows(found.row_factor),
        col_factor=part.of_cols(found.col_factor),
        row_weights=None if found.row_weights is None else part.of_rows(found.row_weights),
        col_weights=None if found.col_weights is None else part.of_cols(found.col_weights),
        row_labels=None if found.row_labels is None else part.of_rows(found.row_labels, -1),
        col_labels=None if found.col_labels is None else part.of_cols(found.col_labels, -1),
    )
