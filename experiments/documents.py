"""Tables 1 to 3: approximation, clusters of documents and clusters of words on the paper's document sets.

Counts of the 1000 most frequent words of each set, as they are; r, the number of classes, is how many rows and how many
columns are selected (by GSPA and GS-FGM: how many in all). As in the paper CoS-FGM, SPA+, SPAC, SPAR, GSPA and GS-FGM
select among at most 500 documents and 500 words, which stand for clusters of the others and are weighted by the square
roots of their sizes; the other methods see everything. Factors are fitted to the whole matrix, and every figure is
taken on it. CoS-FGM and SPA+ are fitted by the letter of Algorithm 3, nine turns of 100 sweeps, all others until they
stand still. *CoS-FGM, certified* is `CoSeparableNMF(r, r, method="cosfgm", tol=1e-5)`, the alternation on the whole
matrix, solved to a proven duality gap; *faithful* is `CoSeparableNMF(r, r, scaling=None)`, the default selection in the
plain norm, which is the norm of the paper; *default* is `CoSeparableNMF(r, r)` as it comes; *greedy* takes what
lowers the least-squares error most; NMF (`init="nndsvd"`, `max_iter=200`) and SpectralCoclustering are scikit-learn's.
BiOR-NM3F, A-HALS and MV-NMF may take 1000 iterations, as in the paper, and stop earlier where nothing moves; GS-FGM is
the best of ten penalties from 1e-3 to 10. The alternation of CoS-FGM ends after ten pairs if none comes back, where the
paper allows a hundred. All percentages of the matrix are `1 - ||X - X^|| / ||X||` in the plain norm, as in the paper:
the approximation, and the fidelities of rows, columns and core.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, clock
from cosep import Factorization, Selection, clustering_accuracy, mix, relative_approximation
from experiments.document_methods import EXACT, METHODS, Answer, shrink
from experiments.document_page import text
from experiments.document_sets import PLANTED, RANKS, Labels, Task, available, load
from experiments.shares import relative_share

VERSION = 1


def cells(*, tiny: bool = False) -> Iterator[Row]:
    """Yield set, method and settings; the miniature is one planted matrix."""
    for name, checksum in [(PLANTED, "none")] if tiny else available():
        for method, (settings, _) in {**METHODS, **EXACT}.items():
            yield {
                "set": name,
                "method": method,
                "settings": settings,
                "rank": RANKS[name],
                "data": f"sha256:{checksum}",
            }


def run(key: Row) -> Row:
    """Return the figures of one method on one set; the clock starts when data and preselection are at hand."""
    compile_all()
    name, method = key["set"], key["method"]
    task, _ = load(name), shrink(name)
    seconds, answer = clock(lambda: {**METHODS, **EXACT}[method][1](name))
    return judged(task, answer) | {"seconds": round(seconds, 2)}


@lru_cache
def compile_all() -> None:
    """Let every method run once, so that no clock sees what is compiled."""
    for _, method in (*METHODS.values(), *EXACT.values()):
        method(PLANTED)


def section(rows: list[Row], folder: Path) -> str:
    """Return the tables beside the printed ones, and what they show."""
    return text(__doc__ or "", rows, folder)


def judged(task: Task, answer: Answer) -> Row:
    """Return all figures of an answer."""
    figures: Row = {} if answer.factors is None else by_factors(task, answer.factors)
    if answer.selection is not None:
        figures |= by_selection(task, answer.selection, answer.factors)
    if answer.labels is not None:
        figures |= accuracies(task, "own_{}_pct", *answer.labels)
    if answer.orthogonality is not None:
        figures["orthogonality"] = round(answer.orthogonality, 2)
    if answer.readings is not None:
        for reading, factors in answer.readings().items():
            figures |= {f"{reading}_{figure}": value for figure, value in by_factors(task, factors).items()}
    return figures


def by_factors(task: Task, factors: Factorization) -> Row:
    """Return how much the factors explain, and the accuracy of clusters by the paper's rule."""
    labels = hard(factors.row_factor), hard(factors.col_factor.T)
    approximation = percent(relative_approximation(task.X, factors))
    return {"approximation_pct": approximation, **accuracies(task, "{}_pct", *labels)}


def by_selection(task: Task, selection: Selection, factors: Factorization | None) -> Row:
    """Return what the selected rows, columns and core explain on their own, their numbers, and the duality gap."""
    rows, cols = selection.row_indices, selection.col_indices
    figures: Row = {"rows": 0 if rows is None else len(rows), "columns": 0 if cols is None else len(cols)}
    if rows is not None:
        figures["row_fidelity_pct"] = percent(relative_share(mix(task.X, Selection(rows, None)).fidelity(task.X).rows))
    if cols is not None:
        figures["column_fidelity_pct"] = percent(
            relative_share(mix(task.X, Selection(None, cols)).fidelity(task.X).cols)
        )
    if factors is not None and factors.core is not None:
        figures["core_fidelity_pct"] = percent(relative_share(mix(task.X, selection, max_iter=1).fidelity(task.X).core))
        figures["core_nonzeros"] = int(np.count_nonzero(factors.core))
    return figures if selection.gap is None else figures | {"gap": float(f"{selection.gap:.1e}")}


def hard(factor: NDArray[Any]) -> Labels:
    """Return the position of the largest entry of each row, one of several at random, as published."""
    largest = factor == factor.max(axis=1, keepdims=True)
    return np.asarray(np.where(largest, np.random.default_rng(0).random(factor.shape), -1.0).argmax(axis=1))


def accuracies(task: Task, name: str, of_documents: Any, of_words: Any) -> Row:
    """Return the accuracy of clusters of documents and of words."""
    return {
        name.format("document"): percent(clustering_accuracy(task.documents, of_documents)),
        name.format("word"): percent(clustering_accuracy(task.words, of_words)),
    }


def percent(share: float | None) -> float:
    """Return as many digits as are printed."""
    return round(100 * (share or 0.0), 2)
