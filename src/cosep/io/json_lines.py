"""Texts in files of JSON lines, with names and labels."""

import json
from typing import Any

from cosep.io.input_source import BYTES_PER_LINE, InputSource
from cosep.io.texts import BYTES_PER_CHARACTER, BYTES_PER_TEXT, NamedTexts
from cosep.utils.messages import shown

# Parsed JSON can take this many times the length of its text.
JSON_GROWTH = 48


def read_json_lines(source: InputSource, column: str | None, index: str | None, labels: str | None) -> NamedTexts:
    """Read one JSON object per line, with fields for the text, the name and the label."""
    column = column or "text"
    texts: list[str] = []
    names: list[str] = []
    found_labels: list[str] = []
    ids: list[Any] = []
    with source.expecting("one JSON object per line"), source.open_text(growth=BYTES_PER_CHARACTER) as stream:
        all_lines = source.limited(stream, BYTES_PER_LINE, "its lines")
        lines = ((number, line) for number, line in enumerate(all_lines, 1) if line.strip())
        for number, line in source.limited(lines, BYTES_PER_TEXT, "its objects"):
            record = _parse_object(source, number, line)
            text = _field(source, number, record, column)
            if not isinstance(text, str):
                source.fail(
                    f"line {number}: {shown(column)} is {shown(text, 50)}, not text; pass the name of the text field."
                )
            texts.append(text)
            names.append(f"line {number}" if index is None else _as_text(_field(source, number, record, index)))
            ids.append(record.get("id") if index is None else None)
            if labels is not None:
                found_labels.append(_as_text(_field(source, number, record, labels)))
    if ids and all(isinstance(one, (str, int)) for one in ids):
        names = [_as_text(one) for one in ids]
    return NamedTexts(texts, names, None if labels is None else found_labels)


def _parse_object(source: InputSource, number: int, line: str) -> dict[str, Any]:
    source.check_growth(JSON_GROWTH * len(line), f"line {number}")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        source.fail(f"line {number} is not valid JSON ({error}); expected one object per line.")
    if not isinstance(record, dict):
        source.fail(f"line {number} is not a JSON object; expected one object per line, with a field for the text.")
    return record


def _field(source: InputSource, number: int, record: dict[str, Any], name: str) -> Any:
    if name not in record:
        source.fail(f"line {number} has no field {shown(name)}; its fields are {', '.join(map(repr, record)):.200}.")
    return record[name]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
