"""Counts, rank and classes of a document set by name, from published files or made up."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import DOCUMENTS
from benchmarks.harness import say
from cosep import make_coseparable
from experiments.data import MissingDataError, load_documents

Labels = NDArray[np.intp]

# How many documents and words are left to select from, as published.
CANDIDATES = 500
# A small matrix that is always there.
PLANTED = "planted"
RANKS = {PLANTED: 4} | {name: r for name, (r, _) in DOCUMENTS.items()}


class Task(NamedTuple):
    """Counts, how many rows and columns to select, the classes of documents and words, and what to preselect."""

    X: Any
    r: int
    documents: Labels
    words: Labels
    candidates: int


def available() -> Iterator[tuple[str, str]]:
    """Yield the names of the published sets that are at hand, each with the checksum of its files."""
    for name in DOCUMENTS:
        try:
            yield name, load_documents(name).checksum
        except MissingDataError as missing:
            say(f"{name} is left out: {missing}")


@lru_cache(maxsize=1)
def load(name: str) -> Task:
    """Return a document set, or the planted matrix."""
    if name == PLANTED:
        X, truth = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)
        nearest = X[:, truth.col_indices].argmax(axis=1), X[truth.row_indices].argmax(axis=0)
        return Task(X, RANKS[name], *nearest, candidates=30)
    held = load_documents(name)
    return Task(held.counts, RANKS[name], held.labels, held.word_labels, CANDIDATES)
