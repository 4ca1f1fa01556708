"""Representatives: k real rows that stand for all rows.

Every tool is given the data once as it is ("plain") and once divided by the square roots of the sums of its rows and
columns ("degree", the norm that `cosep` uses by default), and is judged on what it was given:

- fidelity: the share of the squares that the k rows explain by the best nonnegative weights, in percent;
- nearest: the share of the labelled rows with the class of their nearest representative, by cosine, in percent;
- agreement: the share of the representatives that are chosen again from random 80 % of the rows, where these have them.

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
    DEFAULT,
    SEACELLS,
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

MAIN = "fidelity"
NORMS = ("degree", "plain")
PLAIN_OURS = ours("scaling=None", scaling=None)
ONE_SIDE = ours("rows only", "one_side")
TOOLS = (
    ours(),
    PLAIN_OURS,
    ONE_SIDE,
    scikit_learn("k-means", "default", "k_means", random=True),
    scikit_learn("k-means", "unit rows, 10 starts", "k_means", random=True, prepare="unit", n_init=10),
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
    scikit_learn("random rows", "default", "random_rows", random=True),
)
# From small to large.
SETS = (
    "Yale",
    "tr11",
    "microbiome-ravel",
    "cells",
    "trade",
    "images",
    "docstrings",
    "digits",
    "k1b",
    "mutations",
    "osmFISH",
)
SHORT_SETS = ("Yale", "microbiome-ravel", "cells", "digits")
DRAWS, DRAWN = 1, 0.8


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools on all sets in both norms, then the defaults on a random part of the rows."""
    sets = SETS if full else SHORT_SETS
    for name in sets:
        for norm in NORMS:
            yield from of_tools([tool for tool in TOOLS if takes(tool, name, norm)], set=name, norm=norm, draw=0)
    settled = [tool for tool in TOOLS if tool.setting == DEFAULT and not tool.random]
    for name in sets if full else ():
        for draw in range(1, 1 + DRAWS):
            yield from of_tools(
                [tool for tool in settled if takes(tool, name, NORMS[0])], set=name, norm=NORMS[0], draw=draw
            )


def takes(tool: Tool, name: str, norm: str) -> bool:
    """Return whether a tool is for such data: SEACells is for cells, and two settings of ours are norms."""
    if tool.name == "SEACells":
        return name in {"cells", "osmFISH"}
    return tool not in (PLAIN_OURS, ONE_SIDE) or (norm == "plain" if tool is PLAIN_OURS else True)


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the figures of one tool on one set."""
    tool, problem = tool_of(key), given(key["set"], key["norm"])
    # The default of ours applies the norm itself, so that it is given the data as it is.
    X = load_once(key["set"]).X if tool == ours() else problem.X
    part = part_of(X.shape[0], key["draw"])
    runs = answers(tool, [X[part]], problem.r, full=full)
    chosen = [part[np.asarray(run.answer["rows"], dtype=np.intp)] for run in runs]
    row = averaged(runs, [judge(problem, rows) for rows in chosen], MAIN)
    return {"k": problem.r, "rows": len(part), **row, "chosen": " ".join(str(i) for i in chosen[0])}


def part_of(m: int, draw: int) -> Any:
    """Return all rows, or a random part of them."""
    if draw == 0:
        return np.arange(m)
    return np.sort(np.random.default_rng(draw).choice(m, int(DRAWN * m), replace=False))


@lru_cache(maxsize=2)
def load_once(name: str) -> Problem:
    """Return a set."""
    return load(name)


@lru_cache(maxsize=2)
def given(name: str, norm: str) -> Problem:
    """Return a set as the tools get it."""
    problem = load_once(name)
    return problem if norm == "plain" else problem._replace(X=scale(problem.X, norm)[0].raw)


def judge(problem: Problem, rows: Any) -> Row:
    """Return what some rows explain, and how well they classify."""
    share = 1.0 - explained_by(as_matrix(problem.X).T, rows).error
    return {"fidelity": 100 * share, "nearest": nearest_class(problem, rows)}


def nearest_class(problem: Problem, rows: Any) -> float | None:
    """Return the share of rows whose nearest representative is of their class, in percent."""
    classes = problem.row_classes
    if classes is None:
        return None
    A = unit_rows(dense(problem.X))
    labelled = rows[classes[rows] >= 0]
    if len(labelled) == 0:
        return 0.0
    known = classes >= 0
    nearest = (A[known] @ A[labelled].T).argmax(axis=1)
    return 100 * float((classes[labelled][nearest] == classes[known]).mean())


def summary(rows: list[Row]) -> list[Row]:
    """Return the rows of whole sets, with the agreement on parts of them."""
    whole = [row for row in rows if row["draw"] == 0]
    return [row | agreement(row, rows) for row in whole]


def agreement(row: Row, rows: list[Row]) -> Row:
    """Return the mean share of representatives that are chosen again from parts that have them, in percent."""
    same = [
        other
        for other in rows
        if other["draw"]
        and "chosen" in other
        and all(other[name] == row[name] for name in ("set", "norm", "tool", "setting"))
    ]
    if not same or "chosen" not in row:
        return {}
    first = np.array(str(row["chosen"]).split(), dtype=int)
    shares = []
    for other in same:
        held = np.intersect1d(first, part_of(int(row["rows"]), int(other["draw"])))
        again = np.array(str(other["chosen"]).split(), dtype=int)
        shares.append(len(np.intersect1d(held, again)) / max(len(held), 1))
    return {"agreement": 100 * float(np.mean(shares))}
