"""The methods of Table 5: a function for each, from pixels x images to explained share, clusters and selection."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from cosep import (
    CoSeparableNMF,
    Factorization,
    Selection,
    both_sides,
    cosfgm,
    gsfgm,
    gspa,
    mix,
    mix_generalized,
    relative_approximation,
    spa,
)
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from experiments.face_data import Block

PENALTIES = np.logspace(-3, 1, 10)
OWN = "CoS-FGM", "CoS-FGM, certified", "faithful"


class Fit(NamedTuple):
    """How much is explained, clusters of images by the largest entry and by our rule, entries tied for it, choice."""

    approximation: float | None
    plain: NDArray[np.int_] | None
    labels: NDArray[np.int_]
    ties: int | None = None
    selection: Selection = Selection(None, None)


def by_factors(X: Block, factors: Factorization) -> Fit:
    """Judge a factorization by its last factor."""
    last = factors.col_factor
    labels = np.asarray(factors.col_labels)
    ties = int(((last == last.max(axis=0)).sum(axis=0) > 1).sum())
    selection = factors.selection or Selection(None, None)
    return Fit(relative_approximation(X, factors), last.argmax(axis=0), labels, ties, selection)


def coseparable(X: Block, r1: int, r2: int, **options: Any) -> Fit:
    """Choose pixels and images with the estimator, in the plain norm of the paper; its labels are our rule."""
    model = CoSeparableNMF(r1, r2, scaling=None, **options).fit(X)
    chosen = Selection(model.row_indices_, model.col_indices_)
    factors = Factorization(model.row_factor_, model.core_, model.col_factor_, chosen, col_labels=model.column_labels_)
    return by_factors(X, factors)


def best_penalty(X: Block, r: int, start: str) -> Factorization:
    """Choose pixels plus images by GS-FGM, at the penalty that explains most."""
    options: dict[str, Any] = {"normalize": False, "tol": 1e-2, "start": start}
    fits = [mix_generalized(X, gsfgm(X, r, penalty=penalty, **options)) for penalty in PENALTIES]
    return min(fits, key=lambda fit: fit.relative_error(X))


def scikit_learn(X: Block, r: int) -> Fit:
    """Factor by scikit-learn's NMF."""
    model = NMF(n_components=r, init="nndsvd", max_iter=200, random_state=0)
    W = model.fit_transform(X)
    labels = (model.components_ * np.linalg.norm(W, axis=0)[:, None]).argmax(axis=0)
    return by_factors(X, Factorization(W, None, model.components_, col_labels=labels))


def spectral(X: Block, r: int) -> Fit:
    """Cluster only, by scikit-learn's co-clustering."""
    return Fit(None, None, SpectralCoclustering(r, random_state=0).fit(X).column_labels_)


# A fit stands still that lowers the squared error by less than this share of the squared norm in a turn.
STILL = 1e-5
# Variant of a method without variants, and seeds of one without random numbers.
PLAIN = "-"
PUBLISHED = partial(cosfgm, solver="fast-gradient", start="independent", postprocess="spa")
PLAIN_SPA = partial(spa, normalize=False)
# Method and variant -> fit of a matrix with r1 pixels and r2 images.
METHODS: dict[tuple[str, str], Callable[[Block, int, int], Fit]] = {
    ("CoS-FGM", "published solver, SPA on Y'"): partial(coseparable, tol=STILL, method=PUBLISHED),
    ("CoS-FGM, certified", "SPA on Y'"): partial(coseparable, tol=STILL, method=partial(cosfgm, postprocess="spa")),
    ("CoS-FGM, certified", "largest diagonals"): partial(coseparable, tol=STILL, method="cosfgm"),
    ("faithful", PLAIN): coseparable,
    ("SPA+", PLAIN): partial(coseparable, tol=STILL, method=both_sides(PLAIN_SPA)),
    ("greedy", PLAIN): partial(coseparable, tol=STILL, method="greedy"),
    ("GSPA", "its own split"): lambda X, _, r: by_factors(X, mix_generalized(X, gspa(X, r, normalize=False))),
    ("GS-FGM", "from GSPA"): lambda X, _, r: by_factors(X, best_penalty(X, r, "gspa")),
    ("GS-FGM", "from zero"): lambda X, _, r: by_factors(X, best_penalty(X, r, "zero")),
    ("SPAC", PLAIN): lambda X, _, r: by_factors(X, mix(X, PLAIN_SPA(X, r))),
    ("BiOR-NM3F", PLAIN): lambda X, r1, r2: by_factors(X, biorthogonal(X, (r1, r2), max_iter=1000)),
    ("A-HALS", PLAIN): lambda X, _, r: by_factors(X, ahals(X, r)),
    ("MV-NMF", "images are mixtures"): lambda X, _, r: by_factors(X, minvol(X, r)),
    ("MV-NMF", "pixels are mixtures"): lambda X, _, r: by_factors(X, minvol(X.T, r).T),
    ("NMF", "scikit-learn"): lambda X, _, r: scikit_learn(X, r),
    ("SpectralCoclustering", "scikit-learn"): lambda X, _, r: spectral(X, r),
}
# Drawn at random; the second looks at the subjects, which no method may: one image of each.
RANDOM = "any images", "one image a subject"
SEEDS = range(25)
BOTH_SIDES = (*OWN, "SPA+", "greedy")
# Images brought to norm one, for methods that cost nothing: which matrix was the paper's?
UNIT = (("SPA+", PLAIN), ("GSPA", "its own split"), ("SPAC", PLAIN))
