"""`CoSeparableNMF(r, r)` with its defaults: selection, fit and clusters, compared with other methods.

The document sets are raw counts of their 1000 most frequent words, the faces 437 pixels x 400 images, the digits 1797
images x 64 pixels. One run. In percent:

- rows, columns, core, refitted: the fidelities, what the selected rows, the selected columns, the core and the fitted
  factors explain: shares of squares, `1 - ||X - X^||^2 / ||X||^2`, in the plain norm;
- `degree`: the same factors and weights, measured in the norm of the default, `scaling="degree"`;
- accuracy: `clustering_accuracy` of the labels, if classes are known. The class of a word is the one in whose documents
  it is most frequent on average; pixels have no classes.

All methods but the default select and fit in the plain norm: the default with `scaling=None`, and the four selectors
that follow. CoS-FGM is `method="cosfgm"`. SPA+ is SPA on both sides without normalization, as the paper runs it on
documents. Medoids are the rows and columns with the largest cosines to the components of A-HALS; together with the
greedy selection they are the reference of the bars. NMF is scikit-learn's with `init="nndsvd"` and `max_iter=200`.
Labels are the components with the largest share in the refitted factors. SpectralCoclustering does not accept all-zero
rows and columns: they are removed, and have no label.

The bars of fidelities hold `scaling=None` against the plain-norm references; those of accuracy and time hold the
default. The first table has the means over the document sets, and the total seconds; the second has all rows.
`nonzeros` are those of the core.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from benchmarks.data import DOCUMENTS, TINY, Block, Problem, load
from benchmarks.harness import Bar, Row, clock, rows_on_sets, total, warm
from cosep import CoSeparableNMF, Factorization, Selection, both_sides, clustering_accuracy, spa
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.solve.labels import factor_labels
from cosep.utils.types import Indices


def medoids(X: Any, n_rows: int, n_cols: int) -> Selection:
    """Select the rows and columns most similar to the components of a nonnegative factorization."""
    factors = ahals(X, max(n_rows, n_cols))
    return Selection(closest(X.T, factors.col_factor.T, n_rows), closest(X, factors.row_factor, n_cols))


def closest(X: Any, components: Block, r: int) -> Indices:
    """Return for each component the column with the largest cosine; the largest first, without repetition."""
    M = as_matrix(X)
    lengths = np.sqrt(M.squared_norms())[:, None] * np.linalg.norm(components, axis=0)
    cosines = M.cross(components) / np.where(lengths > 0, lengths, np.inf)
    chosen: list[int] = []
    for k in np.argsort(-cosines.max(axis=0), kind="stable")[:r]:
        cosines[chosen, k] = -1.0
        chosen.append(int(cosines[:, k].argmax()))
    return np.array(chosen)


PLAIN = "default, scaling=None"
METHODS: dict[str, Any] = {
    "CoS-FGM": "cosfgm",
    "SPA+": both_sides(partial(spa, normalize=False)),
    "greedy": "greedy",
    "medoids": medoids,
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and method."""
    warm()
    list(compare(load("planted")))
    return rows_on_sets(TINY if tiny else (*DOCUMENTS, "faces", "digits"), compare)


def compare(problem: Problem) -> Iterator[Row]:
    """Yield one row per method."""
    r = problem.r
    yield {"method": "default", **choose(problem, CoSeparableNMF(r, r))}
    yield {"method": PLAIN, **choose(problem, CoSeparableNMF(r, r, scaling=None))}
    for name, method in METHODS.items():
        yield {"method": name, **choose(problem, CoSeparableNMF(r, r, method=method, scaling=None))}
    yield {"method": "NMF", **factor(problem)}
    yield {"method": "SpectralCoclustering", **cluster(problem)}


def choose(problem: Problem, model: CoSeparableNMF) -> Row:
    """Fit a model that selects rows and columns."""
    X = problem.X
    seconds = clock(lambda: model.fit(X)).seconds
    in_degree_norm = replace(model.factorization_, scaling=scale(X, "degree")[1]).fidelity(X)
    return {
        **percent("{}_pct", model.plain_fidelity_),
        **percent("degree_{}_pct", in_degree_norm),
        **accuracies(problem, model.row_labels_, model.column_labels_),
        "nonzeros": model.core_diagnosis_.nonzeros,
        "s": seconds,
    }


def percent(name: str, fidelity: Iterable[Any]) -> Row:
    """Return named percentages of rows, columns, core and refitted factors."""
    parts = ("rows", "columns", "core", "refitted")
    return {name.format(part): 100 * figure for part, figure in zip(parts, fidelity, strict=True)}


def factor(problem: Problem) -> Row:
    """Fit NMF."""
    nmf = NMF(problem.r, init="nndsvd", max_iter=200, random_state=0)
    seconds, W = clock(lambda: nmf.fit_transform(problem.X))
    H = nmf.components_
    labels = factor_labels(W, np.linalg.norm(H, axis=1)), factor_labels(H.T, np.linalg.norm(W, axis=0))
    norms = {"refitted_pct": None, "degree_refitted_pct": scale(problem.X, "degree")[1]}
    shares = {
        name: 100 * (1 - Factorization(W, None, H, scaling=norm).relative_error(problem.X) ** 2)
        for name, norm in norms.items()
    }
    return {**shares, **accuracies(problem, *labels), "s": seconds}


def cluster(problem: Problem) -> Row:
    """Cluster the rows and columns that are not zero."""
    X = problem.X
    rows, cols = np.flatnonzero(X.sum(axis=1)), np.flatnonzero(X.sum(axis=0))
    model = SpectralCoclustering(problem.r, random_state=0)
    seconds = clock(lambda: model.fit(X[rows][:, cols])).seconds
    labels = np.full(X.shape[0], -1), np.full(X.shape[1], -1)
    labels[0][rows], labels[1][cols] = model.row_labels_, model.column_labels_
    return {**accuracies(problem, *labels), "s": seconds}


def accuracies(problem: Problem, row_labels: Any, col_labels: Any) -> Row:
    """Return the accuracies of the sides whose classes are known."""
    sides = {"row": (problem.row_classes, row_labels), "column": (problem.col_classes, col_labels)}
    return {
        f"{side}_accuracy_pct": 100 * clustering_accuracy(true, labels)
        for side, (true, labels) in sides.items()
        if true is not None
    }


def summary(rows: list[Row]) -> list[Row]:
    """Return one row per method, with means over the document sets."""
    texts = on_documents(rows)
    methods = dict.fromkeys(row["method"] for row in texts)
    return [{"method": name, **averages([row for row in texts if row["method"] == name])} for name in methods]


def averages(rows: list[Row]) -> Row:
    """Return the means of all percentages, and the sum of seconds."""
    names = [name for name in (rows[0] if rows else ()) if name.endswith("_pct")]
    return {name: total(rows, name) / len(rows) for name in names} | {"s": total(rows, "s")}


def on_documents(rows: list[Row]) -> list[Row]:
    """Return the rows of document sets that are not missing."""
    return [row for row in rows if row["set"] in DOCUMENTS and "method" in row]


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the means of the default, and of it in the plain norm, over the document sets with their limits."""
    texts = on_documents(rows)

    def figures(method: str, name: str) -> Block:
        return np.array([row[name] for row in texts if row["method"] == method])

    def ratio(method: str, name: str, others: Block) -> float | None:
        return float(figures(method, name).sum() / others.sum()) if len(others) else None

    def mean(name: str) -> float | None:
        return float(figures("default", name).mean()) if texts else None

    def best(name: str) -> Block:
        return np.maximum(figures("greedy", name), figures("medoids", name))

    weaker = np.minimum(figures(PLAIN, "rows_pct"), figures(PLAIN, "columns_pct"))
    over = f"over {len(weaker)} document sets"
    shares = {
        f"scaling=None: fidelity of rows {over}, as a share of the better of greedy and medoids": (
            "rows_pct",
            best("rows_pct"),
            0.98,
        ),
        "the same, columns": ("columns_pct", best("columns_pct"), 0.98),
        "the same, core, as a share of the weaker of rows and columns": ("core_pct", weaker, 0.95),
        f"scaling=None: refitted {over}, as a share of NMF's": ("refitted_pct", figures("NMF", "refitted_pct"), 0.99),
    }
    seconds = ratio("default", "s", figures("NMF", "s"))
    return [
        *(
            Bar(what, ratio(PLAIN, name, others), limit, at_least=True)
            for what, (name, others, limit) in shares.items()
        ),
        Bar(f"default: accuracy of documents {over}, percent", mean("row_accuracy_pct"), 65, at_least=True),
        Bar(f"default: accuracy of words {over}, percent", mean("column_accuracy_pct"), 65, at_least=True),
        Bar(f"default: seconds of the fit {over}, as a multiple of NMF's", seconds, 2),
    ]
