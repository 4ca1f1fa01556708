"""One model in one norm: whether the clusters of `CoSeparableNMF(r, r)` are those of its selected rows, and how good.

The document sets are raw counts of their 1000 most frequent words; r is their number of classes. Other data: the
docstrings of SciPy and scikit-learn, digits, faces as rows (`images`), and five tables (counts, grey values, trade).
The default (`scaling="degree"`) and `scaling=None` are compared with scikit-learn's NMF (`init="nndsvd"`,
`max_iter=200`), with the same NMF of the matrix divided by the square roots of its row and column sums, with
SpectralCoclustering, and with KMeans with ten starts, which clusters rows alone. One run.

- accuracy: `clustering_accuracy` of the labels of rows and columns whose class is known; `nmi`: normalized mutual
  information of classes and labels over rows that have both;
- own: the share of selected rows that lie in the cluster of their own number; `own columns`: of selected columns;
- agree: the share of labelled rows whose cluster is the selected row with the largest share in them by `row_weights_`;
- rows, columns, core, refitted: the fidelities, shares of squares in the norm of the model; `plain`: the same in the
  plain norm; `bound`: what the best approximation of that rank explains in the norm of the model; `of bound`: refitted
  as a share of it;
- bound s: seconds of `fidelity_bound` on a matrix that it has not seen, and its share of the seconds of the fit. The
  fit reuses the singular values with which the selection starts, so this is more than the bound costs in it.

The first table has the means over the document sets and over the other sets, and the total seconds.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans, SpectralCoclustering
from sklearn.decomposition import NMF
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.data import DOCUMENTS, TABLES, TINY, Problem, load
from benchmarks.harness import Bar, Row, clock, rows_on_sets, total, warm
from cosep import CoSeparableNMF, clustering_accuracy
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.metrics.bounds import fidelity_bound
from cosep.records.fidelity import Fidelity
from cosep.solve.labels import factor_labels
from cosep.utils.types import Array, Indices

OTHERS = ("docstrings", "digits", "images", *TABLES)
DEFAULT, PLAIN = "default", "scaling=None"
PARTS = ("rows", "columns", "core", "refitted")


class Labels(NamedTuple):
    """Clusters of rows and of columns; -1 for none, and None for a method that does not cluster columns."""

    rows: Indices
    cols: Indices | None


def by_nmf(X: Any, r: int) -> Labels:
    """Label by the components of NMF with the largest shares."""
    nmf = NMF(r, init="nndsvd", max_iter=200, random_state=0)
    W = nmf.fit_transform(X)
    H = nmf.components_
    return Labels(factor_labels(W, np.linalg.norm(H, axis=1)), factor_labels(H.T, np.linalg.norm(W, axis=0)))


def by_degree_nmf(X: Any, r: int) -> Labels:
    """Label by NMF of the matrix divided by the square roots of its row and column sums."""
    D, E = (inverse_root(np.asarray(X.sum(axis=axis)).ravel()) for axis in (1, 0))
    sparse = scipy.sparse.issparse(X)
    return by_nmf(scipy.sparse.diags_array(D) @ X @ scipy.sparse.diags_array(E) if sparse else D[:, None] * X * E, r)


def inverse_root(sums: Array) -> Array:
    """``1 / sqrt(sums)``, and 0 for a sum of zero."""
    return np.divide(1.0, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)


def by_spectrum(X: Any, r: int) -> Labels:
    """Label the rows and columns that are not zero by SpectralCoclustering."""
    rows, cols = (np.flatnonzero(X.sum(axis=axis)) for axis in (1, 0))
    model = SpectralCoclustering(r, random_state=0).fit(X[rows][:, cols])
    of_rows, of_cols = (np.full(size, -1) for size in X.shape)
    of_rows[rows], of_cols[cols] = model.row_labels_, model.column_labels_
    return Labels(of_rows, of_cols)


def by_k_means(X: Any, r: int) -> Labels:
    """Label the rows by KMeans, which takes sparse matrices with indices of 32 bits only."""
    if scipy.sparse.issparse(X):
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = scipy.sparse.csr_matrix(parts, shape=X.shape)
    return Labels(KMeans(r, n_init=10, random_state=0).fit(X).labels_, None)


PEERS: dict[str, Callable[[Any, int], Labels]] = {
    "NMF": by_nmf,
    "NMF, degree-scaled": by_degree_nmf,
    "SpectralCoclustering": by_spectrum,
    "KMeans": by_k_means,
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and method."""
    warm()
    list(compare(load("planted")))
    return rows_on_sets(TINY if tiny else (*DOCUMENTS, *OTHERS), compare)


def compare(problem: Problem) -> Iterator[Row]:
    """Yield one row per method."""
    X, r = problem.X, problem.r
    for name, scaling in ((DEFAULT, "degree"), (PLAIN, None)):
        model = CoSeparableNMF(r, r, scaling=scaling)
        seconds = clock(partial(model.fit, X)).seconds
        labels = Labels(model.row_labels_, model.column_labels_)
        yield {"method": name, **against_classes(problem, labels), **of_model(X, model), **of_bound(X, model, seconds)}
    for name, peer in PEERS.items():
        seconds, labels = clock(partial(peer, X, r))
        yield {"method": name, **against_classes(problem, labels), "s": seconds}


def against_classes(problem: Problem, labels: Labels) -> Row:
    """Return the accuracies of the sides whose classes are known, and the mutual information of rows."""
    row: Row = {}
    for side, true, found in (
        ("row", problem.row_classes, labels.rows),
        ("column", problem.col_classes, labels.cols),
    ):
        if true is not None and found is not None:
            known = true >= 0
            row[f"{side}_accuracy_pct"] = 100 * clustering_accuracy(true[known], found[known])
    if problem.row_classes is not None:
        both = (problem.row_classes >= 0) & (labels.rows >= 0)
        row["nmi"] = float(normalized_mutual_info_score(problem.row_classes[both], labels.rows[both]))
    return row


def of_model(X: Any, model: CoSeparableNMF) -> Row:
    """Return how far clusters and representatives are one answer, and the fidelities."""
    own = np.asarray(model.row_labels_)[model.row_indices_] == np.arange(model.n_rows_)
    own_cols = np.asarray(model.column_labels_)[model.col_indices_] == np.arange(model.n_cols_)
    fidelity = model.result_.fidelity
    return {
        "own_pct": 100 * float(own.mean()),
        "own_columns_pct": 100 * float(own_cols.mean()),
        "agree_pct": 100 * agreement(X, model),
        **percent("{}_pct", fidelity),
        **percent("plain_{}_pct", model.plain_fidelity_),
        "bound_pct": 100 * model.fidelity_bound_.refitted,
        "of_bound_pct": 100 * fidelity.refitted / model.fidelity_bound_.refitted,
    }


def agreement(X: Any, model: CoSeparableNMF) -> float:
    """Return the share of labelled rows in the cluster of the selected row with the largest share in them."""
    selected = as_matrix(X).take(rows=model.row_indices_)
    scaling = model.factorization_.scaling
    strengths = np.linalg.norm(selected if scaling is None else selected * scaling.cols, axis=1)
    nearest, labelled = factor_labels(model.row_weights_, strengths), model.row_labels_ >= 0
    return float((nearest == model.row_labels_)[labelled].mean())


def of_bound(X: Any, model: CoSeparableNMF, seconds: float) -> Row:
    """Return the seconds of the fit, and those of the bound alone."""
    A = scale(X, model.scaling)[0]
    alone = clock(lambda: fidelity_bound(A, model.n_rows_, model.n_cols_)).seconds
    return {"s": seconds, "bound_s": alone, "bound_share": alone / seconds if seconds > 0 else 0.0}


def percent(name: str, fidelity: Fidelity) -> Row:
    """Return named percentages of rows, columns, core and refitted factors."""
    return {name.format(part): 100 * float(share or 0.0) for part, share in zip(PARTS, fidelity, strict=True)}


def summary(rows: list[Row]) -> list[Row]:
    """Return one row per kind of data and method, with means over the sets that have the figure."""
    lines: list[Row] = []
    for kind, some in (("documents", on_documents(rows)), ("others", on_others(rows))):
        for method in dict.fromkeys(row["method"] for row in some):
            of_method = [row for row in some if row["method"] == method]
            names = [name for name in dict.fromkeys(key for row in of_method for key in row) if is_mean(name)]
            means = {name: mean(of_method, name) for name in names}
            lines.append({"data": kind, "method": method, **means, "s": total(of_method, "s")})
    return lines


def is_mean(name: str) -> bool:
    """Return whether the mean of a column is shown."""
    return name.endswith("_pct") or name == "nmi"


def mean(rows: list[Row], name: str) -> float | None:
    """Return the mean of a column over the rows that have it; None if none has."""
    figures = [row[name] for row in rows if name in row]
    return float(np.mean(figures)) if figures else None


def on_documents(rows: list[Row]) -> list[Row]:
    """Return the rows of document sets that are not missing."""
    return [row for row in rows if row["set"] in DOCUMENTS and "method" in row]


def on_others(rows: list[Row]) -> list[Row]:
    """Return the rows of other sets that are not missing."""
    return [row for row in rows if row["set"] not in DOCUMENTS and "method" in row]


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the default with the limits."""
    ours = [row for row in rows if row.get("method") == DEFAULT]
    texts = on_documents(ours)
    nmi = {(row["set"], row["method"]): row["nmi"] for row in rows if "nmi" in row}
    bound = total(ours, "bound_s") / total(ours, "s") if ours else None

    def above_nmf(name: str) -> float | None:
        pair = nmi.get((name, DEFAULT)), nmi.get((name, "NMF"))
        return None if pair[0] is None or pair[1] is None else pair[0] - pair[1]

    return [
        Bar(f"selected rows in their own cluster, {len(ours)} sets, percent", mean(ours, "own_pct"), 93, at_least=True),
        Bar("rows in the cluster of their largest weight, percent", mean(ours, "agree_pct"), 66, at_least=True),
        Bar(f"accuracy of documents, {len(texts)} sets, percent", mean(texts, "row_accuracy_pct"), 65, at_least=True),
        Bar("accuracy of words, percent", mean(texts, "column_accuracy_pct"), 65, at_least=True),
        *(
            Bar(f"mutual information of classes and labels, {name}", nmi.get((name, DEFAULT)), limit, at_least=True)
            for name, limit in (("docstrings", 0.60), ("digits", 0.54), ("images", 0.72))
        ),
        *(
            Bar(f"mutual information minus that of NMF, {name}", above_nmf(name), 0.0, at_least=True)
            for name in ("osmFISH", "mutations")
        ),
        Bar("seconds of the bounds alone, as a share of those of the fits", bound, 0.10),
    ]
