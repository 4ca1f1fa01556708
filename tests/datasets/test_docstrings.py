"""The docstring corpus holds what it says, and nothing that the documentation would not show."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - it must not change the corpus

from cosep.datasets import docstrings, load_docstrings


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


def thing(name):
    """Return the object that a dotted name of the corpus stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def test_the_parts_fit_together(corpus):
    assert corpus.counts.shape == (len(corpus.documents), len(corpus.words))
    assert corpus.labels.shape == corpus.documents.shape
    assert corpus.counts.format == "csr"
    assert corpus.counts.dtype == np.float64
    assert scipy.sparse.issparse(corpus.counts)
    assert corpus.counts.data.min() >= 1
    assert corpus.counts.shape[0] >= 1500
    assert corpus.counts.shape[1] >= 3000


def test_labels_are_subpackages_of_some_size(corpus):
    assert all(name.startswith(f"{label}.") for name, label in zip(corpus.documents, corpus.labels, strict=True))
    labels, sizes = np.unique(corpus.labels, return_counts=True)
    assert {"scipy.stats", "sklearn.cluster"} <= set(labels)
    assert sizes.min() >= docstrings.MIN_DOCUMENTS


def test_names_and_words_are_sorted_and_distinct(corpus):
    for names in (corpus.documents, corpus.words):
        assert names.tolist() == sorted(set(names.tolist()))


def test_words_are_plain_and_neither_rare_nor_everywhere(corpus):
    assert all(word.isalpha() and word.islower() and len(word) >= 3 for word in corpus.words.tolist())
    uses = np.diff(corpus.counts.tocsc().indptr)
    assert uses.min() >= docstrings.MIN_USES
    assert uses.max() <= docstrings.MAX_SHARE * len(corpus.documents)
    assert not {"parameters", "returns", "the"} & set(corpus.words.tolist())


def test_counts_are_those_of_the_text(corpus):
    row = corpus.counts[[corpus.documents.tolist().index("sklearn.cluster.KMeans")]].toarray()[0]
    counted = dict(zip(corpus.words, row, strict=True))
    text = docstrings._plain(thing("sklearn.cluster.KMeans").__doc__)
    for word in ("centroids", "inertia", "lloyd"):
        assert counted[word] == sum(part == word for part in docstrings.re.findall(docstrings.WORD, text)) > 0


def test_no_object_appears_twice(corpus):
    things = [id(thing(name)) for name in corpus.documents]
    assert len(set(things)) == len(things)


def test_an_alias_goes_by_its_own_name_in_the_shallowest_namespace(corpus):
    names = set(corpus.documents.tolist())
    assert "scipy.special.roots_legendre" in names
    assert "scipy.special.p_roots" not in names
    assert "sklearn.metrics.rand_score" in names
    assert "sklearn.metrics.cluster.rand_score" not in names


def test_private_deprecated_experimental_and_foreign_things_are_left_out(corpus):
    for name in corpus.documents.tolist():
        assert not any(part.startswith("_") for part in name.split("."))
        home = getattr(thing(name), "__module__", None)
        assert home is None or home.split(".")[0] in {"scipy", "sklearn"}
        assert not (isinstance(thing(name), type) and issubclass(thing(name), Exception))
    names = set(corpus.documents.tolist())
    assert "sklearn.impute.IterativeImputer" not in names
    # It has a deprecated parameter, which is another matter.
    assert "scipy.optimize.nnls" in names


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("Do something.\n\nParameters\n----------\nx : float\n    .. deprecated:: 1.0", True),
        ("Do something.", True),
        ("Do something.\n\n.. deprecated:: 1.8\n    Use another.", False),
        ("DEPRECATED: use another.", False),
        ("Do something.\n\n.. note::\n    This is still **experimental** for now.", False),
    ],
)
def test_what_counts_as_settled(text, settled):
    assert docstrings._is_settled(text) is settled


def test_code_and_markup_are_no_words():
    text = "Use :func:`fit`.\n\n.. note:: Mind\n\n>>> plt.plot(x)\n... more\n:math:`\\alpha x`"
    assert docstrings.re.findall(docstrings.WORD, docstrings._plain(text)) == ["use", "fit", "mind"]


def test_a_namespace_that_another_version_lacks_is_skipped(monkeypatch):
    monkeypatch.setattr(docstrings, "MODULES", ("scipy.nonsense", "scipy.linalg"))
    assert set(load_docstrings().labels) == {"scipy.linalg"}


def test_without_docstrings_the_error_names_the_way_out(monkeypatch):
    monkeypatch.setattr(docstrings, "MODULES", ())
    with pytest.raises(RuntimeError, match="run Python without -OO"):
        load_docstrings()


def test_another_process_with_another_hash_seed_gives_the_same_corpus(corpus):
    code = (
        "import hashlib; from cosep.datasets import load_docstrings; c = corpus or load_docstrings(); "
        "parts = (c.counts.data, c.counts.indices, c.counts.indptr, c.documents, c.words, c.labels); "
        "print(hashlib.sha256(b''.join(part.tobytes() for part in parts)).hexdigest())"
    )
    digests = []
    exec(code, {"corpus": corpus, "print": lambda digest: digests.append(f"{digest}\n")})
    for seed in ("1", "2"):
        other = subprocess.run(
            [sys.executable, "-W", "error", "-c", f"corpus = None; {code}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.append(other.stdout)
    assert len(set(digests)) == 1
