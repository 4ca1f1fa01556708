"""Table 4, Figure 3 and the word lists of the appendix: what the core says about documents and words.

Raw counts of the 1000 most frequent words, documents x words, with as many rows and columns chosen as there are
classes. A word is counted to the class whose documents have most of it on average. The sets are those whose words are
known: of TDT30 about a quarter, of the others all. 20Newsgroups is not in the paper. TDT30 has the documents of the
paper but words of another extraction, so the printed figures can be met in kind only.

CoS-FGM is run as published, on 500 x 500 preselected documents and words, on TDT30 alone; certified, on the whole
matrix, on all sets; faithful everywhere; all in the plain norm of the paper (`scaling=None`). Chosen documents and
words are ordered by class. Key words of a chosen document are the chosen words that it has, those that belong to it
most (count over the root of row sum and column sum) first; the words of a cluster are those with its label, by their
weight in the factor.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import clock, read_rows, say
from benchmarks.page import table
from cosep import CoSeparableNMF, cosfgm, make_coseparable, relative_approximation
from experiments.cores import draw_core
from experiments.data import MissingDataError, load_documents
from experiments.figures import COLOURS, figure
from experiments.grid import Row
from experiments.shares import relative_share

VERSION = 2

Labels = NDArray[np.int_]
SETS = ("TDT30", "tr11", "tr23", "tr41", "tr45", "20Newsgroups")
PUBLISHED = partial(cosfgm, solver="fast-gradient", start="independent", postprocess="spa")
METHODS: dict[str, dict[str, Any]] = {
    "CoS-FGM": {"method": PUBLISHED, "preselect": 500, "tol": 1e-5},
    "CoS-FGM, certified": {"method": "cosfgm", "tol": 1e-5},
    "faithful": {},
}
# Classes that the 30 documents and words of CoS-FGM come from, and the share of documents and words in them.
PRINTED_TOPICS, PRINTED_DOCUMENTS, PRINTED_WORDS = 18, 88.71, 74.20
# Words of a cluster, key words of a document, and what stands for a word that is not known.
DOZEN, KEYS, UNKNOWN = 12, 3, "?"


class Corpus(NamedTuple):
    """Counts, the classes of documents and words, counted from 0, and the words, where they are known."""

    counts: Any
    classes: Labels
    word_classes: Labels
    words: list[str]


@lru_cache
def corpus(name: str) -> Corpus:
    """Return a document set with its classes and words, or one that is made up, to see whether everything runs."""
    if name == "planted":
        X = np.round(20 * make_coseparable(40, 30, 4, 4, noise=0.02, random_state=0)[0])
        counts, classes = scipy.sparse.csr_array(X), np.arange(40) % 4
        return Corpus(counts, classes, majority(counts, classes), [f"word{k}" for k in range(29)] + [UNKNOWN])
    held = load_documents(name)
    words = [UNKNOWN if word is None else str(word) for word in held.words]
    return Corpus(held.counts, held.labels, held.word_labels, words)


def majority(counts: Any, classes: Labels) -> Labels:
    """Return for each word the class with the largest mean count."""
    means = [counts[np.flatnonzero(classes == label)].mean(axis=0) for label in range(int(classes.max()) + 1)]
    return np.asarray(np.argmax(np.stack(means), axis=0))


def checksum(counts: Any) -> str:
    """Return twelve digits that identify the data."""
    return sha256(counts.data.tobytes() + np.asarray(counts.indices, np.int64).tobytes()).hexdigest()[:12]


def cells(*, tiny: bool) -> Iterator[Row]:
    """Yield the keys of all cells."""
    for name in ("planted",) if tiny else SETS:
        try:
            counts, classes, _, _ = corpus(name)
        except MissingDataError as missing:
            say(f"{name} is left out: {missing}")
            continue
        for method in METHODS:
            if method != "CoS-FGM" or name in {"TDT30", "planted"}:
                yield {"set": name, "data": checksum(counts), "method": method, "r": int(classes.max()) + 1}


def run(key: Row) -> Row:
    """Return the figures, indices and word lists of one cell."""
    counts, classes, word_classes, words = corpus(key["set"])
    model = CoSeparableNMF(key["r"], key["r"], scaling=None, **METHODS[key["method"]])
    seconds, _ = clock(partial(model.fit, counts))
    rows, cols = by_class(model, classes, word_classes)
    topics = np.union1d(classes[rows], word_classes[cols])
    core = counts[rows][:, cols].toarray()
    return {
        "approximation": percent(relative_approximation(counts, model.factorization_)),
        **{
            f"{side}_fidelity": percent(relative_share(getattr(model, f"{side}_fidelity_")))
            for side in ("row", "col", "core")
        },
        "nonzeros": int(np.count_nonzero(core)),
        "in_blocks": percent(core[classes[rows][:, None] == word_classes[cols]].sum() / core.sum()),
        "document_topics": len(np.unique(classes[rows])),
        "word_topics": len(np.unique(word_classes[cols])),
        "topics": len(topics),
        "documents_in_topics": percent(np.isin(classes, topics).mean()),
        "documents_at_most": percent(np.sort(np.bincount(classes))[::-1][: len(topics)].sum() / len(classes)),
        "words_in_topics": percent(np.isin(word_classes, topics).mean()),
        "documents": joined(rows),
        "document_classes": joined(classes[rows]),
        "columns": joined(cols),
        "column_classes": joined(word_classes[cols]),
        "column_words": joined(words[col] for col in cols),
        "core": joined(f"{entry:g}" for entry in core.ravel()),
        "key_words": " | ".join(key_words(counts, rows, cols, words)),
        "clusters": " | ".join(clusters(model, cols, words)),
        **(printed_words(words, cols, np.asarray(model.column_labels_)) if key["set"] == "TDT30" else {}),
        "seconds": round(seconds, 2),
    }


def percent(share: Any) -> float:
    """Round to the digits that are printed."""
    return round(100 * float(share), 2)


def joined(parts: Any) -> str:
    """Return a list as text."""
    return " ".join(map(str, parts))


def by_class(model: Any, classes: Labels, word_classes: Labels) -> tuple[Labels, Labels]:
    """Return the chosen documents and words by class, words as far as possible beside the document they are tied to."""
    rows, cols = np.asarray(model.row_indices_), np.asarray(model.col_indices_)
    rows = rows[np.argsort(classes[rows], kind="stable")]
    place = {int(row): k for k, row in enumerate(model.row_indices_)}
    core = model.core_[[place[int(row)] for row in rows]]
    return rows, cols[np.lexsort((core.argmax(axis=0), word_classes[cols]))]


def key_words(counts: Any, rows: Labels, cols: Labels, words: list[str]) -> Iterator[str]:
    """Yield the chosen words that belong most to each chosen document."""
    sums, lengths = counts.sum(axis=0)[cols], counts.sum(axis=1)[rows]
    ties = counts[rows][:, cols].toarray() / np.sqrt(np.outer(lengths, sums))
    for line in ties:
        strongest = [k for k in np.argsort(-line, kind="stable")[:KEYS] if line[k] > 0]
        yield joined(words[cols[k]] for k in strongest)


def clusters(model: Any, cols: Labels, words: list[str]) -> Iterator[str]:
    """Yield the strongest known words of the cluster of each chosen word."""
    for col in cols:
        k = int(np.flatnonzero(model.col_indices_ == col)[0])
        members = np.flatnonzero(model.column_labels_ == k)
        ranked = members[np.argsort(-model.col_factor_[k, members], kind="stable")]
        yield joined([words[member] for member in ranked if words[member] != UNKNOWN][:DOZEN])


def printed_words(words: list[str], cols: Labels, labels: Labels) -> Row:
    """Return how the choice and the clusters agree with the printed ones, as far as words are known."""
    printed = {
        word: line["cluster"]
        for line in printed_lists("tdt30_word_clusters")
        for word in str(line.get("words", "")).split()
    }
    shared = [k for k, word in enumerate(words) if word in printed]
    keys = {word for line in printed_lists("tdt30_key_words") for word in str(line["words"]).split()}
    return {
        "printed_clusters_known": len(shared),
        "agreement": round(adjusted_rand_score([printed[words[k]] for k in shared], labels[shared]), 2),
        "printed_keys": len(keys),
        "printed_keys_known": len(keys & set(words)),
        "printed_keys_chosen": len(keys & {words[col] for col in cols}),
        "chosen_known": sum(words[col] != UNKNOWN for col in cols),
    }


@lru_cache
def printed_lists(name: str) -> list[Row]:
    """Return a printed list of words."""
    return read_rows(Path(__file__).parent / "printed" / f"{name}.csv")


def section(rows: list[Row], folder: Path) -> str:
    """Draw the figure and return the text."""
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(row["set"], []).append(row)
    lead = next(iter(sets))
    shown = [row for row in sets[lead] if row["method"] != "CoS-FGM"]
    with figure(folder / "figure_3.png", (15.5, 7.6)) as sheet:
        for k, row in enumerate(shown):
            draw(sheet.add_subplot(1, len(shown), k + 1), row, sheet)
    parts = [
        "## Topics: Table 4, Figure 3 and the word lists of the appendix\n\n" + (__doc__ or "").partition("\n\n")[2],
        f"### The core as topics\n\n{CORE_NOTE}\n\n{in_table(rows)}\n{reading(rows)}",
        f"### Figure 3\n\n![The core of {lead}, by class]({folder.name}/figure_3.png)\n\n{figure_reading(shown)}",
        f"### Table 4\n\n{KEY_NOTE}\n",
        *(folded(f"{name}: key words", key_table(some)) for name, some in sets.items()),
        f"### Words by cluster\n\n{CLUSTER_NOTE}\n",
        *(folded(f"{name}: words by cluster", cluster_table(some)) for name, some in sets.items()),
    ]
    return "\n".join(parts)


CORE_NOTE = f"""Percent, but for numbers of topics. Approximation and fidelities are `1 - ||X - X^|| / ||X||`, as in
Table 1. Topics: classes that the chosen documents, the chosen words, or either come from, and the shares of all
documents and words that belong to these, in brackets the share of documents in as many of the largest classes; for
CoS-FGM on TDT30 {PRINTED_TOPICS} topics with {PRINTED_DOCUMENTS:.2f} and {PRINTED_WORDS:.2f} are printed. Inside: the
share of the counts in the core where document and word are of the same class."""
KEY_NOTE = f"""Key words of the chosen documents, at most {KEYS} each; documents of one class stand in one line, with
semicolons between them. A question mark is a word that is not known."""
CLUSTER_NOTE = f"""At most {DOZEN} known words of the cluster of each chosen word, the strongest first, by class."""


def in_table(rows: list[Row]) -> str:
    """Return the figures of all rows."""
    return table(
        [
            {
                "set": row["set"],
                "method": row["method"],
                "r": row["r"],
                "approximation": f"{row['approximation']:.2f}",
                "fidelity of documents": f"{row['row_fidelity']:.2f}",
                "of words": f"{row['col_fidelity']:.2f}",
                "of the core": f"{row['core_fidelity']:.2f}",
                "nonzeros": f"{row['nonzeros']} of {row['r'] ** 2}",
                "inside": f"{row['in_blocks']:.2f}",
                "topics of documents": row["document_topics"],
                "topics of words": row["word_topics"],
                "topics": row["topics"],
                "documents in them": f"{row['documents_in_topics']:.2f} (of {row['documents_at_most']:.2f})",
                "words in them": f"{row['words_in_topics']:.2f}",
                "s": f"{row['seconds']:.2f}",
            }
            for row in rows
        ]
    )


def reading(rows: list[Row]) -> str:
    """Say what the figures show."""
    by_name = {(row["set"], row["method"]): row for row in rows}
    pairs = [(by_name[name, "CoS-FGM, certified"], row) for (name, kind), row in by_name.items() if kind == "faithful"]
    diagonal = sum(row["nonzeros"] == row["r"] for row, _ in pairs)
    said = [
        f"The core of the certified CoS-FGM has as many nonzeros as chosen documents on {diagonal} of {len(pairs)} "
        "sets. Such a core is a permuted diagonal matrix: each chosen document has one of the chosen words and no "
        "other, so that all topics look pure, and the refitted factors are those of plain NMF. "
        + counted(pairs, "core_fidelity", "The core of faithful explains more on its own")
        + counted(pairs, "topics", "It comes from more topics")
        + counted(pairs, "in_blocks", "A larger share of its counts lies where document and word are of one class"),
        *(tdt30(row) for row in rows if row["set"] == "TDT30"),
    ]
    return "\n\n".join(map(str.strip, said)) + "\n"


def tdt30(row: Row) -> str:
    """Say how the choice compares with the printed one."""
    return (
        f"TDT30, {row['method']}: {row['topics']} of {row['r']} topics ({PRINTED_TOPICS} printed), with "
        f"{row['documents_in_topics']:.2f} % of the documents ({PRINTED_DOCUMENTS:.2f}) and "
        f"{row['words_in_topics']:.2f} % of the words ({PRINTED_WORDS:.2f}). Of the {row['printed_keys']} different "
        f"key words printed {row['printed_keys_known']} are known here, and {row['printed_keys_chosen']} are chosen "
        f"({row['chosen_known']} of its {row['r']} words are known). Its clusters of words and the printed ones have "
        f"an adjusted Rand index of {row['agreement']:.2f} over {row['printed_clusters_known']} words."
    )


def counted(pairs: list[tuple[Row, Row]], name: str, claim: str) -> str:
    """Say on how many sets faithful is ahead of CoS-FGM, and how often level."""
    ahead = sum(ours[name] > theirs[name] for theirs, ours in pairs)
    level = sum(ours[name] == theirs[name] for theirs, ours in pairs)
    return f"{claim} on {ahead} of {len(pairs)} sets" + (f", equal on {level}" if level else "") + ". "


def figure_reading(rows: list[Row]) -> str:
    """Say what the heat maps show."""
    said = "; ".join(
        f"{row['method']}: {row['nonzeros']} nonzeros, {row['in_blocks']:.2f} % of the counts inside the frames"
        for row in rows
    )
    return (
        "Counts in the core, coloured by their square roots; documents and words by class, framed where they are of "
        f"the same one, which needs a chosen document and a chosen word of that class. {said}. Classes are numbered as "
        "in the data; a question mark is a word that is not known.\n"
    )


def draw(axes: Any, row: Row, sheet: Any) -> None:
    """Draw the core of a row."""
    core = np.array(str(row["core"]).split(), dtype=float).reshape(row["r"], -1)
    classes, word_classes = (
        [int(label) for label in str(row[side]).split()] for side in ("document_classes", "column_classes")
    )
    title = f"{row['set']}, {row['method']}: {row['topics']} topics"
    drawn = draw_core(axes, core, classes, word_classes, str(row["column_words"]).split(), title)
    axes.title.set_color(COLOURS[row["method"]])
    sheet.colorbar(drawn, ax=axes, label="count", shrink=0.5)


def folded(title: str, text: str) -> str:
    """Return a table that opens on a click."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"


def key_table(rows: list[Row]) -> str:
    """Return the key words of the chosen documents, one line a class, one column a method."""
    lines: dict[int, dict[str, list[str]]] = {}
    for row in rows:
        for label, words in zip(str(row["document_classes"]).split(), str(row["key_words"]).split(" | "), strict=True):
            lines.setdefault(int(label), {}).setdefault(row["method"], []).append(words.replace(" ", ", ") or "-")
    methods = [row["method"] for row in rows]
    return table(
        [
            {"class": label + 1} | {method: "; ".join(lines[label].get(method, [])) for method in methods}
            for label in sorted(lines)
        ]
    )


def cluster_table(rows: list[Row]) -> str:
    """Return the strongest words of every cluster."""
    return table(
        [
            {"method": row["method"], "class": int(label) + 1, "chosen": word, "words": words}
            for row in rows
            for label, word, words in zip(
                str(row["column_classes"]).split(),
                str(row["column_words"]).split(),
                str(row["clusters"]).split(" | "),
                strict=True,
            )
        ]
    )
