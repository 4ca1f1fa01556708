"""A folder of texts, a file with one text per line or JSON lines enter; texts with names leave.

A line that is blank is no text and is skipped; a blank file in a folder is a text without words and stays.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from cosep.io.input_source import BYTES_A_LINE, InputError, InputSource, check_inside
from cosep.io.named_matrix import NamedMatrix, as_names, build, check_unicode
from cosep.io.word_counts import TextOptions, count_words
from cosep.utils.messages import shown

SUFFIX = ".txt"
# Memory that a text takes, besides its characters, and that a character takes while it is read.
BYTES_A_TEXT, BYTES_A_CHARACTER = 256, 4
# Parsed JSON can take this many times the length of its text.
JSON_GROWTH = 48


class NamedTexts(NamedTuple):
    """Texts, what each is called and, where asked for, its class."""

    texts: list[str]
    names: list[str] | None
    labels: list[str] | None = None


def count_texts(source: InputSource, found: NamedTexts, options: TextOptions | None) -> NamedMatrix:
    """Return the words of texts as a matrix."""
    options = options or TextOptions()
    if not found.texts:
        source.fail("has no texts; expected at least one.")
    check_unicode(source, found.texts)
    try:
        counts, words = count_words(found.texts, options, source.check_growth)
    except InputError:
        raise
    except ValueError as error:
        source.fail(str(error))
    more = {"texts": tuple(found.texts), "text_options": options.to_mapping()}
    labels = None if found.labels is None else as_names(source, found.labels)
    return build(source, counts, found.names, words, labels=labels, **more)


def read_folder(source: InputSource) -> NamedTexts:
    """Read every ``.txt`` file of a folder and the folders in it; names are the paths within it, without the suffix."""
    paths = sorted(_text_files(source), key=lambda path: path.relative_to(source.path).as_posix())
    if not paths:
        source.fail(
            f"the folder has no {SUFFIX} files; pass a folder of texts, or the file itself. Blocks of rows are for "
            "read_blocks and cosep fit."
        )
    texts = []
    for path in paths:
        one = InputSource(path, str(path), SUFFIX, "")
        with one.expecting("text"), one.open_text() as stream:
            texts.append(stream.read())
    return NamedTexts(texts, [path.relative_to(source.path).as_posix()[: -len(SUFFIX)] for path in paths])


def _text_files(source: InputSource) -> Iterator[Path]:
    """Find regular files; nothing is entered twice, as links to folders are not followed."""

    def refuse(error: OSError) -> NoReturn:
        source.fail(f"{error.filename} cannot be listed ({error.strerror}); check the permissions.")

    for folder, _, names in os.walk(source.path, onerror=refuse):
        for name in names:
            path = Path(folder, name)
            if name.lower().endswith(SUFFIX):
                check_inside(source, path)
                yield path


def read_lines(source: InputSource) -> NamedTexts:
    """Read one text per line; names count the lines from 1."""
    with source.expecting("one text per line"), source.open_text(growth=BYTES_A_CHARACTER) as stream:
        every = source.bounded(stream, BYTES_A_LINE, "its lines")
        lines = ((number, line.strip()) for number, line in enumerate(every, 1))
        kept = list(source.bounded(((number, line) for number, line in lines if line), BYTES_A_TEXT, "its texts"))
    return NamedTexts([line for _, line in kept], [f"line {number}" for number, _ in kept])


def read_json_lines(source: InputSource, column: str | None, index: str | None, labels: str | None) -> NamedTexts:
    """Read one JSON object per line."""
    column = column or "text"
    texts: list[str] = []
    names: list[str] = []
    classes: list[str] = []
    ids: list[Any] = []
    with source.expecting("one JSON object per line"), source.open_text(growth=BYTES_A_CHARACTER) as stream:
        every = source.bounded(stream, BYTES_A_LINE, "its lines")
        lines = ((number, line) for number, line in enumerate(every, 1) if line.strip())
        for number, line in source.bounded(lines, BYTES_A_TEXT, "its objects"):
            record = _record(source, number, line)
            text = _field(source, number, record, column)
            if not isinstance(text, str):
                source.fail(
                    f"line {number}: {shown(column)} is {shown(text, 50)}, no text; name the field of the text."
                )
            texts.append(text)
            names.append(f"line {number}" if index is None else _plain(_field(source, number, record, index)))
            ids.append(record.get("id") if index is None else None)
            if labels is not None:
                classes.append(_plain(_field(source, number, record, labels)))
    if ids and all(isinstance(one, (str, int)) for one in ids):
        names = [_plain(one) for one in ids]
    return NamedTexts(texts, names, None if labels is None else classes)


def _record(source: InputSource, number: int, line: str) -> dict[str, Any]:
    source.check_growth(JSON_GROWTH * len(line), f"line {number}")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        source.fail(f"line {number} is no JSON ({error}); expected one object per line.")
    if not isinstance(record, dict):
        source.fail(f"line {number} is no JSON object; expected one object per line, with a field for the text.")
    return record


def _field(source: InputSource, number: int, record: dict[str, Any], name: str) -> Any:
    if name not in record:
        source.fail(
            f"line {number} has no field {shown(name)}, only {', '.join(map(repr, record)):.200}; name another."
        )
    return record[name]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
