"""Mutations of tables, lines of text, JSON lines and Matrix Market files."""

from pathlib import Path
from random import Random

from fuzz.mutations import ODD_SIZES, TEXTS, mutate_json

ODD_CELLS = (
    *TEXTS,
    "9" * 20000,
    "9" * 400,
    "1" + "0" * 400 + ".5",
    "1e400",
    "-1",
    "-0",
    "1e-400",
    "0x10",
    "1_000",
    "1,5",
    "inf",
    "NaN",
    "null",
    "true",
    "+1",
    "1 2",
    '"',
    '""',
    'a"b',
    "'",
    "٣",
    "word " * 30000,
    "\ufeff",
)


def mutate_csv(random: Random, data: bytes, _: Path, separator: str = ",") -> bytes:
    """Change cells and lines of a table."""
    lines = [line.split(separator) for line in data.decode().split("\n")]
    for _round in range(random.choice((1, 1, 2, 5))):
        at = random.choice((0, random.randrange(len(lines))))
        line = lines[at]
        kind = random.random()
        if kind < 0.6:
            line[random.randrange(len(line))] = _cell(random)
        elif kind < 0.7:
            line.insert(random.randrange(len(line) + 1), _cell(random))
        elif kind < 0.8:
            del line[random.randrange(len(line))]
        elif kind < 0.9:
            lines.insert(random.randrange(len(lines) + 1), random.choice(([], [""], list(line), ["x"] * 50)))
        else:
            column = random.randrange(max(len(line), 1))
            lines = [[_cell(random) if j == column else cell for j, cell in enumerate(one)] for one in lines]
        lines = [one or [""] for one in lines]
    return "\n".join(map(separator.join, lines)).encode("utf-8", "surrogatepass")


def mutate_tsv(random: Random, data: bytes, folder: Path) -> bytes:
    """Change cells and lines of a table separated by tabs."""
    return mutate_csv(random, data, folder, "\t")


def mutate_lines(random: Random, data: bytes, _: Path) -> bytes:
    """Change lines of text."""
    lines = data.decode().split("\n")
    for _round in range(random.choice((1, 2, 5))):
        at = random.randrange(len(lines))
        lines[at] = random.choice((_cell(random), "", " ".join(_cell(random) for _ in range(20)), lines[at] * 3))
    return random.choice(("\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")


def mutate_json_lines(random: Random, data: bytes, _: Path) -> bytes:
    """Change values and keys of JSON lines, or whole lines."""
    lines = data.decode().split("\n")
    for _round in range(random.choice((1, 2, 5))):
        at = random.randrange(len(lines))
        lines[at] = random.choice(
            (mutate_json(random, lines[at]), mutate_json(random, lines[at]), "[" * 100000, _cell(random))
        )
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def mutate_matrix_market(random: Random, data: bytes, _: Path) -> bytes:
    """Change a word of the header, a size or an entry of a Matrix Market file."""
    lines = [line.split(" ") for line in data.decode().split("\n")]
    at = random.choice((0, 1, 2, random.randrange(len(lines))))
    words = (
        "pattern",
        "complex",
        "hermitian",
        "skew-symmetric",
        "array",
        "coordinate",
        "integer",
        *map(str, ODD_SIZES),
    )
    line = lines[min(at, len(lines) - 1)]
    line[random.randrange(len(line))] = random.choice((*words, _cell(random)))
    return "\n".join(map(" ".join, lines)).encode("utf-8", "surrogatepass")


def _cell(random: Random) -> str:
    cell = random.choice(ODD_CELLS)
    return '"' + cell.replace('"', '""') + '"' if random.random() < 0.5 else cell
