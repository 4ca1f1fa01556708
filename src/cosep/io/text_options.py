"""Options for counting the words of texts."""

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cosep.io.stop_words import stop_words_of
from cosep.utils.messages import one_line, shown

# Words in more than this share of the texts are left out by default, if there are at least this many texts.
MAX_SHARE, MIN_TEXTS = 0.9, 20
# Phrases of more words hardly ever occur twice.
MAX_WORDS_OF_PHRASE = 5


@dataclass(frozen=True)
class TextOptions:
    """Options for counting the words of texts.

    Words are runs of at least two letters, digits or underscores, as scikit-learn's CountVectorizer finds them.

    Parameters
    ----------
    column : str, optional
        The column of a table, or the field of a JSON line, that holds the text. Without it, a table is read as a matrix
        of numbers. Default for JSON lines: "text". Does not apply to folders and plain text.
    stop_words : str, list of str, or None, default "english"
        Words to leave out: "english" for scikit-learn's list, another language such as "german" for the list of the
        package stop-words (extra ``cosep[texts]``), own words, or none.
    min_df : int or float, default 2
        Keep words that occur in at least this many texts. A float is a share of the texts.
    top_words : int, optional
        Keep this many of the most frequent words, by total count, ties in alphabetical order. Default: all.
    lowercase : bool, default True
        Whether to ignore case.
    vocabulary : tuple of str, optional
        Count only these words, in this order, such as the column names of a matrix that new texts are compared with.
        Then ``min_df``, ``max_df`` and ``top_words`` are ignored. Default: all words.
    max_df : int or float, optional
        Keep words that occur in at most this many texts. A float is a share of the texts. Default: 0.9 if there are at
        least 20 texts, because words that nearly every text has, such as the name of a product in its documentation,
        tell nothing about topics, and 1.0 if there are fewer.
    ngrams : int, default 1
        Count words and phrases of up to this many words, such as "machine learning" for 2. Stop words are left out
        before.
    tfidf : bool, default False
        Multiply counts by ``ln((1 + n) / (1 + d)) + 1``, where d of the n texts have the word, and divide each text by
        its norm, as scikit-learn's TfidfVectorizer does.
    sublinear : bool, default False
        Replace a count c by ``1 + ln(c)``, so that a word that one text repeats counts less.
    idf : tuple of float, optional
        The factor of each word of ``vocabulary``, for ``tfidf``. Default: that of the texts themselves.

    Examples
    --------
    >>> from cosep.io import TextOptions, vectorise
    >>> counts, words = vectorise(["Red fish, blue fish.", "One fish."], TextOptions(min_df=1, top_words=2))
    >>> words.tolist(), counts.toarray().tolist()
    (['blue', 'fish'], [[1.0, 2.0], [0.0, 1.0]])
    >>> vectorise(["Red fish, blue fish.", "One fish."], TextOptions(min_df=1, max_df=1, ngrams=2))[1].tolist()
    ['blue', 'blue fish', 'fish blue', 'red', 'red fish']
    """

    column: str | None = None
    stop_words: str | tuple[str, ...] | None = "english"
    min_df: float = 2
    top_words: int | None = None
    lowercase: bool = True
    vocabulary: tuple[str, ...] | None = None
    max_df: float | None = None
    ngrams: int = 1
    tfidf: bool = False
    sublinear: bool = False
    idf: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        from cosep.matrix.checks import check_positive, check_switch  # noqa: PLC0415 - as below

        if self.column is not None and not isinstance(self.column, str):
            msg = f"column={shown(self.column)} must be the name of a column, or None."
            raise ValueError(msg)
        _set(self, "stop_words", _checked_stop_words(self.stop_words))
        _check_frequency(self.min_df, "min_df")
        if self.max_df is not None:
            _check_frequency(self.max_df, "max_df")
        if self.top_words is not None:
            check_positive(self.top_words, "top_words")
        if not _is_whole(self.ngrams) or not 1 <= self.ngrams <= MAX_WORDS_OF_PHRASE:
            most = f"{MAX_WORDS_OF_PHRASE}, the most words of a phrase"
            msg = f"ngrams={shown(self.ngrams)} must be a whole number from 1 to {most}."
            raise ValueError(msg)
        for name in ("lowercase", "tfidf", "sublinear"):
            check_switch(getattr(self, name), name)
        if self.vocabulary is not None:
            _set(self, "vocabulary", _checked_words(self.vocabulary))
        if self.idf is not None:
            _set(self, "idf", _checked_idf(self.idf, self.vocabulary))

    def largest_frequency(self, n_texts: int) -> float:
        """Return ``max_df``, or its default for this many texts.

        Parameters
        ----------
        n_texts : int
            The number of texts.
        """
        if self.max_df is None:
            return MAX_SHARE if n_texts >= MIN_TEXTS else 1.0
        return self.max_df

    def to_mapping(self) -> dict[str, Any]:
        """Return the options for JSON, without the vocabulary, which is stored as column names."""
        settings = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "vocabulary"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any], vocabulary: Iterable[str] | None = None) -> "TextOptions":
        """Return options from the result of `to_mapping` and the words to count; without words, also without idf.

        Parameters
        ----------
        settings : mapping
            What `to_mapping` returned.
        vocabulary : iterable of str, optional
            The words to count, such as the names of columns. Default: the words of the texts.
        """
        known = {field.name for field in fields(cls)} - {"vocabulary"}
        if not isinstance(settings, Mapping) or not all(isinstance(name, str) and name in known for name in settings):
            msg = f"settings={shown(settings)} must be a mapping with keys among {', '.join(sorted(known))}."
            raise ValueError(msg)
        if vocabulary is None:
            return cls(**{**settings, "idf": None})
        return cls(**settings, vocabulary=_checked_words(vocabulary))


def _set(options: TextOptions, name: str, value: Any) -> None:
    """Set a field of frozen options while they are made."""
    object.__setattr__(options, name, value)


def _is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not True or False."""
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def _check_frequency(value: Any, name: str) -> None:
    """Raise for anything but a number of texts, or a share of them; no word could occur in a share of 0 at most."""
    is_share = isinstance(value, float) and 0.0 <= value <= 1.0
    if not is_share and not (_is_whole(value) and 1 <= value < 2**63):
        msg = f"{name}={shown(value)} must be a whole number of texts, at least 1, or a share of them from 0 to 1."
        raise ValueError(msg)
    if name == "max_df" and value == 0.0:
        msg = "max_df=0.0 must be above 0, or no word remains; pass a share of the texts such as 0.5, or a number."
        raise ValueError(msg)


def _checked_stop_words(given: Any) -> str | tuple[str, ...] | None:
    """Return the name of a known language, a tuple of words, or None."""
    if given is None:
        return None
    if isinstance(given, str):
        stop_words_of(given)
        return given
    try:
        words = tuple(given)
    except Exception:  # noqa: BLE001 - iterating over the argument may raise anything
        words = ()
    if not words or not all(isinstance(word, str) for word in words):
        msg = f"stop_words={shown(given)} must be a language such as 'english', a list of words, or None."
        raise ValueError(msg)
    return tuple(map(str, words))


def _checked_words(vocabulary: Any) -> tuple[str, ...]:
    """Return the words as a tuple; raise if there are none, or repeats."""
    words = tuple(checked_texts(vocabulary, "vocabulary"))
    if not words or len(set(words)) < len(words):
        msg = f"vocabulary must hold distinct words, at least one, got {len(words)} with repeats or none."
        raise ValueError(msg)
    return words


def _checked_idf(idf: Any, vocabulary: tuple[str, ...] | None) -> tuple[float, ...]:
    """Return the factors of the words as a tuple; raise if they are not positive, or not one for each word."""
    try:
        factors = np.asarray(idf)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
        factors = np.zeros((0, 0))
    n_words = 0 if vocabulary is None else len(vocabulary)
    known = factors.ndim == 1 and factors.dtype.kind in "fiu" and len(factors) == n_words
    if not known or not np.isfinite(factors).all() or (factors <= 0).any():
        msg = f"idf={shown(idf)} must be one positive number for each of the {n_words} words of vocabulary, or None."
        raise ValueError(msg)
    return tuple(factors.astype(np.float64).tolist())


def checked_texts(texts: Any, name: str) -> list[str]:
    """Return the texts as a list; raise for anything but an iterable of str."""
    found: list[str] = []
    problem = "a single text; write [text]" if isinstance(texts, (str, bytes)) else ""
    try:
        for text in () if problem else texts:
            if not isinstance(text, str):
                problem = f"{shown(text)} at position {len(found)}"
                break
            found.append(str(text))
    except Exception as error:  # noqa: BLE001 - iterating over the argument may raise anything
        problem = f"{shown(texts)} ({one_line(error, 100)})"
    if problem:
        msg = f"{name} must be an iterable of str, got {problem}."
        raise ValueError(msg)
    return found
