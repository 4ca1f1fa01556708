"""The published document sets are read as the authors read them."""

import doctest
import hashlib
import pickle
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from experiments.data import DOCUMENT_SETS, MissingDataError, documents, load_documents

HERE = [name for name in documents.NAMES if name != "sports"]

# Two classes of documents, five words: one that never occurs, two of equal sums, one of equal means.
COUNTS = np.array([[1, 0, 4, 0, 2], [1, 0, 0, 0, 2], [0, 0, 0, 2, 2], [0, 0, 0, 0, 2]])
CLASSES = np.array([[1], [1], [2], [2]])
ORDER = [4, 2, 0, 3, 1]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A function that puts a set into a data home of its own and makes its checksum the expected one."""
    (tmp_path / "documents").mkdir()

    def put(name, counts=COUNTS, classes=CLASSES, words=None, **more):
        old = documents.SOURCES[name]
        path = tmp_path / "documents" / f"{name}.mat"
        content = {old.counts: scipy.sparse.csc_matrix(counts.astype(np.uint8)), old.classes: classes, **more}
        scipy.io.savemat(path, content)
        monkeypatch.setitem(documents.SOURCES, name, old._replace(checksum=sha256(path)))
        if words is not None:
            listed = documents.WORD_LISTS[name]
            path = tmp_path / "documents" / listed.file
            path.write_text(words)
            monkeypatch.setitem(documents.WORD_LISTS, name, listed._replace(checksum=sha256(path)))
        return tmp_path

    return put


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def slow_word_labels(X, labels):
    """Return the class with the largest mean count of every word, class by class."""
    means = np.array([X[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    return np.where(X.sum(axis=0) == 0, -1, means.argmax(axis=0))


def test_words_come_by_descending_sums_with_raw_counts_and_labels(store):
    read = load_documents("k1b", n_words=None, home=store("k1b"))
    np.testing.assert_array_equal(read.counts.toarray(), COUNTS[:, ORDER])
    assert (read.counts.format, read.counts.dtype) == ("csr", np.float64)
    assert isinstance(read.counts, scipy.sparse.csr_array)
    np.testing.assert_array_equal(read.labels, [0, 0, 1, 1])
    np.testing.assert_array_equal(read.word_labels, [0, 0, 0, 1, -1])
    assert read.words.tolist() == [None] * 5
    assert (read.name, read.n_classes) == ("k1b", 2)


@pytest.mark.parametrize("n_words", [1, 3, 5, np.int32(2)])
def test_fewer_words_are_the_first_of_all_words(store, n_words):
    home = store("tr11", words="a\nb\nc\nd\ne\n")
    read, full = load_documents("tr11", n_words=n_words, home=home), load_documents("tr11", n_words=None, home=home)
    np.testing.assert_array_equal(read.counts.toarray(), full.counts.toarray()[:, :n_words])
    np.testing.assert_array_equal(read.word_labels, full.word_labels[:n_words])
    assert read.words.tolist() == full.words.tolist()[:n_words] == ["e", "c", "a", "d", "b"][:n_words]


def test_word_labels_agree_with_a_slow_twin(store):
    random = np.random.default_rng(0)
    classes = random.integers(1, 5, size=(40, 1))
    home = store("hitech", random.poisson(0.2, size=(40, 60)), classes)
    read = load_documents("hitech", n_words=None, home=home)
    np.testing.assert_array_equal(read.word_labels, slow_word_labels(read.counts.toarray(), read.labels))


def test_ng10_is_the_first_ten_classes_and_la12_two_sets_stacked(store):
    home = store("NG20", classes=np.array([[10], [11], [3], [20]]))
    read = load_documents("NG10", n_words=None, home=home)
    np.testing.assert_array_equal(read.counts.toarray(), COUNTS[[0, 2]][:, [2, 4, 3, 0, 1]])
    np.testing.assert_array_equal(read.labels, [1, 0])
    store("la1", COUNTS[:2], CLASSES[:2])
    store("la2", COUNTS[2:], CLASSES[2:])
    stacked = load_documents("la12", n_words=None, home=home)
    np.testing.assert_array_equal(stacked.counts.toarray(), COUNTS[:, ORDER])
    np.testing.assert_array_equal(stacked.labels, [0, 0, 1, 1])
    assert stacked.checksum not in {read.checksum, load_documents("la1", n_words=2, home=home).checksum}


def test_a_partial_list_names_the_words_it_has(store):
    home = store("TDT2", words="column0based\tword\tcosine\n0\tpresident\t0.9\n4\tiraq\t1.0\n")
    assert load_documents("TDT30", n_words=4, home=home).words.tolist() == ["iraq", None, "president", None]


def test_words_inside_the_file_are_read(store):
    words = np.array(["a", "bc", "d", "e", "f"], dtype=object)[:, None]
    read = load_documents("classic3", n_words=3, home=store("classic3", classes=CLASSES - 1, ms=words))
    assert read.words.tolist() == ["f", "d", "a"]
    np.testing.assert_array_equal(read.labels, [0, 0, 1, 1])


def test_results_are_not_shared(store):
    home = store("k1b")
    read = load_documents("k1b", n_words=3, home=home)
    for array in (read.counts.data, read.labels, read.word_labels, read.words):
        array[:] = 7
    fresh = load_documents("k1b", n_words=3, home=home)
    np.testing.assert_array_equal(fresh.counts.toarray(), COUNTS[:, ORDER[:3]])
    np.testing.assert_array_equal(fresh.labels, [0, 0, 1, 1])


def test_more_words_than_there_are_are_refused(store):
    with pytest.raises(ValueError, match="n_words=6 must be at most 5, the words of k1b; pass None"):
        load_documents("k1b", n_words=6, home=store("k1b"))


@pytest.mark.parametrize("n_words", [0, -1, 2.5, "10", True, np.nan, [3]])
def test_a_bad_number_of_words_is_refused_before_anything_is_read(n_words, tmp_path):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        load_documents("k1b", n_words=n_words, home=tmp_path)


@pytest.mark.parametrize("name", ["nonsense", "K1B", "NG20", "", None, 3, ["k1b"], "../k1b"])
def test_unknown_names_are_refused_with_all_names(name, tmp_path):
    with pytest.raises(ValueError, match=r"must be one of 'NG10', .*'classic3'"):
        load_documents(name, home=tmp_path)


def test_sports_is_listed_and_never_there(tmp_path):
    assert "sports" in DOCUMENT_SETS
    with pytest.raises(MissingDataError, match=r"sports is not available.*tables of the paper"):
        load_documents("sports", home=tmp_path)


@pytest.mark.parametrize("name", HERE)
def test_a_missing_file_is_described(name, tmp_path):
    described = r"obtain documents/\w+\.mat, which is a MATLAB file with \w+ \(\d+ x \d+, sparse\) and \w+ \(\d+ x 1\)"
    with pytest.raises(MissingDataError, match=described):
        load_documents(name, home=tmp_path)


def test_a_missing_list_of_words_is_described(store):
    with pytest.raises(MissingDataError, match=r"tr23\.words\.txt, which is 5831 lines, one word each"):
        load_documents("tr23", home=store("tr23"))


def test_a_file_cut_short_is_refused(store):
    home = store("k1b")
    path = home / "documents" / "k1b.mat"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(MissingDataError, match=f"{sha256(path)}.*{documents.SOURCES['k1b'].checksum}"):
        load_documents("k1b", home=home)


class Trap:
    """An object whose unpickling would leave a mark."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_is_never_loaded(store, monkeypatch):
    home = store("k1b")
    path, mark = home / "documents" / "k1b.mat", home / "mark"
    path.write_bytes(pickle.dumps(Trap(mark)))
    monkeypatch.setattr(scipy.io, "loadmat", None)
    with pytest.raises(MissingDataError, match="another edition"):
        load_documents("k1b", home=home)
    assert not mark.exists()


@pytest.mark.parametrize("name", HERE)
def test_published_sets_are_what_their_table_says(name, data_home):
    read = load_documents(name, home=data_home)
    parts = [documents.SOURCES[part] for part in documents.PARTS.get(name, (name,))]
    m = 9963 if name == "NG10" else sum(part.shape[0] for part in parts)
    assert read.counts.shape == (m, 1000)
    assert read.counts.has_canonical_format
    assert (read.counts.data == np.rint(read.counts.data)).all()
    assert read.counts.data.min() >= 1
    sums = read.counts.sum(axis=0)
    assert (np.diff(sums) <= 0).all()
    np.testing.assert_array_equal(np.unique(read.labels), np.arange(read.n_classes))
    assert set(read.word_labels) <= set(range(read.n_classes))
    # Rank of the tables of the paper: as many as there are classes.
    classes = {"NG10": 10, "TDT30": 30, "ohscal": 10, "tr41": 10, "tr45": 10, "tr11": 9, "20Newsgroups": 20}
    classes |= {"classic": 4, "reviews": 5, "classic3": 3}
    assert read.n_classes == classes.get(name, 6)
    known = [word for word in read.words if word is not None]
    assert all(isinstance(word, str) and word for word in known)
    assert len(set(known)) == len(known)
    assert (len(known) == 1000) == (name in {"tr11", "tr23", "tr41", "tr45", "20Newsgroups", "classic3"})
    assert (len(known) > 0) == (len(known) == 1000 or name == "TDT30")


def test_all_words_have_the_published_shapes(data_home):
    tr11 = load_documents("tr11", n_words=None, home=data_home)
    assert tr11.counts.shape == (414, 6424)
    assert tr11.counts.nnz == 114543
    assert len(set(tr11.words)) == len(tr11.word_labels) == 6424
    tdt30 = load_documents("TDT30", n_words=None, home=data_home)
    assert sum(word is not None for word in tdt30.words) == 281
    assert (tdt30.word_labels == -1).sum() == (tdt30.counts.sum(axis=0) == 0).sum() == 678


def test_k1b_is_the_matrix_of_the_authors_with_their_labels(data_home):
    read = load_documents("k1b", home=data_home)
    theirs = scipy.io.loadmat(data_home / "reference" / "sub_k1b.mat", spmatrix=False)
    assert abs(read.counts - theirs["sub"]).max() == 0
    np.testing.assert_array_equal(read.labels + 1, theirs["classid"].ravel())
    np.testing.assert_array_equal(read.word_labels + 1, theirs["word_id"].ravel())


def test_the_stored_checksums_are_those_of_the_files(data_home):
    listed = dict(reversed(line.split()) for line in (data_home / "SHA256SUMS").read_text().splitlines())
    for part, source in documents.SOURCES.items():
        assert listed[f"documents/{part}.mat"] == source.checksum
    for words in documents.WORD_LISTS.values():
        assert listed[f"documents/{words.file}"] == words.checksum


def test_the_examples_that_need_data_run(data_home, monkeypatch):
    monkeypatch.setenv("COSEP_DATA", str(data_home))
    text = re.sub(r"# doctest: \+SKIP", "", load_documents.__doc__)
    test = doctest.DocTestParser().get_doctest(text, {}, "load_documents", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0
