"""Data sets of the benchmarks, with the classes of their rows and columns.

Published data is read from the folder named by COSEP_DATA: ``documents/``, ``faces/`` and ``tables/``.
"""

import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from cosep import make_coseparable
from cosep.datasets import load_docstrings
from cosep.utils.types import Indices
from experiments.data import Documents, Faces, MissingDataError, load_documents, load_faces
from experiments.data.home import data_home

Block = NDArray[np.float64]

# Rank, and relative approximation in percent, of CoS-FGM in Pan and Ng (2023), tables of section 5.
DOCUMENTS = {
    "NG10": (10, 93.83),
    "TDT30": (30, 24.64),
    "classic": (4, 6.66),
    "reviews": (5, 17.54),
    "sports": (7, 16.37),
    "ohscal": (10, 15.51),
    "k1b": (6, 13.45),
    "la12": (6, 11.68),
    "hitech": (6, 11.31),
    "la1": (6, 11.85),
    "la2": (6, 12.05),
    "tr41": (10, 56.76),
    "tr45": (10, 73.26),
    "tr11": (9, 73.98),
    "tr23": (6, 71.68),
}
FACES = (40, 82.22)
DOCSTRINGS_RANK, CELLS_RANK = 12, 10
TABLES = ("mutations", "microbiome-ravel", "trade", "osmFISH", "Yale")
# For a quick run instead of the published sets: one that is always available, and one that never is.
TINY = ("planted", "sports")


class Problem(NamedTuple):
    """A matrix, how many rows and columns to select, and the approximation that the paper prints, in percent.

    Also the true classes of rows and columns, if they are known.
    """

    X: Any
    r: int
    printed: float | None = None
    row_classes: Indices | None = None
    col_classes: Indices | None = None


def load(name: str) -> Problem:
    """Return a document set, a table, or one of `OTHERS` by its name."""
    if name in OTHERS:
        return OTHERS[name]()
    if name in TABLES:
        return table(name)
    corpus = documents(name)
    return Problem(corpus.counts, *DOCUMENTS[name], corpus.labels, corpus.word_labels)


def planted() -> Problem:
    """Return a planted matrix with noise."""
    X, truth = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)
    nearest = X[:, truth.col_indices].argmax(axis=1), X[truth.row_indices].argmax(axis=0)
    return Problem(X, 4, None, *nearest)


def digits() -> Problem:
    """Return handwritten digits as rows of 8 x 8 pixels."""
    held = load_digits()
    return Problem(held.data, 10, None, held.target)


def docstrings() -> Problem:
    """Return the docstrings of SciPy and scikit-learn; their classes are the subpackages."""
    texts = load_docstrings()
    return Problem(texts.counts, DOCSTRINGS_RANK, None, np.unique(texts.labels, return_inverse=True)[1])


def table(name: str) -> Problem:
    """Return a table with the classes of its rows, -1 where there is none; dense if most entries are nonzero."""
    path = data_home() / "tables" / f"{name}.npz"
    if not path.is_file():
        msg = (
            f"There is no file tables/{name}.npz in {data_home()}: put it there, or name another folder by COSEP_DATA."
        )
        raise MissingDataError(msg)
    with np.load(path, allow_pickle=False) as stored:
        parts = (stored["data"], stored["indices"], stored["indptr"])
        X = scipy.sparse.csr_array(parts, shape=tuple(stored["shape"])).astype(np.float64)
        classes, r = stored["labels"], int(stored["k"])
    dense = X.nnz > 0.5 * X.shape[0] * X.shape[1]
    return Problem(X.toarray() if dense else X, r, None, classes if (classes >= 0).any() else None)


@lru_cache
def documents(name: str) -> Documents:
    """Return raw counts of the 1000 most frequent words, with the classes of documents and words."""
    return load_documents(name)


@lru_cache
def faces() -> Faces:
    """Return the 400 ORL faces as columns of 23 x 19 pixels between 0 and 1."""
    return load_faces()


def cells() -> Problem:
    """Return the 700 blood cells that come with scanpy: logarithms of counts of 765 genes, and types of cells."""
    package = find_spec("scanpy")
    if package is None or package.origin is None:
        msg = "The cells come with scanpy: install scanpy."
        raise MissingDataError(msg)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is an old file
        stored = import_module("anndata").read_h5ad(
            Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
        )
    X = stored.raw.X
    types = np.unique(stored.obs["bulk_labels"].astype(str), return_inverse=True)[1]
    return Problem(
        np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64), CELLS_RANK, None, types
    )


def abstracts() -> Problem:
    """Return classic3: abstracts of three collections, with their words."""
    return documents_with_words("classic3", 3)


def newsgroups() -> Problem:
    """Return 20 newsgroups with the classes of the messages."""
    return documents_with_words("20Newsgroups", 20)


def documents_with_words(name: str, r: int) -> Problem:
    """Return a document set that is not in the paper."""
    corpus = documents(name)
    return Problem(corpus.counts, r, None, corpus.labels, corpus.word_labels)


OTHERS: dict[str, Callable[[], Problem]] = {
    "planted": planted,
    "digits": digits,
    "cells": cells,
    "classic3": abstracts,
    "20Newsgroups": newsgroups,
    "docstrings": docstrings,
    "images": lambda: Problem(faces().pixels.T, *FACES, row_classes=faces().labels),
    "faces": lambda: Problem(faces().pixels, *FACES, col_classes=faces().labels),
}


def topics(m: int, n: int, *, words: float = 0.3, mixture: float = 0.1, length: float = 200) -> Block:
    """Return Poisson counts of a random topic model; smaller ``words`` and ``mixture`` give more zeros."""
    random = np.random.default_rng(0)
    shares = random.gamma(words, size=(m, m))
    counts = random.poisson(length * (shares / shares.sum(axis=0)) @ random.dirichlet(np.full(m, mixture), n).T)
    return np.asarray(counts[:, counts.sum(axis=0) > 0], dtype=np.float64)
