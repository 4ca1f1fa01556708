"""Representatives: k real rows that stand for all rows.

Every tool is given the data once as it is ("plain") and once divided by the square roots of the sums of its rows and
columns ("degree", the norm that `cosep` uses by default), and is judged on what it was given:

- degree, plain: the share of the squares that the k rows explain by the best nonnegative weights, in percent;
- nearest: the share of the labelled rows with the class of their nearest representative, by cosine, in percent;
- agreement: the share of the representatives that are chosen again from random 80 % of the rows, of those that these
  have, in percent; for tools that do not draw random numbers.

Tools that choose centres instead of rows are judged by the rows nearest to the centres. No tool sees the classes.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.data import Problem, load
from benchmarks.harness import Row
from benchmarks.peers.calls.prepare import dense, unit_rows
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Call
from benchmarks.peers.tools import (
    SEACELLS,
    SEEDS,
    Tool,
    apricot,
    archetypes,
    fastcan,
    medoids,
    ours,
    scikit_learn,
    scikit_matter,
    submodlib,
)
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by

MAIN = "degree"
NORMS = ("degree", "plain")
PLAIN_OURS = ours("scaling=None", scaling=None)
ONE_SIDE = ours("rows only", "one_side")
TOOLS = (
    ours(),
    PLAIN_OURS,
    ONE_SIDE,
    scikit_learn("k-means", "default", "k_means", n_seeds=SEEDS),
    scikit_learn("k-means", "unit rows, 10 starts", "k_means", n_seeds=SEEDS, prepare="unit", n_init=10),
    scikit_learn("NMF", "default", "nmf", init="nndsvda", max_iter=500),
    medoids("default"),
    medoids("cosine, 10 starts", metric="cosine", starts=10),
    submodlib("default"),
    submodlib("euclidean", metric="euclidean"),
    apricot("default"),
    apricot("cosine", metric="cosine"),
    archetypes("AA", "default"),
    archetypes("AA", "furthest sum, 5 starts", init="furthest_sum", n_init=5),
    archetypes("ADA", "default"),
    archetypes("ADA", "furthest sum", init="furthest_sum"),
    scikit_matter("CUR", "default"),
    scikit_matter("FPS", "default"),
    fastcan("default"),
    fastcan("standardised", prepare="standard rows"),
    Tool("SEACells", "default", Call("cells", "seacells", SEACELLS)),
    scikit_learn("random rows", "default", "random_rows", n_seeds=SEEDS),
)
# From small to large.
SETS = ("Yale", "tr11", "microbiome-ravel", "cells", "trade", "images", "digits", "mutations", "osmFISH")
SHORT_SETS = ("Yale", "microbiome-ravel", "cells", "digits")
DRAWN = 0.8


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools on all sets."""
    for name in SETS if full else SHORT_SETS:
        yield from of_tools([tool for tool in TOOLS if takes(tool, name)], set=name)


def takes(tool: Tool, name: str) -> bool:
    """Return whether a tool is for such data: SEACells is for cells."""
    return tool.name != "SEACells" or name in {"cells", "osmFISH"}


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the figures of one tool on one set."""
    tool, problem = tool_of(key), load_once(key["set"])
    # The default of ours applies the norm itself, so that it is given the data as it is, and so is scaling=None.
    forms = {norm: problem.X if tool.call.function == "co_separable" else scaled(key["set"], norm) for norm in NORMS}
    part = part_of(problem.X.shape[0])
    given = [*forms.values(), *([] if tool.n_seeds > 1 else [forms[NORMS[0]][part]])]
    runs = answers(tool, given, problem.r, full=full)
    chosen = [np.asarray(run.answer["rows"], dtype=np.intp) for run in runs]
    n_seeds = len(runs) // len(given)
    figures = [
        judge(key["set"], {norm: chosen[n_seeds * at + seed] for at, norm in enumerate(NORMS)})
        for seed in range(n_seeds)
    ]
    again = {} if tool.n_seeds > 1 else {"agreement": agreement(chosen[0], part[chosen[-1]], part)}
    row = averaged(runs, figures, MAIN) | again | {"seeds": n_seeds}
    return {"k": problem.r, "rows": problem.X.shape[0], **row, "chosen": " ".join(map(str, chosen[0]))}


def part_of(m: int) -> Any:
    """Return a random part of the rows."""
    return np.sort(np.random.default_rng(0).choice(m, int(DRAWN * m), replace=False))


def agreement(first: Any, again: Any, part: Any) -> float:
    """Return the share of representatives that are chosen again from a part of the rows, of those in it, in percent."""
    held = np.intersect1d(first, part)
    return 100 * len(np.intersect1d(held, again)) / max(len(held), 1)


@lru_cache(maxsize=2)
def load_once(name: str) -> Problem:
    """Return a set."""
    return load(name)


@lru_cache(maxsize=4)
def scaled(name: str, norm: str) -> Any:
    """Return a set in a norm."""
    X = load_once(name).X
    return X if norm == "plain" else scale(X, norm)[0].raw


def judge(name: str, chosen: dict[str, Any]) -> Row:
    """Return what the rows chosen in each norm explain there, and how well they classify."""
    row: Row = {}
    for norm, rows in chosen.items():
        A = scaled(name, norm)
        row[norm] = 100 * (1.0 - explained_by(as_matrix(A).T, rows).error)
        row[f"{norm}_nearest"] = nearest_class(A, load_once(name).row_classes, rows)
    return row


def nearest_class(X: Any, classes: Any, rows: Any) -> float | None:
    """Return the share of rows whose nearest representative is of their class, in percent."""
    if classes is None:
        return None
    A = unit_rows(dense(X))
    labelled = rows[classes[rows] >= 0]
    if len(labelled) == 0:
        return 0.0
    known = classes >= 0
    nearest = (A[known] @ A[labelled].T).argmax(axis=1)
    return 100 * float((classes[labelled][nearest] == classes[known]).mean())
