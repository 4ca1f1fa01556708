"""What the process of the command needs: standard streams that are open, and signals that end it in order."""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

# Signals that ask a process to end, and that Python does not turn into an exception itself.
ENDING = ("SIGTERM", "SIGHUP")


class Terminated(BaseException):
    """The process was asked to end; everything that cleans up shall run."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number


def catch_signals() -> None:
    """Turn signals that ask the process to end into `Terminated`, unless they are ignored, as ``nohup`` does."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise Terminated(number)

    for name in ENDING:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


class Deferral:
    """Signals that wait. While it is used as a context, signals that ask the process to end are kept for its end.

    Files are renamed, moved and removed in several steps, which a signal must not interrupt. Only the main thread can
    receive signals as exceptions, so that other threads need no protection.

    Examples
    --------
    >>> from cosep.cli.process import Deferral
    >>> with Deferral() as signals:
    ...     pass  # a signal waits
    ...     with signals.allowed():
    ...         pass  # a signal interrupts
    ...     pass  # a signal waits again, until here
    """

    def __init__(self) -> None:
        names = ("SIGINT", *ENDING) if threading.current_thread() is threading.main_thread() else ()
        self._numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        self._handlers: dict[int, Any] = {}
        self._pending: list[int] = []

    def __enter__(self) -> Self:
        for number in self._numbers:
            self._handlers[number] = signal.signal(number, self._keep)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._pending:
            signal.raise_signal(self._pending.pop(0))

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let signals interrupt, those that wait at once."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        self._pending.append(number)


class ClosedOutput(io.TextIOBase):
    """Stands for a standard output that is closed: whoever writes to it learns so."""

    def write(self, _text: str) -> int:
        """Refuse."""
        msg = "Standard output is closed; open it, send it to a file, or use --quiet where there is one."
        raise ValueError(msg)


class LossyFile(io.FileIO):
    """A file whose writes never fail: what it cannot take, because its disk is full or its reader is gone, is lost."""

    def write(self, data: Any, /) -> int:
        """Write the bytes, or drop them."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def open_streams() -> None:
    """Replace standard streams that are closed, and let a standard error that is full lose its messages.

    The numbers of closed streams are taken, so that no file that is opened later gets one of them, and errors that some
    library prints do not end up in it. From a closed input nothing is read, and messages to a closed standard error are
    lost. The exit code still tells what happened.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        os.open(os.devnull, os.O_WRONLY)
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    with suppress(OSError, ValueError):  # a stream without a number, which somebody has put in its place
        file = LossyFile(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(file, sys.stderr.encoding, "backslashreplace", write_through=True)


def drop_output() -> None:
    """Let what is left to print go nowhere: it failed once, and must not fail again when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream without a number
        return
