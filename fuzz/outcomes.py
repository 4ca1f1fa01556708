"""The outcomes of a case, and the classification of exceptions and messages."""

import dis
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import sklearn

import cosep
from cosep.utils.messages import INVISIBLE, SURROGATES

ANSWER, CLEAR_ERROR, UNCLEAR_ERROR, WRONG_EXCEPTION = "answer", "clear error", "unclear error", "wrong exception"
WRONG_ANSWER, CRASH, HANG, OUT_OF_MEMORY = "wrong answer", "crash", "hang", "out of memory"
OUTCOMES = (ANSWER, CLEAR_ERROR, UNCLEAR_ERROR, WRONG_EXCEPTION, WRONG_ANSWER, CRASH, HANG, OUT_OF_MEMORY)
EXPECTED_OUTCOMES = frozenset({ANSWER, CLEAR_ERROR})

MAX_MESSAGE = 1000
# How NumPy, SciPy and pandas print arrays.
PRINTED_ARRAY = re.compile(r"\barray\(\[|<Compressed Sparse|<COOrdinate|dtype=(?:float|int|object|bool)")
PROJECT_FOLDER = Path(cosep.__file__).parent
# Packages that check arguments: scikit-learn does so for estimators, and users know its messages.
CHECKING_FOLDERS = (PROJECT_FOLDER, Path(sklearn.__file__).parent)
RAISE_OPCODE = dis.opmap["RAISE_VARARGS"]


class Verdict(NamedTuple):
    """The verdict on a case.

    Attributes
    ----------
    outcome : str
        One of ``OUTCOMES``.
    detail : str
        A sentence about it.
    where : str
        The place in the code, by which failures are grouped.
    """

    outcome: str
    detail: str = ""
    where: str = ""


class CaseEnded(Exception):  # noqa: N818 - a verdict on a case, not an error of the program
    """Raised by a target to end a case with a verdict."""

    def __init__(self, outcome: str, detail: str, where: str = "") -> None:
        super().__init__(detail)
        self.verdict = Verdict(outcome, detail, where)


def message_problem(message: str, longest: int = MAX_MESSAGE) -> str | None:
    """Return what is wrong with an error message, or None if it is one readable line."""
    problems = {
        "is empty": not message.strip(),
        "has several lines": "\n" in message.strip(),
        "has control characters": bool(INVISIBLE.search(message.strip()) or SURROGATES.search(message)),
        "is too long": len(message) > longest,
        "prints an array": bool(PRINTED_ARRAY.search(message)),
        "has fewer than three words": len(message.split()) < 3,
    }
    return next((f"the message {problem}" for problem, found in problems.items() if found), None)


def verdict_for(error: BaseException, expected: tuple[type[BaseException], ...] = (ValueError,)) -> Verdict:
    """Classify an exception: a clear error has an expected type, was raised by a check, and has a readable message."""
    if isinstance(error, CaseEnded):
        return error.verdict
    where, description = origin_of(error), f"{type(error).__name__}: {str(error)[:300]!r}"
    if any(isinstance(one, MemoryError) for one in chain(error)):
        return Verdict(OUT_OF_MEMORY, f"out of memory, then {description}", where)
    if not isinstance(error, expected):
        return Verdict(WRONG_EXCEPTION, description, where)
    if not _is_from_a_check(error):
        return Verdict(UNCLEAR_ERROR, f"raised by another package, not by a check: {description}", where)
    problem = message_problem(str(error))
    return (
        Verdict(CLEAR_ERROR, description, where)
        if problem is None
        else Verdict(UNCLEAR_ERROR, f"{problem}: {description}", where)
    )


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def origin_of(error: BaseException) -> str:
    """Return the type of an exception and the innermost function of the project in its traceback."""
    frames = [tb for tb in _frames(error.__traceback__) if _is_in(tb, (PROJECT_FOLDER,))]
    if not frames:
        return type(error).__name__
    code = frames[-1].tb_frame.f_code
    return f"{type(error).__name__} in {Path(code.co_filename).relative_to(PROJECT_FOLDER)}:{code.co_name}"


def _is_from_a_check(error: BaseException) -> bool:
    """Return whether the exception comes from a ``raise`` statement of the project or of scikit-learn."""
    frames = list(_frames(error.__traceback__))
    if not frames or not _is_in(frames[-1], CHECKING_FOLDERS):
        return False
    last = frames[-1]
    return last.tb_frame.f_code.co_code[last.tb_lasti] == RAISE_OPCODE


def _frames(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _is_in(tb: TracebackType, folders: tuple[Path, ...]) -> bool:
    path = Path(tb.tb_frame.f_code.co_filename)
    return any(path.is_relative_to(folder) for folder in folders)
