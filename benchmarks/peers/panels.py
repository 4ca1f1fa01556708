"""Panels: k columns to measure, from which all other columns are predicted.

Columns are chosen on random 70 % of the rows, and the other columns of the remaining rows are predicted from them. The
figure is the mean over the columns of R^2, where a column that is predicted no better than by its mean counts as 0.
Every panel is decoded in four ways, so that the choice and not the decoder is judged:

- weights: the best nonnegative weights, without an intercept;
- complete: what `CoSeparableNMF.complete` does by default, a ridge of its own strength for each column;
- ridge: scikit-learn's RidgeCV, one strength for all columns, on standardised columns;
- neighbours: the mean of the 5 nearest rows, in units of the spread of each column.

Tools that choose rows are given the transpose, with columns of mean zero and spread one where their setting says so. No
tool sees classes.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.completion import FORMS, Task, dense
from benchmarks.data import Block
from benchmarks.harness import Row
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Call
from benchmarks.peers.tools import (
    SEEDS,
    SPAPROS,
    Tool,
    archetypes,
    fastcan,
    medoids,
    on_columns,
    ours,
    scikit_learn,
    scikit_matter,
    submodlib,
)
from cosep.fit.panel_sums import moments_in_memory
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by
from cosep.solve.decoders import decoder_named
from cosep.utils.types import Indices

MAIN = "complete"
DECODERS = ("weights", "complete", "ridge", "neighbours")
TOOLS = (
    ours(),
    ours("predictive", method="predictive"),
    *map(
        on_columns,
        (
            fastcan("default"),
            fastcan("standardised", prepare="standard rows"),
            scikit_matter("CUR", "default"),
            scikit_matter("CUR", "standardised", prepare="standard rows"),
            scikit_matter("FPS", "default"),
            scikit_matter("FPS", "standardised", prepare="standard rows"),
            medoids("default"),
            medoids("correlation, 10 starts", metric="correlation", starts=10),
            submodlib("default"),
            submodlib("standardised", prepare="standard rows"),
            archetypes("AA", "default"),
            scikit_learn(
                "k-means", "standardised, 10 starts", "k_means", n_seeds=SEEDS, prepare="standard rows", n_init=10
            ),
            Tool("spapros", "PCA genes", Call("cells", "spapros", SPAPROS)),
            scikit_learn("most variable", "default", "most_variable"),
            scikit_learn("random columns", "default", "random_rows", n_seeds=SEEDS),
        ),
    ),
)
TASKS = (
    Task("wine", "data", 4),
    Task("breast cancer", "data", 5),
    Task("Yale", "data", 15),
    Task("trade", "log", 10),
    Task("tr11", "log", 20),
    Task("cells", "data", 20),
    Task("digits", "data", 10),
    Task("mutations", "log", 10),
    Task("osmFISH", "log", 10),
)
SHORT_TASKS = (
    Task("wine", "data", 4),
    Task("breast cancer", "data", 5),
    Task("cells", "data", 20),
    Task("digits", "data", 10),
)
SPLITS, KNOWN = 3, 0.7
NEIGHBOURS = 5
STRENGTHS = np.logspace(-3, 5, 17)


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools on all sets."""
    for task in TASKS if full else SHORT_TASKS:
        tools = [tool for tool in TOOLS if tool.name != "spapros" or task.name in {"cells", "osmFISH"}]
        yield from of_tools(tools, set=task.name, form=task.form, k=task.r)


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the figures of one tool on one set: means over splits and seeds."""
    tool, splits = tool_of(key), halves(key["set"], key["form"])
    runs = answers(tool, [known for known, _ in splits], key["k"], full=full)
    seeds = len(runs) // len(splits)
    name = "rows" if tool.transposed else "cols"
    panels = [np.asarray(run.answer[name], dtype=np.intp) for run in runs]
    figures = [judge(*splits[at // seeds], panel) for at, panel in enumerate(panels)]
    row = averaged(runs, figures, MAIN)
    return {
        "rows": sum(len(part) for part in splits[0]),
        **row,
        "seeds": seeds,
        "chosen": " ".join(map(str, panels[0])),
    }


@lru_cache(maxsize=2)
def halves(name: str, form: str) -> list[tuple[Block, Block]]:
    """Return random parts of the rows to choose on, and the rows to predict; columns that are constant are left out."""
    X = FORMS[form](dense(name))
    found = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(X))
        count = int(KNOWN * len(X))
        known, unseen = X[np.sort(order[:count])], X[np.sort(order[count:])]
        varied = np.flatnonzero(known.std(axis=0) > 0)
        found.append((known[:, varied], unseen[:, varied]))
    return found


def judge(known: Block, unseen: Block, cols: Indices) -> Row:
    """Return the figure of each decoder."""
    others = np.setdiff1d(np.flatnonzero(unseen.std(axis=0) > 0), cols)
    predicted = {name: decode(known, unseen[:, cols], cols) for name, decode in DECODE.items()}
    return {name: mean_r2(unseen[:, others], values[:, others]) for name, values in predicted.items()}


def mean_r2(X: Block, predicted: Block) -> float:
    """Return the mean R^2 of the columns, each at least 0."""
    r2 = 1.0 - ((X - predicted) ** 2).mean(axis=0) / X.var(axis=0)
    return float(np.maximum(r2, 0.0).mean())


def by_weights(known: Block, measured: Block, cols: Indices) -> Block:
    """Predict by the best nonnegative weights."""
    return np.asarray(measured @ explained_by(as_matrix(known), cols).V.T)


def by_complete(known: Block, measured: Block, cols: Indices) -> Block:
    """Predict as `CoSeparableNMF.complete` does."""
    moments = moments_in_memory(as_matrix(known), cols, None)
    decoder = decoder_named("ridge", moments, cols, np.zeros((len(cols), known.shape[1])))
    return np.asarray(decoder.predict(measured))


def by_ridge(known: Block, measured: Block, cols: Indices) -> Block:
    """Predict by RidgeCV."""
    unit = known[:, cols].std(axis=0)
    model = RidgeCV(STRENGTHS).fit(known[:, cols] / unit, known)
    return np.asarray(model.predict(measured / unit))


def by_neighbours(known: Block, measured: Block, cols: Indices) -> Block:
    """Predict by the nearest rows."""
    unit = known[:, cols].std(axis=0)
    model = KNeighborsRegressor(NEIGHBOURS).fit(known[:, cols] / unit, known)
    return np.asarray(model.predict(measured / unit))


DECODE = {"weights": by_weights, "complete": by_complete, "ridge": by_ridge, "neighbours": by_neighbours}
