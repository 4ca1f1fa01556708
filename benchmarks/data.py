"""The name of a data set enters, the matrix that benchmarks run on leaves, with the classes of its rows and columns.

Published data is read from the folder named by COSEP_DATA: ``documents/`` and ``faces/``.
"""

import os
import tarfile
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from cosep import make_coseparable
from cosep.matrix.local import Indices

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
PARTS = {"NG10": ("NG20",), "TDT30": ("TDT2",), "la12": ("la1", "la2")}
WORDS = 1000
# Instead of the published sets, to see whether everything runs: one that is always there, one that never is.
TINY = ("planted", "sports")


class MissingDataError(Exception):
    """Why a data set is not here."""


class Problem(NamedTuple):
    """A matrix, how many rows and columns to choose, and the approximation that the paper prints, in percent.

    Where they are known, the true classes of rows and columns too.
    """

    X: Any
    r: int
    printed: float | None = None
    row_classes: Indices | None = None
    col_classes: Indices | None = None


def load(name: str) -> Problem:
    """Return a document set, the ``faces``, scikit-learn's ``digits``, or a small ``planted`` matrix."""
    if name == "planted":
        X, truth = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)
        classes = X[:, truth.col_indices].argmax(axis=1)
        return Problem(X, 4, None, classes, classes_of_words(X, classes))
    if name == "digits":
        digits = load_digits()
        return Problem(digits.data, 10, None, digits.target)
    if name == "faces":
        # In the order of the files, the ten images of a subject are neighbours.
        return Problem(faces(), *FACES, col_classes=np.arange(400) // 10)
    X, classes = documents(name)
    return Problem(X, *DOCUMENTS[name], classes, classes_of_words(X, classes))


def stored(*path: str) -> Path:
    """Return the path of a file of the data folder."""
    home = os.environ.get("COSEP_DATA")
    if not home:
        msg = "COSEP_DATA is not set"
        raise MissingDataError(msg)
    file = Path(home, *path)
    if not file.exists():
        msg = f"no {'/'.join(path)}"
        raise MissingDataError(msg)
    return file


@lru_cache
def documents(name: str) -> tuple[scipy.sparse.csr_array, Indices]:
    """Return raw counts of the 1000 most frequent words, the most frequent first, and the class of each document."""
    parts = [scipy.io.loadmat(stored("documents", f"{part}.mat")) for part in PARTS.get(name, (name,))]
    counts = [scipy.sparse.csr_array(part["fea" if "fea" in part else "dtm"], dtype=np.float64) for part in parts]
    X = scipy.sparse.vstack(counts, format="csr")
    classes = np.concatenate([part["gnd" if "gnd" in part else "classid"].ravel() for part in parts]).astype(np.intp)
    if name == "NG10":
        kept = np.flatnonzero(classes <= 10)
        X, classes = X[kept], classes[kept]
    return X[:, np.argsort(-X.sum(axis=0), kind="stable")[:WORDS]], classes


def classes_of_words(X: Any, classes: Indices) -> Indices:
    """Return for each word the class of the documents in which it is most frequent on average."""
    names, codes, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    averages = scipy.sparse.csr_array((1.0 / sizes[codes], (codes, np.arange(len(codes)))))
    return np.asarray(names[(averages @ X).argmax(axis=0)])


@lru_cache
def faces() -> Block:
    """Return the 400 ORL faces as columns of 23 x 19 pixels between 0 and 1."""
    with tarfile.open(stored("faces", "orl_faces.tar.gz")) as archive:
        files = (archive.extractfile(name) for name in sorted(archive.getnames()) if name.endswith(".pgm"))
        images = np.stack([_pgm(file) for file in files if file is not None])
    small: Block = _bicubic(images.shape[1], 23) @ images @ _bicubic(images.shape[2], 19).T
    return np.ascontiguousarray(np.clip(np.rint(small), 0, 255).reshape(len(images), -1).T) / 255


def _pgm(file: IO[bytes]) -> Block:
    """Decode an 8-bit binary PGM."""
    file.readline()
    width, height = map(int, file.readline().split())
    file.readline()
    return np.frombuffer(file.read(), np.uint8).reshape(height, width).astype(np.float64)


def _bicubic(n: int, k: int) -> Block:
    """Return the k x n matrix that shrinks n pixels to k by Keys' cubic kernel, widened so that nothing aliases."""
    x = np.abs((np.arange(n) + 0.5) * k / n - (np.arange(k)[:, None] + 0.5))
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    weights = np.where(x <= 1, near, np.where(x <= 2, far, 0.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def topics(m: int, n: int, *, words: float = 0.3, mixture: float = 0.1, length: float = 200) -> Block:
    """Return Poisson counts of a random topic model; the smaller ``words`` and ``mixture``, the more zeros."""
    random = np.random.default_rng(0)
    shares = random.gamma(words, size=(m, m))
    counts = random.poisson(length * (shares / shares.sum(axis=0)) @ random.dirichlet(np.full(m, mixture), n).T)
    return np.asarray(counts[:, counts.sum(axis=0) > 0], dtype=np.float64)
