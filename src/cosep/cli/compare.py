"""A matrix with names enters; what every method explains of it, and how long it takes, leaves."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from cosep.cli.fit import usual
from cosep.cli.summary import Output, json_text, wide_enough
from cosep.cli.watching import watching
from cosep.estimators import HALSNMF, CoSeparableNMF
from cosep.io import NamedMatrix
from cosep.matrix.checks import check_choice, check_count, check_nonzero
from cosep.matrix.validation import as_matrix
from cosep.metrics import clustering_accuracy
from cosep.select import BOTH_SELECTORS
from cosep.solve.labels import factor_labels
from cosep.utils.messages import one_line

Figures = dict[str, Any]


def coseparable(method: str, X: Any, n_rows: int, n_cols: int) -> tuple[Figures, Any]:
    """Select by one of our methods."""
    model = CoSeparableNMF(n_rows, n_cols, method=method).fit(X)
    figures = {part: getattr(model, f"{part}_fidelity_") for part in ("row", "col", "core")}
    return {"explained": model.score(X), **figures}, model.row_labels_


def hals(X: Any, n_rows: int, n_cols: int) -> tuple[Figures, Any]:
    """Factor by A-HALS, selecting nothing."""
    model = HALSNMF(max(n_rows, n_cols)).fit(X)
    return {"explained": model.score(X)}, model.row_labels_


def scikit_learn(X: Any, n_rows: int, n_cols: int) -> tuple[Figures, Any]:
    """Factor by scikit-learn's NMF, selecting nothing."""
    model = NMF(max(n_rows, n_cols), init="nndsvd", max_iter=200, random_state=0)
    W = model.fit_transform(X)
    norm = float(np.linalg.norm(X.data if hasattr(X, "indptr") else X))
    labels = factor_labels(W, np.linalg.norm(model.components_, axis=1))
    return {"explained": 1.0 - model.reconstruction_err_ / norm}, labels


def spectral(X: Any, n_rows: int, n_cols: int) -> tuple[Figures, Any]:
    """Cluster both sides by scikit-learn's SpectralCoclustering, factoring nothing."""
    return {}, SpectralCoclustering(max(n_rows, n_cols), random_state=0).fit(X).row_labels_


OTHERS: dict[str, Callable[[Any, int, int], tuple[Figures, Any]]] = {
    "hals": hals,
    "sklearn-nmf": scikit_learn,
    "sklearn-cocluster": spectral,
}
METHODS = (*BOTH_SELECTORS, *OTHERS)


def run(
    read: Callable[[], NamedMatrix],
    asked: tuple[int | None, int | None],
    names: Iterable[str],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run every method in turn and print one line for each."""
    names = [check_choice(name, "methods", METHODS) for name in names] or list(METHODS)
    with watching(Console(stderr=True), quiet=quiet or as_json) as callback:
        data = read()
        check_nonzero(as_matrix(data.values))
        m, n = data.values.shape
        sizes = (
            check_count(usual(asked[0], m), "n_rows", m, "n_samples"),
            check_count(usual(asked[1], n), "n_cols", n, "n_features"),
        )
        lines = []
        for step, line in enumerate(compared(data, sizes, names), 1):
            lines.append(line)
            if callback is not None:
                callback("compare", step, len(names), np.nan)
    if as_json:
        answer = {"shape": [m, n], "n_rows": sizes[0], "n_cols": sizes[1], "methods": lines}
        if data.labels is not None:
            answer["accuracy_of_one_cluster"] = clustering_accuracy(data.labels, np.zeros(m, dtype=int))
        Output(soft_wrap=True).out(json_text(answer), highlight=False)
    elif not quiet:
        show(lines, data, sizes, wide_enough())


def compared(data: NamedMatrix, sizes: tuple[int, int], names: Iterable[str]) -> Iterator[Figures]:
    """Yield what each method reaches; one that cannot run says why."""
    for name in names:
        start = time.perf_counter()
        line: Figures = {"method": name}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                figures, labels = (
                    OTHERS[name](data.values, *sizes) if name in OTHERS else coseparable(name, data.values, *sizes)
                )
        except Exception as error:  # noqa: BLE001 - the methods of others fail as they like
            yield line | {"note": one_line(f"{type(error).__name__}: {error}".split("\n", maxsplit=1)[0])}
            continue
        if not np.isfinite(list(figures.values())).all():
            yield line | {"note": "found nothing that is finite"}
            continue
        line |= figures | {"seconds": round(time.perf_counter() - start, 3)}
        if data.labels is not None:
            line["accuracy"] = clustering_accuracy(data.labels, labels)
        yield line


def show(lines: list[Figures], data: NamedMatrix, sizes: tuple[int, int], console: Console) -> None:
    """Print the comparison as a table."""
    m, n = data.values.shape
    console.print(f"{m} rows x {n} columns, {sizes[0]} rows and {sizes[1]} columns selected.", highlight=False)
    columns = {
        "explained": "explained,\nrefitted",
        "row": "by the\nrows",
        "col": "by the\ncolumns",
        "core": "by the\ncore",
    }
    if data.labels is not None:
        columns["accuracy"] = "accuracy of\nclusters"
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("method")
    for title in (*columns.values(), "seconds"):
        table.add_column(title, justify="right")
    for line in lines:
        shares = [f"{line[name]:.1%}" if name in line else "" for name in columns]
        table.add_row(line["method"], *shares, f"{line['seconds']:.2f}" if "seconds" in line else "")
    console.print(table, highlight=False)
    if data.labels is not None:
        alone = clustering_accuracy(data.labels, np.zeros(m, dtype=int))
        console.print(f"Accuracy is the paper's measure; one single cluster has {alone:.1%}.", highlight=False)
    for line in lines:
        if "note" in line:
            console.print(f"{line['method']}: {line['note']}", highlight=False, markup=False)
