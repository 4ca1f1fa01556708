"""Panels that predict: mean R^2 of the columns that were not selected, in rows that were not fitted.

Half of the rows are fitted, the other half is predicted; each figure is the mean over ten random splits of the mean R^2
over columns, as `column_scores` has it: 1 is exact, 0 as good as the mean of the column in the predicted rows. Columns
that are constant there are left out. `as` says what the matrix holds: the data itself, its logarithm `log(1 + x)`, or
its rows as shares. Exports, mutations and words have values over many decades, and single large entries decide the R^2
of their columns, so that it says little without the logarithm.

The first columns are decoders, on the panel of `CoSeparableNMF(r, r)`: ridge (the default of `complete`), nonnegative
slopes with an intercept, the weights of the model (all that `complete` had before), the 15 nearest rows (scikit-learn,
columns in units of their spread), and the mean row. The others are panels, all decoded by ridge: that of
`method="predictive"`, and those of fastcan (canonical correlations with principal components), of scikit-matter's CUR,
and random ones. fastcan and scikit-matter get the columns with mean zero and spread one, as both advise. `estimate` is
the R^2 of the first column as `decoder` expects it from the fitted rows alone, and `spread` the standard deviation of
the first column over the splits.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.data import TINY, Block, load
from benchmarks.environments import RivalError
from benchmarks.harness import Bar, Row, say
from benchmarks.rivals import FOREIGN
from cosep import CoSeparableNMF
from cosep.fit.completion import column_scores, judged, score_sums
from cosep.fit.panel_sums import moments_in_memory
from cosep.matrix.validation import as_matrix
from cosep.records.decoder import Decoder
from cosep.solve.decoders import decoder_named
from cosep.utils.types import Indices
from experiments.data import MissingDataError

SPLITS = 10
NEIGHBOURS = 15
# How far the default may be below the best decoder on average.
CLOSE_ENOUGH = 0.02
DECODERS = ("ridge", "nonnegative", "weights", "neighbours", "mean_row")


class Task(NamedTuple):
    """A set, what is done to it, and how many columns to select."""

    name: str
    form: str
    r: int


TASKS = (
    Task("wine", "data", 4),
    Task("breast cancer", "data", 5),
    Task("digits", "data", 10),
    Task("digits", "data", 20),
    Task("images", "data", 20),
    Task("Yale", "data", 15),
    Task("osmFISH", "data", 10),
    Task("osmFISH", "log", 10),
    Task("mutations", "log", 10),
    Task("mutations", "shares", 10),
    Task("trade", "log", 10),
    Task("tr11", "log", 20),
    Task("k1b", "log", 20),
    Task("classic", "log", 20),
    Task("reviews", "log", 20),
)
TABLES: dict[str, Callable[[], Any]] = {
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data,
}
FORMS: dict[str, Callable[[Block], Block]] = {
    "data": lambda X: X,
    "log": np.log1p,
    "shares": lambda X: X / np.maximum(X.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny),
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per set, form and number of columns."""
    for task in [Task(name, "data", 4) for name in TINY] if tiny else TASKS:
        say(f"  {task.name} ({task.form}, {task.r})")
        first = {"set": task.name, "as": task.form, "r": task.r}
        try:
            X = FORMS[task.form](dense(task.name))
        except MissingDataError as missing:
            yield {**first, "note": str(missing)}
        else:
            yield first | compare(X, task.r, {} if tiny else FOREIGN, 2 if tiny else SPLITS)


def dense(name: str) -> Block:
    """Return a set as a dense array."""
    X = TABLES[name]() if name in TABLES else load(name).X
    return np.asarray(as_matrix(X).take())


def compare(X: Block, r: int, rivals: Any, n_splits: int) -> Row:
    """Return the mean R^2 of every decoder and panel over the splits."""
    splits = [figures(*halves(X, seed), r, rivals, seed) for seed in range(n_splits)]
    means: Row = {}
    for name in splits[0]:
        known = [split[name] for split in splits if split[name] is not None]
        means[name] = float(np.mean(known)) if known else None
    return means | {"spread": float(np.std([split["ridge"] for split in splits]))}


def halves(X: Any, seed: int) -> tuple[Any, Any]:
    """Return a random half of the rows, and the other half."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    half = len(order) // 2
    return X[np.sort(order[:half])], X[np.sort(order[half:])]


def figures(known: Block, unseen: Block, r: int, rivals: Any, seed: int) -> Row:
    """Return the mean R^2 of every decoder and panel on one split."""
    model = CoSeparableNMF(r, r).fit(known)
    cols = np.asarray(model.col_indices_)
    spread = known.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    neighbours = KNeighborsRegressor(min(NEIGHBOURS, len(known))).fit(known[:, cols] / unit[cols], known)
    expected = model.decoder()
    standard = (known - known.mean(axis=0)) / unit
    panels = {
        "predictive": np.asarray(CoSeparableNMF(r, r, method="predictive").fit(known).col_indices_),
        **{name.replace(" ", "_"): chosen(rival, standard, r) for name, rival in rivals.items()},
        "random": np.random.default_rng(seed).choice(np.flatnonzero(spread), r, replace=False),
    }
    return {
        **{name: score(unseen, model.decoder(name), known) for name in DECODERS[:3]},
        "neighbours": mean_r2(unseen, neighbours.predict(unseen[:, cols] / unit[cols]), cols),
        "mean_row": mean_r2(unseen, np.broadcast_to(known.mean(axis=0), unseen.shape), cols),
        **{name: None if panel is None else by_ridge(known, unseen, panel) for name, panel in panels.items()},
        "estimate": float(np.nanmean(expected.r2[expected.predicted])),
    }


def chosen(rival: Any, standard: Block, r: int) -> Indices | None:
    """Return the columns that a rival chooses, or None if it does not run."""
    try:
        return np.asarray(rival.choose(standard, r))
    except RivalError as why:
        say(f"    {why}")
        return None


def by_ridge(known: Block, unseen: Block, cols: Indices) -> float:
    """Return the mean R^2 of the default decoder on given columns."""
    moments = moments_in_memory(as_matrix(known), cols, None)
    return score(unseen, decoder_named("ridge", moments, cols, np.zeros(moments.correlations.T.shape)), known)


def score(unseen: Block, decoder: Decoder, known: Block) -> float:
    """Return the mean R^2 of a decoder."""
    state = judged(decoder, known.mean(axis=0))
    return column_scores(state, score_sums(state, as_matrix(unseen), 0)).mean


def mean_r2(X: Block, predicted: Block, cols: Indices) -> float:
    """Return the mean R^2 over the columns that were not selected and are not constant."""
    spread = X.std(axis=0)
    others = np.setdiff1d(np.flatnonzero(spread > 0), cols)
    return float(np.mean(1.0 - ((X - predicted)[:, others] ** 2).mean(axis=0) / spread[others] ** 2))


def summary(rows: list[Row]) -> list[Row]:
    """Return the mean over the sets of every decoder and panel, and its smallest figure."""
    measured = [row for row in rows if "ridge" in row]
    names = [name for name in (measured[0] if measured else {}) if name in DECODERS + panels_of(measured)]
    return [
        {
            "decoder or panel": name.replace("_", " "),
            "mean over sets": float(np.mean(values)),
            "least": min(values),
        }
        for name in names
        if (values := [row[name] for row in measured if name in row])
    ]


def panels_of(rows: list[Row]) -> tuple[str, ...]:
    """Return the names of the columns that are panels."""
    names = list(rows[0]) if rows else []
    return tuple(names[names.index("predictive") : names.index("random") + 1]) if names else ()


def bars(rows: list[Row]) -> list[Bar]:
    """Return how far the default decoder is below the best one on average, and its least figure."""
    measured = [row for row in rows if "ridge" in row]
    means = {name: float(np.mean([row[name] for row in measured])) for name in DECODERS} if measured else {}
    below = max(means.values()) - means["ridge"] if means else None
    least = min(row["ridge"] for row in measured) if measured else None
    return [
        Bar("mean R^2 of the default decoder below that of the best", below, CLOSE_ENOUGH),
        Bar("least mean R^2 of the default decoder on any set", least, 0.0, at_least=True),
    ]
