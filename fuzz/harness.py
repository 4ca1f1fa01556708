"""Runs fuzzing cases in child processes with limits on time and memory, and tells what became of each.

The parent process has imported everything and compiled the kernels. A child is forked from it and runs a batch of
cases, one after the other. A child that dies takes one case with it: that case is run again alone, in a child of its
own, and a new child goes on with the next one. A case is a target and a seed, nothing else: `Random` of both makes its
input.
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

from fuzz.child import Case, Limits, Target, judge, name_of, random_of, work
from fuzz.outcomes import BLOW_UP, CRASH, GOOD, HANG, Verdict

__all__ = ["Case", "Limits", "Result", "Target", "judge", "name_of", "random_of", "run"]

LOG_TAIL = 2000


class Result(NamedTuple):
    """What became of one case."""

    seed: int
    kind: str
    verdict: Verdict
    seconds: float


@dataclass
class Child:
    """A running child: its batch, the case that it is at, and what it has written so far."""

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
    """Run cases, and yield their results as they come; stop early at the deadline of the monotonic clock.

    Parameters
    ----------
    target : Target
        Prepared already.
    seeds : iterable of int
    folder : Path
        Where cases write. Those that failed leave their folder there, under ``name-seed``.
    jobs : int, default 2
        How many children run at the same time.
    deadline : float, optional
        No child is started after it, and those that run are stopped.
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
                yield from self.hear(self.children[key.data])
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
            # Python 3.12 warns of threads in the parent. Those of Zarr are made anew in a child, others are idle.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            os.close(reading)
            work(self.target, batch, writing, self.folder, _log(self.folder, os.getpid()))
        with suppress(OSError):
            os.setpgid(pid, pid)  # the child does the same: whoever comes first
        os.close(writing)
        self.children[pid] = Child(pid, reading, self.folder, deque(batch), alone)
        self.selector.register(reading, selectors.EVENT_READ, pid)

    def hear(self, child: Child) -> Iterator[Result]:
        """Read what a child has written, or see how it ended."""
        piece = os.read(child.pipe, 1 << 16)
        if not piece:
            yield from self.end(child)
            return
        *lines, child.unread = (child.unread + piece).split(b"\n")
        for line in lines:
            told: dict[str, Any] = json.loads(line)
            if "bug" in told:
                msg = f"{name_of(self.target)} --seed {child.current} cannot be made:\n{told['bug']}"
                raise RuntimeError(msg)
            if "seed" in told:
                child.current, child.kind, child.started = told["seed"], "", time.monotonic()
            elif "kind" in told:
                child.kind = told["kind"]
            else:
                seed = child.seeds.popleft()
                child.current, child.first, child.started = None, False, time.monotonic()
                result = Result(seed, child.kind, Verdict(*told["verdict"]), told["seconds"])
                before = self.died.pop(seed, None)
                yield result if before is None or result.verdict.outcome not in GOOD else before

    def end(self, child: Child) -> Iterator[Result]:
        """Judge a child that has ended; what it left undone is for others."""
        self.selector.unregister(child.pipe)
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        _kill_group(child.pid)
        del self.children[child.pid]
        if child.seeds and (child.current is not None or status != 0):
            seed = child.seeds.popleft()
            verdict = _verdict_on_death(child, status, _tail(_log(self.folder, child.pid)))
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


def _verdict_on_death(child: Child, status: int, log: str) -> Verdict:
    number = os.waitstatus_to_exitcode(status)
    if child.timed_out:
        return Verdict(HANG, "no end within the limit of the wall clock", f"wall {child.kind}")
    if number == -signal.SIGPROF:
        return Verdict(HANG, f"no end within the limit of processor time; {log}", f"hang {_first_of_ours(log)}")
    if number == -signal.SIGKILL:
        return Verdict(BLOW_UP, "killed, most likely for its memory", f"killed {child.kind}")
    told = signal.Signals(-number).name if number < 0 else f"exit code {number}"
    return Verdict(CRASH, f"{told}; {log}", f"{told} {_first_of_ours(log)}")


def _first_of_ours(log: str) -> str:
    """Return the innermost function of the project in what faulthandler wrote."""
    lines = [line.strip() for line in log.splitlines() if "/cosep/" in line]
    return lines[0].rpartition("/")[2] if lines else ""


def _log(folder: Path, pid: int) -> Path:
    return folder / f"child-{pid}.log"


def _tail(log: Path) -> str:
    """Return what a child printed last: the innermost calls, where faulthandler has told them."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    _, stack, calls = text.rpartition("Current thread")
    return f"{stack}{calls}"[:LOG_TAIL] if stack else text[-LOG_TAIL:]


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
