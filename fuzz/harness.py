"""The runner of cases in child processes with limits on time and memory.

The parent process has imported everything and compiled the kernels. A child is forked from it and runs a batch of
cases, one after the other. If a child dies, its current case is run again alone, in another child, and a new child
continues with the next case. A target and a seed determine a case: they seed the `Random` that makes its input.
"""

import json
import os
import selectors
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.outcomes import CRASH, EXPECTED_OUTCOMES, HANG, OUT_OF_MEMORY, Verdict
from fuzz.worker import Case, Limits, Target, judge, name_of, random_of, run_cases

__all__ = ["Case", "Limits", "Result", "Target", "judge", "name_of", "random_of", "run"]

LOG_TAIL = 2000


class Result(NamedTuple):
    """Result of one case."""

    seed: int
    kind: str
    verdict: Verdict
    seconds: float


@dataclass
class Child:
    """A running child process: its batch, its current case, and what it has written so far."""

    pid: int
    pipe: int
    folder: Path
    seeds: deque[int]
    alone: bool
    current: int | None = None
    first: bool = True
    kind: str = ""
    started: float = field(default_factory=time.monotonic)
    unread: bytes = b""
    timed_out: bool = False


def run(
    target: Target, seeds: Iterable[int], folder: Path, *, jobs: int = 2, deadline: float = float("inf")
) -> Iterator[Result]:
    """Run cases in child processes, and yield their results.

    Parameters
    ----------
    target : Target
        Already prepared.
    seeds : iterable of int
        One case per seed.
    folder : Path
        Where cases write. Failed cases leave their folder there, as ``name-seed``.
    jobs : int, default 2
        Number of parallel children.
    deadline : float, optional
        Time of `time.monotonic` at which the run stops.
    """
    runner = _Runner(target, folder, jobs)
    try:
        yield from runner.results(list(seeds), deadline)
    finally:
        runner.stop()


class _Runner:
    """The children of one run."""

    def __init__(self, target: Target, folder: Path, jobs: int) -> None:
        self.target, self.folder, self.jobs = target, folder, jobs
        self.selector = selectors.DefaultSelector()
        self.children: dict[int, Child] = {}
        self.waiting: deque[list[int]] = deque()
        self.died: dict[int, Result] = {}

    def results(self, seeds: list[int], deadline: float) -> Iterator[Result]:
        size = self.target.BATCH
        self.waiting.extend(seeds[k : k + size] for k in range(0, len(seeds), size))
        while (self.waiting or self.children) and time.monotonic() < deadline:
            while self.waiting and len(self.children) < self.jobs:
                self.start(self.waiting.popleft())
            for key, _ in self.selector.select(timeout=0.5):
                yield from self.receive(self.children[key.data])
            for child in list(self.children.values()):
                if time.monotonic() - child.started > self.target.LIMITS.wall and not child.timed_out:
                    child.timed_out = True
                    _kill_group(child.pid)

    def start(self, batch: list[int]) -> None:
        alone = len(batch) == 1 and batch[0] in self.died
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Python 3.12 warns of threads in the parent. Zarr starts new ones in the child, others are idle.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            os.close(reading)
            run_cases(self.target, batch, writing, self.folder, _log(self.folder, os.getpid()))
        with suppress(OSError):
            os.setpgid(pid, pid)  # the child does the same, whichever is first
        os.close(writing)
        self.children[pid] = Child(pid, reading, self.folder, deque(batch), alone)
        self.selector.register(reading, selectors.EVENT_READ, pid)

    def receive(self, child: Child) -> Iterator[Result]:
        """Read the messages of a child, or its end."""
        piece = os.read(child.pipe, 1 << 16)
        if not piece:
            yield from self.end(child)
            return
        *lines, child.unread = (child.unread + piece).split(b"\n")
        for line in lines:
            message: dict[str, Any] = json.loads(line)
            if "bug" in message:
                msg = f"{name_of(self.target)} --seed {child.current} raised an error in make():\n{message['bug']}"
                raise RuntimeError(msg)
            if "seed" in message:
                child.current, child.kind, child.started = message["seed"], "", time.monotonic()
            elif "kind" in message:
                child.kind = message["kind"]
            else:
                seed = child.seeds.popleft()
                child.current, child.first, child.started = None, False, time.monotonic()
                result = Result(seed, child.kind, Verdict(*message["verdict"]), message["seconds"])
                before = self.died.pop(seed, None)
                yield result if before is None or result.verdict.outcome not in EXPECTED_OUTCOMES else before

    def end(self, child: Child) -> Iterator[Result]:
        """Handle the end of a child; other children run the rest of its batch."""
        self.selector.unregister(child.pipe)
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        _kill_group(child.pid)
        del self.children[child.pid]
        if child.seeds and (child.current is not None or status != 0):
            seed = child.seeds.popleft()
            verdict = _verdict_for_dead_child(child, status, _tail(_log(self.folder, child.pid)))
            result = Result(seed, child.kind, verdict, time.monotonic() - child.started)
            if child.alone or child.first:
                self.died.pop(seed, None)
                yield result
            else:
                detail = f"{verdict.detail} (only after other cases in the same process)"
                self.died[seed] = result._replace(verdict=verdict._replace(detail=detail))
                self.waiting.append([seed])
        _log(self.folder, child.pid).unlink(missing_ok=True)
        if child.seeds:
            self.waiting.appendleft(list(child.seeds))

    def stop(self) -> None:
        for child in self.children.values():
            _kill_group(child.pid)
            os.waitpid(child.pid, 0)
            os.close(child.pipe)
            _log(self.folder, child.pid).unlink(missing_ok=True)
        self.children.clear()
        self.selector.close()


def _verdict_for_dead_child(child: Child, status: int, log: str) -> Verdict:
    number = os.waitstatus_to_exitcode(status)
    if child.timed_out:
        return Verdict(HANG, "reached the limit of wall time", f"wall {child.kind}")
    if number == -signal.SIGPROF:
        return Verdict(HANG, f"reached the limit of processor time; {log}", f"hang {_innermost_function(log)}")
    if number == -signal.SIGKILL:
        return Verdict(OUT_OF_MEMORY, "killed, probably for its use of memory", f"killed {child.kind}")
    cause = signal.Signals(-number).name if number < 0 else f"exit code {number}"
    return Verdict(CRASH, f"{cause}; {log}", f"{cause} {_innermost_function(log)}")


def _innermost_function(log: str) -> str:
    """Return the innermost function of the project in the output of faulthandler."""
    lines = [line.strip() for line in log.splitlines() if "/cosep/" in line]
    return lines[0].rpartition("/")[2] if lines else ""


def _log(folder: Path, pid: int) -> Path:
    return folder / f"child-{pid}.log"


def _tail(log: Path) -> str:
    """Return the end of the log of a child, or the stack that faulthandler wrote."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    _, stack, calls = text.rpartition("Current thread")
    return f"{stack}{calls}"[:LOG_TAIL] if stack else text[-LOG_TAIL:]


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
