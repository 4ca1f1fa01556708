"""Held-out rows predicted from 10 or 20 of their columns: the error in the other columns.

Half of the rows are fitted, the other half is predicted. Each figure is the median over held-out rows of
`||x - predicted|| / ||x||` in percent, in the plain norm, over the columns that the method did not select; 100 is the
error of predicting zeros. It is the mean of three random splits; the spread is the largest difference between them for
`complete`.

These methods predict by nonnegative weights of the selected columns: `complete` of `CoSeparableNMF(r, r)`, the same
with `scaling=None` (plain norm), fitted in the plain norm to rows divided by their norms (unit rows), in the plain norm
with `method="cosfgm"`, and the columns of `greedy` with their best weights. Other predictions are the average of the 5
nearest rows (scikit-learn), found on the columns of the first method, and the mean row. Every method is measured on the
columns that it did not select. `blank` counts held-out rows in which all columns of the first method are zero: weights
can predict only zeros there.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import normalize

from benchmarks.data import TINY, Block, Problem
from benchmarks.harness import Bar, Row, on_sets
from cosep import CoSeparableNMF, greedy
from cosep.matrix.validation import as_matrix
from cosep.solve.nonnegative import column_weights
from cosep.utils.types import Indices

SETS = ("digits", "images", "k1b", "tr11", "classic", "reviews")
SIZES = (10, 20)
SPLITS = 3
NEIGHBOURS = 5


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per set and number of columns."""
    for r in (4,) if tiny else SIZES:
        yield from on_sets(TINY if tiny else SETS, partial(compare, r=r))


def compare(problem: Problem, r: int) -> Row:
    """Return the mean error of every method over the splits."""
    splits = [errors(*halves(problem.X, seed), r) for seed in range(SPLITS)]
    figures = {name: [split[name] for split in splits] for name in splits[0]}
    means = {name: float(np.mean(values)) for name, values in figures.items()}
    return {"r": r, **means, "spread_pct": float(np.ptp(figures["complete_pct"]))}


def halves(X: Any, seed: int) -> tuple[Any, Any]:
    """Return a random half of the rows, and the other half."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    half = len(order) // 2
    return X[np.sort(order[:half])], X[np.sort(order[half:])]


def errors(known: Any, unseen: Any, r: int) -> Row:
    """Return the error of every method on one split."""
    rows, others = as_matrix(known).take(), as_matrix(unseen).take()
    default = CoSeparableNMF(r, r).fit(known)
    models = {
        "complete_pct": default,
        "plain_norm_pct": CoSeparableNMF(r, r, scaling=None).fit(known),
        "unit_rows_pct": CoSeparableNMF(r, r, scaling=None).fit(normalize(known)),
        "cosfgm_pct": CoSeparableNMF(r, r, method="cosfgm", scaling=None).fit(known),
    }
    cols, chosen = np.asarray(default.col_indices_), np.asarray(greedy(known, r).col_indices)
    weights = column_weights(as_matrix(known), chosen)
    neighbours = KNeighborsRegressor(NEIGHBOURS).fit(rows[:, cols], rows)
    mean = np.broadcast_to(rows.mean(axis=0), others.shape)
    return {
        **{name: completed(others, model) for name, model in models.items()},
        "greedy_pct": off(others, others[:, chosen] @ weights, chosen),
        "neighbours_pct": off(others, neighbours.predict(others[:, cols]), cols),
        "mean_row_pct": off(others, mean, cols),
        "blank_pct": 100 * float(np.mean(~others[:, cols].any(axis=1))),
    }


def completed(X: Block, model: CoSeparableNMF) -> float:
    """Return the error of rows that a model predicts from its selected columns."""
    cols = np.asarray(model.col_indices_)
    return off(X, model.complete(X[:, cols]), cols)


def off(X: Block, predicted: Block, cols: Indices) -> float:
    """Return the median relative error over rows, in percent, in the columns that were not selected."""
    difference, rest = np.delete(X - predicted, cols, axis=1), np.delete(X, cols, axis=1)
    kept = rest.any(axis=1)
    return 100 * float(np.median(np.linalg.norm(difference[kept], axis=1) / np.linalg.norm(rest[kept], axis=1)))


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - every benchmark has this function
    """Return no bars."""
    return []
