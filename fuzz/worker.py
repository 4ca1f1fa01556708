"""The child's part of fuzzing: what a case is, and how it is run and judged within limits of time and memory."""

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

from fuzz.outcomes import ANSWER, BLOW_UP, GOOD, UNCLEAR, Verdict, verdict_on

GIGABYTE = 1 << 30
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl


class Limits(NamedTuple):
    """What a case may take: seconds of processor and of wall clock, and bytes beyond those of the warm parent."""

    cpu: float = 6.0
    wall: float = 90.0
    memory: int = 4 * GIGABYTE


class Case(NamedTuple):
    """One input, ready in its folder: its kind, for the counts, and what to do with it.

    The action returns for an answer, and raises for an error. A right error is one of ``errors``.
    """

    kind: str
    action: Callable[[], None]
    errors: tuple[type[BaseException], ...] = (ValueError,)


class Target(Protocol):
    """What a module provides to be fuzzed."""

    CASES: int
    BATCH: int
    LIMITS: Limits
    __name__: str

    @staticmethod
    def prepare(folder: Path) -> None:
        """Load, compile and write what all cases share. Called once, in the parent."""

    @staticmethod
    def make(random: Random, folder: Path) -> Case:
        """Make the input of one case in a folder of its own. Called in a child."""


def name_of(target: Target) -> str:
    """Return what a target is called on the command line."""
    return target.__name__.rpartition(".")[2]


def random_of(target: Target, seed: int) -> Random:
    """Return the source of everything random in one case."""
    return Random(f"{name_of(target)} {seed}")


def work(target: Target, seeds: list[int], pipe: int, folder: Path, log: Path) -> None:
    """Run cases, and tell of each before and after it. Never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        _redirect(log)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(target.LIMITS.memory)
        with os.fdopen(pipe, "w", encoding="utf-8", buffering=1) as out:

            def tell(**facts: Any) -> None:
                out.write(json.dumps(facts) + "\n")

            for seed in seeds:
                _one_case(target, seed, folder / f"{name_of(target)}-{seed}", tell)
        status = 0
    finally:
        os._exit(status)


def _one_case(target: Target, seed: int, place: Path, tell: Callable[..., None]) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    tell(seed=seed)
    try:
        case = target.make(random_of(target, seed), place)
    except BaseException:  # noqa: BLE001 - told to the parent, which stops
        tell(bug=traceback.format_exc())
        return
    tell(kind=case.kind)
    start = time.monotonic()
    verdict = judge(case, target.LIMITS)
    tell(verdict=verdict, seconds=time.monotonic() - start)
    if verdict.outcome in GOOD:
        shutil.rmtree(place, ignore_errors=True)


def judge(case: Case, limits: Limits) -> Verdict:
    """Run one case here and now; the processor's time is limited by a signal that ends the process."""
    before = _resident(reset=True)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, file=sys.stderr, all_threads=True, chain=True)
    signal.setitimer(signal.ITIMER_PROF, limits.cpu)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            case.action()
        verdict = _verdict_on_warnings(caught)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is counted
        verdict = verdict_on(error, case.errors)
        error.__traceback__ = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = _resident() - before
    if grown > limits.memory * 3 // 4:
        verdict = Verdict(BLOW_UP, f"{grown / GIGABYTE:.1f} GB, then {verdict.detail}", verdict.where)
    return verdict


def _verdict_on_warnings(caught: list[warnings.WarningMessage]) -> Verdict:
    """Tell answers from those with a warning of the numerics, which no user understands."""
    for one in caught:
        if issubclass(one.category, RuntimeWarning):
            where = f"{one.category.__name__} at {Path(one.filename).name}:{one.lineno}"
            return Verdict(UNCLEAR, f"{one.category.__name__}: {str(one.message)[:200]!r}", where)
    return Verdict(ANSWER)


def _resident(*, reset: bool = False) -> int:
    """Return the largest resident set since it was last reset, in bytes."""
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
    """Limit the address space to what is taken already and so many bytes more."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        taken = int(statm.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + n_bytes, taken + n_bytes))


def _redirect(log: Path) -> None:
    """Send all output of this process, also that of libraries in C, to a file."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    faulthandler.enable(sys.stderr)
