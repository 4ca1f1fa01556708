"""The pipeline of a fit: scale, select, mix, measure."""

from typing import Any, Protocol

from cosep.fit.in_blocks import InBlocks
from cosep.fit.in_memory import InMemory
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult
from cosep.fit.with_gaps import WithGaps
from cosep.matrix.local import LocalMatrix
from cosep.matrix.observed import Observed
from cosep.matrix.row_blocks import RowBlocks
from cosep.utils.blas import one_blas_thread


class Steps(Protocol):
    """The steps of a fit, where the matrix is stored. What one step returns is passed on to later steps."""

    def scale(self) -> Any:
        """Find the norm of the model, and scale the matrix by it."""

    def select(self, scaled: Any) -> Any:
        """Select rows and columns of the scaled matrix."""

    def mix(self, chosen: Any) -> Any:
        """Fit the factors, weights and clusters of the selected rows and columns, in the norm."""

    def measure(self, chosen: Any, factors: Any) -> FitResult:
        """Measure how much of the matrix is explained, and return everything as one record."""


def _steps(matrix: LocalMatrix | Observed | RowBlocks, plan: Plan) -> Steps:
    if isinstance(matrix, LocalMatrix):
        return InMemory(matrix, plan)
    return WithGaps(matrix, plan) if isinstance(matrix, Observed) else InBlocks(matrix, plan)


def fit(matrix: LocalMatrix | Observed | RowBlocks, plan: Plan) -> FitResult:
    """Explain a matrix by some of its rows and columns, ``X ~ row_factor @ X[rows][:, cols] @ col_factor``.

    Parameters
    ----------
    matrix : LocalMatrix or Observed or RowBlocks
        In memory, without or with missing entries, or in blocks of rows.
    plan : Plan
        Made by `make_plan` for a matrix of this shape and kind.

    Returns
    -------
    FitResult

    Examples
    --------
    >>> from cosep import faithful, make_coseparable
    >>> from cosep.fit.pipeline import fit
    >>> from cosep.fit.plan import Plan
    >>> from cosep.matrix.validation import as_matrix
    >>> X, _ = make_coseparable(30, 20, 3, 3, random_state=0)
    >>> fit(as_matrix(X), Plan(n_rows=3, n_cols=3, method=faithful)).fidelity.refitted > 1 - 1e-12
    True
    """
    steps: Steps = _steps(matrix, plan)
    with one_blas_thread:
        chosen = steps.select(steps.scale())
        return steps.measure(chosen, steps.mix(chosen))
