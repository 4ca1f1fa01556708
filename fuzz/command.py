"""The `cosep` command as users run it: wrong options, kills, full disks, parallel runs, outputs that are inputs.

Most runs are forks of this process, some are new interpreters. Before a run, the output folder often holds an earlier
answer. The exit code must be 0, 2, 130, 143 or a signal that was sent. An error is one line without control characters
and never a traceback. Inputs must not change. The output folder must hold the earlier or the new answer, complete, at
the latest after the next command. Only SIGKILL may leave temporary files.
"""

import os
import shutil
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import dask
import typer

from cosep.cli.app import app
from fuzz.command_checks import (
    SECONDS,
    SHARED,
    answer_checksums,
    check_answer,
    check_inputs,
    check_nothing_left,
    check_run,
    checksums,
    copy_inputs,
    fit_command,
    write_inputs,
)
from fuzz.command_options import random_options
from fuzz.harness import Case, Limits
from fuzz.outcomes import CLEAR_ERROR, WRONG_ANSWER, CaseEnded
from fuzz.processes import Run, finish, start

CASES = 300
BATCH = 5
LIMITS = Limits(cpu=120.0, wall=600.0)


def prepare(folder: Path) -> None:
    """Write inputs, and three answers by the command itself."""
    SHARED.folder = folder / "shared"
    SHARED.folder.mkdir()
    write_inputs(SHARED.folder)
    warm(folder / "warm")
    for name in ("a", "b", "blocks"):
        place = folder / f"answer-{name}"
        copy_inputs(place)
        for _ in range(2):  # the second time replaces an earlier answer
            started = time.monotonic()
            ended = finish(start(Run(fit_command(name), place, count_into=folder / "count")), SECONDS)
            SHARED.seconds = time.monotonic() - started
        SHARED.calls[name] = int((folder / "count").read_text(encoding="ascii"))
        if ended.code != 0:
            msg = f"the command failed on a valid input: {ended}"
            raise RuntimeError(msg)
        SHARED.answers[name] = answer_checksums(place / "out")
        shutil.copytree(place / "out", SHARED.folder / f"out-{name}")


def warm(place: Path) -> None:
    """Run every command once in this process, so that everything is loaded and compiled before forks."""
    copy_inputs(place)
    small = ["--rows", "2", "--cols", "2", "--quiet"]
    commands = [
        ["fit", "a.csv", "--out", "out", "--stability", "1", *small],
        ["fit", "x.zarr", "--out", "out", "--no-report", *small],
        ["fit", "x.txt", "--out", "out", "--no-report", *small],
        ["transform", "out", "x.txt", "--out", "t.csv"],
        ["rank", "x.npy", "--ranks", "1,2", "--plot", "t.html", "--quiet"],
        ["compare", "x.npz", *small],
    ]
    here = Path.cwd()
    os.chdir(place)
    try:
        with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for argv in commands:
                with suppress(SystemExit, typer.Exit):  # errors are counted later
                    app(argv, standalone_mode=False)
    finally:
        os.chdir(here)


def make(random: Random, folder: Path) -> Case:
    """Choose a scenario."""
    name = random.choice([name for name, share in SCENARIOS.items() for _ in range(share[1])])
    return Case(name, SCENARIOS[name][0](random, folder))


def _killed_at_a_call(random: Random, place: Path) -> Callable[[], None]:
    """Send a signal before or after a call that creates, renames or removes files."""
    new = random.choice(("b", "b", "blocks"))
    number = random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    at, after = random.randrange(SHARED.calls[new] + 1), random.random() < 0.5
    copy_inputs(place, "a")
    return partial(_run_killed, place, Run(fit_command(new), place, kill=(number, at, after)), new, number)


def _killed_at_a_time(random: Random, place: Path) -> Callable[[], None]:
    """Send a signal at a random time, sometimes with slow renames or in a new interpreter."""
    new = random.choice(("b", "b", "blocks"))
    number = random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    fresh, slow = random.random() < 0.15, random.random() < 0.6
    span = 4.0 if fresh else 3 * SHARED.seconds
    run = Run(fit_command(new), place, fresh=fresh, delay=0.05 if slow and not fresh else 0.0)
    copy_inputs(place, "a")
    return partial(_run_killed, place, run, new, number, random.uniform(0.0, span + (0.4 if slow else 0.0)))


def _run_killed(place: Path, run: Run, new: str, number: signal.Signals, moment: float | None = None) -> None:
    before = checksums(place)
    process = start(run)
    if moment is not None:
        time.sleep(moment)
        process.send(number)
    ended = finish(process, SECONDS)
    check_run(ended, {-int(number)})
    check_inputs(place, before)
    if number != signal.SIGKILL:
        check_nothing_left(place)
    check_answer(place, ("a", new), killed=True)
    if number == signal.SIGKILL:
        check_run(finish(start(Run(fit_command("b"), place)), SECONDS))
        check_answer(place, ("b",))
        check_nothing_left(place)
    if ended.code == 2:
        raise CaseEnded(CLEAR_ERROR, ended.err)


def _failed_call(random: Random, place: Path) -> Callable[[], None]:
    """Let a call that creates, renames or removes files fail."""
    new = random.choice(("b", "b", "blocks"))
    run = Run(fit_command(new), place, fail=(random.choice((13, 28, 5)), random.randrange(SHARED.calls[new])))
    copy_inputs(place, "a")
    return partial(_run_with_failure, place, run, new)


def _full_disk(random: Random, place: Path) -> Callable[[], None]:
    """Limit the size of files."""
    new = random.choice(("b", "b", "blocks"))
    run = Run(fit_command(new), place, largest_file=random.choice((0, 100, 500, 1000, 2000, 3000)))
    copy_inputs(place, "a")
    return partial(_run_with_failure, place, run, new)


def _run_with_failure(place: Path, run: Run, new: str) -> None:
    before = checksums(place)
    ended = finish(start(run), SECONDS)
    if not (ended.code == 2 and not ended.err and run.largest_file == 0):  # messages are written to a file, too
        check_run(ended)
    check_inputs(place, before)
    check_answer(place, (new,) if ended.code == 0 else ("a",), killed=ended.code != 0)
    if run.fail is None:
        check_nothing_left(place)
    if ended.code == 2:
        raise CaseEnded(CLEAR_ERROR, ended.err)


def _two_runs(random: Random, place: Path) -> Callable[[], None]:
    """Run two commands with the same output folder at the same time."""
    delay = random.choice((0.0, 0.02, 0.05))
    earlier = random.choice((None, "a", "blocks"))
    pair = random.choice((("a", "b"), ("b", "blocks"), ("b", "b")))
    copy_inputs(place, earlier)
    return partial(_run_both, place, pair, delay, random.choice((0.0, 0.0, random.uniform(0, SHARED.seconds))))


def _run_both(place: Path, pair: tuple[str, str], delay: float, apart: float) -> None:
    before = checksums(place)
    first = start(Run(fit_command(pair[0]), place, delay=delay))
    time.sleep(apart)
    second = start(Run(fit_command(pair[1]), place, delay=delay))
    ended = [finish(one, SECONDS) for one in (first, second)]
    for one in ended:
        check_run(one)
    check_inputs(place, before)
    if any(one.code == 0 for one in ended):
        check_answer(place, pair)
    check_nothing_left(place)


def _output_is_an_input(random: Random, place: Path) -> Callable[[], None]:
    """Use an input as output, by its name, a link or another path."""
    target = random.choice(("x.npy", "b.csv", "out/model.npz", "x.npz", "x.zarr/zarr.json", "parts/x0.npy"))
    copy_inputs(place, "blocks" if target.startswith(("x", "parts")) else "a")  # an answer for the same columns
    name, how = target, random.choice(("name", "symbolic", "hard", "dots"))
    if how == "dots":
        name = f"./parts/../{target}"
    elif how != "name":
        name = "kept-link"
        (os.symlink if how == "symbolic" else os.link)(place / target, place / name)
    source = "parts" if target.startswith("parts") else "x.zarr" if "zarr" in target else target
    if target == "out/model.npz":
        source = "b.csv"
    commands: list[list[str]] = [
        ["transform", "out", source, "--out", name],
        ["transform", "out/model.npz", source, "--out", name],
    ]
    if source not in {"parts", "x.zarr"} and target != "out/model.npz":
        commands.append(["rank", source, "--ranks", "2", "--plot", name, "--quiet"])
    if random.random() < 0.3:
        commands = [_fit_with_input_as_output(random, place)]
    return partial(_run_with_input_as_output, place, random.choice(commands))


def _fit_with_input_as_output(random: Random, place: Path) -> list[str]:
    """Use a file in the output folder as input or labels of a fit, directly or by a link."""
    as_labels = random.random() < 0.3
    inside = place / "out" / random.choice(("core.csv", "rows.csv", "columns.csv"))
    shutil.copy(place / ("labels.txt" if as_labels else "b.csv"), inside)
    name = str(inside.relative_to(place))
    if random.random() < 0.7:
        name = "kept.txt" if as_labels else "kept.csv"
        (os.symlink if random.random() < 0.5 else os.link)(inside, place / name)
    options = ["--out", "out", "--rows", "2", "--cols", "2", "--no-report", "--quiet"]
    return ["fit", "b.csv", *options, "--labels", name] if as_labels else ["fit", name, *options]


def _run_with_input_as_output(place: Path, argv: list[str]) -> None:
    source = place / (argv[-1] if "--labels" in argv else argv[1])
    before, model = checksums(place), (place / "out" / "model.npz").read_bytes()
    content = source.read_bytes() if argv[0] == "fit" else b""
    ended = finish(start(Run(argv, place)), SECONDS)
    check_run(ended)
    check_inputs(place, before)
    if argv[0] == "transform" and (place / "out" / "model.npz").read_bytes() != model:
        raise CaseEnded(WRONG_ANSWER, f"{argv} replaced the model", "model overwritten")
    if content and source.read_bytes() != content:
        raise CaseEnded(WRONG_ANSWER, f"{argv} replaced its input", "input overwritten by fit")
    if ended.code == 2:
        raise CaseEnded(CLEAR_ERROR, ended.err)


def _closed_stream(random: Random, place: Path) -> Callable[[], None]:
    """Close standard input, output or error, or make it full or a pipe without a reader."""
    copy_inputs(place, "a")
    argv = random.choice((
        fit_command("b")[:-1],
        ["fit", "b.csv", "--out", "out", "--json", "--rows", "2", "--cols", "2", "--no-report"],
        ["transform", "out", "a.csv"],
        ["rank", "a.csv", "--ranks", "1,2"],
        ["compare", "a.csv", "--rows", "2", "--cols", "2", "--methods", "spa"],
        ["--help"],
        ["--version"],
        ["fit", "-", "--kind", "csv", "--out", "out", "--rows", "2", "--cols", "2", "--no-report"],
        ["fit", "nothing.csv"],
        ["fit", "--nonsense"],
    ))  # fmt: skip
    streams = random.choice(
        (("closed 0",), ("closed 1",), ("closed 2",), ("closed 1", "closed 2"), ("full 1",), ("pipe 1",))
    )
    fresh = random.random() < 0.2
    return partial(_run_closed, place, Run(argv, place, streams=streams, fresh=fresh))


def _run_closed(place: Path, run: Run) -> None:
    before = checksums(place)
    ended = finish(start(run), SECONDS)
    if not (ended.code == 2 and not ended.err and "closed 2" in run.streams):
        check_run(ended)
    check_inputs(place, before)
    check_nothing_left(place)
    if ended.code == 2:
        raise CaseEnded(CLEAR_ERROR, ended.err)


SCENARIOS: dict[str, tuple[Callable[[Random, Path], Callable[[], None]], int]] = {
    "killed at a call": (_killed_at_a_call, 5),
    "killed at a time": (_killed_at_a_time, 3),
    "failed call": (_failed_call, 2),
    "full disk": (_full_disk, 2),
    "two runs": (_two_runs, 2),
    "output is an input": (_output_is_an_input, 2),
    "closed stream": (_closed_stream, 2),
    "options": (random_options, 7),
}
