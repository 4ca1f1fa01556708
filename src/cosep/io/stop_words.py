"""Stop words: frequent words without meaning of their own, from lists of languages and from files."""

import os
import re
from collections.abc import Iterable

from cosep.io.input_source import open_source
from cosep.utils.extras import optional
from cosep.utils.messages import shown

# A word, as CountVectorizer finds it.
WORD = re.compile(r"(?u)\b\w\w+\b")
ENGLISH = "english"


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language: scikit-learn's for English, those of the package stop-words for others.

    Parameters
    ----------
    language : str
        An English name such as "german", or a code such as "de".

    Raises
    ------
    ValueError
        If there is no list of this language.
    ImportError
        If the package with the lists is not installed. English does not need it.
    """
    if language in {ENGLISH, "en"}:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # noqa: PLC0415 - slow to load

        return frozenset(ENGLISH_STOP_WORDS)
    lists = optional("stop_words", f"stop_words={shown(language)}", "texts")
    known = set(lists.AVAILABLE_LANGUAGES)
    if language not in known and language not in lists.LANGUAGE_MAPPING:
        msg = (
            f"stop_words={shown(language)} must be a language with a list, own words (for the command: a file of "
            f"them), or none; there are lists for {', '.join(sorted(known))}."
        )
        raise ValueError(msg)
    return as_stop_words(entry for entry in lists.get_stop_words(language) if " " not in entry)


def as_stop_words(entries: Iterable[str]) -> frozenset[str]:
    """Return the words of the entries of a list, split as texts are: "n'est" consists of one word, "est"."""
    return frozenset(word for entry in entries for word in WORD.findall(entry))


def read_stop_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    r"""Read stop words from a file in UTF-8, separated by spaces or lines; in alphabetical order.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cosep.io.stop_words import read_stop_words
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.txt")
    ...     _ = path.write_text("the and\nof\n")
    ...     print(read_stop_words(path))
    ('and', 'of', 'the')
    """
    with open_source(path, "txt") as source, source.expecting("a list of words"):
        with source.open_text() as stream:
            words = as_stop_words(stream)
        if not words:
            source.fail("has no words of at least two letters; write one word per line, or use --stop-words none.")
    return tuple(sorted(words))
