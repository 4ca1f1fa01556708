"""Word counts of published document sets, with the classes of documents and words."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from cosep.matrix.checks import check_choice, check_positive
from cosep.utils.types import Indices
from experiments.data.home import Folder, MissingDataError, verified

# In the order of the tables of Pan and Ng (2023).
DOCUMENT_SETS = (
    "NG10",
    "TDT30",
    "classic",
    "reviews",
    "sports",
    "ohscal",
    "k1b",
    "la12",
    "hitech",
    "la1",
    "la2",
    "tr41",
    "tr45",
    "tr11",
    "tr23",
)
NAMES = (*DOCUMENT_SETS, "20Newsgroups", "classic3")


class Source(NamedTuple):
    """A MATLAB file: checksum, shape of the counts, variable names of counts and classes, and origin."""

    checksum: str
    shape: tuple[int, int]
    counts: str = "dtm"
    classes: str = "classid"
    origin: str = "the collection of Zhong and Ghosh (2005)"


class WordList(NamedTuple):
    """A text file: name, checksum and a description of its contents."""

    file: str
    checksum: str
    what: str


SOURCES = {
    "NG20": Source("044bb70c49890cd44ab64c190b25f28f27e22c96ef851c212dbac85438cd8d3b", (19949, 43586)),
    "TDT2": Source(
        "a28844f8bf18076838ede0d7554c8c2476d6b6d1c7eb57558e7288e10d16fde9",
        (9394, 36771),
        "fea",
        "gnd",
        "the text data of Deng Cai",
    ),
    "classic": Source("4ea89c5511bd84de015f5cf51962938bd3b6c4e8c256d49d14f9b9370c90bc63", (7094, 41681)),
    "reviews": Source("ac52aacf94cde86aea026dbce726a645d1ae06a505e5a3c1211e83b1019a0ba1", (4069, 18483)),
    "ohscal": Source("d4bc8a9fab44d7c64273329b0214463074ad2f069c803ff86ee6fe2ef586d291", (11162, 11465)),
    "k1b": Source("c04a86e99ec6f9519567a15182a5881e2c14f7b644bbe63288844e8f7dce306c", (2340, 21819)),
    "hitech": Source("728eeb48e78700afb78dcf181de549e081600ef5b15dd0bfd3c695252ac97163", (2301, 10080)),
    "la1": Source("12c2884e474c276b0fa5f23f0010ca0abede97f03e89bae5227b827b186bf7aa", (3204, 31472)),
    "la2": Source("c33e080adf1b0ecf74d71cc4c972c68ecc0eaac7609888457552cd29ba33fd1d", (3075, 31472)),
    "tr41": Source("861374a788e1a0be548e6adc20d9077c72290b008a6ab528f30b3acd53627dc9", (878, 7453)),
    "tr45": Source("973611453015d47faa0da1224a4a1eb1e3c2fa0bf80ba3c040ec6a93517ad2cc", (690, 8261)),
    "tr11": Source("891936d002e441ebcfa743f2f59505dd0ff9308b75b67761a17b45f15cf24a79", (414, 6424)),
    "tr23": Source("a466e9beb098e94d53bfe6127627125c0ec499fd82847aa5a678baf316eb9d7f", (204, 5831)),
    "20Newsgroups": Source(
        "dc1418f7291a4c09a4ab3b6a7d31c129d6edad7643ac5ec6bdaf67180a000ae8",
        (18846, 26214),
        "fea",
        "gnd",
        "the text data of Deng Cai",
    ),
    "classic3": Source(
        "94989d2c1c884945ae960f173eb2ed1cc078c5eded6786f24d2d717274d767d4",
        (3891, 4303),
        "A",
        "labels",
        "the abstracts of CISI, CRAN and MED, with the words as ms",
    ),
}
PARTS = {"NG10": ("NG20",), "TDT30": ("TDT2",), "la12": ("la1", "la2")}
NG10_CLASSES = 10

WORD_LISTS = {
    "TDT2": WordList(
        "TDT2.words-partial.tsv",
        "08c9d012a60a534ae2cab42727d338456b6d03a29181c35650a8ae7c13a70358",
        "a header and 281 lines of column, word and cosine, separated by tabs",
    ),
    "tr41": WordList(
        "tr41.words.txt",
        "908cc2d0cdf5b7caf287af782604ec4f5a9a53ca43dde8caaa35e8ec7d611ae3",
        "7453 lines, one word each",
    ),
    "tr45": WordList(
        "tr45.words.txt",
        "242c72f014ccd394080c4f8dc9e67a1eebcd77fcaa88fb89b668c7e516cbdd67",
        "8261 lines, one word each",
    ),
    "tr11": WordList(
        "tr11.words.txt",
        "20f0c15f917f300492dd553af1d5ab237d93dcb962f1d405ae08184de1cd429a",
        "6424 lines, one word each",
    ),
    "tr23": WordList(
        "tr23.words.txt",
        "4b25fc0e34b78705853f85312c64c09322bae664cff1bb423f62f9d83a40e7ad",
        "5831 lines, one word each",
    ),
    "20Newsgroups": WordList(
        "20Newsgroups.words.txt",
        "ff713598cb18a3b3de664afefaf85f6ae12308116eaadd6fd86ffc73d17b75f8",
        "26214 lines, one word each",
    ),
}


@dataclass(frozen=True, eq=False)
class Documents:
    """How often each word occurs in each document, and the classes of both.

    Parameters
    ----------
    name : str
    counts : csr_array of float64, of shape (n_documents, n_words)
        The columns in descending order of their sums.
    labels : ndarray of int
        The class of each document, counted from 0 (the files count from 1, except classic3).
    word_labels : ndarray of int
        The class whose documents have most of the word on average, the first of several; -1 if it never occurs.
    words : ndarray of object
        The words as str, None where the word is not known.
    checksum : str
        Sixteen hexadecimal digits that identify the files the set was read from.
    """

    name: str
    counts: Any
    labels: Indices
    word_labels: Indices
    words: NDArray[np.object_]
    checksum: str

    @property
    def n_classes(self) -> int:
        """How many classes the documents have."""
        return int(self.labels.max()) + 1


def load_documents(name: str, *, n_words: int | None = 1000, home: Folder | None = None) -> Documents:
    """Read one of the document sets of the paper, or 20Newsgroups or classic3, from a folder of published data.

    As in the paper: raw counts of the words with the largest sums, ties in the order of the file, and the classes of
    words as in :class:`Documents`. NG10 is the first ten classes of NG20, la12 is la1 above la2. Documents without any
    of these words are kept as rows of zeros. Nothing is downloaded. Each file is read only if its checksum matches.

    The paper most likely used other word counts of the documents in TDT30, so expect other figures there. The words
    are known for tr11, tr23, tr41, tr45, 20Newsgroups and classic3, and for 281 columns of TDT30.

    Parameters
    ----------
    name : str
        One of ``DOCUMENT_SETS``, "20Newsgroups" or "classic3".
    n_words : int or None, default 1000
        Number of words to keep; None keeps all.
    home : path, optional
        Folder with ``documents/``. Default: the folder named by the environment variable COSEP_DATA.

    Returns
    -------
    Documents

    Raises
    ------
    MissingDataError
        If a file is missing or has another checksum, and always for "sports", which is not available.

    References
    ----------
    S. Zhong and J. Ghosh, Generative model-based document clustering: a comparative study, Knowledge and Information
    Systems 8 (2005), https://doi.org/10.1007/s10115-004-0194-1.
    D. Cai, Q. Mei, J. Han and C. Zhai, Modeling hidden topics on document manifold, CIKM 2008,
    https://doi.org/10.1145/1458082.1458202.

    Examples
    --------
    >>> from experiments.data import DOCUMENT_SETS, load_documents
    >>> DOCUMENT_SETS[:4]
    ('NG10', 'TDT30', 'classic', 'reviews')
    >>> documents = load_documents("tr11")  # doctest: +SKIP
    >>> documents.counts.shape, documents.n_classes  # doctest: +SKIP
    ((414, 1000), 9)
    """
    check_choice(name, "name", NAMES)
    most = None if n_words is None else check_positive(n_words, "n_words")
    if name == "sports":
        msg = (
            "sports is not available: no copy of it could be obtained. The name is listed because the "
            "tables of the paper have a row for it; use another name of DOCUMENT_SETS."
        )
        raise MissingDataError(msg)
    parts = [_read(part, home) for part in PARTS.get(name, (name,))]
    counts = scipy.sparse.vstack([part.counts for part in parts], format="csr")
    classes = np.concatenate([part.classes for part in parts])
    if name == "NG10":
        kept = np.flatnonzero(classes <= NG10_CLASSES)
        counts, classes = counts[kept], classes[kept]
    if most is not None and most > counts.shape[1]:
        msg = f"n_words={n_words} must be at most {counts.shape[1]}, the words of {name}; pass None for all of them."
        raise ValueError(msg)
    frequent = np.argsort(-counts.sum(axis=0), kind="stable")[:most]
    counts = counts[:, frequent]
    counts.sort_indices()
    labels = np.unique(classes, return_inverse=True)[1].astype(np.intp)
    checksums = "".join(checksum for part in parts for checksum in part.checksums)
    return Documents(
        name,
        counts,
        labels,
        _word_labels(counts, labels),
        parts[0].words[frequent],
        hashlib.sha256(checksums.encode()).hexdigest()[:16],
    )


class _Part(NamedTuple):
    counts: Any
    classes: Indices
    words: NDArray[np.object_]
    checksums: list[str]


def _read(part: str, home: Folder | None) -> _Part:
    """Read one MATLAB file and, if there is one, its list of words."""
    source = SOURCES[part]
    m, n = source.shape
    what = f"a MATLAB file with {source.counts} ({m} x {n}, sparse) and {source.classes} ({m} x 1), of {source.origin}"
    path = verified(home, f"documents/{part}.mat", source.checksum, what)
    checksums = [source.checksum]
    stored = scipy.io.loadmat(path, spmatrix=False, variable_names=[source.counts, source.classes, "ms"])
    counts = scipy.sparse.csr_array(stored[source.counts], dtype=np.float64)
    words = np.full(counts.shape[1], None, dtype=object)
    if part in WORD_LISTS:
        listed = WORD_LISTS[part]
        _fill(words, verified(home, f"documents/{listed.file}", listed.checksum, listed.what))
        checksums.append(listed.checksum)
    elif "ms" in stored:
        words[:] = [word.item() for word in stored["ms"].ravel()]
    return _Part(counts, stored[source.classes].ravel().astype(np.intp), words, checksums)


def _fill(words: NDArray[np.object_], path: Path) -> None:
    """Write the words of a file to their columns: to all in order, or to those that a table lists."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".tsv":
        rows = [line.split("\t") for line in lines[1:]]
        words[[int(row[0]) for row in rows]] = [row[1] for row in rows]
    else:
        words[:] = lines


def _word_labels(counts: Any, labels: Indices) -> Indices:
    """Return, for every word, the class with the largest mean count, or -1 for a word that never occurs."""
    sizes = np.bincount(labels)
    members = scipy.sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    sums = (members @ counts).toarray()
    return np.asarray(np.where(sums.any(axis=0), np.argmax(sums / sizes[:, None], axis=0), -1), dtype=np.intp)
