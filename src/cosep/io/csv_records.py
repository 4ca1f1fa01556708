"""Records of tables as text: parses the lines of ``.csv`` and ``.tsv`` files into lists of fields.

Python's csv module has a limit on the length of fields that is global to the process, so it cannot be raised here.
"""

import re
from collections.abc import Iterable, Iterator

# The text of a quoted field, up to the closing quote or the end of the line.
WITHIN_QUOTES = re.compile(r'[^"]*(?:""[^"]*)*')


def parse_records(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each record, of any length, as the csv module does. Blank lines are skipped.

    Raises
    ------
    ValueError
        If there is a carriage return inside a line, outside of quotes.
    """
    fields: list[str] = []
    quoted: list[str] | None = None  # parts of a field without a closing quote so far
    for line in lines:
        at = 0
        if quoted is None and '"' not in line:
            text = line.rstrip("\r\n")
            if text:
                yield _without_carriage_returns(text).split(separator)
            continue
        while True:
            if quoted is None and line.startswith('"', at):
                quoted, at = [], at + 1
            if quoted is not None:
                part = WITHIN_QUOTES.match(line, at)
                at = len(line) if part is None else part.end()
                quoted.append("" if part is None else part.group().replace('""', '"'))
                if at == len(line):
                    break
                at += 1
            end = line.find(separator, at)
            text = _without_carriage_returns(line[at:].rstrip("\r\n") if end < 0 else line[at:end])
            fields.append("".join([*(quoted or ()), text]))
            quoted, at = None, end + 1
            if end < 0:
                yield fields
                fields = []
                break
    if quoted is not None:
        yield [*fields, "".join(quoted)]


def _without_carriage_returns(text: str) -> str:
    if "\r" in text:
        msg = "a carriage return is inside a line; put quotes around the field, or end lines with line feeds"
        raise ValueError(msg)
    return text
