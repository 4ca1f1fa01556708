"""Texts as people have them: short ones, and words that nearly every text has.

Texts are counted with the defaults of `cosep.io.TextOptions`, and `CoSeparableNMF(r, r)` is fitted with its defaults.
`packages` are the one-line descriptions of Debian's packages, with the sections of the packages as classes. They are
read from a file in the format of `apt-cache dumpavail`, named by the variable COSEP_PACKAGES, or by that command
where there is one. `first lines` are those of the docstrings of SciPy and scikit-learn, `docstrings` are whole ones,
and in `product` every paragraph of these names a product, as documentation does; their classes are the subpackages.
Figures are normalized mutual information of the largest shares and the classes, and the share of the texts that are
in the largest cluster. scikit-learn's NMF has the same counts, or their TF-IDF. One single cluster has mutual
information 0. `frequent` words occur in more than 90 % of the texts, and `led` is the number of topics that have one
of them among their anchors or their first three words, with the default `max_df` and with `max_df=1.0`.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.harness import Bar, Row, clock, say, warm
from cosep import CoSeparableNMF, describe
from cosep.datasets import load_docstrings
from cosep.io import TextOptions, vectorise
from experiments.data import MissingDataError

VARIABLE = "COSEP_PACKAGES"
FREQUENT_SHARE, FIRST_WORDS = 0.9, 3


class Corpus(NamedTuple):
    """Texts, and their classes."""

    texts: list[str]
    classes: NDArray[Any]


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per corpus and number of topics."""
    warm()
    for name, load, ranks in CORPORA[-1:] if tiny else CORPORA:
        say(f"  {name}")
        try:
            corpus = load()
        except MissingDataError as missing:
            yield {"set": name, "note": str(missing)}
        else:
            yield from ({"set": name, **figures(corpus, r)} for r in ranks)


def bars(rows: list[Row]) -> list[Bar]:
    """Return the bars of short texts, and of frequent words."""
    short = [row for row in rows if row["set"] in {"packages", "first lines"} and "nmi" in row]
    led = [row["led"] for row in rows if "led" in row]
    behind = [max(row["nmf_nmi"], row["nmf_tfidf_nmi"]) - row["nmi"] for row in short]
    return [
        Bar(
            "largest mutual information of NMF, on counts or TF-IDF, less ours, short texts",
            max(behind, default=None),
            0.0,
        ),
        Bar("most topics that frequent words lead", max(led, default=None), 0),
    ]


def packages() -> Corpus:
    """Return the first line of the description of each package, and its section."""
    fields = [dict(_fields(one)) for one in _available().split("\n\n")]
    known = [one for one in fields if {"Package", "Section", "Description"} <= one.keys()]
    sections = [one["Section"].rpartition("/")[2] for one in known]
    return Corpus([one["Description"] for one in known], np.array(sections))


def _available() -> str:
    """Return the list of packages."""
    path = os.environ.get(VARIABLE)
    if path:
        return Path(path).read_text(encoding="utf-8")
    command = shutil.which("apt-cache")
    if command is None:
        msg = f"There is no list of packages: name a file with the output of apt-cache dumpavail by {VARIABLE}."
        raise MissingDataError(msg)
    return subprocess.run([command, "dumpavail"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - apt's


def _fields(paragraph: str) -> Iterator[tuple[str, str]]:
    """Yield the first line of each field of a package."""
    for line in paragraph.splitlines():
        name, colon, value = line.partition(": ")
        if colon and not name.startswith((" ", "\t")):
            yield name, value


def docstrings() -> Corpus:
    """Return whole docstrings."""
    corpus = load_docstrings()
    return Corpus(list(corpus.texts), corpus.labels)


def first_lines() -> Corpus:
    """Return the first line of each docstring."""
    texts, classes = docstrings()
    return Corpus([text.strip().partition("\n")[0] for text in texts], classes)


def product() -> Corpus:
    """Return docstrings in which every paragraph begins with the same word."""
    texts, classes = docstrings()
    return Corpus(["\n\n".join(f"Product {part}" for part in text.split("\n\n")) for text in texts], classes)


CORPORA: tuple[tuple[str, Callable[[], Corpus], tuple[int, ...]], ...] = (
    ("packages", packages, (10, 20)),
    ("docstrings", docstrings, (12,)),
    ("product", product, (12,)),
    ("first lines", first_lines, (12,)),
)


def figures(corpus: Corpus, r: int) -> Row:
    """Return the figures of one corpus."""
    counts, words = vectorise(corpus.texts)
    fitted = clock(partial(CoSeparableNMF(r, r).fit, counts))
    model = fitted.answer
    return {
        "texts": counts.shape[0],
        "words": len(words),
        "words_per_text": counts.nnz / counts.shape[0],
        "r": r,
        **scores("", corpus, model.row_labels_),
        **scores("nmf_", corpus, nmf_labels(counts, r)),
        **scores("nmf_tfidf_", corpus, nmf_labels(TfidfTransformer().fit_transform(counts), r)),
        **leading(model, counts, words),
        "led_if_kept": leading(*_refitted(corpus, r))["led"],
        "s": fitted.seconds,
    }


def _refitted(corpus: Corpus, r: int) -> tuple[CoSeparableNMF, Any, NDArray[np.str_]]:
    """Return a model with all words."""
    counts, words = vectorise(corpus.texts, TextOptions(max_df=1.0))
    return CoSeparableNMF(r, r).fit(counts), counts, words


def leading(model: CoSeparableNMF, counts: Any, words: NDArray[np.str_]) -> Row:
    """Return how many words are frequent, and how many topics they lead."""
    frequent = np.bincount(counts.indices, minlength=len(words)) > FREQUENT_SHARE * counts.shape[0]
    led = 0
    for topic in describe(counts, replace(model.factorization_, col_names=words)).topics:
        first = [entry.index for entry in topic.anchors] + [entry.index for entry in topic.columns[:FIRST_WORDS]]
        led += bool(frequent[first].any())
    return {"frequent": int(frequent.sum()), "led": led}


def nmf_labels(counts: Any, r: int) -> NDArray[Any]:
    """Return the largest shares of scikit-learn's NMF."""
    model = NMF(r, init="nndsvd", max_iter=500)
    return np.asarray((model.fit_transform(counts) * np.linalg.norm(model.components_, axis=1)).argmax(axis=1))


def scores(prefix: str, corpus: Corpus, labels: NDArray[Any]) -> Row:
    """Return mutual information with the classes, and the share of the largest cluster."""
    return {
        f"{prefix}nmi": float(normalized_mutual_info_score(corpus.classes, labels)),
        f"{prefix}largest_pct": 100 * float(np.unique(labels, return_counts=True)[1].max() / len(labels)),
    }
