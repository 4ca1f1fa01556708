"""Memory and time of reading a wide table from a `.csv` file, memory as a multiple of the size of the file.

Three tables: counts with one percent of nonzero entries (1 GB), numbers with six digits, and single nonzero digits (300
MB each, the worst case: two bytes of the file become four or eight). Each is read in a process of its own. The peak is
that of the resident memory, in addition to the process before.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import Bar, Row, isolated, say, with_memory
from cosep.io import read

COLUMNS = 5000
# Megabytes of the file, and the possible entries with their frequencies.
TABLES = {
    "counts, one percent not zero": (1000, (("0", 0.99), ("3", 0.01))),
    "numbers of six digits": (300, (("0.1734", 0.5), ("2.4091", 0.5))),
    "digits, none zero": (300, (("4", 0.5), ("7", 0.5))),
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per kind of table."""
    for name, (megabytes, entries) in TABLES.items():
        say(f"  {name}")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "table.csv"
            write(file, 1 if tiny else megabytes, entries)
            yield {"table": name, **isolated(measured)(str(file))}


def write(path: Path, megabytes: int, entries: tuple[tuple[str, float], ...]) -> None:
    """Write a table with names and about this size."""
    random = np.random.default_rng(0)
    values, shares = [value for value, _ in entries], [share for _, share in entries]
    with path.open("w", encoding="utf-8") as file:
        file.write("," + ",".join(f"gene{j}" for j in range(COLUMNS)) + "\n")
        row = 0
        while file.tell() < megabytes * 1e6:
            picked = random.choice(len(values), COLUMNS, p=shares)
            file.write(f"cell{row}," + ",".join([values[k] for k in picked]) + "\n")
            row += 1


def measured(path: str) -> Row:
    """Read a table, and return its costs."""
    size = Path(path).stat().st_size
    timed, extra = with_memory(lambda: read(path))
    return {"file_mb": size / 1e6, "memory_mb": extra / 1e6, "times_file": extra / size, "s": timed.seconds}


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the memory with ten times the file."""
    most = max((row["times_file"] for row in rows), default=None)
    return [Bar("largest memory of reading a table, as a multiple of its file", most, 10.0)]
