"""Fidelity and CoreDiagnosis: what to know about a selection before trusting it."""

from typing import NamedTuple


class Fidelity(NamedTuple):
    """How much of a matrix is explained by what was selected, before anything is refitted; 1 is all of it.

    ``rows``: ``1 - min ||X - U X(rows,:)|| / ||X||`` over ``U >= 0``; ``cols``: ``1 - min ||X - X(:,cols) V|| / ||X||``
    over ``V >= 0``; ``core``: ``1 - ||X - U X(rows,cols) V|| / ||X||`` with those two. All three are 1 together exactly
    if X is co-separable with this selection. A side that is not selected has None.
    """

    rows: float | None
    cols: float | None
    core: float | None


class CoreDiagnosis(NamedTuple):
    """What to know about a core before trusting it.

    ``condition`` is that of the core with its rows and columns divided by their norms, infinite if it is singular. A
    ``permuted_diagonal`` core, one nonzero in each row and column, ties every selected row to one selected column:
    refitted factors are then those of plain NMF, whatever was selected.
    """

    nonzeros: int
    zero_rows: int
    zero_cols: int
    condition: float
    permuted_diagonal: bool
