"""Co-clusters: one label for each row and each column.

The number of clusters is that of the classes, which no tool sees. Labels are judged by the classes, where these are
known: normalized mutual information and adjusted Rand index of the rows (times 100), and the accuracy of rows and of
columns (the share in the class of their cluster, each cluster matched to one class), in percent. The class of a word is
the one in whose documents it is most frequent on average. `k-means` clusters the rows alone.
"""

from collections.abc import Iterator
from typing import Any

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks.data import Problem
from benchmarks.harness import Row
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Limits
from benchmarks.peers.representatives import load_once
from benchmarks.peers.tools import SEEDS, SLOW_SEEDS, Tool, biarchetypes, ours, scikit_learn
from cosep import clustering_accuracy

MAIN = "nmi"
FIGURES = ("nmi", "ari", "accuracy", "column_accuracy")
TOOLS = (
    ours(),
    ours("scaling=None", scaling=None),
    scikit_learn("SpectralCoclustering", "default", "spectral", n_seeds=SEEDS),
    scikit_learn(
        "SpectralCoclustering", "arpack, 10 starts", "spectral", n_seeds=SEEDS, svd_method="arpack", n_init=10
    ),
    scikit_learn("NMF", "default", "nmf", init="nndsvda", max_iter=500),
    scikit_learn("NMF", "degree-scaled", "nmf", init="nndsvda", max_iter=500, scaling="degree"),
    scikit_learn("NMF", "KL", "nmf", init="nndsvda", max_iter=500, solver="mu", beta_loss="kullback-leibler"),
    scikit_learn("k-means", "default", "k_means", n_seeds=SEEDS),
    scikit_learn("k-means", "unit rows, 10 starts", "k_means", n_seeds=SEEDS, prepare="unit", n_init=10),
    scikit_learn("LDA", "default", "lda", n_seeds=SLOW_SEEDS),
    biarchetypes("default"),
)
# From small to large.
SETS = (
    "tr23",
    "Yale",
    "microbiome-ravel",
    "tr11",
    "tr45",
    "cells",
    "docstrings",
    "digits",
    "k1b",
    "osmFISH",
    "classic",
)
SHORT_SETS = ("tr23", "Yale", "microbiome-ravel", "cells", "docstrings", "digits")
# BiAA takes half a minute and more.
LIMIT = Limits(40.0)


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools on all sets."""
    for name in SETS if full else SHORT_SETS:
        yield from of_tools(TOOLS, set=name)


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the figures of one tool on one set."""
    problem = load_once(key["set"])
    runs = answers(tool_of(key), [problem.X], problem.r, LIMIT if full else None, full=full)
    row = averaged(runs, [judge(problem, run.answer) for run in runs], MAIN)
    return {"k": problem.r, "rows": problem.X.shape[0], **row}


def judge(problem: Problem, answer: dict[str, Any]) -> Row:
    """Return the agreement of labels with classes."""
    rows, cols = answer["row_labels"], answer.get("col_labels")
    figures: Row = {}
    if problem.row_classes is not None:
        known = problem.row_classes >= 0
        true, found = problem.row_classes[known], rows[known]
        figures["nmi"] = 100 * float(normalized_mutual_info_score(true, found))
        figures["ari"] = 100 * float(adjusted_rand_score(true, found))
        figures["accuracy"] = 100 * clustering_accuracy(true, found)
    if problem.col_classes is not None and cols is not None:
        known = problem.col_classes >= 0
        figures["column_accuracy"] = 100 * clustering_accuracy(problem.col_classes[known], cols[known])
    return figures
