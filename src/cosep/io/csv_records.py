"""Records of a table as text: the lines of a ``.csv`` or ``.tsv`` file enter, lists of fields leave.

Python's csv module refuses long fields by a limit that all of a program shares, so it cannot be lifted here.
"""

import re
from collections.abc import Iterable, Iterator

# What stands between the quotes of a field, up to the quote that ends it or the end of the line.
WITHIN_QUOTES = re.compile(r'[^"]*(?:""[^"]*)*')


def records(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each record as the csv module does, of any length; blank lines are skipped.

    Raises
    ------
    ValueError
        If a carriage return stands within a line and not between quotes.
    """
    fields: list[str] = []
    quoted: list[str] | None = None  # the parts of a field whose quote has not been closed
    for line in lines:
        at = 0
        if quoted is None and '"' not in line:
            text = line.rstrip("\r\n")
            if text:
                yield _plain(text).split(separator)
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
            text = _plain(line[at:].rstrip("\r\n") if end < 0 else line[at:end])
            fields.append("".join([*(quoted or ()), text]))
            quoted, at = None, end + 1
            if end < 0:
                yield fields
                fields = []
                break
    if quoted is not None:
        yield [*fields, "".join(quoted)]


def _plain(text: str) -> str:
    if "\r" in text:
        msg = "a carriage return stands within a line; put quotes around the field, or end lines with line feeds"
        raise ValueError(msg)
    return text
