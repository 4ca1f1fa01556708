"""One call of the selector of a plan."""

from typing import Any

from cosep.fit.plan import Plan
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select.method import Method, check_selected, with_weights
from cosep.select.pool import Pool
from cosep.select.preselected import preselected
from cosep.utils.types import Array


def selector_input(method: Method | None, M: LocalMatrix) -> Any:
    """Return what to pass to a selector: a matrix to one that is known by name, an array to a function of the user."""
    return M.mantissa if isinstance(method, str) else M.raw


def select(
    plan: Plan, A: LocalMatrix, row_factors: Array, weights: Array | None, n_rows: int, row_pool: Pool | None
) -> Selection:
    """Select ``n_rows`` rows and ``plan.n_cols`` columns of A, preselecting candidates if the plan says so.

    ``row_factors`` are the factors of the rows in the norm: what a constant in X is in A.
    """
    selector = preselected(plan.method, plan.n_candidate_rows, plan.n_candidate_cols)
    options = dict(plan.options) if row_pool is None else {**plan.options, "row_pool": row_pool}
    A, known = with_weights(selector, A, row_factors, weights)
    chosen = selector(selector_input(plan.method_name, A), n_rows, plan.n_cols, **options, **known)
    return check_selected(chosen, plan.method, ("row_indices", "col_indices"))
