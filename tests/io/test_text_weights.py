"""TF-IDF, phrases and stop words: the same numbers as scikit-learn's, and the same for new texts."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfVectorizer

from cosep.io import TextOptions, read, vectorise
from cosep.io.stop_words import read_stop_words, stop_words_of
from cosep.io.word_counts import count_words

TEXTS = st.lists(st.text(alphabet="aAbB the.", max_size=30), min_size=1, max_size=8)
CHOICES = {
    "lowercase": st.booleans(),
    "min_df": st.sampled_from([1, 2, 0.3]),
    "max_df": st.sampled_from([1.0, 0.7, 5]),
    "stop_words": st.sampled_from([None, "english", ("ab", "the")]),
}


@settings(deadline=None)
@given(texts=TEXTS, ngrams=st.integers(1, 3), tfidf=st.booleans(), sublinear=st.booleans(), **CHOICES)
def test_scikit_learn_gives_the_same_numbers(texts, ngrams, tfidf, sublinear, **chosen):
    texts = [*texts, "the aa bb aa bb", "aa bb aa", "bb aa ab"]
    options = TextOptions(**chosen, ngrams=ngrams, tfidf=tfidf, sublinear=sublinear)
    stop_words = list(chosen["stop_words"]) if isinstance(chosen["stop_words"], tuple) else chosen["stop_words"]
    known = {**chosen, "stop_words": stop_words, "ngram_range": (1, ngrams)}
    reference = TfidfVectorizer(**known, sublinear_tf=sublinear) if tfidf else CountVectorizer(**known)
    try:
        expected = reference.fit_transform(texts).toarray().astype(float)
    except ValueError:
        with pytest.raises(ValueError, match=r"no word of the|max_df="):
            vectorise(texts, options)
        return
    if sublinear and not tfidf:
        expected[expected > 0] = 1.0 + np.log(expected[expected > 0])
    values, words = vectorise(texts, options)
    assert words.tolist() == reference.get_feature_names_out().tolist()
    np.testing.assert_allclose(values.toarray(), expected, rtol=1e-13)


@settings(deadline=None)
@given(texts=TEXTS, new=TEXTS, ngrams=st.integers(1, 3), tfidf=st.booleans(), sublinear=st.booleans(), **CHOICES)
def test_new_texts_are_weighed_as_stored(texts, new, ngrams, tfidf, sublinear, **chosen):
    """Also texts in another company, which have other frequencies of words."""
    options = TextOptions(**{**chosen, "min_df": 1, "max_df": 1.0}, ngrams=ngrams, tfidf=tfidf, sublinear=sublinear)
    texts = [*texts, "aa bb cc bb", "aa bb"]
    found = count_words(texts, options)
    stored = json.loads(json.dumps(found.options.to_mapping()))
    again = TextOptions.from_mapping(stored, found.words)
    values, words = vectorise([*new, *texts], again)
    assert words.tolist() == found.words.tolist()
    np.testing.assert_array_equal(values.toarray()[len(new) :], found.values.toarray())


def test_stop_words_of_languages():
    assert stop_words_of("english") == stop_words_of("en") == ENGLISH_STOP_WORDS
    assert {"und", "der", "nicht"} < stop_words_of("german") == stop_words_of("de")
    assert {"est", "une"} < stop_words_of("french")
    for language in ("german", "french", "russian"):
        assert all(CountVectorizer().build_tokenizer()(word) == [word] for word in stop_words_of(language))
    words = vectorise(["Der Hund und die Katze", "Die Katze"], TextOptions(stop_words="german", min_df=1))[1]
    assert words.tolist() == ["hund", "katze"]


def test_own_stop_words_from_a_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("\ufeffThe fish\n\n  don't, fish\n", encoding="utf-8")
    assert read_stop_words(path) == ("The", "don", "fish")
    texts = tmp_path / "texts.txt"
    texts.write_text("the red fish\nThe blue sea\n")
    matrix = read(texts, text=TextOptions(stop_words=read_stop_words(path), min_df=1))
    assert matrix.col_names.tolist() == ["blue", "red", "sea"]
    assert matrix.text_options["stop_words"] == ["don", "fish", "the"]
    for content, message in ((b"", "is empty"), (b"a b", "no words of at least two letters"), (b"\x00\x01", "binary")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_stop_words(path)


def test_a_limit_below_another_is_named():
    with pytest.raises(ValueError, match=r"max_df=0.25 keeps words in at most 1 of the 4 texts, but min_df=2 those in"):
        vectorise(["red fish"] * 4, TextOptions(max_df=0.25))
    with pytest.raises(ValueError, match=r"no word of the 4 texts remains with max_df=0.5, min_df=1 and"):
        vectorise(["red fish"] * 4, TextOptions(max_df=0.5, min_df=1))


@pytest.mark.parametrize(("n_texts", "kept"), [(19, True), (20, False)])
def test_a_word_in_nearly_every_text_is_left_out(n_texts, kept):
    texts = [f"django {word}" for word in ("form", "model", "cache")] * 7
    assert ("django" in vectorise(texts[:n_texts])[1]) == kept
    assert "django" in vectorise(texts[:n_texts], TextOptions(max_df=1.0))[1]


def test_a_word_in_nearly_every_text_can_be_left_out():
    texts = [f"django {word} {word}" for word in ("form", "form", "model", "model", "cache")]
    assert vectorise(texts, TextOptions(min_df=1, max_df=0.8))[1].tolist() == ["cache", "form", "model"]
    assert vectorise(texts, TextOptions(min_df=1, max_df=4))[1].tolist() == ["cache", "form", "model"]
