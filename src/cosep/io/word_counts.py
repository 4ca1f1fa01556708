"""Counts of the words of texts, and their weights."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.stop_words import ENGLISH, WORD, as_stop_words, stop_words_of
from cosep.io.text_options import TextOptions, checked_texts
from cosep.utils.messages import shown

# Texts of at most this many characters are split into words at once, longer ones into this many words at a time.
MAX_SHORT_TEXT, WORDS_AT_ONCE = 1 << 18, 1 << 12
# Memory for a count, and for a new word.
BYTES_PER_COUNT, BYTES_PER_WORD = 24, 256

MemoryCheck = Callable[[int, str], None]


class WordCounts(NamedTuple):
    """Counts of words, or their weights.

    Attributes
    ----------
    values : csr_array of float64, of shape (n_texts, n_words)
    words : ndarray of str
    options : TextOptions
        How to count new texts in the same way: with the words, the stop words and the factors of TF-IDF.
    """

    values: Any
    words: NDArray[np.str_]
    options: TextOptions


class _WordFinder:
    """Splits texts into words and phrases, and checks how much memory their counts need."""

    def __init__(self, options: TextOptions, stop_words: frozenset[str], check: MemoryCheck | None) -> None:
        self.options, self.stop_words, self.check = options, stop_words, check
        self.count = 0
        self.known: set[str] = set()

    def __call__(self, text: str) -> Iterable[str]:
        prepared = text.lower() if self.options.lowercase else text
        if len(prepared) <= MAX_SHORT_TEXT:
            return self._counted(list(self._phrases(WORD.findall(prepared))))
        phrases = self._phrases(found.group() for found in WORD.finditer(prepared))
        return chain.from_iterable(map(self._counted, iter(lambda: list(islice(phrases, WORDS_AT_ONCE)), [])))

    def _phrases(self, words: Iterable[str]) -> Iterator[str]:
        """Yield words that are not stop words, and phrases of consecutive ones."""
        kept = (word for word in words if word not in self.stop_words)
        if self.options.ngrams == 1:
            yield from kept
            return
        last: deque[str] = deque(maxlen=self.options.ngrams)
        for word in kept:
            last.appendleft(word)
            phrase = ""
            for earlier in last:
                phrase = f"{earlier} {phrase}" if phrase else earlier
                yield phrase

    def _counted(self, phrases: list[str]) -> list[str]:
        """Return the phrases; raise if the counts of all so far need too much memory."""
        if self.check is not None:
            self.count += len(phrases)
            self.known.update(phrases)
            self.check(BYTES_PER_COUNT * self.count + BYTES_PER_WORD * len(self.known), "counts of its words")
        return phrases


def vectorise(texts: Iterable[str], options: TextOptions | None = None) -> tuple[Any, NDArray[np.str_]]:
    """Count the words of texts, or weigh them by TF-IDF.

    Parameters
    ----------
    texts : iterable of str
    options : TextOptions, optional
        With a `vocabulary`, its words are the columns. Default: ``TextOptions()``.

    Returns
    -------
    counts : csr_array of float64, of shape (n_texts, n_words)
    words : ndarray of str
        In alphabetical order, or that of the vocabulary.

    Raises
    ------
    ValueError
        If no word remains. The message says which options to change.
    """
    found = count_words(texts, options)
    return found.values, found.words


def count_words(
    texts: Iterable[str], options: TextOptions | None = None, check: MemoryCheck | None = None
) -> WordCounts:
    """Count words as `vectorise` does; ``check`` gets the number of bytes needed so far, and may raise."""
    options = TextOptions() if options is None else options
    if not isinstance(options, TextOptions):
        msg = f"options={shown(options)} must be TextOptions, or None."
        raise ValueError(msg)
    texts = checked_texts(texts, "texts")
    stop_words = _stop_words(options)
    counts, words = _counts(texts, options, _WordFinder(options, stop_words, check))
    if options.vocabulary is None and options.top_words is not None and options.top_words < len(words):
        # The words are in alphabetical order already, which a stable sort keeps among equal counts.
        frequent = np.sort(np.argsort(-np.asarray(counts.sum(axis=0)), kind="stable")[: options.top_words])
        counts, words = counts[:, frequent], words[frequent]
    counts.sort_indices()
    if options.stop_words not in {None, ENGLISH}:
        options = replace(options, stop_words=tuple(sorted(stop_words)) or None)
    return WordCounts(*_weighted(counts, words, replace(options, vocabulary=tuple(words.tolist()))))


def _stop_words(options: TextOptions) -> frozenset[str]:
    """Return the words to leave out, which never are words that are asked for."""
    given = options.stop_words
    if given is None:
        return frozenset()
    words = stop_words_of(given) if isinstance(given, str) else as_stop_words(given)
    if options.lowercase:
        words = frozenset(word.lower() for word in words)
    return words.difference(options.vocabulary or ())


def _counts(texts: list[str], options: TextOptions, find_words: _WordFinder) -> tuple[Any, NDArray[np.str_]]:
    """Return the counts of the words that occur in as many texts as they must."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - slow to load, needed by texts only

    counter = CountVectorizer(
        analyzer=find_words, vocabulary=options.vocabulary, lowercase=options.lowercase, dtype=np.float64
    )
    if options.vocabulary is None:
        most = options.largest_frequency(len(texts))
        _check_frequencies(options.min_df, most, len(texts))
        counter.set_params(min_df=options.min_df, max_df=most)
    try:
        counts = scipy.sparse.csr_array(counter.fit_transform(texts))
    except ValueError as error:
        if not any(told in str(error).lower() for told in ("no terms remain", "empty vocabulary", "than min_df")):
            raise
        raise _no_word(options, len(texts)) from None
    return counts, np.asarray(counter.get_feature_names_out(), dtype=np.str_)


def _check_frequencies(min_df: float, max_df: float, n_texts: int) -> None:
    """Raise if words would have to occur in more texts than they may."""
    least, most = (share * n_texts if isinstance(share, float) else share for share in (min_df, max_df))
    if most < least <= n_texts:
        msg = (
            f"max_df={shown(max_df)} keeps words in at most {int(most)} of the {n_texts} texts, but "
            f"min_df={shown(min_df)} those in at least {math.ceil(least)}; raise max_df, or lower min_df."
        )
        raise ValueError(msg)


def _no_word(options: TextOptions, n_texts: int) -> ValueError:
    """Return the error for texts without a word that is kept."""
    most = options.largest_frequency(n_texts)
    limit, way = ("", "") if isinstance(most, float) and most == 1.0 else (f"max_df={shown(most)}, ", "raise max_df, ")
    return ValueError(
        f"no word of the {n_texts} texts remains with {limit}min_df={shown(options.min_df)} and "
        f"stop_words={shown(options.stop_words)}; lower min_df, {way}keep stop words, or pass longer texts."
    )


def _weighted(counts: Any, words: NDArray[np.str_], options: TextOptions) -> tuple[Any, NDArray[np.str_], TextOptions]:
    """Return the weights of the words instead of their counts, if asked for, and what new texts are weighed by."""
    if options.sublinear:
        counts.data = 1.0 + np.log(counts.data)
    if not options.tfidf:
        return counts, words, options
    if options.idf is None:
        n_texts, in_texts = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log((1 + n_texts) / (1 + in_texts)) + 1.0
        options = replace(options, idf=tuple(idf.tolist()))
    counts.data *= np.asarray(options.idf)[counts.indices]
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    return counts, words, options
