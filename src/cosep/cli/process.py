"""Standard streams that are open, and signals that end the process in an orderly way."""

import _thread
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

# Signals that ask a process to end, and that Python does not turn into exceptions itself.
ENDING_SIGNALS = ("SIGTERM", "SIGHUP")
# A signal that was lost is sent again after this time, when the code that ignores exceptions has ended.
RESEND_SECONDS = 0.05


class Terminated(BaseException):
    """A signal asked the process to end. It is an exception, so that everything is cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
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
    sys.unraisablehook = _send_again


def _send_again(lost: Any) -> None:
    """Send a signal again, a moment later, whose exception was raised where it is ignored, such as in a destructor."""
    error = lost.exc_value
    if isinstance(error, (KeyboardInterrupt, Terminated)):
        number = error.number if isinstance(error, Terminated) else signal.SIGINT
        threading.Timer(RESEND_SECONDS, _send, [number]).start()
    else:
        sys.__unraisablehook__(lost)


def _send(number: int) -> None:
    """Send a signal to the main thread."""
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, number)


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
        names = ("SIGINT", *ENDING_SIGNALS) if threading.current_thread() is threading.main_thread() else ()
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
