"""Selections that a checkpoint can keep, with the warnings of the selector."""

import json
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.selector import select
from cosep.matrix.local import LocalMatrix
from cosep.records.model_file import as_tuples
from cosep.records.selection import Selection, SelectionWarning
from cosep.select.pool import Pool
from cosep.select.warn import warn_if_fewer
from cosep.utils.types import Array
from cosep.utils.warn import warn

CATEGORIES = {category.__name__: category for category in (SelectionWarning, ConvergenceWarning)}


class CaughtWarning(NamedTuple):
    """The name of a category of warnings, and a message."""

    category: str
    message: str

    def issue(self) -> None:
        """Issue the warning."""
        warn(self.message, CATEGORIES.get(self.category, UserWarning))


def select_once(
    passes: Passes, plan: Plan, A: LocalMatrix, of_rows: tuple[Array, Array], row_pool: Pool | None
) -> tuple[Selection, list[CaughtWarning]]:
    """Return what the selector selects from a small matrix, and its warnings; kept if the selector has a name.

    ``of_rows`` are the factors of the rows, which are in A already, and their weights.
    """
    n_rows = min(plan.n_rows, A.shape[0])
    if plan.method_name is None:
        return _select(plan, A, of_rows, n_rows, row_pool)
    options = {name: option for name, option in plan.options.items() if name != "callback"}
    made_from = (plan.method_name, plan.n_candidate_cols, n_rows, plan.n_cols, options, row_pool, of_rows, A)
    text = passes.recall("selection", None, made_from, lambda: _to_json(*_select(plan, A, of_rows, n_rows, row_pool)))
    return _from_json(text)


def _select(
    plan: Plan, A: LocalMatrix, of_rows: tuple[Array, Array], n_rows: int, row_pool: Pool | None
) -> tuple[Selection, list[CaughtWarning]]:
    factors, weights = of_rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selection = select(plan, A, factors, None if (weights == 1.0).all() else weights, n_rows, row_pool)
        if n_rows < plan.n_rows:
            warn_if_fewer(selection.row_indices, plan.n_rows, "rows")
    return selection, [CaughtWarning(one.category.__name__, str(one.message)) for one in caught]


def _to_json(selection: Selection, caught: list[CaughtWarning]) -> str:
    indices = [np.asarray(side).tolist() for side in (selection.row_indices, selection.col_indices)]
    return json.dumps([*indices, selection.gap, selection.n_iter, selection.history, caught], default=float)


def _from_json(text: Any) -> tuple[Selection, list[CaughtWarning]]:
    rows, cols, gap, n_iter, history, caught = json.loads(text)
    indices = np.array(rows, dtype=np.intp), np.array(cols, dtype=np.intp)
    return Selection(*indices, gap, n_iter, as_tuples(history)), [CaughtWarning(*one) for one in caught]
