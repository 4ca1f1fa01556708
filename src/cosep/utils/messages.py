"""Short, printable, one-line texts for error messages, from values and texts that cannot be trusted."""

import re
import reprlib
from typing import Any

# Characters that are invisible, move the cursor or change the order of text, including line breaks.
INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
# Unpaired surrogates, which no Unicode encoding can write.
SURROGATES = re.compile("[\ud800-\udfff]")
LONGEST_VALUE = 80
LONGEST_TEXT = 300


def one_line(text: Any, length: int = LONGEST_TEXT) -> str:
    r"""Return a text of at most ``length`` characters on one line, without control characters.

    Examples
    --------
    >>> from cosep.utils.messages import one_line
    >>> one_line("first\nsecond \x1b[31mred")
    'first second [31mred'
    """
    start = SURROGATES.sub("\ufffd", INVISIBLE.sub(" ", str(text)[: 4 * length]))
    words = " ".join(start.split())
    return words if len(words) <= length else f"{words[: length - 3]}..."


def shown(value: Any, length: int = LONGEST_VALUE) -> str:
    """Return a value that a user passed as short text: a number or a text as it is, an array by its shape.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.utils.messages import shown
    >>> shown("spa"), shown(-1), shown(np.ones((3, 4))), shown(list(range(1000)))
    ("'spa'", '-1', 'ndarray of shape (3, 4)', '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return one_line(_Short(length).repr(value), length)
    except Exception:  # noqa: BLE001 - a value of the user may raise anything
        return f"an object of type {one_line(type(value).__name__, length)}"


def counted(number: int, kind: str) -> str:
    """Return "1 row", "1,876 rows".

    Examples
    --------
    >>> from cosep.utils.messages import counted
    >>> counted(1, "row"), counted(1876, "row")
    ('1 row', '1,876 rows')
    """
    return f"{number:,} {kind if number == 1 else plural(kind)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun by the general rules; a word that ends in a single s is left as it is.

    Examples
    --------
    >>> from cosep.utils.messages import plural
    >>> plural("cell"), plural("country"), plural("class"), plural("species")
    ('cells', 'countries', 'classes', 'species')
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(ss|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return noun if noun.endswith("s") else f"{noun}s"


def percent(share: float) -> str:
    """Return a share in percent; "0.0%" and "100.0%" only for exactly nothing and exactly all."""
    text = f"{share:.1%}".replace("-", "\u2212")
    if text.lstrip("\u2212") == "0.0%":
        return "less than 0.1%" if share > 0 else "0.0%"
    return "more than 99.9%" if text == "100.0%" and share < 1 - 1e-12 else text


def brief(share: float) -> str:
    """Return a share in percent, short enough for a table."""
    return percent(share).replace("less than ", "<").replace("more than ", ">")


class _Short(reprlib.Repr):
    """A short `repr`; arrays, tables and records that contain them are shown by their type."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = length

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the text of a value that is not a number, a text or a container."""
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"{type(x).__name__} of shape {shape}"
        text = super().repr_instance(x, level)
        return f"an object of type {type(x).__name__}" if "\n" in text or "array(" in text[1:] else text
