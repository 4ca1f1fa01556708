"""Standard streams that are open, and signals that end the process in an orderly way."""

import io
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

# Signals that ask a process to end, and that Python does not turn into exceptions itself.
ENDING_SIGNALS = ("SIGTERM", "SIGHUP")


class Terminated(BaseException):
    """A signal asked the process to end. It is an exception, so that everything is cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number


def catch_signals() -> None:
    """Turn signals that ask the process to end into `Terminated`, unless they are ignored, as ``nohup`` does."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise Terminated(number)

    for name in ENDING_SIGNALS:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


class ClosedOutput(io.TextIOBase):
    """A replacement for a standard output that is closed: writing to it raises ValueError."""

    def write(self, _text: str) -> int:
        """Raise ValueError."""
        msg = "Standard output is closed; open it, send it to a file, or use --quiet where there is one."
        raise ValueError(msg)


class LossyFile(io.FileIO):
    """A file whose writes never fail: what cannot be written, to a full disk or a closed pipe, is lost."""

    def write(self, data: Any, /) -> int:
        """Write the bytes, or drop them."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def open_streams() -> None:
    """Replace standard streams that are closed, and let standard error lose what it cannot take.

    The numbers of closed streams are occupied, so that no file that is opened later gets one of them and receives the
    messages of some library. Nothing is read from a closed input, and messages to a closed standard error are lost. The
    exit code still says what happened.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        os.open(os.devnull, os.O_WRONLY)
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    with suppress(OSError, ValueError):  # a stream that another program has replaced by one without a number
        file = LossyFile(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(file, sys.stderr.encoding, "backslashreplace", write_through=True)


def drop_output() -> None:
    """Discard what is left to print: printing failed once, and must not fail again when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream without a number
        return
