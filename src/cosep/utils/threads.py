"""Kernels on several threads, with the same result for any number of threads.

Work is divided into pieces that depend on the data only. Threads share the pieces: the one that calls, and those of one
pool for the whole process, so that concurrent fits do not add more threads. Kernels release Python's lock.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

_LOCK = Lock()
_POOLS: dict[int, ThreadPoolExecutor] = {}


def number_of_threads() -> int:
    """Return the smaller of NUMBA_NUM_THREADS, by default the number of usable cores, and OMP_NUM_THREADS if it is set.

    joblib and Dask set these for their worker processes.
    """
    import numba  # noqa: PLC0415 - takes long, and is loaded with the first kernel anyway

    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = int(vars(numba.config)["NUMBA_NUM_THREADS"])
    return min(cores, max(int(limit), 1)) if limit.isdecimal() else cores


def for_each(run: Callable[[Any], object], pieces: Iterable[Any]) -> None:
    """Call ``run(piece)`` for every piece, on several threads; return when all calls have ended.

    The calls must be independent. If one raises an exception, those that have not begun are left out, and it is raised.
    """
    waiting = deque(pieces)
    helpers = min(number_of_threads(), len(waiting)) - 1
    if helpers < 1:
        for piece in waiting:
            run(piece)
        return

    def work() -> None:
        while waiting:
            try:
                piece = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                run(piece)
            except BaseException:
                waiting.clear()
                raise

    futures = [_pool(number_of_threads() - 1).submit(work) for _ in range(helpers)]
    try:
        work()
    finally:
        _wait_for(futures)


def slices(n: int, size: int) -> list[slice]:
    """Return slices of at most ``size``, and of at least one, that cover ``range(n)``."""
    size = max(size, 1)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _wait_for(futures: list[Future[None]]) -> None:
    """Wait for calls that have begun; those that have not would find nothing to do, or wait for this thread."""
    for future in futures:
        if not future.cancel():
            future.result()


def _pool(size: int) -> ThreadPoolExecutor:
    """Return the pool of this process."""
    with _LOCK:
        if size not in _POOLS:
            _POOLS[size] = ThreadPoolExecutor(size, thread_name_prefix="cosep")
        return _POOLS[size]


def _forget() -> None:
    """Begin anew in a forked process: threads do not survive a fork, and one of them may have held the lock."""
    global _LOCK  # noqa: PLW0603 - only here
    _LOCK = Lock()
    _POOLS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
