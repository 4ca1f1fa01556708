"""A child process that reads a file, with limits on its time and memory, for libraries that a bad file can crash."""

import json
import math
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.utils.memory import machine_memory, most_bytes

# Limit of processor time: these seconds, and one more for this many bytes. The limit of wall time is ten times that.
CPU_SECONDS, BYTES_PER_SECOND, WALL_TIME_FACTOR = 5, 1 << 20, 10
MESSAGE_HEADER = struct.Struct("<cQ")
JSON, DATA = b"J", b"D"
# The child gets the search path for packages of this process.
START = "import json, runpy, sys; sys.path[:] = json.loads(sys.argv[1]); runpy.run_path(sys.argv[2], None, '__main__')"


class ChildReader:
    """A script that reads a file in a child process, and sends messages.

    The script runs in a new interpreter, not in a fork. So threads, daemonic processes and programs without
    ``if __name__ == "__main__"`` can start it. The end of the ``with`` block, also by Ctrl-C, ends the child.
    """

    def __init__(self, script: Path, source: InputSource, **request: Any) -> None:
        self.source = source
        self.seconds = CPU_SECONDS + source.size // BYTES_PER_SECOND
        memory = min(most_bytes(source.size), machine_memory())
        self.request = {"path": os.fspath(source.path.absolute()), "seconds": self.seconds, "bytes": memory, **request}
        self.script = script

    def __enter__(self) -> Self:
        if not sys.executable:
            self.source.fail("needs a second Python process to be read safely, but sys.executable is not set; set it.")
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter and a script of this package
            [sys.executable, "-I", "-c", START, json.dumps(sys.path), str(self.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HDF5_PLUGIN_PRELOAD": "::"},  # no plug-ins
        )
        self.timer = threading.Timer(WALL_TIME_FACTOR * self.seconds, self.process.kill)
        self.timer.daemon = True
        self.timer.start()
        self.send(self.request)
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def send(self, message: Any) -> None:
        """Send a line of JSON to the child."""
        pipe = self.process.stdin
        try:
            if pipe is not None:
                pipe.write(json.dumps(message).encode() + b"\n")
                pipe.flush()
        except BrokenPipeError:
            self._fail()

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        kind, size = self._receive_header()
        if kind != JSON:
            self._fail()
        body = bytearray(size)
        self._fill(memoryview(body))
        message: dict[str, Any] = json.loads(body)
        if "invalid" in message:
            self.source.fail(message["invalid"])
        if "error" in message:
            raise ValueError(message["error"])
        return message

    def array(self, dtype: str, shape: list[int]) -> NDArray[Any]:
        """Receive an array, which the child sends in pieces."""
        kind = np.dtype(dtype)
        self.source.check_memory(math.prod(shape) * kind.itemsize, f"an array of {' x '.join(map(str, shape))}")
        values = np.empty(shape, dtype=kind)
        rest = values.reshape(-1).view(np.uint8).data
        while rest:
            part, size = self._receive_header()
            if part == JSON:
                raise ValueError(self._error(size))
            self._fill(rest[:size])
            rest = rest[size:]
        return values

    def _error(self, size: int) -> str:
        body = bytearray(size)
        self._fill(memoryview(body))
        return str(json.loads(body).get("error", "it is damaged"))

    def _receive_header(self) -> tuple[bytes, int]:
        header = bytearray(MESSAGE_HEADER.size)
        self._fill(memoryview(header))
        kind, size = MESSAGE_HEADER.unpack(header)
        return kind, size

    def _fill(self, buffer: memoryview) -> None:
        pipe = self.process.stdout
        while buffer:
            # The type of pipes does not list readinto, which pipes of bytes have.
            count = 0 if pipe is None else pipe.readinto(buffer)  # type: ignore[attr-defined]
            if not count:
                self._fail()
            buffer = buffer[count:]

    def _fail(self) -> NoReturn:
        """Raise an error that says why the child has ended."""
        code = self.process.wait()
        if not self.timer.is_alive() or -code == getattr(signal, "SIGXCPU", None):
            self.source.fail(f"took more than {self.seconds} seconds to read; it is damaged, or the machine is busy.")
        self.source.fail("crashed the process that read it; it is damaged, get another copy.")
