"""How many threads BLAS uses: one for small problems, all for products with large matrices.

On matrices with few columns, several threads of BLAS take many times the processor time of one, and longer. The
number belongs to the whole process, or to one thread of Python where BLAS uses OpenMP. So this module counts how many
callers ask for one thread, and restores the number when the last of them has ended.
"""

from contextlib import ContextDecorator
from functools import cache
from threading import Lock, local
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The number of threads of some libraries, and how many callers limit it, or lift this limit, at the moment."""

    def __init__(self, libraries: list[Any]) -> None:
        self.libraries = libraries
        self.before: list[int] = []
        self.lock = Lock()
        self.limiting, self.lifting = 0, 0

    def change(self, limiting: int, lifting: int) -> None:
        """Add to the numbers of callers."""
        with self.lock:
            was_limited = self.limiting > 0 and self.lifting == 0
            if self.limiting == 0:
                self.before = [library.num_threads for library in self.libraries]
            self.limiting += limiting
            self.lifting += lifting
            limited = self.limiting > 0 and self.lifting == 0
            if limited != was_limited:
                for library, before in zip(self.libraries, self.before, strict=True):
                    _set_threads(library, 1 if limited else before)


def _set_threads(library: Any, number: int) -> None:
    """Set the number from any thread: newer versions of threadpoolctl listen to the first thread only, until reset."""
    reset = getattr(library, "clear_controlling_thread", None)
    if reset is not None:
        reset(force=True)
    library.set_num_threads(number)
    if reset is not None:
        reset(force=True)


class _Threads:
    """The limits of all BLAS libraries: one for the process, and one for each thread where BLAS uses OpenMP."""

    def __init__(self) -> None:
        libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        self.openmp = [library for library in libraries if getattr(library, "threading_layer", None) == "openmp"]
        self.of_process = _Limit([library for library in libraries if library not in self.openmp])
        self.of_thread = local()

    def change(self, limiting: int, lifting: int) -> None:
        """Add to the numbers of callers."""
        self.of_process.change(limiting, lifting)
        if self.openmp:
            if not hasattr(self.of_thread, "limit"):
                self.of_thread.limit = _Limit(self.openmp)
            self.of_thread.limit.change(limiting, lifting)


_CREATION = Lock()


@cache
def _created() -> _Threads:
    """Create the one object of this process; to find the libraries takes longer than a small selection."""
    return _Threads()


def _threads() -> _Threads:
    """Return the one object of this process, also if several threads ask for it first."""
    with _CREATION:
        return _created()


class _Change(ContextDecorator):
    """A context and a decorator. It may be entered inside itself, and by several threads at once."""

    def __init__(self, limiting: int, lifting: int) -> None:
        self.limiting, self.lifting = limiting, lifting

    def __enter__(self) -> None:
        """Change the numbers of callers."""
        _threads().change(self.limiting, self.lifting)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Change them back."""
        _threads().change(-self.limiting, -self.lifting)


one_blas_thread = _Change(1, 0)
all_blas_threads = _Change(0, 1)
