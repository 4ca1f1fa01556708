"""The name of a document set enters; its counts, rank and classes leave.

The one place that knows where the data comes from.
"""

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import scipy.io
from numpy.typing import NDArray

from benchmarks.data import DOCUMENTS, PARTS, MissingDataError, documents, stored
from cosep import make_coseparable

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
            files = [stored("documents", f"{part}.mat") for part in PARTS.get(name, (name,))]
        except MissingDataError:
            continue
        yield name, sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@lru_cache(maxsize=1)
def load(name: str) -> Task:
    """Return a document set, or the planted matrix."""
    if name == PLANTED:
        X, truth = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)
        of_documents, candidates = X[:, truth.col_indices].argmax(axis=1), 30
    else:
        X, of_documents, candidates = documents(name), classes(name), CANDIDATES
    return Task(X, RANKS[name], of_documents, word_classes(X, of_documents), candidates)


def classes(name: str) -> Labels:
    """Return the published classes of the documents."""
    parts = [scipy.io.loadmat(stored("documents", f"{part}.mat")) for part in PARTS.get(name, (name,))]
    found = np.concatenate([part["gnd" if "gnd" in part else "classid"].ravel() for part in parts]).astype(np.intp)
    return found[found <= 10] if name == "NG10" else found


def word_classes(X: Any, of_documents: Labels) -> Labels:
    """Return for each word the class in whose documents it is most frequent on average, as published."""
    names = np.unique(of_documents)
    means = np.stack([np.asarray(X[of_documents == name].mean(axis=0)).ravel() for name in names])
    return np.asarray(names[means.argmax(axis=0)])
