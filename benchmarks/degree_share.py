"""The default norm: how much of the mean sum to add to each sum, and whether to continue with a free core.

`CoSeparableNMF(r, r)` on the document sets, the docstrings, the digits and the faces (as rows), with rows and columns
divided by `sqrt(sum + share * mean sum)`, and in the plain norm. Accuracy of documents and words, means over the
document sets; normalized mutual information of the labels and the classes of the others. `own` is the share of selected
rows that lie in the cluster of their own number, over all sets. `free steps` continue from the fitted factors with
plain NMF, the core being free, and label by the result. The share of the library is 0.2.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import DOCUMENTS, Block, Problem, load
from benchmarks.harness import Bar, Row, say, warm
from cosep import CoSeparableNMF, clustering_accuracy
from cosep.matrix.scaling import DEGREE_SHARE
from cosep.matrix.validation import as_matrix
from cosep.solve.alternation import Budget, refit
from cosep.solve.labels import factor_labels
from cosep.utils.types import Indices
from experiments.data import MissingDataError

SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 1.0, None)
FREE_STEPS = (10, 30, 100)
OTHERS = ("docstrings", "digits", "images")


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per share, then one per number of free steps."""
    warm()
    problems = dict(_problems(("planted",) if tiny else (*DOCUMENTS, *OTHERS)))
    for share in SHARES[-2:] if tiny else SHARES:
        say(f"  share {share}")
        yield {"share": str(share), "free_steps": 0, **_figures(problems, share, 0)}
    for steps in FREE_STEPS[:1] if tiny else FREE_STEPS:
        say(f"  {steps} free steps")
        yield {"share": str(DEGREE_SHARE), "free_steps": steps, **_figures(problems, DEGREE_SHARE, steps)}


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - a table to choose from, without a limit
    """Return no bars."""
    return []


def _problems(names: tuple[str, ...]) -> Iterator[tuple[str, Problem]]:
    """Yield the data sets that are there."""
    for name in names:
        try:
            yield name, load(name)
        except MissingDataError as missing:
            say(f"  {name}: {missing}")


def _figures(problems: dict[str, Problem], share: float | None, steps: int) -> Row:
    """Return means over the document sets, and one figure for each other set."""
    documents: list[tuple[float, float]] = []
    own: list[float] = []
    row: Row = {}
    for name, problem in problems.items():
        model = CoSeparableNMF(problem.r, problem.r, scaling=None if share is None else _diagonals(problem.X, share))
        row_labels, col_labels = _labels(model.fit(problem.X), problem, steps)
        chosen = np.asarray(model.row_indices_)
        own.append(float(np.mean(row_labels[chosen] == np.arange(len(chosen)))))
        if problem.row_classes is not None and problem.col_classes is not None:
            accuracies = (
                clustering_accuracy(problem.row_classes, row_labels),
                clustering_accuracy(problem.col_classes, col_labels),
            )
            documents.append(accuracies)
        elif problem.row_classes is not None:
            row[f"{name}_nmi"] = float(normalized_mutual_info_score(problem.row_classes, row_labels))
    means = 100 * np.mean(documents, axis=0) if documents else (np.nan, np.nan)
    return {"documents_pct": float(means[0]), "words_pct": float(means[1]), **row, "own_pct": 100 * float(np.mean(own))}


def _diagonals(X: Any, share: float) -> tuple[Block, Block]:
    """Return the factors of rows and columns."""
    M = as_matrix(X)
    sides = []
    for sums in (M.T.sums(), M.sums()):
        regular = sums + share * sums[sums > 0].mean()
        sides.append(np.where(sums > 0, 1.0 / np.sqrt(np.where(sums > 0, regular, 1.0)), 1.0))
    return sides[0], sides[1]


def _labels(model: CoSeparableNMF, problem: Problem, steps: int) -> tuple[Indices, Indices]:
    """Return the labels of the model, or those after free steps."""
    if steps == 0:
        return np.asarray(model.row_labels_), np.asarray(model.column_labels_)
    scaling = model.factorization_.scaling
    assert scaling is not None  # noqa: S101 - free steps are taken in the default norm
    W, H = scaling.rows[:, None] * model.row_factor_, model.components_ * scaling.cols
    W, H, _ = refit(scaling.apply(as_matrix(problem.X)).mantissa, np.eye(len(H)), W, H, Budget("free", steps, 0.0))
    return factor_labels(W, np.linalg.norm(H, axis=1)), factor_labels(H.T, np.linalg.norm(W, axis=0))
