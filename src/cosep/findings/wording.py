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
# A line of at least three equal signs, dashes or other marks, as below a heading.
RULE = re.compile(r"\s*([=\-~^\"'*+#_`:.])\1{2,}\s*")
# A heading with #, a directive or label of reStructuredText, or a fence of code.
MARKUP = re.compile(r"#{1,6}\s|\.\. |```|~~~")
# Letters of headings before the first sentence that are read at most.
SKIPPED = 2000
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
    """Return the beginning of a text, up to a whole word, without headings, rules and lines that are only markup.

    Lines that an editor has wrapped are joined again. A text of nothing else is kept as it is.
    """
    start = text[: 4 * length + SKIPPED].replace("\r\n", "\n")
    joined = WRAPPED.sub(" ", "\n".join(_body(start.split("\n"))) or start)
    lines = (readable(line, 8 * length) for line in joined.split("\n"))
    whole = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if len(whole) <= length and len(text) <= len(start):
        return whole
    head = whole[:length]
    space = max(head.rfind(" "), head.rfind("\n"))
    return f"{head[: space if space > length // 2 and len(whole) > length else length].rstrip()} {CUT}"


def _body(lines: list[str]) -> list[str]:
    """Return lines without rules, the headings that they underline, headings with #, directives and fences."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        before, after = (lines[k].rstrip() if 0 <= k < len(lines) else "" for k in (number - 1, number + 1))
        is_heading = RULE.fullmatch(after) and line.strip() and not RULE.fullmatch(line.rstrip())
        is_underlined = is_heading and (len(line.strip()) <= len(after) + 1 or RULE.fullmatch(before))
        if not (RULE.fullmatch(line.rstrip()) or is_underlined or MARKUP.match(line)):
            kept.append(line)
    return kept if any(line.strip() for line in kept) else []


def name_or_number(name: str, index: int, kind: str) -> str:
    """Return a readable name, or "row 17" where nothing of it can be read."""
    size = len(name.encode("utf-8", "replace"))
    if size > LONGEST_NAME:
        name = squeezed(name, (LONGEST_NAME - 2 * len(CUT.encode())) * len(name) // size)
    return readable(name) or f"{kind} {index}"


def name_of(names: Names, index: int, kind: str) -> str:
    """Return the readable name at a position, or "row 17" where there are no names."""
    return name_or_number("" if names is None else names[index], index, kind)


def precise(share: float) -> str:
    """Return a share in percent with two digits, however small it is."""
    return f"{100.0 * share:.2g}%" if math.isfinite(share) and 0 <= share < 0.1 else brief(share)


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
