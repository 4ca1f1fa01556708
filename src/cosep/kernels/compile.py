"""A Python function of arrays enters, its compiled twin leaves."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` on its first call, and remember the machine code on disk where that is possible.

    Numba refuses ``cache=True`` at import time when neither the package folder nor a home directory can be
    written (a read-only install in a container, say); such an install compiles anew in every process instead.
    The Python source stays reachable as ``.py_func``.
    """
    try:
        compiled = numba.njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        compiled = numba.njit(error_model="numpy")(function)
    return cast("Kernel", compiled)
