"""Nonnegative factors of a matrix with gaps.

The objective is the squared error over the observed entries, plus a share w of the squared distance of the filled gaps
from a *profile*: what the level of the row and the share of the column suggest. Few observed entries determine
many weights badly; with w = 0 the gaps would be filled by anything. w is chosen by observed entries that are left out,
and is zero if the factors explain them exactly.

Notation
--------
X : data, m x n; D, E : factors of rows and columns in the norm
a, b : profile, ``a b'`` is of rank one; w : its weight
U : mixtures of the rows, X ~ U H; r : number of components
S : core; P1, P2 : factors, X ~ P1 S P2
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cosep.kernels.gaps import orthant_with_gaps
from cosep.matrix.observed import Observed
from cosep.solve.alternation import Budget, alternate
from cosep.solve.successive_projections import pursue
from cosep.solve.svd_start import svd_start
from cosep.utils.types import Array

# Rounds of the fit of a profile.
PROFILE_ROUNDS = 10
# Weights of gaps that are tried, from the largest to the smallest: each fit starts from the one before.
GAP_WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001, 0.0)
# At these weights, a fit starts from the singular vectors of the filled matrix instead: the start at the first weight,
# when little is known of the gaps, can lead to a poor local minimum.
STARTS = (1.0, 0.1)
# If less than this share of left-out entries is unexplained, the factors may be exact but for a poor local minimum: the
# fit starts again from columns and from rows of the filled matrix, with these weights.
LITTLE_NOISE, SMALL_WEIGHTS = 0.001, (0.01, 0.003, 0.001, 0.0001, 0.0)
# Of more rows than this, the weight is chosen by so many, evenly spread.
MANY_ROWS = 5000
# How many average entries the levels of rows and columns are drawn to their mean by, of which one is chosen.
DRAWN = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
# No smaller weight is tried when the error of left-out entries is larger than the smallest one by this factor.
WORSE = 2.0
# Where left-out entries have a smaller share of unexplained squares, the last fit is as much more precise: on data
# without noise every digit counts, and a selection from rows that are filled roughly is a rough one.
NOISY = 0.1
# The share of observed entries that is left out to choose the weight, the number from which it is smaller, and most.
LEFT_OUT, ENOUGH, MOST = 0.1, 1_000, 100_000
MIN_SHARE = 0.03


# D and E; W and H.
Diagonals = tuple[Array, Array]
Fill = tuple[Array, Array]


class Levels(NamedTuple):
    """How levels of rows are found: sum of the observed entries over sum of the profile there, both with an addition.

    The additions draw the levels of rows with few observed entries to the mean level.
    """

    of_sum: float = 0.0
    of_profile: float = 0.0

    def of(self, sums: Array, shares: Array) -> Array:
        """Return the levels from both sums; 0 for rows without a positive entry."""
        levels = np.zeros_like(sums)
        return np.divide(sums + self.of_sum, shares + self.of_profile, out=levels, where=(sums > 0) & (shares > 0))


def levels_drawn_by(added: float, sums: Array, shares: Array, copies: Array) -> Levels:
    """Return the rule that draws levels to their mean, as entries would on which the profile sums to so much."""
    total = float(copies @ shares)
    return Levels(added * float(copies @ sums) / total if total > 0 else 0.0, added)


class Profile(NamedTuple):
    """What gaps are drawn to.

    Attributes
    ----------
    rows, cols : ndarray
        a and b.
    levels : Levels
        The rule for a.
    weight : float
        w, what a gap counts as, relative to an observed entry.
    """

    rows: Array
    cols: Array
    levels: Levels = Levels()
    weight: float = 1.0

    @property
    def T(self) -> "Profile":
        """The profile of the transpose."""
        return self._replace(rows=self.cols, cols=self.rows)


def profile_of(X: Observed, copies: Array | None = None, drawn: float = 0.0) -> Profile:
    """Return the profile of a matrix whose rows count as so many copies, by iterative proportional fitting.

    If nothing is ``drawn``, ``a b'`` has the sums of the observed entries of each row and column. Otherwise levels of
    rows and of columns are drawn to their mean, as strongly as so many average entries would.
    """
    m, n = X.shape
    counts = np.ones(m) if copies is None else copies
    row_sums, col_sums, b = X.zeroed.T.sums(), X.zeroed.cross(counts), np.ones(n)
    for step in range(PROFILE_ROUNDS + 1):
        shares = X.observed_sums(b[:, None])[:, 0]
        rule = levels_drawn_by(drawn * float(b.mean()), row_sums, shares, counts)
        a = rule.of(row_sums, shares)
        if step < PROFILE_ROUNDS:
            shares = X.T.observed_sums((a * counts)[:, None])[:, 0]
            mean = float(a @ counts) / float(counts.sum())
            b = levels_drawn_by(drawn * mean, col_sums, shares, np.ones(n)).of(col_sums, shares)
    return Profile(a, b, rule)


def row_levels(X: Observed, b: Array, levels: Levels) -> Array:
    """Return the level of each row, given the profile of the columns."""
    return levels.of(X.zeroed.T.sums(), X.observed_sums(b[:, None])[:, 0])


class RowProblem:
    """Mixtures of components that explain rows with gaps: ``min ||D (X - U H) E||`` over ``U >= 0``, with a profile.

    Parameters
    ----------
    X : Observed
    H : ndarray of shape (r, n)
    E : ndarray of shape (n,)
        Factors of the columns. Those of the rows do not matter.
    profile : Profile
    """

    def __init__(self, X: Observed, H: Array, E: Array, profile: Profile) -> None:
        scaled = np.ascontiguousarray((H * E).T)
        p = profile.cols * E
        listed, products = X.by_rows, np.ascontiguousarray(X.zeroed.dot(scaled * E[:, None]))
        gram = scaled.T @ scaled
        self._parts = (*listed, X.lists_gaps, scaled, gram, products, profile.rows, p, p @ scaled, profile.weight)
        self._shape = X.shape[0], len(H)

    def solve(self, start: Array | None = None) -> tuple[Array, Array]:
        """Return U, and the squared error of each row without a constant; a start makes it faster and less precise."""
        U = np.zeros(self._shape) if start is None else np.array(start, order="C")
        values = np.empty(len(U))
        orthant_with_gaps(*self._parts, start is None, U, values)
        return U, values


class Objective:
    """``1/2 ||D (X - U H) E||^2 / ||D X E||^2`` over the observed entries, with the share of the gaps."""

    def __init__(self, X: Observed, D: Array, E: Array, profile: Profile) -> None:
        self.squares = D**2
        self.total = max(X.squared_norm(D, E), np.finfo(np.float64).tiny)
        gaps = X.gap_sums(((profile.cols * E) ** 2)[:, None])[:, 0]
        self.constant = self.total + profile.weight * float((self.squares * profile.rows**2) @ gaps)

    def of_rows(self, values: Array) -> float:
        """Return the objective from the values of `RowProblem.solve`."""
        return 0.5 * (self.constant + float(self.squares @ values)) / self.total


class LowRank(NamedTuple):
    """Factors that fill the gaps of a matrix, ``X ~ W H``.

    Attributes
    ----------
    W, H : ndarray
    profile : Profile
        With the weight that was chosen.
    left_out_error : float
        The share of squares of the left-out entries that factors of the other entries did not explain.
    """

    W: Array
    H: Array
    profile: Profile
    left_out_error: float


def best_drawn(X: Observed, norm: Diagonals, copies: Array | None) -> float:
    """Return by how many average entries to draw the levels of a profile to their mean, chosen by left-out entries."""
    known, left_out = X.without(_share_left_out(X.n_observed))
    profiles = [profile_of(known, copies, drawn) for drawn in DRAWN]
    return DRAWN[int(np.argmin([left_out.squared_error(one.rows[:, None], one.cols[None], *norm) for one in profiles]))]


def low_rank(X: Observed, norm: Diagonals, r: int, copies: Array | None, drawn: float, budget: Budget) -> LowRank:
    """Fill the gaps by a nonnegative factorization, with a weight of the profile that left-out entries choose.

    Parameters
    ----------
    X : Observed
    norm : tuple of ndarray
        D and E.
    r : int
        Number of components.
    copies : ndarray or None
        How many copies of it each row counts as. None for one.
    drawn : float
        What `best_drawn` returns.
    budget : Budget
    """
    known, left_out = X.without(_share_left_out(X.n_observed))
    profile, profile_of_known = profile_of(X, copies, drawn), profile_of(known, copies, drawn)
    if X.shape[0] >= X.shape[1]:
        return _filled(X, norm, r, (known, left_out), (profile, profile_of_known), budget)
    # The shorter side is updated first, so that the answer for the transpose is the same.
    parts, profiles = (known.T, left_out.T), (profile.T, profile_of_known.T)
    W, H, found, error = _filled(X.T, norm[::-1], r, parts, profiles, budget)
    return LowRank(H.T, W.T, found.T, error)


def _filled(
    X: Observed,
    norm: Diagonals,
    r: int,
    parts: tuple[Observed, Observed],
    profiles: tuple[Profile, Profile],
    budget: Budget,
) -> LowRank:
    """Return what `low_rank` does, given the known and left-out entries, and the profiles of all and the known."""
    error, (W, H), weight = _chosen(X, norm, r, parts, profiles[1], budget)
    profile, budget = profiles[0]._replace(weight=weight), budget._replace(tol=budget.tol * min(error / NOISY, 1.0))
    if len(W) < X.shape[0]:
        W = RowProblem(X, H, norm[1], profile).solve()[0]
    return LowRank(*_fit(X, norm, (W, H), profile, budget), profile, error)


def _chosen(
    X: Observed, norm: Diagonals, r: int, parts: tuple[Observed, Observed], of_known: Profile, budget: Budget
) -> tuple[float, Fill, float]:
    """Return the share of left-out entries that is not explained, factors of at most `MANY_ROWS` rows, and a weight."""
    known, left_out = parts
    if X.shape[0] > MANY_ROWS:
        some = np.linspace(0, X.shape[0] - 1, MANY_ROWS).astype(np.intp)
        X, known, left_out = X.rows(some), known.rows(some), left_out.rows(some)
        norm, of_known = (norm[0][some], norm[1]), of_known._replace(rows=of_known.rows[some])
    total = max(left_out.squared_norm(*norm), np.finfo(np.float64).tiny)

    def descend(fill: Fill, weights: Sequence[float], starts: Sequence[float]) -> tuple[float, Fill, float]:
        best, chosen, at = np.inf, fill, 1.0
        for weight in weights:
            if weight in starts:
                fill = _start(X, norm, r, fill)
            fill = _fit(known, norm, fill, of_known._replace(weight=weight), budget)
            error = left_out.squared_error(*fill, *norm) / total
            if error > WORSE * best:
                break
            if error < best:
                best, chosen, at = error, fill, weight
        return best, chosen, at

    found = descend((of_known.rows[:, None], of_known.cols[None]), GAP_WEIGHTS, STARTS)
    for start in (_from_columns, _from_rows) if found[0] < LITTLE_NOISE else ():
        again = start(X, norm, r, found[1], of_known._replace(weight=SMALL_WEIGHTS[0]))
        found = min(found, descend(again, SMALL_WEIGHTS, ()), key=lambda one: one[0])
    return found


def _from_columns(X: Observed, norm: Diagonals, r: int, fill: Fill, profile: Profile) -> Fill:
    """Return columns of the filled matrix that SPA chooses, and the mixtures of them that explain the others."""
    D, E = norm
    A = X.completed(*fill, D, E).mantissa
    W = A.take(cols=pursue(A, r, np.ones(A.shape[1]))[0]) * _inverse(D)[:, None]
    return W, RowProblem(X.T, W.T, D, profile.T).solve()[0].T


def _from_rows(X: Observed, norm: Diagonals, r: int, fill: Fill, profile: Profile) -> Fill:
    """Return the same for rows."""
    H, W = _from_columns(X.T, norm[::-1], r, (fill[1].T, fill[0].T), profile.T)
    return W.T, H.T


def _start(X: Observed, norm: Diagonals, r: int, fill: Fill) -> Fill:
    """Return the nonnegative parts of the singular vectors of the filled matrix."""
    D, E = norm
    A = X.completed(*fill, D, E).mantissa
    W, H = svd_start(A, min(r, *X.shape))
    return W * _inverse(D)[:, None], H * _inverse(E)


def _share_left_out(n_observed: int) -> float:
    """Return the share of observed entries to leave out."""
    return min(max(min(LEFT_OUT, LEFT_OUT * ENOUGH / n_observed), MIN_SHARE), MOST / n_observed)


def _inverse(factors: Array) -> Array:
    return np.divide(1.0, factors, out=np.zeros_like(factors), where=factors > 0)


def _fit(X: Observed, norm: Diagonals, fill: Fill, profile: Profile, budget: Budget) -> Fill:
    """Lower the objective over W and H from a start."""
    (D, E), (W, H) = norm, fill
    objective = Objective(X, D, E, profile)

    def advance(W: Array, H: Array) -> tuple[Array, Array, float]:
        H = RowProblem(X.T, W.T, D, profile.T).solve(H.T)[0].T
        W, values = RowProblem(X, H, E, profile).solve(W)
        return W, H, objective.of_rows(values)

    W, H, _ = alternate(advance, *advance(W, H), budget)
    return W, H


class Refitted(NamedTuple):
    """Factors of a matrix with gaps, ``X ~ P1 S P2``, and the objective at the start and after each alternation."""

    P1: Array
    P2: Array
    objective: list[float]


def refit_with_gaps(
    X: Observed, norm: Diagonals, S: Array, start: tuple[Array, Array], profile: Profile, budget: Budget
) -> Refitted:
    """Lower the objective over P1 and P2 from a start; ``norm`` are D and E.

    The factor of the shorter side is updated first, so that the answer for the transpose is the same.
    """
    (D, E), (P1, P2) = norm, start
    if X.shape[0] < X.shape[1]:
        found = refit_with_gaps(X.T, (E, D), S.T, (P2.T, P1.T), profile.T, budget)
        return Refitted(found.P2.T, found.P1.T, found.objective)
    objective = Objective(X, D, E, profile)

    def advance(P1: Array, P2: Array) -> tuple[Array, Array, float]:
        P2 = RowProblem(X.T, (P1 @ S).T, D, profile.T).solve(P2.T)[0].T
        P1, values = RowProblem(X, S @ P2, E, profile).solve(P1)
        return P1, P2, objective.of_rows(values)

    return Refitted(*alternate(advance, *advance(P1, P2), budget))
