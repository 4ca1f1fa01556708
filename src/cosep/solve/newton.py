"""A matrix enters; the self-dictionary model, solved to a duality gap, leaves.

With normalised columns ``c_t = B_t / w_t``, weights ``om_l = w_l^2`` and ``X(t,l) = w_t Y(t,l) / w_l`` the model is

    min 1/2 sum_l om_l ||c_l - C x_l||^2 + lambda sum_t p_t d_t,    0 <= X(t,l) <= d_t <= 1.

Given d the columns are small independent bounded least-squares problems, and what they leave, F(d), is convex, once
differentiable and piecewise quadratic in the few entries of d that are not zero. Newton's method on F over a working
set of atoms, and a pass over all atoms that either proves optimality or names those that are missing: no n x n matrix,
no step size. Instead of searching for lambda one may prescribe ``sum p_t d_t``; lambda is then a multiplier.
Derivation: docs/theory/newton.md.

Notation
--------
C : normalised columns as atoms; D, om : normalised columns as data, all or a sample, and their weights, scaled so that
    ``sum om ||c||^2 = 1``
A, d : atoms of the working set and their bounds; p : their prices
R : residuals ``c_l - C x_l``; rr = sum om ||R||^2, cr = sum om c'R
s : scores ``sum_l om_l max(0, c_t'R_l)``, minus the derivative of F with respect to ``d_t``
tau : prescribed ``sum p_t d_t``, or None when lambda is prescribed
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.kernels.bounded import bounded_columns
from cosep.kernels.box import minimise_in_box
from cosep.matrix.local import LocalMatrix
from cosep.solve.pursuit import Positions
from cosep.solve.scores import Scores
from cosep.solve.self_dictionary import Report, SelfDictionary, how_it_ended
from cosep.solve.successive_projections import pursue
from cosep.utils.types import Array, Indices

# Columns of a block, and entries of the dense arrays that it needs.
BLOCK, ENTRIES = 4096, 1 << 22
# Data columns of the first round where there are more than three times as many.
SAMPLE = 1500
# Two atoms with a larger cosine enter one after the other rather than together.
TWIN = 0.995
# Passes over all atoms without a smaller gap before giving up.
PATIENCE = 20
# Rounding leaves bounds below this.
NOTHING = 1e-11


class Point(NamedTuple):
    """F at one d: the mixtures of all columns, the residual sums, gradient and Hessian."""

    d: Array
    X: Array
    state: NDArray[np.int8]
    rr: float
    cr: float
    g: Array
    H: Array


class Certificate(NamedTuple):
    """A proven bound on what is left to gain, absolute and relative to the objective, and the lambda it holds for."""

    gap: float
    relative: float
    lam: float


@dataclass
class Model:
    """The reduced problem on a working set of atoms."""

    C: LocalMatrix
    D: LocalMatrix
    om: Array
    p: Array
    tau: float | None
    lam: float
    atoms: Indices

    def __post_init__(self) -> None:
        self.CA = self.C.take(cols=self.atoms)
        self.G = self.CA.T @ self.CA
        self.price = self.p[self.atoms]
        size = max(1, min(BLOCK, ENTRIES // max(self.C.shape)))
        n = self.D.shape[1]
        self.blocks = [slice(l, min(l + size, n)) for l in range(0, n, size)]
        # The products of the columns with the atoms, unless there are too many to keep.
        self.Q = self.D.cross(self.CA) if n <= BLOCK else None

    def at(self, d: Array, X: Array, state: NDArray[np.int8]) -> Point:
        """Evaluate F at d, starting the columns from given mixtures, which are written to."""
        g, H = np.zeros(len(d)), np.zeros((len(d), len(d)))
        rr = cr = 0.0
        for some in self.blocks:
            D, om = self.D.take(cols=some), self.om[some]
            Q = D.T @ self.CA if self.Q is None else self.Q[some]
            bounded_columns(self.G, Q, d, om, X[some], state[some], g, H)
            R = D - self.CA @ X[some].T
            rr += float(om @ np.einsum("ij,ij->j", R, R))
            cr += float(om @ np.einsum("ij,ij->j", D, R))
        return Point(d, X, state, rr, cr, g, H)

    def residuals(self, point: Point) -> Iterator[tuple[slice, Array]]:
        """Yield ``D - C X`` block by block."""
        for some in self.blocks:
            yield some, self.D.take(cols=some) - self.CA @ point.X[some].T

    def cold(self, d: Array) -> Point:
        """Evaluate F at d without knowing anything about the mixtures."""
        shape = self.D.shape[1], len(d)
        return self.at(d, np.zeros(shape), np.zeros(shape, np.int8))

    def objective(self, point: Point) -> float:
        """Return what Newton's method lowers: the error, and the price unless it is prescribed."""
        return 0.5 * point.rr + (0.0 if self.tau is not None else self.lam * float(self.price @ point.d))

    def slope(self, point: Point) -> Array:
        """Return the gradient of that."""
        return point.g if self.tau is not None else point.g + self.lam * self.price

    def certify(self, point: Point, s: Array, p: Array) -> Certificate:
        """Bound the gap from the scores of atoms with prices p: of the working set, or of all."""
        rr, cr = point.rr, point.cr
        usable = np.isfinite(p)
        s, p = s[usable], p[usable]
        if self.tau is not None:
            most, lam = best_spending(s, p, self.tau)
            dual = max(cr - 0.5 * rr - most, max(0.0, cr - most) ** 2 / (2.0 * rr) if rr > 0 else 0.0)
        else:
            lam = self.lam
            plain = cr - 0.5 * rr - float(np.maximum(s - lam * p, 0.0).sum())
            largest = float((lam * p[s > 0] / s[s > 0]).min(initial=np.inf))
            th = min(max(cr, 0.0) / rr if rr > 0 else 0.0, largest)
            dual = max(plain, th * cr - 0.5 * th * th * rr)
        gap = self.objective(point) - dual
        value = 0.5 * rr + lam * float(self.price @ point.d)
        return Certificate(gap, gap / max(value, 1e-12), lam)


class Worked(NamedTuple):
    """Where the work ended: the last working set and point, what is proven about it, evaluations, and the way."""

    model: Model
    point: Point
    outer: Certificate
    spent: int
    history: list[tuple[float, float, float]]


def best_spending(s: Array, p: Array, tau: float) -> tuple[float, float]:
    """Return ``max s'd`` over ``0 <= d <= 1, p'd <= tau`` (prices 0 or 1), and what a little more tau would earn."""
    ranked = -np.sort(-s[p > 0])
    whole = min(int(tau), len(ranked))
    margin = float(ranked[whole]) if whole < len(ranked) else 0.0
    return float(s[p == 0].sum() + ranked[:whole].sum()) + (tau - whole) * margin, margin


def solve_newton(
    B: LocalMatrix | Array,
    w: Array,
    *,
    r: int,
    penalty: float | None = None,
    trace: float | None = None,
    p: Array | None = None,
    start: tuple[Indices, Array] | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    report: Report | None = None,
) -> SelfDictionary:
    """Minimise the self-dictionary model with a given trace, or a given penalty, to a relative gap of ``tol``.

    Parameters
    ----------
    B : matrix of shape (m, n)
        Columns, none of them zero.
    w : ndarray of shape (n,)
        Their l1 norms.
    r : int
        How many atoms to begin with, and to add at least.
    penalty, trace : float
        Lambda, or the sum of ``p_t Y(t,t)``. One of them.
    p : ndarray of shape (n,), optional
        Prices: 1 to be chosen, 0 given, infinity not to be used.
    start : tuple of (atoms, their bounds d), optional
        Where to begin; SPA's atoms are added to it.
    tol : float
        Relative duality gap to end on.
    max_iter : int
        Evaluations of F at the most; the gap reached is reported in any case.
    report : callable, optional
        Called as ``report(evaluations, relative gap)`` after each pass over all atoms.

    Returns
    -------
    SelfDictionary
        ``history`` holds objective, sum of prices and lambda after each pass over all atoms.
    """
    M = B if isinstance(B, LocalMatrix) else LocalMatrix(B)
    n = M.shape[1]
    p = np.ones(n) if p is None else p
    C, om = M.scaled(np.ones(M.shape[0]), 1.0 / w).columns(np.arange(n)), w * w
    mass = om * C.squared_norms()
    scale = float(mass.sum())
    lam = 0.0 if penalty is None else penalty / scale
    atoms, d = _begin(M, w, p, trace, start, r)
    spent = 0
    if n > 3 * SAMPLE and start is None:
        # The atoms that a sample of the data needs are nearly those that all of it needs.
        some, weights = _sample(mass / scale, om / scale)
        model = Model(C, C.columns(some), weights, p, trace, lam, atoms)
        model, point, _, spent, _ = _work(model, model.cold(d), r, max(3.0 * tol, 1e-2), max_iter // 2, report)
        atoms, d = model.atoms, point.d
    model = Model(C, C, om / scale, p, trace, lam, atoms)
    model, point, outer, used, history = _work(model, model.cold(d), r, tol, max_iter - spent, report)
    # A multiplier is known to a share of the largest squared norm, a score to that times all weights, and the gap to
    # that for each unit of the trace.
    blur = float((mass / om).max() * om.sum() / scale) * max(1.0, float(model.price @ point.d))
    objective = scale * (0.5 * point.rr + outer.lam * float(model.price @ point.d))
    return SelfDictionary(
        *_rows(model, point, w),
        penalty=scale * outer.lam,
        objective=objective,
        gap=scale * outer.gap,
        relative_gap=outer.relative,
        kind="penalty" if trace is None else "trace",
        ended=how_it_ended(outer.relative, tol, outer.gap / blur, spent + used, max_iter),
        n_iter=spent + used,
        history=tuple((scale * value, size, scale * lam) for value, size, lam in history),
    )


def _sample(share: Array, om: Array) -> tuple[Indices, Array]:
    """Return columns drawn by their share of the squared norm, always the same, and weights that make up for it."""
    drawn = np.random.default_rng(0).choice(len(share), size=SAMPLE, p=share)
    some, counts = np.unique(drawn, return_counts=True)
    return some, om[some] * counts / (SAMPLE * share[some])


def _work(model: Model, point: Point, r: int, tol: float, budget: int, report: Report | None) -> Worked:
    """Grow the working set until the gap over all atoms is ``tol``, or nothing helps any more."""
    spent, goal = 0, 0.05
    history: list[tuple[float, float, float]] = []
    least, idle = np.inf, 0
    scores = Scores(model.C, model.om)
    while True:
        point, inner, used = _descend(model, point, goal, budget - spent)
        spent += used + 1
        bar = inner.lam * (1.0 + 0.2 * tol)
        s = scores.at(model.residuals(point), np.where(np.isfinite(model.p), bar * np.minimum(model.p, 1.0), np.inf))
        outer = model.certify(point, s, model.p)
        size = float(model.price @ point.d)
        history.append((0.5 * point.rr + inner.lam * size, size, inner.lam))
        least, idle = (outer.relative, 0) if outer.relative < 0.99 * least else (least, idle + 1)
        if report is not None:
            report(spent, outer.relative)
        if outer.relative <= tol or spent >= budget or idle == PATIENCE:
            break
        missing = _missing(s, model, bar, max(20, r, len(model.atoms) // 2))
        if len(missing) == 0 and (inner.relative <= 0.1 * tol or (used == 0 and inner.relative > goal)):
            break  # neither a missing atom nor a better d: what rounding allows is reached
        goal = min(max(0.1 * outer.relative, 0.3 * tol), 0.05)
        if len(missing):
            model, point = _with_atoms(model, point, missing)
        else:
            goal = min(goal, 0.3 * inner.relative)
    return Worked(model, point, outer, spent, history)


def _begin(
    M: LocalMatrix, w: Array, p: Array, trace: float | None, start: tuple[Indices, Array] | None, r: int
) -> tuple[Indices, Array]:
    """Return atoms, by SPA and from the start, and bounds that meet the trace."""
    given = np.flatnonzero(p == 0)
    usable = np.isfinite(p)
    count = min(len(given) + r, int(usable.sum()))
    known = {int(t): 1.0 for t in given}
    if start is not None:
        known |= {int(t): float(bound) for t, bound in zip(*start, strict=True) if p[t] == 1}
    positions = Positions(usable, given, np.ones(len(p)))
    for t in pursue(M, count, 1.0 / w, tol=0.0, positions=positions)[0]:
        known.setdefault(int(t), 0.0)
    if trace is not None:
        for t in np.flatnonzero(p == 1):
            if len(known) >= len(given) + trace:
                break
            known.setdefault(int(t), 0.0)
    atoms, d = np.array(list(known), dtype=np.intp), np.array(list(known.values()))
    return atoms, d if trace is None else _meet(d, p[atoms], trace)


def _meet(d: Array, price: Array, tau: float) -> Array:
    """Return d, shrunk towards 0 or grown towards 1 where it is priced, with ``sum price d = tau``.

    Entries at zero stay there if the others have room enough: rounding must not raise them to dust.
    """
    spent = float(price @ d)
    if spent > tau:
        return np.where(price > 0, d * (tau / spent), d)
    priced = price > 0
    grown = priced & (d > 0)
    if float((1.0 - d[grown]).sum()) <= tau - spent:
        grown = priced
    room = float((1.0 - d[grown]).sum())
    return np.where(grown, d + (1.0 - d) * ((tau - spent) / room), d) if room > 0 else d


def _descend(model: Model, point: Point, goal: float, budget: int) -> tuple[Point, Certificate, int]:
    """Run Newton's method until the gap within the working set is ``goal``, or nothing moves any more."""
    mu, used = 1e-8, 0
    while True:
        inner = model.certify(point, -point.g, model.price)
        if inner.relative <= goal or used >= budget:
            break
        curvature = np.diagonal(point.H)
        damping = mu * np.diag(np.maximum(curvature, 1e-6 * max(float(curvature.max()), 1e-12)))
        slope = model.slope(point)
        step = minimise_in_box(point.H + damping, slope, -point.d, 1.0 - point.d, model.price, model.tau is not None)
        promised = -float(slope @ step + 0.5 * step @ point.H @ step)
        if not promised > 1e-16:
            break
        ahead = _try(model, point, step, 1.0)
        used += 1
        earned = model.objective(point) - model.objective(ahead)
        if earned < 0.05 * promised:
            # A secant on the slope along the step finds where F turns.
            bend = float(model.slope(ahead) @ step - slope @ step)
            share = float(np.clip(-(slope @ step) / bend, 0.05, 0.9)) if bend > 0 else 0.5
            ahead = _try(model, point, step, share)
            used += 1
            earned = model.objective(point) - model.objective(ahead)
            if earned <= 0:
                mu = 10.0 * max(mu, 1e-3)
                if mu > 1e6:
                    break
                continue
        elif earned > 0.7 * promised:
            mu *= 0.2
        elif earned < 0.3 * promised:
            mu = 4.0 * max(mu, 1e-3)
        point = ahead
    return point, inner, used


def _try(model: Model, point: Point, step: Array, share: float) -> Point:
    d = np.clip(point.d + share * step, 0.0, 1.0)
    d[d < NOTHING] = 0.0
    return model.at(d if model.tau is None else _meet(d, model.price, model.tau), point.X.copy(), point.state.copy())


def _missing(s: Array, model: Model, bar: float, most: int) -> Indices:
    """Return the atoms outside the working set that score above the bar, best first, twins only to fill up."""
    outside = np.isfinite(model.p)
    outside[model.atoms] = False
    named = np.flatnonzero(outside & (s > bar * np.where(outside, model.p, 1.0)))
    named = named[np.argsort(-s[named], kind="stable")][: 6 * most]
    unit = model.C.take(cols=named)
    unit /= np.linalg.norm(unit, axis=0)
    chosen: list[int] = []
    twins: list[int] = []
    for k in range(len(named)):
        alike = bool(chosen) and float((unit[:, chosen].T @ unit[:, k]).max()) > TWIN
        (twins if alike else chosen).append(k)
        if len(chosen) == most:
            break
    return named[np.array((chosen + twins)[:most], dtype=np.intp)]


def _with_atoms(model: Model, point: Point, missing: Indices) -> tuple[Model, Point]:
    """Drop the atoms that are not used, add those that are missing, keep the mixtures."""
    keep = (point.d > 0) | (model.price == 0)
    grown = replace(model, atoms=np.concatenate([model.atoms[keep], missing]))
    d = np.concatenate([point.d[keep], np.zeros(len(missing))])
    n = len(model.om)
    # Made first and filled: stacked columns would not be contiguous, which the kernels would pay for.
    X, state = np.zeros((n, len(d))), np.zeros((n, len(d)), np.int8)
    kept = len(d) - len(missing)
    X[:, :kept], state[:, :kept] = point.X[:, keep], point.state[:, keep]
    return grown, grown.at(d, X, state)


def _rows(model: Model, point: Point, w: Array) -> tuple[Indices, Array, Array]:
    """Return the active rows of Y, ``Y(t,l) = X(t,l) w_l / w_t`` with ``Y(t,t) = d_t``, and its diagonal."""
    used = np.flatnonzero(point.d > 0)
    used = used[np.argsort(model.atoms[used])]
    active = model.atoms[used]
    X, d = point.X[:, used], point.d[used]
    own = X[active, np.arange(len(active))]
    # A column with room left in its own entry is explained exactly; its other entries make way for the full one.
    X[active] *= np.where(own < d, (1.0 - d) / np.maximum(1.0 - own, NOTHING), 1.0)[:, None]
    rows = X.T * w / w[active][:, None]
    rows[np.arange(len(active)), active] = d
    diagonal = np.zeros(len(w))
    diagonal[active] = point.d[used]
    return active, rows, diagonal
