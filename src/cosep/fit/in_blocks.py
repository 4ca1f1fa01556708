"""The steps of a fit for a matrix in blocks of rows.

Few passes over the data, whose number does not depend on its size: one for statistics and the drawing of a random
sample of rows, one that fetches the sample, up to `MAX_SEARCHES` that search all rows for candidates, up to `MAX_STEPS`
for the factors, and one that measures. Everything else happens on the sample, a small weighted problem.
"""

from typing import NamedTuple

import numpy as np

from cosep.fit.clusters import label, unit
from cosep.fit.column_factors import ColumnFactors, fit_columns
from cosep.fit.explainer import RowExplainer, balanced, factors_of_rows, row_shares
from cosep.fit.outcome import Outcome, outcome
from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult, SampleResult
from cosep.fit.sample_selection import BlockScaling, SampleSelection, select_from_sample
from cosep.fit.statistics import Draw, Statistics, statistics
from cosep.matrix.row_blocks import Column, RowBlocks
from cosep.matrix.scaling import POWERS, inverse
from cosep.matrix.validation import SAFE_EXPONENT
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.solve.mixtures import components_of
from cosep.utils.precision import narrow, stored
from cosep.utils.ties import assigned_components, first_largest
from cosep.utils.types import Array, Indices

# Default size of the sample, unless its rows hold more entries than this: 128 MB of numbers, and of indices if sparse.
DEFAULT_SAMPLE, MAX_SAMPLE_ENTRIES = 8192, 1 << 24
# The sample has at least this many times the rows that are to be selected.
MIN_SAMPLE_RATIO = 8


class ColumnClusters(NamedTuple):
    """Clusters of columns, and the topics by which rows are clustered.

    Attributes
    ----------
    topics : ndarray of shape (n, n_rows)
        Topics of the clusters of rows, in the order of the selected rows.
    col_shares : ndarray of shape (n, n_cols)
        The share of each column in each cluster of columns.
    col_labels : ndarray of int
        The cluster of each column.
    """

    topics: Array
    col_shares: Array
    col_labels: Indices


class InBlocks:
    """Scale, select, mix, label and measure a matrix in blocks of rows; see `cosep.fit.pipeline.Steps`."""

    def __init__(self, blocks: RowBlocks, plan: Plan) -> None:
        self.blocks = blocks
        self.plan = plan
        self.passes = Passes(blocks, plan.checkpoint, plan.callback)

    def scale(self) -> BlockScaling:
        """Find what columns are multiplied by, and draw rows for the sample."""
        plan, smallest = self.plan, MIN_SAMPLE_RATIO * self.plan.n_rows
        size = max(DEFAULT_SAMPLE if plan.sample_size is None else plan.sample_size, smallest)
        draw = Draw(plan.seed or 0, size + 1)
        found: Statistics = self.passes.reduce("statistics", Statistics, statistics, draw)
        _check_statistics(found)
        if plan.sample_size is None:
            room = int(np.searchsorted(np.cumsum(found.stored), MAX_SAMPLE_ENTRIES, side="right"))
            size = max(min(size, room), smallest)
            found = found.with_fewer(size + 1)
        row_power, col_power = (0.0, 0.0) if plan.scaling is None else POWERS[plan.scaling]
        return BlockScaling(found, size, row_power, inverse(found.col_sums) ** col_power)

    def select(self, scaled: BlockScaling) -> SampleSelection:
        """Select rows and columns of the scaled sample, and of the best rows that are found among all."""
        return select_from_sample(self.passes, self.plan, scaled)

    def mix(self, chosen: SampleSelection) -> ColumnFactors:
        """Fit the factors of the columns to the sample, then to all rows."""
        return fit_columns(self.passes, self.plan, chosen)

    def label(self, chosen: SampleSelection, factors: ColumnFactors) -> ColumnClusters:
        """Cluster the columns, and put the topics of rows in the order of the selected rows."""
        shares = factors.topics[-1] * factors.strengths
        shares = shares[:, assigned_components(shares[chosen.cols])]
        selected = balanced(chosen.M.rows(chosen.rows), factors.col_scale)
        order = assigned_components(row_shares(selected, factors.topics[0]))
        return ColumnClusters(factors.topics[0][:, order], shares, label(shares, chosen.statistics.col_sums))

    def measure(self, chosen: SampleSelection, factors: ColumnFactors, clusters: ColumnClusters) -> FitResult:
        """Measure all rows, and find their factors."""
        P2 = stored(factors.col_factor, self.blocks.dtype)
        explainer = RowExplainer(
            core=factors.core,
            col_indices=chosen.cols,
            components=stored(factors.core @ P2, self.blocks.dtype),
            selected_rows=factors.selected_rows,
            col_weights=factors.col_weights,
            topics=clusters.topics,
            col_scale=factors.col_scale,
            col_shares=unit(clusters.col_shares),
        )
        measured: Outcome = self.passes.reduce("outcome", Outcome, outcome, explainer)
        explainer = explainer._replace(strongest=int(first_largest(measured.squared_shares)))
        total = float(chosen.statistics.col_squares.sum())
        norm, errors = float(np.sqrt(total)), np.sqrt(measured.squared_errors / total)
        objective = [*factors.objective[:-1], float(errors[3] ** 2 / 2)]
        sampled = self._sample(chosen, explainer, P2, clusters.col_labels, objective)
        factorization = sampled.factorization
        P1, U, labels = self._explain_all(explainer)
        result = FitResult(
            selection=chosen.selection,
            core=np.asarray(factorization.core),
            row_factor=P1,
            col_factor=factorization.col_factor,
            components=components_of(np.asarray(factorization.core), factorization.col_factor),
            row_weights=U,
            col_weights=np.asarray(factorization.col_weights),
            row_labels=labels,
            col_labels=clusters.col_labels,
            partner_clusters=first_largest(measured.meetings),
            fidelity=Fidelity(*(1.0 - errors[:3]).tolist()),
            relative_error=float(errors[3]),
            error=float(errors[3]) * norm,
            norm=norm,
            objective=objective,
            dtype=self.blocks.dtype,
            col_names=self.plan.col_names,
            sample=sampled,
            explainer=explainer,
            n_passes=self.passes.count,
        )
        self.passes.finish()  # last: reading names or rows can fail
        return result

    def _sample(
        self, chosen: SampleSelection, explainer: RowExplainer, P2: Array, col_labels: Indices, objective: list[float]
    ) -> SampleResult:
        """Return the sampled rows with their factors."""
        P1, U, labels = factors_of_rows(explainer, chosen.M, 0)
        dtype, row_names = self.blocks.dtype, self.blocks.row_names
        factorization = Factorization(
            row_factor=narrow(P1, dtype),
            core=narrow(explainer.core, dtype),
            col_factor=narrow(P2, dtype),
            selection=chosen.in_sample,
            row_weights=narrow(U, dtype),
            col_weights=narrow(explainer.col_weights, dtype),
            row_labels=labels,
            col_labels=col_labels,
            row_names=None if row_names is None else row_names(chosen.sample.indices),
            col_names=self.plan.col_names,
            meta={"objective": objective},
        )
        return SampleResult(indices=chosen.sample.indices, rows=chosen.M, factorization=factorization)

    def _explain_all(self, explainer: RowExplainer) -> tuple[object, object, object]:
        """Return the factors, weights and clusters of all rows; lazy arrays if Dask evaluates the blocks."""
        r, dtype = len(explainer.core), self.blocks.dtype
        columns = [Column(r, dtype), Column(r, dtype), Column(None, np.dtype(np.intp))]
        P1, U, labels = self.blocks.map_rows(factors_of_rows, explainer, columns)
        return P1, U, labels


def _check_statistics(found: Statistics) -> None:
    """Raise ValueError for a matrix of zeros, and for one whose squares are beyond the range of floats."""
    if found.largest == 0:
        msg = "X has no nonzero entry to factor; pass data with at least one positive entry."
        raise ValueError(msg)
    if abs(int(np.frexp(found.largest)[1])) > SAFE_EXPONENT:
        msg = (
            f"X has a largest entry of {found.largest:g}, whose squares are beyond the range of floats; in blocks it "
            f"must be between 2**-{SAFE_EXPONENT} and 2**{SAFE_EXPONENT}: multiply X by a constant."
        )
        raise ValueError(msg)
