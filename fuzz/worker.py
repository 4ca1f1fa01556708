"""Cases and targets, and the child process that runs cases within limits of time and memory."""

import ctypes
import faulthandler
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

from fuzz.outcomes import ANSWER, EXPECTED_OUTCOMES, OUT_OF_MEMORY, UNCLEAR_ERROR, Verdict, verdict_for

GIGABYTE = 1 << 30
KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl


class Limits(NamedTuple):
    """Limits of a case.

    Attributes
    ----------
    cpu, wall : float
        Seconds of processor time and of wall time.
    memory : int
        Bytes in addition to those of the parent process.
    """

    cpu: float = 6.0
    wall: float = 90.0
    memory: int = 4 * GIGABYTE


class Case(NamedTuple):
    """One input, written to its folder, and what to do with it.

    Attributes
    ----------
    kind : str
        Kind of input, for the counts.
    action : callable
        Returns for an answer, raises for an error.
    errors : tuple of exception types
        Types of expected errors.
    """

    kind: str
    action: Callable[[], None]
    errors: tuple[type[BaseException], ...] = (ValueError,)


class Target(Protocol):
    """A module with a target of fuzzing."""

    CASES: int
    BATCH: int
    LIMITS: Limits
    __name__: str

    @staticmethod
    def prepare(folder: Path) -> None:
        """Load, compile and write what all cases share. Called once, in the parent process."""

    @staticmethod
    def make(random: Random, folder: Path) -> Case:
        """Write the input of one case to its folder. Called in a child process."""


def name_of(target: Target) -> str:
    """Return the name of a target on the command line."""
    return target.__name__.rpartition(".")[2]


def random_of(target: Target, seed: int) -> Random:
    """Return the random generator of one case."""
    return Random(f"{name_of(target)} {seed}")


def run_cases(target: Target, seeds: list[int], pipe: int, folder: Path, log: Path) -> None:
    """Run cases, with a message to the parent before and after each. Never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)
        _redirect(log)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(target.LIMITS.memory)
        with os.fdopen(pipe, "w", encoding="utf-8", buffering=1) as out:

            def report(**facts: Any) -> None:
                out.write(json.dumps(facts) + "\n")

            for seed in seeds:
                _run_case(target, seed, folder / f"{name_of(target)}-{seed}", report)
        status = 0
    finally:
        os._exit(status)


def _run_case(target: Target, seed: int, place: Path, report: Callable[..., None]) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    report(seed=seed)
    try:
        case = target.make(random_of(target, seed), place)
    except BaseException:  # noqa: BLE001 - reported to the parent, which stops
        report(bug=traceback.format_exc())
        return
    report(kind=case.kind)
    start = time.monotonic()
    verdict = judge(case, target.LIMITS)
    report(verdict=verdict, seconds=time.monotonic() - start)
    if verdict.outcome in EXPECTED_OUTCOMES:
        shutil.rmtree(place, ignore_errors=True)


def judge(case: Case, limits: Limits) -> Verdict:
    """Run one case in this process. A signal ends the process at the limit of processor time."""
    before = _resident(reset=True)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, file=sys.stderr, all_threads=True, chain=True)
    signal.setitimer(signal.ITIMER_PROF, limits.cpu)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            case.action()
        verdict = _verdict_for_warnings(caught)
    except BaseException as error:  # noqa: BLE001 - any exception is an outcome
        verdict = verdict_for(error, case.errors)
        error.__traceback__ = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    growth = _resident() - before
    if growth > limits.memory * 3 // 4:
        verdict = Verdict(OUT_OF_MEMORY, f"{growth / GIGABYTE:.1f} GB, then {verdict.detail}", verdict.where)
    return verdict


def _verdict_for_warnings(caught: list[warnings.WarningMessage]) -> Verdict:
    """Return "unclear error" for an answer with a RuntimeWarning of NumPy, otherwise "answer"."""
    for one in caught:
        if issubclass(one.category, RuntimeWarning):
            where = f"{one.category.__name__} at {Path(one.filename).name}:{one.lineno}"
            return Verdict(UNCLEAR_ERROR, f"{one.category.__name__}: {str(one.message)[:200]!r}", where)
    return Verdict(ANSWER)


def _resident(*, reset: bool = False) -> int:
    """Return the largest resident set size since the last reset, in bytes."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if reset:
        try:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        except OSError:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = status.read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def _limit_memory(n_bytes: int) -> None:
    """Limit the address space to its current size plus this many bytes."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        taken = int(statm.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + n_bytes, taken + n_bytes))


def _redirect(log: Path) -> None:
    """Send all output of this process, also of C libraries, to a file."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    with Path(os.devnull).open("rb") as empty:
        os.dup2(empty.fileno(), 0)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    faulthandler.enable(sys.stderr)
