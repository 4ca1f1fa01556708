"""Public functions with arguments of many wrong types: one or two arguments of a valid call are replaced.

A clear error is a ValueError, or an OSError about a path, with one printable line that names an argument or a file.
Errors raised by a function that was passed as an argument do not count.
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

from cosep.io.input_source import InputError
from fuzz import example_data, misbehaving, valid_calls, wrong_arrays, wrong_values
from fuzz.harness import Case, Limits
from fuzz.outcomes import ANSWER, CLEAR_ERROR, PRINTED_ARRAY, UNCLEAR_ERROR, WRONG_EXCEPTION, CaseEnded, origin_of
from fuzz.valid_calls import OUTPUT_ARGUMENTS, VALID_CALLS
from fuzz.wrong_values import MANY_JOBS, NOT_WRITABLE, WRONG_VALUES

CASES = 10_000
BATCH = 60
LIMITS = Limits(cpu=15.0)
# Messages about missing data sets are longer than others.
MAX_MESSAGE = 600
# Calls whose errors come from scikit-learn or from indexing, as users expect.
SKLEARN_ERRORS = ("HALSNMF.set_output", "CoSeparableNMF.get_indices", ".get_feature_names_out")
# What a message may name instead of an argument: a part of it, or what it is used for.
ARGUMENT_ALIASES = {
    "first": ("X",), "second": ("X",), "selection": ("row_indices", "col_indices"), "core": ("factors",),
    "candidates": ("col_pool", "pool"), "include": ("col_pool", "pool"), "meta": ("history",), "row_names": ("rows",),
    "col_names": ("columns",), "row_factors": ("row factors",),
    "col_factors": ("column factors",), "X": ("n_components", "n_rows", "n_cols"), "rows": ("stability", "explanation"),
}  # fmt: skip
MANY_NUMBERS = re.compile(r"(?:[-\d.e+]+,? +){12}")
# Values that may raise when they are called, and those that are implemented in C.
CALLABLE_VALUES = {
    "len", "lambda", "lambda of all", "lambda to selection", "lambda to junk", "partial", "raising call", "class",
    "int class", "type", "estimator class", "selector", "both selector",
}  # fmt: skip
CALLABLE_IN_C = {"int class", "partial", "class", "type"}
# Files whose code is run as code of the user.
VALUE_FILES = {module.__file__ for module in (misbehaving, wrong_arrays, wrong_values)}
PATH_ARGUMENTS = {"path", "checkpoint"}


def prepare(folder: Path) -> None:
    """Write files to read, and make every valid call once."""
    example_data.make_files(folder / "given")
    if not VALID_CALLS:
        valid_calls.register_calls()
    place, here = folder / "warm", Path.cwd()
    place.mkdir()
    os.chdir(place)
    try:
        with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in VALID_CALLS:
                with suppress(ValueError, OSError):  # missing data sets; other errors are counted later
                    VALID_CALLS[name][0](**arguments_of(name, {}))
    finally:
        os.chdir(here)


def make(random: Random, folder: Path) -> Case:
    """Choose a call, and replace one or two of its arguments."""
    name = random.choice(sorted(VALID_CALLS))
    replaced: dict[str, str] = {}
    arguments = sorted(VALID_CALLS[name][1])
    for argument in random.sample(arguments, min(len(arguments), random.choice((1, 2)))):
        value = random.choice(sorted(WRONG_VALUES))
        if not _is_harmful(name, argument, value):
            replaced[argument] = value
    os.chdir(folder)
    (folder / "call.txt").write_text(f"{name} with {replaced}\n", encoding="utf-8")
    return Case(name, partial(call, name, replaced))


def _is_harmful(name: str, argument: str, value: str) -> bool:
    """Return whether a value would overwrite other files, or start many processes."""
    return ((name, argument) in OUTPUT_ARGUMENTS and value in NOT_WRITABLE) or (
        argument in {"n_jobs", "n_draws"} and value in MANY_JOBS
    )


def arguments_of(name: str, replaced: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a call; values that can be used only once are made again."""
    found = {}
    for argument, value in VALID_CALLS[name][1].items():
        if argument in replaced:
            found[argument] = WRONG_VALUES[replaced[argument]]()
        else:
            found[argument] = value() if getattr(value, "fresh", False) else value
    return found


def call(name: str, replaced: dict[str, str]) -> None:
    """Make a call, and classify what it raises."""
    arguments = arguments_of(name, replaced)
    try:
        VALID_CALLS[name][0](**arguments)
    except Exception as error:
        if isinstance(error, MemoryError) and not name.endswith(SKLEARN_ERRORS):
            raise
        outcome, detail = classify_error(error, name, replaced)
        raise CaseEnded(outcome, f"{name} with {replaced}: {detail}", origin_of(error)) from None


def classify_error(error: Exception, name: str, replaced: dict[str, str]) -> tuple[str, str]:
    """Return the outcome of a call that raised, and a description."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the value itself may raise when it is printed
        text = ""
    detail = f"{type(error).__name__}: {text[:300]!r}"
    from_sklearn = name.endswith(SKLEARN_ERRORS)
    about_path = isinstance(error, OSError) and bool(set(replaced) & PATH_ARGUMENTS)
    if not isinstance(error, ValueError) and not about_path:
        return (
            ANSWER if from_sklearn or _is_from_user_code(error, set(replaced.values())) else WRONG_EXCEPTION
        ), detail
    about_file = about_path or isinstance(error, InputError)
    named = names_in_messages(VALID_CALLS[name][1])
    problem = "" if from_sklearn else text_problem(text, [] if about_file else named)
    return (UNCLEAR_ERROR, f"{problem}: {detail}") if problem else (CLEAR_ERROR, detail)


def _is_from_user_code(error: Exception, wrong: set[str]) -> bool:
    """Return whether the error comes from a function that was passed as an argument."""
    frames = traceback.extract_tb(error.__traceback__)
    in_value = bool(frames) and frames[-1].filename in VALUE_FILES and bool(wrong & CALLABLE_VALUES)
    in_c = isinstance(error, TypeError) and bool(wrong & CALLABLE_IN_C)
    return in_value or in_c or ("raising generator" in wrong and isinstance(error, ZeroDivisionError))


def names_in_messages(arguments: Iterable[str]) -> list[str]:
    """Return the arguments of a call, and other names for them in messages."""
    return [name for one in arguments for name in (one, *ARGUMENT_ALIASES.get(one, ()))]


def text_problem(message: str, arguments: list[str]) -> str:
    """Return what is wrong with an error message, or ""; it should name one of the arguments, if there are any."""
    if len(message.splitlines()) != 1:
        return "several lines" if message else "empty"
    if not all(letter.isprintable() for letter in message):
        return "control characters"
    if len(message) > MAX_MESSAGE:
        return "long"
    if PRINTED_ARRAY.search(message) or MANY_NUMBERS.search(message):
        return "prints an array"
    words = re.sub(r"[\W_]+", " ", message)
    named = [one for one in arguments if re.search(rf"\b{one}\b", message) or one.replace("_", " ") in words]
    return "" if named or not arguments else "names no argument"
