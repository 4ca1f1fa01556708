"""Public functions with arguments of every wrong kind, one or two of them replaced in a call that is valid otherwise.

A right error is a ValueError, or an OSError about a path, on one printable line that names a replaced argument. What a
function of the user raises is the user's.
"""

import os
import re
import traceback
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import dask

from fuzz import valid, values
from fuzz.harness import Case, Limits
from fuzz.outcomes import ANSWER, CLEAR, PRINTED_ARRAY, UNCLEAR, WRONG_EXCEPTION, Found, chain, place_of
from fuzz.valid import OUTPUTS, VALID
from fuzz.values import JOBS, NOT_WRITTEN, WRONG

CASES = 10_000
BATCH = 60
LIMITS = Limits(cpu=15.0)
LONGEST_MESSAGE = 400
# Where the exception of another's code is what everybody expects.
CONVENTIONAL = {"HALSNMF.set_output", "CoSeparableNMF.get_indices"}
# Many numbers in a row, and what sparse matrices and arrays of numpy end with.
PRINTED = re.compile(r"(?:[-\d.e+]+,? +){12}|<\d+x\d+ sparse|dtype=(?:float|int|object|bool)")
# Arguments of valid calls that stand for parts of another argument.
ALIASES = {"first": "X", "second": "X"}
# Values that raise when they are called.
CALLED = {
    "len", "lambda", "lambda of all", "lambda to selection", "lambda to junk", "partial", "raising call", "class",
    "int class", "type", "estimator class", "selector", "both selector",
}  # fmt: skip
PATHS = {"path", "checkpoint", "home"}


def prepare(folder: Path) -> None:
    """Make every valid call once, with files to read."""
    values.make_files(folder / "given")
    if not VALID:
        valid.register()
    place, here = folder / "warm", Path.cwd()
    place.mkdir()
    os.chdir(place)
    try:
        with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in VALID:
                with suppress(ValueError, OSError):  # data sets that are not here; others are counted later
                    VALID[name][0](**arguments_of(name, {}))
    finally:
        os.chdir(here)


def make(random: Random, folder: Path) -> Case:
    """Choose a call, and one or two arguments to replace."""
    name = random.choice(sorted(VALID))
    replaced: dict[str, str] = {}
    arguments = sorted(VALID[name][1])
    for argument in random.sample(arguments, min(len(arguments), random.choice((1, 2)))):
        wrong = random.choice(sorted(WRONG))
        if not _is_harmful(name, argument, wrong):
            replaced[argument] = wrong
    os.chdir(folder)
    (folder / "call.txt").write_text(f"{name} with {replaced}\n", encoding="utf-8")
    return Case(name, partial(call, name, replaced))


def _is_harmful(name: str, argument: str, wrong: str) -> bool:
    """Tell whether a value would overwrite what is not ours, or start very many processes."""
    return ((name, argument) in OUTPUTS and wrong in NOT_WRITTEN) or (
        argument in {"n_jobs", "n_draws"} and wrong in JOBS
    )


def arguments_of(name: str, replaced: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a call; values that are used up are made anew."""
    found = {}
    for argument, value in VALID[name][1].items():
        if argument in replaced:
            found[argument] = WRONG[replaced[argument]]()
        else:
            found[argument] = value() if getattr(value, "fresh", False) else value
    return found


def call(name: str, replaced: dict[str, str]) -> None:
    """Make a call, and judge what it raises."""
    arguments = arguments_of(name, replaced)
    try:
        VALID[name][0](**arguments)
    except Exception as error:
        if any(isinstance(one, MemoryError) for one in chain(error)):
            raise
        outcome, detail = judged(error, name, replaced)
        raise Found(outcome, f"{name} with {replaced}: {detail}", place_of(error)) from error


def judged(error: Exception, name: str, replaced: dict[str, str]) -> tuple[str, str]:
    """Return the outcome of a call that raised, and what it raised."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the value itself may raise when it is printed
        text = ""
    detail = f"{type(error).__name__}: {text[:300]!r}"
    about_path = isinstance(error, OSError) and bool(set(replaced) & PATHS)
    if not isinstance(error, ValueError) and not about_path:
        frames = traceback.extract_tb(error.__traceback__)
        in_value = bool(frames) and frames[-1].filename == values.__file__
        own = in_value and any(one in CALLED for one in replaced.values())
        own |= "raising generator" in replaced.values() and isinstance(error, ZeroDivisionError)
        return (ANSWER if own or name in CONVENTIONAL else WRONG_EXCEPTION), detail
    problem = "" if name in CONVENTIONAL else problem_with(text, replaced)
    return (UNCLEAR, f"{problem}: {detail}") if problem else (CLEAR, detail)


def problem_with(message: str, replaced: dict[str, str]) -> str:
    """Return what is wrong with the text of an error, or nothing."""
    if len(message.splitlines()) != 1:
        return "several lines" if message else "empty"
    if not all(letter.isprintable() for letter in message):
        return "control characters"
    if len(message) > LONGEST_MESSAGE:
        return "long"
    if PRINTED.search(message) or PRINTED_ARRAY.search(message):
        return "prints an array"
    words = re.sub(r"[\W_]+", " ", message)
    for argument in (ALIASES.get(one, one) for one in replaced):
        if re.search(rf"\b{argument}\b", message) or argument.replace("_", " ") in words:
            return ""
    return "names no argument"
