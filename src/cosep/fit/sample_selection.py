"""Selection from a sample of the rows of a matrix in blocks.

The sampled rows, weighted, are a small problem for any selector. Then all rows are searched for better candidates,
which join the sample.

Notation
--------
A : rows of the sample, scaled by the norm of the model; a row counts as many times as the rows it stands for
"""

from dataclasses import dataclass
from inspect import signature
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.fit.candidates import Candidates, Directions, candidates, directions
from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.pools import check_row_pool
from cosep.fit.row_uniforms import uniforms
from cosep.fit.sampling import RowSample, draw_sample
from cosep.fit.statistics import Drawn
from cosep.fit.stored_selection import select_once
from cosep.matrix.local import LocalMatrix, stacked
from cosep.matrix.norm import Norm
from cosep.matrix.validation import recheck
from cosep.records.selection import Selection
from cosep.select.pool import Pool
from cosep.utils.types import Array, Indices

# How often all rows are searched for better candidates.
MAX_SEARCHES = 2


class BlockNorm(NamedTuple):
    """What the first passes determine.

    Attributes
    ----------
    drawn : Drawn
        The rows drawn for the sample, and one more.
    norm : Norm
        The norm of the model.
    filled_cols : ndarray of bool
        Which columns are not zero.
    """

    drawn: Drawn
    norm: Norm
    filled_cols: NDArray[np.bool_]


class KnownRows(NamedTuple):
    """Rows that are in memory.

    Attributes
    ----------
    indices : ndarray of int
        Positions in the whole matrix, in ascending order.
    rows : LocalMatrix
    """

    indices: Indices
    rows: LocalMatrix

    def with_more(self, indices: Indices, rows: LocalMatrix) -> "KnownRows":
        """Add rows, some of which may be known already."""
        new = np.flatnonzero(~np.isin(indices, self.indices))
        together = np.concatenate([self.indices, indices[new]])
        order = np.argsort(together)
        return KnownRows(together[order], stacked([self.rows, rows.rows(new)]).rows(order))

    def at(self, indices: Indices) -> LocalMatrix:
        """Return rows by their positions in the whole matrix."""
        return self.rows.rows(np.searchsorted(self.indices, indices))


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleSelection:
    """Rows and columns selected from a sample.

    Attributes
    ----------
    in_sample : Selection
        Rows by their positions in the sample.
    sample : RowSample
    M : LocalMatrix
        The rows of the sample.
    weights : ndarray
        Their weights: how many rows each one stands for, times its own weight.
    norm : Norm
        The norm of the model.
    filled_cols : ndarray of bool
        Which columns are not zero.
    """

    in_sample: Selection
    sample: RowSample
    M: LocalMatrix
    weights: Array
    norm: Norm
    filled_cols: NDArray[np.bool_]

    @property
    def rows(self) -> Indices:
        """The selected rows, by their positions in the sample."""
        return np.asarray(self.in_sample.row_indices)

    @property
    def cols(self) -> Indices:
        """The selected columns."""
        return np.asarray(self.in_sample.col_indices)

    @property
    def selection(self) -> Selection:
        """The same selection by positions in the whole matrix."""
        found = self.in_sample
        return Selection(self.sample.indices[self.rows], self.cols, found.gap, found.n_iter, found.history)

    @property
    def small_norm(self) -> Norm:
        """The norm of the sample as a matrix of its own, whose rows count as often as they stand for others."""
        rows = None if self.norm.rows is None else self.norm.rows[self.sample.indices]
        return self.norm._replace(rows=rows, weights=self.weights)


def select_from_sample(passes: Passes, plan: Plan, scaling: BlockNorm) -> SampleSelection:
    """Select from the sample, search all rows for better candidates, and select again.

    After a search, only rows that count once can be selected: those that were found, and those selected before. A row
    that stands for many others would be preferred for its own noise, which it explains as often as it counts.
    """
    drawn, norm, filled_cols = scaling
    size, by_pool = drawn.max_drawn - 1, "row_pool" in signature(plan.method).parameters
    include, allowed = check_row_pool(plan.row_pool, plan.n_rows, passes.blocks.shape[0])
    certain, competing = include, allowed
    if allowed is not None:
        order = np.argsort(uniforms(allowed, (plan.seed or 0) + 1), kind="stable")
        certain = np.union1d(include, allowed[order[:size]])
    sample = draw_sample(drawn, size, certain)
    known = KnownRows(sample.indices, passes.rows("sample", sample.indices))
    for search in range(MAX_SEARCHES + 1):
        M = known.at(sample.indices)
        D = norm.row_factors(M, sample.indices)
        A = M.scaled(D, norm.cols)
        weights = sample.counts * norm.weights_of(M, sample.indices)
        pool = _pool_in_sample(sample.indices, include, competing)
        selection, caught = select_once(passes, plan, recheck(A), (D, weights), pool)
        if search == MAX_SEARCHES or drawn.has_all:
            break
        Z = A.scaled(np.sqrt(weights), np.ones(A.shape[1]))
        where = Directions(
            *directions(Z, np.asarray(selection.row_indices)), norm.cols, _searched(allowed, norm.weights)
        )
        best: Candidates = passes.reduce("candidates", Candidates, candidates, where)
        if np.isin(best.found, certain).all():
            break
        known = known.with_more(best.found, best.rows)
        certain = np.unique(np.concatenate([certain, best.found, sample.indices[selection.row_indices]]))
        competing = certain if by_pool and len(certain) >= plan.n_rows else allowed
        sample = draw_sample(drawn, size, certain)
    for warning in caught:
        warning.issue()
    return SampleSelection(in_sample=selection, sample=sample, M=M, weights=weights, norm=norm, filled_cols=filled_cols)


def _searched(allowed: Indices | None, weights: Array | None) -> Indices | None:
    """Return which rows to search for candidates: those that may be selected and count; None for all."""
    if weights is None:
        return allowed
    counted = np.flatnonzero(weights)
    return counted if allowed is None else np.intersect1d(allowed, counted)


def _pool_in_sample(sampled: Indices, include: Indices, competing: Indices | None) -> Pool | None:
    """Return the pool of rows by their positions in the sample; ``competing`` may be selected, None for all."""
    if competing is None and not len(include):
        return None
    positions = None if competing is None else np.flatnonzero(np.isin(sampled, competing))
    return Pool(positions, np.searchsorted(sampled, include))
