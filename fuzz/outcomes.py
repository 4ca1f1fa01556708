"""The outcomes of a fuzzing case, and how an exception, a message or a warning is classified."""

import dis
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import sklearn

import cosep
from cosep.utils.messages import INVISIBLE, SURROGATES

ANSWER, CLEAR, UNCLEAR, WRONG_EXCEPTION = "answer", "clear error", "unclear error", "wrong exception"
WRONG_ANSWER, CRASH, HANG, BLOW_UP = "wrong answer", "crash", "hang", "blow-up"
OUTCOMES = (ANSWER, CLEAR, UNCLEAR, WRONG_EXCEPTION, WRONG_ANSWER, CRASH, HANG, BLOW_UP)
GOOD = frozenset({ANSWER, CLEAR})

LONGEST_MESSAGE = 1000
# What numpy, scipy and pandas print for an array.
PRINTED_ARRAY = re.compile(r"\barray\(\[|<Compressed Sparse|<COOrdinate|dtype=(?:float|int|object|bool)")
OURS = Path(cosep.__file__).parent
# scikit-learn checks the arguments of estimators, and its messages are what users of estimators expect.
DELIBERATE = (OURS, Path(sklearn.__file__).parent)
RAISE = dis.opmap["RAISE_VARARGS"]


class Verdict(NamedTuple):
    """What became of a case: the outcome, a sentence about it, and the place in the code that tells failures apart."""

    outcome: str
    detail: str = ""
    where: str = ""


class Found(Exception):  # noqa: N818 - not an error of the program, but the verdict on a case
    """Raised by a target to end a case with a verdict of its own."""

    def __init__(self, outcome: str, detail: str, where: str = "") -> None:
        super().__init__(detail)
        self.verdict = Verdict(outcome, detail, where)


def message_fault(message: str, longest: int = LONGEST_MESSAGE) -> str | None:
    """Return what is wrong with an error message, or None if a person can read it on one line."""
    faults = {
        "is empty": not message.strip(),
        "has several lines": "\n" in message.strip(),
        "has control characters": bool(INVISIBLE.search(message.strip()) or SURROGATES.search(message)),
        "is too long": len(message) > longest,
        "prints an array": bool(PRINTED_ARRAY.search(message)),
        "says next to nothing": len(message.split()) < 3,
    }
    return next((f"the message {fault}" for fault, found in faults.items() if found), None)


def verdict_on(error: BaseException, right: tuple[type[BaseException], ...] = (ValueError,)) -> Verdict:
    """Classify an exception: a clear error has a right type, was raised on purpose, and has a readable message."""
    if isinstance(error, Found):
        return error.verdict
    where, told = place_of(error), f"{type(error).__name__}: {str(error)[:300]!r}"
    if any(isinstance(one, MemoryError) for one in chain(error)):
        return Verdict(BLOW_UP, f"out of memory, then {told}", where)
    if not isinstance(error, right):
        return Verdict(WRONG_EXCEPTION, told, where)
    if not _on_purpose(error):
        return Verdict(UNCLEAR, f"raised by another package, not by a check: {told}", where)
    fault = message_fault(str(error))
    return Verdict(CLEAR, told, where) if fault is None else Verdict(UNCLEAR, f"{fault}: {told}", where)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def place_of(error: BaseException) -> str:
    """Return the type of an exception and the last function of the project that it passed."""
    frames = [tb for tb in _frames(error.__traceback__) if _is_in(tb, (OURS,))]
    if not frames:
        return type(error).__name__
    code = frames[-1].tb_frame.f_code
    return f"{type(error).__name__} in {Path(code.co_filename).relative_to(OURS)}:{code.co_name}"


def _on_purpose(error: BaseException) -> bool:
    """Tell whether the exception comes from a ``raise`` statement of the project or of scikit-learn."""
    frames = list(_frames(error.__traceback__))
    if not frames or not _is_in(frames[-1], DELIBERATE):
        return False
    last = frames[-1]
    return last.tb_frame.f_code.co_code[last.tb_lasti] == RAISE


def _frames(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _is_in(tb: TracebackType, folders: tuple[Path, ...]) -> bool:
    path = Path(tb.tb_frame.f_code.co_filename)
    return any(path.is_relative_to(folder) for folder in folders)
