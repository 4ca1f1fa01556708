"""The seconds of `faithful(X, r, r)` on the document sets, beside those of another version of cosep.

Processor time of one thread, the least of three rounds, in the plain norm and in the default norm. The other version is
the folder `src` of another checkout, named by COSEP_BASELINE. Each version runs in a process of its own; both processes
live side by side and take turns, so that other load affects both. Without COSEP_BASELINE only this version is timed.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from benchmarks.data import DOCUMENTS, TINY, load
from benchmarks.harness import ROUNDS, THREADS, Bar, Row, say, total
from experiments.data import MissingDataError

ROOT = Path(__file__).parent.parent
NORMS = ("plain", "degree")
NOW, BEFORE = "s", "baseline_s"


class Version:
    """A process that times `faithful` of the version of cosep in the given folder."""

    def __init__(self, source: Path) -> None:
        paths = os.pathsep.join([str(source.resolve()), str(ROOT)])
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "benchmarks.selection_time_worker", str(source.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": paths},
        )

    def __enter__(self) -> Self:
        """Return the version itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self.requests.close()
        self.process.wait()
        self.answers.close()

    @property
    def requests(self) -> IO[str]:
        """The lines that the process reads."""
        assert self.process.stdin is not None  # noqa: S101 - it is a pipe
        return self.process.stdin

    @property
    def answers(self) -> IO[str]:
        """The lines that the process writes."""
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        return self.process.stdout

    def seconds(self, name: str, norm: str) -> float:
        """Return the seconds of one call on a data set."""
        print(name, norm, file=self.requests, flush=True)
        answer = self.answers.readline()
        if not answer:
            msg = f"The version of cosep that times {name} has ended with an error."
            raise RuntimeError(msg)
        return float(answer)


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and norm."""
    sources = {NOW: ROOT / "src"}
    if baseline := os.environ.get("COSEP_BASELINE"):
        sources[BEFORE] = Path(baseline)
    with ExitStack() as stack:
        versions = {name: stack.enter_context(Version(source)) for name, source in sources.items()}
        for name in TINY if tiny else DOCUMENTS:
            say(f"  {name}")
            try:
                load(name)
            except MissingDataError as missing:
                yield {"set": name, "note": str(missing)}
            else:
                yield from ({"set": name, "norm": norm, **times(versions, name, norm)} for norm in NORMS)


def times(versions: dict[str, Version], name: str, norm: str) -> Row:
    """Return the least seconds of each version, and their ratio."""
    rounds = [{which: version.seconds(name, norm) for which, version in versions.items()} for _ in range(ROUNDS)]
    least: Row = {which: min(some[which] for some in rounds) for which in versions}
    return least | ({"ratio": least[NOW] / least[BEFORE]} if least.get(BEFORE) else {})


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the seconds in total with those of the other version."""
    both = [row for row in rows if BEFORE in row]
    figure = total(both, NOW) / total(both, BEFORE) if both else None
    return [Bar(f"seconds of {len(both)} choices, as a multiple of the baseline's", figure, 1.3)]
