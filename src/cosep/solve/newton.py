"""Newton's method for the convex self-dictionary model, to a proven duality gap.

With normalised columns ``c_t = B_t / w_t``, weights ``om_l = w_l^2`` and ``X(t,l) = w_t Y(t,l) / w_l`` the model is

    min 1/2 sum_l om_l ||c_l - C x_l||^2 + lambda sum_t p_t d_t,    0 <= X(t,l) <= d_t <= 1.

Given d, the columns are small independent bounded least-squares problems, and their minimum F(d) is convex, once
differentiable and piecewise quadratic in the few entries of d that are not zero. Newton's method minimises F over a
working set of atoms; a pass over all atoms then either proves optimality or finds the atoms that are missing. There is
no n x n matrix and no step size. Instead of lambda one may prescribe ``sum p_t d_t``; lambda is then a multiplier.
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

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cosep.kernels.box import minimise_in_box
from cosep.matrix.local import LocalMatrix
from cosep.solve.pursuit import Positions
from cosep.solve.reduced_model import Certificate, Point, ReducedModel
from cosep.solve.scores import Scores
from cosep.solve.self_dictionary import Report, SelfDictionary, how_it_ended
from cosep.solve.successive_projections import pursue
from cosep.utils.types import Array, Indices

# Data columns of a first round on a sample, if there are more than three times as many; the next samples are so many
# times as large.
SAMPLE_SIZE, GROWTH = 1500, 10
# Two atoms with a larger cosine are not added in the same pass if there are others.
TWIN_COSINE = 0.995
# Stop after this many passes over all atoms without a smaller gap.
MAX_IDLE_PASSES = 20
# Bounds below this are rounding errors.
MIN_BOUND = 1e-11


class Solved(NamedTuple):
    """Where a solve ended.

    Attributes
    ----------
    model : ReducedModel
        The last working set.
    point : Point
    outer : Certificate
        The duality gap over all atoms.
    spent : int
        Evaluations of F.
    history : list of (objective, sum of prices, lambda)
    """

    model: ReducedModel
    point: Point
    outer: Certificate
    spent: int
    history: list[tuple[float, float, float]]


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
        How many atoms to start with; each pass adds up to this many or more.
    penalty, trace : float
        Lambda, or the sum of ``p_t Y(t,t)``; give one of them.
    p : ndarray of shape (n,), optional
        Prices: 1 for a column to be chosen, 0 for one that is used in any case, infinity for a forbidden one.
        Default: ones.
    start : tuple of (atoms, their bounds d), optional
        A first guess; atoms found by successive projections are added to it.
    tol : float
        Stop at this relative duality gap.
    max_iter : int
        Largest number of evaluations of F; the gap reached is part of the result.
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
    spent, size = 0, SAMPLE_SIZE
    while n > 3 * size and start is None:
        # A sample of the data needs nearly the same atoms as all of it.
        some, weights = _sample(mass / scale, om / scale, size)
        model = ReducedModel(C, C.columns(some), weights, p, trace, lam, atoms)
        budget = (max_iter - spent) // 2
        model, point, _, used, _ = _work(model, model.cold(d), r, max(3.0 * tol, 1e-2), budget, report)
        atoms, d, spent, size = model.atoms, point.d, spent + used, size * GROWTH
    model = ReducedModel(C, C, om / scale, p, trace, lam, atoms)
    model, point, outer, used, history = _work(model, model.cold(d), r, tol, max_iter - spent, report)
    # The rounding of a multiplier is a share of the largest squared norm, that of a score this times all weights, and
    # that of the gap this times the trace.
    rounding = float((mass / om).max() * om.sum() / scale) * max(1.0, float(model.price @ point.d))
    objective = scale * (0.5 * point.rr + outer.lam * float(model.price @ point.d))
    return SelfDictionary(
        *_rows(model, point, w),
        penalty=scale * outer.lam,
        objective=objective,
        gap=scale * outer.gap,
        relative_gap=outer.relative,
        kind="penalty" if trace is None else "trace",
        ended=how_it_ended(outer.relative, tol, outer.gap / rounding, spent + used, max_iter),
        n_iter=spent + used,
        history=tuple((scale * value, size, scale * lam) for value, size, lam in history),
    )


def _sample(share: Array, om: Array, size: int) -> tuple[Indices, Array]:
    """Return columns drawn with probabilities ``share``, the same in every call, and weights that correct for it."""
    drawn = np.random.default_rng(0).choice(len(share), size=size, p=share)
    some, counts = np.unique(drawn, return_counts=True)
    return some, om[some] * counts / (size * share[some])


def _work(model: ReducedModel, point: Point, r: int, tol: float, budget: int, report: Report | None) -> Solved:
    """Grow the working set until the gap over all atoms is ``tol``, or until no step makes progress."""
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
        if outer.relative <= tol or spent >= budget or idle == MAX_IDLE_PASSES:
            break
        missing = _missing(s, model, bar, max(20, r, len(model.atoms) // 2))
        if len(missing) == 0 and (inner.relative <= 0.1 * tol or (used == 0 and inner.relative > goal)):
            break  # neither a missing atom nor a better d: the limit of rounding is reached
        goal = min(max(0.1 * outer.relative, 0.3 * tol), 0.05)
        if len(missing):
            model, point = _with_atoms(model, point, missing)
        else:
            goal = min(goal, 0.3 * inner.relative)
    return Solved(model, point, outer, spent, history)


def _begin(
    M: LocalMatrix, w: Array, p: Array, trace: float | None, start: tuple[Indices, Array] | None, r: int
) -> tuple[Indices, Array]:
    """Return atoms from the start and by successive projections, with bounds that have the prescribed trace."""
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
    """Return d, its priced entries shrunk towards 0 or grown towards 1 such that ``sum price d = tau``.

    Entries at zero stay there if the others have enough room, so that rounding does not make them positive.
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


def _descend(model: ReducedModel, point: Point, goal: float, budget: int) -> tuple[Point, Certificate, int]:
    """Run Newton's method until the gap within the working set is ``goal``, or until no step makes progress."""
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
            # A secant step: where the slope along the step would be zero.
            bend = float(model.slope(ahead) @ step - slope @ step)
            share = float(np.clip(-(slope @ step) / bend, 0.05, 0.9)) if bend > 0 else 0.5
            del ahead  # as large as the next one
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


def _try(model: ReducedModel, point: Point, step: Array, share: float) -> Point:
    d = np.clip(point.d + share * step, 0.0, 1.0)
    d[d < MIN_BOUND] = 0.0
    return model.at(d if model.tau is None else _meet(d, model.price, model.tau), point.X.copy(), point.state.copy())


def _missing(s: Array, model: ReducedModel, bar: float, most: int) -> Indices:
    """Return at most ``most`` atoms outside the working set with scores above the bar, similar ones last."""
    outside = np.isfinite(model.p)
    outside[model.atoms] = False
    named = np.flatnonzero(outside & (s > bar * np.where(outside, model.p, 1.0)))
    named = named[np.argsort(-s[named], kind="stable")][: 6 * most]
    unit = model.C.take(cols=named)
    unit /= np.linalg.norm(unit, axis=0)
    chosen: list[int] = []
    twins: list[int] = []
    for k in range(len(named)):
        alike = bool(chosen) and float((unit[:, chosen].T @ unit[:, k]).max()) > TWIN_COSINE
        (twins if alike else chosen).append(k)
        if len(chosen) == most:
            break
    return named[np.array((chosen + twins)[:most], dtype=np.intp)]


def _with_atoms(model: ReducedModel, point: Point, missing: Indices) -> tuple[ReducedModel, Point]:
    """Return the model without its unused atoms and with the missing ones, and its point with the old mixtures."""
    keep = np.flatnonzero((point.d > 0) | (model.price == 0))
    grown = replace(model, atoms=np.concatenate([model.atoms[keep], missing]))
    d = np.concatenate([point.d[keep], np.zeros(len(missing))])
    # Allocated first and then filled block by block: stacked columns would not be contiguous, which slows down the
    # kernels.
    X, state = np.zeros((len(model.om), len(d))), np.zeros((len(model.om), len(d)), np.int8)
    for some in model.blocks:
        X[some, : len(keep)], state[some, : len(keep)] = point.X[some].take(keep, 1), point.state[some].take(keep, 1)
    return grown, grown.at(d, X, state)


def _rows(model: ReducedModel, point: Point, w: Array) -> tuple[Indices, Array, Array]:
    """Return the active rows of Y, ``Y(t,l) = X(t,l) w_l / w_t`` with ``Y(t,t) = d_t``, and its diagonal."""
    used = np.flatnonzero(point.d > 0)
    used = used[np.argsort(model.atoms[used])]
    active = model.atoms[used]
    X, d = point.X[:, used], point.d[used]
    own = X[active, np.arange(len(active))]
    # A column whose own entry is below its bound is explained exactly; its other entries shrink for a full own entry.
    X[active] *= np.where(own < d, (1.0 - d) / np.maximum(1.0 - own, MIN_BOUND), 1.0)[:, None]
    rows = X.T
    rows *= w
    rows /= w[active][:, None]
    rows[np.arange(len(active)), active] = d
    diagonal = np.zeros(len(w))
    diagonal[active] = point.d[used]
    return active, rows, diagonal
