"""The steps of a fit for a matrix in memory of which some entries are missing.

The gaps are first filled by a nonnegative factorization of the observed entries. Rows and columns are selected from the
filled matrix. Then the factors are fitted to the observed entries; the core keeps what its own gaps were filled with.
"""

from typing import NamedTuple

import numpy as np

from cosep.fit.panel_sums import moments_in_memory
from cosep.fit.plan import Plan
from cosep.fit.result import FitResult
from cosep.fit.selector import select
from cosep.matrix.checks import check_nonzero
from cosep.matrix.completed import Completed
from cosep.matrix.missing import check_observed
from cosep.matrix.norm import Norm, Scaling
from cosep.matrix.observed import Observed
from cosep.matrix.scaling import norm_of
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.gaps import Gaps
from cosep.records.selection import Selection
from cosep.solve.alternation import Budget
from cosep.solve.gaps import LowRank, Objective, Profile, RowProblem, best_drawn, low_rank, profile_of, refit_with_gaps
from cosep.solve.labels import factor_labels, partner_clusters
from cosep.solve.mixtures import components_of
from cosep.utils.precision import narrow, stored
from cosep.utils.types import Array


class Measure(NamedTuple):
    """The norm of the model.

    Attributes
    ----------
    norm : Norm
    scaling : Scaling or None
        The norm as a record; None for the plain one.
    unweighted, cols : ndarray
        Its factors of rows and of columns.
    roots : ndarray
        The roots of the weights of rows.
    row_factors : ndarray
        Its factors of rows, relative to the rule of the norm.
    drawn : float
        By how many entries the levels of the profile are drawn to their mean.
    """

    norm: Norm
    scaling: Scaling | None
    unweighted: Array
    cols: Array
    roots: Array
    row_factors: Array
    drawn: float

    @property
    def rows(self) -> Array:
        """Its factors of rows with the roots of their weights."""
        return self.unweighted * self.roots


class Chosen(NamedTuple):
    """The selected rows and columns, and what the gaps were filled by."""

    measure: Measure
    selection: Selection
    fill: LowRank


class Fitted(NamedTuple):
    """The factors, and the norm and the profile that they were fitted with."""

    factors: Factorization
    profile: Profile


class WithGaps:
    """Scale, select, mix and measure a matrix with gaps; see `cosep.fit.pipeline.Steps`."""

    def __init__(self, X: Observed, plan: Plan) -> None:
        self.X = X
        self.plan = plan

    def scale(self) -> Measure:
        """Find the norm: that of the matrix whose gaps are filled by its profile."""
        check_observed(self.X)
        first = self._measure(0.0)
        return self._measure(best_drawn(self.X, (first.rows, first.cols), self.plan.weights))

    def _measure(self, drawn: float) -> Measure:
        """Return the norm for a profile whose levels are drawn to their mean by so many entries."""
        X, plan = self.X, self.plan
        profile = profile_of(X, plan.weights, drawn)
        filled = X.completed(profile.rows[:, None], profile.cols[None])
        norm = norm_of(filled, plan.scaling, plan.weights)
        plain = norm._replace(weights=None).scaling_of(filled)
        D, E = (np.ones(X.shape[0]), np.ones(X.shape[1])) if plain is None else plain.unit()
        roots = np.sqrt(norm.weights_of(filled))
        return Measure(norm, norm.scaling_of(filled), D, E, roots, norm.row_factors(filled), drawn)

    def select(self, measure: Measure) -> Chosen:
        """Fill the gaps, and select rows and columns of the filled matrix."""
        X, plan, norm = self.X, self.plan, measure.norm
        budget = Budget("fill", plan.max_iter, plan.tol, plan.callback)
        rank = min(plan.n_rows, plan.n_cols)
        fill = low_rank(X, (measure.rows, measure.cols), rank, norm.weights, measure.drawn, budget)
        A = X.completed(fill.W, fill.H, measure.unweighted, measure.cols).mantissa
        check_nonzero(A)
        if plan.method_name is None and isinstance(A, Completed):
            msg = (
                "method: a function of yours cannot select from a sparse matrix with missing entries, which are filled "
                "by a product of thin factors; use a method by name."
            )
            raise ValueError(msg)
        found = select(plan, A, measure.row_factors, norm.weights, plan.n_rows, plan.row_pool)
        return Chosen(measure, found, fill)

    def mix(self, chosen: Chosen) -> Fitted:
        """Fit factors, weights and clusters."""
        X, measure, (W, H, profile, _) = self.X, chosen.measure, chosen.fill
        D, E = measure.rows, measure.cols
        rows, cols = np.asarray(chosen.selection.row_indices), np.asarray(chosen.selection.col_indices)
        start = self._weights_of(W, H, chosen, profile)
        S = X.take(rows, cols, W, H)
        P1, _, objective = refit_with_gaps(X, (D, E), S, start, profile, self.plan.mix_budget)
        # Both factors are solved for from zero: the same of several best ones, as `transform` finds for new rows.
        P2 = stored(RowProblem(X.T, (P1 @ S).T, D, profile.T).solve()[0].T, X.dtype)
        P1, values = RowProblem(X, stored(S @ P2, X.dtype), E, profile).solve()
        objective[-1] = min(objective[-1], Objective(X, D, E, profile).of_rows(values))
        U, V = self._weights_of(P1, S @ P2, chosen, profile)
        M = X.zeroed
        filled = M.T.filled_columns(), M.filled_columns()
        return Fitted(
            Factorization(
                row_factor=narrow(P1, M.dtype),
                core=narrow(M.in_units(S), M.dtype),
                col_factor=narrow(P2, M.dtype),
                selection=chosen.selection,
                row_weights=narrow(U, M.dtype),
                col_weights=narrow(V, M.dtype),
                row_labels=factor_labels(P1, np.linalg.norm(S @ P2 * E, axis=1), filled[0]),
                col_labels=factor_labels(P2.T, np.linalg.norm(D[:, None] * P1 @ S, axis=0), filled[1]),
                scaling=measure.scaling,
                meta={"objective": objective},
            ),
            profile,
        )

    def _weights_of(self, W: Array, H: Array, chosen: Chosen, profile: Profile) -> tuple[Array, Array]:
        """Return every row as a mix of the selected rows, every column as one of the selected columns.

        Gaps of the selected rows and columns are filled by ``W H``.
        """
        X, measure, selection = self.X, chosen.measure, chosen.selection
        R = X.take(np.asarray(selection.row_indices), None, W, H)
        C = X.take(None, np.asarray(selection.col_indices), W, H)
        U = RowProblem(X, R, measure.cols, profile).solve()[0]
        return U, RowProblem(X.T, C.T, measure.rows, profile.T).solve()[0].T

    def measure(self, chosen: Chosen, fitted: Fitted) -> FitResult:
        """Measure fidelities and errors over the observed entries."""
        X, factors, norm = self.X, fitted.factors, chosen.measure.norm
        core = np.asarray(factors.core)
        D, E = chosen.measure.rows, chosen.measure.cols
        fidelity, error, total = self._fidelity(factors, D, E)
        plain = fidelity if norm.name is None else self._fidelity(factors, chosen.measure.roots, np.ones(X.shape[1]))[0]
        S = X.zeroed.in_units(core.astype(np.float64), -1)
        W, H = factors.row_factor.astype(np.float64), S @ factors.col_factor.astype(np.float64)
        cols = np.asarray(chosen.selection.col_indices)
        unit = 1.0 if factors.scaling is None else float(factors.scaling.rows.max() / max(D.max(), 1e-300))
        unit *= 1.0 if factors.scaling is None else float(factors.scaling.cols.max() / E.max())
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
            partner_clusters=partner_clusters(core, np.linalg.norm(factors.col_factor * norm.cols, axis=1)),
            fidelity=fidelity,
            plain_fidelity=plain,
            # What no selection could exceed on the observed entries is not known.
            bound=Fidelity(1.0, 1.0, 1.0, 1.0),
            error=float(X.zeroed.in_units(np.sqrt(error) * unit)),
            norm_of_data=float(X.zeroed.in_units(np.sqrt(total) * unit)),
            objective=factors.meta["objective"],
            dtype=X.dtype,
            norm=norm,
            panel=moments_in_memory(X.completed(W, H), cols, norm.weights),
            scaling=factors.scaling,
            col_names=self.plan.col_names,
            gaps=Gaps(
                n_missing=X.n_missing,
                weight=fitted.profile.weight,
                profile=fitted.profile.cols,
                levels=(fitted.profile.levels.of_sum, fitted.profile.levels.of_profile),
                left_out_error=chosen.fill.left_out_error,
                core=X.is_gap(np.asarray(chosen.selection.row_indices), cols),
            ),
        )

    def _fidelity(self, factors: Factorization, D: Array, E: Array) -> tuple[Fidelity, float, float]:
        """Return the fidelities over the observed entries, the last squared error, and the squared norm."""
        X, selection = self.X, factors.selection
        assert selection is not None  # noqa: S101 - the fit has one
        core = X.zeroed.in_units(np.asarray(factors.core, dtype=np.float64), -1)
        P1, P2, U, V = (
            np.asarray(part, dtype=np.float64)
            for part in (factors.row_factor, factors.col_factor, factors.row_weights, factors.col_weights)
        )
        W, H = P1, core @ P2
        R = X.take(np.asarray(selection.row_indices), None, W, H)
        C = X.take(None, np.asarray(selection.col_indices), W, H)
        total = X.squared_norm(D, E)
        errors = [X.squared_error(*product, D, E) for product in ((U, R), (C, V), (U @ core, V), (W, H))]
        scale = max(total, np.finfo(np.float64).tiny)
        return Fidelity(*(1.0 - error / scale for error in errors)), errors[-1], total
