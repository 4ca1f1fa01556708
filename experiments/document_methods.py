"""A document set and the name of a method enter, factors, labels and the selection leave.

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
    cosfgm,
    fgm,
    gsfgm,
    gspa,
    mix,
    mix_generalized,
    preselect,
    relative_approximation,
    spa,
)
from cosep.matrix.checks import as_matrix
from cosep.mixing import column_weights, nonnegative
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from experiments.document_sets import Labels, load

PENALTIES = tuple(np.logspace(-3, 1, 10))
ITERATIONS = 1000
# The published fit: a start, then nine alternations.
STEPS = 9
# Pairs that the alternation of a reading goes through at the most, if none is met again.
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
    """What a method found: factors, a selection, labels by a rule of its own, and how far from orthogonal it ended."""

    factors: Factorization | None
    selection: Selection | None = None
    labels: tuple[Any, Any] | None = None
    orthogonality: float | None = None


@lru_cache(maxsize=1)
def shrink(name: str) -> Block:
    """Preselect documents and words and weigh them."""
    X, candidates = load(name).X, load(name).candidates
    (rows, a), (cols, b) = (representatives(side, candidates) for side in (X.T, X))
    left, right = scipy.sparse.diags_array(a), scipy.sparse.diags_array(b)
    return Block(scipy.sparse.csr_array(left @ X[rows][:, cols] @ right), rows, cols)


def representatives(X: Any, candidates: int) -> tuple[Labels, NDArray[np.float64]]:
    """Return columns and their weights; all of them, if they are few."""
    n = X.shape[1]
    if n <= candidates:
        return np.arange(n), np.ones(n)
    kept = preselect(X, candidates)
    return kept.representatives, kept.weights


def coseparable(name: str, method: Any) -> Answer:
    """Fit the model with rows and columns by any method."""
    task = load(name)
    model = CoSeparableNMF(task.r, task.r, method=method).fit(task.X)
    selection = Selection(model.row_indices_, model.col_indices_, model.gap_)
    factors = Factorization(model.row_factor_, model.core_, model.col_factor_)
    return Answer(factors, selection, (model.row_labels_, model.column_labels_))


def on_block(name: str, method: Callable[..., Selection]) -> Answer:
    """Select rows and columns of the block, fit the model to all of the data."""
    block = shrink(name)

    def select(X: Any, n_rows: int, n_cols: int) -> Selection:  # noqa: ARG001 - the block is all that it sees of X
        return block.back(method(block.values, n_rows, n_cols))

    return coseparable(name, select)


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


PUBLISHED = partial(cosfgm, solver="fast-gradient", start="independent", postprocess="spa")
BOTH_SPA = both_sides(partial(spa, normalize=False))
ALL_PENALTIES = tuple(partial(gsfgm, penalty=penalty, tol=1e-2, start="gspa") for penalty in PENALTIES)
BUDGET = f"max_iter={ITERATIONS}"
# Each with the settings that matter.
METHODS: dict[str, tuple[str, Callable[[str], Answer]]] = {
    "CoS-FGM": ("block, fast-gradient, independent, spa", partial(on_block, method=PUBLISHED)),
    "CoS-FGM, certified": ("newton", partial(coseparable, method="cosfgm")),
    "default": ("faithful", partial(coseparable, method="faithful")),
    "SPA+": ("block, normalize=False", partial(on_block, method=BOTH_SPA)),
    "SPAC": ("block, normalize=False", partial(one_side, rows=False)),
    "SPAR": ("block, normalize=False", partial(one_side, rows=True)),
    "GSPA": ("block, normalize=False", partial(either_side, selectors=(gspa,))),
    "GS-FGM": ("block, start=gspa, tol=1e-2", partial(either_side, selectors=ALL_PENALTIES)),
    "greedy": ("as it comes", partial(coseparable, method="greedy")),
    "BiOR-NM3F": (BUDGET, partial(whole, method=biorthogonal)),
    "A-HALS": (BUDGET, partial(whole, method=ahals)),
    "MV-NMF": (BUDGET, partial(whole, method=documents_as_mixtures)),
    "NMF": ("nndsvd, max_iter=200", scikit_learn),
    "SpectralCoclustering": ("random_state=0", spectral),
}


def alternation(name: str, solver: str) -> list[Selection]:
    """Return the pairs that Algorithm 2 goes through on the block, until it meets one again."""
    block, r = shrink(name), load(name).r
    M = block.values.toarray()
    cols = pick(M, r, solver)
    pairs: dict[tuple[frozenset[int], frozenset[int]], Selection] = {}
    while len(pairs) < PAIRS:
        rows = pick(M[:, cols].T, r, solver)
        cols = pick(M[rows], r, solver)
        pair = frozenset(rows.tolist()), frozenset(cols.tolist())
        if pair in pairs:
            break
        pairs[pair] = block.back(Selection(rows, cols))
    return list(pairs.values())


def pick(B: Any, r: int, solver: str) -> Labels:
    """Choose columns by the convex model, as published for real data."""
    return np.asarray(fgm(B, r, solver=solver, postprocess="spa").col_indices)


def by_the_letter(X: Any, selection: Selection) -> Factorization:
    """Fit by Algorithm 3 as published: exact least squares by turns, nine times, nothing extrapolated."""
    M = as_matrix(X)
    rows, cols = np.asarray(selection.row_indices), np.asarray(selection.col_indices)
    S = M.take(rows, cols)
    P1, P2 = column_weights(M.T, rows).T, column_weights(M, cols)
    for _ in range(STEPS):
        W = P1 @ S
        P2 = nonnegative(W, M.cross(W), np.zeros((M.shape[1], len(cols))), exact=True).T
        H = S @ P2
        P1 = nonnegative(H.T, M.dot(H.T), np.zeros((M.shape[0], len(rows))), exact=True)
    return Factorization(P1, np.ldexp(S, M.exponent), P2)


FITS: dict[str, Callable[[Any, Selection], Factorization]] = {"letter": by_the_letter, "converged": mix}
# What the paper leaves open: which solver and, of the pairs met, the last or the one that explains most.
READINGS = {f"CoS-FGM by {solver}, all readings": solver for solver in ("fast-gradient", "newton")}


def readings(name: str, solver: str) -> dict[str, Factorization]:
    """Return the factors that each reading of the alternation and of the fit leads to."""
    X, pairs = load(name).X, alternation(name, solver)
    found = {}
    for fit, method in FITS.items():
        fits = [method(X, pair) for pair in pairs]
        found[f"last_{fit}"] = fits[-1]
        found[f"best_{fit}"] = max(fits, key=partial(relative_approximation, X))
    return found
