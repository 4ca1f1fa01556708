"""Short readable text from names, texts and numbers of any kind."""

import math
import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from cosep.utils.messages import INVISIBLE
from cosep.utils.messages import brief as brief  # noqa: PLC0414 - other files import it from here
from cosep.utils.messages import percent as percent  # noqa: PLC0414 - other files import it from here

Names = Sequence[Any] | NDArray[Any] | None

# A line break that an editor has put after about 55 letters or more, within a paragraph.
WRAPPED = re.compile(r"(?<=[^\n]{55})\n *(?=\w)")
LONGEST_NAME = 300
CUT = "\u2026"


def readable(name: Any, length: int = LONGEST_NAME) -> str:
    """Return a name on one line, of at most ``length`` bytes of UTF-8, with a mark where it was cut."""
    text = str(name)
    encoded = INVISIBLE.sub(" ", text[: 2 * length]).strip().encode("utf-8", "replace")
    if len(encoded) <= length and len(text) <= 2 * length:
        return encoded.decode("utf-8")
    return f"{encoded[: length - len(CUT.encode())].decode('utf-8', 'ignore').rstrip()}{CUT}"


def squeezed(name: str, length: int) -> str:
    """Return a readable name of at most ``length`` letters, without its middle: names often differ at the end."""
    if len(name) <= length:
        return name
    head = (length - 1) // 2
    return f"{name[:head].rstrip()}{CUT}{name[head + 1 - length :].lstrip()}"


def excerpt(text: str, length: int) -> str:
    """Return the beginning of a text, up to a whole word; lines that an editor has wrapped are joined again."""
    joined = WRAPPED.sub(" ", text[: 2 * length].replace("\r\n", "\n"))
    lines = (readable(line, 8 * length) for line in joined.split("\n"))
    start = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if len(start) <= length and len(text) <= 2 * length:
        return start
    head = start[:length]
    space = max(head.rfind(" "), head.rfind("\n"))
    return f"{head[: space if space > length // 2 else length].rstrip()} {CUT}"


def name_or_number(name: str, index: int, kind: str) -> str:
    """Return a readable name, or "row 17" where nothing of it can be read."""
    return readable(name) or f"{kind} {index}"


def name_of(names: Names, index: int, kind: str) -> str:
    """Return the readable name at a position, or "row 17" where there are no names."""
    return name_or_number("" if names is None else names[index], index, kind)


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
