"""Statistics of a matrix in blocks and a selector enter; rows and columns chosen from a sample leave.

The sample is a small weighted problem for any selector. All rows are searched for better ones, which join it.

Notation
--------
Z : the small problem, rows of the sample times the square roots of what they count
"""

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.fit.candidates import Candidates, Directions, candidates, directions
from cosep.fit.passes import Passes
from cosep.fit.statistics import Sample, Statistics, sample_of, uniforms
from cosep.matrix.blocks import stack
from cosep.matrix.checks import check_indices
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import inverse
from cosep.records.model_file import as_tuples
from cosep.records.selection import Selection, SelectionWarning
from cosep.select.method import refuse_no_selection
from cosep.select.pool import Pool, check_is_pool
from cosep.select.spa import warn_if_fewer
from cosep.solve.alternation import Budget
from cosep.utils.types import Indices

# How often all rows are searched for better candidates.
SEARCHES = 2
# Rows and columns are divided by these powers of their sums for the choice.
POWERS = {None: (0.0, 0.0), "rows": (1.0, 0.0), "columns": (0.0, 1.0), "degree": (0.5, 0.5)}


# What was warned of: categories and messages.
Told = list[tuple[str, str]]
WARNINGS = {category.__name__: category for category in (SelectionWarning, ConvergenceWarning)}


class Plan(NamedTuple):
    """What to do: how many, by which selector, of which name if any, with which options, among which rows.

    Then the rows of the sample, its seed, the scaling under which is chosen, and how the two fits end.
    """

    n_rows: int
    n_cols: int
    method: Callable[..., Selection]
    name: str | None
    options: Mapping[str, Any]
    row_pool: Pool | None
    sampled: int | None
    seed: int
    scaling: str | None
    mixing: Budget
    labelling: Budget


class Known(NamedTuple):
    """Rows that are in memory: positions in ascending order, and the rows."""

    indices: Indices
    rows: Any

    def with_more(self, indices: Indices, rows: Any) -> "Known":
        """Add rows, of which some may be known already."""
        new = ~np.isin(indices, self.indices)
        together = np.concatenate([self.indices, indices[new]])
        order = np.argsort(together)
        return Known(together[order], stack([self.rows, rows[new]])[order])

    def take(self, indices: Indices) -> Any:
        """Return rows by their positions in the whole."""
        return self.rows[np.searchsorted(self.indices, indices)]


class Choice(NamedTuple):
    """Rows and columns chosen from a sample, by their positions in it, and the sample."""

    selection: Selection
    sample: Sample
    M: LocalMatrix

    @property
    def rows(self) -> Indices:
        """The chosen rows, by their positions in the sample."""
        return np.asarray(self.selection.row_indices)

    @property
    def cols(self) -> Indices:
        """The chosen columns."""
        return np.asarray(self.selection.col_indices)


def choose(passes: Passes, plan: Plan, found: Statistics, size: int) -> Choice:
    """Choose from the sample, search all rows for better ones, and choose again."""
    include, allowed = _row_wishes(plan, passes.blocks.shape[0])
    certain = include
    if allowed is not None:
        certain = np.union1d(include, allowed[np.argsort(uniforms(allowed, plan.seed + 1), kind="stable")[:size]])
    sample = sample_of(found, size, certain)
    known = Known(sample.indices, passes.rows("sample", sample.indices).values)
    col_scale = inverse(found.sums) ** POWERS[plan.scaling][1]
    for search in range(SEARCHES + 1):
        M = LocalMatrix(known.take(sample.indices))
        Z = M.scaled(np.sqrt(sample.counts) * inverse(M.T.sums()) ** POWERS[plan.scaling][0], col_scale)
        pool = _pool_within(sample.indices, plan.row_pool, include, allowed)
        selection, told = _selected(passes, plan, Z, pool)
        if search == SEARCHES or len(found.drawn) < found.most:
            break
        where = Directions(*directions(Z, np.asarray(selection.row_indices)), col_scale, allowed)
        best: Candidates = passes.fold("candidates", Candidates, candidates, where)
        if np.isin(best.found, sample.indices).all():
            break
        known = known.with_more(best.found, best.rows)
        certain = np.unique(np.concatenate([certain, best.found, sample.indices[selection.row_indices]]))
        sample = sample_of(found, size, certain)
    for category, message in told:
        warnings.warn(message, WARNINGS.get(category, UserWarning), stacklevel=2)
    return Choice(selection, sample, M)


def _row_wishes(plan: Plan, m: int) -> tuple[Indices, Indices | None]:
    """Return the rows that must be chosen, and in ascending order all that may be, None if that is all."""
    pool = Pool() if plan.row_pool is None else plan.row_pool
    check_is_pool(pool, "row_pool")
    include = np.zeros(0, dtype=np.intp)
    if np.size(pool.include):
        include = check_indices(pool.include, "row_pool.include", m, "n_samples")
    if len(include) > plan.n_rows:
        msg = f"row_pool.include names {len(include)}, but n_rows={plan.n_rows}; ask for as many or drop some."
        raise ValueError(msg)
    if pool.candidates is None:
        return include, None
    allowed = np.union1d(check_indices(pool.candidates, "row_pool.candidates", m, "n_samples"), include)
    if len(allowed) < plan.n_rows:
        msg = (
            f"n_rows={plan.n_rows} must be at most the {len(allowed)} candidates of row_pool; ask for fewer or allow "
            "more."
        )
        raise ValueError(msg)
    return include, allowed


def _pool_within(sampled: Indices, pool: Pool | None, include: Indices, allowed: Indices | None) -> Pool | None:
    """Return the pool of rows by their positions in the sample."""
    if pool is None:
        return None
    candidates = None if allowed is None else np.flatnonzero(np.isin(sampled, allowed))
    return Pool(candidates, np.searchsorted(sampled, include))


def _selected(passes: Passes, plan: Plan, Z: LocalMatrix, pool: Pool | None) -> tuple[Selection, Told]:
    """Return what the selector chooses from the small problem, and what it warns of."""
    options = dict(plan.options) if pool is None else {**plan.options, "row_pool": pool}
    n_rows = min(plan.n_rows, Z.shape[0])

    def find() -> tuple[Selection, Told]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            chosen = plan.method(Z.values, n_rows, plan.n_cols, **options)
            chosen = refuse_no_selection(chosen, plan.method, ("row_indices", "col_indices"))
            if n_rows < plan.n_rows:
                warn_if_fewer(chosen.row_indices, plan.n_rows, "rows")
        return chosen, [(one.category.__name__, str(one.message)) for one in caught]

    def written() -> str:
        chosen, told = find()
        indices = [np.asarray(side).tolist() for side in (chosen.row_indices, chosen.col_indices)]
        return json.dumps([*indices, chosen.gap, chosen.n_iter, chosen.history, told], default=float)

    if plan.name is None:
        return find()
    what = {name: option for name, option in options.items() if name != "callback"}
    text = passes.recall("selection", None, (plan.name, n_rows, plan.n_cols, what, Z.values), written)
    rows, cols, gap, n_iter, history, told = json.loads(text)
    selection = Selection(np.array(rows, dtype=np.intp), np.array(cols, dtype=np.intp), gap, n_iter, as_tuples(history))
    return selection, told
