"""Counts of the words of texts."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.utils.messages import one_line, shown

STOP_WORDS = ("english",)
# A word, as CountVectorizer finds it.
WORD = re.compile(r"(?u)\b\w\w+\b")
# Texts of at most this many characters are split into words at once, longer ones into this many words at a time.
MAX_SHORT_TEXT, WORDS_AT_ONCE = 1 << 18, 1 << 12
# Memory for a count, and for a new word.
BYTES_PER_COUNT, BYTES_PER_WORD = 24, 256


@dataclass(frozen=True)
class TextOptions:
    """Options for counting the words of texts.

    Words are runs of at least two letters, digits or underscores, as scikit-learn's CountVectorizer finds them.

    Parameters
    ----------
    column : str, optional
        The column of a table, or the field of a JSON line, that holds the text. Without it, a table is read as a matrix
        of numbers. Default for JSON lines: "text". Does not apply to folders and plain text.
    stop_words : "english" or None, default "english"
        Words to leave out: scikit-learn's list of English stop words, or none.
    min_df : int or float, default 2
        Keep words that occur in at least this many texts. A float is a share of the texts.
    top_words : int, optional
        Keep this many of the most frequent words, by total count, ties in alphabetical order. Default: all.
    lowercase : bool, default True
        Whether to ignore case.
    vocabulary : tuple of str, optional
        Count only these words, in this order, such as the column names of a matrix that new texts are compared with.
        Then `min_df` and `top_words` are ignored. Default: all words.

    Examples
    --------
    >>> from cosep.io import TextOptions, vectorise
    >>> counts, words = vectorise(["Red fish, blue fish.", "One fish."], TextOptions(min_df=1, top_words=2))
    >>> words.tolist(), counts.toarray().tolist()
    (['blue', 'fish'], [[1.0, 2.0], [0.0, 1.0]])
    """

    column: str | None = None
    stop_words: str | None = "english"
    min_df: float = 2
    top_words: int | None = None
    lowercase: bool = True
    vocabulary: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        from cosep.matrix.checks import (  # noqa: PLC0415 - importing cosep.io must not load scikit-learn
            check_choice,
            check_number,
            check_positive,
            check_switch,
        )

        if self.column is not None and not isinstance(self.column, str):
            msg = f"column={shown(self.column)} must be the name of a column, or None."
            raise ValueError(msg)
        if self.stop_words is not None:
            check_choice(self.stop_words, "stop_words", STOP_WORDS)
        if isinstance(self.min_df, float):
            check_number(self.min_df, "min_df", 0.0, 1.0)
        else:
            check_positive(self.min_df, "min_df")
        if self.top_words is not None:
            check_positive(self.top_words, "top_words")
        check_switch(self.lowercase, "lowercase")
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", _checked_words(self.vocabulary))

    def to_mapping(self) -> dict[str, Any]:
        """Return the options for JSON, without the vocabulary, which is stored as column names."""
        settings = asdict(replace(self, vocabulary=None))
        del settings["vocabulary"]
        return settings

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any], vocabulary: Iterable[str] | None = None) -> "TextOptions":
        """Return options from the result of `to_mapping` and the words to count."""
        known = {field.name for field in fields(cls)} - {"vocabulary"}
        if not isinstance(settings, Mapping) or not all(isinstance(name, str) and name in known for name in settings):
            msg = f"settings={shown(settings)} must be a mapping with keys among {', '.join(sorted(known))}."
            raise ValueError(msg)
        return cls(**settings, vocabulary=None if vocabulary is None else _checked_words(vocabulary))


def _checked_words(vocabulary: Any) -> tuple[str, ...]:
    """Return the words as a tuple; raise if there are none, or repeats."""
    words = tuple(_checked_texts(vocabulary, "vocabulary"))
    if not words or len(set(words)) < len(words):
        msg = f"vocabulary must hold distinct words, at least one, got {len(words)} with repeats or none."
        raise ValueError(msg)
    return words


def _checked_texts(texts: Any, name: str) -> list[str]:
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


class _WordFinder:
    """Splits texts into words, and checks how much memory their counts need."""

    def __init__(
        self, prepare: Callable[[str], str], stop_words: Iterable[str], check: Callable[[int, str], None]
    ) -> None:
        self.prepare, self.stop_words, self.check = prepare, frozenset(stop_words), check
        self.count = 0
        self.known: set[str] = set()

    def __call__(self, text: str) -> Iterable[str]:
        prepared = self.prepare(text)
        if len(prepared) <= MAX_SHORT_TEXT:
            return self._kept(WORD.findall(prepared))
        words = (found.group() for found in WORD.finditer(prepared))
        return chain.from_iterable(self._kept(part) for part in iter(lambda: list(islice(words, WORDS_AT_ONCE)), []))

    def _kept(self, words: list[str]) -> list[str]:
        self.count += len(words)
        self.known.update(words)
        self.check(BYTES_PER_COUNT * self.count + BYTES_PER_WORD * len(self.known), "counts of its words")
        return [word for word in words if word not in self.stop_words]


def vectorise(texts: Iterable[str], options: TextOptions | None = None) -> tuple[Any, NDArray[np.str_]]:
    """Count the words of texts.

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
    return count_words(texts, options)


def count_words(
    texts: Iterable[str], options: TextOptions | None = None, check: Callable[[int, str], None] | None = None
) -> tuple[Any, NDArray[np.str_]]:
    """Count words as `vectorise` does; ``check`` gets the number of bytes needed so far, and may raise."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - slow to load, needed by texts only

    options = TextOptions() if options is None else options
    if not isinstance(options, TextOptions):
        msg = f"options={shown(options)} must be TextOptions, or None."
        raise ValueError(msg)
    texts = _checked_texts(texts, "texts")
    vocabulary = options.vocabulary
    few = vocabulary is None and not isinstance(options.min_df, float) and options.min_df > len(texts)
    counter = CountVectorizer(
        stop_words=options.stop_words if vocabulary is None else None,
        min_df=options.min_df if vocabulary is None and not few else 1,
        lowercase=options.lowercase,
        vocabulary=vocabulary,
        dtype=np.float64,
    )
    if check is not None:
        find_words = _WordFinder(counter.build_preprocessor(), counter.get_stop_words() or (), check)
        counter.set_params(analyzer=find_words, stop_words=None)
    try:
        counts = scipy.sparse.csr_array(counter.fit_transform(texts))
    except ValueError as error:
        counts = None
        if "no terms remain" not in str(error).lower() and "empty vocabulary" not in str(error).lower():
            raise
    if counts is None or few:
        msg = (
            f"no word of the {len(texts)} texts remains with min_df={shown(options.min_df)} and "
            f"stop_words={shown(options.stop_words)}; lower min_df, keep stop words, or pass longer texts."
        )
        raise ValueError(msg)
    words = np.asarray(counter.get_feature_names_out(), dtype=np.str_)
    if vocabulary is None and options.top_words is not None and options.top_words < len(words):
        # The words are in alphabetical order already, which a stable sort keeps among equal counts.
        frequent = np.sort(np.argsort(-np.asarray(counts.sum(axis=0)), kind="stable")[: options.top_words])
        counts, words = counts[:, frequent], words[frequent]
    counts.sort_indices()
    return counts, words
