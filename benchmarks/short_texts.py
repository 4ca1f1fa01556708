"""Short texts of many kinds: how well their clusters agree with known classes, beside those of NMF.

One corpus says little: selections that explain nearly the same share of a corpus can differ by 0.02 in mutual
information. So this is a mean over many. `packages` are 2000, 4000 or 8000 of the descriptions of [texts](#texts), and
`first lines` are 1500 of the first lines of docstrings, each drawn three times. `cut` are the document sets of the
paper with all their words, of which each text keeps about 6, 12 or 25 at random, drawn twice; r is the number of
classes. Words that occur in one text only are left out. Figures are normalized mutual information of the largest shares
and the classes, and the share of the texts in the largest cluster, for `CoSeparableNMF(r, r)` with its defaults, and
for scikit-learn's NMF of the counts and of their TF-IDF. The first table has means.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.harness import Bar, Row, say, warm
from benchmarks.texts import Corpus, first_lines, nmf_labels, packages, scores
from cosep import CoSeparableNMF
from cosep.io import vectorise
from experiments.data import MissingDataError, load_documents

CUT_SETS = ("k1b", "reviews", "classic3", "la1", "hitech", "tr41", "tr45", "ohscal")
CUT_WORDS = (6, 12, 25)
FIGURES = ("nmi", "largest_pct", "nmf_nmi", "nmf_tfidf_nmi")


class Draw(NamedTuple):
    """Short texts as counts of words, with their classes."""

    kind: str
    name: str
    counts: Any
    classes: NDArray[Any]
    ranks: tuple[int, ...]


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per draw and number of topics."""
    warm()
    for draws in (_first_lines(1),) if tiny else (_packages(), _first_lines(3), _cut()):
        try:
            for draw in draws:
                say(f"  {draw.name}")
                yield from (_figures(draw, r) for r in draw.ranks)
        except MissingDataError as missing:
            yield {"kind": "missing", "note": str(missing)}


def summary(rows: list[Row]) -> list[Row]:
    """Return the means of each kind, and over all."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows if "nmi" in row))
    lines = [(kind, [row for row in rows if "nmi" in row and kind in {row["kind"], "all"}]) for kind in (*kinds, "all")]
    return [
        {"kind": kind, "problems": len(some), **{one: float(np.mean([row[one] for row in some])) for one in FIGURES}}
        for kind, some in lines
        if some
    ]


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the means with those of NMF."""
    means = {row["kind"]: row for row in summary(rows)}
    return [
        Bar(
            f"mutual information, mean of {what}, less that of NMF of {of}",
            means[kind]["nmi"] - means[kind][name] if kind in means else None,
            0.0,
            at_least=True,
        )
        for kind, what in (("all", "all short texts"), ("packages", "descriptions of packages"))
        for name, of in (("nmf_nmi", "counts"), ("nmf_tfidf_nmi", "TF-IDF"))
    ]


def _figures(draw: Draw, r: int) -> Row:
    model = CoSeparableNMF(r, r).fit(draw.counts)
    corpus = Corpus([], draw.classes)
    return {
        "kind": draw.kind,
        "set": draw.name,
        "texts": draw.counts.shape[0],
        "words_per_text": draw.counts.nnz / draw.counts.shape[0],
        "r": r,
        **scores("", corpus, np.asarray(model.row_labels_)),
        **scores("nmf_", corpus, nmf_labels(draw.counts, r)),
        **scores("nmf_tfidf_", corpus, nmf_labels(TfidfTransformer().fit_transform(draw.counts), r)),
    }


def _packages() -> Iterator[Draw]:
    corpus = packages()
    for size in (2000, 4000, 8000):
        for seed in range(3):
            yield _drawn("packages", f"{size} packages, draw {seed}", corpus, size, seed, (10, 20))


def _first_lines(n_draws: int) -> Iterator[Draw]:
    corpus = first_lines()
    for seed in range(n_draws):
        yield _drawn("first lines", f"first lines, draw {seed}", corpus, 1500, seed, (6, 12, 20))


def _drawn(kind: str, name: str, corpus: Corpus, size: int, seed: int, ranks: tuple[int, ...]) -> Draw:
    """Return some texts of a corpus, drawn at random."""
    chosen = np.random.default_rng(seed).choice(len(corpus.texts), size, replace=False)
    counts, _ = vectorise([corpus.texts[i] for i in chosen])
    return Draw(kind, name, counts, corpus.classes[chosen], ranks)


def _cut() -> Iterator[Draw]:
    for name in CUT_SETS:
        documents = load_documents(name, n_words=None)
        for words in CUT_WORDS:
            for seed in range(2):
                counts = cut_to(documents.counts, words, np.random.default_rng(seed))
                label = f"{name}, {words} words, draw {seed}"
                yield Draw(f"cut to {words}", label, counts, documents.labels, (documents.n_classes,))


def cut_to(counts: Any, words: int, random: np.random.Generator) -> Any:
    """Return about this many words of each text, drawn without replacement, that occur in at least two texts."""
    short = scipy.sparse.csr_array(counts, dtype=np.float64, copy=True)
    for start, stop in zip(short.indptr[:-1], short.indptr[1:], strict=True):
        each = short.data[start:stop].astype(np.int64)
        length = min(max(1, int(random.poisson(words))), int(each.sum()))
        short.data[start:stop] = random.multivariate_hypergeometric(each, length)
    short.eliminate_zeros()
    return short[:, np.bincount(short.indices, minlength=short.shape[1]) > 1]
