"""Word counts of the docstrings of the installed SciPy and scikit-learn."""

import re
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc, isclass, isroutine
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from cosep.utils.display import Readable

# The documented namespaces, without deprecated and generated ones (blas, lapack).
SCIPY = """
    cluster.hierarchy cluster.vq fft fftpack integrate interpolate io io.arff io.matlab io.wavfile linalg
    linalg.interpolative ndimage optimize optimize.elementwise signal signal.windows sparse sparse.csgraph sparse.linalg
    spatial spatial.distance spatial.transform special stats stats.contingency stats.mstats stats.qmc stats.sampling
"""
SKLEARN = """
    base cluster compose covariance cross_decomposition datasets decomposition ensemble feature_extraction
    feature_extraction.image feature_extraction.text feature_selection gaussian_process gaussian_process.kernels
    inspection linear_model manifold metrics metrics.cluster metrics.pairwise model_selection naive_bayes neighbors
    pipeline preprocessing svm tree utils utils.class_weight utils.extmath utils.graph utils.metaestimators
    utils.multiclass utils.random utils.sparsefuncs utils.validation
"""
MODULES = (*(f"scipy.{name}" for name in SCIPY.split()), *(f"sklearn.{name}" for name in SKLEARN.split()))

# Keep subpackages with at least this many documents, and words in at least this many and at most this share of them.
MIN_DOCUMENTS = 10
MIN_USES = 5
MAX_SHARE = 0.3

# Removed from the text: lines of example code, roles such as :math:, directives such as .. note::, TeX commands.
MARKUP = re.compile(r"^ *(?:>>>|\.\.\.).*$|:[\w:]+:(?=`)|^ *\.\. [\w-]+::|\\[A-Za-z]+", re.MULTILINE)

WORD = r"\b[a-z]{3,}\b"

# scikit-learn's mark of a class that must be enabled first.
EXPERIMENTAL = "**experimental**"


@dataclass(frozen=True, eq=False, repr=False)
class DocstringCorpus(Readable):
    """Word counts of the docstrings of functions and classes.

    Parameters
    ----------
    counts : csr_array of float64, of shape (n_documents, n_words)
    documents : ndarray of str
        Dotted names of the functions and classes, in alphabetical order.
    words : ndarray of str
        In alphabetical order.
    labels : ndarray of str
        The subpackage of each document, such as "scipy.stats" or "sklearn.cluster".
    texts : tuple of str
        The docstrings.
    """

    counts: Any
    documents: NDArray[np.str_]
    words: NDArray[np.str_]
    labels: NDArray[np.str_]
    texts: tuple[str, ...]


def load_docstrings() -> DocstringCorpus:
    """Count the words in the docstrings of the public functions and classes of SciPy and scikit-learn.

    The docstrings are those of the installed versions: nothing is downloaded, and the same environment gives the same
    corpus. Aliases count once. Exceptions, deprecated and experimental objects, and subpackages with fewer than ten
    documents are left out. Words have at least three letters, are not English stop words, and occur in at least five
    documents and in at most 30 % of them.

    Returns
    -------
    DocstringCorpus

    Examples
    --------
    >>> from cosep.datasets import load_docstrings
    >>> corpus = load_docstrings()
    >>> corpus.counts.shape == (len(corpus.documents), len(corpus.words))
    True
    >>> corpus.labels[corpus.documents == "sklearn.cluster.KMeans"].item()
    'sklearn.cluster'
    """
    texts = _texts()
    sizes = Counter(_subpackage(document) for document in texts)
    texts = {name: text for name, text in texts.items() if sizes[_subpackage(name)] >= MIN_DOCUMENTS}
    if not texts:
        msg = "SciPy and scikit-learn have no docstrings here; run Python without -OO and PYTHONOPTIMIZE=2."
        raise RuntimeError(msg)
    counter = CountVectorizer(
        stop_words="english",
        preprocessor=_plain,
        token_pattern=WORD,
        min_df=MIN_USES,
        max_df=MAX_SHARE,
        dtype=np.float64,
    )
    counts = scipy.sparse.csr_array(counter.fit_transform(texts.values()))
    return DocstringCorpus(
        counts,
        np.array(list(texts)),
        counter.get_feature_names_out().astype(np.str_),
        np.array([_subpackage(document) for document in texts]),
        tuple(texts.values()),
    )


def _plain(text: str) -> str:
    return MARKUP.sub(" ", text).lower()


def _subpackage(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _texts() -> dict[str, str]:
    """Return docstrings by dotted name, sorted by name."""
    homes: dict[int, tuple[tuple[int, bool, str], str]] = {}
    for module in MODULES:
        for name, thing in _public(module):
            path = f"{module}.{name}"
            # Of several names, prefer the shortest path, and there the object's own name.
            rank = path.count("."), getattr(thing, "__name__", name) != name, path
            document = rank, cleandoc(thing.__doc__)
            homes[id(thing)] = min(homes.get(id(thing), document), document)
    return dict(sorted((rank[-1], text) for rank, text in homes.values()))


def _public(module: str) -> list[tuple[str, Any]]:
    """Return name and object of all documents of the corpus in a namespace.

    The namespace is read directly, so that a module-level ``__getattr__`` is not called: it offers deprecated names,
    which warn, and experimental ones, which raise.
    """
    try:
        namespace = vars(import_module(module))
    except ModuleNotFoundError:  # another version of the package
        return []
    names = namespace.get("__all__") or [
        name for name, thing in namespace.items() if getattr(thing, "__module__", None) == module
    ]
    things = [(name, namespace[name]) for name in names if name in namespace and not name.startswith("_")]
    return [(name, thing) for name, thing in things if _is_document(thing, module)]


def _is_document(thing: Any, module: str) -> bool:
    if not (isroutine(thing) or isclass(thing) or isinstance(thing, np.ufunc)) or not thing.__doc__:
        return False
    # NumPy's ufuncs do not know their module.
    home = getattr(thing, "__module__", None) or module
    ours = home.split(".")[0] == module.split(".", maxsplit=1)[0]
    return ours and not (isclass(thing) and issubclass(thing, Exception)) and _is_settled(cleandoc(thing.__doc__))


def _is_settled(text: str) -> bool:
    """Return whether a docstring marks its object as neither deprecated nor experimental.

    In numpydoc the deprecation of an object is right below the summary; further down it concerns a parameter.
    """
    second = f"{text}\n\n".split("\n\n")[1]
    return not text.startswith("DEPRECATED") and not second.startswith(".. deprecated::") and EXPERIMENTAL not in text
