"""Public functions with arguments of every wrong kind, one or two of them replaced in a call that is valid otherwise.

A right error is a ValueError, or an OSError about a path, on one printable line that names an argument or a file. What
a function of the user raises is the user's.
"""

import os
import re
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import dask

from cosep.io.source import InputError
from fuzz import valid, values
from fuzz.harness import Case, Limits
from fuzz.outcomes import ANSWER, CLEAR, PRINTED_ARRAY, UNCLEAR, WRONG_EXCEPTION, Found, place_of
from fuzz.valid import OUTPUTS, VALID
from fuzz.values import JOBS, NOT_WRITTEN, WRONG

CASES = 10_000
BATCH = 60
LIMITS = Limits(cpu=15.0)
LONGEST_MESSAGE = 600
# Where the exception of scikit-learn's code, or of an index, is what everybody expects.
CONVENTIONAL = ("HALSNMF.set_output", "CoSeparableNMF.get_indices", ".get_feature_names_out")
# What a message may name instead of an argument: what it is a part of, or what is asked of it.
ALIASES = {
    "first": ("X",), "second": ("X",), "selection": ("row_indices", "col_indices"), "core": ("factors",),
    "candidates": ("col_pool", "pool"), "include": ("col_pool", "pool"), "meta": ("history",), "row_names": ("rows",),
    "col_names": ("columns",), "X": ("n_components", "n_rows", "n_cols"), "rows": ("stability", "explanation"),
}  # fmt: skip
MANY_NUMBERS = re.compile(r"(?:[-\d.e+]+,? +){12}")
# Values that raise when they are called, and those whose code is Python's own.
CALLED = {
    "len", "lambda", "lambda of all", "lambda to selection", "lambda to junk", "partial", "raising call", "class",
    "int class", "type", "estimator class", "selector", "both selector",
}  # fmt: skip
CALLED_IN_C = {"int class", "partial", "class", "type"}
PATHS = {"path", "checkpoint"}


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
        if isinstance(error, MemoryError) and not name.endswith(CONVENTIONAL):
            raise
        outcome, detail = judged(error, name, replaced)
        raise Found(outcome, f"{name} with {replaced}: {detail}", place_of(error)) from None


def judged(error: Exception, name: str, replaced: dict[str, str]) -> tuple[str, str]:
    """Return the outcome of a call that raised, and what it raised."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the value itself may raise when it is printed
        text = ""
    detail = f"{type(error).__name__}: {text[:300]!r}"
    conventional = name.endswith(CONVENTIONAL)
    about_path = isinstance(error, OSError) and bool(set(replaced) & PATHS)
    if not isinstance(error, ValueError) and not about_path:
        return (ANSWER if conventional or _is_users_own(error, set(replaced.values())) else WRONG_EXCEPTION), detail
    about_file = about_path or isinstance(error, InputError)
    named = name_parts(VALID[name][1])
    problem = "" if conventional else problem_with(text, [] if about_file else named)
    return (UNCLEAR, f"{problem}: {detail}") if problem else (CLEAR, detail)


def _is_users_own(error: Exception, wrong: set[str]) -> bool:
    """Tell whether a function that was passed has raised, not the one that was called."""
    frames = traceback.extract_tb(error.__traceback__)
    in_value = bool(frames) and frames[-1].filename == values.__file__ and bool(wrong & CALLED)
    in_c = isinstance(error, TypeError) and bool(wrong & CALLED_IN_C)
    return in_value or in_c or ("raising generator" in wrong and isinstance(error, ZeroDivisionError))


def name_parts(arguments: Iterable[str]) -> list[str]:
    """Return the arguments of a call, and what a message may call them instead."""
    return [name for one in arguments for name in (one, *ALIASES.get(one, ()))]


def problem_with(message: str, arguments: list[str]) -> str:
    """Return what is wrong with the text of an error, or nothing; it should name one of the arguments, if any."""
    if len(message.splitlines()) != 1:
        return "several lines" if message else "empty"
    if not all(letter.isprintable() for letter in message):
        return "control characters"
    if len(message) > LONGEST_MESSAGE:
        return "long"
    if PRINTED_ARRAY.search(message) or MANY_NUMBERS.search(message):
        return "prints an array"
    words = re.sub(r"[\W_]+", " ", message)
    named = [one for one in arguments if re.search(rf"\b{one}\b", message) or one.replace("_", " ") in words]
    return "" if named or not arguments else "names no argument"
