"""The factors of the columns of a matrix in blocks: fitted to the sample, then to all rows by a few passes.

Notation
--------
S : the core; P2 : refitted factor of the columns, H = S P2; V : weights of the columns
F : topics, by which rows and columns are clustered
"""

from typing import NamedTuple

import numpy as np

from cosep.fit.clusters import cluster_factors
from cosep.fit.explainer import balanced
from cosep.fit.factor_sums import ColumnSide, FactorSums, factor_sums
from cosep.fit.passes import Passes
from cosep.fit.plan import Plan
from cosep.fit.sample_selection import SampleSelection
from cosep.matrix.scaling import inverse
from cosep.matrix.validation import recheck
from cosep.records.selection import Selection
from cosep.solve.alternation import Iterate, half_squared_error_of
from cosep.solve.mix import mix
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
    topics : tuple of ndarray
        One F if there are as many clusters of rows as of columns, otherwise one for rows and one for columns.
    strengths : ndarray
        Norms of what the last F is multiplied by.
    col_scale : ndarray of shape (n,)
        What columns are multiplied by before rows are clustered.
    objective : list of float
        Half the squared relative error after each accepted alternation.
    """

    core: Array
    selected_rows: Array
    col_factor: Array
    col_weights: Array
    topics: tuple[Array, ...]
    strengths: Array
    col_scale: Array
    objective: list[float]


def fit_columns(passes: Passes, plan: Plan, chosen: SampleSelection) -> ColumnFactors:
    """Fit the factors of the columns.

    One pass is one alternation of P2, extrapolated as in `alternate`, and one of the topics. The first pass finds V.
    """
    R = chosen.M.take(rows=chosen.rows)
    S, cols, n = R[:, chosen.cols], chosen.cols, chosen.M.shape[1]
    total, col_scale = float(chosen.statistics.col_squares.sum()), np.sqrt(inverse(chosen.statistics.col_sums))
    P2, topics = fit_to_sample(plan, chosen, col_scale)
    V = np.zeros((n, len(cols)))
    strengths = np.ones(0)
    now = Iterate(P2, None, P2, (np.inf,))
    budget = plan.mix_budget._replace(max_iter=min(plan.max_iter, MAX_STEPS))
    for step in range(1, budget.max_iter + 1):
        ahead = now.ahead()
        side = ColumnSide(S, cols if step == 1 else cols[:0], S @ ahead, topics, col_scale)
        grams, products = passes.reduce("factors", FactorSums, factor_sums, side)
        if step == 1:
            V = nonnegative_of(grams[1], products[1], V, exact=True)
        strengths = np.sqrt(np.diagonal(grams[-1]))
        topics = tuple(nonnegative_of(G, B, F) for G, B, F in zip(grams[2:], products[2:], topics, strict=True))
        P2 = nonnegative_of(grams[0], products[0], ahead.T).T
        now = now.after(P2, None, half_squared_error_of(total, grams[0], products[0], P2.T), budget.tol)
        budget.report(step, now)
        if now.done:
            break
    return ColumnFactors(S, R, now.P1, V.T, topics, strengths, col_scale, list(now.objective[1:]))


def fit_to_sample(plan: Plan, chosen: SampleSelection, col_scale: Array) -> tuple[Array, tuple[Array, ...]]:
    """Return P2 and the topics that fit the weighted sample."""
    counts, same = np.sqrt(chosen.sample.counts), np.ones(chosen.M.shape[1])
    weighted = recheck(chosen.M.scaled(counts, same))
    start = mix(weighted, Selection(chosen.rows, chosen.cols), max_iter=plan.max_iter, tol=plan.tol)
    A = balanced(chosen.M, col_scale).scaled(counts, same)
    pairs = cluster_factors(A, chosen.rows, chosen.cols, plan.label_budget)
    return np.asarray(start.col_factor, dtype=np.float64), tuple(V for _, V in pairs)
