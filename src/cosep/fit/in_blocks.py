"""A matrix in blocks of rows enters; chosen rows and columns and the factors of the short side leave.

Few passes over the data, whose number does not depend on its size: one for statistics and a random sample of rows, one
that fetches the sample, `SEARCHES` that look for candidates among all rows, at most `MOST_STEPS` for the factors, and
one that measures. In between, everything happens on the sample, a small weighted problem.

Notation
--------
S : the core; P2 : refitted factor of the columns, H = S P2; V : weights of the columns; F : topics for the clusters
"""

from typing import Any, NamedTuple

import numpy as np

from cosep.fit.choice import Choice, Plan, choose
from cosep.fit.clusters import cluster_factors, label, unit
from cosep.fit.factors import Fitted, Outcome, Short, Sums, balanced, long_factors, outcome, row_shares, sums
from cosep.fit.passes import Passes
from cosep.fit.statistics import Drawing, Statistics, statistics
from cosep.matrix.blocks import Column, RowBlocks
from cosep.matrix.checks import SAFE_EXPONENT
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import inverse
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.selection import Selection
from cosep.solve.alternation import alternate, half_squared_error_of
from cosep.solve.mix import mix
from cosep.solve.nonnegative import nonnegative_of
from cosep.utils.precision import narrow, stored
from cosep.utils.ties import assigned_components, first_largest
from cosep.utils.types import Array, Indices

# Rows of the sample, unless they hold more entries than this: 128 MB of numbers, and as many indices if it is sparse.
MOST_SAMPLED, MOST_ENTRIES = 8192, 1 << 24
# A sample has at least so many times the rows that are to be chosen.
LEAST_TIMES = 8
# Alternations over all of the data, from factors that are fitted to the sample.
MOST_STEPS = 4


class LargeFit(NamedTuple):
    """What was found: the selection, all that explains a row, P2, clusters of columns, and how much is explained.

    ``indices`` and ``rows`` are the sample that it was found on.
    """

    selection: Selection
    fitted: Fitted
    P2: Array
    col_labels: Indices
    partners: Indices
    fidelity: Fidelity
    relative_error: float
    norm: float
    objective: list[float]
    indices: Indices
    rows: Any
    n_passes: int


def fit_blocks(passes: Passes, plan: Plan) -> LargeFit:
    """Choose rows and columns of a matrix in blocks and fit the factors, ``X ~ P1 X(rows, cols) P2``."""
    size = max(MOST_SAMPLED if plan.sampled is None else plan.sampled, LEAST_TIMES * plan.n_rows)
    found: Statistics = passes.fold("statistics", Statistics, statistics, Drawing(plan.seed, size + 1))
    check_statistics(found)
    if plan.sampled is None:
        room = int(np.searchsorted(np.cumsum(found.stored), MOST_ENTRIES, side="right"))
        size = max(min(size, room), LEAST_TIMES * plan.n_rows)
        found = found.with_fewer(size + 1)
    choice = choose(passes, plan, found, size)
    return fit_chosen(passes, plan, found, choice)


def check_statistics(found: Statistics) -> None:
    """Refuse a matrix of zeros, and one whose squares leave the range of floats."""
    if found.largest == 0:
        msg = "X has no nonzero entry to factor; pass data with at least one positive entry."
        raise ValueError(msg)
    if abs(int(np.frexp(found.largest)[1])) > SAFE_EXPONENT:
        msg = (
            f"X has a largest entry of {found.largest:g}, whose squares are no floats; in blocks it must be within "
            f"2**-{SAFE_EXPONENT} and 2**{SAFE_EXPONENT}: multiply X by a constant."
        )
        raise ValueError(msg)


def fit_chosen(passes: Passes, plan: Plan, found: Statistics, choice: Choice) -> LargeFit:
    """Fit the factors of the chosen rows and columns to the sample, then to all rows, and measure."""
    rows, cols, counts = choice.rows, choice.cols, np.sqrt(choice.sample.counts)
    R = choice.M.take(rows=rows)
    S, n = R[:, cols], len(found.sums)
    total, col_scale = float(found.squares.sum()), np.sqrt(inverse(found.sums))
    weighted = choice.M.scaled(counts, np.ones(n))
    start = mix(weighted.values, Selection(rows, cols), max_iter=plan.mixing.max_iter, tol=plan.mixing.tol)
    A = balanced(choice.M, col_scale)
    pairs = cluster_factors(A.scaled(counts, np.ones(n)), rows, cols, plan.labelling)
    topics, strengths, V = tuple(pair[1] for pair in pairs), np.ones(0), np.zeros((n, len(cols)))
    first = True

    def advance(P2: Array, V: Array) -> tuple[Array, Array, float]:
        nonlocal topics, strengths, first
        short = Short(S, cols if first else cols[:0], S @ P2, topics, col_scale)
        grams, products = passes.fold("factors", Sums, sums, short)
        if first:
            V, first = nonnegative_of(grams[1], products[1], V, exact=True), False
        strengths = np.sqrt(np.diagonal(grams[-1]))
        topics = tuple(nonnegative_of(G, B, F) for G, B, F in zip(grams[2:], products[2:], topics, strict=True))
        P2 = nonnegative_of(grams[0], products[0], P2.T).T
        return P2, V, half_squared_error_of(total, grams[0], products[0], P2.T)

    budget = plan.mixing._replace(max_iter=min(plan.mixing.max_iter, MOST_STEPS))
    P2, V, objective = alternate(advance, np.asarray(start.col_factor, dtype=np.float64), V, np.inf, budget)
    of_cols = topics[-1] * strengths
    of_cols = of_cols[:, assigned_components(of_cols[cols])]
    order = assigned_components(row_shares(LocalMatrix(A.values[rows]), topics[0]))
    P2 = stored(P2, passes.blocks.dtype)
    H = stored(S @ P2, passes.blocks.dtype)
    fitted = Fitted(S, cols, H, R, V.T, topics[0][:, order], col_scale, unit(of_cols))
    measured: Outcome = passes.fold("outcome", Outcome, outcome, fitted)
    errors = np.sqrt(measured.errors / total)
    selection = choice.selection
    return LargeFit(
        selection=Selection(choice.sample.indices[rows], cols, selection.gap, selection.n_iter, selection.history),
        fitted=fitted._replace(strongest=int(first_largest(measured.squared_shares))),
        P2=P2,
        col_labels=label(of_cols, found.sums),
        partners=first_largest(measured.meetings),
        fidelity=Fidelity(*(1.0 - errors[:3]).tolist()),
        relative_error=float(errors[3]),
        norm=float(np.sqrt(total)),
        objective=[*objective[1:-1], float(errors[3] ** 2 / 2)],
        indices=choice.sample.indices,
        rows=choice.M.values,
        n_passes=passes.count,
    )


def along_rows(blocks: RowBlocks, fit: LargeFit) -> tuple[Any, Any, Any]:
    """Return P1, the faithful weights U and the clusters of all rows; of Dask blocks as lazy arrays."""
    r1 = len(fit.fitted.S)
    columns = [Column(r1, blocks.dtype), Column(r1, blocks.dtype), Column(None, np.dtype(np.intp))]
    P1, U, labels = blocks.along(long_factors, fit.fitted, columns)
    return P1, U, labels


def on_sample(fit: LargeFit, dtype: np.dtype[Any]) -> Factorization:
    """Return the factors as a record of a matrix of its own: the rows of the sample, all columns."""
    P1, U, labels = long_factors(fit.fitted, LocalMatrix(fit.rows), 0)
    selection = fit.selection
    return Factorization(
        row_factor=narrow(P1, dtype),
        core=narrow(fit.fitted.S, dtype),
        col_factor=narrow(fit.P2, dtype),
        selection=Selection(
            np.searchsorted(fit.indices, np.asarray(selection.row_indices)),
            selection.col_indices,
            selection.gap,
            selection.n_iter,
            selection.history,
        ),
        row_weights=narrow(U, dtype),
        col_weights=narrow(fit.fitted.V, dtype),
        row_labels=labels,
        col_labels=fit.col_labels,
        meta={"objective": fit.objective},
    )
