"""The steps of a fit for a matrix in memory."""

from typing import Any, NamedTuple

import numpy as np

from cosep.fit.panel_sums import moments_in_memory
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult
from cosep.fit.selector import select
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm
from cosep.matrix.scaling import norm_of
from cosep.metrics.bounds import fidelity_bound
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.selection import Selection
from cosep.solve.labels import partner_clusters
from cosep.solve.mix import fit_factors
from cosep.solve.mixtures import components_of


class ScaledMatrix(NamedTuple):
    """The matrix in the norm of the model.

    Attributes
    ----------
    norm : Norm
    A : LocalMatrix
        The matrix times the factors of rows and columns, without weights of rows.
    """

    norm: Norm
    A: LocalMatrix


class Chosen(NamedTuple):
    """The selected rows and columns.

    Attributes
    ----------
    norm : Norm
    selection : Selection
    bound : Fidelity
        What no selection of this size could exceed.
    """

    norm: Norm
    selection: Selection
    bound: Fidelity


class InMemory:
    """Scale, select, mix and measure a matrix in memory; see `cosep.fit.pipeline.Steps`."""

    def __init__(self, M: LocalMatrix, plan: Plan) -> None:
        self.M = M
        self.plan = plan

    def scale(self) -> ScaledMatrix:
        """Find the norm, and return the scaled matrix."""
        norm = norm_of(self.M, self.plan.scaling, self.plan.weights)
        scaling = norm._replace(weights=None).scaling_of(self.M)
        return ScaledMatrix(norm, (self.M if scaling is None else scaling.apply(self.M)).mantissa)

    def select(self, scaled: ScaledMatrix) -> Chosen:
        """Select rows and columns of the scaled matrix."""
        (norm, A), plan = scaled, self.plan
        found = select(plan, A, norm.row_factors(self.M), norm.weights, plan.n_rows, plan.row_pool)
        if norm.weights is not None:
            A = A.scaled(np.sqrt(norm.weights), np.ones(A.shape[1]))
        bound = fidelity_bound(A, len(np.asarray(found.row_indices)), len(np.asarray(found.col_indices)))
        return Chosen(norm, found, bound)

    def mix(self, chosen: Chosen) -> Factorization:
        """Fit factors, weights and clusters."""
        norm, budget = chosen.norm, self.plan.mix_budget
        return fit_factors(self.M, chosen.selection, norm.scaling_of(self.M), budget, norm.weights)

    def measure(self, chosen: Chosen, factors: Factorization) -> FitResult:
        """Measure fidelities and errors."""
        M, core = self.M, np.asarray(factors.core)
        errors = [part or 0.0 for part in factors.relative_errors(M)]
        fidelity = Fidelity(*(1.0 - part * part for part in errors))
        plain = fidelity if chosen.norm.name is None else factors.plain_fidelity(M)
        scaled = M if factors.scaling is None else factors.scaling.apply(M)
        norm = np.sqrt(scaled.squared_norm())
        return FitResult(
            selection=chosen.selection,
            core=core,
            row_factor=factors.row_factor,
            col_factor=factors.col_factor,
            components=components_of(core, factors.col_factor),
            row_weights=np.asarray(factors.row_weights),
            col_weights=np.asarray(factors.col_weights),
            row_labels=np.asarray(factors.row_labels),
            col_labels=np.asarray(factors.col_labels),
            partner_clusters=partner_clusters(core, _strengths(factors, chosen.norm)),
            fidelity=fidelity,
            plain_fidelity=plain,
            bound=chosen.bound,
            error=float(scaled.in_units(errors[-1] * norm)),
            norm_of_data=float(scaled.in_units(norm)),
            objective=factors.meta["objective"],
            dtype=M.dtype,
            norm=chosen.norm,
            panel=moments_in_memory(M, np.asarray(chosen.selection.col_indices), chosen.norm.weights),
            scaling=factors.scaling,
            col_names=self.plan.col_names,
        )


def _strengths(factors: Factorization, norm: Norm) -> Any:
    """Return the norms of the components of columns."""
    return np.linalg.norm(factors.col_factor.astype(np.float64) * norm.cols, axis=1)
