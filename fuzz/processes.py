"""Runs of the `cosep` command, as a fork of this process or a new interpreter, with optional faults."""

import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

# System calls that create, rename or remove files: a signal or an error can be placed at each of them.
FILE_CALLS = ("replace", "rename", "link", "symlink", "unlink", "remove", "rmdir", "mkdir")


@dataclass(frozen=True)
class Run:
    """A run of the command: arguments, working folder and faults.

    Parameters
    ----------
    argv : list of str
        The arguments of ``cosep``.
    place : Path
        The working folder.
    fresh : bool
        Whether to start a new interpreter instead of a fork.
    delay : float
        Seconds to wait before every rename.
    kill : (signal, number, after), optional
        Send this signal to itself at the call of that number among `FILE_CALLS`, before or after it.
    fail : (errno, number), optional
        Let the call of this number fail with this error.
    largest_file : int, optional
        Largest size of a file in bytes, as on a full disk.
    count_into : Path, optional
        File for the number of such calls in the working folder.
    streams : tuple of str
        Any of "closed 0", "closed 1", "closed 2", "full 1" and "pipe 1" (a pipe without a reader).
    """

    argv: list[str]
    place: Path
    fresh: bool = False
    delay: float = 0.0
    kill: tuple[int, int, bool] | None = None
    fail: tuple[int, int] | None = None
    largest_file: int | None = None
    count_into: Path | None = None
    streams: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """Exit code (negative for a signal, None if the run did not end) and output of a run."""

    argv: list[str]
    code: int | None
    out: str
    err: str


class Process(NamedTuple):
    """A running command."""

    run: Run
    pid: int
    out: Any
    err: Any

    def send(self, number: int) -> None:
        """Send a signal, if the process is still running."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def start(run: Run) -> Process:
    """Start a run; return when the command starts."""
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has ended
    waiting, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.close(waiting)
            status = _command(run, out.fileno(), err.fileno(), ready)
        except BaseException:  # noqa: BLE001 - as an interpreter would print it
            traceback.print_exc()
            status = 1
        finally:
            os._exit(status)
    os.close(ready)
    os.read(waiting, 1)  # before that, signals would reach an interpreter that is still starting
    os.close(waiting)
    return Process(run, pid, out, err)


def finish(process: Process, seconds: float) -> Outcome:
    """Wait for the end, at most this many seconds."""
    limit = time.monotonic() + seconds
    code: int | None = None
    while code is None:
        pid, status = os.waitpid(process.pid, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
        elif time.monotonic() > limit:
            os.kill(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)
            break
        else:
            time.sleep(0.005)
    texts = []
    for file in (process.out, process.err):
        file.seek(0)
        texts.append(file.read().decode(errors="backslashreplace"))
        file.close()
    return Outcome(process.run.argv, code, *texts)


def _command(run: Run, out: int, err: int, ready: int) -> int:
    """Run the command in this child; return its exit code."""
    os.chdir(run.place)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 0)
    _set_streams(run, out, err)
    if run.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (run.largest_file, run.largest_file))
    if run.fresh:
        os.set_inheritable(ready, True)  # noqa: FBT003 - as its signature has it
        program = f"import os, sys; from cosep.cli import main; sys.argv[0] = 'cosep'; os.close({ready}); main()"
        os.execv(sys.executable, [sys.executable, "-c", program, *run.argv])  # noqa: S606 - our own interpreter
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    count = _set_faults(run)
    os.close(ready)
    code = _main(run.argv)
    if run.count_into is not None:
        run.count_into.write_text(str(count[0]), encoding="ascii")
    return code


def _set_streams(run: Run, out: int, err: int) -> None:
    """Set standard input, output and error."""
    empty = os.open(os.devnull, os.O_RDONLY)
    for source, number in ((empty, 0), (out, 1), (err, 2)):
        os.dup2(source, number)
    if "full 1" in run.streams:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    if "pipe 1" in run.streams:
        reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)
    for number in range(3):
        if f"closed {number}" in run.streams:
            os.close(number)
    # As Python does at startup: None if the descriptor is closed.
    sys.stdin = _stream(0, "r")
    sys.stdout = _stream(1, "w")
    sys.stderr = _stream(2, "w")


def _stream(number: int, mode: str) -> Any:
    try:
        os.fstat(number)
    except OSError:
        return None
    errors = "backslashreplace" if number == 2 else "strict"
    return os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False, buffering=1 if number == 2 else -1)


def _set_faults(run: Run) -> list[int]:
    """Delay, fail or interrupt calls that change files in the working folder; return their count."""
    lock, count = threading.Lock(), [0]
    place = run.place.resolve()

    def guarded(call: Callable[..., Any], *, renames: bool) -> Callable[..., Any]:
        def caller(*args: Any, **kwargs: Any) -> Any:
            if "dir_fd" not in kwargs and not (place / os.fsdecode(args[0])).is_relative_to(place):
                return call(*args, **kwargs)  # other files, such as the cache of compiled code
            with lock:
                number = count[0]
                count[0] += 1
            if renames and run.delay:
                time.sleep(run.delay)
            if run.fail is not None and run.fail[1] == number:
                raise OSError(run.fail[0], os.strerror(run.fail[0]))
            if run.kill is not None and run.kill[1] == number and not run.kill[2]:
                os.kill(os.getpid(), run.kill[0])
            answer = call(*args, **kwargs)
            if run.kill is not None and run.kill[1] == number and run.kill[2]:
                os.kill(os.getpid(), run.kill[0])
            return answer

        return caller

    for name in FILE_CALLS:
        setattr(os, name, guarded(getattr(os, name), renames=name in {"replace", "rename"}))
    return count


def _main(argv: list[str]) -> int:
    """Run the command as an interpreter would, including the last flush; return the exit code."""
    from cosep.cli import main  # noqa: PLC0415 - the parent has loaded it

    sys.argv = ["cosep", *argv]
    try:
        main()
        code: Any = 0
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:  # noqa: BLE001 - as an interpreter would print it
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = 120
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return int(code or 0)


__all__ = ["Outcome", "Process", "Run", "finish", "start"]
