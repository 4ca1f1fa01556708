"""A matrix in blocks of rows enters; chosen rows and columns and the factors of the short side leave.

Few passes over the data, whose number does not depend on its size: one for statistics and a random sample of rows, one
that fetches the sample, `SEARCHES` that look for candidates among all rows, at most `MOST_STEPS` for the factors, and
one that measures. In between, everything happens on the sample, a small weighted problem for any selector.

Notation
--------
Z : the small problem, rows of the sample times the square roots of what they count
S : the core; P2 : refitted factor of the columns, H = S P2; V : weights of the columns; F : topics for the clusters
"""

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cosep.clusters import cluster_factors, label, own_components, unit
from cosep.factorization import Callback, Factorization, Fidelity, Selection, SelectionWarning, as_tuples
from cosep.large.candidates import Candidates, Directions, candidates, directions
from cosep.large.factors import Fitted, Outcome, Short, Sums, balanced, long_factors, outcome, row_shares, sums
from cosep.large.passes import Passes
from cosep.large.statistics import Drawing, Sample, Statistics, sample_of, statistics, uniforms
from cosep.matrix.blocks import Column, RowBlocks, stack
from cosep.matrix.checks import SAFE_EXPONENT, check_indices
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import Budget, alternate, half_squared_error_of, mix, narrow, nonnegative_of
from cosep.scaling import inverse
from cosep.select.method import refuse_no_selection
from cosep.select.pool import Pool, check_is_pool
from cosep.select.spa import warn_if_fewer

# Rows of the sample, unless they hold more entries than this: 128 MB.
MOST_SAMPLED, MOST_ENTRIES = 8192, 1 << 24
# A sample has at least so many times the rows that are to be chosen.
LEAST_TIMES = 8
# How often all rows are searched for better candidates.
SEARCHES = 2
# Alternations over all of the data, from factors that are fitted to the sample.
MOST_STEPS = 4
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


class LargeFit(NamedTuple):
    """What was found: the selection, all that explains a row, P2, clusters of columns, and how much is explained.

    ``explains`` is the share of the squared norm of X that each chosen row explains; ``indices`` and ``rows`` are the
    sample that it was found on.
    """

    selection: Selection
    fitted: Fitted
    P2: Array
    col_labels: Indices
    partners: Indices
    fidelity: Fidelity
    relative_error: float
    norm: float
    explains: Array
    objective: list[float]
    indices: Indices
    rows: Any
    n_passes: int


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


def fit_blocks(blocks: RowBlocks, plan: Plan, checkpoint: Any = None, callback: Callback | None = None) -> LargeFit:
    """Choose rows and columns of a matrix in blocks and fit the factors, ``X ~ P1 X(rows, cols) P2``."""
    passes = Passes(blocks, checkpoint, callback)
    size = max(MOST_SAMPLED if plan.sampled is None else plan.sampled, LEAST_TIMES * plan.n_rows)
    found: Statistics = passes.fold("statistics", Statistics, statistics, Drawing(plan.seed, size + 1))
    check_statistics(found)
    if plan.sampled is None:
        room = MOST_ENTRIES * blocks.shape[0] // max(found.stored, 1)
        size = max(min(size, room), LEAST_TIMES * plan.n_rows)
        found = found.with_fewer(size + 1)
    choice = choose(passes, plan, found, size)
    fit = fit_chosen(passes, plan, found, choice)
    passes.forget()
    return fit


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
    of_cols = of_cols[:, own_components(of_cols[cols])]
    order = own_components(row_shares(LocalMatrix(A.values[rows]), topics[0]))
    fitted = Fitted(S, cols, S @ P2, R, V.T, topics[0][:, order], col_scale, unit(of_cols))
    measured: Outcome = passes.fold("outcome", Outcome, outcome, fitted)
    errors = np.sqrt(measured.errors / total)
    selection = choice.selection
    return LargeFit(
        selection=Selection(choice.sample.indices[rows], cols, selection.gap, selection.n_iter, selection.history),
        fitted=fitted._replace(strongest=int(measured.squared_shares.argmax())),
        P2=P2,
        col_labels=label(of_cols, found.sums),
        partners=measured.meetings.argmax(axis=1),
        fidelity=Fidelity(*(1.0 - errors[:3]).tolist()),
        relative_error=float(errors[3]),
        norm=float(np.sqrt(total)),
        explains=measured.explains / total,
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
