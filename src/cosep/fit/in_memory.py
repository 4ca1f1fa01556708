"""The steps of a fit for a matrix in memory."""

from typing import Any

import numpy as np

from cosep.fit.clusters import Clusters, co_cluster
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult
from cosep.fit.selector import select
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import scale
from cosep.matrix.validation import recheck
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.solve.mix import mix
from cosep.solve.mixtures import components_of


class InMemory:
    """Scale, select, mix, label and measure a matrix in memory; see `cosep.fit.pipeline.Steps`."""

    def __init__(self, M: LocalMatrix, plan: Plan) -> None:
        self.M = M
        self.plan = plan

    def scale(self) -> LocalMatrix:
        """Return the scaled matrix."""
        return self.M if self.plan.scaling is None else recheck(scale(self.M, self.plan.scaling)[0])

    def select(self, scaled: LocalMatrix) -> Selection:
        """Select rows and columns of the scaled matrix."""
        return select(self.plan, scaled, self.plan.n_rows, self.plan.row_pool)

    def mix(self, selection: Selection) -> Factorization:
        """Fit factors and weights."""
        plan = self.plan
        return mix(self.M, selection, max_iter=plan.max_iter, tol=plan.tol, callback=plan.callback)

    def label(self, selection: Selection, _factors: Factorization) -> Clusters:
        """Cluster rows and columns."""
        rows, cols = np.asarray(selection.row_indices), np.asarray(selection.col_indices)
        return co_cluster(self.M, rows, cols, self.plan.label_budget)

    def measure(self, selection: Selection, factors: Factorization, clusters: Clusters) -> FitResult:
        """Measure fidelities and errors."""
        core: Any = np.asarray(factors.core)
        relative_error, norm = factors.relative_error(self.M), np.sqrt(self.M.squared_norm())
        return FitResult(
            selection=selection,
            core=core,
            row_factor=factors.row_factor,
            col_factor=factors.col_factor,
            components=components_of(core, factors.col_factor),
            row_weights=np.asarray(factors.row_weights),
            col_weights=np.asarray(factors.col_weights),
            row_labels=clusters.row_labels,
            col_labels=clusters.col_labels,
            partner_clusters=clusters.partners,
            fidelity=factors.fidelity(self.M),
            relative_error=relative_error,
            error=float(self.M.in_units(relative_error * norm)),
            norm=float(self.M.in_units(norm)),
            objective=factors.meta["objective"],
            dtype=self.M.dtype,
            col_names=self.plan.col_names,
        )
