"""The methods of Tables 1 to 3: factors, labels and selection of a document set by each.

Notation
--------
X : counts, documents x words; r : number of classes, and of rows and columns to select
block : the preselected rows and columns of X, multiplied by the square roots of the sizes of their clusters
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from cosep import (
    CoSeparableNMF,
    Factorization,
    Selection,
    both_sides,
    fgm,
    gsfgm,
    gspa,
    mix,
    mix_generalized,
    preselect,
    relative_approximation,
    spa,
)
from cosep.kernels.quadratic import orthant_descent
from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from experiments.document_sets import Labels, load

Matrix = NDArray[np.float64]

PENALTIES = tuple(np.logspace(-3, 1, 10))
ITERATIONS = 1000
# The published fit: a start, then nine turns, each of 100 sweeps for either factor.
STEPS, SWEEPS = 9, 100
# Largest number of pairs in the alternation, if none repeats.
PAIRS = 10


class Block(NamedTuple):
    """Weighted representatives, and which rows and columns of the data they are."""

    values: Any
    rows: Labels
    cols: Labels

    def back(self, chosen: Selection) -> Selection:
        """Return what was chosen among the representatives as rows and columns of the data."""
        rows, cols = chosen.row_indices, chosen.col_indices
        return Selection(
            None if rows is None else self.rows[rows], None if cols is None else self.cols[cols], chosen.gap
        )


class Answer(NamedTuple):
    """What a method found: factors, a selection, labels by a rule of its own, how far from orthogonal it ended.

    Where the paper can be read in several ways, a function returns the results of each.
    """

    factors: Factorization | None
    selection: Selection | None = None
    labels: tuple[Any, Any] | None = None
    orthogonality: float | None = None
    readings: Callable[[], dict[str, Factorization]] | None = None


# A fit stands still that lowers the squared error by less than this share of the squared norm in a turn.
STILL = 1e-5
# Settings in words, and the method of a set.
Methods = dict[str, tuple[str, Callable[[str], Answer]]]


@lru_cache(maxsize=1)
def shrink(name: str) -> Block:
    """Preselect documents and words and weigh them."""
    X, candidates = load(name).X, load(name).candidates
    (rows, a), (cols, b) = (representatives(side, candidates) for side in (X.T, X))
    left, right = scipy.sparse.diags_array(a), scipy.sparse.diags_array(b)
    return Block(scipy.sparse.csr_array(left @ X[rows][:, cols] @ right), rows, cols)


def representatives(X: Any, candidates: int) -> tuple[Labels, Matrix]:
    """Return columns and their weights; all of them, if they are few."""
    n = X.shape[1]
    if n <= candidates:
        return np.arange(n), np.ones(n)
    kept = preselect(X, candidates)
    return kept.representatives, kept.weights


def coseparable(name: str, method: Any, scaling: str | None = None, **options: Any) -> Answer:
    """Fit the model with rows and columns by any method, in the plain norm of the paper if no other is named."""
    task = load(name)
    model = CoSeparableNMF(task.r, task.r, method=method, scaling=scaling, **options).fit(task.X)
    selection = Selection(model.row_indices_, model.col_indices_, model.gap_)
    factors = Factorization(model.row_factor_, model.core_, model.col_factor_)
    return Answer(factors, selection, (model.row_labels_, model.column_labels_))


def as_published(name: str, selections: Callable[[str], list[Selection]]) -> Answer:
    """Select on the block, take the last pair that the method comes to, and fit by the letter; other readings wait."""
    X, pairs = load(name).X, selections(name)
    return Answer(by_the_letter(X, pairs[-1]), pairs[-1], readings=partial(other_readings, X, pairs))


def both_by_spa(name: str) -> list[Selection]:
    """Select rows and columns of the block by SPA, each side on its own: SPA+."""
    block, r = shrink(name), load(name).r
    return [block.back(both_sides(partial(spa, normalize=False))(block.values, r, r))]


def one_side(name: str, *, rows: bool) -> Answer:
    """Select by SPA on one side of the block: SPAR, SPAC."""
    task, block = load(name), shrink(name)
    chosen = spa(block.values.T if rows else block.values, task.r, normalize=False)
    factors = mix(task.X, block.back(chosen.T if rows else chosen))
    return Answer(factors, factors.selection, (factors.row_labels, factors.col_labels))


def either_side(name: str, selectors: tuple[Callable[..., Selection], ...]) -> Answer:
    """Select rows plus columns of the block, by the selector that explains most: GSPA, GS-FGM."""
    task, block = load(name), shrink(name)
    chosen = [block.back(select(block.values, task.r, normalize=False)) for select in selectors]
    # Many penalties lead to one selection.
    distinct = {(str(selection.row_indices), str(selection.col_indices)): selection for selection in chosen}
    fits = [mix_generalized(task.X, selection) for selection in distinct.values()]
    best = min(fits, key=lambda fit: fit.relative_error(task.X))
    return Answer(best, best.selection, (best.row_labels, best.col_labels))


def whole(name: str, method: Callable[..., Factorization]) -> Answer:
    """Factorize all of the data, choosing nothing."""
    task = load(name)
    factors = method(task.X, task.r, max_iter=ITERATIONS)
    return Answer(factors, None, (factors.row_labels, factors.col_labels), factors.meta.get("orthogonality"))


def documents_as_mixtures(X: Any, r: int, max_iter: int) -> Factorization:
    """Find corners of small volume around the documents: MV-NMF."""
    return minvol(X.T, r, max_iter=max_iter).T


def scikit_learn(name: str) -> Answer:
    """Factorize by scikit-learn, which has no labels."""
    task = load(name)
    model = NMF(task.r, init="nndsvd", max_iter=200, random_state=0)
    return Answer(Factorization(model.fit_transform(task.X), None, model.components_))


def spectral(name: str) -> Answer:
    """Label documents and words by scikit-learn's SpectralCoclustering; all-zero documents have no label."""
    task = load(name)
    filled = np.flatnonzero(task.X.sum(axis=1))
    model = SpectralCoclustering(task.r, random_state=0).fit(task.X[filled])
    of_documents = np.full(task.X.shape[0], -1)
    of_documents[filled] = model.row_labels_
    return Answer(None, None, (of_documents, model.column_labels_))


def alternation(name: str, solver: str) -> list[Selection]:
    """Return the pairs that Algorithm 2 goes through on the block, until it meets one again."""
    block, r = shrink(name), load(name).r
    M = block.values.toarray()
    cols, _ = pick(M, r, solver)
    pairs: dict[tuple[frozenset[int], frozenset[int]], Selection] = {}
    while len(pairs) < PAIRS:
        rows, row_gap = pick(M[:, cols].T, r, solver)
        cols, col_gap = pick(M[rows], r, solver)
        pair = frozenset(rows.tolist()), frozenset(cols.tolist())
        if pair in pairs:
            break
        pairs[pair] = block.back(Selection(rows, cols, max(row_gap, col_gap)))
    return list(pairs.values())


def pick(B: Any, r: int, solver: str) -> tuple[Labels, float]:
    """Choose columns by the convex model, as published for real data; return the duality gap too."""
    chosen = fgm(B, r, solver=solver, postprocess="spa")
    return np.asarray(chosen.col_indices), chosen.gap or 0.0


def by_the_letter(X: Any, selection: Selection) -> Factorization:
    """Fit by Algorithm 3 as published: least squares by turns, each from scratch, nothing extrapolated."""
    M = as_matrix(X)
    rows, cols = np.asarray(selection.row_indices), np.asarray(selection.col_indices)
    S, H, W = M.take(rows, cols), M.take(rows=rows), M.take(cols=cols)
    P1, P2 = descend(H.T, M.dot(H.T)), descend(W, M.cross(W)).T
    for _ in range(STEPS):
        W = P1 @ S
        P2 = descend(W, M.cross(W)).T
        H = S @ P2
        P1 = descend(H.T, M.dot(H.T))
    return Factorization(P1, M.in_units(S), P2)


def descend(A: Matrix, B: Matrix) -> Matrix:
    """Solve ``min ||M - A V'||`` over ``V >= 0``, given ``B = M'A``, by coordinate descent as published.

    It starts from the positive part of the least-squares solution, brought to the best length.
    """
    G = A.T @ A
    V = np.maximum(B @ np.linalg.pinv(G), 0.0)
    own = float(np.vdot(V @ G, V))
    V *= float(np.vdot(B, V)) / own if own > 0 else 0.0
    orthant_descent(G, B, V, 0.0, SWEEPS)
    return V


def other_readings(X: Any, pairs: list[Selection]) -> dict[str, Factorization]:
    """Return the factors that other readings lead to: the best pair in place of the last, a fit that converges."""
    found = {}
    for fit, method in FITS.items():
        fits = [method(X, pair) for pair in pairs]
        found[f"last_{fit}"] = fits[-1]
        found[f"best_{fit}"] = max(fits, key=partial(relative_approximation, X))
    return found


FITS: dict[str, Callable[[Any, Selection], Factorization]] = {"letter": by_the_letter, "converged": mix}
ALL_PENALTIES = tuple(partial(gsfgm, penalty=penalty, tol=1e-2, start="gspa") for penalty in PENALTIES)
BUDGET = f"max_iter={ITERATIONS}"
PAIR = "block, {}, spa, nine turns"
# Each with the settings that matter.
METHODS: Methods = {
    "CoS-FGM": (
        PAIR.format("fast-gradient"),
        partial(as_published, selections=partial(alternation, solver="fast-gradient")),
    ),
    "CoS-FGM, certified": ("newton, plain norm", partial(coseparable, method="cosfgm", tol=STILL)),
    "faithful": ("faithful, plain norm", partial(coseparable, method="faithful")),
    "default": ("faithful, degree norm", partial(coseparable, method="faithful", scaling="degree")),
    "SPA+": ("block, normalize=False, nine turns", partial(as_published, selections=both_by_spa)),
    "SPAC": ("block, normalize=False", partial(one_side, rows=False)),
    "SPAR": ("block, normalize=False", partial(one_side, rows=True)),
    "GSPA": ("block, normalize=False", partial(either_side, selectors=(gspa,))),
    "GS-FGM": ("block, start=gspa, tol=1e-2", partial(either_side, selectors=ALL_PENALTIES)),
    "greedy": ("plain norm", partial(coseparable, method="greedy", tol=STILL)),
    "BiOR-NM3F": (BUDGET, partial(whole, method=biorthogonal)),
    "A-HALS": (BUDGET, partial(whole, method=ahals)),
    "MV-NMF": (BUDGET, partial(whole, method=documents_as_mixtures)),
    "NMF": ("nndsvd, max_iter=200", scikit_learn),
    "SpectralCoclustering": ("random_state=0", spectral),
}
# The alternation as published, but each convex problem solved to a proven gap: for the table of readings alone.
EXACT: Methods = {
    "CoS-FGM, exact": (PAIR.format("newton"), partial(as_published, selections=partial(alternation, solver="newton")))
}
