"""Names and numbers of any kind enter, short text that a person can read leaves."""

import math
import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from cosep.utils.messages import INVISIBLE

Names = Sequence[Any] | NDArray[Any] | None

# The end of a line that is about as long as an editor makes it, before more of the same paragraph.
WRAPPED = re.compile(r"(?<=[^\n]{55})\n *(?=\w)")
LONGEST_NAME = 300
CUT = "\u2026"


def readable(name: Any, length: int = LONGEST_NAME) -> str:
    """Return a name on one line, at most so many bytes of UTF-8, with a mark where it was cut."""
    text = str(name)
    encoded = INVISIBLE.sub(" ", text[: 2 * length]).strip().encode("utf-8", "replace")
    if len(encoded) <= length and len(text) <= 2 * length:
        return encoded.decode("utf-8")
    return f"{encoded[: length - len(CUT.encode())].decode('utf-8', 'ignore').rstrip()}{CUT}"


def squeezed(name: str, length: int) -> str:
    """Return a readable name without its middle, if it is too long: its end often tells as much as its beginning."""
    if len(name) <= length:
        return name
    head = (length - 1) // 2
    return f"{name[:head].rstrip()}{CUT}{name[head + 1 - length :].lstrip()}"


def excerpt(text: str, length: int) -> str:
    """Return the beginning of a text with its last word whole; lines that were only wrapped are joined again."""
    joined = WRAPPED.sub(" ", text[: 2 * length].replace("\r\n", "\n"))
    lines = (readable(line, 8 * length) for line in joined.split("\n"))
    start = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if len(start) <= length and len(text) <= 2 * length:
        return start
    head = start[:length]
    space = max(head.rfind(" "), head.rfind("\n"))
    return f"{head[: space if space > length // 2 else length].rstrip()} {CUT}"


def name_of(names: Names, index: int, kind: str) -> str:
    """Return the name at a position, or "row 17" where there are no names."""
    name = "" if names is None else readable(names[index])
    return name or f"{kind} {index}"


def count(number: int, kind: str) -> str:
    """Return "1 row", "1,876 rows"."""
    return f"{number:,} {kind}" if number == 1 else f"{number:,} {kind}s"


def percent(share: float) -> str:
    """Return a share in percent, and never 0.0% for what is not nothing, nor 100.0% for what is not all."""
    text = f"{share:.1%}".replace("-", "\u2212")
    if text.lstrip("\u2212") == "0.0%":
        return "less than 0.1%" if share > 0 else "0.0%"
    return "more than 99.9%" if text == "100.0%" and share < 1 - 1e-12 else text


def brief(share: float) -> str:
    """Return a share in percent, short enough for a table."""
    return percent(share).replace("less than ", "<").replace("more than ", ">")


def points(difference: float) -> str:
    """Return a difference of two shares in percentage points."""
    size = 100.0 * abs(difference)
    if 0 < size < 0.01:
        return "less than 0.01 points"
    return f"{size:.2f} points"


def quantity(value: float) -> str:
    """Return a number of any scale in at most four digits, whole numbers in full."""
    if not math.isfinite(value):
        return "infinite" if math.isinf(value) else "not known"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"
