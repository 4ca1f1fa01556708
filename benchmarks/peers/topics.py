"""Topics: lists of words that say what a corpus is about.

The first ten words of each topic are judged by how often they occur in the same documents (normalized pointwise mutual
information, NPMI, from the documents of the corpus itself: -1 to 1, times 100) and by how many of them are in one topic
only (diversity, in percent). The documents are labelled by their largest share, and the labels judged by the classes
(NMI, times 100), which no tool sees. Every tool gets the counts of the 1000 most frequent words.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import Problem
from benchmarks.harness import Row
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Call
from benchmarks.peers.representatives import load_once
from benchmarks.peers.tools import SLOW_SEEDS, TOMOTOPY, Tool, ours, scikit_learn

MAIN = "npmi"
FIGURES = ("npmi", "diversity", "nmi")
TOOLS = (
    ours(),
    ours("scaling=None", scaling=None),
    ours("TriSymmetricNMF", "anchor_topics"),
    scikit_learn("NMF", "default", "nmf", init="nndsvda", max_iter=500),
    scikit_learn("NMF", "TF-IDF", "nmf", init="nndsvda", max_iter=500, scaling="tfidf"),
    scikit_learn("NMF", "degree-scaled", "nmf", init="nndsvda", max_iter=500, scaling="degree"),
    scikit_learn("NMF", "KL", "nmf", init="nndsvda", max_iter=500, solver="mu", beta_loss="kullback-leibler"),
    scikit_learn("LDA", "default", "lda", n_seeds=SLOW_SEEDS),
    scikit_learn("LDA", "online, 20 passes", "lda", n_seeds=SLOW_SEEDS, learning_method="online", max_iter=20),
    Tool("tomotopy LDA", "default", Call("topic_models", "tomotopy_lda", TOMOTOPY), n_seeds=SLOW_SEEDS),
    Tool(
        "tomotopy LDA",
        "1000 iterations, common words removed",
        Call("topic_models", "tomotopy_lda", TOMOTOPY, {"iterations": 1000, "rm_top": 20}),
        n_seeds=SLOW_SEEDS,
    ),
)
# From small to large.
SETS = ("tr23", "tr11", "tr45", "docstrings", "k1b", "classic3")
SHORT_SETS = ("tr23", "tr45", "docstrings")
WORDS = 10


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
    runs = answers(tool_of(key), [problem.X], problem.r, full=full)
    row = averaged(runs, [judge(problem, run.answer) for run in runs], MAIN)
    return {"k": problem.r, "rows": problem.X.shape[0], **row}


def judge(problem: Problem, answer: dict[str, Any]) -> Row:
    """Return the figures of the topics."""
    first = [np.argsort(-topic, kind="stable")[:WORDS] for topic in np.asarray(answer["topics"])]
    lists = [words[np.asarray(answer["topics"])[k][words] > 0] for k, words in enumerate(first)]
    together = scipy.sparse.csc_array(problem.X > 0, dtype=np.float64)
    shown = np.concatenate(lists)
    figures: Row = {
        "npmi": 100 * float(np.mean([coherence(together, words) for words in lists])),
        "diversity": 100 * len(np.unique(shown)) / (WORDS * len(lists)),
    }
    if problem.row_classes is not None and "row_labels" in answer:
        figures["nmi"] = 100 * float(normalized_mutual_info_score(problem.row_classes, answer["row_labels"]))
    return figures


def coherence(occurs: Any, words: Any) -> float:
    """Return the mean NPMI of all pairs of words, -1 for words that are never together or for too few words."""
    if len(words) < 2:
        return -1.0
    some = occurs[:, words]
    both = np.asarray((some.T @ some).todense()) / occurs.shape[0]
    alone = np.diagonal(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(both / np.outer(alone, alone)) / -np.log(both)
    npmi[both == 0] = -1.0
    npmi[both == 1] = 1.0
    return float(npmi[np.triu_indices(len(words), 1)].mean())
