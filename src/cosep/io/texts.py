"""Texts in folders and in files with one text per line, and the matrix of their word counts.

A blank line is not a text and is skipped. A blank file in a folder is a text without words and is kept.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from cosep.io.input_source import BYTES_PER_LINE, InputError, InputSource, check_folder_entry
from cosep.io.named_matrix import NamedMatrix, as_names, build_named_matrix, check_unicode
from cosep.io.text_options import TextOptions
from cosep.io.word_counts import count_words

SUFFIX = ".txt"
# What a row and a column of counted texts are called.
NOUNS = ("document", "word")
# Memory for a text in addition to its characters, and for a character while it is read.
BYTES_PER_TEXT, BYTES_PER_CHARACTER = 256, 4


class NamedTexts(NamedTuple):
    """Texts with their names and, optionally, labels."""

    texts: list[str]
    names: list[str] | None
    labels: list[str] | None = None


def count_texts(source: InputSource, found: NamedTexts, options: TextOptions | None) -> NamedMatrix:
    """Count the words of texts."""
    options = options or TextOptions()
    if not found.texts:
        source.fail("has no texts; expected at least one.")
    check_unicode(source, found.texts)
    try:
        counted = count_words(found.texts, options, source.check_growth)
    except InputError:
        raise
    except ValueError as error:
        source.fail(str(error))
    more = {"texts": tuple(found.texts), "text_options": counted.options.to_mapping()}
    labels = None if found.labels is None else as_names(source, found.labels)
    return build_named_matrix(source, counted.values, found.names, counted.words, labels=labels, nouns=NOUNS, **more)


def read_folder(source: InputSource) -> NamedTexts:
    """Read all ``.txt`` files of a folder and its subfolders. Names are the relative paths without the suffix."""
    paths = sorted(_text_files(source), key=lambda path: path.relative_to(source.path).as_posix())
    if not paths:
        source.fail(
            f"the folder has no {SUFFIX} files; pass a folder of texts, or the file itself. For blocks of rows use "
            "read_blocks or cosep fit."
        )
    texts = []
    for path in paths:
        one = InputSource(path, str(path), SUFFIX, "")
        with one.expecting("text"), one.open_text() as stream:
            texts.append(stream.read())
    return NamedTexts(texts, [path.relative_to(source.path).as_posix()[: -len(SUFFIX)] for path in paths])


def _text_files(source: InputSource) -> Iterator[Path]:
    """Yield the ``.txt`` files of a folder and its subfolders. Links to folders are not followed."""

    def fail(error: OSError) -> NoReturn:
        source.fail(f"{error.filename} cannot be listed ({error.strerror}); check the permissions.")

    for folder, _, names in os.walk(source.path, onerror=fail):
        for name in names:
            path = Path(folder, name)
            if name.lower().endswith(SUFFIX):
                check_folder_entry(source, path)
                yield path


def read_lines(source: InputSource) -> NamedTexts:
    """Read one text per line. Names are the numbers of the lines, from 1."""
    with source.expecting("one text per line"), source.open_text(growth=BYTES_PER_CHARACTER) as stream:
        all_lines = source.limited(stream, BYTES_PER_LINE, "its lines")
        lines = ((number, line.strip()) for number, line in enumerate(all_lines, 1))
        kept = list(source.limited(((number, line) for number, line in lines if line), BYTES_PER_TEXT, "its texts"))
    return NamedTexts([line for _, line in kept], [f"line {number}" for number, _ in kept])
