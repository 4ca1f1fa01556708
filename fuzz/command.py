"""The `cosep` command as a user runs it: options right and wrong, kills, full disks, two runs at once, shared names.

Most runs are forks of the warm process, some are new interpreters. Before a run the output folder holds an earlier
answer. Whatever happens, the exit code must be 0, 2, 130, 143 or a signal that was sent; an error is one line without
control characters, and never a traceback; inputs stay as they were, byte for byte; the output folder holds the earlier
answer or the new one, whole, at the latest after the next command; and nothing temporary is left, except by SIGKILL.
"""

import json
import os
import shutil
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import dask
import typer

from cosep.cli.app import app
from fuzz.answers import (
    INPUTS,
    SECONDS,
    SHARED,
    answer_in,
    check_answer,
    check_inputs,
    check_nothing_left,
    check_run,
    checksums,
    copy_inputs,
    fit_of,
    write_inputs,
)
from fuzz.harness import Case, Limits
from fuzz.outcomes import CLEAR, WRONG_ANSWER, Found
from fuzz.processes import Run, finish, start

CASES = 300
BATCH = 5
LIMITS = Limits(cpu=120.0, wall=600.0)


def prepare(folder: Path) -> None:
    """Write inputs, and two answers by the command itself."""
    SHARED.folder = folder / "shared"
    SHARED.folder.mkdir()
    write_inputs(SHARED.folder)
    warm(folder / "warm")
    for name in ("a", "b", "blocks"):
        place = folder / f"answer-{name}"
        copy_inputs(place)
        for _ in range(2):  # the second time over an earlier answer
            begun = time.monotonic()
            ended = finish(start(Run(fit_of(name), place, count_into=folder / "count")), SECONDS)
            SHARED.seconds = time.monotonic() - begun
        SHARED.calls[name] = int((folder / "count").read_text(encoding="ascii"))
        if ended.code != 0:
            msg = f"the command does not run at all: {ended}"
            raise RuntimeError(msg)
        SHARED.answers[name] = answer_in(place / "out")
        shutil.copytree(place / "out", SHARED.folder / f"out-{name}")


def warm(place: Path) -> None:
    """Run every command once in this process, so that forks find everything loaded and compiled."""
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
                with suppress(SystemExit, typer.Exit):  # counted later
                    app(argv, standalone_mode=False)
    finally:
        os.chdir(here)


def make(random: Random, folder: Path) -> Case:
    """Choose what happens to a run."""
    name = random.choice([name for name, share in SCENARIOS.items() for _ in range(share[1])])
    return Case(name, SCENARIOS[name][0](random, folder))


def _killed_at_a_call(random: Random, place: Path) -> Callable[[], None]:
    """Send a signal before or after one of the calls that rename, remove or make files."""
    new = random.choice(("b", "b", "blocks"))
    number = random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    at, after = random.randrange(SHARED.calls[new] + 1), random.random() < 0.5
    copy_inputs(place, "a")
    return partial(_run_killed, place, Run(fit_of(new), place, kill=(number, at, after)), new, number)


def _killed_at_a_moment(random: Random, place: Path) -> Callable[[], None]:
    """Send a signal at any moment, with slow renames in some cases, in a new interpreter in some."""
    new = random.choice(("b", "b", "blocks"))
    number = random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    fresh, slow = random.random() < 0.15, random.random() < 0.6
    span = 4.0 if fresh else 3 * SHARED.seconds
    run = Run(fit_of(new), place, fresh=fresh, delay=0.05 if slow and not fresh else 0.0)
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
        check_run(finish(start(Run(fit_of("b"), place)), SECONDS))
        check_answer(place, ("b",))
        check_nothing_left(place)
    if ended.code == 2:
        raise Found(CLEAR, ended.err)


def _refused_call(random: Random, place: Path) -> Callable[[], None]:
    """Let the system refuse one of the calls that rename, remove or make files."""
    new = random.choice(("b", "b", "blocks"))
    run = Run(fit_of(new), place, refuse=(random.choice((13, 28, 5)), random.randrange(SHARED.calls[new])))
    copy_inputs(place, "a")
    return partial(_run_refused, place, run, new)


def _full_disk(random: Random, place: Path) -> Callable[[], None]:
    """No file may grow beyond some bytes."""
    new = random.choice(("b", "b", "blocks"))
    run = Run(fit_of(new), place, largest_file=random.choice((0, 100, 500, 1000, 2000, 3000)))
    copy_inputs(place, "a")
    return partial(_run_refused, place, run, new)


def _run_refused(place: Path, run: Run, new: str) -> None:
    before = checksums(place)
    ended = finish(start(run), SECONDS)
    if not (ended.code == 2 and not ended.err and run.largest_file == 0):  # messages go to a file, too
        check_run(ended)
    check_inputs(place, before)
    check_answer(place, (new,) if ended.code == 0 else ("a",), killed=ended.code != 0)
    if run.refuse is None:
        check_nothing_left(place)
    if ended.code == 2:
        raise Found(CLEAR, ended.err)


def _two_runs(random: Random, place: Path) -> Callable[[], None]:
    """Two runs into one folder at the same time."""
    delay = random.choice((0.0, 0.02, 0.05))
    earlier = random.choice((None, "a", "blocks"))
    pair = random.choice((("a", "b"), ("b", "blocks"), ("b", "b")))
    copy_inputs(place, earlier)
    return partial(_run_both, place, pair, delay, random.choice((0.0, 0.0, random.uniform(0, SHARED.seconds))))


def _run_both(place: Path, pair: tuple[str, str], delay: float, apart: float) -> None:
    before = checksums(place)
    first = start(Run(fit_of(pair[0]), place, delay=delay))
    time.sleep(apart)
    second = start(Run(fit_of(pair[1]), place, delay=delay))
    ended = [finish(one, SECONDS) for one in (first, second)]
    for one in ended:
        check_run(one)
    check_inputs(place, before)
    if any(one.code == 0 for one in ended):
        check_answer(place, pair)
    check_nothing_left(place)


def _onto_an_input(random: Random, place: Path) -> Callable[[], None]:
    """Name an output that is an input, under its name, a link or another path."""
    target = random.choice(("x.npy", "b.csv", "out/model.npz", "x.npz", "x.zarr/zarr.json", "parts/x0.npy"))
    copy_inputs(place, "blocks" if target.startswith(("x", "parts")) else "a")  # a model with these columns
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
        commands = [_fit_onto_its_input(random, place)]
    return partial(_run_onto, place, random.choice(commands))


def _fit_onto_its_input(random: Random, place: Path) -> list[str]:
    """Let the input or the labels of a fit be one of the files that it writes, by itself or by a link."""
    as_labels = random.random() < 0.3
    inside = place / "out" / random.choice(("core.csv", "rows.csv", "columns.csv"))
    shutil.copy(place / ("labels.txt" if as_labels else "b.csv"), inside)
    name = str(inside.relative_to(place))
    if random.random() < 0.7:
        name = "kept.txt" if as_labels else "kept.csv"
        (os.symlink if random.random() < 0.5 else os.link)(inside, place / name)
    options = ["--out", "out", "--rows", "2", "--cols", "2", "--no-report", "--quiet"]
    return ["fit", "b.csv", *options, "--labels", name] if as_labels else ["fit", name, *options]


def _run_onto(place: Path, argv: list[str]) -> None:
    source = place / (argv[-1] if "--labels" in argv else argv[1])
    before, model = checksums(place), (place / "out" / "model.npz").read_bytes()
    held = source.read_bytes() if argv[0] == "fit" else b""
    ended = finish(start(Run(argv, place)), SECONDS)
    check_run(ended)
    check_inputs(place, before)
    if argv[0] == "transform" and (place / "out" / "model.npz").read_bytes() != model:
        raise Found(WRONG_ANSWER, f"{argv} replaced the model", "model overwritten")
    if held and source.read_bytes() != held:
        raise Found(WRONG_ANSWER, f"{argv} replaced its input", "input overwritten by fit")
    if ended.code == 2:
        raise Found(CLEAR, ended.err)


def _closed_stream(random: Random, place: Path) -> Callable[[], None]:
    """Close standard input, output or error, or make it full, or a pipe that nobody reads."""
    copy_inputs(place, "a")
    argv = random.choice((
        fit_of("b")[:-1],
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
        raise Found(CLEAR, ended.err)


def _options(random: Random, place: Path) -> Callable[[], None]:
    """Options right and wrong, in any combination."""
    copy_inputs(place, random.choice((None, "a")))
    weird = random.choice((b"odd-\xff.csv", b"odd-\x1b[31m.csv", b"odd-\n.csv", "odd-é.csv".encode(), b"-x.csv"))
    shutil.copy(place / "b.csv", place / os.fsdecode(b"kept-" + weird))
    sources = (*INPUTS, "nothing.csv", ".", "/dev/null", os.fsdecode(b"kept-" + weird), "out", "out/model.npz", "")
    words: dict[str, tuple[str, ...]] = {
        "--rows": ("2", "2", "1", "0", "-1", "99999", "1.5", "x", ""),
        "--cols": ("2", "2", "1", "0", "-1", "99999", "nan"),
        "--method": ("spa", "faithful", "cosfgm", "nonsense", "", "\x1b[31m"),
        "--scaling": ("none", "rows", "sinkhorn", "x"),
        "--stability": ("0", "2", "-1", "x"),
        "--labels": ("labels.txt", "a.csv", "nothing", "x.npy"),
        "--label-column": ("c1", "name", "nothing"),
        "--kind": ("csv", "npy", "txt", "x", "\n"),
        "--layout": ("wide", "triplets", "x"),
        "--index": ("name", "c0", "x\x1b"),
        "--variable": ("X", "data", ""),
        "--layer": ("counts", "raw", "X"),
        "--text-column": ("name", "text"),
        "--stop-words": ("none", "english", "x"),
        "--min-df": ("1", "0", "-3", "99"),
        "--top-words": ("5", "0"),
        "--checkpoint": ("out/points", "a.csv", "/proc/x"),
        "--sample": ("5", "0", "999"),
        "--scheduler": ("tcp://127.0.0.1:1", "nonsense"),
        "--ranks": ("2", "1,2", "2x3", "0", "x", "", "999", "2,,3"),
        "--methods": ("spa", "spa,greedy", "nonsense", ""),
        "--plot": ("t.csv", "nowhere/x.html", "out", "/proc/x.html"),
        "--out": ("out", "out", "t.csv", "a.csv", "/proc/nowhere", "out/deeper/still", "a.csv/x"),
    }  # fmt: skip
    flags = {
        "fit": ("--json", "--quiet", "--no-report", "--choose-rank", "--help", "--nonsense"),
        "transform": ("--json", "--complete"),
        "rank": ("--json", "--quiet"),
        "compare": ("--json", "--quiet"),
        "nonsense": ("--version",),
    }
    command = random.choice((*["fit"] * 6, *["transform", "rank", "compare"] * 2, "nonsense"))
    own: dict[str, tuple[str, ...]] = {
        "fit": ("--rows", "--cols", "--out", "--method", "--stability"),
        "transform": ("--out",),
        "rank": ("--ranks", "--plot"),
        "compare": ("--rows", "--cols", "--methods"),
        "nonsense": (),
    }
    argv = [command, *(["out"] if command == "transform" else []), random.choice(sources)]
    chosen = {*random.sample(own[command], random.randint(0, len(own[command])))}
    known = {**own, "fit": tuple(sorted(words.keys() - {"--ranks", "--methods", "--plot"}))}
    chosen |= set(random.sample(known[command], min(len(known[command]), random.choice((0, 0, 1, 2)))))
    if random.random() < 0.05:
        chosen.add(random.choice(sorted(words)))
    for option in sorted(chosen):
        argv += [option, random.choice(words[option])]
    argv += random.sample(flags[command], random.choice((0, 1, 1)))
    if command == "fit":
        argv += ["--no-report"] if random.random() < 0.9 else []
    return partial(_run_options, place, Run(argv, place, fresh=random.random() < 0.03))


def _run_options(place: Path, run: Run) -> None:
    outputs = {word for option, word in pairwise(run.argv) if option in {"--out", "--plot"}}
    inputs = {word for option, word in pairwise(run.argv) if option not in {"--out", "--plot"}}
    before = {name: held for name, held in checksums(place).items() if name not in outputs - inputs}
    ended = finish(start(run), SECONDS)
    check_run(ended)
    check_inputs(place, before)
    out = place / "out"
    left = [path.name for path in (*place.rglob(".*"), *out.glob(".*")) if "part" in path.name]
    if left:
        raise Found(WRONG_ANSWER, f"temporary files are left: {left[:5]}", "temporary files left")
    if ended.code == 0 and "--json" in run.argv and not {"--help", "--version"} & set(run.argv):
        try:
            json.loads(ended.out) if ended.out.strip() else None
        except ValueError:
            raise Found(WRONG_ANSWER, f"no JSON: {ended.out[:200]!r}", "no JSON") from None
    if ended.code == 2:
        raise Found(CLEAR, ended.err)


SCENARIOS: dict[str, tuple[Callable[[Random, Path], Callable[[], None]], int]] = {
    "killed at a call": (_killed_at_a_call, 5),
    "killed at a moment": (_killed_at_a_moment, 3),
    "refused call": (_refused_call, 2),
    "full disk": (_full_disk, 2),
    "two runs": (_two_runs, 2),
    "output is an input": (_onto_an_input, 2),
    "closed stream": (_closed_stream, 2),
    "options": (_options, 7),
}
