"""Calls of a function in a child process, which is ended when a call takes too long."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

# Seconds until a new process must have loaded everything, and until a call must be prepared.
START_SECONDS = 300.0


class TimeLimited:
    """A function in a child process that is ended when a call takes too long; the next call starts another one.

    Parameters
    ----------
    function : callable
        A function of a module, which the child process imports.
    shared : tuple
        The first arguments of all calls, sent to each process once.
    seconds : float
        The limit of one call. The start of a process, and its preparation, do not count.
    prepare : callable, optional
        A function of a module, called with the arguments of a call before that.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shared: tuple[Any, ...],
        seconds: float,
        prepare: Callable[..., None] | None = None,
    ) -> None:
        self.function, self.shared, self.seconds, self.prepare = function, shared, seconds, prepare
        self.process: BaseProcess | None = None
        self.pipe: Connection | None = None

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self._end()

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns.

        Raises
        ------
        TimeoutError
            If the call takes too long.
        RuntimeError
            If the function raises an exception, with its text, or if the process ends.
        """
        pipe = self.pipe or self._start()
        try:
            pipe.send(args)
            failed, answer = self._received(pipe, START_SECONDS)
            if not failed:
                failed, answer = self._received(pipe, self.seconds)
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self._end()
            msg = "its process ended; there may be too little memory"
            raise RuntimeError(msg) from error
        if failed:
            raise RuntimeError(answer)
        return answer

    def _received(self, pipe: Connection, seconds: float) -> tuple[bool, Any]:
        """Return the next answer; end the process if it takes too long."""
        if not pipe.poll(seconds):
            self._end()
            raise TimeoutError
        failed, answer = pipe.recv()
        return failed, answer

    def _start(self) -> Connection:
        """Start a process, and wait until it has loaded everything."""
        # A new interpreter, not a fork, which threads of this process could stop.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(other, self.function, self.shared, self.prepare), daemon=True
        )
        self.process.start()
        other.close()
        if self.pipe.poll(START_SECONDS):
            self.pipe.recv()
        return self.pipe

    def _end(self) -> None:
        """End the process if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.pipe is not None:
            self.pipe.close()
        self.process = self.pipe = None


def _serve(
    pipe: Connection, function: Callable[..., Any], shared: tuple[Any, ...], prepare: Callable[..., None] | None
) -> None:
    """Answer calls until the pipe is closed: first that they are prepared, then what the function returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends this process
    pipe.send("ready")
    while True:
        try:
            args = pipe.recv()
        except EOFError:
            return
        try:
            if prepare is not None:
                prepare(*shared, *args)
            pipe.send((False, None))
            pipe.send((False, function(*shared, *args)))
        except Exception as error:  # noqa: BLE001 - methods of other packages may raise anything
            pipe.send((True, f"{type(error).__name__}: {error}"))
