"""The docstring corpus enters; a table, or JSON, of the functions and words that explain it leaves."""

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from cosep.datasets import DocstringCorpus, load_docstrings
from cosep.estimators import CoSeparableNMF
from cosep.factorization import Callback
from cosep.kernels.compile import is_compiled
from cosep.metrics import clustering_accuracy
from cosep.mixing import factor_labels

STAGES = {
    "topics": "looking for topics",
    "select": "choosing functions and words",
    "mix": "fitting the factors",
    "label": "sorting into clusters",
}
ANCHORS, WORDS, OTHERS = 2, 6, 3
PIPED_WIDTH = 100


def run(n_rows: int, n_cols: int, *, method: str, scaling: str | None, as_json: bool) -> None:
    """Fit the corpus and print what was found; progress goes to a terminal only."""
    watcher = Console(stderr=True)
    cached = is_compiled()
    if watcher.is_terminal and not cached:
        watcher.print("compiling numerical kernels, first run only")
    with progress(watcher) as callback:
        corpus = load_docstrings()
        start = time.perf_counter()
        model = CoSeparableNMF(n_rows, n_cols, method=method, scaling=scaling, callback=callback)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model.fit(corpus.counts)
        seconds = time.perf_counter() - start
    answer = describe(corpus, model)
    answer |= {
        "seconds": round(seconds, 3),
        "compiling_included": not cached,
        "warnings": [str(one.message) for one in caught],
    }
    if as_json:
        Console().out(json.dumps(answer, indent=2), highlight=False)
    else:
        console = Console()
        show(answer, console if console.is_terminal else Console(width=PIPED_WIDTH))


@contextmanager
def progress(console: Console) -> Iterator[Callback | None]:
    """Give a callback that moves a bar while a person is watching, None otherwise."""
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        # How many rounds it takes is not known beforehand, so the bar only shows that it lives.
        task = bars.add_task("reading docstrings", total=None)

        def callback(stage: str, step: int, most_steps: int, error: float) -> None:  # noqa: ARG001 - the estimator passes it
            if stage == "solve":  # within a round of choosing, which tells more
                return
            known = "" if np.isnan(error) else f", error {error:.3f}"
            bars.update(task, description=f"{STAGES[stage]}: round {step}{known}")

        yield callback


def describe(corpus: DocstringCorpus, model: CoSeparableNMF) -> dict[str, Any]:
    """Return what the table and the summary say.

    Clusters and words come from the weights, in which every function is a mix of the chosen functions and every word
    of the chosen words. The refitted factors come closer to the counts, but may drift away from what was chosen.
    """
    norms = np.sqrt(np.asarray(corpus.counts.power(2).sum(axis=1)))
    chosen = np.asarray(model.row_indices_)
    shares = model.row_weights_ * norms[chosen]
    labels = factor_labels(model.row_weights_, norms[chosen])
    ties = model.core_ * np.linalg.norm(model.col_weights_, axis=1)
    words = model.core_ @ model.col_weights_
    biclusters = []
    for k, row in enumerate(chosen):
        closeness = np.where(labels == k, shares[:, k] / np.maximum(norms, 1.0), 0.0)
        closeness[row] = 0.0
        biclusters.append(
            {
                "function": str(corpus.documents[row]),
                "anchor_words": _largest(_strong(ties[k]), corpus.words[model.col_indices_], ANCHORS),
                "words": _largest(words[k], corpus.words, WORDS),
                "n_functions": int((labels == k).sum()),
                "others": _largest(closeness, corpus.documents, OTHERS),
            }
        )
    return {
        "n_functions": len(corpus.documents),
        "n_words": len(corpus.words),
        "n_subpackages": len(np.unique(corpus.labels)),
        "scipy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
        "n_rows": model.n_rows_,
        "n_cols": model.n_cols_,
        "method": model.method,
        "scaling": model.scaling,
        "biclusters": biclusters,
        "unexplained_functions": int((labels < 0).sum()),
        "row_fidelity": model.row_fidelity_,
        "col_fidelity": model.col_fidelity_,
        "core_fidelity": model.core_fidelity_,
        "relative_approximation": 1.0 - model.reconstruction_err_ / float(np.linalg.norm(norms)),
        "clustering_accuracy": clustering_accuracy(corpus.labels, labels),
        "clustering_accuracy_of_one_cluster": clustering_accuracy(corpus.labels, np.zeros(len(labels), dtype=int)),
    }


def _strong(ties: Any) -> Any:
    """Return the ties that are at least half as strong as the strongest, and zeros."""
    return np.where(ties >= 0.5 * ties.max(), ties, 0.0)


def _largest(values: Any, names: Any, count: int) -> list[str]:
    """Return the names of the largest values, best first, of the positive ones only."""
    order = np.argsort(-values, kind="stable")[:count]
    return [str(names[i]) for i in order if values[i] > 0]


def show(answer: dict[str, Any], console: Console) -> None:
    """Print the table and a short summary."""
    console.print(*heading(answer), sep="\n", highlight=False, markup=False)
    biclusters = answer["biclusters"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    # Names stand in full; what is close to them is cut to their width.
    width = max(console.width // 2 - 3, *(len(one["function"]) for one in biclusters))
    table.add_column("function\n[dim]and those closest to it[/dim]", no_wrap=True, max_width=width)
    table.add_column("anchor word:\nwords that go with it")
    table.add_column("cluster", justify="right")
    for one in biclusters:
        others = ", ".join(_beside(name, one["function"]) for name in one["others"])
        around = [word for word in one["words"] if word not in one["anchor_words"]]
        table.add_row(
            f"{one['function']}\n[dim]  {others}[/dim]",
            f"[bold]{', '.join(one['anchor_words']) or 'none'}[/bold]: {' '.join(around)}",
            str(one["n_functions"]),
        )
    console.print(table, highlight=False)
    console.print(*summary(answer), sep="\n", highlight=False, markup=False)


def _beside(name: str, home: str) -> str:
    """Return a dotted name without the beginning that it shares with another."""
    parts, shared = name.split("."), 0
    while parts[shared : shared + 1] == home.split(".")[shared : shared + 1] and shared < len(parts) - 1:
        shared += 1
    return ".".join(parts[shared:])


def heading(answer: dict[str, Any]) -> tuple[str, ...]:
    """Return the sentences above the table."""
    versions = f"SciPy {answer['scipy']} and scikit-learn {answer['scikit-learn']}"
    return (
        f"{versions}: {answer['n_functions']} functions and classes, {answer['n_words']} words in their docstrings.",
        f"{answer['n_rows']} functions and {answer['n_cols']} words were chosen to speak for the rest.",
    )


def summary(answer: dict[str, Any]) -> tuple[str, ...]:
    """Return the sentences below the table."""
    core = f"the {answer['n_rows']} x {answer['n_cols']} counts where they cross"
    clusters = f"Clusters against the {answer['n_subpackages']} subpackages"
    alone, homeless = answer["clustering_accuracy_of_one_cluster"], answer["unexplained_functions"]
    return (
        (
            f"These functions alone explain {answer['row_fidelity']:.1%} of all counts, these words alone "
            f"{answer['col_fidelity']:.1%}, {core} {answer['core_fidelity']:.1%}."
        ),
        f"With factors refitted to the core: {answer['relative_approximation']:.1%}.",
        f"{clusters}: accuracy {answer['clustering_accuracy']:.3f} (one single cluster: {alone:.3f}).",
        *([f"In no cluster, for want of common words: {homeless}."] if homeless else []),
        f"Fitted in {answer['seconds']:.1f} s{', compiling included' if answer['compiling_included'] else ''}.",
        *answer["warnings"],
    )
