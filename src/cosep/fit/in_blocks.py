"""The steps of a fit for a matrix in blocks of rows.

Few passes over the data, whose number does not depend on its size: one for statistics, one that draws a random
sample of rows, one that fetches it, up to `MAX_SEARCHES` that search all rows for candidates, up to `MAX_STEPS`
for the factors, and one that measures. Everything else happens on the sample, a small weighted problem.
"""

import numpy as np

from cosep.fit.column_factors import ColumnFactors, fit_columns
from cosep.fit.explainer import RowExplainer, factors_of_rows
from cosep.fit.outcome import MeasuredSide, Outcome, outcome
from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult, SampleResult
from cosep.fit.sample_selection import BlockNorm, SampleSelection, select_from_sample
from cosep.fit.statistics import Draw, Drawn, Statistics, drawn_rows, statistics
from cosep.matrix.norm import GIVEN, Norm, RowRule
from cosep.matrix.row_blocks import Column, RowBlocks
from cosep.matrix.scaling import Sums, check_counted, norm_by_sums
from cosep.matrix.validation import SAFE_EXPONENT
from cosep.metrics.bounds import bound_of
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.solve.labels import factor_labels, partner_clusters
from cosep.solve.mixtures import components_of
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Indices

# Default size of the sample, unless its rows hold more entries than this: 128 MB of numbers, and of indices if sparse.
DEFAULT_SAMPLE, MAX_SAMPLE_ENTRIES = 8192, 1 << 24
# The sample has at least this many times the rows that are to be selected.
MIN_SAMPLE_RATIO = 8


class InBlocks:
    """Scale, select, mix and measure a matrix in blocks of rows; see `cosep.fit.pipeline.Steps`."""

    def __init__(self, blocks: RowBlocks, plan: Plan) -> None:
        self.blocks = blocks
        self.plan = plan
        self.passes = Passes(blocks, plan.checkpoint, plan.callback)

    def scale(self) -> BlockNorm:
        """Find the norm, and draw rows for the sample: in a pass of its own if the norm is not known before the first.

        If the sample has room for all rows, it does not matter by which norm they are drawn.
        """
        plan, (m, n) = self.plan, self.blocks.shape
        seed = plan.seed or 0
        size = max(DEFAULT_SAMPLE if plan.sample_size is None else plan.sample_size, MIN_SAMPLE_RATIO * plan.n_rows)
        by_sums = plan.scaling if isinstance(plan.scaling, str) else None
        at_once = by_sums is None or m <= size
        draw = Draw(seed, size + 1 if at_once else 0, _norm_before(plan, n))
        found: Statistics = self.passes.reduce("statistics", Statistics, statistics, draw)
        _check_statistics(found)
        check_counted(found.n_filled, plan.weights)
        norm, drawn = draw.norm, self._limited(found.drawn)
        if by_sums is not None:
            sums = Sums(found.col_sums, found.n_filled, found.col_counts, found.row_squares)
            norm = norm_by_sums(by_sums, sums)._replace(weights=plan.weights)
            if not drawn.has_all:
                draw = Draw(seed, size + 1, norm)
                drawn = self._limited(self.passes.reduce("draw", Drawn, drawn_rows, draw))
        return BlockNorm(drawn, norm, found.col_sums > 0)

    def _limited(self, drawn: Drawn) -> Drawn:
        """Return fewer drawn rows if the default number has too many entries."""
        if self.plan.sample_size is not None or not drawn.max_drawn:
            return drawn
        room = int(np.searchsorted(np.cumsum(drawn.stored), MAX_SAMPLE_ENTRIES, side="right"))
        return drawn.fewer(min(drawn.max_drawn, max(room, MIN_SAMPLE_RATIO * self.plan.n_rows) + 1))

    def select(self, scaled: BlockNorm) -> SampleSelection:
        """Select rows and columns of the scaled sample, and of the best rows that are found among all."""
        return select_from_sample(self.passes, self.plan, scaled)

    def mix(self, chosen: SampleSelection) -> ColumnFactors:
        """Fit the factors of the columns to the sample, then to all rows."""
        return fit_columns(self.passes, self.plan, chosen)

    def measure(self, chosen: SampleSelection, factors: ColumnFactors) -> FitResult:
        """Measure all rows, cluster the columns, and find the factors and clusters of the rows."""
        P2, norm = stored(factors.col_factor, self.blocks.dtype), chosen.norm
        explainer = RowExplainer(
            core=factors.core,
            col_indices=chosen.cols,
            components=stored(factors.core @ P2, self.blocks.dtype),
            selected_rows=factors.selected_rows,
            col_weights=factors.col_weights,
            norm=norm,
        )
        side = MeasuredSide(explainer, factors.space.directions)
        measured: Outcome = self.passes.reduce("outcome", Outcome, outcome, side)
        *errors, total = measured.squared_errors.tolist()
        *plain_errors, plain_total = measured.plain_squared_errors.tolist()
        objective = [*factors.objective[:-1], errors[3] / total / 2.0]
        col_labels = factor_labels(P2.T, np.sqrt(measured.strengths), chosen.filled_cols)
        sampled = self._sample(chosen, explainer, factors, col_labels, objective)
        core, col_factor = np.asarray(sampled.factorization.core), sampled.factorization.col_factor
        squares = factors.space.after(measured.products).squares(max(core.shape))
        P1, U, labels = self._explain_all(explainer)
        result = FitResult(
            selection=chosen.selection,
            core=core,
            row_factor=P1,
            col_factor=col_factor,
            components=components_of(core, col_factor),
            row_weights=U,
            col_weights=np.asarray(sampled.factorization.col_weights),
            row_labels=labels,
            col_labels=col_labels,
            partner_clusters=partner_clusters(core, np.linalg.norm(P2 * norm.cols, axis=1)),
            fidelity=Fidelity(*(1.0 - error / total for error in errors)),
            plain_fidelity=Fidelity(*(1.0 - error / plain_total for error in plain_errors)),
            bound=bound_of(squares, total, *core.shape),
            error=float(np.sqrt(errors[3])),
            norm_of_data=float(np.sqrt(total)),
            objective=objective,
            dtype=self.blocks.dtype,
            norm=norm,
            panel=factors.panel,
            col_names=self.plan.col_names,
            sample=sampled,
            explainer=explainer,
            n_passes=self.passes.count,
        )
        self.passes.finish()  # last: reading names or rows can fail
        return result

    def _sample(
        self,
        chosen: SampleSelection,
        explainer: RowExplainer,
        factors: ColumnFactors,
        col_labels: Indices,
        objective: list[float],
    ) -> SampleResult:
        """Return the sampled rows with their factors."""
        P1, U, labels = factors_of_rows(explainer, chosen.M, 0)
        dtype, row_names = self.blocks.dtype, self.blocks.row_names
        factorization = Factorization(
            row_factor=narrow(P1, dtype),
            core=narrow(explainer.core, dtype),
            col_factor=narrow(stored(factors.col_factor, dtype), dtype),
            selection=chosen.in_sample,
            row_weights=narrow(U, dtype),
            col_weights=narrow(explainer.col_weights, dtype),
            row_labels=labels,
            col_labels=col_labels,
            row_names=None if row_names is None else row_names(chosen.sample.indices),
            col_names=self.plan.col_names,
            scaling=explainer.norm.scaling_of(chosen.M, chosen.sample.indices),
            panel=factors.panel,
            meta={"objective": objective},
        )
        return SampleResult(indices=chosen.sample.indices, rows=chosen.M, factorization=factorization)

    def _explain_all(self, explainer: RowExplainer) -> tuple[object, object, object]:
        """Return the factors, weights and clusters of all rows; lazy arrays if Dask evaluates the blocks."""
        r, dtype = len(explainer.core), self.blocks.dtype
        columns = [Column(r, dtype), Column(r, dtype), Column(None, np.dtype(np.intp))]
        P1, U, labels = self.blocks.map_rows(factors_of_rows, explainer, columns)
        return P1, U, labels


def _norm_before(plan: Plan, n: int) -> Norm:
    """Return the norm as far as it is known before the first pass over n columns."""
    norm = Norm(None, np.ones(n), RowRule())
    if isinstance(plan.scaling, tuple):
        norm = Norm(GIVEN, plan.scaling[1], RowRule(), plan.scaling[0])
    return norm._replace(weights=plan.weights)


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
