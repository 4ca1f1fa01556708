"""Fidelity and CoreDiagnosis: how well a selection explains a matrix, and how well conditioned its core is."""

from typing import NamedTuple


class Fidelity(NamedTuple):
    """The share of a matrix that is explained, by the selection alone and by refitted factors; 1 means all of it.

    A share is ``1 - ||X - X^||^2 / ||X||^2`` in the norm of the model, so that the shares of parts add up. Rows,
    columns and core are all 1 exactly if X is co-separable with this selection.

    Attributes
    ----------
    rows : float or None
        With X^ the best ``U X(rows,:)`` over ``U >= 0``; None if no rows are selected.
    cols : float or None
        With X^ the best ``X(:,cols) V`` over ``V >= 0``; None if no columns are selected.
    core : float or None
        With X^ = ``U X(rows,cols) V`` and these U and V; None if one side is not selected.
    refitted : float
        With X^ the product of the fitted factors.
    """

    rows: float | None
    cols: float | None
    core: float | None
    refitted: float


class CoreDiagnosis(NamedTuple):
    """Signs of a core that explains little or determines little.

    Attributes
    ----------
    nonzeros : int
        Number of nonzero entries.
    zero_rows, zero_cols : int
        Number of all-zero rows and columns.
    condition : float
        Condition number of the core with its rows and columns divided by their norms; infinite if it is singular.
    permuted_diagonal : bool
        Whether the core has one nonzero entry in each row and column. Each selected row then belongs to one selected
        column, and the refitted factors are those of plain NMF, whatever was selected.
    """

    nonzeros: int
    zero_rows: int
    zero_cols: int
    condition: float
    permuted_diagonal: bool
