"""The factors of the columns of a matrix in blocks: fitted to the sample, then to all rows by a few passes.

Notation
--------
S : the core; P2 : refitted factor of the columns, H = S P2; V : weights of the columns
E : factors of the columns in the norm of the model; Q2 = P2 E
"""

from typing import NamedTuple

import numpy as np

from cosep.fit.factor_sums import ColumnSide, FactorSums, factor_sums
from cosep.fit.gram_space import EXTRA_DIRECTIONS, GramSpace, start_space
from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.sample_selection import SampleSelection
from cosep.matrix.leading import leading_triplets
from cosep.records.panel_moments import PanelMoments
from cosep.records.selection import Selection
from cosep.solve.alternation import Iterate, half_squared_error_of
from cosep.solve.mix import fit_factors
from cosep.solve.nonnegative import nonnegative_of
from cosep.utils.types import Array

# Largest number of alternations over all rows, from factors that are fitted to the sample.
MAX_STEPS = 4


class ColumnFactors(NamedTuple):
    """Factors of the columns.

    Attributes
    ----------
    core : ndarray of shape (n_rows, n_cols)
        S.
    selected_rows : ndarray of shape (n_rows, n)
    col_factor : ndarray of shape (n_cols, n)
        P2.
    col_weights : ndarray of shape (n_cols, n)
        V.
    objective : list of float
        Half the squared relative error after each accepted alternation.
    space : GramSpace
        Approximates the leading singular vectors of all rows.
    panel : PanelMoments
        Of the columns, over all rows.
    """

    core: Array
    selected_rows: Array
    col_factor: Array
    col_weights: Array
    objective: list[float]
    space: GramSpace
    panel: PanelMoments


def fit_columns(passes: Passes, plan: Plan, chosen: SampleSelection) -> ColumnFactors:
    """Fit the factors of the columns; one pass is one alternation of P2, extrapolated as in `alternate`.

    The first pass also finds V, the moments of the columns, and the error of the factors that fit the sample: it is
    the last if they fit all rows nearly as well. Every pass extends the space of leading singular vectors.
    """
    R = chosen.M.take(rows=chosen.rows)
    S, cols, E = R[:, chosen.cols], chosen.cols, chosen.norm.cols
    Q2, space = fit_to_sample(plan, chosen)
    V = np.zeros((len(E), len(cols)))
    now = Iterate(Q2, None, Q2, (np.inf,))
    budget = plan.mix_budget._replace(max_iter=min(plan.max_iter, MAX_STEPS))
    for step in range(1, budget.max_iter + 1):
        ahead = now.ahead()
        side = ColumnSide(S, cols if step == 1 else cols[:0], S @ (ahead / E), space.directions, chosen.norm)
        total, grams, products, sums = passes.reduce("factors", FactorSums, factor_sums, side)
        if step == 1:
            V = nonnegative_of(grams[1], products[1], V, exact=True)
            panel = sums.moments(cols)
            now = now._replace(objective=(half_squared_error_of(total, grams[0], products[0], Q2.T),))
        space = space.after(products[2])
        Q2 = nonnegative_of(grams[0], products[0], np.zeros_like(ahead.T), exact=True).T
        now = now.after(Q2, None, half_squared_error_of(total, grams[0], products[0], Q2.T), budget.tol)
        budget.report(step, now)
        if now.done:
            break
    return ColumnFactors(S, R, now.P1 / E, V.T / E, list(now.objective[1:]), space, panel)


def fit_to_sample(plan: Plan, chosen: SampleSelection) -> tuple[Array, GramSpace]:
    """Return Q2 for the weighted sample, and its leading singular vectors."""
    scaling = chosen.small_norm.scaling_of(chosen.M)
    selection, budget = Selection(chosen.rows, chosen.cols), plan.mix_budget._replace(callback=None)
    start = fit_factors(chosen.M, selection, scaling, budget, chosen.weights)
    A = chosen.M if scaling is None else scaling.apply(chosen.M).mantissa
    k = max(len(chosen.rows), len(chosen.cols)) + EXTRA_DIRECTIONS
    vectors = leading_triplets(A, min(k, *A.shape))[2]
    return np.asarray(start.col_factor, dtype=np.float64) * chosen.norm.cols, start_space(vectors)
