"""Methods side by side on one matrix: what each explains, the accuracy of its clusters, and its time."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from cosep.datasets.synthetic import make_coseparable
from cosep.findings.classes import agreement
from cosep.findings.time_limit import TimeLimited
from cosep.fit.pipeline import fit
from cosep.fit.plan import Plan
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.metrics import clustering_accuracy
from cosep.nmf.ahals import ahals
from cosep.select import BOTH_SELECTORS
from cosep.solve.labels import factor_labels
from cosep.utils.messages import one_line

# Shares that are explained, by what, and the clusters of the rows.
Outcome = tuple[dict[str, float], Any]


def coseparable(method: str, A: Any, n_rows: int, n_cols: int) -> Outcome:
    """Select rows and columns by one of our methods."""
    plan = Plan(n_rows=n_rows, n_cols=n_cols, method=BOTH_SELECTORS[method], method_name=method)
    found = fit(as_matrix(A), plan)
    row, col, core, refitted = found.fidelity
    return {"explained": refitted, "row": row or 0.0, "col": col or 0.0, "core": core or 0.0}, found.row_labels


def hals(A: Any, n_rows: int, n_cols: int) -> Outcome:
    """Factor by A-HALS, which selects nothing."""
    factors = ahals(A, max(n_rows, n_cols))
    return {"explained": 1.0 - factors.relative_error(A) ** 2}, factors.row_labels


def sklearn_nmf(A: Any, n_rows: int, n_cols: int) -> Outcome:
    """Factor by scikit-learn's NMF, which selects nothing."""
    model = NMF(max(n_rows, n_cols), init="nndsvd", max_iter=200, random_state=0)
    W = model.fit_transform(A)
    norm = float(np.linalg.norm(A.data if hasattr(A, "indptr") else A))
    labels = factor_labels(W, np.linalg.norm(model.components_, axis=1))
    return {"explained": 1.0 - (model.reconstruction_err_ / norm) ** 2}, labels


def sklearn_cocluster(A: Any, n_rows: int, n_cols: int) -> Outcome:
    """Cluster both sides by scikit-learn's SpectralCoclustering, which does not factor."""
    return {}, SpectralCoclustering(max(n_rows, n_cols), random_state=0).fit(A).row_labels_


OTHER_METHODS: dict[str, Callable[[Any, int, int], Outcome]] = {
    "hals": hals,
    "sklearn-nmf": sklearn_nmf,
    "sklearn-cocluster": sklearn_cocluster,
}
# Rows and columns of the matrix on which each method is run first, and how many are selected.
TINY = (24, 16, 3, 3)
METHODS = (*BOTH_SELECTORS, *OTHER_METHODS)


def compare_methods(
    X: Any,
    n_rows: int,
    n_cols: int,
    methods: Iterable[str],
    labels: Any = None,
    scaling: Any = "degree",
    *,
    seconds: float,
) -> Iterator[dict[str, Any]]:
    """Run methods one after the other, all on the same scaled matrix; yield what each reaches.

    Parameters
    ----------
    X : ndarray or csr_array
    n_rows, n_cols : int
        How many rows and columns to select; methods that select nothing take the larger number as their rank.
    methods : iterable of str
        Some of `METHODS`.
    labels : array-like, optional
        The class of each row.
    scaling : optional
        The norm in which every method is run and measured, as in `CoSeparableNMF`.
    seconds : float
        A method that takes longer is ended. The methods run in a process of their own, and first on a tiny matrix, so
        that the compilation of kernels on a new machine does not count.

    Yields
    ------
    dict
        ``method``; ``explained`` by refitted factors, and by ``row``, ``col`` and ``core`` alone, where the method has
        them; ``seconds``; ``accuracy``, ``ari`` and ``nmi`` of its clusters if there are labels. A method that fails
        has a ``note`` instead; one that was ended also has ``late``.
    """
    A = scale(X, scaling)[0].raw
    with TimeLimited(outcome, (A, n_rows, n_cols), seconds, rehearse) as run:
        for name in methods:
            try:
                shares, clusters, taken = run(name)
            except TimeoutError:
                yield {"method": name, "note": f"took longer than {seconds:g} seconds and was ended", "late": True}
            except RuntimeError as error:
                yield {"method": name, "note": one_line(str(error).split("\n", maxsplit=1)[0])}
            else:
                scores = {} if labels is None else agreement(labels, clusters)
                yield {"method": name, **shares, "seconds": round(taken, 3), **scores}


def outcome(A: Any, n_rows: int, n_cols: int, name: str) -> tuple[dict[str, float], Any, float]:
    """Run one method, and return its shares, its clusters, and its seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares, clusters = (
            OTHER_METHODS[name](A, n_rows, n_cols) if name in OTHER_METHODS else coseparable(name, A, n_rows, n_cols)
        )
    if not np.isfinite(list(shares.values())).all():
        msg = "its result is not finite"
        raise ValueError(msg)
    return shares, clusters, time.perf_counter() - start


def rehearse(A: Any, n_rows: int, n_cols: int, name: str) -> None:  # noqa: ARG001 - the arguments of `outcome`
    """Run a method on a tiny matrix of the same kind, which loads and compiles what it needs."""
    X = make_coseparable(*TINY, noise=0.1, random_state=0)[0].astype(A.dtype)
    with suppress(Exception):  # what fails here is told when it fails on the data
        outcome(type(A)(X) if hasattr(A, "indptr") else X, *TINY[2:], name)


def single_cluster_accuracy(labels: Any) -> float:
    """Return the accuracy of putting all rows into one cluster: what any method should exceed."""
    return clustering_accuracy(labels, np.zeros(len(labels), dtype=int))
