"""A folder of texts, a file with one text per line or JSON lines enter; texts with names leave.

A line that is blank is no text and is skipped; a blank file in a folder is a text without words and stays.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from cosep.io.counts import TextOptions, vectorise
from cosep.io.record import NamedMatrix, as_names, build, check_unicode
from cosep.io.source import Source, check_inside

SUFFIX = ".txt"


class Texts(NamedTuple):
    """Texts, what each is called and, where asked for, its class."""

    texts: list[str]
    names: list[str] | None
    labels: list[str] | None = None


def count_texts(source: Source, found: Texts, options: TextOptions | None) -> NamedMatrix:
    """Return the words of texts as a matrix."""
    options = options or TextOptions()
    if not found.texts:
        source.fail("has no texts; expected at least one.")
    check_unicode(source, found.texts)
    try:
        counts, words = vectorise(found.texts, options)
    except ValueError as error:
        source.fail(str(error))
    more = {"texts": tuple(found.texts), "text_options": options.to_mapping()}
    labels = None if found.labels is None else as_names(source, found.labels)
    return build(source, counts, found.names, words, labels=labels, **more)


def read_folder(source: Source) -> Texts:
    """Read every ``.txt`` file of a folder and the folders in it; names are the paths within it, without the suffix."""
    paths = sorted(_text_files(source), key=lambda path: path.relative_to(source.path).as_posix())
    if not paths:
        source.fail(
            f"the folder has no {SUFFIX} files; pass a folder of texts, or the file itself. Blocks of rows are for "
            "read_blocks and cosep fit."
        )
    texts = []
    for path in paths:
        one = Source(path, str(path), SUFFIX, "")
        with one.expecting("text"), one.open_text() as stream:
            texts.append(stream.read())
    return Texts(texts, [path.relative_to(source.path).as_posix()[: -len(SUFFIX)] for path in paths])


def _text_files(source: Source) -> Iterator[Path]:
    """Find regular files; nothing is entered twice, as links to folders are not followed."""

    def refuse(error: OSError) -> NoReturn:
        source.fail(f"{error.filename} cannot be listed ({error.strerror}); check the permissions.")

    for folder, _, names in os.walk(source.path, onerror=refuse):
        for name in names:
            path = Path(folder, name)
            if name.lower().endswith(SUFFIX):
                check_inside(source, path)
                yield path


def read_lines(source: Source) -> Texts:
    """Read one text per line; names count the lines from 1."""
    with source.expecting("one text per line"), source.open_text() as stream:
        lines = [(number, line.strip()) for number, line in enumerate(stream, 1)]
    kept = [(number, line) for number, line in lines if line]
    return Texts([line for _, line in kept], [f"line {number}" for number, _ in kept])


def read_json_lines(source: Source, column: str | None, index: str | None, labels: str | None) -> Texts:
    """Read one JSON object per line."""
    column = column or "text"
    with source.expecting("one JSON object per line"), source.open_text() as stream:
        records = [(number, _record(source, number, line)) for number, line in enumerate(stream, 1) if line.strip()]
    texts = [_field(source, number, record, column) for number, record in records]
    if index is None and records and all(isinstance(record.get("id"), (str, int)) for _, record in records):
        index = "id"
    names = [f"line {n}" if index is None else _plain(_field(source, n, record, index)) for n, record in records]
    for (number, _), text in zip(records, texts, strict=True):
        if not isinstance(text, str):
            source.fail(f"line {number}: {column!r} is {text!r:.50}, no text; name the field of the text.")
    classes = None if labels is None else [_plain(_field(source, number, record, labels)) for number, record in records]
    return Texts(texts, names, classes)


def _record(source: Source, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        source.fail(f"line {number} is no JSON ({error}); expected one object per line.")
    if not isinstance(record, dict):
        source.fail(f"line {number} is no JSON object; expected one object per line, with a field for the text.")
    return record


def _field(source: Source, number: int, record: dict[str, Any], name: str) -> Any:
    if name not in record:
        source.fail(f"line {number} has no field {name!r}, only {', '.join(map(repr, record)):.200}; name another.")
    return record[name]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
