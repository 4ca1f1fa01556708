"""Records of tables as text: parses the lines of ``.csv`` and ``.tsv`` files into lists of fields.

Python's csv module has a limit on the length of fields that is global to the process, so it cannot be raised here.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

# The separator of a format, and all that are recognised in a file.
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
KNOWN_SEPARATORS = (",", ";", "\t", "|")
# Records that are compared to find the separator.
COMPARED_RECORDS = 10

# The text of a quoted field, up to the closing quote or the end of the line.
WITHIN_QUOTES = re.compile(r'[^"]*(?:""[^"]*)*')
# A number with a decimal point or comma.
NUMERIC = re.compile(r"\s*[+-]?\d+([.,]\d*)?([eE][+-]?\d+)?\s*", re.ASCII)


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


def find_separator(lines: list[str], suffix: str) -> str:
    """Return the separator of a table from its first lines.

    It is the one that gives the header as many fields as each record, two at least; among several, the one that gives
    most fields of numbers. Default: that of the suffix.
    """
    usual = SEPARATORS[suffix]
    scores = {}
    for separator in dict.fromkeys((usual, *KNOWN_SEPARATORS)):
        if lines and separator in lines[0]:
            try:
                header, *records = list(parse_records(lines, separator)) or [[]]
            except ValueError:  # a carriage return that the right separator leaves in quotes
                continue
            widths = {len(record) for record in records}
            # R omits the header of the row names.
            if len(widths) == 1 and widths <= {len(header), len(header) + 1} and max(widths) > 1:
                scores[separator] = sum(NUMERIC.fullmatch(field) is not None for record in records for field in record)
    return max(scores, key=lambda one: scores[one]) if scores else usual


def detected_records(lines: Iterable[str], suffix: str) -> Iterator[list[str]]:
    """Yield the fields of each record of a file with this suffix, whose separator is found from the first lines."""
    rest = iter(lines)
    first = list(itertools.islice(rest, COMPARED_RECORDS))
    yield from parse_records(itertools.chain(first, rest), find_separator(first, suffix))


def _without_carriage_returns(text: str) -> str:
    if "\r" in text:
        msg = "a carriage return is inside a line; put quotes around the field, or end lines with line feeds"
        raise ValueError(msg)
    return text
