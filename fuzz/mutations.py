"""Mutations of bytes and of JSON that keep most of the input."""

import json
import re
from random import Random
from typing import Any

EDGE_INTEGERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 40,
    (1 << 63) - 1,
)
ODD_SIZES = (0, 1, -1, 2, 3, 7, 1 << 20, 1 << 31, (1 << 31) - 1, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 64, 10**30, 0.5)
TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[31mred\x1b[0m",
    "a\rb",
    "a\nb",
    "\u202eright to left",
    "\ud800",
    "\N{GRINNING FACE}",
    "../../etc/passwd",
    "/etc/passwd",
    "nan",
    "-inf",
    "=1+1",
    "a" * 5000,
    "NA",
    "<script>alert(1)</script>",
    "%s%n",
    "pickle",
)
DTYPE_NAMES = (
    "O", "|O8", "<f8", ">f8", "<f4", "<f2", "<i8", "|b1", "<c16", "|S8", "<U4", "<M8[ns]", "|V8", "<f16", "|u1",
    "object", "float64", "string", "x",
)  # fmt: skip
MAX_STRETCH = 64
# A JSON string with its quotes; and its escapes, which stay unchanged, and letters.
JSON_TEXT, JSON_LETTER = re.compile(r'"(?:[^"\\]|\\.)*"'), re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[a-z]")


def mutate_bytes(random: Random, data: bytes, other: bytes = b"") -> bytes:
    """Return the bytes with one to four small changes; ``other`` is a file to take parts from.

    Half of the changes do not shift bytes, because formats that store positions would be rejected at once.
    """
    changes = random.choice((IN_PLACE, IN_PLACE + SHIFTING))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(changes)(random, data, other)
    return data


def _place(random: Random, data: bytes) -> tuple[int, int]:
    """Return the start and end of a short stretch, often at the beginning or end of the file, where headers are."""
    size = len(data)
    region = random.choice((size, size, min(size, 256), -min(size, 256)))
    start = random.randrange(max(region, 1)) if region >= 0 else size + region + random.randrange(-region)
    return start, min(size, start + random.choice((1, 1, 2, 4, 8, random.randint(1, MAX_STRETCH))))


def _flip(random: Random, data: bytes, _: bytes) -> bytes:
    start, _end = _place(random, data)
    return (
        data[:start]
        + bytes([byte ^ (1 << random.randrange(8)) for byte in data[start : start + 1]])
        + data[start + 1 :]
    )


def _zero(random: Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(random, data)
    return data[:start] + bytes(end - start) + data[end:]


def _noise(random: Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(random, data)
    return data[:start] + random.randbytes(end - start) + data[end:]


def _insert(random: Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(random, data)
    return data[:start] + random.randbytes(end - start) + data[start:]


def _delete(random: Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(random, data)
    return data[:start] + data[end:]


def _truncate(random: Random, data: bytes, _: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeat(random: Random, data: bytes, _: bytes) -> bytes:
    start, end = _place(random, data)
    return data[:end] + data[start:end] * random.choice((1, 2, 100)) + data[end:]


def _integer(random: Random, data: bytes, _: bytes) -> bytes:
    start, _end = _place(random, data)
    size = random.choice((1, 2, 4, 8))
    value = random.choice(EDGE_INTEGERS) & ((1 << 8 * size) - 1)
    order = random.choice(("little", "little", "big"))
    return data[:start] + value.to_bytes(size, "big" if order == "big" else "little") + data[start + size :]


def _splice(random: Random, data: bytes, other: bytes) -> bytes:
    """Continue with another file, or with another part of this one."""
    other = other or data
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


IN_PLACE = (_flip, _flip, _zero, _zero, _noise, _integer, _integer)
SHIFTING = (_insert, _delete, _truncate, _repeat, _splice)


def mutate_json(random: Random, text: str) -> str:
    """Return JSON with one to three values or keys changed, sometimes with letters as escapes."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    for _ in range(random.choice((1, 1, 2, 3))):
        found = _edit(random, found)
    return with_escapes(random, json.dumps(found)) if random.random() < 0.3 else json.dumps(found)


def with_escapes(random: Random, text: str) -> str:
    r"""Return the same JSON with some letters written as escapes: ``\u0070`` for p."""

    def letter(found: re.Match[str]) -> str:
        return f"\\u{ord(found[0]):04x}" if len(found[0]) == 1 and random.random() < 0.3 else found[0]

    return JSON_TEXT.sub(lambda found: JSON_LETTER.sub(letter, found[0]), text)


def _edit(random: Random, node: Any) -> Any:
    """Change one node of parsed JSON."""
    if isinstance(node, (dict, list)) and node and random.random() < 0.8:
        keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = random.choice(keys)
        kind = random.random()
        if kind < 0.1:
            del node[key]
        elif kind < 0.15 and isinstance(node, dict):
            node[random.choice((*TEXTS[:12], f"{key}x"))] = node.pop(key)
        elif kind < 0.2 and isinstance(node, list):
            node.insert(key, node[key])
        else:
            node[key] = _edit(random, node[key])
        return node
    if isinstance(node, str) and random.random() < 0.4:
        return random.choice((*DTYPE_NAMES, node.upper(), node[:-1], node * 2))
    return odd_value(random)


def odd_value(random: Random) -> Any:
    """Return an unusual value of JSON."""
    kinds: tuple[tuple[Any, ...], ...] = (
        ODD_SIZES,
        TEXTS,
        DTYPE_NAMES,
        (None, True, False, [], {}, [[]], {"a": 1}, [0, 0], [-1, 2], [1 << 40] * 2, 1e400),
    )
    return random.choice(random.choice(kinds))
